package sim

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"lockstep/sim/trace"
	"lockstep/strategies"
)

// client is one simulated process: its clocks, its connections, one instance of
// the strategy, and the program that uses it.
type client struct {
	world *World
	index int
	name  string

	wall wallClock
	mono monoClock
	rng  *rand.Rand

	redis   []*redis.Client
	conns   []*conn
	lock    strategies.Lock
	threads []*thread

	fate     fate // of its next request
	crashed  bool
	frozen   bool // paused by a fault, until resumed by one
	hung     bool // its main thread has stopped for good; the others go on
	paused   bool // not running although it could: see World.hold
	pausedAt time.Duration
	exposes  bool // its current lease has a deadline of the strategy's own
	tokens   int
	draws    int // of random numbers, other than for tokens
	acquired int
	leaseGen uint32 // so that the lapse of an earlier lease is dead
}

func newClient(w *World, index int, name string) *client {
	c := &client{world: w, index: index, name: name}
	for addr := range w.cfg.Nodes {
		c.redis = append(c.redis, c.connect(addr))
	}
	main := &thread{client: c, name: name}
	c.threads = []*thread{main}
	return c
}

// hushGoRedis keeps the library from printing to standard error, where it would
// write across the player's screen. What it would say shows in the trace.
var hushGoRedis = sync.OnceFunc(func() { redis.SetLogger(hush{}) })

type hush struct{}

func (hush) Printf(context.Context, string, ...any) {}

// connect makes the client's go-redis for one address, with everything switched
// off that would act by itself, or by the machine's clock.
func (c *client) connect(addr int) *redis.Client {
	return redis.NewClient(&redis.Options{
		Addr: c.world.nodes[addr].Name,
		// A dial never fails: that a node is down shows at the first command.
		// go-redis would back off in real time otherwise.
		Dialer: func(context.Context, string, string) (net.Conn, error) {
			conn := &conn{world: c.world, client: c, addr: addr}
			c.conns = append(c.conns, conn)
			return conn, nil
		},
		Protocol:                 2, // RESP3 would look for push messages between commands
		MaxRetries:               resends(c.world.cfg.Strategy),
		MinRetryBackoff:          -1, // go-redis would back off in real time
		DialerRetries:            1,
		ReadTimeout:              -2, // timeouts are the connection's, in virtual time
		WriteTimeout:             -2,
		ReadBufferSize:           1024,
		WriteBufferSize:          1024,
		PoolSize:                 64, // what threads that were killed have kept must not be missed within a run
		ConnMaxIdleTime:          -1,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	})
}

// warm opens the connections, so that no run has to.
func (c *client) warm() error {
	for _, r := range c.redis {
		if err := r.Ping(context.Background()).Err(); err != nil {
			return fmt.Errorf("cannot connect %s: %w", c.name, err)
		}
	}
	return nil
}

func (c *client) reset(cfg *ClientConfig) {
	w := c.world
	c.wall = wallClock{offset: cfg.Offset, rate: cfg.Rate}
	// Different origins: a strategy that sends a monotonic reading to another
	// process must not get away with it.
	c.mono = monoClock{origin: time.Duration(c.index+1) * 100 * time.Second, rate: cfg.Rate}
	c.rng = rand.New(rand.NewPCG(w.cfg.Seed, uint64(c.index)+1))
	c.fate = arrives
	c.crashed, c.frozen, c.hung, c.paused, c.tokens, c.draws, c.acquired = false, false, false, false, 0, 0, 0
	c.leaseGen++
	retry, program := w.cfg.Retry, c.main
	if c.name == Probe {
		retry, program = strategies.Retry{Tries: 1}, c.probing
	}
	o := strategies.Options{TTL: w.cfg.TTL, Retry: retry, Clock: clientClock{c}, Token: c.token, Random: c.random, Go: c.spawn}
	c.guard(new(bool), func() { c.lock = w.cfg.Strategy.New(c.redis, w.cfg.Key, o) })
	clear(c.threads[1:])
	c.threads = c.threads[:1]
	c.threads[0].start(program)
}

// mend replaces a go-redis client that misses a connection. A thread that is killed
// while the library cleans up after itself (a transaction sends UNWATCH when it is
// closed) never gives its connection back. In production its process would be gone.
func (c *client) mend() error {
	for addr, r := range c.redis {
		if s := r.PoolStats(); s.TotalConns != s.IdleConns {
			if err := r.Close(); err != nil {
				return err
			}
			c.redis[addr] = c.connect(addr)
		}
	}
	return nil
}

// resetConns makes the open connections as good as new and forgets the others.
func (c *client) resetConns() {
	open := c.conns[:0]
	for _, conn := range c.conns {
		if !conn.closed {
			conn.reset()
			open = append(open, conn)
		}
	}
	clear(c.conns[len(open):])
	c.conns = open
}

