// Package find looks for text in a run: in the very lines that --plain prints.
package find

import (
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim/timeline"
	"lockstep/tui/screen"
)

// Finder remembers which events match, so that a frame looks nothing up.
//
// Invariant, once there is a run: hits and kept are nil or have an element for each event.
type Finder struct {
	run   *timeline.Timeline
	entry Purpose // the purpose of the text that is being typed
	text  []rune  // typed so far

	Query, Only string // the text to go to; the text that listed lines have in them
	hits, kept  []bool // by event
}

// Purpose is that of a text that is typed.
type Purpose uint8

// The purposes.
const (
	nothing Purpose = iota
	Match
	Filter
)

// longest keeps a text from filling the screen.
const longest = 60

// Ask begins the typing of a text.
func (f *Finder) Ask(what Purpose) { f.entry, f.text = what, nil }

// Asking reports whether a text is being typed.
func (f *Finder) Asking() bool { return f.entry != nothing }

// Filters reports whether the text that is being typed is for the filter.
func (f *Finder) Filters() bool { return f.entry == Filter }

// Renew looks for the same in another run.
func (f *Finder) Renew(tl *timeline.Timeline) {
	f.run, f.entry = tl, nothing
	f.hits, f.kept = f.matches(f.Query), f.matches(f.Only)
}

// matches says of every event whether its line has the text in it, in either case.
func (f *Finder) matches(text string) []bool {
	if text == "" || f.run == nil {
		return nil
	}
	t, text := f.run.Trace, strings.ToLower(text)
	found := make([]bool, len(t.Events))
	for i := range t.Events {
		found[i] = strings.Contains(strings.ToLower(t.Line(&t.Events[i])), text)
	}
	return found
}

// Keeps reports whether the event that led to a position is listed.
func (f *Finder) Keeps(pos int) bool { return f.kept == nil || f.kept[pos-1] }

// Kept counts the events that a filter lists up to a position.
func (f *Finder) Kept(pos int) int { return count(f.kept[:pos]) }

// Hit reports whether the event that led to a position matches.
func (f *Finder) Hit(pos int) bool { return f.hits != nil && f.hits[pos-1] }

func count(found []bool) int {
	n := 0
	for _, f := range found {
		if f {
			n++
		}
	}
	return n
}

// Prompt is the text so far, with a mark where the next character goes.
func (f *Finder) Prompt(k *screen.KeyMap) string {
	sign := k.Search.Help().Key
	if f.Filters() {
		sign = k.Filter.Help().Key
	}
	return sign + string(f.text) + "_"
}

// Typed takes a key while a text is typed, and reports whether it has ended that with a text that holds from now on, and for what.
func (f *Finder) Typed(k tea.KeyMsg, keys *screen.KeyMap) (what Purpose, ended bool) {
	switch {
	case key.Matches(k, keys.Close):
		f.entry = nothing
	case key.Matches(k, keys.Enter):
		return f.take(), true
	case k.Type == tea.KeyBackspace && len(f.text) == 0:
		f.entry = nothing
	case k.Type == tea.KeyBackspace:
		f.text = f.text[:len(f.text)-1]
	case (k.Type == tea.KeyRunes || k.Type == tea.KeySpace) && len(f.text) < longest:
		f.text = append(f.text, k.Runes...)
	}
	return nothing, false
}

// take ends the typing. An empty text ends the filter, and leaves the search as it is.
func (f *Finder) take() Purpose {
	what, text := f.entry, string(f.text)
	f.entry = nothing
	switch {
	case what == Filter:
		f.Only, f.kept = text, f.matches(text)
	case text != "":
		f.Query, f.hits = text, f.matches(text)
	}
	return what
}

// Leave ends the filter, or else the search, and says so, or nothing where there was none: the key that leaves the
// screen leaves these first.
func (f *Finder) Leave() string {
	switch {
	case f.Only != "":
		f.Only, f.kept = "", nil
		return "The trace lists all events."
	case f.Query != "":
		f.Query, f.hits = "", nil
		return "The search is over."
	}
	return ""
}

// Next is the position of the next event that matches after one, or before it by a negative step, round the ends of the run: the
// nth of all. It is 0 where none matches.
func (f *Finder) Next(pos, step int) (to, nth, all int) {
	n := len(f.hits)
	at := pos - 1 // the event at the cursor, or -1
	for i := 1; i <= n; i++ {
		e := ((at+step*i)%n + n) % n
		if at < 0 && step < 0 {
			e = n - i
		}
		if f.hits[e] {
			return e + 1, count(f.hits[:e+1]), count(f.hits)
		}
	}
	return 0, 0, 0
}
