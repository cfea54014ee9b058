package fuzz

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore"
	"lockstep/sim/explore/madeup"
	"lockstep/sim/explore/trials"
	"lockstep/sim/fault"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// TestLateRequestsInTheEngine: a search without bounds in which requests come late and twice never says "holds"
// of a lock that is made up where random schedules of the engine, which know nothing of how it looks at
// such requests, show a violation within its bounds.
func TestLateRequestsInTheEngine(t *testing.T) {
	testenv.Long(t)
	codes := trace.Verdict{trace.DG, trace.FR, trace.PD}
	broken, held := 0, 0
	for n := range madeup.Number {
		if !testenv.Some(n, (madeup.Number+3)/4) { // of fewer all hold
			continue
		}
		s := madeup.Lock(n, 12*time.Second)
		b := explore.Bounds{Strategy: s, Clients: 2, Cycles: explore.Any, TTL: 12 * time.Second, Codes: codes, Record: "lock",
			Faults: explore.Budget{explore.Crash: explore.Any, explore.Pause: explore.Any, explore.HoldRequest: 1, explore.Duplicate: 1}}
		r, err := explore.Run(context.Background(), b, explore.Options{Memory: 2 << 30})
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		b.Cycles, b.Faults = 3, explore.Budget{explore.Crash: 1, explore.HoldRequest: 1, explore.Duplicate: 1}
		found, err := trials.Play(context.Background(), b, 1, uint64(testenv.Count(100, 1000)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if r.Holds(f.Code) && within(f) {
				t.Errorf("%s: holds for %s, and seed %d violates it by %s\n%s", s.Name, f.Code, f.Seed, &f.Cost, f.Shrunk)
			}
		}
		if len(found) > 0 {
			broken++
		}
		if !slices.ContainsFunc(codes, func(c trace.Code) bool { return !r.Holds(c) }) {
			held++
		}
		t.Logf("%s: %s; the engine shows %d codes", s.Name, r.Summary(), len(found))
	}
	if broken == 0 || held == 0 {
		t.Errorf("random schedules violate %d locks, and %d hold", broken, held)
	}
}

// within reports whether a schedule surely has no more requests that come late at a time, or twice, than the
// search: one of each.
func within(f *trials.Found) bool {
	late, twice := 0, 0
	for _, m := range f.Shrunk.Moves {
		switch m.Fault.(type) {
		case fault.Hold, fault.Delay:
			late++
		case fault.Duplicate:
			twice++
		}
	}
	return late <= 1 && twice <= 1
}

// seen reports whether a search has met with a violation. On a slow machine it may not come to a schedule that shows it.
func seen(r *explore.Result, c trace.Code) bool {
	return r.Find(c) != nil || slices.Contains(r.Unconfirmed, c)
}

// TestDeadOnesRequests: a request of a process that has crashed is a foreign release for the one in its place, too. A's
// late cleanup removes the record that somebody has marked with A's token. B does so who has seen that, in the middle
// of a cycle, once there is another record: that of the process in A's place.
func TestDeadOnesRequests(t *testing.T) {
	testenv.Longest(t)
	cleanup := redis.NewScript(`local is = redis.call("GET", KEYS[1])
		if is and redis.call("GET", KEYS[2]) == ARGV[1] .. is then return redis.call("DEL", KEYS[1], KEYS[2]) end return 0`)
	s := custom("marks", "", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			holder, err := l.rdb.Get(ctx, l.key).Result()
			if errors.Is(err, redis.Nil) {
				token := l.Token()
				won, err := l.rdb.SetNX(ctx, l.key, token, 0).Result()
				if err == nil && !won {
					err = strategies.ErrNotAcquired
				}
				return &strategies.Lease{Token: token}, err
			} else if err != nil {
				return nil, err
			}
			err = l.rdb.Watch(ctx, func(tx *redis.Tx) error {
				next, err := tx.Get(ctx, l.key).Result()
				if err != nil || next == holder {
					return err
				}
				_, err = tx.TxPipelined(ctx, func(multi redis.Pipeliner) error { return multi.Set(ctx, "mark", holder+next, 0).Err() })
				return err
			}, l.key)
			return nil, cmp.Or(err, strategies.ErrNotAcquired)
		},
		release: func(ctx context.Context, l *lock, lease *strategies.Lease) error {
			if n, err := compareDelete.Eval(ctx, l.rdb, []string{l.key}, lease.Token).Int(); err != nil || n == 0 {
				return cmp.Or(err, strategies.ErrNotHeld)
			}
			return cleanup.Eval(ctx, l.rdb, []string{l.key, "mark"}, lease.Token).Err()
		}}, forever).strategy
	for _, faults := range []explore.Budget{
		{explore.Crash: explore.Any, explore.Duplicate: 1},
		{explore.Crash: explore.Any, explore.HoldRequest: 1},
	} {
		b := explore.Defaults(s)
		b.TTL, b.Codes, b.Cycles, b.Record, b.Faults = 3*time.Second, trace.Verdict{trace.FR}, explore.Any, "lock", faults
		r, err := explore.Run(context.Background(), b, explore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !seen(r, trace.FR) {
			t.Errorf("%s: %s", faults, r.Summary())
		}
	}
}

