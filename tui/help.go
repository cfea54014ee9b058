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
	x := 0
	for _, it := range h.legend() {
		n := textWidth(it.glyphs) + 1 + textWidth(it.means)
		if x > 0 && x+n > r.w-2 {
			x, y = 0, y+1
		}
		k := c.text(r.x+1+x, y+1, r.w-2-x, it.glyphs, inkStrong)
		c.text(r.x+1+x+k, y+1, r.w-2-x-k, " "+it.means, inkDim)
		x += n + 3
	}
}

// meaning explains glyphs.
type meaning struct{ glyphs, means string }

func (h *help) legend() []meaning {
	g := &h.theme.glyphs
	return []meaning{
		{g.awake, "runs"}, {g.inside, "in the critical section"}, {g.paused, "paused"}, {g.resume, "goes on"}, {g.crash, "crashes"},
		{g.send, "sends a command"}, {g.retry, "refused, will ask again"}, {g.granted, "has the lock"}, {g.release, "releases it"},
		{g.extend, "extends it"}, {g.lost, "no reply, or failed"},
		{g.read, "reads the store"}, {g.write, "writes to it"}, {g.bad, "breaks a property"}, {g.reject, "is refused by the store"},
		{g.bar(0) + g.bar(1) + g.bar(2), "A, B, C believes it has the lock; on a redis row: has it"}, {g.lapsed, "believes so, though the lease is over"},
		{"1 2", "how many clients believe: 2 is one too many"},
		{g.gap, "time passes, not to scale"}, {g.chasm + g.chasm, "very much of it"}, {g.here, "you are here"},
	}
}
