package explore

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// closing are bounds without a bound on cycles, pauses, crashes and lost replies.
func closing(t testing.TB, name string) Bounds {
	b := Defaults(strategy(t, name))
	b.Cycles = Any
	b.Codes = trace.Verdict{trace.DG, trace.FR, trace.PD}
	b.Faults = Budget{Crash: Any, Pause: Any, ReplyLost: Any}
	return b
}

// TestCloses: without bounds on cycles, pauses, crashes and lost replies the search of a lock
// on one node that reads no clock but its own comes to an end. What it finds, the engine
// confirms. Most locks of which TestClosesWithAnyClients searches more are left to the larger run.
func TestCloses(t *testing.T) {
	for name, want := range map[string]string{
		"setpx-lua": "ok", "setpx-delex": "ok", "setpx-autoretry": "ok", "setpx-watch": "ok", "setpx-wait": "ok",
		"setnx-expire": "DG FR PD", "naive-del": "DG FR", "get-then-del": "DG FR",
	} {
		short := name == "setpx-lua" || testenv.CI() && (name == "naive-del" || name == "setpx-autoretry")
		if testenv.Raced && name != "setpx-lua" || !testenv.Whole() && !short {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r, err := Run(context.Background(), closing(t, name), Options{Memory: 4 << 30})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states", r.States)
			if !r.Closed || r.Found.String() != want {
				t.Errorf("closed %t (%s), found %v, expected %s", r.Closed, r.Why, r.Found, want)
			}
		})
	}
}

// TestClosesWithMore: it closes with three clients as well, and with requests that are held up
// or arrive twice.
func TestClosesWithMore(t *testing.T) {
	testenv.Long(t)
	more, late := closing(t, "setpx-lua"), closing(t, "setpx-lua")
	more.Clients, late.Faults[HoldRequest], late.Faults[Duplicate] = 3, 1, 1
	all := map[string]Bounds{"late requests": late}
	if testenv.Whole() { // millions of states
		watch := closing(t, "setpx-watch")
		watch.Faults = late.Faults
		all["three clients"], all["late transactions"] = more, watch
	}
	for name, b := range all {
		r, err := Run(context.Background(), b, Options{Memory: 4 << 30})
		if err != nil {
			t.Fatal(name, err)
		}
		if t.Logf("%s: %d states", name, r.States); r.Answer() != HoldsAlways {
			t.Errorf("%s: %s", name, r.Summary())
		}
	}
}

// TestRedlockCloses: so does Redlock on three servers, which compares its clock with its lease before it
// believes in its majority. With crashes as well there are 1.3 million states. Where replies may be lost,
// its timeout of 50 ms would make 240 instants of a TTL; with one of a TTL there are 26 million.
func TestRedlockCloses(t *testing.T) {
	testenv.Longest(t)
	b := closing(t, "redlock")
	b.Timeout = b.TTL
	r, err := Run(context.Background(), b, Options{Memory: 8 << 30})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d states, %s at multiples of %s", r.States, r.Branches, r.Grid)
	if want := []time.Duration{11878 * time.Millisecond}; r.Answer() != HoldsAlways || !slices.Equal(r.Branches, want) {
		t.Errorf("%s, with thresholds at %s", r.Summary(), r.Branches)
	}
}

// TestWatchdogCloses: so does a lock with a thread of its own, in which a client asks again when that has
// ended.
func TestWatchdogCloses(t *testing.T) {
	b := small(t, "watchdog")
	if testenv.Whole() { // millions of states
		b = closing(t, "watchdog")
		b.Faults[Duplicate], b.Faults[HoldRequest] = 1, 1
	}
	r, err := Run(context.Background(), b, Options{Memory: 4 << 30})
	if err != nil {
		t.Fatal(err)
	}
	if t.Logf("%d states", r.States); r.Answer() != HoldsAlways || !r.Threads {
		t.Errorf("%s, threads: %t", r.Summary(), r.Threads)
	}
}

// TestThreadsAreUncertified: no certificate can be made of a lock with a thread of its own.
func TestThreadsAreUncertified(t *testing.T) {
	testenv.Long(t)
	if _, err := Run(context.Background(), small(t, "watchdog"), Options{Certify: true}); err == nil || !strings.Contains(err.Error(), "watchdog starts threads of its own") {
		t.Error(err)
	}
}

