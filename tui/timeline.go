package tui

import (
	"fmt"
	"strconv"
	"strings"

	"lockstep/sim"
	"lockstep/sim/timeline"
)

// scene decides everything that is drawn of a timeline.
type scene struct {
	*timeline.Timeline
	pos    int
	axis   *axis
	column int // of the cursor on the axis: the event's own, or further right if another run has gone on
	all    int // columns of the whole axis
	lanes  []lane
	theme  *theme
	lit    []int // Seqs of the events that are pointed out
	veil   int   // position from which on beliefs and records are hidden: pos, if nothing is
}

// plot draws lanes over virtual time: a pure function of the scene and the
// width. Nothing to the right of the cursor is drawn, because it has not happened yet.
type plot struct {
	scene
	c      *canvas
	x0, y0 int   // of the first column of the plot, and of the time labels
	width  int   // of the plot
	offset int   // the axis column that x0 shows
	until  int   // the plot column of the cursor
	at     []int // by plot column: the last position in it
}

const (
	labelWidth = 12
	axisRows   = 2
)

func drawTimeline(c *canvas, r rect, s scene) {
	width := r.w - labelWidth
	if width < 10 || r.h < axisRows+1 {
		return
	}
	tl := &plot{scene: s, c: c, x0: r.x + labelWidth, y0: r.y, width: width, offset: windowAt(s.column, s.all, width)}
	tl.until = min(s.column-tl.offset, width-1)
	tl.at = make([]int, tl.until+1)
	for x := range tl.at {
		tl.at[x] = min(s.axis.at(x+tl.offset), s.pos)
	}
	tl.drawAxis()
	for i, l := range s.lanes {
		if y := r.y + axisRows + i; y < r.y+r.h {
			tl.drawLabel(l, y)
			tl.drawLane(l, y)
			tl.drawVeil(l, y)
		}
	}
	tl.drawConnector()
	if _, fresh := s.Breached(s.pos); len(failures(fresh)) > 0 {
		tl.flash()
	}
	tl.drawLit()
}

// drawVeil hides what an open question is about.
func (tl *plot) drawVeil(l lane, y int) {
	if tl.veil == tl.pos {
		return
	}
	switch l.kind {
	case laneBlank, laneHidden:
		return
	case laneOwn:
		if l.Kind == timeline.Deeds || l.Kind == timeline.Store || l.Kind == timeline.Violations {
			return
		}
	}
	for x := max(tl.axis.cols[tl.veil]-tl.offset+1, 0); x <= tl.until; x++ {
		tl.c.put(tl.x0+x, y, "?", inkDim)
	}
}

// drawLit numbers, on the ruler, the events that are pointed out, and lights their marks.
func (tl *plot) drawLit() {
	for i, seq := range tl.lit {
		pos := tl.After(seq)
		x := tl.axis.cols[pos] - tl.offset
		if pos > tl.pos || x < 0 || x >= tl.width {
			continue
		}
		tl.c.put(tl.x0+x, tl.y0+1, strconv.Itoa((i+1)%10), inkAlarm)
		e := tl.Event(pos)
		for j, l := range tl.lanes {
			if l.own() && tl.In(l.Lane, e) {
				tl.c.tint(rect{tl.x0 + x, tl.y0 + axisRows + j, 1, 1}, inkAlarm)
			}
		}
	}
}

// flash lights the cursor's column, from the axis down to the damage.
func (tl *plot) flash() {
	for i := range tl.lanes {
		x, y := tl.x0+tl.until, tl.y0+axisRows+i
		k := inkAlarm
		if tl.c.at(x, y).s == tl.theme.inside { // a full block has no ground that could light up
			k = inkBreach
		}
		tl.c.tint(rect{x, y, 1, 1}, k)
	}
}

// bar fills the columns of a span with a glyph and writes into it the first of
// the labels for which there is room beside some of the glyph.
func (tl *plot) bar(y int, s timeline.Span, glyph string, k ink, labels ...string) {
	for x := s.First; x < s.Next; x++ {
		tl.c.put(tl.x0+x, y, glyph, k)
	}
	for _, label := range labels {
		if w := textWidth(label); s.Next-s.First > w+2 {
			tl.c.text(tl.x0+s.First+2, y, w, label, k)
			return
		}
	}
}

// events calls do for every event that is shown, with its plot column.
func (tl *plot) events(do func(x int, e *sim.Event)) {
	for i := tl.axis.at(tl.offset - 1); i < tl.pos; i++ {
		if x := tl.axis.cols[i+1] - tl.offset; x >= 0 && x < tl.width {
			do(x, &tl.Events[i])
		}
	}
}

