package explore

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// keenLock asks as often as it is told to, with a delay between two tries.
type keenLock struct {
	nodes []*redis.Client
	rdb   *redis.Client // the first of them
	key   string
	strategies.Options
	try  func(ctx context.Context, l *keenLock, token string) (won bool, err error)
	late func(ctx context.Context, l *keenLock, token string) error // after a try in vain; nil: nothing
	back func(ctx context.Context, l *keenLock, token string) error // after the lock was given back; nil: nothing
	idle time.Duration                                              // a delay of its own, instead of the one that it is told
	idly bool                                                       // it has one
}

func (l *keenLock) Acquire(ctx context.Context) (*strategies.Lease, error) {
	for n := 1; ; n++ {
		token := l.Token()
		won, err := l.try(ctx, l, token)
		if err == nil && won {
			return &strategies.Lease{Token: token}, nil
		}
		if l.late != nil {
			err = errors.Join(err, l.late(ctx, l, token))
		}
		if err != nil {
			return nil, err
		}
		if n == l.Retry.Tries {
			return nil, strategies.ErrNotAcquired
		}
		delay := l.Retry.Delay
		if l.idly {
			delay = l.idle
		}
		if err := l.Clock.Sleep(ctx, delay); err != nil {
			return nil, err
		}
	}
}

func (l *keenLock) Release(ctx context.Context, lease *strategies.Lease) error {
	var failed error
	for _, node := range l.nodes {
		failed = errors.Join(failed, compareDelete.Run(ctx, node, []string{l.key}, lease.Token).Err())
	}
	if l.back != nil {
		failed = errors.Join(failed, l.back(ctx, l, lease.Token))
	}
	return failed
}

// setNX is the try of a right lock.
func setNX(ctx context.Context, l *keenLock, token string) (bool, error) {
	return l.rdb.SetNX(ctx, l.key, token, l.TTL).Result()
}

// splitVotes asks each server, and gives its votes back without a majority: Redlock's try, without its clock.
func splitVotes(ctx context.Context, l *keenLock, token string) (bool, error) {
	if won, err := keepsVotes(ctx, l, token); err != nil || won {
		return won, err
	}
	return false, l.Release(ctx, &strategies.Lease{Token: token})
}

// keepsVotes asks each server, and leaves its votes to expire without a majority.
func keepsVotes(ctx context.Context, l *keenLock, token string) (bool, error) {
	votes := 0
	for _, node := range l.nodes {
		won, err := node.SetNX(ctx, l.key, token, l.TTL).Result()
		if err != nil {
			return false, err
		}
		if won {
			votes++
		}
	}
	return votes > len(l.nodes)/2, nil
}

// spoils takes the other's record away if there is one, and else has the lock only if nobody has
// done the same to its own.
func spoils(ctx context.Context, l *keenLock, token string) (bool, error) {
	if won, err := setNX(ctx, l, token); err != nil || !won {
		return false, errors.Join(err, l.rdb.Del(ctx, l.key).Err())
	}
	is, err := l.rdb.Get(ctx, l.key).Result()
	if errors.Is(err, redis.Nil) {
		return false, nil
	}
	return is == token, err
}

// warned puts up a sign after a try in vain, and whoever finds the sign renews it and goes away.
func warned(ctx context.Context, l *keenLock, token string) (bool, error) {
	sign := l.key + ":sign"
	if n, err := l.rdb.Exists(ctx, sign).Result(); err != nil || n > 0 {
		return false, errors.Join(err, l.rdb.PExpire(ctx, sign, l.TTL).Err())
	}
	won, err := setNX(ctx, l, token)
	if err == nil && !won {
		err = l.rdb.Set(ctx, sign, "busy", l.TTL).Err()
	}
	return won, err
}

// polite announces itself under a key of its own kind, and steps back if the other has, too. Both
// keys are in one hash: how many fields it has tells.
func polite(ctx context.Context, l *keenLock, token string) (bool, error) {
	hall := l.key + ":hall"
	if err := l.rdb.HSet(ctx, hall, token, "here").Err(); err != nil {
		return false, err
	}
	if n, err := l.rdb.HLen(ctx, hall).Result(); err != nil || n > 1 {
		return false, errors.Join(err, l.rdb.HDel(ctx, hall, token).Err())
	}
	won, err := setNX(ctx, l, token)
	return won, errors.Join(err, l.rdb.HDel(ctx, hall, token).Err())
}

// keen is a strategy with a keenLock. Its timeout is three delays.
func keen(nodes int, delay time.Duration, set func(*keenLock)) strategies.Strategy {
	s := strategies.Strategy{Name: "keen", Nodes: nodes, Timeout: 3 * delay, Retry: strategies.Retry{Delay: delay}, Scripts: []*redis.Script{compareDelete}}
	s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		l := &keenLock{nodes: nodes, rdb: nodes[0], key: key, Options: o, try: setNX}
		set(l)
		return l
	}
	return s
}

