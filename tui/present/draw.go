package present

import (
	"slices"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/facts"
	"lockstep/tui/pane"
)

// The sizes at which more comes.
const (
	statusFrom  = 8  // rows, for the event and the holders
	roomyFrom   = 20 // rows: in fewer, those of the event and of the rule at the top are the words'
	diagramFrom = 14 // rows
	plotFrom    = 40 // columns, for the diagram
	besideFrom  = 120
	roomyWidth  = 180 // with roomyHeight: the code stands beside the words, and takes no room from the diagram
	roomyHeight = 45
	margin      = 3
	leastTold   = 4

	// longestTold is the greatest width of the words. It is more than that of prose which one reads
	// alone: a room reads few lines at a time, from afar, and every line less leaves room between them.
	longestTold = 110
)

// layout says where each part is. A part that has no place is empty.
type layout struct {
	header, diagram, code, status, told draw.Rectangle
	rules                               []draw.Rectangle
}

// wishes are the needs of the parts.
type wishes struct {
	diagram func(rows int) int // how many of the rows on offer it would take
	fewest  int                // rows of a diagram in which neither a client nor the resource is left out
	told    int                // lines of the words, with all that they can do without
	code    bool
}

// roomy reports whether the words and the diagram leave a window room for the code.
func roomy(w, h int) bool { return w >= roomyWidth && h >= roomyHeight }

// arrange is a pure function of the window and of the wishes: from the top the diagram, the event and
// the words, which a small window keeps.
func arrange(w, h int, want wishes) layout {
	var l layout
	y, rows, status := 0, h, 2
	if h < roomyFrom {
		status = 1
	}
	take := func(n int) draw.Rectangle {
		n = max(min(n, rows), 0)
		r := draw.Rect(0, y, w, n)
		y, rows = y+n, rows-n
		return r
	}
	rule := func() { l.rules = append(l.rules, take(1)) }
	if h >= leastTold {
		l.header = take(1)
	}
	if h >= diagramFrom && w >= plotFrom {
		if h >= roomyFrom {
			rule()
		}
		room := rows - 1 - status - max(leastTold, min(want.told, rows/2))
		picture := take(max(room, min(want.fewest, rows-1-status-leastTold), 0))
		switch {
		case want.code && w >= besideFrom && !roomy(w, h): // the code takes the rows that the words leave
			half := w / 2
			l.diagram, l.code = draw.Rect(0, picture.Y, half, picture.H), draw.Rect(half+1, picture.Y, w-half-1, picture.H)
		case want.code && !roomy(w, h):
			l.code = picture
		default:
			used := min(max(want.diagram(picture.H), 1), picture.H)
			l.diagram = draw.Rect(0, picture.Y, w, used)
			y, rows = y-(picture.H-used), rows+picture.H-used
		}
		rule()
	}
	if want.code && roomy(w, h) { // the words are not as wide as the window
		told := longestTold + 2*margin
		l.code = draw.Rect(told+1, y, w-told-1, rows)
		w = told
	}
	if h >= statusFrom {
		l.status = take(status)
	}
	l.told = take(rows)
	return l
}

