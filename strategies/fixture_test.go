package strategies

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

const (
	lockKey = "lock"
	ttl     = 10 * time.Second
	third   = ttl / 3 / ms * ms // in whole milliseconds, as watchdog counts
	ms      = time.Millisecond
)

// world is some Redis servers, the time, and the processes that want the lock.
// Nothing in it happens by itself: time passes when the test says so.
type world struct {
	t        *testing.T
	strategy Strategy
	servers  []*miniredis.Miniredis
	down     map[int]bool // the unreachable servers
	ttl      time.Duration
	wall     time.Time       // the processes'; a test may set it
	now      time.Time       // the servers'
	mono     time.Duration   // the processes'
	naps     []time.Duration // every Sleep that a process's first thread asked for
	onNap    func()          // what happens during one
	threads  []*thread       // the others
	running  *thread         // which of these is, if one is
	acked    int             // the number of replicas that have the writes
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
		now: time.Date(2021, 3, 18, 17, 46, 51, 250e6, time.UTC), mono: time.Hour,
		acked: strategy.Replicas,
	}
	w.wall = w.now
	for range strategy.Nodes {
		w.servers = append(w.servers, w.server())
	}
	return w
}

// server is a miniredis whose WAIT answers as Redis's would.
func (w *world) server() *miniredis.Miniredis {
	m := miniredis.NewMiniRedis()
	w.t.Cleanup(m.Close)
	m.SetTime(w.now)
	conn, err := m.Dial() // the only way to start it without a listener
	if err != nil {
		w.t.Fatal(err)
	}
	_ = conn.Close()
	wrote := map[*server.Peer]bool{}
	m.Server().SetPreHook(func(peer *server.Peer, command string, _ ...string) bool {
		switch command {
		case "SET":
			wrote[peer] = true
		case "WAIT":
			if !wrote[peer] { // of nothing every replica has all
				peer.WriteInt(w.strategy.Replicas)
				return true
			}
			peer.WriteInt(w.acked)
			return true
		}
		return false
	})
	return m
}

func (w *world) Now() time.Time           { return w.wall }
func (w *world) Monotonic() time.Duration { return w.mono }

func (w *world) Sleep(ctx context.Context, d time.Duration) error {
	if t := w.running; t != nil {
		return t.sleep(d)
	}
	w.naps = append(w.naps, d)
	w.pass(d)
	if w.onNap != nil {
		w.onNap()
	}
	return ctx.Err()
}

// pass lets time go by, and the threads that are asleep do what they wake up for.
func (w *world) pass(d time.Duration) {
	end := w.mono + d
	for {
		t := w.next(end)
		if t == nil {
			w.advance(end - w.mono)
			return
		}
		w.advance(t.due - w.mono)
		w.run(t)
	}
}

func (w *world) advance(d time.Duration) {
	w.wall = w.wall.Add(d)
	w.now = w.now.Add(d)
	w.mono += d
	for _, m := range w.servers {
		m.FastForward(d)
		m.SetTime(w.now)
	}
}

// thread is a second thread of a process. It runs from one Sleep to the next.
type thread struct {
	w      *world
	of     *process
	due    time.Duration
	paused bool
	over   bool
	resume func() (struct{}, bool)
	yield  func(struct{}) bool
}

func (p *process) spawn(f func()) {
	t := &thread{w: p.w, of: p}
	resume, stop := iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		f()
	})
	t.resume = resume
	p.w.t.Cleanup(stop)
	p.w.threads = append(p.w.threads, t)
	p.w.run(t)
}

// sleep ends late if it is cancelled, and says nothing of it.
func (t *thread) sleep(d time.Duration) error {
	t.due = t.w.mono + d
	if !t.yield(struct{}{}) {
		return errors.New("the test is over")
	}
	return nil
}

// next is the first thread to wake up by then.
func (w *world) next(end time.Duration) *thread {
	var first *thread
	for _, t := range w.threads {
		if t.over || t.paused || t == w.running || t.due > end {
			continue
		}
		if first == nil || t.due < first.due {
			first = t
		}
	}
	return first
}

func (w *world) run(t *thread) {
	before := w.running
	w.running = t
	_, more := t.resume()
	w.running, t.over = before, !more
}

// pauses stops a process's second threads, as it does when it is paused or dies.
// Its first one does nothing anyway, unless the test says so.
func (p *process) pauses() { p.setPaused(true) }
func (p *process) wakes()  { p.setPaused(false) }