// spawn starts another thread of the process, as the go statement does.
func (c *client) spawn(run func()) {
	t := &thread{client: c, index: len(c.threads), name: fmt.Sprintf("%s/%d", c.name, len(c.threads)+1)}
	t.start(func(*thread) { run() })
	t.phase = trace.PhaseExtend
	c.threads = append(c.threads, t)
	c.world.ready(t)
}

func (c *client) close() error {
	var all error
	for _, t := range c.threads {
		t.kill()
	}
	for _, r := range c.redis {
		all = errors.Join(all, r.Close())
	}
	return all
}

// token is unique per acquisition and says whose it is: in production it would
// be random bytes, which nobody can follow on a screen.
func (c *client) token() string {
	if c.world.cfg.Tokens == SameTokens {
		return sameToken
	}
	c.tokens++
	b := make([]byte, 0, 24)
	b = append(b, c.name...)
	b = strconv.AppendInt(b, int64(c.tokens), 10)
	b = append(b, '-')
	return string(hex.AppendEncode(b, binary.BigEndian.AppendUint16(nil, uint16(c.rng.Uint32()))))
}

func (c *client) random(below time.Duration) time.Duration {
	c.draws++
	c.world.monitor.Drew()
	return time.Duration(c.rng.Int64N(int64(below)))
}

// main is the program of every client: acquire, do the workload's job, release;
// as often as its configuration says.
func (c *client) main(t *thread) {
	cfg, job := &c.world.cfg.Clients[c.index], jobs[c.world.cfg.Workload]
	for cycle := 1; cycle <= cfg.Cycles; cycle++ {
		job.begin(t, cycle)
		for !c.attempt(t, cycle, job, cfg) && cfg.Insist > 0 {
			t.do(op{kind: opSleep, d: cfg.Insist})
		}
	}
	t.note(trace.Event{Kind: trace.KindDone, Cycle: cfg.Cycles})
}

// attempt asks for the lock once, and does the job if it may. It reports whether
// there is nothing more to be done in this cycle.
func (c *client) attempt(t *thread, cycle int, job job, cfg *ClientConfig) bool {
	if job.served(t) {
		return true
	}
	ctx := context.Background()
	t.mark(trace.KindAcquire, cycle)
	lease, err := c.lock.Acquire(ctx)
	c.acquireReturned(t, cycle, lease, err)
	switch {
	case err == nil:
	case cfg.goesAhead(err):
		c.goAhead(t, cycle, job, cfg)
		return true
	default:
		return false
	}
	t.mark(trace.KindEnter, cycle)
	job.work(c, t, lease, cfg)
	t.mark(trace.KindLeave, cycle)
	t.mark(trace.KindRelease, cycle)
	if c.world.cfg.Tokens == MangledTokens {
		lease.Token = mangled(lease.Token)
	}
	c.releaseReturned(t, cycle, c.lock.Release(ctx, lease))
	return true
}

// goAhead is a caller that takes a broken lock service, or a lock that another
// holds, for no reason to wait.
func (c *client) goAhead(t *thread, cycle int, job job, cfg *ClientConfig) {
	t.mark(trace.KindEnter, cycle)
	job.work(c, t, &strategies.Lease{}, &ClientConfig{Work: cfg.Work})
	t.mark(trace.KindLeave, cycle)
	t.phase = trace.PhaseIdle
}

// resends is the strategy's go-redis MaxRetries, in which 0 would mean the default.
func resends(s strategies.Strategy) int {
	if s.Resends == 0 {
		return -1
	}
	return s.Resends
}

// writeBack works, and writes what came of it to the resource, unless it finds
// that it no longer may.
func (c *client) writeBack(t *thread, lease *strategies.Lease, cfg *ClientConfig, value int64) {
	if cfg.Work > 0 {
		t.do(op{kind: opSleep, d: cfg.Work})
	}
	if cfg.Extend && !c.extend(t, lease) || c.over(lease, cfg) {
		return
	}
	t.do(op{kind: opWrite, fence: lease.Fence, value: value})
}

// over is the check of a careful caller: is my lease over, by my own clock? Where the
// strategy exposes no deadline, the one that the lease was given counts, see granted.
func (c *client) over(lease *strategies.Lease, cfg *ClientConfig) bool {
	if !cfg.Checks || lease.Deadline == 0 && c.world.cfg.Strategy.NoTTL {
		return false
	}
	now := clientClock{c}.Monotonic()
	if lease.Deadline == 0 {
		return !c.world.state.Clients[c.index].Lease.Live
	}
	return now >= lease.Deadline
}

