package timeline

import (
	"slices"
	"testing"
	"time"

	"lockstep/sim/trace"
)

func TestDoublingsCompressLongWaits(t *testing.T) {
	ttl := 10 * second
	of := func(d time.Duration) int { return doublings(d, ttl) }
	if of(second) <= 0 || of(time.Minute) <= of(second) || of(365*24*time.Hour) < of(time.Minute) {
		t.Error("a longer wait is drawn shorter")
	}
	if of(time.Minute) > 3*of(second) {
		t.Errorf("a minute takes %d, a second %d: waits are not compressed", of(time.Minute), of(second))
	}
	if got := of(365 * 24 * time.Hour); got != endless*Unit {
		t.Errorf("a year takes %d, want the most that there is, %d", got, endless*Unit)
	}
	if got := of(100 * time.Millisecond); got != Unit {
		t.Errorf("a hundredth of the TTL takes %d, want one doubling", got)
	}
}

func TestGaps(t *testing.T) {
	r := newRun()
	r.add(second, trace.KindClock, a)
	r.add(second+r.TTL/4, trace.KindClock, a)
	r.add(365*24*time.Hour, trace.KindClock, a)
	want := []Gap{{1, r.TTL / 4, false}, {2, 365*24*time.Hour - second - r.TTL/4, true}}
	if got := New(&r.Trace).Gaps; !slices.Equal(got, want) {
		t.Errorf("gaps %v, want %v", got, want)
	}
}

// testScale gives each event that matters one unit, and each doubling another.
var testScale = Scale{Doubling: Unit, Slack: 0, Room: [needs]int{Aside: 100, Sent: 200, Proof: 300, Own: Unit, Touch: 2 * Unit}}

func TestNeeds(t *testing.T) {
	r := pausePastTTL()
	r.Violations[0].Events = []int{4, 13}
	r.add(12*second, trace.KindGranted, probe, until(trace.Never))
	r.add(12*second, trace.KindClock, probe)
	r.add(12*second, trace.KindCrash, a) // two still believe
	r.add(12*second, trace.KindRelease, probe)
	tl := New(&r.Trace)
	for seq, want := range map[int]Need{
		2:  Sent,
		4:  Proof,  // the reply proves the overlap
		6:  Own,    // a note is made after it
		15: Touch,  // even where a violation is complete
		16: Aside,  // the probe's lease makes three believers out of two: nothing new
		17: Shared, // a clock reading
		19: Own,    // the probe's release ends the overlap
	} {
		if got := tl.weights[seq-1].need; got != want {
			t.Errorf("#%d needs %d, want %d", seq, got, want)
		}
		if matters := want == Own || want == Touch; tl.Matters(seq-1) != matters {
			t.Errorf("#%d matters: %t", seq, !matters)
		}
	}
}

// Places never go back, and what needs room of its own has it, at every width.
func TestLayIsMonotone(t *testing.T) {
	tl := New(&pausePastTTL().Trace)
	shares := tl.Shares(&testScale)
	for width := 0; width <= 100*Unit; width += Unit {
		places := Lay(shares, Fit{Width: width, Most: 4 * Unit, Least: Unit / 20, Crowded: Unit / 4})
		if places[0] != 0 || len(places) != tl.Last()+1 {
			t.Fatalf("%d places from %d", len(places), places[0])
		}
		for i := range tl.Events {
			if d := places[i+1] - places[i]; d < 0 || tl.Matters(i) && d < Unit {
				t.Errorf("width %d: event %d takes %d", width, i, d)
			}
		}
	}
}

func TestFitFillsTheWidth(t *testing.T) {
	shares := []Share{{Hard: 2 * Unit}, {Soft: 3 * Unit}, {Soft: Unit}}
	for _, tt := range []struct{ width, last int }{
		{10 * Unit, 10 * Unit},  // stretched to fill it
		{4 * Unit, 4 * Unit},    // squeezed
		{100 * Unit, 18 * Unit}, // no more than fourfold
		{2 * Unit, 3 * Unit},    // too narrow: by a quarter, and wider than the view
	} {
		places := Lay(shares, Fit{Width: tt.width, Most: 4 * Unit, Least: Unit / 20, Crowded: Unit / 4})
		if got := places[len(places)-1]; got != tt.last {
			t.Errorf("in a width of %d the run ends at %d, want %d", tt.width, got, tt.last)
		}
	}
}
