package explore

import (
	"slices"
	"testing"

	"lockstep/sim"
	"lockstep/sim/explore/space"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// A fault that the violation needs is essential; a fault that happens beside it, or
// afterwards, is not.
func TestEssential(t *testing.T) {
	s, _ := strategies.Get("get-then-del")
	b := Defaults(s)
	b.Faults = Budget{Crash: 1, Pause: 2, ClientClock: 1}
	b.Codes = trace.Verdict{trace.FR}
	m, err := space.NewModel(b, false)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close() //nolint:errcheck // the test is over
	w, err := sim.New(m.Config)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() //nolint:errcheck // the test is over
	paths, err := findShortest(m, trace.SetOf(trace.FR), false, func() bool { return false })
	if err != nil {
		t.Fatal(err)
	}
	path := paths[trace.FR]
	needed, err := faultsOf(m, w, trace.FR, path)
	if err != nil || len(needed) != 1 || needed[0] != (Fault{Kind: Pause, Text: "A is paused for 12.001s", Essential: true}) {
		t.Errorf("the least has %v, %v", needed, err)
	}
	more, err := faultsOf(m, w, trace.FR, append(slices.Clone(path), space.Choice{Kind: space.Crashes, Who: 1}))
	if err != nil || len(more) != 2 || !more[0].Essential || more[1] != (Fault{Kind: Crash, Text: "B crashes"}) {
		t.Errorf("with a crash afterwards it has %v, %v", more, err)
	}
	first, err := faultsOf(m, w, trace.FR, slices.Insert(slices.Clone(path), 0, space.Choice{Kind: space.JumpsClient, Who: 1, By: 1000}))
	if err != nil || first[0].Essential || first[0].Text != "B's wall clock jumps by 1s" || !first[1].Essential {
		t.Errorf("with another's clock set it has %v, %v", first, err)
	}
}
