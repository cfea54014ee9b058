package sim

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/fault"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// A crashed process does nothing more: not what its code defers, not what it
// would recover to. What it had sent before is in the network's hands.

// clingers are strategies that do their best to act after death.
var clingers = map[string]strategies.Strategy{
	"a deferred release": toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		defer toyDrop(ctx, l, nil) //nolint:errcheck // it must not happen anyway
		lease, err := toyTake(ctx, l)
		if err == nil {
			err = l.Clock.Sleep(ctx, time.Second)
		}
		return lease, err
	}, toyDrop),
	"deferred clock readings and a deferred sleep": toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		defer l.Clock.Sleep(ctx, time.Second) //nolint:errcheck // as above
		defer l.Clock.Monotonic()
		defer l.Clock.Now()
		defer l.Random(time.Second)
		defer l.Token()
		return toyTake(ctx, l)
	}, toyDrop),
	"a recovery": toy(func(ctx context.Context, l *toyLock) (lease *strategies.Lease, err error) {
		defer func() {
			if r := recover(); r != nil {
				err = fmt.Errorf("recovered from %v", r)
			}
			l.rdb.Set(ctx, "recovered", "yes", 0)
		}()
		return toyTake(ctx, l)
	}, toyDrop),
	"a deferred loop that insists": toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		defer func() {
			for range 100 { // as good as for ever
				if toyDrop(ctx, l, nil) == nil {
					return
				}
			}
		}()
		return toyTake(ctx, l)
	}, toyDrop),
	"a loop of recoveries": toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		var lease *strategies.Lease
		var err error
		for range 3 {
			func() {
				defer func() { _ = recover() }()
				defer func() {
					defer func() { _ = recover() }()
					l.Clock.Now()
				}()
				lease, err = toyTake(ctx, l)
			}()
		}
		return lease, err
	}, toyDrop),
	"a transaction": toy(watchedTake, watchedDrop),
	"a transaction that is called off": toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		return nil, l.rdb.Watch(ctx, func(*redis.Tx) error { return strategies.ErrNotAcquired }, l.key)
	}, toyKeep),
	"a pipeline": toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		pipe := l.rdb.Pipeline()
		pipe.SetNX(ctx, l.key, l.Token(), l.TTL)
		pipe.Incr(ctx, "fence")
		pipe.Get(ctx, l.key)
		_, err := pipe.Exec(ctx)
		return &strategies.Lease{}, err
	}, toyDrop),
	"commands larger than every buffer": toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		token := l.Token() + strings.Repeat("-", 5000)
		err := l.rdb.Set(ctx, l.key, token, l.TTL).Err()
		l.rdb.Get(ctx, l.key)
		return &strategies.Lease{Token: token}, err
	}, toyDrop, redis.NewScript("return 1")),
}

// watchedTake takes the lock in an optimistic transaction.
func watchedTake(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
	token := l.Token()
	err := l.rdb.Watch(ctx, func(tx *redis.Tx) error {
		if n, err := tx.Exists(ctx, l.key).Result(); err != nil || n > 0 {
			return strategies.ErrNotAcquired
		}
		_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Set(ctx, l.key, token, l.TTL)
			return nil
		})
		return err
	}, l.key)
	if err != nil {
		return nil, strategies.ErrNotAcquired
	}
	return &strategies.Lease{Token: token}, nil
}

// watchedDrop is compare-and-delete in an optimistic transaction.
func watchedDrop(ctx context.Context, l *toyLock, lease *strategies.Lease) error {
	return l.rdb.Watch(ctx, func(tx *redis.Tx) error {
		holder, err := tx.Get(ctx, l.key).Result()
		if err != nil || holder != lease.Token {
			return strategies.ErrNotHeld
		}
		_, err = tx.TxPipelined(ctx, func(p redis.Pipeliner) error {
			p.Del(ctx, l.key)
			return nil
		})
		return err
	}, l.key)
}

// crashables is what can crash in interesting places: the catalogue and the toys.
func crashables() map[string]strategies.Strategy {
	all := map[string]strategies.Strategy{}
	for name, s := range clingers {
		all[name] = s
	}
	for _, s := range strategies.All() {
		s.Nodes = min(s.Nodes, 3) // as telling as five, and sooner done
		all[s.Name] = s
	}
	return all
}

// lifetime is how many steps the named client's whole protocol takes if it acts alone.
func lifetime(t *testing.T, w *World, name string) int {
	t.Helper()
	steps := 0
	for w.Step(who(t, w, name)) && !w.Position(0).Over {
		steps++
	}
	mustGoOn(t, w)
	return steps
}

// short makes runs short: nothing here is about long waits.
func short(cfg Config) Config {
	cfg.TTL = time.Second
	for i := range cfg.Clients {
		cfg.Clients[i].Work = 100 * time.Millisecond
	}
	return cfg
}

// TestCrashAnywhere crashes a client at every single step of its protocol, alone
// and in competition, and lets the others go on.
func TestCrashAnywhere(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s strategies.Strategy) {
		cfg := short(configOf(s, "A", "B"))
		cfg.Retry.Tries = 4
		w := newWorld(t, cfg)
		n := lifetime(t, w, "A")
		for _, actors := range []string{"A", "AB"} {
			for k := 0; k <= n; k++ {
				reset(t, w, cfg)
				for range k * len(actors) {
					w.Step(who(t, w, strings.Split(actors, "")...))
				}
				inject(t, w, fault.Crash{Client: "A"})
				expectSilenceAfterCrash(t, w, k)
			}
		}
	})
}

