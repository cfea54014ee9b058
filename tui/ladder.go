package tui

import (
	"lockstep/sim/trace"
)

// ladder draws one event per row, the latest at the bottom: a column for each
// actor with its life line, the event's mark in its actor's column, an arrow
// where something went from one to another, and what it was in words. Time runs
// downwards and is not to scale; the timeline is the view for durations.
type ladder struct {
	*reel
	c       *canvas
	r       rect
	theme   *theme
	columns []int // x of clients, then nodes, then the store
}

const (
	ladderTime = 10
	ladderStep = 5
)

func drawLadder(c *canvas, r rect, re *reel, pos int, t *theme) {
	l := &ladder{reel: re, c: c, r: r, theme: t}
	x := r.x + ladderTime + ladderStep/2
	for i := range re.trace.Clients {
		l.columns = append(l.columns, x)
		if re.actors[i] {
			l.head(x, re.trace.Clients[i], clientInk(i))
			x += ladderStep
		}
	}
	for _, name := range re.trace.Nodes {
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

func (l *ladder) row(y, pos, text int) {
	e, s := l.event(pos), &l.samples[pos]
	l.c.text(l.r.x+1, y, ladderTime-2, trace.Brief(e.At), inkDim)
	l.lifelines(y, s)
	l.arrow(y, e)
	actor := l.trace.Actor(e)
	k := inkPlain
	if l.proves(e) {
		actor, k = "!! "+actor, inkBreach
	}
	used := l.c.text(text, y, l.r.x+l.r.w-text, actor+" ", k)
	l.c.text(text+used, y, l.r.x+l.r.w-text-used, l.trace.Text(e), k)
	if y == l.r.y+l.r.h-1 {
		l.c.put(l.r.x, y, l.theme.pointer, inkHere)
	}
}

// lifelines: a client's line shows what it does, or the bar of the lock that it believes in.
func (l *ladder) lifelines(y int, s *sample) {
	for i := range s.clients {
		c := &s.clients[i]
		if !l.actors[i] || c.crashed {
			continue
		}
		glyph := l.theme.wall
		switch {
		case c.paused, c.hung:
			glyph = l.theme.paused
		case c.inside:
			glyph = l.theme.inside
		case c.believed:
			glyph = l.theme.bar(i)
		}
		l.c.put(l.columns[i], y, glyph, clientInk(i))
	}
	for i := range s.nodes {
		n := &s.nodes[i]
		x := l.columns[len(s.clients)+i]
		switch {
		case !n.up:
			l.c.put(x, y, l.theme.down, inkDim)
		case n.present && n.owner != trace.None:
			l.c.text(x, y, 1, l.trace.Clients[n.owner], clientInk(n.owner))
		case n.present:
			l.c.put(x, y, l.theme.nobody, inkDim)
		default:
			l.c.put(x, y, l.theme.wall, inkDim)
		}
	}
	l.c.put(l.store(), y, l.theme.wall, inkDim)
}

// arrow goes from the event's actor to whom it concerns, or marks the actor alone.
func (l *ladder) arrow(y int, e *trace.Event) {
	from, to := -1, -1
	k := inkDim
	if e.Client != trace.None {
		from, k = l.columns[e.Client], clientInk(e.Client)
	}
	switch e.Kind {
	case trace.KindSend:
		to = l.columns[len(l.trace.Clients)+e.Node]
	case trace.KindReceive, trace.KindDisconnect:
		from, to = l.columns[len(l.trace.Clients)+e.Node], from
	case trace.KindRead, trace.KindWrite, trace.KindQuery, trace.KindReject:
		to = l.store()
	case trace.KindUpdate:
		from = l.store()
	case trace.KindExecute, trace.KindExpire, trace.KindUnreachable, trace.KindDown, trace.KindUp, trace.KindNodeStep, trace.KindEvict, trace.KindFlush:
		l.c.put(l.columns[len(l.trace.Clients)+e.Node], y, l.theme.write, k)
		return
	}
	if to < 0 {
		if glyph, k, rank := l.mark(e, &l.theme.glyphs); rank > 0 {
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
	glyph, k, _ := l.mark(e, &l.theme.glyphs)
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
