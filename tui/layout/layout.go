// Package layout says where the panes of a run are in a window: a pure function of the size of the window and of
// the needs of the panes.
package layout

import (
	"lockstep/tui/draw"
)

// The sizes that others know.
const (
	SideFrom   = 120 // columns from which there is a side pane
	LeastTold  = 4   // rows of narration that are never given up
	LeastState = 12  // rows of the state above the source
)

// The sizes at which more comes.
const (
	traceFrom     = 34  // rows, for the list of events
	RoomyWidth    = 180 // from here on the source is shown without being asked for
	RoomyHeight   = 45
	usuallyTold   = 8
	leastTrace    = 5
	leastCode     = 19 // rows of the source in the place of the diagram: as many as in a window of 100x30
	leastBody     = draw.MinWidth
	mostSideWidth = 88
)

// Wishes are the needs of the panes, which the layout weighs beside the size of the window.
type Wishes struct {
	// Main is the number of the rows on offer that the timeline would take.
	Main   func(rows int) int
	Told   int  // rows of the narration, for which the diagram yields
	Least  int  // rows of the diagram that it doesn't yield
	Facts  int  // rows of the state, where it stands beside the narration
	Across bool // the diagram is the view: in a tall window it has all columns
	Source bool // the reader has asked for the source, or against it where it is there by default
	Listed bool // the list of events is the view, and needs no pane beside it
}

// Layout says where each pane is. A pane that has no place is empty.
type Layout struct {
	Header, Footer       draw.Rectangle
	Main                 draw.Rectangle // timeline or ladder
	Status               draw.Rectangle // the event at the cursor, and who holds the lock
	Told                 draw.Rectangle // narration
	Trace, State, Source draw.Rectangle
	Rules                []draw.Rectangle // horizontal lines
	Wall                 draw.Rectangle   // the vertical one
}

// roomy reports whether a window shows the source by itself.
func roomy(w, h int) bool { return w >= RoomyWidth && h >= RoomyHeight }

// RoomBeside are the rows that the narration has beside a diagram of so many rows.
func RoomBeside(main, h int) int { return max(h-draw.FrameRows-1-statusRows(h)-main, LeastTold) }

// BodyWidth is the width of the left column, in which the diagram and the narration are: it
// is never less than in the least window.
func BodyWidth(w, h int, source bool) int {
	source = source != roomy(w, h)
	if !sided(w, source) {
		return w
	}
	return w - sideOf(w, source) - 1
}

// sided reports whether there is a side pane. Code that isn't wide enough beside a diagram takes the place
// of both, as it does in a window without a side.
func sided(w int, source bool) bool { return w >= SideFrom && (!source || w >= RoomyWidth) }

// Arrange is the layout for a window of at least minWidth by minHeight: a pure
// function of the size and the wishes.
func Arrange(w, h int, want Wishes) Layout {
	l := Layout{
		Header: draw.Rect(0, 0, w, 1),
		Footer: draw.Rect(0, h-1, w, 1),
		Rules:  []draw.Rectangle{draw.Rect(0, 1, w, 1), draw.Rect(0, h-2, w, 1)},
	}
	body := draw.Rect(0, 2, w, h-draw.FrameRows)
	source := want.Source != roomy(w, h)
	if !sided(w, source) {
		l.arrangeBody(body, h, want, source)
		return l
	}
	side := sideOf(w, source)
	body.W = w - side - 1
	if want.Across && h >= traceFrom && (!source || h >= RoomyHeight) {
		l.arrangeAcross(body, w, h, want, source)
		return l
	}
	want.Facts = 0
	l.arrangeBody(body, h, want, false)
	if !source && !l.Trace.Empty() { // facts need less rows than the list needs columns
		body.H = l.Trace.Y - 1 - body.Y
		l.Trace.W = w
		l.Rules[len(l.Rules)-1].W = w
	}
	l.Wall = draw.Rect(w-side-1, body.Y, 1, body.H)
	l.arrangeSide(draw.Rect(w-side, body.Y, side, body.H), 0, source)
	return l
}

// arrangeAcross has the diagram take all columns. The side pane stands below it, beside the event and the words. A
// list of events, which needs columns rather than rows, has all of them, too, unless the facts need the rows beside it.
func (l *Layout) arrangeAcross(body draw.Rectangle, w, h int, want Wishes, source bool) {
	facts := want.Facts
	if source { // the list stands beside the code, too
		want.Facts = 0
	}
	l.arrangeBody(body, h, want, false)
	l.Main.W = w
	under := &l.Rules[2] // below the diagram
	under.W = w
	side := draw.Rect(body.W+1, under.Y+1, w-body.W-1, body.Y+body.H-under.Y-1)
	if above := l.Trace.Y - 1 - side.Y; !source && !l.Trace.Empty() && above >= facts {
		side.H, l.Trace.W = above, w
		l.Rules[len(l.Rules)-1].W = w
	}
	l.Wall = draw.Rect(body.W, side.Y, 1, side.H)
	l.arrangeSide(side, facts, source)
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

func (l *Layout) arrangeSide(r draw.Rectangle, facts int, source bool) {
	switch {
	case !source:
		l.State = r
	case r.H < traceFrom-draw.FrameRows:
		l.Source = r
	default:
		top := max(LeastState, r.H*2/5, min(facts, r.H-1-LeastState))
		l.State = draw.Rect(r.X, r.Y, r.W, top)
		l.Rules = append(l.Rules, draw.Rect(r.X, r.Y+top, r.W, 1))
		l.Source = draw.Rect(r.X, r.Y+top+1, r.W, r.H-top-1)
	}
}

// arrangeBody stacks the panes of the left column. Where there is no side for
// the source, it takes the place of the timeline.
func (l *Layout) arrangeBody(r draw.Rectangle, h int, want Wishes, source bool) {
	status, list := statusRows(h), h >= traceFrom && (source || !want.Listed)
	room := r.H - 1 - status
	top := room - LeastTold
	switch {
	case source && list:
		top = max(room-max(LeastTold*2, want.Told+1)-leastTrace-1, min(leastCode, top))
	case source:
	case list:
		top = room - max(LeastTold*2, want.Told+1) - leastTrace - 1
	default:
		top = room - max(LeastTold, want.Told)
	}
	top = max(top, min(want.Least, room-LeastTold))
	if !source {
		top = min(max(want.Main(top), 1), top)
	}
	main := draw.Rect(r.X, r.Y, r.W, top)
	if source {
		l.Source = main
	} else {
		l.Main = main
	}
	y := r.Y + top
	l.Rules = append(l.Rules, draw.Rect(r.X, y, r.W, 1))
	l.Status = draw.Rect(r.X, y+1, r.W, status)
	y += 1 + status
	rest := r.Y + r.H - y
	told := rest
	if list {
		told = max(LeastTold, min(max(usuallyTold, want.Told+1, want.Facts-status), rest-1-leastTrace))
		if below := rest - told - 1; below >= leastTrace {
			l.Rules = append(l.Rules, draw.Rect(r.X, y+told, r.W, 1))
			l.Trace = draw.Rect(r.X, y+told+1, r.W, below)
		} else {
			told = rest
		}
	}
	l.Told = draw.Rect(r.X, y, r.W, told)
}

// Draw draws the lines between the panes.
func (l *Layout) Draw(c *draw.Canvas, t *draw.Theme) {
	for _, r := range l.Rules {
		c.Fill(r, t.Rule, draw.Dim)
	}
	c.Fill(l.Wall, t.Wall, draw.Dim)
}
