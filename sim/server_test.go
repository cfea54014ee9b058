package sim

import (
	"context"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"lockstep/sim/fault"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// TestExpireEvent: expiry happens when it happens, whether anybody looks or not.
func TestExpireEvent(t *testing.T) {
	w := newWorld(t, configOf(toyDo(cmd("set", "k", "v", "nx", "px", 3000)), "A"))
	run(t, w)
	expectStory(t, w, `
		0.001 n1 A: SET k v NX PX 3000 = OK [k = v (3s left)]
		3.002 n1 k expires 3s + 1ms after it was stored [k gone]`, trace.KindExecute, trace.KindExpire)
	if r := w.State().LockRecord(0); r != nil {
		t.Errorf("the state still has %+v", r)
	}
}

// TestExpireTogether: keys that end at one instant end in one event; at different
// instants, in several.
func TestExpireTogether(t *testing.T) {
	w := newWorld(t, configOf(toyDo(
		cmd("eval", "redis.call('SET', 'a', 1, 'PX', 5) redis.call('SET', 'b', 1, 'PX', 5) return redis.call('SET', 'c', 1, 'PX', 6)", 0)), "A"))
	w.Wait(time.Second)
	run(t, w)
	expectStory(t, w, "1.007 n1 expires [a gone; b gone]\n1.008 n1 c expires [c gone]", trace.KindExpire)
}

// TestBackwardClockStep prolongs what is stored: an expiry is an instant on the
// server's own clock.
func TestBackwardClockStep(t *testing.T) {
	w := newWorld(t, configOf(toyDo(cmd("set", "lock", "v", "px", 3000), cmd("pttl", "lock")), "A"))
	until(t, w, "A", trace.KindReceive)
	w.Wait(998 * time.Millisecond) // it is 1s
	inject(t, w, fault.NodeStep{Node: "n1", By: -10 * time.Second})
	run(t, w)
	expectStory(t, w, `
		0.001  n1 A: SET lock v PX 3000 = OK [lock = v (3s left)]
		1      n1 clock jumps by -10s [lock = v (12.001s left), expiry moved]
		1.001  n1 A: PTTL lock = 12000
		13.002 n1 A's record expires [lock gone]`, trace.KindExecute, trace.KindExpire, trace.KindNodeStep)
}

// TestForwardClockStep ends at once what is thereby due, and shortens the rest.
func TestForwardClockStep(t *testing.T) {
	for _, tc := range []struct {
		by   time.Duration
		want string
	}{
		{2001 * time.Millisecond, "1 n1 clock jumps by 2.001s [lock = v (0ms left), expiry moved]\n1.001 n1 A: PTTL lock = -2\n1.001 n1 A's record expires [lock gone]"},
		{2002 * time.Millisecond, "1 n1 clock jumps by 2.002s [lock = v (0ms left), expiry moved]\n1 n1 A's record expires [lock gone]\n1.001 n1 A: PTTL lock = -2"},
		{time.Hour, "1 n1 clock jumps by 1h0m0s [lock = v (0ms left), expiry moved]\n1 n1 A's record expires [lock gone]\n1.001 n1 A: PTTL lock = -2"},
		{time.Second, "1 n1 clock jumps by 1s [lock = v (1.001s left), expiry moved]\n1.001 n1 A: PTTL lock = 1000\n2.002 n1 A's record expires [lock gone]"},
	} {
		w := newWorld(t, configOf(toyDo(cmd("set", "lock", "v", "px", 3000), cmd("pttl", "lock")), "A"))
		until(t, w, "A", trace.KindReceive)
		w.Wait(998 * time.Millisecond)
		inject(t, w, fault.NodeStep{Node: "n1", By: tc.by})
		run(t, w)
		got := story(w, trace.KindExecute, trace.KindExpire, trace.KindNodeStep)[1:]
		if tc.by == 2001*time.Millisecond { // both at one instant: expiry comes first
			got[1], got[2] = got[2], got[1]
		}
		if text := strings.Join(strings.Fields(strings.Join(got, "\n")), " "); text != strings.Join(strings.Fields(tc.want), " ") {
			t.Errorf("a step of %s:\n%s\nexpected\n%s", tc.by, strings.Join(got, "\n"), tc.want)
		}
	}
}

// TestStepToAnyInstant: a step of a server's clock may move an expiry to anywhere,
// the instant -1 included.
func TestStepToAnyInstant(t *testing.T) {
	for late := time.Duration(-3); late <= 3; late++ {
		w := newWorld(t, configOf(toyDo(cmd("set", "lock", "v", "px", 3000)), "A"))
		until(t, w, "A", trace.KindReceive)
		inject(t, w, fault.NodeStep{Node: "n1", By: 3002*time.Millisecond + late}) // the key's instant is now -late
		if r := w.State().LockRecord(0); r != nil && r.Expires == trace.Never {
			t.Errorf("%dns late: the record never expires", late)
		}
		run(t, w)
		if w.State().LockRecord(0) != nil || count(w, trace.KindExpire) != 1 || w.Now() > 2*time.Millisecond {
			t.Errorf("%dns late: at %s there still is %+v", late, w.Now(), w.State().LockRecord(0))
		}
	}
}

// TestRestartRefusesOtherTypes: a stream can't be brought back, and the run says so instead
// of losing anything.
func TestRestartRefusesOtherTypes(t *testing.T) {
	cfg := configOf(toyDo(cmd("xadd", "log", "1-1", "field", "value")), "A")
	cfg.Nodes[0].Persistence = redis.PersistAlways
	w := newWorld(t, cfg)
	run(t, w)
	inject(t, w, fault.Down{Node: "n1"})
	err := w.Inject(fault.Up{Node: "n1"})
	if want := `n1 cannot write back key "log": it can strings, hashes, lists, sets and sorted sets, and this is (a stream)`; err == nil || err.Error() != want {
		t.Errorf("%v, expected %s", err, want)
	}
}

// TestTransactionOverTheSeam: WATCH, MULTI and EXEC as go-redis sends them, each an
// event of its own, on one connection; and again when somebody else has written.
func TestTransactionOverTheSeam(t *testing.T) {
	s := toy(watchedTake, watchedDrop)
	w := newWorld(t, configOf(s, "A"))
	run(t, w)
	expectStory(t, w, `
		0.001 n1 A: WATCH lock = OK
		0.003 n1 A: EXISTS lock = 0
		0.005 n1 A: MULTI = OK
		0.005 n1 A: SET lock A1 EX 10 = QUEUED
		0.005 n1 A: EXEC = [OK] [lock = A1 (10s left)]
		1.007 n1 A: WATCH lock = OK
		1.009 n1 A: GET lock = A1
		1.011 n1 A: MULTI = OK
		1.011 n1 A: DEL lock = QUEUED
		1.011 n1 A: EXEC = [1] [lock gone]`, trace.KindExecute)

	w = newWorld(t, configOf(s, "A", "B"))
	run(t, w)
	expectStory(t, w, `
		0.006 A has the lock, token A1, lease until 10.004s
		0.006 B is refused`, trace.KindGranted, trace.KindRefused)
}

// TestPipeline: as many events as commands, in order, in each of its halves.
func TestPipeline(t *testing.T) {
	s := toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		pipe := l.rdb.Pipeline()
		pipe.SetNX(ctx, "k", "v", 0)
		pipe.Incr(ctx, "n")
		pipe.Get(ctx, "k")
		if _, err := pipe.Exec(ctx); err != nil {
			return nil, err
		}
		return nil, strategies.ErrNotAcquired
	}, toyKeep)
	w := newWorld(t, configOf(s, "A"))
	run(t, w)
	expectStory(t, w, `
		0     A  wants the lock
		0     A  -> n1 SET k v NX
		0     A  -> n1 INCR n
		0     A  -> n1 GET k
		0.001 n1 A: SET k v NX = OK [k = v (no expiry)]
		0.001 n1 A: INCR n = 1 [n = 1 (no expiry)]
		0.001 n1 A: GET k = v
		0.002 A  <- n1 OK
		0.002 A  <- n1 1
		0.002 A  <- n1 v
		0.002 A  is refused
		0.002 A  has finished`)
}