func (p *process) setPaused(paused bool) {
	for _, t := range p.w.threads {
		if t.of == p {
			t.paused, t.due = paused, max(t.due, p.w.mono)
		}
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
	for n, m := range w.servers {
		if m.Exists(lockKey) {
			w.t.Errorf("server %d stores something", n+1)
		}
	}
}

// expiresIn expects the key to be on server n, and so much time left to it.
func (w *world) expiresIn(n int, left time.Duration) {
	w.t.Helper()
	if m := w.servers[n-1]; !m.Exists(lockKey) || m.TTL(lockKey) != left {
		w.t.Errorf("server %d: key stored: %v, expiring in %v; want %v", n, m.Exists(lockKey), m.TTL(lockKey), left)
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
	nodes []*redis.Client
	wires []*wire
}

func (w *world) process(name string) *process {
	return w.insistent(name, Retry{Tries: 1})
}

func (w *world) insistent(name string, policy Retry) *process {
	p := &process{w: w, name: name}
	resends := w.strategy.Resends
	if resends == 0 {
		resends = -1
	}
	for n, m := range w.servers {
		wire := &wire{w: w, node: n + 1, rules: map[string]func() error{}}
		rdb := redis.NewClient(&redis.Options{
			Addr: fmt.Sprintf("n%d", n+1),
			Dialer: func(context.Context, string, string) (net.Conn, error) {
				conn, err := m.Dial()
				return &cable{Conn: conn, wire: wire}, err
			},
			MaxRetries:      resends,
			MinRetryBackoff: -1,
			Protocol:        2,
			DisableIdentity: true,
			MaintNotificationsConfig: &maintnotifications.Config{
				Mode:         maintnotifications.ModeDisabled,
				EndpointType: maintnotifications.EndpointTypeNone, // or the library asks the DNS
			},
		})
		w.t.Cleanup(func() { _ = rdb.Close() })
		rdb.AddHook(wire)
		p.nodes, p.wires = append(p.nodes, rdb), append(p.wires, wire)
	}
	p.wire = p.wires[0]
	p.lock = w.strategy.New(p.nodes, lockKey, Options{
		TTL: w.ttl, Retry: policy, Clock: w,
		Token:  func() string { w.tokens++; return fmt.Sprintf("%s-%d", name, w.tokens) },
		Random: func(below time.Duration) time.Duration { return below / 2 },
		Go:     p.spawn,
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

func (p *process) extends() {
	p.w.t.Helper()
	p.extendsWith(nil)
}

func (p *process) extendsWith(want error) {
	p.w.t.Helper()
	if err := p.lock.(Extender).Extend(p.w.t.Context(), p.lease); !errors.Is(err, want) {
		p.w.t.Fatalf("%s extends: %v, want %v", p.name, err, want)
	}
}

// believes expects the process to count on its lease for so much longer.
func (p *process) believes(left time.Duration) {
	p.w.t.Helper()
	if got := p.lease.Deadline - p.w.mono; got != left {
		p.w.t.Errorf("%s believes that it has %v left, want %v", p.name, got, left)
	}
}

// dropsReplies loses the next replies on the way to go-redis, which sends again
// if it is told to.
func (p *process) dropsReplies(n int32) {
	p.w.t.Helper()
	p.greets()
	p.drops.Store(n)
}

// greets gets the handshake with the first server over.
func (p *process) greets() {
	p.w.t.Helper()
	if err := p.nodes[0].Ping(p.w.t.Context()).Err(); err != nil {
		p.w.t.Fatal(err)
	}
}

// sends expects what do sends to the process's first server.
func (p *process) sends(want string, do func()) {
	p.w.t.Helper()
	p.greets()
	p.sent = nil
	do()
	if got := strings.Join(p.sent, " "); got != want {
		p.w.t.Errorf("%s sends %q, want %q", p.name, got, want)
	}
}

// errLost is the error that a process gets whose request or reply was lost.
var errLost = errors.New("i/o timeout")

// wire is a process's connection to one server. Its rules are met once: they
// say what happens just before a command is executed, or between that and its
// reply.
type wire struct {
	w     *world
	node  int
	rules map[string]func() error
	sent  []string     // the commands that go-redis was given
	bytes bytes.Buffer // what went over it
	drops atomic.Int32 // how many replies get lost beneath go-redis, which may send again
}

func (l *wire) before(command string, do func()) {
	l.rule("before "+command, func() error { do(); return nil })
}

func (l *wire) after(command string, do func()) {
	l.rule("after "+command, func() error { do(); return nil })
}

func (l *wire) loses(command string) {
	l.rule("before "+command, func() error { return errLost })
}

func (l *wire) losesReplyOf(command string) {
	l.rule("after "+command, func() error { return errLost })
}

// rule sets what happens at a place. A second one there would take the place of the first unseen.
func (l *wire) rule(place string, do func() error) {
	if l.rules[place] != nil {
		panic("a dialogue has two rules " + place + ": the first has not been met")
	}
	l.rules[place] = do
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
		return l.carry([]redis.Cmder{cmd}, func() error { return next(ctx, cmd) })
	}
}

// ProcessPipelineHook is the same for MULTI, EXEC and the commands between.
func (l *wire) ProcessPipelineHook(next redis.ProcessPipelineHook) redis.ProcessPipelineHook {
	return func(ctx context.Context, cmds []redis.Cmder) error {
		return l.carry(cmds, func() error { return next(ctx, cmds) })
	}
}

func (l *wire) carry(cmds []redis.Cmder, next func() error) error {
	if l.w.down[l.node] {
		return errLost
	}
	for _, cmd := range cmds {
		l.sent = append(l.sent, cmd.Name())
		if err := l.meet("before " + cmd.Name()); err != nil {
			return err
		}
	}
	err := next()
	for _, cmd := range cmds {
		if lost := l.meet("after " + cmd.Name()); lost != nil {
			return lost
		}
	}
	return err
}

func (l *wire) DialHook(next redis.DialHook) redis.DialHook { return next }

// cable is what a wire goes over. It records what is sent, and loses replies where go-redis
// notices.
type cable struct {
	net.Conn
	wire *wire
}

func (c *cable) Write(b []byte) (int, error) {
	c.wire.bytes.Write(b)
	return c.Conn.Write(b)
}

func (c *cable) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	if err == nil && !bytes.HasPrefix(b, []byte("-NOSCRIPT")) && c.wire.drops.Load() > 0 {
		c.wire.drops.Add(-1)
		return 0, os.ErrDeadlineExceeded
	}
	return n, err
}