// TestTokensStoredLate: a client isn't done with its token because what it sends would leave an empty server as it is.
// Here the record is stored where there is a seed alone, and a copy of the client's cleanup arrives after that.
func TestTokensStoredLate(t *testing.T) {
	testenv.Long(t) // TestFieldsCount is short
	seeded := redis.NewScript(`if redis.call("EXISTS", KEYS[2]) == 1 and redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then return 1 end return 0`)
	s := custom("cleans-first", "", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			token := l.Token()
			if err := l.rdb.Set(ctx, "seed", 1, 0).Err(); err != nil {
				return nil, err
			}
			if err := compareDelete.EvalSha(ctx, l.rdb, []string{l.key}, token).Err(); err != nil {
				return nil, err
			}
			sent := l.Clock.Monotonic()
			n, err := seeded.EvalSha(ctx, l.rdb, []string{l.key, "seed"}, token, l.TTL.Milliseconds()).Int()
			if err == nil && n == 0 {
				err = strategies.ErrNotAcquired
			}
			return l.lease(token, sent), err
		},
		release: func(ctx context.Context, l *lock, lease *strategies.Lease) error {
			return held(compareDelete.EvalSha(ctx, l.rdb, []string{l.key}, lease.Token).Int())
		}}).strategy
	s.Scripts = []*redis.Script{compareDelete, seeded}
	b := explore.Defaults(s)
	b.TTL, b.Codes, b.Cycles, b.Record = 3*time.Second, trace.Verdict{trace.DG}, explore.Any, "lock"
	b.Faults = explore.Budget{explore.Crash: explore.Any, explore.Pause: explore.Any, explore.Duplicate: 1}
	r, err := explore.Run(context.Background(), b, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !seen(r, trace.DG) {
		t.Error(r.Summary())
	}
}

// TestTokensStoredAfterAll: whether a client is done with its token is learnt where no reply is late. This one stores it
// only if one is, and a copy of what it has sent before then removes that. The record is never given back, but expires.
func TestTokensStoredAfterAll(t *testing.T) {
	testenv.Longest(t) // TestTokensStoredLate is short
	s := custom("stores-after-all", "", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			token := l.Token()
			if err := compareDelete.EvalSha(ctx, l.rdb, []string{l.key}, token).Err(); err != nil {
				return nil, err
			}
			value := "anyone"
			if err := l.rdb.Get(ctx, "other").Err(); !errors.Is(err, redis.Nil) {
				value = token
			}
			sent := l.Clock.Monotonic()
			if err := l.set(ctx, l.key, value); err != nil {
				return nil, err
			}
			return l.lease(token, sent), nil
		},
		release: func(context.Context, *lock, *strategies.Lease) error { return nil }}).strategy
	s.Scripts = []*redis.Script{compareDelete}
	b := explore.Defaults(s)
	b.TTL, b.Codes, b.Cycles, b.Record = 3*time.Second, trace.Verdict{trace.DG}, explore.Any, "lock"
	b.Faults = explore.Budget{explore.Pause: explore.Any, explore.HoldRequest: 1, explore.Duplicate: 1}
	r, err := explore.Run(context.Background(), b, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !seen(r, trace.DG) {
		t.Error(r.Summary())
	}
}
