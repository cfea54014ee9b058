package tui

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
	sideWidth     = 40
	mostSideWidth = 88
)

// wishes are what the layout has to know beside the size of the window.
type wishes struct {
	// main is how many of the rows on offer the timeline would take.
	main   func(rows int) int
	source bool // the reader has asked for the source, or against it where it is there by default
}

// layout says where each pane is. A pane that has no place is empty.
type layout struct {
	header, footer       rect
	main                 rect // timeline or ladder
	status               rect // the event at the cursor, and who holds the lock
	told                 rect // narration
	trace, state, source rect
	rules                []rect // horizontal lines
	wall                 rect   // the vertical one
}

// roomy reports whether a window shows the source by itself.
func roomy(w, h int) bool { return w >= roomyWidth && h >= roomyHeight }

// arrange is the layout for a window of at least minWidth by minHeight: a pure
// function of the size and the wishes.
func arrange(w, h int, want wishes) layout {
	l := layout{
		header: rect{0, 0, w, 1},
		footer: rect{0, h - 1, w, 1},
		rules:  []rect{{0, 1, w, 1}, {0, h - 2, w, 1}},
	}
	body := rect{0, 2, w, h - frameRows}
	source := want.source != roomy(w, h)
	if w >= sideFrom {
		side := sideOf(w, source)
		l.wall = rect{w - side - 1, body.y, 1, body.h}
		l.arrangeSide(rect{w - side, body.y, side, body.h}, source)
		body.w = w - side - 1
		source = false
	}
	l.arrangeBody(body, h, want, source)
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
	if source {
		return min(w*4/9, mostSideWidth)
	}
	return min(max(w/3, sideWidth), mostSideWidth)
}

func (l *layout) arrangeSide(r rect, source bool) {
	switch {
	case !source:
		l.state = r
	case r.h < traceFrom-frameRows:
		l.source = r
	default:
		top := max(leastState, r.h*2/5)
		l.state = rect{r.x, r.y, r.w, top}
		l.rules = append(l.rules, rect{r.x, r.y + top, r.w, 1})
		l.source = rect{r.x, r.y + top + 1, r.w, r.h - top - 1}
	}
}

// arrangeBody stacks the panes of the left column. Where there is no side for
// the source, it takes the place of the timeline.
func (l *layout) arrangeBody(r rect, h int, want wishes, source bool) {
	status := statusRows(h)
	room := r.h - 1 - status
	top := room - leastTold
	if h >= traceFrom {
		top = room - leastTold*2 - leastTrace - 1
	}
	if !source {
		top = min(max(want.main(top), 1), top)
	}
	main := rect{r.x, r.y, r.w, top}
	if source {
		l.source = main
	} else {
		l.main = main
	}
	y := r.y + top
	l.rules = append(l.rules, rect{r.x, y, r.w, 1})
	l.status = rect{r.x, y + 1, r.w, status}
	y += 1 + status
	rest := r.y + r.h - y
	told := rest
	if h >= traceFrom {
		told = max(leastTold, min(max(usuallyTold, rest*2/5), rest-1-leastTrace))
		if below := rest - told - 1; below >= leastTrace {
			l.rules = append(l.rules, rect{r.x, y + told, r.w, 1})
			l.trace = rect{r.x, y + told + 1, r.w, below}
		} else {
			told = rest
		}
	}
	l.told = rect{r.x, y, r.w, told}
}

// drawFrame draws the lines between the panes.
func (l *layout) drawFrame(c *canvas, t *theme) {
	for _, r := range l.rules {
		c.fill(r, t.rule, inkDim)
	}
	c.fill(l.wall, t.wall, inkDim)
}
