package fuzz

import (
	"testing"
	"time"

	"lockstep/sim/explore"
	"lockstep/sim/trace"
)

// TestTwoFaultsOfAKind: a violation that takes two lost replies is decided without a bound on them, too: the least
// schedule is looked for with one fault of each kind, and then with two.
func TestTwoFaultsOfAKind(t *testing.T) {
	s := reaction{takes: 5, fails: 2}.subject().strategy
	b := explore.Defaults(s)
	b.Clients, b.Cycles, b.TTL, b.Codes = 1, explore.Any, 3*time.Second, trace.Verdict{trace.FN}
	b.Faults = explore.Budget{explore.ReplyLost: explore.Any}
	r, err := explore.Run(t.Context(), b, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	v := r.Find(trace.FN)
	if v == nil {
		t.Fatal(r.Summary())
	}
	if len(v.Faults) != 2 {
		t.Errorf("it takes %d faults, want 2", len(v.Faults))
	}
}