// livelocks are locks, and what a search says of LV and of the longest wait.
var livelocks = []struct {
	name    string
	nodes   int
	set     func(*keenLock)
	faults  Budget
	delay   time.Duration // 0 is 4 ms
	clients int
	want    string        // LV's finding begins so
	wait    time.Duration // 0 is none
	without string        // a part of the reason
}{
	{name: "right", nodes: 1, set: func(*keenLock) {}, want: "holds for every schedule of 2 clients"},
	{name: "right, crashes", nodes: 1, set: func(*keenLock) {}, faults: Budget{Crash: Any}, want: "holds for every schedule of 2 clients", wait: 16 * time.Millisecond},
	{name: "right, lost replies", nodes: 1, set: func(*keenLock) {}, faults: Budget{ReplyLost: Any}, delay: time.Millisecond, want: "holds for every schedule of 2 clients"},
	{name: "right, pauses", nodes: 1, set: func(*keenLock) {}, faults: Budget{Crash: Any, Pause: Any}, delay: time.Millisecond, want: "holds for every schedule of 2 clients", wait: 4 * time.Millisecond},
	{name: "right, three clients", nodes: 1, set: func(*keenLock) {}, clients: 3, want: "holds for every schedule of 3 clients"},
	{name: "votes, 2 servers", nodes: 2, set: func(l *keenLock) { l.try = splitVotes }, want: "violated", without: "none is ever granted"},
	{name: "votes, 3 servers", nodes: 3, set: func(l *keenLock) { l.try = splitVotes }, want: "holds for every schedule of 2 clients"},
	{name: "votes, not given back", nodes: 2, set: func(l *keenLock) { l.try = keepsVotes }, want: "violated", without: "none is ever granted"},
	{name: "never expires, lost replies", nodes: 1, set: func(l *keenLock) { l.TTL = 0 }, faults: Budget{ReplyLost: Any}, want: "violated", without: "none is ever granted"},
	{name: "spoils", nodes: 1, set: func(l *keenLock) { l.try = spoils }, want: "violated", without: "none is ever granted"},
	{name: "spoils, crashes", nodes: 1, set: func(l *keenLock) { l.try = spoils }, faults: Budget{Crash: Any}, want: "violated", without: "none is ever granted"},
	{name: "polite", nodes: 1, set: func(l *keenLock) { l.try = polite }, want: "violated", without: "none is ever granted"},
	{name: "warned", nodes: 1, set: func(l *keenLock) { l.try = warned }, want: "violated", without: "none is ever granted"},
	{name: "warned, just in time", nodes: 1, set: func(l *keenLock) { l.try, l.idly, l.idle = warned, true, 2*l.TTL }, want: "violated", without: "none is ever granted"},
	{name: "warned, too late", nodes: 1, set: func(l *keenLock) { l.try, l.idly, l.idle = warned, true, 2*l.TTL+4*time.Millisecond }, want: "holds for every schedule of 2 clients"},
	{name: "never expires, crashes", nodes: 1, set: func(l *keenLock) { l.TTL = 0 }, faults: Budget{Crash: Any},
		want: "not decided, because clients are kept out for ever by a record that somebody has left behind", without: "none is ever granted"},
	{name: "spins", nodes: 1, set: func(l *keenLock) { l.idly = true }, want: "not decided, because clients ask again and again without waiting", without: "without waiting"},
}

// mostCompared is the number of states beyond which a graph isn't compared with the engine's own.
func mostCompared() int64 {
	switch {
	case testenv.Whole():
		return math.MaxInt64
	case testenv.CI():
		return 3000
	}
	return 2000
}

// TestLivelocks: a search that closes finds livelocks, of which the engine plays two turns, and says
// of other locks that there is none. How long a free lock is waited for at most is what a
// brute force finds that shares nothing with the search.
func TestLivelocks(t *testing.T) {
	for i, tc := range livelocks {
		if !testenv.Some(i, 5) || !testenv.CI() && (tc.name == "spoils, crashes" || tc.name == "votes, 2 servers") { // "never expires, crashes" waits as long
			continue
		}
		t.Run(tc.name, func(t *testing.T) {
			delay := cmp.Or(tc.delay, 4*time.Millisecond)
			b := Bounds{Strategy: keen(tc.nodes, delay, tc.set), Clients: cmp.Or(tc.clients, 2), Cycles: Any, Tries: 2, TTL: 3 * delay, Faults: tc.faults, Codes: trace.Verdict{trace.LV}}
			r, err := Run(context.Background(), b, Options{Memory: 1 << 30})
			if err != nil {
				t.Fatal(err)
			}
			f := r.Finding(trace.LV)
			t.Logf("%d states: %s; %+v", r.States, f, r.Liveness)
			if !strings.HasPrefix(f.String(), tc.want) {
				t.Fatalf("%s (closed %t), expected %s", f, r.Closed, tc.want)
			}
			if got := r.Liveness.Unbounded; got == "" && tc.without != "" || !strings.Contains(got, tc.without) || tc.wait != 0 && r.Liveness.Wait != tc.wait {
				t.Errorf("it waits for %s, or not: %q; expected %s or %q", r.Liveness.Wait, got, tc.wait, tc.without)
			}
			if v := r.Find(trace.LV); v != nil && !slices.Contains(v.Trace.Verdict(), trace.LV) {
				t.Errorf("the engine plays %s", v.Trace.Verdict())
			}
			if testenv.Raced || r.States > mostCompared() {
				return
			}
			g := bruteGraph(t, b)
			if err := agreesWith(g, r); err != nil {
				t.Error(err)
			}
			if wait := g.wait(); tc.without != "without waiting" && (r.Liveness.Unbounded != "") != (wait == trace.Never) {
				t.Errorf("the wait is unbounded: %q, and by brute force it is %s", r.Liveness.Unbounded, wait)
			}
		})
	}
}

