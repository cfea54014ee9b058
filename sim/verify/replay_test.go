package verify

import (
	"testing"

	"lockstep/sim/trace"
)

// A replay knows what to do for each event at a server, and no event has two ways.
func TestEveryEventAtAServerIsReplayed(t *testing.T) {
	for k := range trace.Kind(trace.Kinds) {
		asked := k == trace.KindExecute || k == trace.KindBlock || k == trace.KindPush // by a client: see act
		ways := 0
		for _, is := range []bool{asked, doings[k] != nil, deeds[k] != nil} {
			if is {
				ways++
			}
		}
		if want := acts(k); ways > 1 || want != (ways == 1) {
			t.Errorf("%q is to be replayed: %t; there are %d ways to do it, in deeds (sim/verify/replay.go) and doings (sim/verify/exact.go)", k, want, ways)
		}
	}
}