// Draw puts the parts where the layout says.
func (p *Present) Draw(c *draw.Canvas, r draw.Rectangle) {
	width := min(max(r.W-2*margin, 1), longestTold)
	least := 0 // of the words: the diagram needs not all of its rows, and code would take all
	p.titled = p.begins() && r.H >= diagramFrom && r.W >= plotFrom
	p.showsCode = p.wantsCode && !p.titled // nobody has acted yet
	if p.showsCode && !roomy(r.W, r.H) {
		least = r.H
	}
	told := p.words(width, least)
	l := arrange(r.W, r.H, wishes{told: len(told), fewest: p.fewest(), code: p.showsCode, diagram: func(rows int) int {
		if p.Run == nil {
			return rows
		}
		return p.DiagramRows(rows)
	}})
	for _, rule := range l.rules {
		c.Fill(rule, p.Theme.Rule, draw.Dim)
	}
	p.drawHead(c, l.header)
	if p.Run == nil {
		p.DrawAwaited(c, draw.Rect(r.X, l.header.H+1, r.W, r.H-l.header.H-1))
		return
	}
	told = p.withHolders(p.words(width, l.told.H), width, l.told.H)
	if len(told) < l.told.H {
		told = append([]draw.Line{nil}, told...)
	}
	if p.titled {
		p.drawTitle(c, l.diagram)
	} else if rest := p.DrawDiagram(c, l.diagram, l.told.H-len(told)-1); len(rest) > 0 { // in rows that the words leave
		c.Lines(draw.Rect(l.status.X, l.status.Y, l.told.W, len(rest)), rest, 0)
		l.status.Y, l.told.Y, l.told.H = l.status.Y+len(rest), l.told.Y+len(rest), l.told.H-len(rest)
	}
	if !l.code.Empty() {
		p.DrawSource(c, l.code)
	}
	if !l.status.Empty() && !p.titled { // nothing has happened yet, and the words have begun none of it
		p.DrawStatus(c, l.status)
	}
	top := l.header
	if len(l.rules) > 1 { // the one below the header
		top = l.rules[0]
	}
	p.DrawNotice(c, top, top)
	p.beyond, p.page = max(len(told)-l.told.H, 0), l.told.H
	p.scroll = max(min(p.scroll, draw.Either(p.paged && p.beyond > 0, len(told)-1, p.beyond)), 0)
	c.Lines(inset(l.told, width), told, p.scroll)
}

// drawHead names the run, or the talk as long as it has not come to the run, with the slide and the place in the playlist.
func (p *Present) drawHead(c *draw.Canvas, r draw.Rectangle) {
	place := p.place()
	if r.Empty() || r.W <= draw.Width(place) {
		return
	}
	r.W -= draw.Width(place)
	c.Text(r.X+r.W, r.Y, draw.Width(place), place, draw.Dim)
	if !p.titled {
		p.DrawHeader(c, r)
		return
	}
	slide := ""
	if p.Run != nil {
		slide = p.Quiz().Slide(p.Pos)
	}
	n := max(r.W-draw.Width(slide), 0)
	c.Text(r.X, r.Y, n, draw.Fit(" "+p.title, n-1, p.Theme.More), draw.Title)
	c.Text(r.X+n, r.Y, draw.Width(slide), slide, draw.Dim)
}

// fewest is the number of rows that a diagram needs: the words can be scrolled.
func (p *Present) fewest() int {
	if p.Run == nil {
		return 0
	}
	return pane.StoreRows(p.Run, p.Pos)
}

// withHolders has the list of who held the lock when below the words that end a run, in rows that they leave. If a code is shown that the
// probe decides, it is said between them who that is, where both have room: to end with, it would be read as the point of the run.
func (p *Present) withHolders(words []draw.Line, width, rows int) []draw.Line {
	list := facts.HoldersAtEnd(p.Run, p.Pos, width)
	if len(list) == 0 || len(words)+len(list) >= rows {
		return words
	}
	byProbe := slices.ContainsFunc(p.Run.Breaches, func(b timeline.Breach) bool { return b.Code == trace.PD || b.Code == trace.FN })
	if probe := (draw.Paragraphs{Width: width}); byProbe && p.Run.Ended(p.Pos) {
		probe.Add(draw.Dim, "", "The "+trace.Probe+" is a client that comes when all others are done, and asks whether the lock can still be had.")
		if len(words)+1+len(probe.Lines)+len(list) < rows {
			words = append(append(words, nil), probe.Lines...)
		}
	}
	return append(append(words, nil), list...)
}

// inset is a part with the prose's margin, where there are columns for one.
func inset(r draw.Rectangle, width int) draw.Rectangle {
	if left := min(margin, (r.W-width)/2); left > 0 {
		r.X, r.W = r.X+left, r.W-left
	}
	return r
}
