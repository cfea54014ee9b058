package explore

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore/unfit"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// TestFaithfulRemembering: a search in which histories don't join between two cycles agrees
// with the engine as well.
func TestFaithfulRemembering(t *testing.T) {
	t.Parallel()
	for _, s := range strategies.All() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			b := Defaults(s)
			b.Faults, b.Remembers = Budget{1, 3, 1, 1, 1, 1, 1, 1, Evict: 1}, true
			expectAgreement(t, b, 100)
		})
	}
}

// TestRememberingFindsTheSame: for locks that keep their state in fields, if they have any,
// Remembers makes no difference to the violations that are found.
func TestRememberingFindsTheSame(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"naive-del", "setpx-lua", "getset-equal", "reentrant"} {
		if !testenv.Whole() && name != "naive-del" {
			continue
		}
		s, known := strategies.Get(name)
		if !known {
			t.Fatal(name)
		}
		b := Defaults(s)
		joined, err := Run(t.Context(), b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		b.Remembers = true
		apart, err := Run(t.Context(), b, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if apart.States < joined.States {
			t.Errorf("%s: %d states where all is remembered, and %d where cycles join", name, apart.States, joined.States)
		}
		if len(joined.Violated) != len(apart.Violated) {
			t.Fatalf("%s: %d violations, and %d where all is remembered", name, len(joined.Violated), len(apart.Violated))
		}
		for i, v := range joined.Violated {
			if w := apart.Violated[i]; v.Code != w.Code || v.Trace.Schedule != w.Trace.Schedule {
				t.Errorf("%s: %s by %s, and %s by %s", name, v.Code, v.Trace.Schedule, w.Code, w.Trace.Schedule)
			}
		}
	}
}

// countsReleases is a lock whose closure counts its releases: one of them is a plain DEL.
type countsReleases struct {
	strategies.Lock
	release func(context.Context, *strategies.Lease) error
}

func (l *countsReleases) Release(ctx context.Context, lease *strategies.Lease) error {
	return l.release(ctx, lease)
}

// TestClosuresAreTaken: without a bound on cycles a counter that a closure has is found where a process's cycles come to
// it. Where they don't, the answer says what it takes for granted; and that only of a lock with closures.
func TestClosuresAreTaken(t *testing.T) {
	testenv.Long(t)
	t.Parallel()
	correct, known := strategies.Get("setpx-lua")
	if !known {
		t.Fatal("setpx-lua")
	}
	run := func(after int) (*Result, error) {
		s := correct
		s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
			l := &countsReleases{Lock: correct.New(nodes, key, o)}
			if n := 0; after == 0 {
				l.release = func(context.Context, *strategies.Lease) error { return nil }
			} else {
				l.release = func(ctx context.Context, lease *strategies.Lease) error {
					if n++; n == after {
						return nodes[0].Del(ctx, key).Err()
					}
					return l.Lock.Release(ctx, lease)
				}
			}
			return l
		}
		b := Defaults(s)
		b.Cycles, b.Codes, b.Faults = Any, trace.Verdict{trace.FR}, Budget{}
		return Run(t.Context(), b, Options{})
	}
	const assumed = "no closure of the lock remembers anything"
	if _, err := run(40); !errors.As(err, new(*unfit.Remembering)) {
		t.Errorf("a closure whose 40th release is another passes: %v", err)
	}
	for after, want := range map[int]bool{10_000: true, 0: false} {
		r, err := run(after)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Contains(r.Summary(), assumed); got != want {
			t.Errorf("with a counter up to %d: %s", after, r.Summary())
		}
	}
}

// connected has a connection of its own. If that tells it that it has released before, its release is another.
type connected struct {
	strategies.Lock
	conn   *redis.Conn
	sub    *redis.PubSub
	before func() bool
	last   func(context.Context) error
}

func (l *connected) Release(ctx context.Context, lease *strategies.Lease) error {
	if l.before() {
		return l.last(ctx)
	}
	return l.Lock.Release(ctx, lease)
}

// hooked is a hook that counts.
type hooked struct {
	redis.Hook
	n int
}

func (h *hooked) DialHook(next redis.DialHook) redis.DialHook { return next }
func (h *hooked) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
func (h *hooked) ProcessHook(next redis.ProcessHook) redis.ProcessHook { return next }

// TestConnectionsRemember: a lock's own connection tells it whether it has closed it, and has its hooks: that is a memory.
// The second release is careless, though all else is the same at the end of each cycle.
func TestConnectionsRemember(t *testing.T) {
	t.Parallel()
	correct, known := strategies.Get("setpx-lua")
	if !known {
		t.Fatal("setpx-lua")
	}
	for name, before := range map[string]func(l *connected, rdb *redis.Client) func() bool{
		"closed": func(l *connected, rdb *redis.Client) func() bool {
			l.conn = rdb.Conn()
			return func() bool { return l.conn.Close() != nil }
		},
		"closed, subscribed": func(l *connected, rdb *redis.Client) func() bool {
			l.sub = rdb.Subscribe(context.Background())
			return func() bool { return l.sub.Close() != nil }
		},
		"a hook's": func(l *connected, rdb *redis.Client) func() bool {
			h := &hooked{}
			l.conn = rdb.Conn()
			l.conn.AddHook(h)
			return func() bool { h.n = min(h.n+1, 2); return h.n == 2 }
		},
	} {
		if name != "closed" && !testenv.CI() { // for time
			continue
		}
		s := correct
		s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
			l := &connected{Lock: correct.New(nodes, key, o), last: func(ctx context.Context) error { return nodes[0].Del(ctx, key).Err() }}
			l.before = before(l, nodes[0])
			return l
		}
		b := Defaults(s)
		b.Cycles, b.Codes, b.Faults = Any, trace.Verdict{trace.FR}, Budget{Pause: 1}
		r, err := Run(t.Context(), b, Options{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		} else if !slices.Contains(r.Found, trace.FR) {
			t.Errorf("%s: %s", name, r.Summary())
		}
	}
}
