package tui

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim"
)

// Export is a form in which a run can be handed on.
type Export struct {
	Name, About string
	Extension   string // of its files, with the dot
	Write       func(io.Writer, *sim.Trace) error
}

// exported says what became of an export.
type exported struct {
	from *player
	file string
	err  error
}

// exportPicker asks for the form, and writes the run to a new file in the
// working directory.
func (p *player) exportPicker() outcome {
	if len(p.exports) == 0 {
		return outcome{}
	}
	items := make([]choice, len(p.exports))
	for i, e := range p.exports {
		items[i] = choice{e.Name, e.About, func() span { return span{e.Extension, inkDim} }}
	}
	return outcome{open: &picker{stage: p.stage, title: "Write this run, as what?", items: items, current: none,
		about: "The run is written to a new file, in the directory that lockstep was started in; nothing is overwritten.", choose: func(i int) (tea.Cmd, outcome) {
			e, t := p.exports[i], p.reel.trace
			return func() tea.Msg {
				file, err := writeNew(t, e)
				return exported{p, file, err}
			}, outcome{close: true}
		}}}
}

// writeNew writes a run to a file that was not there before: nothing of anybody's
// is ever overwritten.
func writeNew(t *sim.Trace, e Export) (string, error) {
	base := sim.Label(t.Strategy + "-" + strings.ReplaceAll(t.Scenario, "/", "-"))
	for n := 1; n < 1000; n++ {
		name := base + e.Extension
		if n > 1 {
			name = fmt.Sprintf("%s-%d%s", base, n, e.Extension)
		}
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // a document is for everybody
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		if err := errors.Join(e.Write(f, t), f.Close()); err != nil {
			return "", errors.Join(err, os.Remove(name))
		}
		return name, nil
	}
	return "", fmt.Errorf("there are a thousand files named %s%s already", base, e.Extension)
}

// told says where the file is, or why there is none.
func (e *exported) told() string {
	if e.err != nil {
		return "Not written: " + e.err.Error()
	}
	return "Written to " + e.file + " in the directory that lockstep was started in."
}
