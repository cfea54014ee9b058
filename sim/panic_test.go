package sim

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	goredis "github.com/redis/go-redis/v9"

	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// TestPanicsNameTheirLine: a panic in a lock's code, a nil pointer's and a Goexit
// included, reaches the caller of the world with the line that did it, and the
// world can be closed all the same.
func TestPanicsNameTheirLine(t *testing.T) {
	sentinel := errors.New("no such tenant")
	for _, tt := range []struct {
		name, want string
		panics     func(*toyLock)
	}{
		{"error", "no such tenant", func(*toyLock) { panic(sentinel) }},
		{"nil", "nil pointer", func(*toyLock) { nobody().rdb = nil }},
		{"goexit", "runtime.Goexit", func(*toyLock) { runtime.Goexit() }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
				if _, err := toyTake(ctx, l); err != nil {
					return nil, err
				}
				tt.panics(l)
				return nil, nil
			}, toyKeep)
			p := drive(t, s)
			if p == nil {
				t.Fatal("no panic")
			}
			if text := p.Error(); !strings.Contains(text, "A's code panics at sim/panic_test.go:") || !strings.Contains(text, tt.want) {
				t.Error(text)
			}
			if is := errors.Is(p, sentinel); is != (tt.name == "error") {
				t.Errorf("wraps the error: %t", is)
			}
		})
	}
}

// nobody is no lock.
func nobody() *toyLock { return nil }

// TestConstructorPanics: as above, before there is any thread.
func TestConstructorPanics(t *testing.T) {
	s := toy(toyTake, toyDrop)
	s.New = func([]*goredis.Client, string, strategies.Options) strategies.Lock { panic("no configuration") }
	if p := drive(t, s); p == nil || !strings.Contains(p.Error(), "panic_test.go") {
		t.Error(p)
	}
}

// drive runs one client of a strategy until it ends or panics.
func drive(t *testing.T, s strategies.Strategy) (p *process.Panic) {
	t.Helper()
	cfg := Config{Strategy: s, Scenario: "x", Key: "lock", TTL: 1e9, Timeout: 1e9, Seed: 1,
		Clients: []process.Config{{Name: "A", Rate: 1, Cycles: 1}}, Nodes: make([]redis.Config, 1)}
	w, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		p, _ = recover().(*process.Panic)
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := w.Reset(cfg, true); err != nil {
		t.Fatal(err)
	}
	for w.Step(SetOf(0)) {
	}
	return nil
}

// TestPanicsOfTheWorld: what goes wrong in the world's own code, which steps on the
// stacks of threads, is not put down to a lock's, and not for a lock to recover from
// or to hide. The caller of the world learns where it was.
func TestPanicsOfTheWorld(t *testing.T) {
	for name, deferred := range map[string]func(l *toyLock){
		"nothing":  func(*toyLock) {},
		"recovers": func(*toyLock) { _ = recover() },
		"looks":    func(l *toyLock) { l.Clock.Monotonic() },
		"panics":   func(*toyLock) { panic("the lock's own") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, configOf(toy(func(_ context.Context, l *toyLock) (*strategies.Lease, error) {
				defer deferred(l)
				l.Clock.Monotonic()
				l.Clock.Monotonic()
				return nil, strategies.ErrNotAcquired
			}, toyKeep), "A"))
			until(t, w, "A", trace.KindAcquire)
			w.timers.push(timer{at: w.now, kind: timerReply + 1})
			defer func() {
				w.timers.reset()
				b, _ := recover().(*broken)
				if b == nil || !strings.Contains(b.Error(), "a timer of no kind") || !strings.Contains(b.Error(), "sim/scheduler.go:") {
					t.Errorf("thrown is %v", b)
				}
			}()
			w.Steps(SetOf(0), 1)
		})
	}
}
