package explore

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/testenv"
	"lockstep/sim/trace"
)

// habit is one command of a lock that is made up. It returns whether the lock goes on.
type habit struct {
	name string
	do   func(ctx context.Context, l *keenLock, token string) (bool, error)
}

func sure(err error) (bool, error) { return true, err }

// signOf is a key besides the lock's.
func signOf(l *keenLock) string { return l.key + ":sign" }

// ways are habits on the way to the lock.
var ways = []habit{
	{"if no sign", func(ctx context.Context, l *keenLock, _ string) (bool, error) {
		n, err := l.rdb.Exists(ctx, signOf(l)).Result()
		return n == 0, err
	}},
	{"if no record", func(ctx context.Context, l *keenLock, _ string) (bool, error) {
		n, err := l.rdb.Exists(ctx, l.key).Result()
		return n == 0, err
	}},
	{"if own sign", func(ctx context.Context, l *keenLock, token string) (bool, error) {
		is, err := l.rdb.Get(ctx, signOf(l)).Result()
		if errors.Is(err, redis.Nil) {
			return false, nil
		}
		return is == token, err
	}},
	{"if first sign", func(ctx context.Context, l *keenLock, token string) (bool, error) {
		return l.rdb.SetNX(ctx, signOf(l), token, l.TTL).Result()
	}},
	{"sign", func(ctx context.Context, l *keenLock, token string) (bool, error) {
		return sure(l.rdb.Set(ctx, signOf(l), token, l.TTL).Err())
	}},
	{"wait", func(ctx context.Context, l *keenLock, _ string) (bool, error) {
		return sure(l.Clock.Sleep(ctx, l.Retry.Delay))
	}},
}

// manners are habits after a try in vain, or after the lock was given back.
var manners = []habit{
	{"sign", ways[4].do},
	{"renew sign", func(ctx context.Context, l *keenLock, _ string) (bool, error) {
		return sure(l.rdb.PExpire(ctx, signOf(l), l.TTL).Err())
	}},
	{"no sign", func(ctx context.Context, l *keenLock, _ string) (bool, error) {
		return sure(l.rdb.Del(ctx, signOf(l)).Err())
	}},
	{"not own sign", func(ctx context.Context, l *keenLock, token string) (bool, error) {
		return sure(compareDelete.Run(ctx, l.rdb, []string{signOf(l)}, token).Err())
	}},
	{"no record", func(ctx context.Context, l *keenLock, _ string) (bool, error) {
		return sure(l.rdb.Del(ctx, l.key).Err())
	}},
	ways[5],
}

// madeUp makes a lock up.
func madeUp(rng *rand.Rand) (text string, set func(*keenLock)) {
	pick := func(from []habit, most int) (some []habit) {
		for range rng.IntN(most + 1) {
			some = append(some, from[rng.IntN(len(from))])
		}
		return some
	}
	before, after, vain, back := pick(ways, 2), pick(ways[:4], 1), pick(manners, 2), pick(manners, 1)
	delays := 1 + rng.IntN(6)
	text = fmt.Sprintf("before %v, after %v, in vain %v, back %v, %d delays", names(before), names(after), names(vain), names(back), delays)
	return text, func(l *keenLock) {
		l.idly, l.idle = true, time.Duration(delays)*l.Retry.Delay
		l.try = func(ctx context.Context, l *keenLock, token string) (bool, error) {
			if on, err := follow(ctx, l, token, before); err != nil || !on {
				return false, err
			}
			if won, err := setNX(ctx, l, token); err != nil || !won {
				return false, err
			}
			on, err := follow(ctx, l, token, after)
			if err == nil && !on {
				err = compareDelete.Run(ctx, l.rdb, []string{l.key}, token).Err()
			}
			return on, err
		}
		l.late = func(ctx context.Context, l *keenLock, token string) error {
			_, err := follow(ctx, l, token, vain)
			return err
		}
		l.back = func(ctx context.Context, l *keenLock, token string) error {
			_, err := follow(ctx, l, token, back)
			return err
		}
	}
}

func names(habits []habit) (list []string) {
	for _, h := range habits {
		list = append(list, h.name)
	}
	return list
}

// follow does one habit after the other, for as long as the lock goes on.
func follow(ctx context.Context, l *keenLock, token string, habits []habit) (on bool, err error) {
	for _, h := range habits {
		if on, err = h.do(ctx, l, token); err != nil || !on {
			return on, err
		}
	}
	return true, nil
}

// TestLivelocksAtRandom: of locks that are made up at random, the graph of the search says what one
// says that the engine alone has made.
func TestLivelocksAtRandom(t *testing.T) {
	testenv.Long(t)
	decided := map[string]int{}
	for seed := range uint64(400) {
		if !testenv.Some(int(seed), 240) {
			continue
		}
		rng := rand.New(rand.NewPCG(seed, 31))
		text, set := madeUp(rng)
		b := Bounds{Strategy: keen(1, time.Millisecond, set), Clients: 2, Cycles: Any, Tries: 2, TTL: time.Duration(1+rng.IntN(4)) * time.Millisecond, Codes: trace.Verdict{trace.LV}}
		if rng.IntN(2) == 0 {
			b.Strategy = keen(1, 2*time.Millisecond, set)
			b.TTL *= 2
		}
		if rng.IntN(3) == 0 {
			b.Faults[Crash] = Any
		}
		text = fmt.Sprintf("seed %d: %s, TTL %s, delay %s, faults %s", seed, text, b.TTL, b.Strategy.Retry.Delay, b.Faults)
		r, err := Run(context.Background(), b, Options{Memory: 300 << 20})
		if err != nil {
			decided["refused"]++
			t.Logf("%s: %s", text, err)
			continue
		}
		f := r.Finding(trace.LV)
		decided[f.Answer.String()]++
		if r.Liveness == nil || r.States > 3_000 {
			decided["too large"]++
			continue
		}
		g := bruteGraph(t, b)
		if err := agreesWith(g, r); err != nil {
			t.Errorf("%s: %s", text, err)
		}
		t.Logf("%s: %s, wait %s %s", text, f, r.Liveness.Wait, r.Liveness.Unbounded)
	}
	t.Log(decided)
}

// agreesWith fails if the search says of livelocks what the engine refutes.
func agreesWith(g *engineGraph, r *Result) error {
	f, l, livelock, wait := r.Finding(trace.LV), r.Liveness, g.livelock(), g.wait()
	switch {
	case f.Answer.Holds() && livelock, f.Answer == Violated && !livelock:
		return fmt.Errorf("%s, and by brute force: livelock %t", f, livelock)
	case l.Unbounded == "" && (wait > l.Wait+time.Millisecond || wait == trace.Never):
		return fmt.Errorf("the longest wait is %s, and by brute force %s", l.Wait, wait)
	case l.Unbounded == "" && wait < l.Wait-time.Millisecond:
		return fmt.Errorf("the longest wait is %s, and by brute force only %s", l.Wait, wait)
	}
	return nil
}
