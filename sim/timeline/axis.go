package timeline

import (
	"math"
	"slices"
	"time"

	"lockstep/sim/trace"
)

// The time axis.
//
// Events come in bursts of milliseconds with seconds of waiting between them,
// and at the end a probe may look years ahead, so no place can be proportional to
// time: either the bursts or the waits would be invisible. And a client that
// asks every 200 ms for ten seconds leaves three hundred events of which none
// matters, beside twenty that are the story. So:
//
//   - Every event has a place, and places never go back: an event is never to
//     the left of one that came before it. This is the whole contract, and with
//     it "these two bars overlap" is true exactly if it is drawn.
//   - An event that changes a lane (a grant, an expiry, a write, a
//     pause) needs room of its own: its share is hard. All others (a command of a
//     poll that changed nothing, a clock reading) divide the rest: they are soft.
//   - The time between two events is soft as well, and counts by its logarithm:
//     waiting ten times as long is drawn wider, but not ten times. Beyond a few
//     TTLs it grows no more.
//   - All soft shares are stretched or squeezed by one factor, so that the whole
//     run fills the width. If even the hard ones do not fit, the axis is wider
//     than the view.
//
// A view measures in a unit of its own, a column or a pixel. All lengths here are
// thousandths of it, in integers, so that no rounding makes two pictures differ.

// Unit is one unit of a view.
const Unit = 1000

// Need is the degree to which an event needs a place of its own.
type Need uint8

// The needs, from none to the greatest.
const (
	Shared Need = iota // none: it changes nothing that a lane shows
	Aside              // it changes something, but after the story: it is the probe's
	Sent               // a command's mark
	Proof              // it has no mark, but is among the proofs of a violation
	Fatal              // the mark of a command that proves a violation
	Own                // it changes a lane, or has a mark, or something is said there
	Touch              // it stands in the resource's lane, where it is labelled

	needs
)

// weight is an event's share before a view measures it. Wait and slack are
// thousandths of a doubling.
type weight struct {
	need  Need
	aside bool
	wait  int // for the time before it
	slack int // for itself, where there is room to spare
}

// Scale has a view's measures for the axis, in thousandths of its unit.
type Scale struct {
	Doubling int        // each doubling of a wait
	Slack    int        // an event that changes something, where there is room to spare
	Room     [needs]int // an event in any case, by its need
	Endless  int        // the least for an endless wait with its event, so that its sign is seen
}

// Share is the room of an event on the axis, with the time before it, in thousandths of a
// view's unit: Hard in any case, and Soft times one factor; both together are no less than Least.
type Share struct{ Hard, Soft, Least int }

// endless bounds the width of a wait, in doublings of a hundredth of a TTL: beyond it the
// width means nothing.
const endless = 9

// asideSoft divides the probe's soft shares: the probe comes after the story, and only tests
// whether the lock is stuck.
const asideSoft = 4

// Shares returns the shares of the events, in order.
func (t *Timeline) Shares(s *Scale) []Share {
	shares := make([]Share, len(t.weights))
	for i, w := range t.weights {
		shares[i] = Share{Hard: s.Room[w.need], Soft: (w.wait*s.Doubling + w.slack*s.Slack) / Unit}
		if w.wait == endless*Unit {
			shares[i].Least = s.Endless
		}
		if w.aside {
			shares[i].Soft /= asideSoft
		}
	}
	return shares
}

// Fit states the factor of soft shares in a view, in thousandths: it fills Width, and lies
// between Least and Most. If it would have to be less than Least, the run does not fit, and
// the factor is Crowded.
type Fit struct{ Width, Most, Least, Crowded int }

// factor returns the factor for soft shares.
func (f *Fit) factor(shares []Share) int {
	hard, soft := 0, 0
	for _, s := range shares {
		hard += s.Hard
		soft += s.Soft
	}
	if soft == 0 {
		return Unit
	}
	if k := int(int64(f.Width-hard) * Unit / int64(soft)); k >= f.Least {
		return min(k, f.Most)
	}
	return f.Crowded
}

