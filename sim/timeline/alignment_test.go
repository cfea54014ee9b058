package timeline

import (
	"slices"
	"testing"

	"lockstep/sim/trace"
)

// late is pausePastTTL with a clock reading of A's half a second before the second note,
// with everything after it later by as much, and without B's grant.
func late() *run {
	r := newRun()
	for _, e := range pausePastTTL().Events {
		if e.Seq == 7 {
			r.add(second/2, trace.KindClock, a)
		}
		if e.Seq >= 7 {
			e.At += second / 2
		}
		if e.Seq != 13 {
			e.Seq = len(r.Events) + 1
			r.Events = append(r.Events, e)
		}
	}
	r.Notes = []trace.Note{{Seq: 1, Index: 1}, {Seq: 8, Index: 2}, {Seq: 14, Index: 4}}
	return r
}

func TestAlignment(t *testing.T) {
	al := Align(New(&pausePastTTL().Trace), New(&late().Trace))
	want := []Step{
		{0, 0}, {1, 1}, {2, 2}, {3, 3}, {4, 4}, {5, 5}, {6, 6}, {6, 7}, // the second note
		{7, 8}, {8, 9}, {9, 10}, {10, 11}, {11, 12}, {12, 13}, {13, 13}, // the fourth
		{14, 14}, {15, 15},
	}
	if !slices.Equal(al.Steps, want) {
		t.Errorf("steps %v, want %v", al.Steps, want)
	}
	if stages := []int{0, 7, 14, 16}; !slices.Equal(al.Stages, stages) {
		t.Errorf("stages %v, want %v", al.Stages, stages)
	}
	if r, s := al.Reached(0, 6), al.Arrives(0, 6); r != 6 || s != 7 {
		t.Errorf("the first run reaches position 6 at step %d and arrives at %d, want 6 and 7", r, s)
	}
	for step := range al.Steps {
		if differs := step >= 14; al.Differs(step) != differs { // B believes under one lock only
			t.Errorf("step %d %v: differs %t", step, al.Steps[step], !differs)
		}
	}
}

// What stands at one step stands in one place in both runs.
func TestAlignedAxesAreInStep(t *testing.T) {
	al := Align(New(&pausePastTTL().Trace), New(&late().Trace))
	steps := Lay(al.Shares(&testScale), Fit{Width: 60 * Unit, Most: Unit, Least: Unit / 20, Crowded: Unit / 4})
	for side := range al.Runs {
		places := al.Places(side, steps)
		for i, s := range al.Steps {
			if i > 0 && s[side] > al.Steps[i-1][side] && places[s[side]] != steps[i] {
				t.Errorf("side %d: position %d is at %d, its step at %d", side, s[side], places[s[side]], steps[i])
			}
		}
		if !slices.IsSorted(places) {
			t.Errorf("side %d goes back: %v", side, places)
		}
	}
}

// Two runs part where the deeds of their clients, Redis or the resource go apart, and not where one
// lease is said to end a little earlier.
func TestParting(t *testing.T) {
	whole, broken := pausePastTTL(), pausePastTTL()
	if at := Align(New(&whole.Trace), New(&broken.Trace)).Parting(); at >= 0 {
		t.Errorf("a run parts from itself at %d", at)
	}
	end := len(broken.Events) - 1
	broken.Events = broken.Events[:end]
	broken.add(whole.Events[end].At+second, trace.KindCrash, b)
	al := Align(New(&whole.Trace), New(&broken.Trace))
	at := al.Parting()
	if at < 0 || al.Differs(at-1) || !al.Differs(at) {
		t.Fatalf("they part at %d of %d", at, al.Last())
	}
}

