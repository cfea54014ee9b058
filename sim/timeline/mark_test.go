package timeline

import (
	"testing"

	"lockstep/sim/trace"
)

// kinds are all kinds of event that sim names.
func kinds() (all []trace.Kind) {
	defer func() { recover() }() //nolint:errcheck // the kind after the last has no name
	for k := trace.KindNone; k.String() != ""; k++ {
		all = append(all, k)
	}
	return all
}

// Every kind of event has a mark, or it is said why it has none; and it stands in a
// lane, but for those of the network, which has none.
func TestEveryKindHasItsRow(t *testing.T) {
	all := kinds()
	if last := all[len(all)-1]; last < trace.KindStop || len(all) != len(table) {
		t.Fatalf("the table has %d rows for %d kinds, the last of which is %s", len(table), len(all), last)
	}
	for _, k := range all {
		if r := table[k]; (r.mark == NoMark) == (r.why == "") {
			t.Errorf("%s has mark %d, and none because %q", k, r.mark, r.why)
		}
		if r := table[k]; r.mark != NoMark && r.on == 0 {
			t.Errorf("%s has a mark, and no lane to put it in", k)
		}
	}
}

func TestEveryMarkIsUsedAndHasAWeight(t *testing.T) {
	used := map[Mark]bool{Bad: true} // of whatever completes a violation
	for _, r := range table {
		used[r.mark] = true
	}
	for m := NoMark + 1; m < Marks; m++ {
		if !used[m] || markWeights[m] == 0 {
			t.Errorf("mark %d: used %t, weight %d", m, used[m], markWeights[m])
		}
	}
}

// The table agrees with the trace about whose doing an event is.
func TestDoerIsTheActor(t *testing.T) {
	r := newRun()
	tl := New(&r.Trace)
	for _, k := range kinds() {
		e := &trace.Event{Kind: k, Client: a, Node: 0}
		doer, host := tl.Doer(e) == a, NodeOf(e) == 0
		if actor := tl.Actor(e); doer != (actor == "A") || host != (actor == "n1") {
			t.Errorf("%s is the doing of %s: of the client %t, of the node %t", k, actor, doer, host)
		}
	}
}

func TestMarkDependsOnTheEvent(t *testing.T) {
	r := pausePastTTL()
	r.Violations[0].Events = []int{5, 12}
	tl := New(&r.Trace)
	for seq, want := range map[int]Mark{3: NoMark, 12: Bad, 15: Bad, 13: Granted} {
		if got := tl.Mark(&tl.Events[seq-1]); got != want {
			t.Errorf("#%d has mark %d, want %d", seq, got, want)
		}
	}
	for phase, want := range map[trace.Phase]Mark{trace.PhaseAcquire: Retries, trace.PhaseWork: NoMark} {
		if got := tl.Mark(&trace.Event{Kind: trace.KindSleep, Phase: phase}); got != want {
			t.Errorf("a sleep while %s has mark %d, want %d", phase, got, want)
		}
	}
}