// TestPauseWithinAPipeline: a client can be held up between two commands of a
// pipeline; those that are sent are sent.
func TestPauseWithinAPipeline(t *testing.T) {
	s := toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		pipe := l.rdb.Pipeline()
		pipe.Incr(ctx, "n")
		pipe.Incr(ctx, "n")
		_, err := pipe.Exec(ctx)
		return nil, err
	}, toyKeep)
	w := newWorld(t, configOf(s, "A"))
	until(t, w, "A", trace.KindSend)
	w.Wait(time.Second)
	until(t, w, "A", trace.KindSend)
	inject(t, w, fault.Crash{Client: "A"})
	run(t, w)
	expectStory(t, w, "0.001 n1 A: INCR n = 1 [n = 1 (no expiry)]\n1.001 n1 A: INCR n = 2 [n = 2 (no expiry)]", trace.KindExecute)
}

// TestScriptFallback: EVALSHA, and EVAL where the server doesn't know the script;
// which is not a command more of the protocol.
func TestScriptFallback(t *testing.T) {
	cfg := config(t, "setpx-lua", "A")
	cfg.Cold = true
	w := newWorld(t, cfg)
	until(t, w, "A", trace.KindRelease)
	run(t, w)
	got := story(w, trace.KindExecute)
	if len(got) != 3 || !strings.HasSuffix(got[1], "EVALSHA script 1 lock A1 = error NOSCRIPT No matching script. Please use EVAL.") ||
		!strings.Contains(got[2], "EVAL ") || !strings.HasSuffix(got[2], "[lock gone]") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	for _, e := range w.trace.Events {
		if e.Kind == trace.KindExecute && e.Phase == trace.PhaseRelease && e.Command != 1 {
			t.Errorf("%s is command %d of the release", trace.CommandText(e.Args), e.Command)
		}
	}
}