func (tl *plot) drawLabel(l lane, y int) {
	name, what := l.label(tl.Trace)
	k := inkDim
	switch {
	case !l.own():
	case l.Kind == timeline.Deeds:
		k = clientInk(l.Index)
	case l.Kind == timeline.Violations:
		if all, _ := tl.Breached(tl.pos); len(failures(all)) > 0 {
			k = inkBreach
		}
	case l.Kind != timeline.Belief:
		k = inkStrong
	}
	x := tl.x0 - labelWidth
	if tl.isActor(l) {
		tl.c.put(x, y, tl.theme.pointer, inkHere)
	}
	const room = labelWidth - 2
	n := tl.c.text(x+1, y, room, name, k)
	if w := textWidth(what); w <= room-n {
		tl.c.text(x+1+room-w, y, w, what, inkDim)
	}
}

// isActor reports whether the lane belongs to the actor of the cursor's event.
func (tl *plot) isActor(l lane) bool {
	e := tl.Event(tl.pos)
	if e == nil || !l.own() || !tl.In(l.Lane, e) {
		return false
	}
	switch l.Kind {
	case timeline.Deeds:
		return tl.Doer(e) != sim.None
	case timeline.Store:
		return e.Kind == sim.KindReject || e.Kind == sim.KindUpdate
	}
	return true
}

func (tl *plot) drawLane(l lane, y int) {
	switch l.kind {
	case laneBlank:
		return
	case laneClient:
		tl.drawClient(l.Lane, y)
		return
	case laneVotes:
		tl.c.line(tl.x0, y, tl.width, votes(tl.Timeline, tl.pos, tl.theme))
		return
	case laneHidden:
		tl.c.text(tl.x0, y, tl.width, fmt.Sprintf("%s %d more rows: a taller window shows them", tl.theme.more, l.hidden), inkDim)
		return
	}
	switch l.Kind {
	case timeline.Believers:
		tl.drawBelievers(y)
		return
	case timeline.Violations:
		tl.drawBreaches(y)
		return
	}
	for _, s := range tl.Seen(l.Lane, tl.at) {
		tl.drawBar(l.Lane, y, s)
	}
	tl.marks(l.Lane, y)
}

// drawBar draws a span of any lane but the believers'.
func (tl *plot) drawBar(l timeline.Lane, y int, s timeline.Span) {
	t, k := tl.theme, inkDim
	switch l.Kind {
	case timeline.Deeds:
		k = clientInk(l.Index)
	default:
		if s.Client != sim.None {
			k = clientInk(s.Client)
		}
	}
	switch s.Kind {
	case timeline.Awake:
		tl.bar(y, s, t.awake, k)
	case timeline.Paused:
		tl.bar(y, s, t.paused, k, " paused "+tl.length(s)+" ", " paused ")
	case timeline.PausedInside:
		tl.bar(y, s, t.paused, k, " paused inside "+tl.length(s)+" ", " paused "+tl.length(s)+" ", " paused ")
	case timeline.Hung:
		tl.bar(y, s, t.paused, k, " hangs for good ", " hangs ")
	case timeline.Inside:
		tl.bar(y, s, t.inside, k)
	case timeline.Crashed:
		tl.bar(y, s, t.dead, inkDim, "crashed")
	case timeline.Wants:
		tl.bar(y, s, t.wants, inkDim, "wants it")
	case timeline.Believes:
		name := tl.Clients[s.Client]
		tl.bar(y, s, t.bar(s.Client), k, name+" holds the lock", name+" holds")
	case timeline.Lapsed:
		tl.bar(y, s, t.lapsed, k, "lease over, not noticed", "lease over", "over")
	case timeline.Stored:
		tl.drawRecord(y, s, l.Index, k)
	case timeline.Down:
		tl.bar(y, s, t.down, inkDim, " down ")
	case timeline.Enough:
		name := tl.Clients[s.Client]
		tl.bar(y, s, t.bar(s.Client), k, name+" has enough nodes", name)
	case timeline.Split: // a lock on several nodes is nobody's as long as they are split
		tl.bar(y, s, t.nobody, inkDim, "nobody has enough")
	}
}

// length is how long a span of columns lasts, up to the cursor.
func (tl *plot) length(s timeline.Span) string {
	end := tl.pos
	if s.Next < len(tl.at) {
		end = tl.at[s.Next]
	}
	return sim.Brief(tl.When(end) - tl.When(tl.at[s.First]))
}

