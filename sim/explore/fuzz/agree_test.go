package fuzz

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// byOffset asks for the server's time once, and tells a script from then on what time it must be
// by its own clock. If it were told so more than five seconds late, it would take the lock over.
func byOffset() strategies.Strategy {
	script := redis.NewScript(`local t = redis.call("TIME")
		if redis.call("EXISTS", KEYS[1]) == 1 and t[1] * 1000 + math.floor(t[2] / 1000) - ARGV[3] < 5000 then return 0 end
		redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2]) return 1`)
	return custom("by-offset", "", steps{acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		if l.until == 0 {
			now, err := l.rdb.Time(ctx).Result()
			if err != nil {
				return nil, err
			}
			l.until = time.Duration(now.UnixNano()) - l.Clock.Monotonic()
		}
		token, sent := l.Token(), l.Clock.Monotonic()
		if err := held(script.Run(ctx, l.rdb, []string{l.key}, token, l.TTL.Milliseconds(), (sent + l.until).Milliseconds()).Int()); err != nil {
			return nil, strategies.ErrNotAcquired
		}
		return l.lease(token, sent), nil
	}}).strategy
}

// TestClocksKeepUp: a monotonic clock that wasn't looked at for a hundred TTLs goes on like true
// time beside it. Where it stood still, what a client told the server came late.
func TestClocksKeepUp(t *testing.T) {
	testenv.Longest(t)
	b := explore.Defaults(byOffset())
	b.Remembers, b.Faults, b.Codes = true, explore.Budget{}, trace.Verdict{trace.DG}
	r, err := explore.Run(t.Context(), b, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Found) > 0 {
		t.Errorf("without a fault nothing is late, and the search says %s", r.Summary())
	}
}

// byTicket takes a ticket for good, and asks for another only after it was served. The counter
// passes for the lock's record.
func byTicket() strategies.Strategy {
	return custom("by-ticket", "", steps{acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		if l.count == 0 {
			n, err := l.rdb.Incr(ctx, l.key).Result()
			if err != nil {
				return nil, err
			}
			l.count = n
		}
		served, err := l.rdb.Get(ctx, l.key+":served").Int64()
		switch {
		case err != nil && err != redis.Nil: //nolint:errorlint // it is never wrapped here
			return nil, err
		case served+1 != l.count:
			return nil, strategies.ErrNotAcquired
		}
		return &strategies.Lease{Token: l.Token()}, nil
	}, release: func(ctx context.Context, l *lock, _ *strategies.Lease) error {
		l.count = 0
		return l.rdb.Incr(ctx, l.key+":served").Err()
	}}, forever).strategy
}

// TestProbesOwnRecord: what the probe has left behind at an earlier try keeps it out as well as
// another's record would, in the search as in the engine.
func TestProbesOwnRecord(t *testing.T) {
	b := explore.Defaults(byTicket())
	b.Record, b.Cycles = "lock", 1
	b.Faults, b.Codes = explore.Budget{explore.Crash: 1}, trace.Verdict{trace.PD}
	r, err := explore.Run(t.Context(), b, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(r.Found, trace.PD) {
		t.Errorf("a dead client's ticket is never served, and the search says %s", r.Summary())
	}
}