// The second run's clock shows what has passed since the note that both have reached.
func TestClockOfTheSecondRun(t *testing.T) {
	al := Align(New(&pausePastTTL().Trace), New(&late().Trace))
	a, b := al.Runs[0], al.Runs[1]
	for pos := 1; pos <= a.Last(); pos++ {
		step := al.Reached(0, pos)
		at := al.Steps[step][1]
		got := al.Clock(pos, at)
		if got < b.When(at) || at < b.Last() && got > b.When(at+1) {
			t.Errorf("at %d and %d it is %v, between %v and the next event", pos, at, got, b.When(at))
		}
		if pos > 7 && pos < 13 && got != a.When(pos)+second/2 { // the second came to the second note so much later
			t.Errorf("at %d it is %v, and %v in the first run", pos, got, a.When(pos))
		}
	}
}

// A failure is the one run's own if the other has no more with its code; what is only reported is none.
func TestUnsharedFailure(t *testing.T) {
	breach := func(seq int, c trace.Code) trace.Violation { return trace.Violation{Code: c, Events: []int{seq}} }
	for i, tt := range []struct {
		above, below []trace.Violation
		side, pos    int
		fellows      int
		none         bool
	}{
		{none: true},
		{above: []trace.Violation{breach(9, trace.OV)}, below: []trace.Violation{breach(9, trace.OV)}, none: true},
		{above: []trace.Violation{breach(9, trace.OV), breach(12, trace.SW)}, below: []trace.Violation{breach(9, trace.OV)}, side: 0, pos: 12},
		{above: []trace.Violation{breach(12, trace.SW)}, below: []trace.Violation{breach(9, trace.OV)}, side: 1, pos: 9},
		{above: []trace.Violation{breach(9, trace.OV), breach(12, trace.OV)}, below: []trace.Violation{breach(9, trace.OV)}, side: 0, pos: 12, fellows: 1},
		{above: []trace.Violation{breach(9, trace.BD)}, none: true},
	} {
		a, b := pausePastTTL(), pausePastTTL()
		a.Violations, b.Violations = tt.above, tt.below
		got, ok := Align(New(&a.Trace), New(&b.Trace)).Unshared()
		if ok == tt.none {
			t.Errorf("%d: there is one: %v", i, ok)
		} else if ok && (got.Side != tt.side || got.Breach.Pos != tt.pos || got.Fellows != tt.fellows) {
			t.Errorf("%d: %+v, want one of run %d at %d, of %d", i, got, tt.side, tt.pos, tt.fellows)
		}
	}
}

// Where one run breaks, the other is shown with what it does at that instant: the write that the resource refuses stands at the
// step of the write that it takes, and what has no counterpart comes before the violation.
func TestTheOtherRunIsShownWithItsInstant(t *testing.T) {
	taken, refused := newRun(), newRun()
	for i, r := range []*run{taken, refused} {
		r.add(0, trace.KindEnter, a)
		r.add(second, trace.KindWake, a)
		if i == 0 {
			r.add(second, trace.KindWrite, a)
			r.Violations = []trace.Violation{{Code: trace.SW, At: second, Events: []int{3}}}
		} else {
			r.add(second, trace.KindClock, a)
			r.add(second, trace.KindReject, a)
		}
		r.add(second, trace.KindLeave, a)
	}
	al := Align(New(&taken.Trace), New(&refused.Trace))
	if want := []Step{{0, 0}, {1, 1}, {2, 2}, {2, 3}, {3, 4}, {4, 5}}; !slices.Equal(al.Steps, want) {
		t.Errorf("steps %v, want %v", al.Steps, want)
	}
	refused.Events = append(refused.Events[:2], refused.Events[3:]...)[:3]
	refused.Events[2].Kind = trace.KindLapse
	refused.Events[2].Seq = 3
	al = Align(New(&taken.Trace), New(&refused.Trace))
	if want := []Step{{0, 0}, {1, 1}, {2, 2}, {2, 3}, {3, 3}, {4, 3}}; !slices.Equal(al.Steps, want) {
		t.Errorf("with nothing that corresponds: steps %v, want %v", al.Steps, want)
	}
}
