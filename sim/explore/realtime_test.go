package explore

import (
	"context"
	"runtime"
	"testing"
	"time"

	"lockstep/sim/solo"
)

// TestRealTime: what a lock has started by itself, or has package time start, never happens in a
// search. So it is refused when the lock does that, with the line, and not passed over.
func TestRealTime(t *testing.T) {
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	for name, c := range map[string]struct {
		does func(context.Context, *mutant)
		want string // of the error; empty is none
	}{
		"nothing": {does: func(context.Context, *mutant) {}},
		"a goroutine that waits for a ticker": {func(ctx context.Context, m *mutant) {
			tick := time.NewTicker(m.TTL / 3)
			go func() {
				defer tick.Stop()
				for {
					select {
					case <-tick.C:
						m.nodes[0].PExpire(ctx, m.key, m.TTL)
					case <-over:
						return
					}
				}
			}()
		}, "the search can't follow a goroutine of A at LINE: " + solo.OutOfTime},
		"a goroutine that has ended": {does: func(context.Context, *mutant) {
			done := make(chan struct{})
			go close(done)
			<-done
		}},
		"a goroutine that is about to end": {does: func(context.Context, *mutant) {
			go func() {
				for range 20 {
					runtime.Gosched()
				}
			}()
		}},
		"AfterFunc": {func(ctx context.Context, m *mutant) {
			time.AfterFunc(time.Hour, func() { m.nodes[0].PExpire(ctx, m.key, m.TTL) })
		}, "the search can't follow time.AfterFunc of A at LINE: " + neverGoesOff},
		"a timer": {func(context.Context, *mutant) { time.NewTimer(time.Hour) },
			"the search can't follow time.NewTimer of A at LINE: " + neverGoesOff},
		"After": {func(context.Context, *mutant) { time.After(time.Hour) },
			"the search can't follow time.After of A at LINE: " + neverGoesOff},
		"a context's": {func(ctx context.Context, _ *mutant) {
			_, cancel := context.WithTimeout(ctx, time.Hour)
			cancel()
		}, "the search can't follow context.WithTimeout of A at LINE: " + neverGoesOff},
		"a thread": {does: func(ctx context.Context, m *mutant) {
			m.Go(func() { _ = m.Clock.Sleep(ctx, m.TTL/3) })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			lock := before(func(ctx context.Context, m *mutant) error { c.does(ctx, m); return nil })
			_, err := Run(t.Context(), Bounds{Strategy: lock, Clients: 1, Cycles: 1, TTL: 12 * time.Second}, Options{Timers: true})
			if c.want != "" {
				refuses(t, err, c.want)
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}
