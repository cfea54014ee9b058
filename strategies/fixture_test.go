package strategies

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	lockKey = "lock"
	ttl     = 10 * time.Second
	ms      = time.Millisecond
)

// world is some Redis servers, the time, and the processes that want the lock.
// Nothing in it happens by itself: time passes when the test says so.
type world struct {
	t        *testing.T
	strategy Strategy
	servers  []*miniredis.Miniredis
	down     map[int]bool // which servers nobody can reach
	ttl      time.Duration
	wall     time.Time
	mono     time.Duration
	naps     []time.Duration // every Sleep that a strategy asked for
	onNap    func()          // what happens during one
	tokens   int
}

func newWorld(t *testing.T, name string) *world {
	t.Helper()
	strategy, ok := Get(name)
	if !ok {
		t.Fatalf("no strategy is called %q", name)
	}
	w := &world{
		t: t, strategy: strategy, down: map[int]bool{}, ttl: ttl,
		wall: time.Date(2021, 3, 18, 17, 46, 51, 250e6, time.UTC), mono: time.Hour,
	}
	for range strategy.Nodes {
		m := miniredis.NewMiniRedis()
		t.Cleanup(m.Close)
		w.servers = append(w.servers, m)
	}
	return w
}

func (w *world) Now() time.Time           { return w.wall }
func (w *world) Monotonic() time.Duration { return w.mono }

func (w *world) Sleep(ctx context.Context, d time.Duration) error {
	w.naps = append(w.naps, d)
	w.pass(d)
	if w.onNap != nil {
		w.onNap()
	}
	return ctx.Err()
}

func (w *world) pass(d time.Duration) {
	w.wall = w.wall.Add(d)
	w.mono += d
	for _, m := range w.servers {
		m.FastForward(d)
	}
}

// stores expects value to be under the key on server n, counted from 1; "" for
// no key.
func (w *world) stores(n int, value string) {
	w.t.Helper()
	if got, _ := w.servers[n-1].Get(lockKey); got != value {
		w.t.Errorf("server %d stores %q, want %q", n, got, value)
	}
}

// storesNothing expects every server to be clean.
func (w *world) storesNothing() {
	w.t.Helper()
	for n := range w.servers {
		w.stores(n+1, "")
	}
}

// neverExpires expects the key to be on the only server, without an expiry.
func (w *world) neverExpires() {
	w.t.Helper()
	if m := w.servers[0]; !m.Exists(lockKey) || m.TTL(lockKey) != 0 {
		w.t.Errorf("key stored: %v, expiring in %v; want one that never expires", m.Exists(lockKey), m.TTL(lockKey))
	}
}

// process is one of those who want the lock. It asks once and does not insist.
// The wire to its first server is at hand.
type process struct {
	*wire
	w     *world
	name  string
	lock  Lock
	lease *Lease
	wires []*wire
}

func (w *world) process(name string) *process {
	return w.insistent(name, Retry{Tries: 1})
}

func (w *world) insistent(name string, policy Retry) *process {
	p := &process{w: w, name: name}
	var nodes []*redis.Client
	for n, m := range w.servers {
		rdb := redis.NewClient(&redis.Options{
			Addr:            fmt.Sprintf("n%d", n+1),
			Dialer:          func(context.Context, string, string) (net.Conn, error) { return m.Dial() },
			MaxRetries:      -1,
			Protocol:        2,
			DisableIdentity: true,
			MaintNotificationsConfig: &maintnotifications.Config{
				Mode: maintnotifications.ModeDisabled,
			},
		})
		w.t.Cleanup(func() { _ = rdb.Close() })
		wire := &wire{w: w, node: n + 1, rules: map[string]func() error{}}
		rdb.AddHook(wire)
		nodes, p.wires = append(nodes, rdb), append(p.wires, wire)
	}
	p.wire = p.wires[0]
	p.lock = w.strategy.New(nodes, lockKey, Options{
		TTL: w.ttl, Retry: policy, Clock: w,
		Token:  func() string { w.tokens++; return fmt.Sprintf("%s-%d", name, w.tokens) },
		Random: func(below time.Duration) time.Duration { return below / 2 },
	})
	return p
}

// to is the process's wire to server n, counted from 1.
func (p *process) to(n int) *wire { return p.wires[n-1] }

func (p *process) acquires() {
	p.w.t.Helper()
	lease, err := p.lock.Acquire(p.w.t.Context())
	if err != nil {
		p.w.t.Fatalf("%s acquires: %v", p.name, err)
	}
	p.lease = lease
}

func (p *process) isRefused() {
	p.w.t.Helper()
	if lease, err := p.lock.Acquire(p.w.t.Context()); !errors.Is(err, ErrNotAcquired) || lease != nil {
		p.w.t.Fatalf("%s acquires: lease %v, error %v, want %v", p.name, lease, err, ErrNotAcquired)
	}
}

func (p *process) failsToAcquire() {
	p.w.t.Helper()
	if lease, err := p.lock.Acquire(p.w.t.Context()); !errors.Is(err, errLost) || lease != nil {
		p.w.t.Fatalf("%s acquires: lease %v, error %v, want %v", p.name, lease, err, errLost)
	}
}

func (p *process) releases() {
	p.w.t.Helper()
	p.releasesWith(nil)
}

func (p *process) releasesWith(want error) {
	p.w.t.Helper()
	if err := p.lock.Release(p.w.t.Context(), p.lease); !errors.Is(err, want) {
		p.w.t.Fatalf("%s releases: %v, want %v", p.name, err, want)
	}
}

// errLost is what a process gets whose request or reply went astray.
var errLost = errors.New("i/o timeout")

// wire is a process's connection to one server. Its rules are met once: they
// say what happens just before a command is executed, or between that and its
// reply.
type wire struct {
	w     *world
	node  int
	rules map[string]func() error
}

func (l *wire) before(command string, do func()) {
	l.rules["before "+command] = func() error { do(); return nil }
}

func (l *wire) after(command string, do func()) {
	l.rules["after "+command] = func() error { do(); return nil }
}

func (l *wire) loses(command string) {
	l.rules["before "+command] = func() error { return errLost }
}

func (l *wire) losesReplyOf(command string) {
	l.rules["after "+command] = func() error { return errLost }
}

func (l *wire) meet(rule string) error {
	do := l.rules[rule]
	if do == nil {
		return nil
	}
	delete(l.rules, rule)
	return do()
}

// ProcessHook stands between go-redis and the connection.
func (l *wire) ProcessHook(next redis.ProcessHook) redis.ProcessHook {
	return func(ctx context.Context, cmd redis.Cmder) error {
		if l.w.down[l.node] {
			return errLost
		}
		if err := l.meet("before " + cmd.Name()); err != nil {
			return err
		}
		err := next(ctx, cmd)
		if lost := l.meet("after " + cmd.Name()); lost != nil {
			return lost
		}
		return err
	}
}

func (l *wire) DialHook(next redis.DialHook) redis.DialHook { return next }

func (l *wire) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return next
}