// TestClosesWithAnyClients: two clients and an environment in place of all others come to an
// end. What two or three clients violate is violated, and what the environment alone can do
// isn't decided.
func TestClosesWithAnyClients(t *testing.T) {
	testenv.Long(t) // TestCloses is short
	for name, want := range map[string]string{
		"setpx-lua":    "holds for every schedule of any number of clients",
		"setpx-delex":  "holds for every schedule of any number of clients",
		"setpx-watch":  "holds for every schedule of any number of clients",
		"naive-del":    "violated (DG, FR)",
		"get-then-del": "violated (DG, FR)",
		"fixed-value":  "violated (DG, FR)",
		"setnx-expire": "violated (DG, FR, PD)",
	} {
		short := name == "setpx-lua" || name == "setpx-watch" || name == "get-then-del"
		if testenv.Raced && name != "setpx-lua" || !testenv.Whole() && !short {
			continue
		}
		t.Run(name, func(t *testing.T) {
			b := closing(t, name)
			b.Others = true
			r, err := Run(context.Background(), b, Options{Memory: 4 << 30})
			if err != nil {
				t.Fatal(err)
			}
			if t.Logf("%d states", r.States); !r.Closed || !strings.HasPrefix(r.Summary(), want) {
				t.Errorf("closed %t (%s): %s", r.Closed, r.Why, r.Summary())
			}
		})
	}
}

// crowdLock is right for two clients and wrong for three: one that is refused puts its name
// down, and if another has done so already, it takes the record away.
type crowdLock struct{ tokenLock }

func (l *crowdLock) Acquire(ctx context.Context) (*strategies.Lease, error) {
	lease, err := l.tokenLock.Acquire(ctx)
	if !errors.Is(err, strategies.ErrNotAcquired) {
		return lease, err
	}
	token := l.Token()
	first, failed := l.rdb.SetNX(ctx, l.key+":next", token, l.TTL).Result()
	switch {
	case failed != nil:
		return nil, failed
	case first:
		return nil, errors.Join(err, compareDelete.Run(ctx, l.rdb, []string{l.key + ":next"}, token).Err())
	}
	return nil, errors.Join(err, l.rdb.Del(ctx, l.key).Err())
}

// TestThirdClient: a violation that takes three clients is found with any number of them, and
// not with two.
func TestThirdClient(t *testing.T) {
	testenv.Long(t)
	s := strategies.Strategy{Name: "crowd", Nodes: 1, Timeout: 3 * time.Second, Scripts: []*redis.Script{compareDelete}}
	s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		return &crowdLock{tokenLock{rdb: nodes[0], key: key, Options: o, script: compareDelete}}
	}
	b := Bounds{Strategy: s, Clients: 2, Cycles: Any, TTL: 12 * time.Second, Codes: trace.Verdict{trace.FR}}
	for _, others := range []bool{false, true} {
		b.Others = others
		r, err := Run(context.Background(), b, Options{Memory: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		v := r.Find(trace.FR)
		if !others && r.Answer() != HoldsAlways || others && (v == nil || v.Within.Clients != 3) {
			t.Errorf("others %t: %s, %+v", others, r.Summary(), v)
		}
	}
}

// TestJumpsAreOnTheGrid: where a server's clock may jump, that is by a multiple of the grid, as the lives of
// its records change by as much.
func TestJumpsAreOnTheGrid(t *testing.T) {
	b := closing(t, "setpx-lua")
	b.Codes, b.Faults = trace.Verdict{trace.FR}, Budget{Pause: Any, ServerClock: 1}
	r, err := Run(context.Background(), b, Options{Memory: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	if t.Logf("%d states, at multiples of %s", r.States, r.Grid); r.Answer() != HoldsAlways || b.ClockJump()%r.Grid != 0 {
		t.Errorf("%s, and the jump is one by %s", r.Summary(), b.ClockJump())
	}
}

// TestDoesNotClose: a lock whose situations aren't finitely many is refused, with the reason.
func TestDoesNotClose(t *testing.T) {
	testenv.Long(t)
	for name, why := range map[string]string{
		"fenced": "counts", "getset-equal": "reads a clock that shows true time",
	} {
		r, err := Run(context.Background(), closing(t, name), Options{})
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}
