package explore

import (
	"maps"
	"testing"
	"time"

	"lockstep/sim/explore/madeup"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
)

// TestLateRequests: a search without bounds that foresees which request arrives twice, and drops those that
// are spent, comes to all situations of clients and servers to which one comes that keeps them all, and finds
// the same codes. The locks are made up, and most are wrong.
func TestLateRequests(t *testing.T) {
	testenv.Long(t)
	fewer, compared := 0, 0
	for n := range madeup.Number {
		if !testenv.Some(n, 2*madeup.Number) {
			continue
		}
		s := madeup.Lock(n, 12*time.Second)
		t.Run(s.Name, func(t *testing.T) {
			b := Bounds{Strategy: s, Clients: 2, Cycles: Any, TTL: 12 * time.Second, Codes: trace.Verdict{trace.DG, trace.FR, trace.PD}}
			for _, faults := range []Budget{{Pause: Any, Duplicate: 1}, {Pause: Any, HoldRequest: 1}, {Pause: 1, HoldRequest: 1, Duplicate: 1}, {HoldRequest: 1, Duplicate: 2}} {
				b.Faults = faults
				kept, more, all := situations(t, b, true, situation)
				is, states, found := situations(t, b, false, situation)
				t.Logf("%s: %d states, with all requests %d, of %d situations; %s", faults, states, more, len(is), found)
				maps.DeleteFunc(kept, func(s string, _ bool) bool { return is[s] })
				for s := range kept {
					t.Errorf("%s: %d situations are missed, such as %s", faults, len(kept), s)
					break
				}
				if found != all {
					t.Errorf("%s: %s, and with all requests %s", faults, found, all)
				}
				if compared++; states < more {
					fewer++
				}
			}
		})
	}
	t.Logf("%d of %d searches are smaller", fewer, compared)
}
