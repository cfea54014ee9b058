package fuzz

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore"
	"lockstep/sim/fault"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// stages makes a lock of scripts that are given the same keys. Each answers 1 to go on, or the client is
// refused, but for the first: that answers 1 to a client which has the lock. Before the last, the client may sleep.
func stages(name string, ttl time.Duration, sleeps func(context.Context, *lock, time.Duration) error, scripts ...string) *subject {
	var all []*redis.Script
	for _, text := range scripts {
		all = append(all, redis.NewScript(text))
	}
	s := custom(name, "", steps{acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		lease := &strategies.Lease{Token: l.Token()}
		keys, from := []string{l.key, l.key + ":early", l.key + ":mark", l.key + ":seen"}, time.Duration(0)
		for i, script := range all {
			if i == len(all)-1 && sleeps != nil {
				if err := sleeps(ctx, l, from); err != nil {
					return nil, err
				}
			}
			n, err := script.Run(ctx, l.rdb, keys, lease.Token).Int()
			switch {
			case err != nil || i == 0 && n == 1:
				return lease, err
			case i > 0 && n == 0:
				return nil, strategies.ErrNotAcquired
			case i == 0 && sleeps != nil:
				from = l.Clock.Monotonic()
			}
		}
		return lease, nil
	}})
	s.strategy.Scripts = append(all, compareDelete)
	s.ttl, s.strategy.Timeout = ttl, ttl
	return s
}

// asOldAsTheRecord is a lock in which whoever is refused leaves a mark that lives a second longer than the
// record has lived, and takes over if he sees it after 4 s of the record's 5 s, and then no more. The mark ends
// there if he has come after 1.5 s to 2 s.
var asOldAsTheRecord = stages("as-old-as-the-record", 5*time.Second, nil,
	`if redis.call("EXISTS", KEYS[1]) == 0 then redis.call("SET", KEYS[1], ARGV[1], "PX", 5000) redis.call("SET", KEYS[2], "x", "PX", 4000) redis.call("DEL", KEYS[3]) return 1 end
		if redis.call("EXISTS", KEYS[3]) == 0 then redis.call("SET", KEYS[3], "x", "PX", 6000 - redis.call("PTTL", KEYS[1])) end return 0`,
	`if redis.call("EXISTS", KEYS[3]) == 1 and redis.call("EXISTS", KEYS[2]) == 0 then return 1 end return 0`,
	`if redis.call("EXISTS", KEYS[3]) == 1 then return 0 end redis.call("SET", KEYS[1], ARGV[1], "PX", 5000) return 1`)

// asLongAsItTook is a lock in which whoever is refused asks again, which takes as long as the request is held up,
// sleeps for a second longer than that, and takes the same holder's record over 4 s after he was refused.
var asLongAsItTook = stages("as-long-as-it-took", 5*time.Second,
	func(ctx context.Context, l *lock, from time.Duration) error {
		took := l.Clock.Monotonic() - from
		if took > 2*time.Second {
			return strategies.ErrNotAcquired
		}
		return l.Clock.Sleep(ctx, took+time.Second)
	},
	`if redis.call("EXISTS", KEYS[1]) == 0 then redis.call("SET", KEYS[1], ARGV[1], "PX", 5000) return 1 end
		redis.call("SET", KEYS[4], redis.call("GET", KEYS[1])) redis.call("SET", KEYS[2], "x", "PX", 4000) redis.call("SET", KEYS[3], "x", "PX", 1000) return 0`,
	`if redis.call("EXISTS", KEYS[3]) == 1 then return 0 end return 1`,
	`if redis.call("EXISTS", KEYS[2]) == 1 or redis.call("GET", KEYS[1]) ~= redis.call("GET", KEYS[4]) then return 0 end redis.call("SET", KEYS[1], ARGV[1], "PX", 5000) return 1`)

