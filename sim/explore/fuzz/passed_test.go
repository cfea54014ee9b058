package fuzz

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// told is a script that takes over if the number it is told lies in a window.
var told = redis.NewScript(`local n = tonumber(ARGV[3]) if redis.call("EXISTS", KEYS[1]) == 1 and not (n > 5200 and n < 7500) then return 0 end
	redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2]) return 1`)

// takesWhen is the right acquisition, but for a refused client, which has a script decide by a number.
func takesWhen(number func(context.Context, *lock, time.Duration) (time.Duration, error)) acquire {
	return func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		begin := l.Clock.Monotonic()
		lease, err := take(ctx, l)
		if !refused(err) {
			return lease, err
		}
		token, sent := l.Token(), l.Clock.Monotonic()
		n, err := number(ctx, l, sent-begin)
		if err != nil {
			return nil, err
		}
		if got, err := told.Run(ctx, l.rdb, []string{l.key}, token, l.TTL.Milliseconds(), n.Milliseconds()).Int(); err != nil || got == 0 {
			return nil, errors.Join(err, strategies.ErrNotAcquired)
		}
		return l.lease(token, sent), nil
	}
}

// passing are locks that pass a reading to a server, which decides by it, in a window of 2.3 s that no
// instant known before lies in.
var passing = []struct {
	*subject
	code trace.Code
}{
	{custom("tells-its-wait", "a script is told how long the client has waited", steps{
		acquire: takesWhen(func(_ context.Context, _ *lock, waited time.Duration) (time.Duration, error) { return waited, nil })}), trace.DG},
	{custom("tells-a-life", "a script is told how long the record still lives", steps{
		acquire: takesWhen(func(ctx context.Context, l *lock, _ time.Duration) (time.Duration, error) {
			return l.rdb.PTTL(ctx, l.key).Result()
		})}), trace.DG},
	{custom("no-life-left", "two lives are computed from that of the record, and one or the other comes to less than nothing", steps{
		acquire: takesOver(func(ctx context.Context, l *lock) (bool, error) {
			left, err := l.rdb.PTTL(ctx, l.key).Result()
			if err != nil {
				return false, err
			}
			one := l.rdb.Do(ctx, "SET", l.key+":one", "1", "PX", left.Milliseconds()-5200).Err()
			two := l.rdb.Do(ctx, "SET", l.key+":two", "1", "PX", 7500-left.Milliseconds()).Err()
			return one == nil && two == nil, nil
		})}), trace.DG},
	{custom("tells-its-age", "the release is told for how long the lease has been over", steps{
		release: func(ctx context.Context, l *lock, lease *strategies.Lease) error {
			over := l.Clock.Monotonic() - lease.Deadline
			return held(redis.NewScript(`local n = tonumber(ARGV[2]) if redis.call("GET", KEYS[1]) == ARGV[1] or n > 7200 and n < 9500 then return redis.call("DEL", KEYS[1]) end return 0`).
				Run(ctx, l.rdb, []string{l.key}, lease.Token, over.Milliseconds()).Int())
		}}), trace.FR},
	{custom("tells-the-time", "a script compares two stamps of clients", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			token, sent := l.Token(), l.Clock.Monotonic()
			n, err := redis.NewScript(`local v = redis.call("HGET", KEYS[1], "at")
				if v then local n = ARGV[3] - v if not (n > 5200 and n < 7500) then return 0 end end
				redis.call("HSET", KEYS[1], "owner", ARGV[1], "at", ARGV[3]) redis.call("PEXPIRE", KEYS[1], ARGV[2]) return 1`).
				Run(ctx, l.rdb, []string{l.key}, token, l.TTL.Milliseconds(), l.Clock.Now().UnixMilli()).Int()
			if err != nil || n == 0 {
				return nil, errors.Join(err, strategies.ErrNotAcquired)
			}
			return l.lease(token, sent), nil
		},
		release: func(ctx context.Context, l *lock, lease *strategies.Lease) error {
			return held(redis.NewScript(`if redis.call("HGET", KEYS[1], "owner") == ARGV[1] then return redis.call("DEL", KEYS[1]) end return 0`).
				Run(ctx, l.rdb, []string{l.key}, lease.Token).Int())
		}}), trace.DG},
}

// TestPassedReadingsAreFound: where a client passes its reading on, and a server decides by it, the
// search finds the instants. One client is paused for six to nine seconds.
func TestPassedReadingsAreFound(t *testing.T) {
	testenv.Long(t) // TestAgesAreFound is short
	for i, p := range passing {
		if !testenv.Some(i, 4) {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			b := explore.Defaults(p.strategy)
			b.Cycles, b.Codes, b.Faults = 1, trace.Verdict{p.code}, explore.Budget{explore.Pause: 1}
			r, err := explore.Run(t.Context(), b, explore.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(r.Found, p.code) {
				t.Errorf("%s: the search says %s", p.why, r.Summary())
			}
		})
	}
}
