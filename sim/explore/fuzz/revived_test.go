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

var (
	takeFirst  = redis.NewScript(`if redis.call("EXISTS", KEYS[1], KEYS[2]) > 0 then return 0 end redis.call("SET", KEYS[2], "x") redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2]) return 1`)
	giveFirst  = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] then redis.call("DEL", KEYS[2]) return redis.call("DEL", KEYS[1]) end return 0`)
	takeSlowly = redis.NewScript(`if redis.call("EXISTS", KEYS[1]) == 1 then return 0 end redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[3]) redis.call("SET", KEYS[3], ARGV[1], "PX", ARGV[2]) return 1`)
	hasWaited  = redis.NewScript(`if redis.call("GET", KEYS[1]) == ARGV[1] and redis.call("EXISTS", KEYS[3]) == 0 then return 1 end return 0`)
)

// revived is a lock whose first lease is longer than its record by two TTLs. All others take the lock no sooner
// than a TTL after they have stored their record, when their lease is over, and have a thread renew that.
func revived() *subject {
	s := custom("revived", "a lease that is over is renewed in the third TTL of another", steps{acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		token, sent := l.Token(), l.Clock.Monotonic()
		keys := []string{l.key, l.key + ":first", l.key + ":mark"}
		run := func(s *redis.Script) error {
			n, err := s.Run(ctx, l.rdb, keys, token, l.TTL.Milliseconds(), 2*l.TTL.Milliseconds()).Int()
			if err == nil && n == 0 {
				err = strategies.ErrNotAcquired
			}
			return err
		}
		if err := run(takeFirst); !refused(err) {
			return &strategies.Lease{Token: token, Deadline: sent + 3*l.TTL}, err
		}
		for _, script := range []*redis.Script{takeSlowly, hasWaited} {
			if err := run(script); err != nil {
				_ = compareDelete.Run(ctx, l.rdb, keys[:1], token).Err()
				return nil, err
			}
		}
		l.Go(func() { _ = compareExpire.Run(ctx, l.rdb, keys[:1], token, l.TTL.Milliseconds()).Err() })
		return &strategies.Lease{Token: token}, nil
	}, release: func(ctx context.Context, l *lock, lease *strategies.Lease) error {
		if lease.Deadline == 0 {
			return give(ctx, l, lease)
		}
		return held(giveFirst.Run(ctx, l.rdb, []string{l.key, l.key + ":first"}, lease.Token).Int())
	}})
	s.strategy.Scripts = []*redis.Script{takeFirst, giveFirst, takeSlowly, hasWaited, compareDelete, compareExpire}
	s.ttl, s.strategy.Timeout = 4*time.Second, 4*time.Second
	return s
}

// TestRenewedWithinAStep: a record that is given a TTL less than a step of the grid after it had one left lives
// longer, although no time passes in a search without bounds. So the lease goes on.
func TestRenewedWithinAStep(t *testing.T) {
	s := revived()
	at := setting{clients: 2, cycles: 1, ttl: s.ttl, seed: 1, tries: 1}
	p := &player{subject: s}
	defer p.Close() //nolint:errcheck // it is only read
	late := s.ttl + 100*time.Millisecond
	ops := []op{{Who: 0, Count: 5}, {Wait: late}, {Who: 1, Count: 6}, {Wait: late}, {Who: 1, Count: 13}}
	if !p.shows(at, ops, trace.DG) {
		t.Fatalf("the engine shows %s: %s", p.Verdict(), p.Line())
	}
	if !testenv.CI() {
		return // for time: what TestTouchedWithinAStep searches is much like it
	}
	if r := p.endless(t, at, trace.DG); r.Holds(trace.DG) || !slices.Contains(slices.Concat(r.Found, r.Unconfirmed), trace.DG) {
		t.Error(r.Summary())
	}
}

var prolongReady = redis.NewScript(`if redis.call("EXISTS", KEYS[1]) == 1 and redis.call("GET", KEYS[1]) == redis.call("GET", KEYS[2]) then redis.call("PEXPIRE", KEYS[1], ARGV[1]) end return 0`)

// meddler prolongs the record of another, once that has been granted the lock.
func meddler() *subject {
	s := custom("meddler", "whoever is refused prolongs the holder's record", steps{acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		token := l.Token()
		if err := l.set(ctx, l.key, token); err != nil {
			if refused(err) {
				_ = prolongReady.Run(ctx, l.rdb, []string{l.key, l.key + ":ready"}, l.TTL.Milliseconds()).Err()
			}
			return nil, err
		}
		l.Go(func() { _ = l.rdb.Set(ctx, l.key+":ready", token, l.TTL).Err() })
		return &strategies.Lease{Token: token}, nil
	}})
	s.strategy.Scripts = []*redis.Script{prolongReady, compareDelete}
	s.ttl, s.strategy.Timeout = 4*time.Second, 4*time.Second
	return s
}

// TestTouchedWithinAStep: a record that is given a TTL less than a step of the grid after it had one left lives
// longer, which is a foreign release while its owner's lease is live.
func TestTouchedWithinAStep(t *testing.T) {
	testenv.Long(t)
	s := meddler()
	at := setting{clients: 2, cycles: 1, ttl: s.ttl, seed: 1, tries: 1}
	p := &player{subject: s}
	defer p.Close() //nolint:errcheck // it is only read
	shown := false
	for n := 4; n < 14 && !shown; n++ {
		shown = p.shows(at, []op{{Who: 0, Count: n}, {Wait: time.Second}, {Who: 1, Count: 14}}, trace.FR)
	}
	if !shown {
		t.Fatal("the engine doesn't show it")
	}
	if r := p.endless(t, at, trace.DG, trace.FR); r.Find(trace.FR) == nil {
		t.Error(r.Summary())
	}
}

// endless searches with any number of cycles and pauses.
func (p *player) endless(t *testing.T, at setting, codes ...trace.Code) *explore.Result {
	t.Helper()
	b := at.bounds(p.subject)
	b.Codes, b.Record, b.Cycles, b.Faults = codes, p.Config.Key, explore.Any, explore.Budget{explore.Pause: explore.Any}
	r, err := explore.Run(t.Context(), b, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}
