package fuzz

import (
	"context"
	"testing"
	"time"

	"lockstep/sim/explore"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// TestAgesAreFound: a stamp that falls due before the lease ends is found, however many TTLs that
// takes. The first wait is as long as that; later readings of the clock are nearer to it.
func TestAgesAreFound(t *testing.T) {
	for i, stale := range []time.Duration{28, 5, 20, 48} {
		if !testenv.Some(i, 8) {
			continue
		}
		stale *= time.Second
		stamp := stamped(ownClock, func(age, _ time.Duration) bool { return age > stale })
		s := custom("stale-after-"+stale.String(), "", steps{acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			sent := l.Clock.Monotonic()
			lease, err := stamp(ctx, l)
			if err == nil {
				lease.Deadline = sent + stale + 2*time.Second
			}
			return lease, err
		}}).strategy
		b := explore.Defaults(s)
		b.Cycles, b.Codes, b.Faults = 1, trace.Verdict{trace.DG}, explore.Budget{explore.Pause: 1}
		r, err := explore.Run(context.Background(), b, explore.Options{})
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		if r.Find(trace.DG) == nil {
			t.Errorf("%s: %s", s.Name, r.Summary())
		}
	}
}
