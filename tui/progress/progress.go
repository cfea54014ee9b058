// Package progress remembers what a reader has done of the course, and how well
// he predicted, in a small file of the XDG state directory.
//
// The file is a convenience: one that can't be read is set aside and told of,
// one that can't be written is told of, and neither ever keeps anybody from going on.
package progress

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
)

// version of the file's format. A file of a later one is left alone.
const version = 1

// Diary is what is remembered. The zero Diary remembers nothing beyond the session.
type Diary struct {
	path    string
	pages   pages
	trouble string
}

// pages is the file.
type pages struct {
	Version  int                 `json:"version"`
	Rungs    map[string][]string `json:"rungs"`    // by lesson: the strategies played to the end, in the order of playing
	Guesses  map[string]bool     `json:"guesses"`  // by question: whether the first answer was right
	LastSeen string              `json:"lastSeen"` // the lesson last opened
}

// Path is where the file belongs: $XDG_STATE_HOME/lockstep/progress.json, or
// below ~/.local/state where that is not set. It is empty if there is no home.
func Path() string {
	state := os.Getenv("XDG_STATE_HOME")
	if !filepath.IsAbs(state) { // as the XDG specification wants it: a relative path counts for nothing
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		state = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(state, "lockstep", "progress.json")
}

// Open reads the file at path, if there is one. It never fails: see [Diary.Trouble].
func Open(path string) *Diary {
	d := &Diary{path: path}
	if path == "" {
		d.trouble = "no home directory: progress is forgotten when you quit"
		return d
	}
	p, err := load(path)
	switch {
	case err == nil:
		d.pages = p
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, errLater):
		d.trouble = "the progress file is from a later version of lockstep: it is left alone, and nothing is remembered"
		d.path = ""
	default:
		d.setAside(err)
	}
	return d
}

var errLater = errors.New("of a later version")

func load(path string) (pages, error) {
	data, err := os.ReadFile(path) //nolint:gosec // the user's own file, at the place where it belongs
	if err != nil {
		return pages{}, err
	}
	var head struct{ Version int } // the rest may mean anything in a later version
	if err := json.Unmarshal(data, &head); err != nil {
		return pages{}, err
	}
	switch {
	case head.Version > version:
		return pages{}, errLater
	case head.Version < 1:
		return pages{}, errors.New("it says no version")
	}
	var p pages
	return p, json.Unmarshal(data, &p)
}

// setAside renames a file that makes no sense, so that whoever wrote it can mend it.
func (d *Diary) setAside(why error) {
	for n := 1; n < 100; n++ {
		aside := fmt.Sprintf("%s.broken-%d", d.path, n)
		if _, err := os.Lstat(aside); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := os.Rename(d.path, aside); err != nil {
			break
		}
		d.trouble = fmt.Sprintf("the progress file could not be read (%v); it is now %s", why, filepath.Base(aside))
		return
	}
	d.trouble = fmt.Sprintf("the progress file can't be read (%v): nothing is remembered", why)
	d.path = ""
}

// Trouble is what went wrong with the file, in words, or empty.
func (d *Diary) Trouble() string { return d.trouble }

// Played reports whether a rung of a lesson was played to the end.
func (d *Diary) Played(lesson, strategy string) bool {
	return slices.Contains(d.pages.Rungs[lesson], strategy)
}

// Count is how many rungs of a lesson were.
func (d *Diary) Count(lesson string) int { return len(d.pages.Rungs[lesson]) }

// Play remembers that a rung was played to the end.
func (d *Diary) Play(lesson, strategy string) {
	if d.Played(lesson, strategy) {
		return
	}
	d.change(func(p *pages) {
		if p.Rungs == nil {
			p.Rungs = map[string][]string{}
		}
		if !slices.Contains(p.Rungs[lesson], strategy) {
			p.Rungs[lesson] = append(p.Rungs[lesson], strategy)
		}
	})
}

// LastSeen is the lesson that was open last, or empty.
func (d *Diary) LastSeen() string { return d.pages.LastSeen }

// See remembers which lesson is open.
func (d *Diary) See(lesson string) {
	if d.pages.LastSeen != lesson {
		d.change(func(p *pages) { p.LastSeen = lesson })
	}
}

// Guess remembers whether the answer to a question was right. Only the first
// answer counts; the result says whether this was it.
func (d *Diary) Guess(question string, right bool) bool {
	if _, again := d.pages.Guesses[question]; again {
		return false
	}
	d.change(func(p *pages) {
		if p.Guesses == nil {
			p.Guesses = map[string]bool{}
		}
		if _, again := p.Guesses[question]; !again {
			p.Guesses[question] = right
		}
	})
	return true
}

// Score is how many of the questions answered so far were answered rightly at once.
func (d *Diary) Score() (right, of int) {
	for _, r := range d.pages.Guesses {
		if r {
			right++
		}
	}
	return right, len(d.pages.Guesses)
}

// change applies a change to what is remembered and to the file, at once: so
// nothing is lost however the program ends. What another session has written in
// the meantime is kept.
func (d *Diary) change(apply func(*pages)) {
	if d.path != "" {
		if p, err := load(d.path); err == nil {
			d.pages = p
		}
	}
	apply(&d.pages)
	d.pages.Version = version
	if d.path == "" {
		return
	}
	if err := d.pages.save(d.path); err != nil {
		d.trouble = fmt.Sprintf("progress can't be saved: %v", err)
		d.path = "" // say it once, not at every step
	}
}

// save replaces the file in one step: who reads it sees the old or the new one,
// never half of one.
func (p *pages) save(path string) error {
	data, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, "progress-*")
	if err != nil {
		return err
	}
	_, err = f.Write(append(data, '\n'))
	if err := errors.Join(err, f.Close()); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return nil
}
