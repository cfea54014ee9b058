package export

import "lockstep/sim/timeline"

// axis lays a timeline out in pixels.
type axis struct {
	x    []int // by position; x[0] is the start, and x never goes back
	end  int   // where the bars stop that are never over
	gaps []gap
}

// gap is a gap of the timeline that is wide enough to be seen.
type gap struct {
	timeline.Gap
	from, to int // x of the events before and after it
}

const (
	markRoom = 19 // the width of a mark on the line
	gapLeast = 12 // the width of a gap's mark
	tail     = 26 // room after the last event
	px       = timeline.Unit
)

// scale measures in pixels. A proof without a mark needs room for its ring, and a
// command's mark for half of itself, because its reply is never far.
var scale = timeline.Scale{
	Doubling: 15 * px, Slack: 6 * px, Endless: gapLeast * px,
	Room: [...]int{timeline.Shared: 0, timeline.Aside: markRoom * px / 4, timeline.Sent: markRoom * px / 2,
		timeline.Proof: markRoom * px, timeline.Fatal: markRoom * px, timeline.Own: markRoom * px, timeline.Touch: markRoom * px},
}

func newAxis(r *annotated, width int) *axis {
	return axisOf(r, places(r.shares(), width), width)
}

// alignedAxes are the axes of two runs that are shown in step: an event of both has one place.
func alignedAxes(al *timeline.Alignment, runs [2]*annotated, width int) (axes [2]*axis) {
	steps := places(al.Joined([2][]timeline.Share{runs[0].shares(), runs[1].shares()}), width)
	for side, r := range runs {
		axes[side] = axisOf(r, al.Places(side, steps), max(width, steps[len(steps)-1]+tail))
	}
	return axes
}

// shares are the shares of a run's events on an axis, with room for the labels in the resource's row.
func (r *annotated) shares() []timeline.Share {
	shares := r.Shares(&scale)
	for i := range r.Events {
		if e := &r.Events[i]; r.In(timeline.Lane{Kind: timeline.Store}, e) && !r.Probing(e) { // it is labelled
			shares[i].Hard = max(shares[i].Hard, (textWidth(r.touchText(e), small)+6)*px)
		}
	}
	return shares
}

// places lays shares out in pixels.
func places(shares []timeline.Share, width int) []int {
	x := timeline.Lay(shares, timeline.Fit{Width: (width - tail) * px, Most: px * 5 / 2, Least: px / 5, Crowded: px / 5})
	for i := range x {
		x[i] /= px
	}
	return x
}

// axisOf is the axis with these places, which is no narrower than width.
func axisOf(r *annotated, x []int, width int) *axis {
	a := &axis{x: x, end: max(x[r.Last()]+tail, width)}
	for _, g := range r.Gaps {
		if from, to := a.x[g.Pos], a.x[g.Pos+1]; to-from >= gapLeast {
			a.gaps = append(a.gaps, gap{g, from, to})
		}
	}
	return a
}
