package fuzz

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

var (
	hints = redis.NewScript(`
local left = redis.call("PTTL", KEYS[1])
if left > 0 then redis.call("SET", KEYS[2], math.ceil(left / 1000)) return 0 end
redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
redis.call("DEL", KEYS[2])
return 1`)
	permit = redis.NewScript(`
if redis.call("EXISTS", KEYS[2]) == 0 then redis.call("SET", KEYS[2], 1) redis.call("RPUSH", KEYS[3], "permit") end
if not redis.call("LPOP", KEYS[3]) then return 0 end
redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
return 1`)
	permitBack = redis.NewScript(`
if redis.call("GET", KEYS[1]) ~= ARGV[1] then return 0 end
redis.call("DEL", KEYS[1])
return redis.call("RPUSH", KEYS[2], "permit")`)
)

// granted reads a script's answer, which is 1 if the lock was acquired.
func granted(n int64, err error) error {
	if err == nil && n != 1 {
		err = strategies.ErrNotAcquired
	}
	return err
}

// hinted is a lock that writes down what is left of the holder's record when it is refused, and
// that takes over when it finds certain numbers there.
func hinted(at func(int) bool, note func(context.Context, *lock, string) error) steps {
	return steps{acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		token, sent := l.Token(), l.Clock.Monotonic()
		hint, err := l.rdb.Get(ctx, l.key+":hint").Result()
		if err != nil && !errors.Is(err, redis.Nil) {
			return nil, err
		}
		if n, _ := strconv.Atoi(hint); at(n) {
			return seize(ctx, l)
		}
		if err := note(ctx, l, token); err != nil {
			return nil, err
		}
		return l.lease(token, sent), nil
	}}
}

// hintedByScript is a lock whose script writes down what is left of the holder's record when it
// refuses, and seizes it if it finds a certain number there.
func hintedByScript(seizes, note string) steps {
	script := redis.NewScript(seizes + `
if not seizes then
  if redis.call("EXISTS", KEYS[1]) == 1 then
    local left = redis.call("PTTL", KEYS[1])
    ` + note + `
    return 0
  end
end
redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2])
redis.call("DEL", KEYS[2])
return 1`)
	return steps{acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		token, sent := l.Token(), l.Clock.Monotonic()
		n, err := script.Run(ctx, l.rdb, []string{l.key, l.key + ":hint"}, token, l.TTL.Milliseconds()).Int64()
		if err := granted(n, err); err != nil {
			return nil, err
		}
		return l.lease(token, sent), nil
	}}
}

// stored are locks of which somebody writes down how long a record still lives, or how long it has
// waited, and somebody else decides by the number later.
var stored = []*subject{
	custom("hint-by-script", "five seconds are left of A's record when B is refused; B finds the 5, and seizes it", hinted(func(n int) bool { return n == 5 }, func(ctx context.Context, l *lock, token string) error {
		return granted(hints.Run(ctx, l.rdb, []string{l.key, l.key + ":hint"}, token, l.TTL.Milliseconds()).Int64())
	})),
	custom("hint-in-json", "the script that finds a number between 4000 and 5000 in a text decides by it",
		hintedByScript(`local hint = redis.call("GET", KEYS[2]) local n = hint and cjson.decode(hint).left or 0 local seizes = n > 4000 and n < 5000`,
			`redis.call("SET", KEYS[2], cjson.encode({left = left}))`)),
	custom("hint-by-client", "the same with milliseconds between 4000 and 5000, which a client writes down", hinted(func(n int) bool { return n > 4000 && n < 5000 }, func(ctx context.Context, l *lock, token string) error {
		err := l.set(ctx, l.key, token)
		if refused(err) {
			left, failed := l.rdb.PTTL(ctx, l.key).Result()
			return errors.Join(err, failed, l.rdb.Set(ctx, l.key+":hint", left.Milliseconds(), 0).Err())
		}
		return err
	})),
	custom("hint-in-hash", "the same in a field of a hash", hintedByScript(`local n = tonumber(redis.call("HGET", KEYS[2], "left") or "0") local seizes = n > 4000 and n < 5000`,
		`redis.call("HSET", KEYS[2], "left", left)`)),
	custom("hint-in-words", "five seconds in a text", hintedByScript(`local seizes = redis.call("GET", KEYS[2]) == "left: 5"`,
		`redis.call("SET", KEYS[2], string.format("left: %d", math.ceil(left / 1000)))`)),
	custom("hint-of-a-wait", "B's refusal took five seconds; B finds the 5", hinted(func(n int) bool { return n == 5 }, func(ctx context.Context, l *lock, token string) error {
		sent := l.Clock.Monotonic()
		err := l.set(ctx, l.key, token)
		if refused(err) {
			return errors.Join(err, l.rdb.Set(ctx, l.key+":hint", int64((l.Clock.Monotonic()-sent)/time.Second), 0).Err())
		}
		return err
	})),
}

func TestStoredSpansAreFound(t *testing.T) {
	testenv.Long(t) // TestMeasuredSpans is short
	for i, s := range stored {
		if !testenv.Some(i+5, 6) { // the quickest
			continue
		}
		b := explore.Defaults(s.strategy)
		b.Codes, b.Faults = trace.Verdict{trace.DG}, explore.Budget{explore.Pause: 1}
		r, err := explore.Run(context.Background(), b, explore.Options{})
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		undecided := s.name == "hint-of-a-wait" && r.Finding(trace.DG).Answer == explore.NotDecided // each second makes a difference
		if r.Find(trace.DG) == nil && !undecided {
			t.Errorf("%s: %s", s.name, r.Summary())
		}
	}
}

// A permit that a client has taken with it when it crashed is no record of the lock's.
func TestLostPermitIsNoPass(t *testing.T) {
	s := custom("permit", "a client takes the only permit from a list, and crashes", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			token, sent := l.Token(), l.Clock.Monotonic()
			n, err := permit.Run(ctx, l.rdb, []string{l.key, l.key + ":made", l.key + ":permits"}, token, l.TTL.Milliseconds()).Int64()
			if err := granted(n, err); err != nil {
				return nil, err
			}
			return l.lease(token, sent), nil
		},
		release: func(ctx context.Context, l *lock, lease *strategies.Lease) error {
			return held(permitBack.Run(ctx, l.rdb, []string{l.key, l.key + ":permits"}, lease.Token).Int())
		}})
	b := explore.Defaults(s.strategy)
	b.Cycles, b.Faults = 1, explore.Budget{explore.Crash: 1}
	r, err := explore.Run(context.Background(), b, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if f := r.Finding(trace.PD); f.Answer != explore.NotDecided || !strings.Contains(strings.Join(f.Because, " "), "a permit that it took") {
		t.Errorf("%s: %s", f.Answer, f.Because)
	}
	if f := r.Finding(trace.DG); !f.Answer.Holds() {
		t.Errorf("DG: %s", f.Answer)
	}
}
