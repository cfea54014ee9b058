package tui

import (
	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
)

// help is the screen that lists all keys, and what the glyphs of the timeline mean.
type help struct {
	keys  keyMap
	theme *theme
}

func (h *help) update(msg tea.Msg) (tea.Cmd, outcome) {
	if k, is := msg.(tea.KeyMsg); is && (key.Matches(k, h.keys.Close) || key.Matches(k, h.keys.Help) || key.Matches(k, h.keys.Enter)) {
		return nil, outcome{close: true}
	}
	return nil, outcome{}
}

func (h *help) footerKeys() []key.Binding { return []key.Binding{h.keys.Close, h.keys.Quit} }

func (h *help) draw(c *canvas, r rect) {
	c.text(r.x+1, r.y, r.w-2, "keys", inkTitle)
	all := h.keys.all()
	const columns, width, names = 3, 26, 10
	rows := (len(all) + columns - 1) / columns
	for i, b := range all {
		x, y := r.x+1+i/rows*width, r.y+1+i%rows
		c.text(x, y, names, keyNames(b), inkStrong)
		c.text(x+names, y, width-names-1, b.Help().Desc, inkDim)
	}
	y := r.y + rows + 2
	c.text(r.x+1, y, r.w-2, "what the timeline shows", inkTitle)
	for i, l := range h.legend() {
		c.line(r.x+1, y+1+i, r.w-2, l)
	}
}

func (h *help) legend() []line {
	g := &h.theme.glyphs
	item := func(glyph, means string) line { return line{{glyph, inkStrong}, {" " + means + "   ", inkDim}} }
	join := func(items ...line) (l line) {
		for _, i := range items {
			l = append(l, i...)
		}
		return l
	}
	return []line{
		join(item(g.awake, "runs"), item(g.inside, "in the critical section"), item(g.paused, "paused"), item(g.resume, "goes on"), item(g.crash, "crashes")),
		join(item(g.send, "sends a command"), item(g.retry, "refused, will ask again"), item(g.granted, "has the lock"), item(g.release, "releases"), item(g.lost, "no reply, failed")),
		join(item(g.read, "reads the store"), item(g.write, "writes it"), item(g.bad, "unsafe write"), item(g.reject, "refused by the store")),
		join(item(g.bar(0)+g.bar(1)+g.bar(2), "believes it has the lock; on a redis row: has it"), item(g.lapsed, "believes, lease over")),
		join(item("1 2", "how many clients believe that they hold the lock: 2 is one too many")),
		join(item(g.gap, "time passes, not to scale"), item(g.chasm+g.chasm, "very much time passes"), item(g.here, "you are here")),
	}
}
