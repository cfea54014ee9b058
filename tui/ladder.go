package tui

import (
	"lockstep/sim"
	"lockstep/sim/timeline"
)

// ladder draws one event per row, the latest at the bottom: a column for each
// actor with its life line, the event's mark in its actor's column, an arrow
// where something went from one to another, and what it was in words. Time runs
// downwards and is not to scale; the timeline is the view for durations.
type ladder struct {
	*timeline.Timeline
	c       *canvas
	r       rect
	theme   *theme
	columns []int // x of clients, then nodes, then the store
}

const (
	ladderTime = 10
	ladderStep = 5
)

func drawLadder(c *canvas, r rect, re *timeline.Timeline, pos int, t *theme) {
	l := &ladder{Timeline: re, c: c, r: r, theme: t}
	x := r.x + ladderTime + ladderStep/2
	for i := range re.Trace.Clients {
		l.columns = append(l.columns, x)
		if re.Acts(i) {
			l.head(x, re.Trace.Clients[i], clientInk(i))
			x += ladderStep
		}
	}
	for _, name := range re.Trace.Nodes {
		l.columns = append(l.columns, x)
		l.head(x, name, inkStrong)
		x += ladderStep
	}
	l.columns = append(l.columns, x)
	l.head(x, "store", inkStrong)
	text := x + ladderStep/2 + 1
	for y := r.h - 1; y > 0 && pos > 0; y, pos = y-1, pos-1 {
		l.row(r.y+y, pos, text)
	}
}

func (l *ladder) head(x int, name string, k ink) {
	name = fit(name, ladderStep, l.theme.more)
	l.c.text(x-textWidth(name)/2, l.r.y, ladderStep, name, k)
}

func (l *ladder) store() int { return l.columns[len(l.columns)-1] }

func (l *ladder) node(i int) int { return l.columns[len(l.Clients)+i] }

func (l *ladder) row(y, pos, text int) {
	e := l.Event(pos)
	l.c.text(l.r.x+1, y, ladderTime-2, sim.Brief(e.At), inkDim)
	l.lifelines(y, &l.Moments[pos])
	l.arrow(y, e)
	actor := l.Actor(e)
	k := inkPlain
	if l.Completes(e) {
		actor, k = "!! "+actor, inkBreach
	}
	used := l.c.text(text, y, l.r.x+l.r.w-text, actor+" ", k)
	l.c.text(text+used, y, l.r.x+l.r.w-text-used, l.Text(e), k)
	if y == l.r.y+l.r.h-1 {
		l.c.put(l.r.x, y, l.theme.pointer, inkHere)
	}
}

// lifelines: a client's line shows what it does, or the bar of the lock that it believes in.
func (l *ladder) lifelines(y int, m *timeline.Moment) {
	for i := range m.Clients {
		c := &m.Clients[i]
		if !l.Acts(i) || c.Crashed {
			continue
		}
		glyph := l.theme.wall
		switch {
		case c.Paused, c.Hung:
			glyph = l.theme.paused
		case c.Inside:
			glyph = l.theme.inside
		case c.Believed:
			glyph = l.theme.bar(i)
		}
		l.c.put(l.columns[i], y, glyph, clientInk(i))
	}
	for i := range m.Nodes {
		n := &m.Nodes[i]
		x := l.node(i)
		switch {
		case !n.Up:
			l.c.put(x, y, l.theme.down, inkDim)
		case n.Present && n.Owner != sim.None:
			l.c.text(x, y, 1, l.Clients[n.Owner], clientInk(n.Owner))
		case n.Present:
			l.c.put(x, y, l.theme.nobody, inkDim)
		default:
			l.c.put(x, y, l.theme.wall, inkDim)
		}
	}
	l.c.put(l.store(), y, l.theme.wall, inkDim)
}

// arrow goes from the event's actor to whom it concerns, or marks the actor alone.
func (l *ladder) arrow(y int, e *sim.Event) {
	if host := timeline.Host(e); host != sim.None {
		k := inkDim
		if e.Client != sim.None {
			k = clientInk(e.Client)
		}
		l.c.put(l.node(host), y, l.theme.write, k)
		return
	}
	from, to, k := l.store(), none, inkDim
	if e.Client != sim.None {
		from, k = l.columns[e.Client], clientInk(e.Client)
	}
	switch timeline.ArrowOf(e) {
	case timeline.ToNode:
		to = l.node(e.Node)
	case timeline.FromNode:
		from, to = l.node(e.Node), from
	case timeline.ToStore, timeline.FromStore: // an access that is refused has gone there, too
		to = l.store()
	}
	if to == none {
		if glyph, k, rank := markOf(l.Timeline, e, &l.theme.glyphs); rank > 0 {
			l.c.put(from, y, glyph, k)
		}
		return
	}
	for x := min(from, to) + 1; x < max(from, to); x++ {
		l.c.put(x, y, l.theme.ruler, k)
	}
	head := l.theme.right
	if to < from {
		head = l.theme.left
	}
	glyph, k, _ := markOf(l.Timeline, e, &l.theme.glyphs)
	if glyph != "" {
		l.c.put(from, y, glyph, k)
	}
	l.c.put(to-sign(to-from), y, head, k)
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}