// drawClient draws a client's deeds over what it believes, in one row.
func (tl *plot) drawClient(l timeline.Lane, y int) {
	deeds := tl.Seen(l, tl.at)
	for _, s := range deeds {
		if s.Kind == timeline.Awake {
			tl.drawBar(l, y, s)
		}
	}
	k := clientInk(l.Index)
	for _, s := range tl.Seen(timeline.Lane{Kind: timeline.Belief, Index: l.Index}, tl.at) {
		switch s.Kind {
		case timeline.Believes:
			tl.bar(y, s, tl.theme.bar(s.Client), k)
		case timeline.Lapsed:
			tl.bar(y, s, tl.theme.lapsed, k)
		case timeline.Wants:
			tl.bar(y, s, tl.theme.wants, inkDim)
		}
	}
	for _, s := range deeds {
		switch s.Kind {
		case timeline.Paused, timeline.PausedInside:
			tl.bar(y, s, tl.theme.paused, k, " paused "+tl.length(s)+" ", " paused ")
		case timeline.Hung, timeline.Inside:
			tl.drawBar(l, y, s)
		}
	}
	tl.marks(l, y)
}

// drawRecord draws a record from where it was stored to where it is gone.
func (tl *plot) drawRecord(y int, s timeline.Span, node int, k ink) {
	at := func(column int) timeline.Node { return tl.Moments[tl.at[column]].Nodes[node] }
	who := "?"
	if s.Client != sim.None {
		who = tl.Clients[s.Client]
	}
	label := tl.Key + "=" + who
	ttl := ", no expiry"
	if !s.Lasting {
		ttl = ", " + sim.Brief(at(s.First).Left(tl.When(tl.at[s.First]))) + " to live"
	}
	tl.bar(y, s, tl.theme.bar(s.Client), k, label+ttl, label, who)
	if s.First == 0 || at(s.First-1).Written != s.Written {
		tl.c.put(tl.x0+s.First, y, tl.theme.open, k)
	}
	if s.Next < len(tl.at) && s.Next-s.First > 1 && at(s.Next).Written != s.Written {
		tl.c.put(tl.x0+s.Next-1, y, tl.theme.shut, k)
	}
}

// votes says in a line what every node holds at a position.
func votes(r *timeline.Timeline, pos int, th *theme) line {
	var l line
	for i := range r.Nodes {
		n := &r.Moments[pos].Nodes[i]
		l = append(l, span{r.Nodes[i] + " ", inkDim})
		switch {
		case !n.Up:
			l = append(l, span{"down", inkDim})
		case !n.Present:
			l = append(l, span{"free", inkPlain})
		case n.Owner == sim.None:
			l = append(l, span{"?", inkStrong})
		default:
			l = append(l, span{r.Clients[n.Owner] + th.bar(n.Owner), clientInk(n.Owner)})
		}
		l = append(l, span{"  ", inkPlain})
	}
	return l
}

// drawBelievers counts, for each column, the most clients that believed at one
// instant of it. This strip is the bug, readable without any colour.
func (tl *plot) drawBelievers(y int) {
	before := 0
	for x, p := range tl.at {
		most := tl.MostBelievers(before, p)
		before = p
		switch {
		case most == 0:
			tl.c.put(tl.x0+x, y, tl.theme.wants, inkDim)
		case most == 1:
			tl.c.put(tl.x0+x, y, "1", inkPlain)
		default:
			tl.c.put(tl.x0+x, y, strconv.Itoa(min(most, 9)), inkAlarm)
		}
	}
}

// drawBreaches names the properties where they broke. Names that would run
// into each other are told together at the first one's place; what would run out of
// the window stands further left.
func (tl *plot) drawBreaches(y int) {
	all, _ := tl.Breached(tl.pos)
	for i := 0; i < len(all); {
		x := tl.axis.cols[all[i].Pos] - tl.offset
		first, text := i, "!!"
		for ; i < len(all); i++ {
			if next := tl.axis.cols[all[i].Pos] - tl.offset; next > x+textWidth(text) {
				break
			}
			if code := " " + all[i].Code.String(); !strings.Contains(text, code) {
				text += code
			}
		}
		k := inkAlarm
		if len(failures(all[first:i])) == 0 {
			text, k = tl.theme.mild+text[len("!!"):], inkStrong
		}
		if w := textWidth(text); x >= 0 && x < tl.width {
			tl.c.text(tl.x0+max(min(x, tl.width-w), 0), y, w, text, k)
		}
	}
}

// marks draws the marks of a lane. Where two fall into one column, the weightier
// stays. An access to the store has the client's name beside it.
func (tl *plot) marks(l timeline.Lane, y int) {
	column, top := -1, 0
	tl.events(func(x int, e *sim.Event) {
		if !tl.In(l, e) {
			return
		}
		glyph, k, weight := markOf(tl.Timeline, e, &tl.theme.glyphs)
		if x != column {
			column, top = x, 0
		}
		if weight <= top {
			return
		}
		top = weight
		if l.Kind == timeline.Store && e.Client != sim.None {
			tl.c.text(tl.x0+x-1, y, 1, tl.Clients[e.Client], k)
		}
		tl.c.put(tl.x0+x, y, glyph, k)
	})
}