// extend prolongs the lease, if the strategy can. It reports whether the caller
// may go on.
func (c *client) extend(t *thread, lease *strategies.Lease) bool {
	extender, can := c.lock.(strategies.Extender)
	if !can {
		return true
	}
	accesses := t.command
	t.mark(trace.KindExtend, 0)
	err := extender.Extend(context.Background(), lease)
	t.phase, t.command = trace.PhaseWork, accesses
	if err != nil {
		t.note(trace.Event{Kind: trace.KindExtendFailed, Note: errorText(err)})
		return false
	}
	deadline := c.deadline(lease)
	t.note(trace.Event{Kind: trace.KindExtended, By: deadline})
	c.awaitLapse(deadline)
	return true
}

func (c *client) acquireReturned(t *thread, cycle int, lease *strategies.Lease, err error) {
	t.phase, t.command = trace.PhaseHold, 0
	switch {
	case errors.Is(err, strategies.ErrNotAcquired):
		t.phase = trace.PhaseIdle
		t.note(trace.Event{Kind: trace.KindRefused, Cycle: cycle})
	case err != nil:
		t.phase = trace.PhaseIdle
		t.note(trace.Event{Kind: trace.KindFailed, Cycle: cycle, Note: errorText(err)})
	default:
		c.granted(t, cycle, lease)
	}
}

// granted makes the lease live until the first of the events that end one, and
// sets the timer for its lapse.
//
// A strategy that exposes no deadline is given one: its reading of the monotonic
// clock when it sent the granting command, or the last that extended it, plus the
// TTL.
func (c *client) granted(t *thread, cycle int, lease *strategies.Lease) {
	deadline := c.deadline(lease)
	c.exposes = lease.Deadline != 0
	t.note(trace.Event{Kind: trace.KindGranted, Cycle: cycle, By: deadline, Token: lease.Token, Fence: lease.Fence})
	c.awaitLapse(deadline)
}

// renewed: a background thread has learnt that its renewal was executed. Where
// the strategy exposes no deadline, the lease is now given one a TTL after that
// command was sent, as at the grant.
func (c *client) renewed(t *thread) {
	if c.exposes || !c.world.state.Clients[c.index].Lease.Believed {
		return
	}
	deadline := c.deadline(&strategies.Lease{})
	t.note(trace.Event{Kind: trace.KindExtended, By: deadline})
	c.awaitLapse(deadline)
}

// reading is the lease's deadline on the client's monotonic clock; 0 is none.
func (c *client) reading(lease *strategies.Lease) time.Duration {
	if lease.Deadline != 0 || c.world.cfg.Strategy.NoTTL {
		return lease.Deadline
	}
	return c.mono.read(c.world.grantSent[c.index]) + c.world.cfg.TTL
}

// deadline is the true instant at which the client's clock reads it, or Never.
func (c *client) deadline(lease *strategies.Lease) time.Duration {
	reading := c.reading(lease)
	if reading == 0 {
		return trace.Never
	}
	return max(c.mono.when(reading), 0)
}

func (c *client) awaitLapse(deadline time.Duration) {
	c.leaseGen++
	if deadline != trace.Never && deadline > c.world.now {
		c.world.timers.push(timer{at: deadline, kind: timerLapse, gen: c.leaseGen, cl: c})
	}
}

func (c *client) releaseReturned(t *thread, cycle int, err error) {
	t.phase, t.command = trace.PhaseIdle, 0
	if err != nil {
		t.note(trace.Event{Kind: trace.KindReleaseFailed, Cycle: cycle, Note: errorText(err)})
		return
	}
	t.note(trace.Event{Kind: trace.KindReleased, Cycle: cycle})
}

// mark announces a step of the client's own: it happens when the schedule says so.
func (t *thread) mark(kind trace.Kind, cycle int) {
	t.do(op{kind: opMark, mark: kind, d: time.Duration(cycle)})
}

// note records what just became true by the step before: no other thread can
// come in between.
func (t *thread) note(e trace.Event) {
	if t.dead {
		return
	}
	e.Client, e.Thread, e.Node, e.Ref, e.Acq = t.client.index, t.index, trace.None, trace.None, t.client.acquired
	e.Phase = t.phase
	t.client.world.emit(&e)
}

// clientClock is what a strategy sees of time.
type clientClock struct{ c *client }

func (k clientClock) Now() time.Time {
	o := k.thread().do(op{kind: opClock, wall: true})
	return trace.Epoch.Add(o.d)
}

func (k clientClock) Monotonic() time.Duration {
	return k.thread().do(op{kind: opClock}).d
}

func (k clientClock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if d > 0 {
		k.thread().do(op{kind: opSleep, d: d})
	}
	return ctx.Err()
}

// thread is the one that is running: a strategy's code runs on no other.
func (k clientClock) thread() *thread {
	if t := k.c.world.current; t != nil && t.client == k.c {
		return t
	}
	panic("sim: " + k.c.name + "'s clock was read from a goroutine that is not one of its threads")
}
