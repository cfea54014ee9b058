package timeline

import (
	"slices"
	"time"

	"lockstep/sim/trace"
)

// Alignment puts two runs of one scenario side by side. They are aligned by the
// script's notes, and between two of these by the time that has passed since: so a view
// shows the same point of the story under both locks, even if one of them took longer to
// get there.
//
// Invariants: Steps begins with {0, 0} and ends with both runs' last positions;
// from one step to the next each side stays or advances by one, and not both
// stay. Stages ascend, and the last is Last().
type Alignment struct {
	Runs   [2]*Timeline
	Steps  []Step
	Stages []int // the steps at which both runs have reached the same note, and the last
}

// Step is a position in each of two runs.
type Step [2]int

// Align aligns two runs.
func Align(a, b *Timeline) *Alignment {
	al := &Alignment{Runs: [2]*Timeline{a, b}, Steps: []Step{{0, 0}}}
	from := Step{}
	for _, to := range al.stages() {
		al.merge(from, to)
		al.Stages = append(al.Stages, al.Last())
		from = to
	}
	return al
}

// stages returns the positions in both runs with the same note, and the ends.
func (al *Alignment) stages() []Step {
	var all []Step
	last := Step{}
	a, b := al.Runs[0], al.Runs[1]
	for _, n := range a.Notes {
		if n.Index == 0 {
			continue // the runner's own: the other run need not have it
		}
		for _, m := range b.Notes {
			s := Step{a.Before(n.Seq), b.Before(m.Seq)}
			if m.Index == n.Index && s[0] >= last[0] && s[1] >= last[1] {
				all, last = append(all, s), s
				break
			}
		}
	}
	return append(all, Step{a.Last(), b.Last()})
}

// merge orders the events of the stage [from, to) by the time since it began. Of one instant, events that correspond are
// one step; of those without a counterpart, the ones of the run in which nothing breaks come first. So where one run
// breaks, the other is shown with all that it does instead.
func (al *Alignment) merge(from, to Step) {
	a, b := al.Runs[0], al.Runs[1]
	startA, startB := a.When(from[0]), b.When(from[1])
	at := from
	add := func(n Step) {
		for range n[0] {
			at[0]++
			al.Steps = append(al.Steps, at)
		}
		for range n[1] {
			at[1]++
			al.Steps = append(al.Steps, at)
		}
	}
	for at != to {
		switch {
		case at[0] == to[0]:
			add(Step{0, 1})
			continue
		case at[1] == to[1]:
			add(Step{1, 0})
			continue
		}
		sinceA, sinceB := a.When(at[0]+1)-startA, b.When(at[1]+1)-startB
		switch {
		case sinceA < sinceB:
			add(Step{1, 0})
			continue
		case sinceB < sinceA:
			add(Step{0, 1})
			continue
		}
		single, pair := al.pair(at, al.instant(at, to))
		if !al.breaks(0, at[0], single[0]) {
			add(Step{single[0], 0})
			single[0] = 0
		}
		add(Step{0, single[1]})
		add(Step{single[0], 0})
		if pair {
			at = Step{at[0] + 1, at[1] + 1}
			al.Steps = append(al.Steps, at)
		}
	}
}

// instant is the numbers of events of one instant that follow a step, before the end of a stage.
func (al *Alignment) instant(at, to Step) (n Step) {
	for side, r := range al.Runs {
		for pos := at[side] + 1; pos <= to[side] && r.When(pos) == r.When(at[side]+1); pos++ {
			n[side]++
		}
	}
	return n
}

// farthest is how many events of an instant are looked through for two that correspond.
const farthest = 32

// pair is the numbers of events, of so many that follow a step, before the first two that correspond; where none do,
// these are all of them.
func (al *Alignment) pair(at, n Step) (single Step, found bool) {
	for sum := range n[0] + n[1] - 1 {
		for i := max(0, sum-n[1]+1); i <= min(sum, n[0]-1) && sum < farthest; i++ {
			if al.correspond(al.Runs[0].Event(at[0]+i+1), al.Runs[1].Event(at[1]+sum-i+1)) {
				return Step{i, sum - i}, true
			}
		}
	}
	return n, false
}

// breaks reports whether a violation is complete at one of n events of a run that follow a position.
func (al *Alignment) breaks(side, pos, n int) bool {
	return slices.ContainsFunc(al.Runs[side].Breaches, func(b Breach) bool { return pos < b.Pos && b.Pos <= pos+n })
}

// instead are kinds of event of which a client's deed comes to the one or the other.
var instead = [...][2]trace.Kind{
	{trace.KindRead, trace.KindReject}, {trace.KindWrite, trace.KindReject}, {trace.KindQuery, trace.KindReject},
	{trace.KindGranted, trace.KindRefused}, {trace.KindGranted, trace.KindFailed}, {trace.KindRefused, trace.KindFailed},
	{trace.KindExtended, trace.KindExtendFailed}, {trace.KindReleased, trace.KindReleaseFailed},
}

// correspond reports whether two events are of one kind, by the same actor, or come of the same deed of a client.
func (al *Alignment) correspond(a, b *trace.Event) bool {
	if al.client(0, a) != al.client(1, b) {
		return false
	}
	if a.Kind == b.Kind {
		return al.Runs[0].Actor(a) == al.Runs[1].Actor(b)
	}
	return slices.Contains(instead[:], [2]trace.Kind{a.Kind, b.Kind}) || slices.Contains(instead[:], [2]trace.Kind{b.Kind, a.Kind})
}