// expectSilenceAfterCrash runs the rest, in which A, which has just crashed after
// k steps, plays no part.
func expectSilenceAfterCrash(t *testing.T, w *World, k int) {
	t.Helper()
	crashed := len(w.trace.Events)
	run(t, w)
	drained(t, w)
	if c := w.State().Clients[0]; !c.Crashed || c.Lease.Believed || c.Lease.Live || c.Lease.Inside {
		t.Fatalf("after %d steps and a crash, A's state is %+v", k, c)
	}
	for i := crashed; i < len(w.trace.Events); i++ {
		e := &w.trace.Events[i]
		if e.Client != 0 {
			continue
		}
		switch e.Kind {
		case trace.KindReplicate:
			continue // a node's doing
		case trace.KindExecute, trace.KindUnreachable, trace.KindLost:
			if e.Ref <= crashed {
				continue // what it had sent before
			}
		}
		t.Fatalf("after %d steps and a crash, A still leaves an event:\n%s", k, w.trace.Line(e))
	}
	if at := w.Position(0); !at.Over {
		t.Fatalf("after %d steps and a crash, A is at %+v", k, at)
	}
}

// TestNoConnectionIsMissed: go-redis has got every connection back that it lent out,
// after the next reset at the latest. One that is kept would be missed later: the
// pool is small, and waits in real time.
func TestNoConnectionIsMissed(t *testing.T) {
	each(t, func(t *testing.T, s strategies.Strategy) {
		cfg := short(configOf(s, "A", "B"))
		w := newWorld(t, cfg)
		n := lifetime(t, w, "A")
		for k := 0; k <= n; k++ {
			reset(t, w, cfg)
			for range k {
				w.Step(SetOf(0))
			}
			inject(t, w, fault.Crash{Client: "A"})
		}
		reset(t, w, cfg)
		for _, c := range w.clients {
			if !c.Whole() {
				t.Fatalf("a pool of %s misses a connection", c.Name)
			}
		}
	})
}

// TestSentBeforeTheCrash: a request that is in flight is executed, and stays
// without effect only for its sender.
func TestSentBeforeTheCrash(t *testing.T) {
	w := newWorld(t, config(t, "setpx-lua", "A", "B"))
	until(t, w, "A", trace.KindSend)
	inject(t, w, fault.Crash{Client: "A"})
	w.Wait(time.Second)
	expectStory(t, w, `
		0      A   wants the lock
		0      A   reads its monotonic clock: 100.000000 since boot
		0      A   -> n1 SET lock A1 PX 10000 NX
		0      A   crashes
		0.001  n1  A: SET lock A1 PX 10000 NX = OK [lock = A1 (10s left)]`)
	run(t, w)
	if got := w.Verdict().String(); got != "BD" {
		t.Errorf("B waited for a dead client's record, and the verdict is %s", got)
	}
}

// TestCrashTwice: a process that is gone cannot crash, pause, resume, or have its
// clock set. Injecting it all the same is allowed, and does nothing.
func TestCrashTwice(t *testing.T) {
	w := newWorld(t, config(t, "setpx-lua", "A"))
	until(t, w, "A", trace.KindGranted)
	inject(t, w, fault.Crash{Client: "A"})
	events := len(w.trace.Events)
	inject(t, w, fault.Crash{Client: "A"}, fault.Pause{Client: "A"}, fault.Resume{Client: "A"}, fault.WallStep{Client: "A", By: time.Hour})
	if w.Frozen(0) || len(w.trace.Events) != events {
		t.Errorf("frozen %v, and then:\n%s", w.Frozen(0), strings.Join(story(w)[events:], "\n"))
	}
	run(t, w) // its record expires: that is not its own doing
	expectStory(t, w, "10.002 n1 A's record expires 10s + 1ms after it was stored [lock gone]", trace.KindExpire)
}

// TestCrashWhilePaused: a pause that ends in a crash doesn't end otherwise.
func TestCrashWhilePaused(t *testing.T) {
	w := newWorld(t, config(t, "setpx-lua", "A", "B"))
	until(t, w, "A", trace.KindEnter)
	inject(t, w, fault.Pause{Client: "A"})
	w.Wait(20 * time.Second)
	inject(t, w, fault.Crash{Client: "A"}, fault.Resume{Client: "A"})
	run(t, w)
	expectStory(t, w, "0.002 A is paused\n20.002 A crashes", trace.KindPause, trace.KindResume, trace.KindCrash)
	expectVerdict(t, w, "ok")
}

// TestCrashInsideTheCriticalSection leaves the section: a dead process touches
// nothing, so the next holder overlaps with no other.
func TestCrashInsideTheCriticalSection(t *testing.T) {
	w := newWorld(t, config(t, "setpx-lua", "A", "B"))
	until(t, w, "A", trace.KindRead)
	inject(t, w, fault.Crash{Client: "A"})
	run(t, w)
	expectVerdict(t, w, "BD")
	if s := w.State().Store; s.Value != 1 || s.Version != 1 {
		t.Errorf("the resource has accepted more than B's write: %+v", s)
	}
}