// TestNodeDown: a server that is down refuses connections; a reply that was under
// way before still comes.
func TestNodeDown(t *testing.T) {
	w := newWorld(t, config(t, "setpx-lua", "A", "B"))
	until(t, w, "A", trace.KindSend)
	until(t, w, "B", trace.KindSend)
	w.Wait(time.Millisecond) // both have been executed
	inject(t, w, fault.Down{Node: "n1"})
	run(t, w)
	expectStory(t, w, `
		0.001 n1 A: SET lock A1 PX 10000 NX = OK [lock = A1 (10s left)]
		0.001 n1 B: SET lock B1 PX 10000 NX = nil
		0.001 n1 goes down [lock gone]
		0.002 A  has the lock, token A1, lease until 9.898s (10s less 102ms in case clocks drift apart)
		0.203 n1 is down: B's SET lock B2 PX 10000 NX is not answered
		0.204 B  <- n1 connection refused
		0.204 B  gives up: n1: connection refused
		1.003 n1 is down: A's EVALSHA script 1 lock A1 is not answered
		1.004 A  <- n1 connection refused
		1.004 A  release failed: n1: connection refused`,
		trace.KindExecute, trace.KindDown, trace.KindGranted, trace.KindRefused, trace.KindUnreachable, trace.KindDisconnect, trace.KindFailed, trace.KindReleaseFailed)
}

// TestDownAndUp: down twice, or up twice, is once.
func TestDownAndUp(t *testing.T) {
	cfg := config(t, "setpx-lua", "A")
	cfg.Nodes[0].Persistence = redis.PersistAlways
	w := newWorld(t, cfg)
	until(t, w, "A", trace.KindGranted)
	inject(t, w, fault.Up{Node: "n1"}, fault.Down{Node: "n1"}, fault.Down{Node: "n1"})
	if w.State().Nodes[0].Up || w.State().LockRecord(0) != nil {
		t.Error("it is not down, or it still has something")
	}
	w.Wait(time.Second)
	inject(t, w, fault.Up{Node: "n1"}, fault.Up{Node: "n1"})
	expectStory(t, w, "0.002 n1 goes down [lock gone]\n1.002 n1 comes back, with what appendfsync always had kept [lock = A1 (8.999s left)]", trace.KindDown, trace.KindUp)
	if r := w.State().LockRecord(0); r == nil || r.Owner != (trace.Acquisition{Client: 0, N: 1}) {
		t.Errorf("what came back is %+v", r)
	}
}

// TestTransactionIsLostWithItsConnection: a restart, or a failover, ends the
// connection that WATCH was sent over. What the client sends over it afterwards is
// not executed as if nothing had been watched.
func TestTransactionIsLostWithItsConnection(t *testing.T) {
	for name, faults := range map[string][]fault.Fault{
		"restart":  {fault.Down{Node: "n1"}, fault.Up{Node: "n1"}},
		"failover": {fault.Failover{To: "n1r1"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
				return &strategies.Lease{}, l.rdb.Watch(ctx, func(tx *goredis.Tx) error {
					_, err := tx.TxPipelined(ctx, func(p goredis.Pipeliner) error { return p.Set(ctx, l.key, l.Token(), 0).Err() })
					return err
				}, l.key)
			}, toyKeep)
			cfg := configOf(s, "A")
			cfg.Nodes[0].Persistence, cfg.Replicas = redis.PersistAlways, 1
			w := newWorld(t, cfg)
			until(t, w, "A", trace.KindReceive)
			inject(t, w, faults...)
			run(t, w)
			if w.State().LockRecord(w.State().Primary[0]) != nil || count(w, trace.KindFailed) != 1 {
				t.Fatalf("it was executed:\n%s", strings.Join(story(w), "\n"))
			}
		})
	}
}
