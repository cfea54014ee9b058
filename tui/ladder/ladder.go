// Package ladder draws a run as a sequence diagram, one event per row.
package ladder

import (
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/pane"
)

// ladder is a sequence diagram, one event per row, the latest at the bottom: a column for
// each actor with its lifeline, the event's mark in its actor's column, an arrow for a
// message from one actor to another, and the event's text. Time runs downwards and is not
// to scale; the timeline is the view for durations.
type ladder struct {
	*timeline.Timeline
	c       *draw.Canvas
	r       draw.Rectangle
	theme   *draw.Theme
	columns []int // x of clients, then nodes, then the store
	names   []string
}

const (
	timeRoom = 10 // of an event's instant
	step     = 5  // from column to column
)

// Row is the row of the latest event, of so many: the events begin below the heading, and move up once
// there are more of them than rows.
func Row(pos, rows int) int { return min(pos, rows-1) }

// Draw draws the last events up to a position.
func Draw(c *draw.Canvas, r draw.Rectangle, re *timeline.Timeline, pos int, t *draw.Theme) {
	l := &ladder{Timeline: re, c: c, r: r, theme: t, names: draw.ShortNames(re.Clients)}
	x := r.X + timeRoom + step/2
	for i := range re.Trace.Clients {
		l.columns = append(l.columns, x)
		if re.Acts(i) {
			l.head(x, re.Trace.Clients[i], draw.ClientInk(i))
			x += step
		}
	}
	for _, name := range re.Trace.Nodes {
		l.columns = append(l.columns, x)
		l.head(x, name, draw.Strong)
		x += step
	}
	l.columns = append(l.columns, x)
	l.head(x, "store", draw.Strong)
	text := x + step/2 + 1
	l.explain(text + 2)
	last := Row(pos, r.H)
	for y := last; y > 0 && pos > 0; y, pos = y-1, pos-1 {
		l.row(r.Y+y, pos, text)
	}
	if last > 0 {
		c.Put(r.X, r.Y+last, t.Pointer, draw.Here)
	}
}

// explain says above the events what stands in the columns of nodes, and who the probe is, if there is room.
func (l *ladder) explain(x int) {
	i := len(l.Trace.Clients) - 1
	probe := draw.Either(l.Trace.Clients[i] == trace.Probe && l.Acts(i), "; "+l.names[i]+": probe, a last test", "")
	if text, room := l.Nodes[0]+": whose record"+probe, l.r.X+l.r.W-x; draw.Width(text) <= room {
		l.c.Text(x, l.r.Y, room, text, draw.Dim)
	}
}

func (l *ladder) head(x int, name string, k draw.Ink) {
	name = draw.Fit(name, step, l.theme.More)
	l.c.Text(x-draw.Width(name)/2, l.r.Y, step, name, k)
}

func (l *ladder) store() int { return l.columns[len(l.columns)-1] }

func (l *ladder) node(i int) int { return l.columns[len(l.Clients)+i] }

func (l *ladder) row(y, pos, text int) {
	e := l.Event(pos)
	l.c.Text(l.r.X+1, y, timeRoom-2, trace.Brief(e.At), draw.Dim)
	l.lifelines(y, &l.Moments[pos])
	l.arrow(y, e)
	actor := l.Actor(e)
	k := draw.Plain
	if l.Completes(e) {
		actor, k = "!! "+actor, draw.Breach
	}
	used := l.c.Text(text, y, l.r.X+l.r.W-text, actor+" ", k)
	room := l.r.X + l.r.W - text - used
	l.c.Text(text+used, y, room, pane.Shortened(l.Text(e), room), k)
}

// lifelines: a client's line shows its activity, or the bar of the lock that it believes in.
func (l *ladder) lifelines(y int, m *timeline.Moment) {
	for i := range m.Clients {
		c := &m.Clients[i]
		if !l.Acts(i) || c.Crashed {
			continue
		}
		glyph := l.theme.Wall
		switch {
		case c.Held:
			glyph = l.theme.Held
		case c.Paused, c.Hung:
			glyph = l.theme.Paused
		case c.Inside:
			glyph = l.theme.Inside
		case c.Believed:
			glyph = l.theme.Bar(i)
		}
		l.c.Put(l.columns[i], y, glyph, draw.ClientInk(i))
	}
	for i := range m.Nodes {
		n := &m.Nodes[i]
		x := l.node(i)
		switch {
		case !n.Up:
			l.c.Put(x, y, l.theme.Down, draw.Dim)
		case n.Successor != trace.None:
			l.c.Put(x, y, l.theme.Retired, draw.Dim)
		case n.Present && n.Owner != trace.None:
			l.c.Text(x, y, step-2, l.names[n.Owner], draw.ClientInk(n.Owner))
		case n.Present:
			l.c.Put(x, y, l.theme.Nobody, draw.Dim)
		default:
			l.c.Put(x, y, l.theme.Wall, draw.Dim)
		}
	}
	l.c.Put(l.store(), y, l.theme.Wall, draw.Dim)
}

// arrow goes from the event's actor to its peer, or marks the actor alone.
func (l *ladder) arrow(y int, e *trace.Event) {
	if host := timeline.NodeOf(e); host != trace.None {
		k := draw.Dim
		if e.Client != trace.None {
			k = draw.ClientInk(e.Client)
		}
		l.c.Put(l.node(host), y, l.theme.Write, k)
		return
	}
	from, to, k := l.store(), trace.None, draw.Dim
	if e.Client != trace.None {
		from, k = l.columns[e.Client], draw.ClientInk(e.Client)
	}
	switch timeline.ArrowOf(e) {
	case timeline.ToNode:
		to = l.node(e.Node)
	case timeline.FromNode:
		from, to = l.node(e.Node), from
	case timeline.ToStore, timeline.FromStore: // an access that is refused has gone there, too
		to = l.store()
	}
	if to == trace.None {
		if glyph, k, rank := pane.MarkOf(l.Timeline, e, &l.theme.Glyphs); rank > 0 {
			l.c.Put(from, y, glyph, k)
		}
		return
	}
	for x := min(from, to) + 1; x < max(from, to); x++ {
		l.c.Put(x, y, l.theme.Ruler, k)
	}
	head := l.theme.Right
	if to < from {
		head = l.theme.Left
	}
	glyph, k, _ := pane.MarkOf(l.Timeline, e, &l.theme.Glyphs)
	if glyph != "" {
		l.c.Put(from, y, glyph, k)
	}
	l.c.Put(to-sign(to-from), y, head, k)
}

func sign(n int) int {
	if n < 0 {
		return -1
	}
	return 1
}
