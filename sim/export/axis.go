package export

import (
	"math"
	"time"

	"lockstep/sim/trace"
)

// axis places the events along a line of virtual time.
//
// Events come in bursts of milliseconds with seconds of waiting between them,
// and a probe may look years ahead, so a place can't be proportional to time. As
// in the player, an event is never left of one that came before it; an event
// that changes what the rows show has room of its own; time between two events
// is drawn by its logarithm, and beyond a few TTLs no wider. Gaps of a quarter of a
// TTL or more are marked with their true length. Everything soft is stretched
// or squeezed by one factor to fill the width.
type axis struct {
	x    []int // by position; x[0] is the start
	end  int   // where the bars stop that are never over
	gaps []gap
}

// gap is a stretch of waiting that is drawn much shorter than it is.
type gap struct {
	from, to int // x of the events before and after it
	length   time.Duration
}

const (
	markRoom = 19  // what a mark takes of the line
	gapUnit  = 15  // a gap doubles its length for this much more room
	gapMost  = 9   // and stops at so many doublings of a hundredth of a TTL
	tail     = 26  // room after the last event
	crowded  = 0.2 // the factor where marks alone are wider than the width
	stretch  = 2.5 // and where there are few of them
)

func newAxis(r *reading, width int) *axis {
	hard, soft := make([]int, r.last()), make([]float64, r.last())
	var allHard int
	var allSoft float64
	before := time.Duration(0)
	for i := range r.Events {
		e := &r.Events[i]
		hard[i], soft[i] = r.room(e), gapUnit*doublings(e.At-before, r.TTL)+softness(e)
		overlap := max(r.states[i].Believers(), r.states[i+1].Believers()) > 1
		if r.asking(e) && len(r.broken[e.Seq]) == 0 && !overlap {
			hard[i], soft[i] = hard[i]/4, soft[i]/4
		}
		before = e.At
		allHard += hard[i]
		allSoft += soft[i]
	}
	factor := min(stretch, max(crowded, float64(width-tail-allHard)/max(allSoft, 1)))
	a := &axis{x: make([]int, r.last()+1)}
	x := 0.0
	for i := range r.Events {
		x += float64(hard[i]) + soft[i]*factor
		a.x[i+1] = int(x)
	}
	a.end = max(a.x[r.last()]+tail, width)
	a.findGaps(r)
	return a
}

// room is what an event takes that leaves a mark, or changes what a row shows.
func (r *reading) room(e *trace.Event) int {
	if touches(e) {
		return max(markRoom, textWidth(r.touchText(e), small)+6)
	}
	switch e.Kind {
	case trace.KindClock, trace.KindReceive, trace.KindSleep, trace.KindWake, trace.KindStop, trace.KindDone, trace.KindDisconnect:
		return 0
	case trace.KindSend:
		return markRoom / 2
	case trace.KindExecute:
		if len(e.Changes) == 0 && !r.proof[e.Seq] {
			return 0
		}
	}
	return markRoom
}

// softness is what an event takes that leaves no mark, so that its place can be seen
// where there is room to spare.
func softness(e *trace.Event) float64 {
	switch e.Kind {
	case trace.KindClock, trace.KindWake, trace.KindStop, trace.KindDone:
		return 1
	}
	return 6
}

// doublings is how often a hundredth of the TTL fits, by its logarithm.
func doublings(d, ttl time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	tick := max(ttl/100, time.Millisecond)
	return min(gapMost, math.Log2(1+float64(d)/float64(tick)))
}

func (a *axis) findGaps(r *reading) {
	before := time.Duration(0)
	for i := range r.Events {
		d := r.Events[i].At - before
		before = r.Events[i].At
		if d >= max(r.TTL/4, 10*time.Millisecond) && a.x[i+1]-a.x[i] >= 12 {
			a.gaps = append(a.gaps, gap{a.x[i], a.x[i+1], d})
		}
	}
}
