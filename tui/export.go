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
	from room // that asked for it
	file string
	err  error
}

// exportList asks for the form, and writes the run to a new file in the
// working directory.
func exportList(s *stage, t *sim.Trace, from room) outcome {
	if len(s.exports) == 0 {
		return outcome{}
	}
	items := make([]choice, len(s.exports))
	for i, e := range s.exports {
		items[i] = choice{e.Name, e.About, func() span { return span{e.Extension, inkDim} }}
	}
	return outcome{open: &picker{stage: s, title: "Write this run, as what?", items: items, current: none,
		about: "The run is written to a new file, in the directory that lockstep was started in; nothing is overwritten.", choose: func(i int) (tea.Cmd, outcome) {
			e := s.exports[i]
			return func() tea.Msg {
				file, err := writeNew(t, e.Extension, func(w io.Writer, _ string) error { return e.Write(w, t) })
				return exported{from, file, err}
			}, outcome{close: true}
		}}}
}

// saveScenario writes a run as a scenario file, as lockstep explore --save does, but
// never over another. made is told the file's name.
func saveScenario(from room, t *sim.Trace, made func(file string) ([]byte, error)) tea.Cmd {
	return func() tea.Msg {
		file, err := writeNew(t, ".yaml", func(w io.Writer, file string) error {
			data, err := made(file)
			if err != nil {
				return err
			}
			_, err = w.Write(data)
			return err
		})
		return exported{from, file, err}
	}
}

// writeNew writes something of a run to a file that was not there before: nothing of
// anybody's is ever overwritten.
func writeNew(t *sim.Trace, extension string, write func(w io.Writer, file string) error) (string, error) {
	base := sim.Label(t.Strategy + "-" + strings.ReplaceAll(t.Scenario, "/", "-"))
	for n := 1; n < 1000; n++ {
		name := base + extension
		if n > 1 {
			name = fmt.Sprintf("%s-%d%s", base, n, extension)
		}
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // a document is for everybody
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		if err := errors.Join(write(f, name), f.Close()); err != nil {
			return "", errors.Join(err, os.Remove(name))
		}
		return name, nil
	}
	return "", fmt.Errorf("there are a thousand files named %s%s already", base, extension)
}

// told says where the file is, or why there is none.
func (e *exported) told() string {
	if e.err != nil {
		return "Not written: " + e.err.Error()
	}
	return "Written to ./" + e.file + "."
}
