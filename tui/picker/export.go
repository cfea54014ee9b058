package picker

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
)

// ExportedMsg says what became of an export.
type ExportedMsg struct {
	From screen.Screen // that asked for it
	file string
	err  error
}

// Export asks for the form, and writes the run to a new file in the
// working directory.
func Export(s *screen.App, t *trace.Trace, from screen.Screen) screen.Outcome {
	if len(s.Exports) == 0 {
		return screen.Outcome{}
	}
	items := make([]Item, len(s.Exports))
	for i, e := range s.Exports {
		items[i] = Item{e.Name, e.About, func() draw.Span { return draw.Text(e.Extension, draw.Dim) }}
	}
	return screen.Outcome{Open: &Picker{App: s, Title: "Write this run, as what?", Items: items, Current: -1,
		About: "The run is written to a new file, in the directory that lockstep was started in; nothing is overwritten.", Choose: func(i int) (tea.Cmd, screen.Outcome) {
			e := s.Exports[i]
			return func() tea.Msg {
				file, err := writeNew(t, e.Extension, func(w io.Writer, _ string) error { return e.Write(w, t) })
				return ExportedMsg{from, file, err}
			}, screen.Outcome{Close: true}
		}}}
}

// SaveScenario writes a run as a scenario file, as lockstep explore --save does, but
// never over another. made is told the file's name.
func SaveScenario(from screen.Screen, t *trace.Trace, made func(file string) ([]byte, error)) tea.Cmd {
	return func() tea.Msg {
		file, err := writeNew(t, ".yaml", func(w io.Writer, file string) error {
			data, err := made(file)
			if err != nil {
				return err
			}
			_, err = w.Write(data)
			return err
		})
		return ExportedMsg{from, file, err}
	}
}

// writeNew writes something of a run to a file that was not there before: nothing of
// anybody's is ever overwritten.
func writeNew(t *trace.Trace, extension string, write func(w io.Writer, file string) error) (string, error) {
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

// Text says where the file is, or why there is none.
func (e *ExportedMsg) Text() string {
	if e.err != nil {
		return "Not written: " + e.err.Error()
	}
	return "Written to ./" + e.file + "."
}
