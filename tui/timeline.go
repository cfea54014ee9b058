package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"lockstep/sim/trace"
)

// scene is what a timeline shows. It decides everything that is drawn.
type scene struct {
	*reel
	pos    int
	axis   *axis
	column int // of the cursor on the axis: the event's own, or further right if another run has gone on
	all    int // columns of the whole axis
	lanes  []lane
	theme  *theme
	lit    []int // Seqs of the events that are pointed out
	veil   int   // position from which on beliefs and records are hidden: pos, if nothing is
}

// timeline draws lanes over virtual time: a pure function of the scene and the
// width. Nothing to the right of the cursor is drawn, because it has not happened yet.
type timeline struct {
	scene
	c      *canvas
	x0, y0 int // of the first column of the plot, and of the time labels
	width  int // of the plot
	offset int // the axis column that x0 shows
	until  int // the plot column of the cursor
	at     []int
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
	tl := &timeline{scene: s, c: c, x0: r.x + labelWidth, y0: r.y, width: width, offset: windowAt(s.column, s.all, width)}
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
	if _, fresh := s.breached(s.pos); len(failures(fresh)) > 0 {
		tl.flash()
	}
	tl.drawLit()
}

// drawVeil hides what an open question is about.
func (tl *timeline) drawVeil(l lane, y int) {
	if tl.veil == tl.pos {
		return
	}
	switch l.kind {
	case laneThinks, laneClient, laneNode, laneQuorum, laneVotes, laneBelievers:
		for x := max(tl.axis.cols[tl.veil]-tl.offset+1, 0); x <= tl.until; x++ {
			tl.c.put(tl.x0+x, y, "?", inkDim)
		}
	}
}

// drawLit numbers, on the ruler, the events that are pointed out, and lights their marks.
func (tl *timeline) drawLit() {
	for i, seq := range tl.lit {
		n := tl.index(seq)
		x := tl.axis.cols[n+1] - tl.offset
		if n+1 > tl.pos || x < 0 || x >= tl.width {
			continue
		}
		tl.c.put(tl.x0+x, tl.y0+1, strconv.Itoa((i+1)%10), inkAlarm)
		e := &tl.trace.Events[n]
		for j, l := range tl.lanes {
			if tl.shows(l, e) {
				tl.c.tint(rect{tl.x0 + x, tl.y0 + axisRows + j, 1, 1}, inkAlarm)
			}
		}
	}
}

// shows reports whether an event has its mark in a lane.
func (tl *timeline) shows(l lane, e *trace.Event) bool {
	switch l.kind {
	case laneDoes, laneClient:
		return tl.clientOf(e) == l.index
	case laneNode:
		return e.Node == l.index && e.Kind != trace.KindSend && e.Kind != trace.KindReceive
	case laneQuorum:
		return e.Node != trace.None && e.Kind == trace.KindExecute
	case laneStore:
		return touches(e)
	}
	return false
}

// flash lights the cursor's column, from the axis down to the damage.
func (tl *timeline) flash() {
	for i := range tl.lanes {
		x, y := tl.x0+tl.until, tl.y0+axisRows+i
		k := inkAlarm
		if tl.c.at(x, y).s == tl.theme.inside { // a full block has no ground that could light up
			k = inkBreach
		}
		tl.c.tint(rect{x, y, 1, 1}, k)
	}
}

// run is a stretch of plot columns in which something stays the same.
type run struct{ from, to int } // both included

// runs calls draw for each stretch in which key gives the same value.
func runs[K comparable](tl *timeline, key func(*sample) K, draw func(run, K)) {
	from := 0
	for x := range tl.at {
		k := key(&tl.samples[tl.at[x]])
		if x == len(tl.at)-1 || key(&tl.samples[tl.at[x+1]]) != k {
			draw(run{from, x}, k)
			from = x + 1
		}
	}
}

// bar fills a run with a glyph and writes into it the first of the labels for
// which there is room beside some of the glyph.
func (tl *timeline) bar(y int, r run, glyph string, k ink, labels ...string) {
	for x := r.from; x <= r.to; x++ {
		tl.c.put(tl.x0+x, y, glyph, k)
	}
	for _, label := range labels {
		if w := textWidth(label); r.to-r.from >= w+2 {
			tl.c.text(tl.x0+r.from+2, y, w, label, k)
			return
		}
	}
}

