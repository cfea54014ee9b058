// Package progress remembers the steps of the course that a reader has played, and how
// well the reader predicted, in a small file of the XDG state directory.
//
// The file is a convenience: one that can't be read is set aside and reported, one that
// can't be written is reported, and neither ever stops the program.
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

// Store remembers a reader's progress. The zero Store remembers nothing beyond the session.
type Store struct {
	path    string
	games   map[string][]byte // those kept in this session, by name
	kept    contents
	trouble string
}

// contents is the content of the file. Its JSON keys are those of version 1: renaming one
// would lose readers' progress.
type contents struct {
	Version   int                 `json:"version"`
	Steps     map[string][]string `json:"rungs"`               // by lesson: the strategies played to the end, in the order of playing
	Guesses   map[string]bool     `json:"guesses"`             // by question: whether the first answer was right
	LastSeen  string              `json:"lastSeen"`            // the lesson last opened
	LastStep  string              `json:"lastStep,omitempty"`  // of that lesson
	LastLevel string              `json:"lastLevel,omitempty"` // of the game, last opened
	Wins      map[string]Win      `json:"wins,omitempty"`
}

// Win is the cost of a level's cheapest win.
type Win struct{ Faults, Switches, Steps int }

func (w Win) less(v Win) bool {
	if w.Faults != v.Faults {
		return w.Faults < v.Faults
	}
	if w.Switches != v.Switches {
		return w.Switches < v.Switches
	}
	return w.Steps < v.Steps
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

// Open reads the file at path, if there is one. It never fails: see [Store.Trouble].
func Open(path string) *Store {
	s := &Store{path: path}
	if path == "" {
		s.trouble = "no home directory: progress is forgotten when you quit"
		return s
	}
	p, err := load(path)
	switch {
	case err == nil:
		s.kept = p
	case errors.Is(err, fs.ErrNotExist):
	case errors.Is(err, errLater):
		s.trouble = "the progress file is from a later version of lockstep: it is left alone, and nothing is remembered"
		s.path = ""
	default:
		s.setAside(err)
	}
	return s
}

var errLater = errors.New("of a later version")

func load(path string) (contents, error) {
	data, err := os.ReadFile(path) //nolint:gosec // the user's own file, at the place where it belongs
	if err != nil {
		return contents{}, err
	}
	var head struct{ Version int } // the rest may mean anything in a later version
	if err := json.Unmarshal(data, &head); err != nil {
		return contents{}, err
	}
	switch {
	case head.Version > version:
		return contents{}, errLater
	case head.Version < 1:
		return contents{}, errors.New("it says no version")
	}
	var p contents
	return p, json.Unmarshal(data, &p)
}

// setAside renames a file that makes no sense, so that a person can repair it.
func (s *Store) setAside(why error) {
	for n := 1; n < 100; n++ {
		aside := fmt.Sprintf("%s.broken-%d", s.path, n)
		if _, err := os.Lstat(aside); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := os.Rename(s.path, aside); err != nil {
			break
		}
		s.trouble = fmt.Sprintf("the progress file could not be read (%v); it is now %s", why, filepath.Base(aside))
		return
	}
	s.trouble = fmt.Sprintf("the progress file can't be read (%v): nothing is remembered", why)
	s.path = ""
}

// Trouble describes the last failure to read or write the file; it is empty without one.
func (s *Store) Trouble() string { return s.trouble }

// Played reports whether a step of a lesson was played to the end.
func (s *Store) Played(lesson, strategy string) bool {
	return slices.Contains(s.kept.Steps[lesson], strategy)
}

// Count is the number of steps of a lesson that were played.
func (s *Store) Count(lesson string) int { return len(s.kept.Steps[lesson]) }

// Play remembers that a step was played to the end.
func (s *Store) Play(lesson, strategy string) {
	if s.Played(lesson, strategy) {
		return
	}
	s.change(func(p *contents) {
		if p.Steps == nil {
			p.Steps = map[string][]string{}
		}
		if !slices.Contains(p.Steps[lesson], strategy) {
			p.Steps[lesson] = append(p.Steps[lesson], strategy)
		}
	})
}

// LastSeen is the lesson that was open last, and its step; or empty.
func (s *Store) LastSeen() (lesson, step string) { return s.kept.LastSeen, s.kept.LastStep }

// See remembers which step of which lesson is open.
func (s *Store) See(lesson, step string) {
	if s.kept.LastSeen != lesson || s.kept.LastStep != step {
		s.change(func(p *contents) { p.LastSeen, p.LastStep = lesson, step })
	}
}

// Guess remembers whether the answer to a question was right. Only the first
// answer counts; the result says whether this was it.
func (s *Store) Guess(question string, right bool) bool {
	if _, again := s.kept.Guesses[question]; again {
		return false
	}
	s.change(func(p *contents) {
		if p.Guesses == nil {
			p.Guesses = map[string]bool{}
		}
		if _, again := p.Guesses[question]; !again {
			p.Guesses[question] = right
		}
	})
	return true
}

// Score counts the questions answered so far, and those of them whose first answer was
// right.
func (s *Store) Score() (right, of int) {
	for _, r := range s.kept.Guesses {
		if r {
			right++
		}
	}
	return right, len(s.kept.Guesses)
}

// LastLevel is the level of the game that was open last, or empty.
func (s *Store) LastLevel() string { return s.kept.LastLevel }

// SeeLevel remembers which level is open.
func (s *Store) SeeLevel(level string) {
	if s.kept.LastLevel != level {
		s.change(func(p *contents) { p.LastLevel = level })
	}
}

// Won is the cheapest win of a level so far, if there is one.
func (s *Store) Won(level string) (Win, bool) {
	w, won := s.kept.Wins[level]
	return w, won
}

// Win remembers that a level was won.
func (s *Store) Win(level string, w Win) {
	if was, won := s.kept.Wins[level]; won && !w.less(was) {
		return
	}
	s.change(func(p *contents) {
		if p.Wins == nil {
			p.Wins = map[string]Win{}
		}
		if was, won := p.Wins[level]; !won || w.less(was) {
			p.Wins[level] = w
		}
	})
}

// change applies a change to the memory and to the file, at once: so
// nothing is lost however the program ends. Changes that another session has written in
// the meantime are kept.
func (s *Store) change(apply func(*contents)) {
	if s.path != "" {
		if p, err := load(s.path); err == nil {
			s.kept = p
		}
	}
	apply(&s.kept)
	s.kept.Version = version
	if s.path == "" {
		return
	}
	if err := s.kept.save(s.path); err != nil {
		s.trouble = fmt.Sprintf("progress can't be saved: %v", err)
		s.path = "" // say it once, not at every step
	}
}

// save replaces the file in one step.
func (p *contents) save(path string) error {
	data, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return err
	}
	return replaceFile(path, append(data, '\n'))
}
