package fuzz

import (
	"context"
	"strings"
	"testing"
	"time"

	"lockstep/sim/explore"
	"lockstep/sim/testenv"
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

// TestThreadOutlivesItsCycle: a thread that sleeps on when its client has released the lock deletes the
// record of the client's next cycle, and another takes the lock. Without a bound on cycles a client
// asks again only when its threads have ended, so such a lock is refused by name.
func TestThreadOutlivesItsCycle(t *testing.T) {
	testenv.Long(t)
	s := custom("late-janitor", "", steps{acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		if l.cached == nil {
			l.cached = &strategies.Lease{Token: l.Token()} // of the process
		}
		lease := &strategies.Lease{Token: l.cached.Token}
		if err := l.set(ctx, l.key, lease.Token); err != nil {
			return nil, err
		}
		l.Go(func() {
			if l.Clock.Sleep(ctx, l.TTL/2) == nil {
				_ = give(ctx, l, lease)
			}
		})
		return lease, nil
	}}).strategy
	s.Timeout = 12 * time.Second
	b := explore.Defaults(s)
	b.Codes, b.Faults = trace.Verdict{trace.DG}, explore.Budget{explore.Pause: 1}
	r, err := explore.Run(t.Context(), b, explore.Options{})
	if err != nil || r.Find(trace.DG) == nil {
		t.Fatalf("two cycles: %v", err)
	}
	b.Cycles = explore.Any
	_, err = explore.Run(t.Context(), b, explore.Options{})
	if err == nil || !strings.Contains(err.Error(), "a thread that sleeps when its cycle is over of") || !strings.Contains(err.Error(), "sim/explore/fuzz/threads_test.go:") {
		t.Errorf("any number of cycles: %v", err)
	}
}
