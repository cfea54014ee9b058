package player

import (
	"fmt"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim/timeline"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
)

// finder looks for text in a trace: in the very lines that --plain prints. It
// remembers which events match, so that a frame looks nothing up.
//
// Invariant, once there is a run: hits and kept are nil or have an element for each event.
type finder struct {
	run   *timeline.Timeline
	entry purpose // the purpose of the text that is being typed
	text  []rune  // typed so far

	query, only string // the text to go to; the text that listed lines have in them
	hits, kept  []bool // by event
}

type purpose uint8

const (
	forNothing purpose = iota
	forMatch
	forFilter
)

// longestQuery keeps a query from filling the screen.
const longestQuery = 60

func (find *finder) ask(what purpose) { find.entry, find.text = what, nil }

func (find *finder) asking() bool { return find.entry != forNothing }

// renew looks for the same in another run.
func (find *finder) renew(tl *timeline.Timeline) {
	find.run, find.entry = tl, forNothing
	find.hits, find.kept = find.matches(find.query), find.matches(find.only)
}

// matches says of every event whether its line has the text in it, in either case.
func (find *finder) matches(text string) []bool {
	if text == "" || find.run == nil {
		return nil
	}
	t, text := find.run.Trace, strings.ToLower(text)
	found := make([]bool, len(t.Events))
	for i := range t.Events {
		found[i] = strings.Contains(strings.ToLower(t.Line(&t.Events[i])), text)
	}
	return found
}

// keeps reports whether the event that led to a position is listed.
func (find *finder) keeps(pos int) bool { return find.kept == nil || find.kept[pos-1] }

func (find *finder) hit(pos int) bool { return find.hits != nil && find.hits[pos-1] }

func count(found []bool) int {
	n := 0
	for _, f := range found {
		if f {
			n++
		}
	}
	return n
}

// prompt is the text so far, with a mark where the next character goes.
func (find *finder) prompt(k *screen.KeyMap) string {
	sign := k.Search.Help().Key
	if find.entry == forFilter {
		sign = k.Filter.Help().Key
	}
	return sign + string(find.text) + "_"
}

// search takes a key while a text is typed.
func (p *Player) search(k tea.KeyMsg) {
	find := &p.find
	switch {
	case key.Matches(k, p.Keys.Close):
		find.entry = forNothing
	case key.Matches(k, p.Keys.Enter):
		p.found()
	case k.Type == tea.KeyBackspace && len(find.text) == 0:
		find.entry = forNothing
	case k.Type == tea.KeyBackspace:
		find.text = find.text[:len(find.text)-1]
	case (k.Type == tea.KeyRunes || k.Type == tea.KeySpace) && len(find.text) < longestQuery:
		find.text = append(find.text, k.Runes...)
	}
}

// found ends the typing: the search goes to the first match, the filter stays.
func (p *Player) found() {
	find := &p.find
	what, text := find.entry, string(find.text)
	find.entry = forNothing
	if what == forFilter {
		find.only, find.kept = text, find.matches(text)
		p.Notice = "The trace lists all events."
		if text != "" {
			p.Notice = fmt.Sprintf("%s lists all again. So far %s: %q", p.Keys.Close.Help().Key, draw.Plural(count(find.kept[:p.Pos]), "event"), text)
			if !p.sees(panelTrace) { // what is filtered is to be seen
				p.view, p.focus = viewTrace, panelTrace
			}
		}
		return
	}
	if text != "" {
		find.query, find.hits = text, find.matches(text)
	}
	p.toMatch(1)
}

// leave ends the filter, or else the search, and reports whether there was one: the key that leaves the
// screen leaves these first.
func (find *finder) leave(p *Player) bool {
	switch {
	case find.only != "":
		find.only, find.kept = "", nil
		p.Notice = "The trace lists all events."
	case find.query != "":
		find.query, find.hits = "", nil
		p.Notice = "The search is over."
	default:
		return false
	}
	return true
}

// toMatch goes to the next event that matches, or back to the one before.
func (p *Player) toMatch(step int) {
	find := &p.find
	if find.query == "" {
		p.Notice = p.Keys.Search.Help().Key + " searches the trace for a text."
		return
	}
	n := len(find.hits)
	at := p.Pos - 1 // the event at the cursor, or -1
	for i := 1; i <= n; i++ {
		e := ((at+step*i)%n + n) % n
		if at < 0 && step < 0 {
			e = n - i
		}
		if !find.hits[e] {
			continue
		}
		p.playing = false
		p.goTo(e + 1)
		p.Notice = fmt.Sprintf("%q: match %d of %d", find.query, count(find.hits[:e+1]), count(find.hits))
		return
	}
	p.Notice = fmt.Sprintf("No event has %q in it.", find.query)
}
