package player

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim/timeline"
	"lockstep/tui/screen"
)

// finder looks for text in a trace: in the very lines that --plain prints. It
// remembers which events match, so that a frame looks nothing up.
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

func (f *finder) ask(what purpose) { f.entry, f.text = what, nil }

func (f *finder) asking() bool { return f.entry != forNothing }

// renew looks for the same in another run.
func (f *finder) renew(r *timeline.Timeline) {
	f.run, f.entry = r, forNothing
	f.hits, f.kept = f.matches(f.query), f.matches(f.only)
}

// matches says of every event whether its line has the text in it, in either case.
func (f *finder) matches(text string) []bool {
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

// keeps reports whether the event that led to a position is listed.
func (f *finder) keeps(pos int) bool { return f.kept == nil || f.kept[pos-1] }

func (f *finder) hit(pos int) bool { return f.hits != nil && f.hits[pos-1] }

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
func (f *finder) prompt(k *screen.KeyMap) string {
	sign := k.Search.Help().Key
	if f.entry == forFilter {
		sign = k.Filter.Help().Key
	}
	return sign + string(f.text) + "_"
}

// search takes a key while a text is typed.
func (p *Player) search(k tea.KeyMsg) {
	f := &p.find
	switch {
	case key.Matches(k, p.Keys.Close):
		f.entry = forNothing
	case key.Matches(k, p.Keys.Enter):
		p.found()
	case k.Type == tea.KeyBackspace && len(f.text) == 0:
		f.entry = forNothing
	case k.Type == tea.KeyBackspace:
		f.text = f.text[:len(f.text)-1]
	case (k.Type == tea.KeyRunes || k.Type == tea.KeySpace) && len(f.text) < longestQuery:
		f.text = append(f.text, k.Runes...)
	}
}

// found ends the typing: the search goes to the first match, the filter stays.
func (p *Player) found() {
	f := &p.find
	what, text := f.entry, string(f.text)
	f.entry = forNothing
	if what == forFilter {
		f.only, f.kept = text, f.matches(text)
		p.Notice = "The trace lists all events."
		if text != "" {
			p.Notice = fmt.Sprintf("The trace lists only the %d events with %q; an empty filter ends that.", count(f.kept), text)
		}
		return
	}
	if text != "" {
		f.query, f.hits = text, f.matches(text)
	}
	p.toMatch(1)
}

// toMatch goes to the next event that matches, or back to the one before.
func (p *Player) toMatch(step int) {
	f := &p.find
	if f.query == "" {
		p.Notice = p.Keys.Search.Help().Key + " searches the trace for a text."
		return
	}
	n := len(f.hits)
	at := p.Pos - 1 // the event at the cursor, or -1
	for i := 1; i <= n; i++ {
		e := ((at+step*i)%n + n) % n
		if at < 0 && step < 0 {
			e = n - i
		}
		if !f.hits[e] {
			continue
		}
		p.playing = false
		p.goTo(e + 1)
		p.Notice = fmt.Sprintf("%q: match %d of %d", f.query, count(f.hits[:e+1]), count(f.hits))
		return
	}
	p.Notice = fmt.Sprintf("No event has %q in it.", f.query)
}

// traceRow is a line of the trace pane: an event, or a violation below the event
// that completed it.
type traceRow struct {
	pos    int
	breach *timeline.Breach
}

// traceRows are the last n lines up to a position, skip lines before its end.
func traceRows(r *timeline.Timeline, pos, n, skip int, f *finder) []traceRow {
	var rows []traceRow
	for p := pos; p > 0 && len(rows) < n+skip; p-- {
		_, fresh := r.Breached(p)
		for i := len(fresh) - 1; i >= 0; i-- {
			rows = append(rows, traceRow{p, &fresh[i]})
		}
		if f.keeps(p) || p == pos {
			rows = append(rows, traceRow{p, nil})
		}
	}
	rows = rows[min(skip, len(rows)):]
	slices.Reverse(rows)
	return rows[max(len(rows)-n, 0):]
}
