package tui

import (
	"lockstep/sim"
	"lockstep/sim/trace"
)

// joint runs two traces of one scenario side by side. They are aligned by what
// the script says, and between two of its words by the time that has passed since:
// so one looks at the same moment of the story under both locks, even where one
// of them took longer to get there.
type joint struct {
	reels [2]*reel
	steps []step // the positions in both, ascending in each
	marks []int  // the steps at which something is said, and the last
}

type step [2]int

func newJoint(a, b *reel) *joint {
	j := &joint{reels: [2]*reel{a, b}, steps: []step{{0, 0}}}
	from := step{}
	for _, to := range j.stages() {
		j.merge(from, to)
		j.marks = append(j.marks, j.last())
		from = to
	}
	return j
}

// stages are the positions in both at which the same thing is said, and the ends.
func (j *joint) stages() []step {
	var all []step
	last := step{}
	for _, n := range j.reels[0].trace.Notes {
		if n.Index == 0 {
			continue // the runner's own: the other run need not have it
		}
		for _, m := range j.reels[1].trace.Notes {
			s := step{j.reels[0].position(n.Seq), j.reels[1].position(m.Seq)}
			if m.Index == n.Index && s[0] >= last[0] && s[1] >= last[1] {
				all, last = append(all, s), s
				break
			}
		}
	}
	return append(all, step{j.reels[0].last(), j.reels[1].last()})
}

// merge orders the events of one stage by the time since it began. Where the same
// happens in both at the same time, it is one step.
func (j *joint) merge(from, to step) {
	start := [2]int64{int64(j.reels[0].when(from[0])), int64(j.reels[1].when(from[1]))}
	for at := from; at != to; {
		next := at
		switch {
		case at[0] == to[0]:
			next[1]++
		case at[1] == to[1]:
			next[0]++
		default:
			a, b := j.reels[0].event(at[0]+1), j.reels[1].event(at[1]+1)
			ta, tb := int64(a.At)-start[0], int64(b.At)-start[1]
			if ta <= tb {
				next[0]++
			}
			if tb < ta || tb == ta && j.same(a, b) {
				next[1]++
			}
		}
		j.steps = append(j.steps, next)
		at = next
	}
}

// same reports whether two events tell of the same.
func (j *joint) same(a, b *trace.Event) bool {
	return a.Kind == b.Kind && j.reels[0].trace.Actor(a) == j.reels[1].trace.Actor(b)
}

func (j *joint) last() int { return len(j.steps) - 1 }

// reached is the first step at which one of the two stands at a position.
func (j *joint) reached(side, pos int) int {
	for i, s := range j.steps {
		if s[side] >= pos {
			return i
		}
	}
	return j.last()
}

// arrives is where both are when one of them has arrived at a position: where
// something is said there, both have got that far.
func (j *joint) arrives(side, pos int) int {
	for _, m := range j.marks {
		if j.steps[m][side] == pos {
			return m
		}
	}
	return j.reached(side, pos)
}

// axes are the two runs' axes, in step with each other.
func (j *joint) axes(width, zoom int) (axes [2]*axis, cols []int) {
	ws := make([]weight, j.last())
	for i := range ws {
		for side, r := range j.reels {
			if k := j.steps[i+1][side]; k > j.steps[i][side] {
				w := r.weights[k-1]
				ws[i] = weight{max(ws[i].hard, w.hard), max(ws[i].soft, w.soft)}
			}
		}
	}
	cols = lay(ws, width, zoom)
	for side, r := range j.reels {
		a := &axis{cols: make([]int, r.last()+1)}
		for i, s := range j.steps {
			if i > 0 && s[side] > j.steps[i-1][side] {
				a.cols[s[side]] = cols[i]
			}
		}
		a.gaps = a.findGaps(r.trace)
		axes[side] = a
	}
	return axes, cols
}

// differs reports whether, at a step, somebody does or believes under one lock
// what he doesn't under the other, or the store has something else in it.
func (j *joint) differs(i int) bool {
	a, b := &j.reels[0].samples[j.steps[i][0]], &j.reels[1].samples[j.steps[i][1]]
	for n := range min(len(a.clients), len(b.clients)) {
		if j.reels[0].trace.Clients[n] == sim.Probe {
			continue
		}
		x, y := a.clients[n], b.clients[n]
		x.wants, y.wants, x.stopped, y.stopped = false, false, false, false
		if x != y {
			return true
		}
	}
	return a.version != b.version
}
