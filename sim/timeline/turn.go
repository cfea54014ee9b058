package timeline

import (
	"slices"

	"lockstep/sim/trace"
)

// inTurn has the script's questions that stand at one place asked one after another, as far as that gives no answer away: each
// is asked where the one before it is answered. The first is the one that is answered first. One whose answer is on the
// screen by then stays where it is: it is asked right after the one before it, and carried along while others are asked and answered, as one
// for the verdict always is.
func (q *quiz) inTurn() {
	for i := range q.all {
		at := q.all[i].Pos
		var same []*Question
		for j := range q.all {
			if q.all[j].Pos == at {
				same = append(same, &q.all[j])
			}
		}
		slices.SortStableFunc(same, func(a, b *Question) int { return a.Until - b.Until })
		for turn, free := 0, at; turn < len(same); turn++ {
			if asked := same[turn]; turn > 0 && q.undecided(asked, free) {
				asked.Pos = free
			}
			free = max(free, same[turn].Until)
		}
	}
}

// undecided reports whether the event that decides a question of the script is still to come at a later position than its own.
func (q *quiz) undecided(asked *Question, pos int) bool {
	if pos >= asked.Until {
		return false
	}
	if asked.about == "verdict" {
		return !q.decided(pos)
	}
	last := asked.Pos // that decides it
	for at := asked.Pos + 1; at <= asked.Until; at++ {
		if q.decides(asked, at) {
			last = at
		}
	}
	return pos < last || last == asked.Pos
}

// decides reports whether the event that leads to a position changes the answer to a question, or might have.
func (q *quiz) decides(asked *Question, pos int) bool {
	if holders(q.Timeline, q.StateAt(pos), asked.record()) != holders(q.Timeline, q.StateAt(pos-1), asked.record()) {
		return true
	}
	switch e := q.Event(pos); e.Kind {
	case trace.KindExecute:
		return asked.record() && e.Client != trace.None && len(e.Args) > 0 && !reads(e.Args)
	case trace.KindGranted, trace.KindRefused, trace.KindFailed, trace.KindReleased, trace.KindReleaseFailed:
		return !asked.record()
	}
	return false
}

// record reports whether a question asks for the records, and not for who believes to hold the lock.
func (q *Question) record() bool { return q.about == "record" }
