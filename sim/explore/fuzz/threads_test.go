package fuzz

import (
	"context"
	"testing"
	"time"

	"lockstep/sim/explore"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// TestThreadBeforeFirstCommand: a thread that Acquire starts at once, as a process's janitor, is ready
// before whatever Acquire does next. It deletes a record that will soon expire, whoever has it by then.
func TestThreadBeforeFirstCommand(t *testing.T) {
	s := custom("janitor", "", steps{acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		if !l.pending {
			l.pending = true
			l.Go(func() {
				if l.Clock.Sleep(ctx, 10*time.Second) != nil {
					return
				}
				if left, err := l.rdb.PTTL(ctx, l.key).Result(); err == nil && left < 3*time.Second {
					_ = l.rdb.Del(ctx, l.key).Err()
				}
			})
		}
		return take(ctx, l)
	}}).strategy
	b := explore.Defaults(s)
	b.Cycles, b.Codes, b.Faults = 1, trace.Verdict{trace.FR}, explore.Budget{explore.Pause: 1}
	r, err := explore.Run(context.Background(), b, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Find(trace.FR) == nil {
		t.Error(r.Summary())
	}
}