// events calls do for every event that is shown, with its plot column.
func (tl *timeline) events(do func(x int, e *trace.Event)) {
	for i := tl.axis.at(tl.offset - 1); i < tl.pos; i++ {
		if x := tl.axis.cols[i+1] - tl.offset; x >= 0 && x < tl.width {
			do(x, &tl.trace.Events[i])
		}
	}
}

func (tl *timeline) drawLabel(l lane, y int) {
	name, what := l.label(tl.trace)
	k := inkDim
	switch l.kind {
	case laneDoes, laneClient:
		k = clientInk(l.index)
	case laneBelievers, laneStore, laneNode, laneQuorum:
		k = inkStrong
	case laneBreach:
		if all, _ := tl.breached(tl.pos); len(failures(all)) > 0 {
			k = inkBreach
		}
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

// isActor reports whether the lane belongs to who did the cursor's event.
func (tl *timeline) isActor(l lane) bool {
	e := tl.event(tl.pos)
	if e == nil {
		return false
	}
	switch l.kind {
	case laneDoes, laneClient:
		return tl.clientOf(e) == l.index
	case laneNode:
		return e.Node == l.index && tl.trace.Actor(e) == tl.trace.Nodes[l.index]
	case laneQuorum:
		return e.Node != trace.None && tl.trace.Actor(e) == tl.trace.Nodes[e.Node]
	case laneStore:
		return e.Kind == trace.KindReject || e.Kind == trace.KindUpdate
	}
	return false
}

func (tl *timeline) drawLane(l lane, y int) {
	switch l.kind {
	case laneDoes:
		tl.drawDoes(l.index, y)
	case laneThinks:
		tl.drawThinks(l.index, y, true)
	case laneClient:
		tl.drawClient(l.index, y)
	case laneNode:
		tl.drawNode(l.index, y)
	case laneQuorum:
		tl.drawQuorum(y)
	case laneVotes:
		tl.c.line(tl.x0, y, tl.width, votes(tl.trace, &tl.samples[tl.pos], tl.theme))
	case laneBelievers:
		tl.drawBelievers(y)
	case laneStore:
		tl.drawStore(y)
	case laneBreach:
		tl.drawBreaches(y)
	case laneHidden:
		tl.c.text(tl.x0, y, tl.width, fmt.Sprintf("%s %d more rows: a taller window shows them", tl.theme.more, l.index), inkDim)
	}
}

func (tl *timeline) drawDoes(client, y int) {
	k := clientInk(client)
	type doing struct{ crashed, stopped, hung, paused, inside bool }
	runs(tl, func(s *sample) doing {
		c := &s.clients[client]
		return doing{c.crashed, c.stopped, c.hung, c.paused, c.inside}
	}, func(r run, d doing) {
		switch {
		case d.crashed:
			tl.bar(y, r, tl.theme.dead, inkDim, "crashed")
		case d.hung:
			tl.bar(y, r, tl.theme.paused, k, " hangs for good ", " hangs ")
		case d.paused && d.inside:
			tl.bar(y, r, tl.theme.paused, k, " paused inside "+tl.span(r)+" ", " paused "+tl.span(r)+" ", " paused ")
		case d.paused:
			tl.bar(y, r, tl.theme.paused, k, " paused "+tl.span(r)+" ", " paused ")
		case d.inside:
			tl.bar(y, r, tl.theme.inside, k, "")
		case d.stopped:
		default:
			tl.bar(y, r, tl.theme.awake, k, "")
		}
	})
	tl.marks(client, y)
}

// span is how long a run lasts, so far.
func (tl *timeline) span(r run) string {
	return trace.Brief(tl.endOf(r) - tl.when(tl.at[r.from]))
}

// endOf is the instant at which a run is over, or that of the cursor.
func (tl *timeline) endOf(r run) time.Duration {
	if r.to+1 < len(tl.at) {
		return tl.when(tl.at[r.to+1])
	}
	return tl.when(tl.pos)
}

// when is the instant of the event that led to a position.
func (r *reel) when(pos int) time.Duration {
	if pos == 0 {
		return 0
	}
	return r.trace.Events[pos-1].At
}

func (tl *timeline) drawThinks(client, y int, labels bool) {
	label := func(texts ...string) []string {
		if labels {
			return texts
		}
		return nil
	}
	k, name := clientInk(client), tl.trace.Clients[client]
	type thought struct{ wants, believed, live bool }
	runs(tl, func(s *sample) thought {
		c := &s.clients[client]
		return thought{c.wants && !c.crashed && !c.stopped, c.believed, c.live}
	}, func(r run, h thought) {
		switch {
		case h.believed && h.live:
			tl.bar(y, r, tl.theme.bar(client), k, label(name+" holds the lock", name+" holds")...)
		case h.believed:
			tl.bar(y, r, tl.theme.lapsed, k, label("lease over, not noticed", "lease over", "over")...)
		case h.wants:
			tl.bar(y, r, tl.theme.wants, inkDim, label("wants it")...)
		}
	})
}

func (tl *timeline) drawClient(client, y int) {
	tl.drawThinks(client, y, false)
	k := clientInk(client)
	type doing struct{ hung, paused, inside, blank bool }
	runs(tl, func(s *sample) doing {
		c := &s.clients[client]
		return doing{c.hung, c.paused, c.inside, !c.believed && !c.wants && !c.crashed && !c.stopped}
	}, func(r run, d doing) {
		switch {
		case d.paused:
			tl.bar(y, r, tl.theme.paused, k, " paused "+tl.span(r)+" ", " paused ")
		case d.inside:
			tl.bar(y, r, tl.theme.inside, k, "")
		case d.blank:
			tl.bar(y, r, tl.theme.awake, k, "")
		}
	})
	tl.marks(client, y)
}

func (tl *timeline) drawNode(node, y int) {
	runs(tl, func(s *sample) nodeSample {
		n := s.nodes[node]
		if n.expires != trace.Never {
			n.expires = 0 // a record that is prolonged says nothing new; one that gets an expiry at last does
		}
		return n
	}, func(r run, n nodeSample) {
		switch {
		case !n.up:
			tl.bar(y, r, tl.theme.down, inkDim, " down ")
		case n.present:
			tl.drawRecord(y, r, n, node)
		}
	})
	tl.nodeMarks(y, func(n int) bool { return n == node })
}

// drawRecord draws a record from where it was stored to where it is gone.
func (tl *timeline) drawRecord(y int, r run, n nodeSample, node int) {
	at := func(column int) nodeSample { return tl.samples[tl.at[column]].nodes[node] }
	k, who := inkDim, "?"
	if n.owner != trace.None {
		k, who = clientInk(n.owner), tl.trace.Clients[n.owner]
	}
	label := tl.trace.Key + "=" + who
	ttl := ", no expiry"
	if expires := at(r.from).expires; expires != trace.Never {
		ttl = ", " + trace.Brief(trace.Record{Expires: expires}.Left(tl.when(tl.at[r.from]))) + " to live"
	}
	tl.bar(y, r, tl.theme.bar(n.owner), k, label+ttl, label, who)
	if r.from == 0 || at(r.from-1).written != n.written {
		tl.c.put(tl.x0+r.from, y, tl.theme.open, k)
	}
	if r.to+1 < len(tl.at) && r.to > r.from && at(r.to+1).written != n.written {
		tl.c.put(tl.x0+r.to, y, tl.theme.shut, k)
	}
}

// drawQuorum shows who has enough nodes. A lock on several nodes is held by
// nobody as long as the nodes are split.
func (tl *timeline) drawQuorum(y int) {
	runs(tl, func(s *sample) holding { return s.has }, func(r run, h holding) {
		switch {
		case h.owner != trace.None:
			tl.bar(y, r, tl.theme.bar(h.owner), clientInk(h.owner), tl.trace.Clients[h.owner]+" has enough nodes", tl.trace.Clients[h.owner])
		case h.split:
			tl.bar(y, r, tl.theme.nobody, inkDim, "nobody has enough")
		}
	})
	tl.nodeMarks(y, func(int) bool { return true })
}

// nodeMarks draws what befell the nodes of a row: a command that broke a
// property, a fall, a clock that jumped, a memory that was lost.
func (tl *timeline) nodeMarks(y int, mine func(node int) bool) {
	tl.events(func(x int, e *trace.Event) {
		switch {
		case e.Node == trace.None || !mine(e.Node):
		case e.Kind == trace.KindExecute && tl.proves(e):
			tl.c.put(tl.x0+x, y, tl.theme.bad, inkBreach)
		case e.Kind == trace.KindDown:
			tl.c.put(tl.x0+x, y, tl.theme.down, inkBreach)
		case e.Kind == trace.KindUp:
			tl.c.put(tl.x0+x, y, tl.theme.resume, inkStrong)
		case e.Kind == trace.KindNodeStep, e.Kind == trace.KindEvict, e.Kind == trace.KindFlush:
			tl.c.put(tl.x0+x, y, tl.theme.fault, inkBreach)
		}
	})
}

// votes is what every node holds, in a line.
func votes(t *trace.Trace, s *sample, th *theme) line {
	var l line
	for i := range s.nodes {
		n := &s.nodes[i]
		l = append(l, span{t.Nodes[i] + " ", inkDim})
		switch {
		case !n.up:
			l = append(l, span{"down", inkDim})
		case !n.present:
			l = append(l, span{"free", inkPlain})
		case n.owner == trace.None:
			l = append(l, span{"?", inkStrong})
		default:
			l = append(l, span{t.Clients[n.owner] + th.bar(n.owner), clientInk(n.owner)})
		}
		l = append(l, span{"  ", inkPlain})
	}
	return l
}

// drawBelievers counts, for each column, the most clients that believed at one
// instant of it. This strip is the bug, readable without any colour.
func (tl *timeline) drawBelievers(y int) {
	before := 0
	for x, p := range tl.at {
		most := tl.samples[p].believers
		for i := before + 1; i < p; i++ {
			most = max(most, tl.samples[i].believers)
		}
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

func (tl *timeline) drawStore(y int) {
	tl.events(func(x int, e *trace.Event) {
		if e.Kind == trace.KindUpdate {
			tl.c.put(tl.x0+x, y, tl.theme.fault, inkStrong)
		}
		if !touches(e) {
			return
		}
		glyph, k, _ := tl.mark(e, &tl.theme.glyphs)
		tl.c.text(tl.x0+x-1, y, 1, tl.trace.Clients[e.Client], k)
		tl.c.put(tl.x0+x, y, glyph, k)
	})
}

// drawBreaches names the properties where they broke. Names that would run
// into each other are told together at the first one's place; what would run out of
// the window stands further left.
func (tl *timeline) drawBreaches(y int) {
	all, _ := tl.breached(tl.pos)
	for i := 0; i < len(all); {
		x := tl.axis.cols[all[i].pos] - tl.offset
		first, text := i, "!!"
		for ; i < len(all); i++ {
			if next := tl.axis.cols[all[i].pos] - tl.offset; next > x+textWidth(text) {
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

// proves reports whether an event completed a violation.
func (r *reel) proves(e *trace.Event) bool {
	for _, b := range r.breaches {
		if b.Events[len(b.Events)-1] == e.Seq {
			return true
		}
	}
	return false
}

// marks draws what a client did, each event as one glyph. Where two fall into one
// column, the weightier stays.
func (tl *timeline) marks(client, y int) {
	column, top := -1, 0
	tl.events(func(x int, e *trace.Event) {
		if e.Client != client {
			return
		}
		glyph, k, rank := tl.mark(e, &tl.theme.glyphs)
		if x != column {
			column, top = x, 0
		}
		if rank > top {
			top = rank
			tl.c.put(tl.x0+x, y, glyph, k)
		}
	})
}

// mark is the glyph of an event on its client's row, and its weight: 0 for none.
func (r *reel) mark(e *trace.Event, g *glyphs) (glyph string, k ink, rank int) {
	k = clientInk(max(e.Client, 0))
	if r.proves(e) && e.Kind == trace.KindWrite {
		return g.bad, inkBreach, 9
	}
	switch e.Kind {
	case trace.KindSend:
		return g.send, k, 1
	case trace.KindSleep:
		if e.Phase == trace.PhaseAcquire {
			return g.retry, k, 2
		}
	case trace.KindRefused:
		return g.refused, k, 4
	case trace.KindGranted:
		return g.granted, k, 6
	case trace.KindEnter:
		return g.enter, k, 5
	case trace.KindLeave:
		return g.leave, k, 5
	case trace.KindRelease:
		return g.release, k, 4
	case trace.KindExtended:
		return g.extend, k, 3
	case trace.KindRead, trace.KindQuery:
		return g.read, k, 7
	case trace.KindWrite:
		return g.write, k, 7
	case trace.KindReject:
		return g.reject, k, 7
	case trace.KindCrash:
		return g.crash, inkBreach, 8
	case trace.KindResume:
		return g.resume, k, 5
	case trace.KindTimeout, trace.KindDisconnect, trace.KindFailed, trace.KindLost, trace.KindReleaseFailed, trace.KindExtendFailed:
		return g.lost, k, 4
	case trace.KindWallStep, trace.KindThreadEnd, trace.KindUpdate:
		return g.fault, k, 6
	}
	return "", k, 0
}

// drawConnector joins the rows that the cursor's event joins: client and node,
// client and resource. Only for this one event, else nobody could read the rest.
func (tl *timeline) drawConnector() {
	e := tl.event(tl.pos)
	if e == nil || e.Client == trace.None {
		return
	}
	from, to := -1, -1
	for i, l := range tl.lanes {
		switch {
		case (l.kind == laneDoes || l.kind == laneClient) && l.index == e.Client:
			from = i
		case e.Node != trace.None && (l.kind == laneNode && l.index == e.Node || l.kind == laneQuorum):
			to = i
		case touches(e) && l.kind == laneStore:
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
func (tl *timeline) drawAxis() {
	t, y := tl.theme, tl.y0
	tl.c.text(tl.x0-labelWidth+1, y, labelWidth-2, "virtual t", inkDim)
	tl.c.fill(rect{tl.x0, y + 1, tl.width, 1}, t.ruler, inkDim)
	tl.drawTimes()
	for _, g := range tl.axis.gaps {
		if g.pos+1 > tl.pos {
			break
		}
		tl.drawGap(g)
	}
	tl.c.put(tl.x0+tl.until, y+1, t.here, inkHere)
}

func (tl *timeline) drawGap(g gap) {
	from, to := g.from+1-tl.offset, g.to-1-tl.offset
	for x := max(from, 0); x <= min(to, tl.width-1); x++ {
		tl.c.put(tl.x0+x, tl.y0+1, tl.theme.gap, inkDim)
	}
	if from < 0 || to >= tl.width {
		return
	}
	glyph := tl.theme.gap
	if g.chasm {
		glyph = tl.theme.chasm + tl.theme.chasm
	}
	text := glyph + " " + trace.Brief(g.length) + " " + glyph
	if w := textWidth(text); to-from+1 >= w {
		tl.c.text(tl.x0+from+(to-from+1-w)/2, tl.y0+1, w, text, inkDim)
	} else if g.chasm {
		tl.c.put(tl.x0+(from+to)/2, tl.y0+1, tl.theme.chasm, inkDim)
	}
}

// drawTimes labels the cursor's instant, and as many others to its left as there is room for.
func (tl *timeline) drawTimes() {
	now := trace.Brief(tl.when(tl.pos))
	w := textWidth(now)
	here := max(min(tl.until, tl.width-w), 0)
	tl.c.text(tl.x0+here, tl.y0, w, now, inkHere)
	free, last := 0, now
	for x, p := range tl.at {
		if x < free || (x > 0 && p == tl.at[x-1]) {
			continue
		}
		text := trace.Brief(tl.when(p))
		end := x + textWidth(text)
		if text == last || end+1 > here {
			continue
		}
		tl.c.text(tl.x0+x, tl.y0, tl.width, text, inkDim)
		tl.c.put(tl.x0+x, tl.y0+1, tl.theme.tick, inkDim)
		free, last = end+2, text
	}
}
