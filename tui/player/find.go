package player

import (
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/tui/draw"
	"lockstep/tui/find"
	"lockstep/tui/views"
)

// search takes a key while a text is typed. At its end the search goes to the first match, and the filter stays.
func (p *Player) search(k tea.KeyMsg) {
	switch what, ended := p.find.Typed(k, &p.Keys); {
	case !ended:
	case what == find.Match:
		p.toMatch(1)
	case p.find.Only == "":
		p.Notice = "The trace lists all events."
	default:
		p.Notice = fmt.Sprintf("%s lists all again. So far %s: %q", p.Keys.Close.Help().Key, draw.Plural(p.find.Kept(p.Pos), "event"), p.find.Only)
		if !p.sees(panelTrace) { // the filtered trace is to be seen
			p.view, p.focus = views.Trace, panelTrace
		}
	}
}

// leaveSearch ends the filter, or else the search, and reports whether there was one.
func (p *Player) leaveSearch() bool {
	said := p.find.Leave()
	if said != "" {
		p.Notice = said
	}
	return said != ""
}

// toMatch goes to the next event that matches, or back to the one before.
func (p *Player) toMatch(step int) {
	if p.find.Query == "" {
		p.Notice = p.Keys.Search.Help().Key + " searches the trace for a text."
		return
	}
	to, nth, all := p.find.Next(p.Pos, step)
	if all == 0 {
		p.Notice = fmt.Sprintf("No event has %q in it.", p.find.Query)
		return
	}
	p.playing = false
	p.goTo(to)
	p.Notice = fmt.Sprintf("%q: match %d of %d", p.find.Query, nth, all)
}
