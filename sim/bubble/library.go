package bubble

import (
	"context"
	"errors"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"lockstep/strategies"
)

// Library is a lock library, and how a program uses it.
type Library struct {
	// Nodes is on how many independent servers it keeps its lock unless a run has another
	// number; 0 is one.
	Nodes int
	// Extends: the locks that New makes have an Extend.
	Extends bool
	// Background: its goroutines go on by themselves between calls. A thread of the client's lets
	// them, whenever a timer of theirs goes off.
	Background bool
	// Outgoing edits a command before it leaves the process: see [Process.Alias] and
	// [Process.Wall]. It may be nil.
	Outgoing func(p *Process, args []string)
	// New makes a process's lock. It runs in the bubble, at the process's first call.
	New func(*Process) Lock
}

// Lock is a library's lock on one key, as a program uses it. The functions run in the bubble,
// one at a time. Their errors are those of [strategies.Lock], or the library's own: see
// Refusals and Losses.
type Lock struct {
	Acquire func(context.Context) error
	Release func(context.Context) error
	Extend  func(context.Context) error // nil if the library can't

	// Until returns the end of the lease that was acquired or extended last, on the bubble's
	// clock. Nil if the library tells its caller none: then the lease lasts for the TTL since
	// the command that stored it was sent.
	Until func() time.Time
	// Token returns the value that the lock has stored, for traces. It may be nil.
	Token func() string

	Refusals []error // of Acquire, if another client has the lock
	Losses   []error // of Release and Extend, if this client had it no longer
}

// Process is a library's environment in its process. Its methods may be called in the bubble.
type Process struct {
	Name  string // of the client
	Key   string
	TTL   time.Duration
	Nodes int              // of the lock
	Retry strategies.Retry // how often, and how far apart, Acquire is to ask

	b       *bubble
	ends    []func()
	aliases map[string]string // of the words that it has drawn
	wall    time.Time         // its client's wall clock at the beginning
}

// Dial opens a connection to a node, from 0. The node answers in RESP 2, and refuses HELLO as a
// server before Redis 6 does.
func (p *Process) Dial(node int) net.Conn { return p.b.dial(node) }

// Redis returns a go-redis client of a node, from 0. It has go-redis's own settings but for
// those that act by themselves: it doesn't send a command again that has failed, which
// go-redis does up to three times (MaxRetries). A function may adjust its options.
func (p *Process) Redis(node int, adjust ...func(*redis.Options)) *redis.Client {
	o := &redis.Options{
		Addr:                     fmt.Sprintf("127.0.0.1:%d", 7000+node), // a name would be looked up
		Dialer:                   func(context.Context, string, string) (net.Conn, error) { return p.Dial(node), nil },
		Protocol:                 2,
		ReadBufferSize:           1024, // of each process: there are thousands in a search
		WriteBufferSize:          1024,
		MaxRetries:               -1,
		MinRetryBackoff:          -1, // go-redis draws its length from math/rand
		DialerRetries:            1,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled, EndpointType: maintnotifications.EndpointTypeNone}, // or go-redis 9.22 asks the DNS
	}
	for _, f := range adjust {
		f(o)
	}
	c := redis.NewClient(o)
	p.AtEnd(func() { _ = c.Close() })
	return c
}

// Alias returns the word that takes the place of one which the library has drawn from
// math/rand. It is the same for the same word, and no other client's.
func (p *Process) Alias(word string) string {
	alias, known := p.aliases[word]
	if !known {
		alias = fmt.Sprintf("%s-%d", p.Name, len(p.aliases)+1)
		p.aliases[word] = alias
	}
	return alias
}

// Wall returns the reading of the client's wall clock at the instant for which the bubble's reads
// this, both in milliseconds since 1970: a bubble's clock begins in the year 2000.
func (p *Process) Wall(millis int64) int64 {
	return p.wall.Add(time.UnixMilli(millis).Sub(p.b.began)).UnixMilli()
}

// AtEnd has a function called when the process ends, the last one first. All goroutines of
// the library must end then.
func (p *Process) AtEnd(f func()) { p.ends = append(p.ends, f) }

// Strategy returns the library's lock as the simulator takes it. The caller may set further
// fields, such as Name or Timeout. Bubbles need a test, and end with it.
func Strategy(t *testing.T, l Library) strategies.Strategy {
	t.Helper()
	s, _ := Measured(t, l)
	return s
}

// readTimeout is how long go-redis waits for a reply unless it is told otherwise.
const readTimeout = 5 * time.Second

// Measured is Strategy, and counts the steps of the bubbles.
func Measured(t *testing.T, l Library) (strategies.Strategy, *Stats) {
	t.Helper()
	l.Nodes = max(l.Nodes, 1)
	f := &family{t: t, library: l, alive: map[*program]bool{}}
	t.Cleanup(f.end)
	return strategies.Strategy{Name: t.Name(), Nodes: l.Nodes, Timeout: readTimeout, Scripts: scripts(t, l), New: f.lock, Seeds: true}, &f.stats
}

// lock implements [strategies.Strategy.New].
func (f *family) lock(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
	var p *program
	if nodes[0] != nil { // or it is only asked whether it extends
		p = f.begin(nodes, key, o)
	}
	l := plain{acquire: p.acquire, release: p.release, end: p.end}
	if f.library.Extends {
		return &extending{l, p.extend}
	}
	return &l
}

// plain is a lock as the simulator sees it. Its functions hide the bubble from the search,
// which digests the values of a lock's fields.
type plain struct {
	acquire func() (*strategies.Lease, error)
	release func() error
	end     func()
}

// Acquire implements [strategies.Lock].
func (l *plain) Acquire(context.Context) (*strategies.Lease, error) { return l.acquire() }

// Release implements [strategies.Lock].
func (l *plain) Release(context.Context, *strategies.Lease) error { return l.release() }

// Stop implements [strategies.Stopper].
func (l *plain) Stop() { l.end() }

type extending struct {
	plain
	extend func(*strategies.Lease) error
}

// Extend implements [strategies.Extender].
func (l *extending) Extend(_ context.Context, lease *strategies.Lease) error { return l.extend(lease) }

func (p *program) acquire() (*strategies.Lease, error) {
	err := p.call(func(ctx context.Context, l *Lock) error {
		return as(strategies.ErrNotAcquired, l.Acquire(ctx), l.Refusals)
	})
	if err != nil {
		return nil, err
	}
	return &strategies.Lease{Token: p.b.token, Deadline: p.deadline()}, nil
}

func (p *program) release() error {
	return p.call(func(ctx context.Context, l *Lock) error { return as(strategies.ErrNotHeld, l.Release(ctx), l.Losses) })
}

func (p *program) extend(lease *strategies.Lease) error {
	err := p.call(func(ctx context.Context, l *Lock) error { return as(strategies.ErrNotHeld, l.Extend(ctx), l.Losses) })
	if err == nil {
		lease.Deadline = p.deadline()
	}
	return err
}

// as wraps an error that is one of the library's own into the simulator's.
func as(ours, err error, theirs []error) error {
	for _, e := range theirs {
		if errors.Is(err, e) {
			return fmt.Errorf("%w: %w", ours, err)
		}
	}
	return err
}