// markOf is the glyph of an event's mark, with its ink, and its weight: 0 for none.
func markOf(r *timeline.Timeline, e *sim.Event, g *glyphs) (glyph string, k ink, weight int) {
	m := r.Mark(e)
	k = inkStrong
	switch {
	case m == timeline.Bad, m == timeline.Crashes, m == timeline.Falls, m == timeline.Jumps && e.Node != sim.None:
		k = inkBreach
	case e.Client != sim.None:
		k = clientInk(e.Client)
	}
	return g.of(m), k, m.Weight()
}

// of is the glyph of a mark.
func (g *glyphs) of(m timeline.Mark) string {
	return [timeline.Marks]string{
		timeline.Bad: g.bad, timeline.Sends: g.send, timeline.Retries: g.retry, timeline.Granted: g.granted, timeline.Refused: g.refused,
		timeline.Enters: g.enter, timeline.Leaves: g.leave, timeline.Releases: g.release, timeline.Extends: g.extend,
		timeline.Reads: g.read, timeline.Writes: g.write, timeline.Rejected: g.reject, timeline.Crashes: g.crash,
		timeline.Resumes: g.resume, timeline.Fails: g.lost, timeline.Falls: g.down, timeline.Jumps: g.fault,
	}[m]
}

// drawConnector joins the rows that the cursor's event joins: client and node,
// client and resource. Only for this one event, else nobody could read the rest.
func (tl *plot) drawConnector() {
	e := tl.Event(tl.pos)
	if e == nil || e.Client == sim.None {
		return
	}
	from, to := -1, -1
	for i, l := range tl.lanes {
		switch {
		case !l.own():
		case l.Kind == timeline.Deeds && l.Index == e.Client:
			from = i
		case e.Node != sim.None && (l.Kind == timeline.Record && l.Index == e.Node || l.Kind == timeline.Majority):
			to = i
		case timeline.Touches(e) && l.Kind == timeline.Store:
			to = i
		}
	}
	if from < 0 || to < 0 {
		return
	}
	for i := min(from, to) + 1; i < max(from, to); i++ {
		x, y := tl.x0+tl.until, tl.y0+axisRows+i
		if s := tl.c.at(x, y).s; s == "" || s == tl.theme.awake {
			tl.c.put(x, y, tl.theme.link, inkHere)
		}
	}
}

// drawAxis draws true times above a ruler on which long gaps are marked.
func (tl *plot) drawAxis() {
	t, y := tl.theme, tl.y0
	tl.c.text(tl.x0-labelWidth+1, y, labelWidth-2, "virtual t", inkDim)
	tl.c.fill(rect{tl.x0, y + 1, tl.width, 1}, t.ruler, inkDim)
	tl.drawTimes()
	for _, g := range tl.axis.gaps {
		if g.Pos+1 > tl.pos {
			break
		}
		tl.drawGap(g)
	}
	tl.c.put(tl.x0+tl.until, y+1, t.here, inkHere)
}

func (tl *plot) drawGap(g gap) {
	from, to := g.from+1-tl.offset, g.to-1-tl.offset
	for x := max(from, 0); x <= min(to, tl.width-1); x++ {
		tl.c.put(tl.x0+x, tl.y0+1, tl.theme.gap, inkDim)
	}
	if from < 0 || to >= tl.width {
		return
	}
	glyph := tl.theme.gap
	if g.Endless {
		glyph = tl.theme.chasm + tl.theme.chasm
	}
	text := glyph + " " + sim.Brief(g.Length) + " " + glyph
	if w := textWidth(text); to-from+1 >= w {
		tl.c.text(tl.x0+from+(to-from+1-w)/2, tl.y0+1, w, text, inkDim)
	} else if g.Endless {
		tl.c.put(tl.x0+(from+to)/2, tl.y0+1, tl.theme.chasm, inkDim)
	}
}

// drawTimes labels the cursor's instant, and as many others to its left as there is room for.
func (tl *plot) drawTimes() {
	now := sim.Brief(tl.When(tl.pos))
	w := textWidth(now)
	here := max(min(tl.until, tl.width-w), 0)
	tl.c.text(tl.x0+here, tl.y0, w, now, inkHere)
	free, last := 0, now
	for x, p := range tl.at {
		if x < free || (x > 0 && p == tl.at[x-1]) {
			continue
		}
		text := sim.Brief(tl.When(p))
		end := x + textWidth(text)
		if text == last || end+1 > here {
			continue
		}
		tl.c.text(tl.x0+x, tl.y0, tl.width, text, inkDim)
		tl.c.put(tl.x0+x, tl.y0+1, tl.theme.tick, inkDim)
		free, last = end+2, text
	}
}
