package tui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"lockstep/sim"
)

// timeline draws lanes over virtual time: a pure function of the reel, the
// cursor, the zoom, the width and the theme. Nothing to the right of the cursor
// is drawn, because it has not happened yet.
type timeline struct {
	*reel
	pos    int
	axis   *axis
	lanes  []lane
	theme  *theme
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

func drawTimeline(c *canvas, r rect, re *reel, pos, zoom int, lanes []lane, t *theme) {
	width := r.w - labelWidth
	if width < 10 || r.h < axisRows+1 {
		return
	}
	a := newAxis(re, width, zoom)
	tl := &timeline{reel: re, pos: pos, axis: a, lanes: lanes, theme: t, c: c,
		x0: r.x + labelWidth, y0: r.y, width: width, offset: a.window(pos, width)}
	tl.until = min(a.cols[pos]-tl.offset, width-1)
	tl.at = make([]int, tl.until+1)
	for x := range tl.at {
		tl.at[x] = min(a.at(x+tl.offset), pos)
	}
	tl.drawAxis()
	for i, l := range lanes {
		if y := r.y + axisRows + i; y < r.y+r.h {
			tl.drawLabel(l, y)
			tl.drawLane(l, y)
		}
	}
	tl.drawConnector()
	if _, fresh := re.breached(pos); len(fresh) > 0 {
		c.tint(rect{tl.x0 + tl.until, r.y + axisRows, 1, min(len(lanes), r.h-axisRows)}, inkAlarm)
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

// bar fills a run with a glyph and writes a label into it, if there is room
// for the label and some of the glyph.
func (tl *timeline) bar(y int, r run, glyph string, k ink, label string) {
	for x := r.from; x <= r.to; x++ {
		tl.c.put(tl.x0+x, y, glyph, k)
	}
	if w := textWidth(label); label != "" && r.to-r.from >= w+2 {
		tl.c.text(tl.x0+r.from+2, y, w, label, k)
	}
}

// events calls do for every event that is shown, with its plot column.
func (tl *timeline) events(do func(x int, e *sim.Event)) {
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
		if all, _ := tl.breached(tl.pos); len(all) > 0 {
			k = inkBreach
		}
	}
	x := tl.x0 - labelWidth
	if tl.isActor(l) {
		tl.c.put(x, y, tl.theme.pointer, inkHere)
	}
	const words = 6
	if what == "" {
		tl.c.text(x+1, y, labelWidth-2, name, k)
		return
	}
	tl.c.text(x+1, y, labelWidth-2-words, name, k)
	tl.c.text(x+labelWidth-1-words, y, words, what, inkDim)
}

// isActor reports whether the lane belongs to who did the cursor's event.
func (tl *timeline) isActor(l lane) bool {
	e := tl.event(tl.pos)
	if e == nil {
		return false
	}
	name := tl.trace.Actor(e)
	switch l.kind {
	case laneDoes, laneClient:
		return tl.trace.Clients[l.index] == name
	case laneNode:
		return tl.trace.Nodes[l.index] == name
	case laneQuorum:
		return e.Node != sim.None && tl.trace.Nodes[e.Node] == name
	case laneStore:
		return name == "store"
	}
	return false
}

func (tl *timeline) drawLane(l lane, y int) {
	switch l.kind {
	case laneDoes:
		tl.drawDoes(l.index, y)
	case laneThinks:
		tl.drawThinks(l.index, y)
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
	type doing struct{ crashed, stopped, paused, inside bool }
	runs(tl, func(s *sample) doing {
		c := &s.clients[client]
		return doing{c.crashed, c.stopped, c.paused, c.inside}
	}, func(r run, d doing) {
		switch {
		case d.crashed:
			tl.bar(y, r, tl.theme.dead, inkDim, "crashed")
		case d.paused && d.inside:
			tl.bar(y, r, tl.theme.paused, k, " paused inside "+tl.span(r)+" ")
		case d.paused:
			tl.bar(y, r, tl.theme.paused, k, " paused "+tl.span(r)+" ")
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
	return shortTime(tl.endOf(r) - tl.when(tl.at[r.from]))
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

func (tl *timeline) drawThinks(client, y int) {
	k, name := clientInk(client), tl.trace.Clients[client]
	type thought struct{ wants, believed, live bool }
	runs(tl, func(s *sample) thought {
		c := &s.clients[client]
		return thought{c.wants && !c.crashed, c.believed, c.live}
	}, func(r run, h thought) {
		switch {
		case h.believed && h.live:
			tl.bar(y, r, tl.theme.bar(client), k, name+" holds the lock")
		case h.believed:
			tl.bar(y, r, tl.theme.lapsed, k, "lease over, not noticed")
		case h.wants:
			tl.bar(y, r, tl.theme.wants, inkDim, "wants it")
		}
	})
}

func (tl *timeline) drawClient(client, y int) {
	tl.drawThinks(client, y)
	k := clientInk(client)
	type doing struct{ paused, inside, blank bool }
	runs(tl, func(s *sample) doing {
		c := &s.clients[client]
		return doing{c.paused, c.inside, !c.believed && !c.wants && !c.crashed && !c.stopped}
	}, func(r run, d doing) {
		switch {
		case d.paused:
			tl.bar(y, r, tl.theme.paused, k, " paused "+tl.span(r)+" ")
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
		n.expires = 0 // a record that is prolonged is the same record
		return n
	}, func(r run, n nodeSample) {
		switch {
		case !n.up:
			tl.bar(y, r, tl.theme.down, inkDim, " down ")
		case n.present:
			tl.drawRecord(y, r, n, tl.samples[tl.at[r.from]].nodes[node].expires)
		}
	})
	tl.events(func(x int, e *sim.Event) {
		if e.Node == node && e.Kind == sim.KindExecute && tl.proves(e) {
			tl.c.put(tl.x0+x, y, tl.theme.bad, inkBreach)
		}
	})
}

func (tl *timeline) drawRecord(y int, r run, n nodeSample, expires time.Duration) {
	k, who := inkDim, "?"
	if n.owner != sim.None {
		k, who = clientInk(n.owner), tl.trace.Clients[n.owner]
	}
	label := tl.trace.Key + "=" + who
	ttl := ", no expiry"
	if expires != sim.Never {
		ttl = ", " + shortTime(expires-tl.when(tl.at[r.from])) + " to live"
	}
	tl.bar(y, r, tl.theme.bar(n.owner), k, label)
	tl.bar(y, r, tl.theme.bar(n.owner), k, label+ttl)
	if tl.bar(y, r, tl.theme.bar(n.owner), k, ""); true {
		tl.label(y, r, k, label+ttl, label, who)
	}
	tl.c.put(tl.x0+r.from, y, tl.theme.open, k)
	if r.to+1 < len(tl.at) && r.to > r.from {
		tl.c.put(tl.x0+r.to, y, tl.theme.shut, k)
	}
}
