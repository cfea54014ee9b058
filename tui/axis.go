package tui

import (
	"math"
	"slices"
	"time"

	"lockstep/sim"
	"lockstep/sim/trace"
)

// The time axis.
//
// Events come in bursts of milliseconds with seconds of waiting between them,
// and at the end a probe may look years ahead, so columns can't be proportional
// to time: either the bursts or the waits would be invisible. And a client that
// asks every 200 ms for ten seconds leaves three hundred events of which none
// matters, beside twenty that are the story. So:
//
//   - Every event has a column, and columns never go back: an event is never to
//     the left of one that came before it. This is the whole contract, and with
//     it "these two bars overlap" is true exactly if it is drawn.
//   - An event that changes what the lanes show (a grant, an expiry, a write, a
//     pause, and so on) begins a new column: it is hard. All others (a command of a poll that
//     changed nothing, a clock reading) share what is left: they are soft.
//   - The time between two events is soft as well, and counts by its logarithm:
//     waiting ten times as long is drawn wider, but not ten times. Beyond a
//     few TTLs it grows no more. Gaps that are worth a word (a quarter of a TTL or
//     more) are marked on the ruler, with their true length where it fits.
//   - What is soft is stretched or squeezed by one factor, so that the whole run
//     fills the width. If even the hard part does not fit, the axis is wider
//     than the window, and the window follows the cursor in half-window steps, so
//     that it stands still for most of them.
//   - Zoom doubles or halves all distances.
//
// Labels always tell true times.
type axis struct {
	cols []int // by position: cols[0] is the start, cols[k] the event that led to k
	gaps []gap
}

// gap is a stretch of the axis that is drawn much shorter than it is.
type gap struct {
	from, to int // columns of the events before and after it
	pos      int // position before it
	length   time.Duration
	chasm    bool // too long for its width to mean anything
}

// weight is an event's share of the axis, in thousandths of a column.
type weight struct{ hard, soft int }

const (
	unit = 1000
	// A gap of 2^chasm hundredths of a TTL is drawn as wide as any longer one.
	chasm = 9
	// maxStretch keeps a run of few events from being spread thin.
	maxStretch, minStretch = 4 * unit, unit / 20
	// crowded is the factor for soft weights where the axis has to scroll anyway.
	crowded = unit / 4
)

func (r *reel) weigh() []weight {
	t := r.trace
	ws := make([]weight, len(t.Events))
	before := time.Duration(0)
	for i := range t.Events {
		e := &t.Events[i]
		ws[i] = weight{soft: gapWeight(e.At-before, t.TTL) + softness(e)}
		if r.probing(e) && !r.marked(i) {
			ws[i].soft /= 4 // it comes after the story, and only asks whether the lock is stuck
			before = e.At
			continue
		}
		switch {
		case touches(e):
			ws[i].hard = 2 * unit // its mark has the name beside it
		case r.matters(i):
			ws[i].hard = unit
		}
		before = e.At
	}
	return ws
}

// touches reports whether the event is an access to the resource.
func touches(e *trace.Event) bool {
	return e.Kind == trace.KindRead || e.Kind == trace.KindWrite || e.Kind == trace.KindQuery || e.Kind == trace.KindReject
}

func gapWeight(d, ttl time.Duration) int {
	if d <= 0 {
		return 0
	}
	tick := max(ttl/100, time.Millisecond)
	return int(unit * min(chasm, math.Log2(1+float64(d)/float64(tick))))
}

// softness is what an event takes beside the time before it.
func softness(e *trace.Event) int {
	switch e.Kind {
	case trace.KindClock, trace.KindWake, trace.KindStop, trace.KindDone:
		return unit / 10
	case trace.KindSend, trace.KindReceive, trace.KindSleep:
		return unit / 2
	case trace.KindExecute:
		if len(e.Changes) == 0 {
			return unit / 2
		}
	}
	return unit
}

