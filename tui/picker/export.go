package picker

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
)

// ExportedMsg is the outcome of an export.
type ExportedMsg struct {
	From screen.Screen // that asked for it
	file string
	err  error
}

// Export asks for the form, and writes the run to a new file in the
// working directory.
func Export(app *screen.App, t *trace.Trace, from screen.Screen) screen.Outcome {
	return ExportWith(app, t, from, nil)
}

// Site is a set of files that can be written beside a run, by name, in a new folder of the working directory.
type Site struct {
	Name, About, Folder string
	Files               func() (map[string][]byte, error)
}

// ExportWith is an export with a further choice, if that isn't nil.
func ExportWith(app *screen.App, t *trace.Trace, from screen.Screen, site *Site) screen.Outcome {
	if len(app.Exports) == 0 {
		return screen.Outcome{}
	}
	items := make([]Item, len(app.Exports))
	for i, e := range app.Exports {
		items[i] = Item{Name: e.Name, About: e.About, Badge: func() draw.Span { return draw.Text(e.Extension, draw.Dim) }}
	}
	if site != nil {
		items = append(items, Item{Name: site.Name, About: site.About, Badge: func() draw.Span { return draw.Text("folder", draw.Dim) }})
	}
	return screen.Outcome{Open: &Picker{App: app, Title: "Write this run, as what?", Items: items, Current: -1,
		About: "The run is written to a new file, in the directory that lockstep was started in; nothing is overwritten.", Choose: func(i int) (tea.Cmd, screen.Outcome) {
			if i == len(app.Exports) {
				return func() tea.Msg {
					folder, err := site.write()
					return ExportedMsg{from, folder + "/index.html", err}
				}, screen.Outcome{Close: true}
			}
			e := app.Exports[i]
			return func() tea.Msg {
				file, err := writeNew(t, e.Extension, func(w io.Writer, _ string) error { return e.Write(w, t) })
				return ExportedMsg{from, file, err}
			}, screen.Outcome{Close: true}
		}}}
}

// write writes the files, and returns the folder.
func (s *Site) write() (string, error) {
	files, err := s.Files()
	if err != nil {
		return "", err
	}
	return fresh(sim.Label(s.Folder), "", func(folder string) error {
		if err := os.Mkdir(folder, 0o755); err != nil { //nolint:gosec // documents are for everybody
			return err
		}
		var all error
		for name, content := range files {
			all = errors.Join(all, os.WriteFile(filepath.Join(folder, name), content, 0o644)) //nolint:gosec // the same
		}
		return all
	})
}

// SaveScenario writes a run as a scenario file, as lockstep explore --save does, but
// never overwrites one. made is called with the file's name.
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

// writeNew writes to a file that did not exist before: it never overwrites one.
func writeNew(t *trace.Trace, extension string, write func(w io.Writer, file string) error) (string, error) {
	base := sim.Label(t.Strategy + "-" + strings.ReplaceAll(t.Scenario, "/", "-"))
	return fresh(base, extension, func(name string) error {
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // a document is for everybody
		if err != nil {
			return err
		}
		if err := errors.Join(write(f, name), f.Close()); err != nil {
			return errors.Join(err, os.Remove(name))
		}
		return nil
	})
}

// fresh makes something under the first name that is free.
func fresh(base, extension string, make func(name string) error) (string, error) {
	for n := 1; n < 1000; n++ {
		name := base + extension
		if n > 1 {
			name = fmt.Sprintf("%s-%d%s", base, n, extension)
		}
		switch err := make(name); {
		case errors.Is(err, fs.ErrExist):
		case err != nil:
			return "", err
		default:
			return name, nil
		}
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
