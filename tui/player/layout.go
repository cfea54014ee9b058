package player

import (
	"lockstep/tui/draw"
)

// The sizes at which more comes.
const (
	sideFrom      = 120 // columns, for the side pane
	traceFrom     = 34  // rows, for the list of events
	roomyWidth    = 180 // from here on the source is shown without being asked for
	roomyHeight   = 45
	leastTold     = 4 // rows of narration that are never given up
	usuallyTold   = 8
	leastTrace    = 5
	leastState    = 12
	leastCode     = 19 // rows of the source in the place of the diagram: as many as in a window of 100x30
	leastBody     = draw.MinWidth
	mostSideWidth = 88
)

// wishes are the needs of the panes, which the layout weighs beside the size of the window.
type wishes struct {
	// main is the number of the rows on offer that the timeline would take.
	main   func(rows int) int
	told   int  // rows of the narration, for which the diagram yields
	least  int  // rows of the diagram that it doesn't yield
	source bool // the reader has asked for the source, or against it where it is there by default
	listed bool // the list of events is the view, and needs no pane beside it
}

// layout says where each pane is. A pane that has no place is empty.
type layout struct {
	header, footer       draw.Rectangle
	main                 draw.Rectangle // timeline or ladder
	status               draw.Rectangle // the event at the cursor, and who holds the lock
	told                 draw.Rectangle // narration
	trace, state, source draw.Rectangle
	rules                []draw.Rectangle // horizontal lines
	wall                 draw.Rectangle   // the vertical one
}

// roomy reports whether a window shows the source by itself.
func roomy(w, h int) bool { return w >= roomyWidth && h >= roomyHeight }

// roomBeside are the rows that the narration has beside a diagram of so many rows.
func roomBeside(main, h int) int { return max(h-draw.FrameRows-1-statusRows(h)-main, leastTold) }

// bodyWidth is the width of the left column, in which the diagram and the narration are: it
// is never less than in the least window.
func bodyWidth(w, h int, source bool) int {
	source = source != roomy(w, h)
	if !sided(w, source) {
		return w
	}
	return w - sideOf(w, source) - 1
}

// sided reports whether there is a side pane. Code that isn't wide enough beside a diagram takes the place
// of both, as it does in a window without a side.
func sided(w int, source bool) bool { return w >= sideFrom && (!source || w >= roomyWidth) }

// arrange is the layout for a window of at least minWidth by minHeight: a pure
// function of the size and the wishes.
func arrange(w, h int, want wishes) layout {
	l := layout{
		header: draw.Rect(0, 0, w, 1),
		footer: draw.Rect(0, h-1, w, 1),
		rules:  []draw.Rectangle{draw.Rect(0, 1, w, 1), draw.Rect(0, h-2, w, 1)},
	}
	body := draw.Rect(0, 2, w, h-draw.FrameRows)
	source := want.source != roomy(w, h)
	if !sided(w, source) {
		l.arrangeBody(body, h, want, source)
		return l
	}
	side := sideOf(w, source)
	body.W = w - side - 1
	l.arrangeBody(body, h, want, false)
	if !source && !l.trace.Empty() { // facts need less rows than the list needs columns
		body.H = l.trace.Y - 1 - body.Y
		l.trace.W = w
		l.rules[len(l.rules)-1].W = w
	}
	l.wall = draw.Rect(w-side-1, body.Y, 1, body.H)
	l.arrangeSide(draw.Rect(w-side, body.Y, side, body.H), source)
	return l
}

// statusRows is a row for the event and one, or a band of three, for who holds the lock.
func statusRows(h int) int {
	if h >= traceFrom {
		return 4
	}
	return 2
}

// sideOf is the width of the side pane: code needs more than facts.
func sideOf(w int, source bool) int {
	side := w / 3
	if source {
		side = w * 4 / 9
	}
	return min(side, mostSideWidth, w-1-leastBody)
}

func (l *layout) arrangeSide(r draw.Rectangle, source bool) {
	switch {
	case !source:
		l.state = r
	case r.H < traceFrom-draw.FrameRows:
		l.source = r
	default:
		top := max(leastState, r.H*2/5)
		l.state = draw.Rect(r.X, r.Y, r.W, top)
		l.rules = append(l.rules, draw.Rect(r.X, r.Y+top, r.W, 1))
		l.source = draw.Rect(r.X, r.Y+top+1, r.W, r.H-top-1)
	}
}

// arrangeBody stacks the panes of the left column. Where there is no side for
// the source, it takes the place of the timeline.
func (l *layout) arrangeBody(r draw.Rectangle, h int, want wishes, source bool) {
	status, list := statusRows(h), h >= traceFrom && (source || !want.listed)
	room := r.H - 1 - status
	top := room - leastTold
	switch {
	case source && list:
		top = max(room-max(leastTold*2, want.told+1)-leastTrace-1, min(leastCode, top))
	case source:
	case list:
		top = room - max(leastTold*2, want.told+1) - leastTrace - 1
	default:
		top = room - max(leastTold, want.told)
	}
	top = max(top, min(want.least, room-leastTold))
	if !source {
		top = min(max(want.main(top), 1), top)
	}
	main := draw.Rect(r.X, r.Y, r.W, top)
	if source {
		l.source = main
	} else {
		l.main = main
	}
	y := r.Y + top
	l.rules = append(l.rules, draw.Rect(r.X, y, r.W, 1))
	l.status = draw.Rect(r.X, y+1, r.W, status)
	y += 1 + status
	rest := r.Y + r.H - y
	told := rest
	if list {
		told = max(leastTold, min(max(usuallyTold, want.told+1), rest-1-leastTrace))
		if below := rest - told - 1; below >= leastTrace {
			l.rules = append(l.rules, draw.Rect(r.X, y+told, r.W, 1))
			l.trace = draw.Rect(r.X, y+told+1, r.W, below)
		} else {
			told = rest
		}
	}
	l.told = draw.Rect(r.X, y, r.W, told)
}

// drawFrame draws the lines between the panes.
func (l *layout) drawFrame(c *draw.Canvas, t *draw.Theme) {
	for _, r := range l.rules {
		c.Fill(r, t.Rule, draw.Dim)
	}
	c.Fill(l.wall, t.Wall, draw.Dim)
}
