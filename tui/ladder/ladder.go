// Package ladder draws a run as a sequence diagram, one event per row.
package ladder

import (
	"slices"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/pane"
)

// ladder is a sequence diagram, one event after the other, the latest at the bottom: a column for
// each actor with its lifeline, the event's mark in its actor's column, an arrow for a
// message from one actor to another, and the event's text. Time runs downwards and is not
// to scale; the timeline is the view for durations.
type ladder struct {
	*timeline.Timeline
	c       *draw.Canvas
	r       draw.Rectangle
	theme   *draw.Theme
	columns []int // x of clients, then nodes, then the resource
	names   []string
	text    int // x of the events' texts
}

const (
	timeRoom = 10 // of an event's instant
	step     = 5  // from column to column
)

// At is the position of the event in a row, from 0 for the heading, of a ladder that is drawn in a rectangle, or the cursor's.
func At(r draw.Rectangle, re *timeline.Timeline, pos, row int, t *draw.Theme) int {
	at, _ := arranged(nil, r, re, t).rows(pos)
	if row > 0 && row <= len(at) {
		return at[row-1]
	}
	return pos
}

// Draw draws the last events up to a position: they begin below the heading, and move up once they need more rows than there are.
func Draw(c *draw.Canvas, r draw.Rectangle, re *timeline.Timeline, pos int, t *draw.Theme) {
	l := arranged(c, r, re, t)
	for i := range re.Trace.Clients {
		if re.Acts(i) {
			l.head(l.columns[i], re.Trace.Clients[i], draw.ClientInk(i))
		}
	}
	for i, name := range re.Trace.Nodes {
		l.head(l.node(i), name, draw.Strong)
	}
	l.head(l.store(), resource, draw.Strong)
	l.explain(l.text + 2)
	at, lines := l.rows(pos)
	for i, text := range lines {
		l.row(r.Y+1+i, at[i], text, i == 0 || at[i-1] != at[i])
	}
	if first := slices.Index(at, pos); first >= 0 {
		c.Put(r.X, r.Y+1+first, t.Pointer, draw.Here)
	}
}

// resource is the head of the last column.
const resource = "resource"

// arranged is a ladder with its columns.
func arranged(c *draw.Canvas, r draw.Rectangle, re *timeline.Timeline, t *draw.Theme) *ladder {
	l := &ladder{Timeline: re, c: c, r: r, theme: t, names: draw.ShortNames(re.Clients)}
	x := r.X + timeRoom + step/2
	for i := range re.Trace.Clients {
		l.columns = append(l.columns, x)
		if re.Acts(i) {
			x += step
		}
	}
	for range re.Trace.Nodes {
		l.columns = append(l.columns, x)
		x += step
	}
	l.columns = append(l.columns, x)
	l.text = x + len(resource) - step/2 + 1
	return l
}

// rows are the texts of the last events up to a position that have room, and the position of each row: a text that a row would cut has
// several, but never all.
func (l *ladder) rows(pos int) (at []int, texts []draw.Line) {
	room := l.r.X + l.r.W - l.text
	for ; pos > 0; pos-- {
		e := l.Event(pos)
		actor, joint := pane.Actor(l.Timeline, e)
		k := draw.Plain
		if l.Completes(e) {
			actor, k = "!! "+actor, draw.Breach
		}
		actor += joint
		lines := draw.Line{draw.Text(actor+pane.Shortened(l.Text(e), room-draw.Width(actor)), k)}.Hanging(room)
		left := l.r.H - 1 - len(at)
		if len(lines) > left {
			if len(at) > 0 || left <= 0 {
				break
			}
			lines = lines[:left]
		}
		at, texts = append(slices.Repeat([]int{pos}, len(lines)), at...), append(lines, texts...)
	}
	return at, texts
}

// explain says above the events what stands in the columns of nodes, and who the probe is, if there is room.
func (l *ladder) explain(x int) {
	i := len(l.Trace.Clients) - 1
	room, record := l.r.X+l.r.W-x, l.Nodes[0]+": whose record"
	texts := []string{record}
	if l.Trace.Clients[i] == trace.Probe && l.Acts(i) {
		const meaning = trace.Probe + ": a last test"
		texts = []string{record + "; " + trace.Probe + " (" + l.names[i] + "): a last test of the lock", record + "; " + meaning, meaning}
	}
	for _, text := range texts {
		if draw.Width(text) <= room {
			l.c.Text(x, l.r.Y, room, text, draw.Dim)
			return
		}
	}
}

func (l *ladder) head(x int, name string, k draw.Ink) {
	room := draw.Either(x == l.store(), len(resource), step) // right of it are the texts
	name = draw.Fit(name, room, l.theme.More)
	l.c.Text(x-min(draw.Width(name), step)/2, l.r.Y, room, name, k)
}

func (l *ladder) store() int { return l.columns[len(l.columns)-1] }

func (l *ladder) node(i int) int { return l.columns[len(l.Clients)+i] }

// row draws a row of an event: with its instant and arrow, if it is the first.
func (l *ladder) row(y, pos int, text draw.Line, first bool) {
	l.lifelines(y, &l.Moments[pos])
	if e := l.Event(pos); first {
		l.c.Text(l.r.X+1, y, timeRoom-2, trace.Brief(e.At), draw.Dim)
		l.arrow(y, e)
	}
	l.c.Line(l.text, y, l.r.X+l.r.W-l.text, text)
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
