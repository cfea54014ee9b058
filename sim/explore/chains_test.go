package explore

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// waiter is the correct lock, but for what it does when it is refused for the last time: it takes over
// if a look tells it to. Between its tries it waits.
func waiter(take func(context.Context, *mutant) (*strategies.Lease, error), look func(context.Context, *mutant) bool, wait func(context.Context, *mutant, time.Duration) error, waits ...time.Duration) strategies.Strategy {
	m := rightMutant()
	m.acquire = func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
		for n := 0; ; n++ {
			l, err := take(ctx, m)
			if !errors.Is(err, strategies.ErrNotAcquired) {
				return l, err
			}
			if n == len(waits) {
				break
			}
			if err := wait(ctx, m, waits[n]); err != nil {
				return nil, err
			}
		}
		if !look(ctx, m) {
			return nil, strategies.ErrNotAcquired
		}
		if err := m.nodes[0].Del(ctx, m.key).Err(); err != nil {
			return nil, err
		}
		return rightAcquire(ctx, m)
	}
	return mutantStrategy(m, 1)
}

func sleeps(ctx context.Context, m *mutant, d time.Duration) error { return m.Clock.Sleep(ctx, d) }

// pops waits for an element that nobody brings.
func pops(ctx context.Context, m *mutant, d time.Duration) error {
	if err := m.nodes[0].BLPop(ctx, d, "wake").Err(); !errors.Is(err, redis.Nil) {
		return err
	}
	return nil
}

// leaves looks whether a record has so long to live.
func leaves(least, most time.Duration) func(context.Context, *mutant) bool {
	return func(ctx context.Context, m *mutant) bool {
		d, err := m.nodes[0].PTTL(ctx, m.key).Result()
		return err == nil && least <= d && d <= most
	}
}

// TestChainsOfWaits: time stops so long before a threshold as the waits before the look last together. The
// holder is paused, and nobody else, so the other client must ask at the right time.
func TestChainsOfWaits(t *testing.T) {
	const ms = time.Millisecond
	beats := func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
		l, err := &strategies.Lease{Token: m.Token(), Deadline: m.Clock.Monotonic() + m.TTL - m.grace()}, error(nil)
		if n, _ := m.nodes[0].Eval(ctx, `if not redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return 0 end
			redis.call("SET", "beat", 1, "PX", ARGV[2] - 1000)
			return 1`, []string{m.key}, l.Token, m.TTL.Milliseconds()).Int(); n == 0 {
			err = strategies.ErrNotAcquired
		}
		return l, err
	}
	silent := func(ctx context.Context, m *mutant) bool {
		n, err := m.nodes[0].Exists(ctx, "beat").Result()
		return err == nil && n == 0
	}
	stamps := func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
		l, err := rightAcquire(ctx, m)
		if err == nil {
			err = m.nodes[0].Set(ctx, "stamp", m.Clock.Now().UnixMilli(), 0).Err()
		}
		return l, err
	}
	stale := func(ctx context.Context, m *mutant) bool {
		at, err := m.nodes[0].Get(ctx, "stamp").Int64()
		age := m.Clock.Now().UnixMilli() - at
		return err == nil && 6000 <= age && age <= 7400
	}
	for name, lock := range map[string]strategies.Strategy{
		"growing":     waiter(rightAcquire, leaves(5000*ms, 6100*ms), sleeps, 1300*ms, 2900*ms),
		"an element":  waiter(rightAcquire, leaves(3000*ms, 4400*ms), pops, 2000*ms, 2000*ms),
		"another key": waiter(beats, silent, sleeps, 1300*ms, 2900*ms),
		"a stamp":     waiter(stamps, stale, sleeps, 3100*ms),
	} {
		t.Run(name, func(t *testing.T) {
			if name != "an element" {
				testenv.Long(t)
			}
			r, err := searchDefaults(t, lock, func(b *Bounds) {
				b.Cycles, b.Codes, b.Record, b.Faults = 1, trace.Verdict{trace.FR}, "lock", Budget{Pause: 1}
			})
			if err != nil || r.Find(trace.FR) == nil {
				t.Errorf("%+v, %v", r, err)
			}
		})
	}
}