// Lay gives each position its place, in thousandths of the view's unit. Places
// start at 0 and never go back.
func Lay(shares []Share, f Fit) []int {
	places := make([]int, len(shares)+1)
	k := f.factor(shares)
	if few := func(s Share) bool { return s.Hard+s.Soft*k/Unit < s.Least }; slices.ContainsFunc(shares, few) {
		shares = slices.Clone(shares)
		for i, s := range shares {
			if few(s) {
				shares[i] = Share{Hard: s.Least}
			}
		}
		k = f.factor(shares)
	}
	for i, s := range shares {
		places[i+1] = places[i] + s.Hard + s.Soft*k/Unit
	}
	return places
}

func (t *Timeline) weigh() {
	t.weights = make([]weight, len(t.Events))
	for i := range t.Events {
		e := &t.Events[i]
		wait, aside := e.At-t.When(i), t.aside(i)
		t.weights[i] = weight{need: t.need(i, aside), aside: aside, wait: doublings(wait, t.TTL), slack: t.slack(e)}
		if t.Long(wait) {
			t.Gaps = append(t.Gaps, Gap{i, wait, t.weights[i].wait == endless*Unit})
		}
	}
}

// Long reports whether a wait is drawn much shorter than it is.
func (t *Timeline) Long(wait time.Duration) bool { return wait >= max(t.TTL/4, 10*time.Millisecond) }

// Gap is a wait that the axis labels, because it is drawn much shorter than it is. It lies
// between the position Pos and the one after it.
type Gap struct {
	Pos     int
	Length  time.Duration
	Endless bool // too long for its width to mean anything
}

// doublings returns the number of times that a wait doubles a hundredth of the TTL, in
// thousandths.
func doublings(wait, ttl time.Duration) int {
	if wait <= 0 {
		return 0
	}
	tick := max(ttl/100, time.Millisecond)
	return int(Unit * min(endless, math.Log2(1+float64(wait)/float64(tick))))
}

// slack returns the soft room of an event, without the time before it.
func (t *Timeline) slack(e *trace.Event) int {
	if t.decisive[e.Seq] {
		return Unit
	}
	switch e.Kind {
	case trace.KindClock, trace.KindWake, trace.KindStop, trace.KindDone:
		return Unit / 10
	case trace.KindSend, trace.KindReceive, trace.KindSleep:
		return Unit / 2
	case trace.KindExecute:
		if len(e.Changes) == 0 {
			return Unit / 2
		}
	}
	return Unit
}

func (t *Timeline) need(i int, aside bool) Need {
	e := &t.Events[i]
	switch {
	case aside && changes(e):
		return Aside
	case aside:
		return Shared
	case Touches(e):
		return Touch
	case changes(e), t.marked(i):
		return Own
	case t.fatal[e.Seq]:
		return Fatal
	case e.Kind == trace.KindSend:
		return Sent
	case t.Proves(e):
		return Proof
	}
	return Shared
}

// Matters reports whether the event at an index changes something that the lanes
// show, or something is said or proved there.
func (t *Timeline) Matters(i int) bool { return t.weights[i].need >= Own }

// changes reports whether an event changes something that the lanes show.
func changes(e *trace.Event) bool {
	switch e.Kind {
	case trace.KindClock, trace.KindSend, trace.KindReceive, trace.KindSleep, trace.KindWake, trace.KindStop, trace.KindDone, trace.KindDisconnect:
		return false
	case trace.KindExecute:
		return len(e.Changes) > 0
	}
	return true
}

// aside reports whether an event comes after the story: the probe did it, nothing
// is said or proved there, and no overlap of believers begins or ends.
func (t *Timeline) aside(i int) bool {
	return t.Probing(&t.Events[i]) && !t.marked(i) && !t.bounds(i)
}

// bounds reports whether an event begins or ends an overlap, which must not be too
// narrow to be seen.
func (t *Timeline) bounds(i int) bool {
	return (t.Moments[i].Believers > 1) != (t.Moments[i+1].Believers > 1)
}

// marked reports whether something is said at the position to which the event at
// an index leads, or a violation is complete there.
func (t *Timeline) marked(i int) bool {
	if _, said := slices.BinarySearch(t.Chapters, i+1); said {
		return true
	}
	_, broken := slices.BinarySearchFunc(t.Breaches, i+1, func(b Breach, pos int) int { return b.Pos - pos })
	return broken
}