// matters reports whether an event changes what the lanes show, or leaves a mark of its own.
func (r *reel) matters(i int) bool {
	e := &r.trace.Events[i]
	if r.probing(e) {
		return r.marked(i)
	}
	switch e.Kind {
	case trace.KindClock, trace.KindSend, trace.KindReceive, trace.KindSleep, trace.KindWake, trace.KindStop, trace.KindDone, trace.KindDisconnect:
		return r.marked(i)
	case trace.KindExecute:
		return len(e.Changes) > 0 || r.marked(i)
	}
	return true
}

func (r *reel) probing(e *trace.Event) bool {
	return e.Client != trace.None && r.trace.Clients[e.Client] == sim.Probe
}

// marked: something is said or proved at this event.
func (r *reel) marked(i int) bool {
	if _, found := slices.BinarySearch(r.chapters, i+1); found {
		return true
	}
	return slices.ContainsFunc(r.breaches, func(b breach) bool { return b.pos == i+1 })
}

// newAxis lays the events out for a window of width columns. zoom 0 is the
// whole run if it fits; each step up doubles all distances, each step down halves them.
func newAxis(r *reel, width, zoom int) *axis {
	a := &axis{cols: lay(r.weights, width, zoom)}
	a.gaps = a.findGaps(r.trace)
	return a
}

// lay gives each of a row of weights its column.
func lay(ws []weight, width, zoom int) []int {
	cols := make([]int, len(ws)+1)
	stretch := stretchFor(ws, width)
	x := 0
	for i, w := range ws {
		x += w.hard + w.soft*stretch/unit
		cols[i+1] = 1 + scaled(x, zoom)/unit
	}
	return cols
}

// scaled is x doubled or halved as often as zoom says.
func scaled(x, zoom int) int {
	if zoom < 0 {
		return x >> min(-zoom, 30)
	}
	return x << min(zoom, 10)
}

// stretchFor is the factor, in thousandths, for soft weights.
func stretchFor(ws []weight, width int) int {
	hard, soft := 0, 0
	for _, w := range ws {
		hard += w.hard
		soft += w.soft
	}
	room := (width-2)*unit - hard
	if soft == 0 {
		return unit
	}
	if f := int(int64(room) * unit / int64(soft)); f >= minStretch {
		return min(f, maxStretch)
	}
	return crowded
}

func (a *axis) findGaps(t *trace.Trace) []gap {
	var gaps []gap
	before := time.Duration(0)
	for i := range t.Events {
		d := t.Events[i].At - before
		before = t.Events[i].At
		g := gap{from: a.cols[i], to: a.cols[i+1], pos: i, length: d}
		if d < max(t.TTL/4, 10*time.Millisecond) || g.to-g.from < 2 {
			continue
		}
		g.chasm = gapWeight(d, t.TTL) >= chasm*unit
		gaps = append(gaps, g)
	}
	return gaps
}

// width is how many columns the whole axis takes.
func (a *axis) width() int { return a.cols[len(a.cols)-1] + 1 }

// window is the first column to show for a cursor. It moves by half a window,
// and never further than needed to show the end.
func (a *axis) window(pos, width int) int { return windowAt(a.cols[pos], a.width(), width) }

func windowAt(col, all, width int) int {
	if all <= width {
		return 0
	}
	half := max(width/2, 1)
	return min(max(col/half-1, 0)*half, max(all-width, 0))
}

// at is the last position whose column is col or to the left of it.
func (a *axis) at(col int) int {
	i, _ := slices.BinarySearch(a.cols, col+1)
	return max(i-1, 0)
}

// axes keeps the axis that was drawn last: frames at the same size share it.
type axes struct {
	width, zoom int
	axis        *axis
}

func (a *axes) of(r *reel, width, zoom int) *axis {
	if a.axis == nil || a.width != width || a.zoom != zoom {
		*a = axes{width, zoom, newAxis(r, width, zoom)}
	}
	return a.axis
}