// client is the name of an event's client, or empty.
func (al *Alignment) client(side int, e *trace.Event) string {
	if e.Client == trace.None {
		return ""
	}
	return al.Runs[side].Clients[e.Client]
}

// Last returns the last step.
func (al *Alignment) Last() int { return len(al.Steps) - 1 }

// Reached returns the first step at which one side stands at a position.
func (al *Alignment) Reached(side, pos int) int {
	for i, s := range al.Steps {
		if s[side] >= pos {
			return i
		}
	}
	return al.Last()
}

// Arrives returns the step to show when one side has arrived at a position: if a stage ends
// there, the step at which the other side has reached the end of the stage, too.
func (al *Alignment) Arrives(side, pos int) int {
	for _, stage := range al.Stages {
		if al.Steps[stage][side] == pos {
			return stage
		}
	}
	return al.Reached(side, pos)
}

// Clock is the instant in the second run, which stands at a position, when the first has just arrived at one:
// as much later than the note of both that came last as it is in the first.
func (al *Alignment) Clock(first, second int) time.Duration {
	from, arrived := Step{}, al.Reached(0, first)
	for _, stage := range al.Stages {
		if stage <= arrived {
			from = al.Steps[stage]
		}
	}
	a, b := al.Runs[0], al.Runs[1]
	now := b.When(from[1]) + a.When(first) - a.When(from[0])
	if second < b.Last() {
		now = min(now, b.When(second+1))
	}
	return max(now, b.When(second))
}

// Shares returns the shares of the steps on an axis for both runs: each is the larger one of
// the events that the step joins.
func (al *Alignment) Shares(s *Scale) []Share {
	return al.Joined([2][]Share{al.Runs[0].Shares(s), al.Runs[1].Shares(s)})
}

// Joined joins the shares of both runs' events to those of the steps.
func (al *Alignment) Joined(own [2][]Share) []Share {
	shares := make([]Share, al.Last())
	for i := range shares {
		for side := range own {
			if pos := al.Steps[i+1][side]; pos > al.Steps[i][side] {
				w := own[side][pos-1]
				shares[i] = Share{max(shares[i].Hard, w.Hard), max(shares[i].Soft, w.Soft), max(shares[i].Least, w.Least)}
			}
		}
	}
	return shares
}

// Places picks the places of one side's positions from those of the steps.
func (al *Alignment) Places(side int, steps []int) []int {
	places := make([]int, al.Runs[side].Last()+1)
	for i := 1; i < len(al.Steps); i++ {
		if pos := al.Steps[i][side]; pos > al.Steps[i-1][side] {
			places[pos] = steps[i]
		}
	}
	return places
}

// Differs reports whether at a step a client does or believes something under one lock and not
// under the other, or Redis has another client's record, or the resource differs. That one lock hands out fencing tokens
// makes no difference by itself.
func (al *Alignment) Differs(step int) bool {
	return al.parts(step, func(x, y *Client) bool {
		x.Fence, y.Fence = 0, 0
		return *x == *y
	})
}

// Same reports whether the two runs are the same, event by event. Runs that never differ needn't be: their commands, and so the ends of
// leases and records, may be others.
func (al *Alignment) Same() bool {
	return slices.EqualFunc(al.Runs[0].Events, al.Runs[1].Events, func(x, y trace.Event) bool {
		return x.At == y.At && al.Runs[0].Line(&x) == al.Runs[1].Line(&y)
	})
}

// Parting returns the step at which the runs part: the first at which they differ in more than the
// end of a lease, and still do a hundredth of the TTL later, so that a command more or less is no
// difference. It is -1 if there is none.
func (al *Alignment) Parting() int {
	from := -1
	for step := range al.Steps {
		switch differs := al.parts(step, func(x, y *Client) bool {
			return x.Believed == y.Believed && x.Inside == y.Inside && x.Crashed == y.Crashed
		}); {
		case !differs:
			from = -1
		case from < 0:
			from = step
		}
		if from >= 0 && (step == al.Last() || al.when(step+1)-al.when(from) > al.Runs[0].TTL/100) {
			return from
		}
	}
	return -1
}

// when is the instant of a step, in the run that is later.
func (al *Alignment) when(step int) time.Duration {
	return max(al.Runs[0].When(al.Steps[step][0]), al.Runs[1].When(al.Steps[step][1]))
}

// parts reports whether at a step a client is not alike in both runs, or the record in Redis, or the
// store. The probe and the ends of clients don't count.
func (al *Alignment) parts(step int, alike func(x, y *Client) bool) bool {
	a, b := &al.Runs[0].Moments[al.Steps[step][0]], &al.Runs[1].Moments[al.Steps[step][1]]
	for n := range min(len(a.Clients), len(b.Clients)) {
		if al.Runs[0].Clients[n] == trace.Probe {
			continue
		}
		x, y := a.Clients[n], b.Clients[n]
		x.Wants, y.Wants, x.Stopped, y.Stopped = false, false, false, false
		if !alike(&x, &y) {
			return true
		}
	}
	return a.Quorum != b.Quorum || a.Version != b.Version
}