// TestMeasuredSpans: where a sleep, or a record's life, is as long as something has taken, it ends twice as late
// as that, which may be between all instants at which a search lets time stop. So nothing is said to hold,
// within bounds or without, and the reason is named: the engine shows two leases.
func TestMeasuredSpans(t *testing.T) {
	const ms = time.Millisecond
	for _, tt := range []struct {
		lock   *subject
		faults explore.Budget
		ops    []op
		says   string
	}{
		{asOldAsTheRecord, explore.Budget{explore.Pause: 2}, []op{{Who: 0, Count: 6}, {Wait: 1600 * ms}, {Who: 1, Count: 4}, {Wait: 2500 * ms}, {Who: 1, Count: 2},
			{Wait: 700 * ms}, {Who: 1, Count: 4}}, "the lock gives lock:mark a life that it has measured"},
		{asLongAsItTook, explore.Budget{explore.Pause: 1, explore.HoldRequest: 1}, []op{{Who: 0, Count: 5}, {Who: 1, Count: 5}, {Faults: []fault.Fault{fault.Hold{Client: "B"}}},
			{Who: 1, Count: 1}, {Wait: 1600 * ms}, {Faults: []fault.Fault{fault.Free{Client: "B", N: 1}}}, {Who: 1, Count: 2}, {Wait: 2600 * ms}, {Who: 1, Count: 6}},
			"for a time that it has measured"},
	} {
		if tt.lock == asLongAsItTook && !testenv.CI() {
			continue // for time
		}
		t.Run(tt.lock.name, func(t *testing.T) {
			at := setting{clients: 2, cycles: 1, ttl: tt.lock.ttl, seed: 1, tries: 1}
			p := &player{subject: tt.lock}
			defer p.Close() //nolint:errcheck // nothing is written
			if !p.shows(at, tt.ops, trace.DG) {
				c := p.Cost()
				t.Errorf("the engine shows %s by %s, which takes %s", p.Verdict(), p.Line(), c.String())
			}
			for _, endless := range []bool{false, true} {
				if endless && !testenv.CI() {
					continue // for time
				}
				b := at.bounds(tt.lock)
				b.Codes, b.Faults = trace.Verdict{trace.DG}, tt.faults
				if endless {
					b.Cycles = explore.Any
				}
				r, err := explore.Run(t.Context(), b, explore.Options{})
				why := ""
				switch {
				case err != nil:
					why = err.Error()
				case slices.Contains(r.Found, trace.DG):
					continue
				case r.Holds(trace.DG):
					t.Error(r.Summary())
				default:
					why = r.Why
				}
				if !strings.Contains(why, tt.says) && !(endless && strings.Contains(why, "asks how long a key still lives")) {
					t.Errorf("cycles %d: it says %q", b.Cycles, why)
				}
			}
		})
	}
}

// TestSleepsUntil: a sleep until some time after an earlier reading of the clock, be it the cycle's first, is no
// measured one.
func TestSleepsUntil(t *testing.T) {
	testenv.Long(t)
	for _, reads := range []int{1, 2} {
		if reads == 2 && !testenv.Whole() {
			continue // for time
		}
		s := custom("sleeps-until", "", steps{acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			from := time.Duration(0)
			for range reads {
				from = l.Clock.Monotonic()
			}
			lease, err := take(ctx, l)
			if refused(err) {
				err = errors.Join(l.Clock.Sleep(ctx, from+2*l.TTL-l.Clock.Monotonic()), strategies.ErrNotAcquired)
			}
			return lease, err
		}})
		b := explore.Defaults(s.strategy)
		b.Cycles, b.Codes, b.Faults = 1, trace.Verdict{trace.DG, trace.FR}, explore.Budget{explore.Pause: 1}
		r, err := explore.Run(t.Context(), b, explore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if reads == 1 && (!r.Holds(trace.DG) || !r.Holds(trace.FR)) || strings.Contains(r.Why, "measured") {
			t.Errorf("after %d readings: %s", reads, r.Summary())
		}
	}
}
