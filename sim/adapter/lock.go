package adapter

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/strategies"
)

// Strategy returns the program's lock as a strategy. Each of its instances is an execution,
// which begins at the first call, and ends with the client's run.
func (p *Program) Strategy() strategies.Strategy {
	h := p.hello
	about := h.Library
	if about == "" {
		about = h.Lock
	}
	s := strategies.Strategy{Name: h.Lock, Summary: about + ", in a process of its own", Source: p.command, Nodes: h.Servers,
		Timeout: micros(h.Timeout), Retry: strategies.Retry{Tries: 1}, NoTTL: h.NoTTL, Assumes: assumed,
		Patience: 2 * p.patience, Seeds: true, New: p.newLock} // the process has its own limit, whose error says more
	for _, text := range h.Scripts {
		s.Scripts = append(s.Scripts, redis.NewScript(text))
	}
	return s
}

// assumed is the text of the assumptions that a search can't check for itself.
const assumed = "the lock runs in a process of its own, whose next step follows from the calls, replies, readings and seeds that it was given, " +
	"as histories that were run again have shown. It has one thread, takes the time from its adapter alone, and waits for nothing but replies and that time. " +
	"Random numbers are one series for each acquisition, not every one that could be drawn"

func micros(n int64) time.Duration { return time.Duration(n) * time.Microsecond }

func (p *Program) newLock(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
	var s *session
	l := lock{
		call: func(m Message, answers ...string) (Message, error) {
			if s == nil {
				s = p.session(nodes, o)
				s.begin(key, m.Seed, o)
			}
			if s.during != "" {
				return Message{}, fmt.Errorf("its process is busy with %s: it takes one call at a time", s.during)
			}
			return s.call(m, append(answers, "failed")...), nil
		},
		token: func() string { return o.Token() },
		now:   func() time.Duration { return o.Clock.Monotonic() },
		stop: func() {
			if s != nil {
				s.stop()
			}
		},
	}
	if p.hello.Extends {
		return &extender{l}
	}
	return &l
}

// lock is an instance of a process's lock. It has closures only: the search compares the
// values of a lock's fields, and this lock's values are in its process.
type lock struct {
	call  func(m Message, answers ...string) (Message, error)
	token func() string
	now   func() time.Duration // a look at the client's clock
	stop  func()
}

// Acquire implements [strategies.Lock].
func (l *lock) Acquire(context.Context) (*strategies.Lease, error) {
	m, err := l.call(Message{Type: "acquire", Seed: l.token()}, "granted", "refused")
	if err != nil {
		return nil, err
	}
	if m.Type == "refused" {
		return nil, strategies.ErrNotAcquired
	}
	lease := &strategies.Lease{Token: m.Token}
	return lease, l.settle(lease, m)
}

// Release implements [strategies.Lock].
func (l *lock) Release(_ context.Context, lease *strategies.Lease) error {
	m, err := l.call(Message{Type: "release", Token: lease.Token}, "released", "not-held")
	if err != nil {
		return err
	}
	return l.settle(lease, m)
}

// Stop implements [strategies.Stopper].
func (l *lock) Stop() { l.stop() }

// settle returns the error that a message stands for, and sets the lease's deadline.
func (l *lock) settle(lease *strategies.Lease, m Message) error {
	switch {
	case m.Type == "failed":
		return errors.New(m.Error)
	case m.Type == "not-held":
		return strategies.ErrNotHeld
	case m.Remaining > 0:
		lease.Deadline = l.now() + micros(m.Remaining)
	}
	return nil
}

// extender is a lock that can extend its leases.
type extender struct{ lock }

// Extend implements [strategies.Extender].
func (l *extender) Extend(_ context.Context, lease *strategies.Lease) error {
	m, err := l.call(Message{Type: "extend", Token: lease.Token}, "extended", "not-held")
	if err != nil {
		return err
	}
	return l.settle(lease, m)
}

var (
	_ strategies.Stopper  = (*lock)(nil)
	_ strategies.Extender = (*extender)(nil)
)
