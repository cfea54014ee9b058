package shop

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/strategies"
)

// Mutex is a lock in a value of its own, whose caller learns until when it has it.
// In production its options are strategies.NewSystemClock() and
// strategies.RandomToken; in a search they are the search's.
type Mutex struct {
	rdb *redis.Client
	key string
	o   strategies.Options
}

// NewMutex locks key on one node.
func NewMutex(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
	return &Mutex{nodes[0], key, o}
}

// Acquire asks up to o.Retry.Tries times, and waits a little longer or shorter each time, so that
// those who wait don't all come back at once. It has no time limit of its own: its caller passes a
// context with one, in production.
func (m *Mutex) Acquire(ctx context.Context) (*strategies.Lease, error) {
	for n := 1; ; n++ {
		token, sent := m.o.Token(), m.o.Clock.Monotonic()
		err := Lock(ctx, m.rdb, m.key, token, m.o.TTL)
		switch {
		case err == nil:
			return &strategies.Lease{Token: token, Deadline: m.deadline(sent)}, nil
		case err != ErrTaken:
			return nil, err
		case n == m.o.Retry.Tries:
			return nil, fmt.Errorf("%w: %w", strategies.ErrNotAcquired, err)
		}
		if err := m.o.Clock.Sleep(ctx, m.o.Retry.Delay+m.o.Random(m.o.Retry.Jitter)); err != nil {
			return nil, err
		}
	}
}

// deadline is the end of a lease that was asked for, or extended, at a time on the monotonic clock.
func (m *Mutex) deadline(sent time.Duration) time.Duration {
	drift := m.o.TTL/100 + 2*time.Millisecond
	return sent + m.o.TTL - drift
}

// Extend prolongs the lease by another TTL, if the lock is still its own.
func (m *Mutex) Extend(ctx context.Context, lease *strategies.Lease) error {
	sent := m.o.Clock.Monotonic()
	extended, err := extend.Run(ctx, m.rdb, []string{m.key}, lease.Token, m.o.TTL.Milliseconds()).Bool()
	if err != nil {
		return err
	}
	if !extended {
		return strategies.ErrNotHeld
	}
	lease.Deadline = m.deadline(sent)
	return nil
}

var extend = redis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
  return redis.call("PEXPIRE", KEYS[1], ARGV[2])
end
return 0`)

// Release gives the lock back.
func (m *Mutex) Release(ctx context.Context, lease *strategies.Lease) error {
	return Unlock(ctx, m.rdb, m.key, lease.Token)
}
