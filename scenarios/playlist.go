package scenarios

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"lockstep/scenarios/text"
	"lockstep/sim/suggest"
	"lockstep/strategies"
)

// Showing is an entry of a playlist: a run, with words before and after it.
type Showing struct {
	Strategy         strategies.Strategy
	Scenario         *Scenario
	Opening, Closing string // may be empty
}

// Playlist is a sequence of runs to be shown one after another.
type Playlist struct {
	Title    string // may be empty
	Showings []Showing
}

// The words that begin a line in the place of a lock.
const (
	lessonWord = "lesson"
	titleWord  = "title" // of the playlist
	sayWord    = "say"   // before the next run
)

var lineWords = []string{lessonWord, titleWord, sayWord}

// PlaylistOf is the playlist of one or two words: a playlist's file; a scenario, by its name or its file, under the lock before it; or that
// alone, as a playlist of one run, under the first lock that it expects to break something, or else the first of which it expects anything.
func PlaylistOf(words ...string) (Playlist, error) {
	if len(words) == 2 {
		all, errs := showings(words, "")
		return Playlist{Showings: all}, errors.Join(errs...)
	}
	path := words[0]
	if named := slices.Contains(Names(), path); !named && !IsScript(path) && !IsScript(strings.TrimSuffix(path, filepath.Ext(path))) {
		return LoadPlaylist(path)
	}
	s, err := Find(path)
	if err != nil {
		return Playlist{}, err
	}
	first := ""
	for _, lock := range StrategyNames() {
		switch e, of := s.expected(lock); {
		case of != lock: // it expects nothing of it, or the same as of one like it
		case len(e.verdict) > 0:
			return PlaylistOf(lock, path)
		case first == "":
			first = lock
		}
	}
	if first == "" {
		return Playlist{}, fmt.Errorf("%s expects nothing of any lock, so say which one is to be shown: lockstep present setpx-lua %[1]s", path)
	}
	return PlaylistOf(first, path)
}

// LoadPlaylist reads a file with a showing in each line: a lock and a scenario, of which the second may be a
// file of the user's own, found from the playlist's folder; or "lesson" with a lesson of the course, by
// number or name, and one of its steps, or none for all of them. A line that begins with "title" has the
// playlist's title, without which it has none; the text of one that begins with "say" is the
// opening of the next run. The text after a # is a comment. Errors name the file and the line.
func LoadPlaylist(path string) (Playlist, error) {
	data, err := text.Read(path, maxFile)
	if err != nil {
		if slices.Contains(StrategyNames(), path) {
			return Playlist{}, fmt.Errorf("%[1]s is a lock: name a scenario or a file behind it, as in lockstep present %[1]s late-release", path)
		}
		hint := ""
		if errors.Is(err, fs.ErrNotExist) {
			hint = suggest.Hint(filepath.Base(path), text.Beside(path, func(name string) bool { return filepath.Ext(name) == filepath.Ext(path) }))
		}
		return Playlist{}, fmt.Errorf("cannot read the playlist %s: %w%s", path, err, hint)
	}
	if looksLikeScript(string(data)) {
		return Playlist{}, fmt.Errorf("%[1]s is a scenario, and not a playlist of runs: a playlist has a line such as \"setpx-lua %[2]s\" for each run (lockstep present setpx-lua FILE.yaml shows one alone, if its name ends so)", path, filepath.Base(path))
	}
	r := playlistReader{path: path, wrongs: map[string]*located{}}
	for i, line := range strings.Split(string(data), "\n") {
		line, _, _ = strings.Cut(line, "#")
		if words := strings.Fields(line); len(words) > 0 {
			r.line(i+1, words)
		}
	}
	if r.said != "" {
		r.refuse(r.saidAt, fmt.Errorf("no run follows this %s: it stands before the run that it introduces", sayWord))
	}
	switch {
	case r.wrong != nil:
		return Playlist{}, r.wrong
	case len(r.list.Showings) == 0:
		return Playlist{}, fmt.Errorf("%s:1: the playlist is empty: give each line a lock and a scenario, such as naive-del late-release, or a lesson", path)
	}
	return r.list, nil
}

// playlistReader is the part of a playlist that has been read.
type playlistReader struct {
	path   string
	list   Playlist
	said   string // for the next run
	saidAt int    // the line, from 1, in which that begins
	wrong  error
	wrongs map[string]*located // by their words
}

// refuse notes a mistake of a line. A mistake in a script is mended there, in one place, though several lines name it.
func (r *playlistReader) refuse(line int, err error) {
	if before := r.wrongs[err.Error()]; before != nil && lineOf(err) > 0 {
		before.also += fmt.Sprintf(", %d", line)
		return
	}
	wrong := &located{file: r.path, line: line, err: err}
	r.wrongs[err.Error()], r.wrong = wrong, both(r.wrong, wrong)
}

