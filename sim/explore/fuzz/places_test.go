package fuzz

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// byGeneration is a lock whose script counts the acquisitions, modulo some number, and lets another
// client take over in one generation, if a condition holds of what is left of the record's life.
func byGeneration(modulo, generation int, left string) strategies.Strategy {
	script := redis.NewScript(fmt.Sprintf(`local g = tonumber(redis.call("GET", KEYS[2]) or "0") local left = redis.call("PTTL", KEYS[1])
		if redis.call("EXISTS", KEYS[1]) == 1 and not (g == %d and %s) then return 0 end
		redis.call("SET", KEYS[2], (g + 1) %% %d) redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2]) return 1`, generation, left, modulo))
	return custom(fmt.Sprintf("generation-%d", generation), "", steps{acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		token, sent := l.Token(), l.Clock.Monotonic()
		if err := held(script.Run(ctx, l.rdb, []string{l.key, l.key + ":generation"}, token, l.TTL.Milliseconds()).Int()); err != nil {
			return nil, strategies.ErrNotAcquired
		}
		return l.lease(token, sent), nil
	}}).strategy
}

// byCount is a lock whose clients take over in the third generation.
var byCount = custom("third-generation", "", steps{acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
	lease, err := take(ctx, l)
	switch {
	case err == nil:
		return lease, l.rdb.Incr(ctx, l.key+":generation").Err()
	case !refused(err):
		return nil, err
	}
	generation, err := l.rdb.Get(ctx, l.key+":generation").Result()
	if err != nil {
		return nil, strategies.ErrNotAcquired
	}
	if left, err := l.rdb.PTTL(ctx, l.key).Result(); err != nil || generation != "3" || left < 5200*time.Millisecond || left > 7500*time.Millisecond {
		return nil, strategies.ErrNotAcquired
	}
	return seize(ctx, l)
}}).strategy

// TestEachPlaceIsProbed: what a record's life decides in one situation alone is found there, although
// the first situations in which the same command was seen show nothing. A has the lock, B has, A has
// it again and is paused for six seconds, B takes over.
func TestEachPlaceIsProbed(t *testing.T) {
	for i, s := range []strategies.Strategy{byGeneration(9, 3, "left > 5200 and left < 7500"), byCount} {
		if !testenv.Some(i, 2) {
			continue
		}
		t.Run(s.Name, func(t *testing.T) {
			b := explore.Defaults(s)
			b.Codes, b.Faults[explore.Crash] = trace.Verdict{trace.DG}, 0
			r, err := explore.Run(t.Context(), b, explore.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(r.Found, trace.DG) {
				t.Errorf("the search says %s", r.Summary())
			}
		})
	}
}

// TestLateThresholdsDontClose: a script that takes over below 3 s in the sixth generation alone isn't
// said to hold for every schedule. No small search comes to that, and at the multiples of 3 s at
// which time stops nothing of it shows.
func TestLateThresholdsDontClose(t *testing.T) {
	b := explore.Defaults(byGeneration(6, 5, "left < 3000"))
	b.Cycles, b.Faults, b.Codes = explore.Any, explore.Budget{explore.Pause: explore.Any}, trace.Verdict{trace.DG, trace.FR}
	r, err := explore.Run(t.Context(), b, explore.Options{})
	if err == nil && r.Holds(trace.DG) {
		t.Errorf("the search says %s", r.Summary())
	}
}
