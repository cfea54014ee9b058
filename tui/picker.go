package tui

import (
	"fmt"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// picker is a list to choose from, on the whole screen.
type picker struct {
	*stage
	title   string
	items   []choice
	at      int
	current int
	about   string  // for the help, if the badges are not verdicts
	wanted  tea.Cmd // computes what the badges show
	choose  func(int) (tea.Cmd, outcome)
	list    rect
	first   int
}

// choice is an item of a list: its name, what became of it, and a line on it.
type choice struct {
	name, about string
	badge       func() span
}

func (p *picker) start() tea.Cmd { return p.wanted }

func (p *picker) update(msg tea.Msg) (tea.Cmd, outcome) {
	switch msg := msg.(type) {
	case click:
		return p.clicked(msg)
	case tea.KeyMsg:
		return p.typed(msg)
	}
	return nil, outcome{}
}

func (p *picker) typed(k tea.KeyMsg) (tea.Cmd, outcome) {
	switch {
	case key.Matches(k, p.keys.Close):
		return nil, outcome{close: true}
	case key.Matches(k, p.keys.Up):
		p.at--
	case key.Matches(k, p.keys.Down):
		p.at++
	case key.Matches(k, p.keys.PageUp):
		p.at -= max(p.list.h, 1)
	case key.Matches(k, p.keys.PageDown):
		p.at += max(p.list.h, 1)
	case key.Matches(k, p.keys.First):
		p.at = 0
	case key.Matches(k, p.keys.Last):
		p.at = len(p.items) - 1
	case key.Matches(k, p.keys.Enter) && len(p.items) > 0:
		return p.choose(p.at)
	}
	p.at = max(min(p.at, len(p.items)-1), 0)
	return nil, outcome{}
}

func (p *picker) clicked(c click) (tea.Cmd, outcome) {
	if c.wheel != 0 {
		p.at = max(min(p.at+c.wheel, len(p.items)-1), 0)
		return nil, outcome{}
	}
	i := p.first + c.y - p.list.y
	if c.y < p.list.y || c.y >= p.list.y+p.list.h || i >= len(p.items) {
		return nil, outcome{}
	}
	p.at = i
	return p.choose(i)
}

func (p *picker) footerKeys() []key.Binding {
	return []key.Binding{pair(p.keys.Up, p.keys.Down, "move"), as(p.keys.Enter, "choose"), p.keys.Close, pair(p.keys.PageUp, p.keys.PageDown, "page"), p.keys.Help, p.keys.Quit}
}

func (p *picker) help() page {
	k, g := &p.keys, &p.theme.glyphs
	keys := append([]key.Binding{as(k.Up, "up"), as(k.Down, "down"), k.PageUp, k.PageDown, as(k.First, "first"), as(k.Last, "last"),
		as(k.Enter, "choose")}, k.always()...)
	if p.about != "" {
		return page{title: "a list", about: p.about, keys: keys}
	}
	return page{
		title: "a list",
		about: "Beside each name stands what came of it, run just now: the worst that the monitors saw.",
		keys:  keys,
		signs: append([]meaning{{g.granted + "ok", "nothing broke"}, {g.mild + "BD", "reported, but no failure"}, {g.bad + "DG", "broken"},
			{g.write, "what is open now"}}, codeMeanings()...),
	}
}

// draw lists the items around the selected one, and what it is about below the list.
func (p *picker) draw(c *canvas, r rect) {
	n := c.text(r.x+1, r.y, r.w-2, p.title, inkTitle)
	c.text(r.x+1+n, r.y, r.w-2-n, fmt.Sprintf("  %d of %d", p.at+1, len(p.items)), inkDim)
	const aboutRows, badges = 4, 7
	p.list = rect{r.x, r.y + 2, r.w, r.h - 2 - aboutRows}
	p.first = min(max(p.at-p.list.h/2, 0), max(len(p.items)-p.list.h, 0))
	names := 0
	for _, it := range p.items {
		names = max(names, textWidth(it.name))
	}
	names = min(names, r.w/3)
	for i := p.first; i < len(p.items) && i-p.first < p.list.h; i++ {
		it := p.items[i]
		mark := "   "
		switch i {
		case p.at:
			mark = " " + p.theme.pointer + " "
		case p.current:
			mark = " " + p.theme.write + " "
		}
		badge := it.badge()
		l := line{{mark, inkHere}, {padded(fit(it.name, names, p.theme.more), names) + "  ", inkStrong},
			{padded(badge.text, badges), badge.ink}, {it.about, inkDim}}
		if i == p.at {
			l = l.fitted(p.list.w, p.theme.more).lit(p.list.w)
		}
		c.line(p.list.x, p.list.y+i-p.first, p.list.w, l)
	}
	if len(p.items) == 0 {
		return
	}
	var about []line
	for _, s := range wrap(p.items[p.at].about, min(r.w-4, longestLine)) {
		about = append(about, line{{s, inkPlain}})
	}
	c.lines(rect{r.x + 3, r.y + r.h - aboutRows + 1, r.w - 4, aboutRows - 1}, about, 0)
}