func (r *playlistReader) line(n int, words []string) {
	text := strings.Join(words[1:], " ")
	switch first := words[0]; {
	case (first == titleWord || first == sayWord) && text == "":
		r.refuse(n, fmt.Errorf("%s is followed by a text", first))
	case first == titleWord && r.list.Title != "":
		r.refuse(n, errors.New("the playlist has a title already"))
	case first == titleWord:
		r.list.Title = text
	case first == sayWord:
		if r.said == "" {
			r.saidAt = n
		}
		r.said = strings.TrimSpace(r.said + " " + text)
	default:
		some, errs := showings(words, filepath.Dir(r.path))
		for _, err := range errs {
			r.refuse(n, err)
		}
		r.add(some)
		r.said = ""
	}
}

func (r *playlistReader) add(some []Showing) {
	for i, s := range some {
		if i == 0 {
			s.Opening = strings.TrimSpace(r.said + " " + s.Opening)
		}
		if j := slices.IndexFunc(r.list.Showings, func(o Showing) bool {
			return o.Scenario.Path() != "" && o.Scenario.Path() == s.Scenario.Path() && o.Scenario.Name == s.Scenario.Name
		}); j >= 0 {
			s.Scenario = r.list.Showings[j].Scenario // one script, though several lines name it
		}
		r.list.Showings = append(r.list.Showings, s)
	}
}

// BeginsPlaylist reports whether a text may be the beginning of a playlist: its first line that isn't a comment begins as one of a playlist
// does, perhaps misspelt.
func BeginsPlaylist(text string) bool {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if words := strings.Fields(line); len(words) > 0 {
			known := append(StrategyNames(), lineWords...)
			return slices.Contains(known, words[0]) || len(words) == 2 && suggest.Hint(words[0], known) != ""
		}
	}
	return false
}

// looksLikeScript reports whether a file is a scenario in the place of a playlist: no lock has a name that ends in a colon.
func looksLikeScript(text string) bool {
	return slices.ContainsFunc(strings.Split(text, "\n"), func(line string) bool {
		line = strings.TrimRight(line, " \r")
		return line == "script:" || line == "setup:"
	})
}

// showings are those of a line, or all that is wrong with it.
func showings(words []string, folder string) ([]Showing, []error) {
	if words[0] == lessonWord {
		all, err := lessonShowings(words[1:])
		return all, slices.DeleteFunc([]error{err}, func(err error) bool { return err == nil })
	}
	st, noLock := FindStrategy(words[0])
	hint := suggest.Hint(words[0], append(StrategyNames(), lineWords...))
	if noLock != nil && slices.ContainsFunc(lineWords, func(word string) bool { return hint == suggest.Hint(word, []string{word}) }) {
		return nil, []error{fmt.Errorf("%q is no lock%s", suggest.Clip(words[0]), hint)}
	}
	if len(words) != 2 {
		return nil, []error{fmt.Errorf("expected a lock and a scenario, or lesson with its number or name, and not %q", suggest.Clip(strings.Join(words, " ")))}
	}
	sc, noScenario := findIn(folder, words[1])
	if noLock != nil || noScenario != nil {
		return nil, slices.DeleteFunc([]error{noLock, noScenario}, func(err error) bool { return err == nil })
	}
	return []Showing{{Strategy: st, Scenario: sc}}, nil
}

func lessonShowings(words []string) (all []Showing, err error) {
	if len(words) == 0 || len(words) > 2 {
		return nil, errors.New("lesson is followed by the number or name of a lesson, and perhaps by the number of a step")
	}
	lessons := Course()
	n, err := FindLesson(lessons, words[0])
	if err != nil {
		return nil, err
	}
	l := &lessons[n-1]
	first, last := 1, len(l.Steps)
	if len(words) == 2 {
		first, err = strconv.Atoi(words[1])
		if err != nil || first < 1 || first > last {
			return nil, fmt.Errorf("there is no step %q: lesson %s has steps 1 to %d", suggest.Clip(words[1]), l.Name, last)
		}
		last = first
	}
	for i := first; i <= last; i++ {
		step := &l.Steps[i-1]
		st, err := FindStrategy(step.Strategy)
		if err != nil {
			return nil, err
		}
		sc, err := Find(step.Scenario)
		if err != nil {
			return nil, err
		}
		all = append(all, l.Showing(i-1, st, sc))
	}
	return all, nil
}

// Showing is a step of the lesson, counted from 0, in a playlist: the lesson's words stand before
// its first step, and behind each step the text on its run. The lock and the scenario are those of the step.
func (l *Lesson) Showing(step int, st strategies.Strategy, sc *Scenario) Showing {
	show := Showing{Strategy: st, Scenario: sc, Closing: l.Steps[step].Text}
	if step == 0 {
		show.Opening = l.Text
	}
	return show
}

// FindLesson is the number of a lesson, from 1, by its number or its name.
func FindLesson(lessons []Lesson, word string) (int, error) {
	if n, err := strconv.Atoi(word); err == nil {
		if n < 1 || n > len(lessons) {
			return 0, fmt.Errorf("there is no lesson %d: the course has lessons 1 to %d", n, len(lessons))
		}
		return n, nil
	}
	var names []string
	for i, l := range lessons {
		if l.Name == word {
			return i + 1, nil
		}
		names = append(names, l.Name)
	}
	return 0, suggest.Unknown("lesson", word, names)
}
