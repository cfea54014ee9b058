package tui

import (
	"fmt"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// picker is a list to choose from, on the whole screen.
type picker struct {
	keys    keyMap
	theme   *theme
	title   string
	items   []choice
	at      int
	current int
	choose  func(int) tea.Cmd
}

// choice is an item of a list: its name, and a line on it.
type choice struct{ name, about string }

func (p *picker) update(msg tea.Msg) (tea.Cmd, outcome) {
	k, is := msg.(tea.KeyMsg)
	switch {
	case !is:
	case key.Matches(k, p.keys.Close):
		return nil, outcome{close: true}
	case key.Matches(k, p.keys.Up):
		p.at = max(p.at-1, 0)
	case key.Matches(k, p.keys.Down):
		p.at = min(p.at+1, len(p.items)-1)
	case key.Matches(k, p.keys.First):
		p.at = 0
	case key.Matches(k, p.keys.Last):
		p.at = len(p.items) - 1
	case key.Matches(k, p.keys.Enter):
		return p.choose(p.at), outcome{close: true}
	}
	return nil, outcome{}
}

func (p *picker) footerKeys() []key.Binding {
	choose := p.keys.Enter
	choose.SetHelp("enter", "choose")
	up, down := p.keys.Up, p.keys.Down
	up.SetHelp("up", "previous")
	down.SetHelp("down", "next")
	return []key.Binding{up, down, choose, p.keys.Close, p.keys.Quit}
}

// draw lists the items around the selected one, and what it is about below the list.
func (p *picker) draw(c *canvas, r rect) {
	n := c.text(r.x+1, r.y, r.w-2, p.title, inkTitle)
	c.text(r.x+1+n, r.y, r.w-2-n, fmt.Sprintf("  %d of %d", p.at+1, len(p.items)), inkDim)
	const aboutRows = 4
	list := rect{r.x, r.y + 2, r.w, r.h - 2 - aboutRows}
	first := min(max(p.at-list.h/2, 0), max(len(p.items)-list.h, 0))
	names := 0
	for _, it := range p.items {
		names = max(names, textWidth(it.name))
	}
	names = min(names, r.w/3)
	for i := first; i < len(p.items) && i-first < list.h; i++ {
		it := p.items[i]
		mark := "  "
		if i == p.current {
			mark = p.theme.pointer + " "
		}
		l := line{{" " + mark, inkHere}, {fmt.Sprintf("%-*s  ", names, fit(it.name, names, p.theme.more)), inkStrong}, {it.about, inkDim}}
		if i == p.at {
			l = l.fit(list.w, p.theme.more).lit(list.w)
		}
		c.line(list.x, list.y+i-first, list.w, l)
	}
	if len(p.items) == 0 {
		return
	}
	for i, s := range wrap(p.items[p.at].about, min(r.w-4, longestLine)) {
		if i < aboutRows-1 {
			c.text(r.x+3, r.y+r.h-aboutRows+1+i, r.w-4, s, inkPlain)
		}
	}
}