// TestLivelocksOfTheCatalogue: the same for locks of the catalogue, with a delay of a third of their
// TTL between two tries. Of Redlock without its clock, two clients split the votes of two servers.
func TestLivelocksOfTheCatalogue(t *testing.T) {
	testenv.Long(t) // TestLivelocks is short
	for _, tc := range []struct {
		name  string
		nodes int
		crash bool
		want  Answer
		wait  time.Duration
	}{
		{"setpx-lua", 1, false, HoldsAlways, 4 * time.Millisecond},
		{"setpx-lua", 1, true, HoldsAlways, 16 * time.Millisecond},
		{"setpx-delex", 1, true, HoldsAlways, 16 * time.Millisecond},
		{"setpx-wait", 1, true, HoldsAlways, 16 * time.Millisecond},
		{"setpx-get", 1, true, HoldsAlways, 16 * time.Millisecond},
		{"naive-del", 1, true, HoldsAlways, 16 * time.Millisecond},
		{"setnx-expire", 1, true, NotDecided, 0},
		{"redlock-no-elapsed", 2, false, Violated, 0},
		{"redlock-no-elapsed", 3, false, HoldsAlways, 4 * time.Millisecond},
	} {
		alike := tc.crash && tc.name != "setpx-lua" && tc.name != "setnx-expire" // it repeats what setpx-lua shows
		if !testenv.Whole() && alike {
			continue
		}
		delay := 4 * time.Millisecond
		if tc.name == "setnx-expire" {
			delay = 20 * time.Millisecond // its record lives for a whole second
		}
		b := Bounds{Strategy: strategy(t, tc.name), Clients: 2, Cycles: Any, Tries: 2, TTL: 3 * delay, Timeout: 3 * delay, Codes: trace.Verdict{trace.LV}}
		if b.Strategy.Retry = (strategies.Retry{Delay: delay}); tc.nodes > 1 {
			b.Nodes = tc.nodes
		}
		if tc.crash {
			b.Faults[Crash] = Any
		}
		r, err := Run(context.Background(), b, Options{Memory: 1 << 30})
		if err != nil {
			t.Errorf("%s: %v", tc.name, err)
			continue
		}
		f := r.Finding(trace.LV)
		if t.Logf("%s, %d servers, %s: %d states: %s, %+v", tc.name, tc.nodes, b.Faults, r.States, f, r.Liveness); f.Answer != tc.want || r.Liveness.Wait != tc.wait {
			t.Errorf("%s: %s and %s, expected %s and %s", tc.name, f, r.Liveness.Wait, tc.want, tc.wait)
		}
		if testenv.Raced || r.States > min(50_000, mostCompared()) {
			continue
		}
		if err := agreesWith(bruteGraph(t, b), r); err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
}

// TestLivelocksOffTheGrid: where a record lives for 3 ms, and all else takes a multiple of 4, time goes on
// by single milliseconds, and the wait is as in the engine's own graph.
func TestLivelocksOffTheGrid(t *testing.T) {
	testenv.Long(t) // TestLivelocks is short
	const delay = 4 * time.Millisecond
	lock := keen(1, delay, func(l *keenLock) {
		l.late = func(ctx context.Context, l *keenLock, token string) error {
			return l.rdb.Set(ctx, l.key+":sign", token, 3*time.Millisecond).Err()
		}
	})
	b := Bounds{Strategy: lock, Clients: 2, Cycles: Any, Tries: 2, TTL: 2 * delay, Codes: trace.Verdict{trace.LV}}
	r, err := Run(context.Background(), b, Options{Memory: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	if err := agreesWith(bruteGraph(t, b), r); r.Grid != time.Millisecond || err != nil {
		t.Errorf("by %s: %v", r.Grid, err)
	}
}
