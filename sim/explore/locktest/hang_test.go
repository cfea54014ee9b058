package locktest

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/process"
	"lockstep/strategies"
)

// habit is a lock that takes a record, and waits in its own way for something that is not
// in the world.
type habit struct {
	name  string
	waits func(ctx context.Context, l *hanging)
	what  string // what the error says of the line
}

// hanging is an instance of such a lock.
type hanging struct {
	rdb *redis.Client
	key string
	strategies.Options
	habit *habit
	end   <-chan struct{} // the test is over: nothing is to stay behind

	mu   sync.Mutex
	work sync.WaitGroup
}

var habits = []habit{
	{name: "mutex across a call", what: "in sync.(*Mutex).Lock", waits: func(ctx context.Context, l *hanging) {
		l.Go(func() {
			l.Clock.Monotonic()
			l.mu.Lock()
			defer l.mu.Unlock()
		})
		l.mu.Lock()
		defer l.mu.Unlock()
		l.rdb.Get(ctx, l.key)
	}},
	{name: "mutex shared with the watchdog", what: "in sync.(*Mutex).Lock", waits: func(ctx context.Context, l *hanging) {
		l.Go(func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.rdb.PExpire(ctx, l.key, l.TTL)
		})
		l.Clock.Monotonic()
		l.Clock.Monotonic()
		l.mu.Lock()
		defer l.mu.Unlock()
	}},
	{name: "wait group", what: "in sync.(*WaitGroup).Wait", waits: func(ctx context.Context, l *hanging) {
		l.work.Add(1)
		l.Go(func() {
			defer l.work.Done()
			l.rdb.Get(ctx, l.key)
		})
		l.work.Wait()
	}},
	{name: "channel", what: "in chan receive", waits: func(_ context.Context, l *hanging) { <-l.end }},
	{name: "deferred", what: "in chan receive", waits: func(_ context.Context, l *hanging) {
		defer func() { <-l.end }()
		l.Clock.Monotonic()
	}},
	{name: "loop", what: "without a command", waits: func(_ context.Context, l *hanging) {
		for {
			select {
			case <-l.end:
				return
			default:
				continue
			}
		}
	}},
}

// lock makes the lock. Its waiting ends with the test, where it can.
func (h *habit) lock(t *testing.T) strategies.Strategy {
	end := make(chan struct{})
	t.Cleanup(sync.OnceFunc(func() { close(end) }))
	return complete(t, strategies.Strategy{Name: "hanging", New: func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		return &hanging{rdb: nodes[0], key: key, Options: o, habit: h, end: end}
	}})
}

func (l *hanging) Acquire(ctx context.Context) (*strategies.Lease, error) {
	won, err := l.rdb.SetNX(ctx, l.key, l.Token(), l.TTL).Result()
	if err != nil || !won {
		return nil, errors.Join(strategies.ErrNotAcquired, err)
	}
	l.habit.waits(ctx, l)
	return &strategies.Lease{Token: "t"}, nil
}

func (l *hanging) Release(ctx context.Context, _ *strategies.Lease) error {
	return l.rdb.Del(ctx, l.key).Err()
}

// soon is so short that tests needn't wait, and long enough for code that doesn't hang.
const soon = 50 * time.Millisecond

// TestHangs: a lock that waits outside of the world ends a search and a run with the line
// that waits, although nothing can wake the goroutines that wait there.
func TestHangs(t *testing.T) {
	for _, h := range habits {
		t.Run(h.name, func(t *testing.T) {
			t.Run("search", func(t *testing.T) {
				_, err := explore.Run(t.Context(), Defaults(h.lock(t)), explore.Options{Patience: soon})
				expectHang(t, err, h.what)
			})
			t.Run("run", func(t *testing.T) {
				watch := process.NewWatch(soon)
				expectHang(t, watch.Run(func() { runAlone(t, h.lock(t), watch) }), h.what)
			})
		})
	}
}

// runAlone lets one client run in the engine, as far as it gets.
func runAlone(t *testing.T, s strategies.Strategy, watch *process.Watch) {
	b := Defaults(s)
	b.Clients = 1
	cfg, err := b.Config()
	if err != nil {
		t.Error(err)
		return
	}
	cfg.Watch = watch
	w, err := sim.New(cfg)
	if err != nil {
		t.Error(err)
		return
	}
	if err := w.Reset(cfg, true); err != nil {
		t.Error(err)
		return
	}
	for w.Step(sim.SetOf(0)) {
	}
	t.Error("the lock has not waited")
}

func expectHang(t *testing.T, err error, what string) {
	t.Helper()
	var hang *process.Hang
	if !errors.As(err, &hang) {
		t.Fatalf("no hang: %v", err)
	}
	text := hang.Error()
	if !strings.Contains(text, "'s code has been ") || !strings.Contains(text, " at sim/explore/locktest/hang_test.go:") || !strings.Contains(text, what) {
		t.Errorf("%s: expected a line of this file, and %q", text, what)
	}
	t.Log(text)
}
