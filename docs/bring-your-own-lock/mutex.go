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

// Acquire asks up to o.Retry.Tries times.
func (m *Mutex) Acquire(ctx context.Context) (*strategies.Lease, error) {
	for n := 1; ; n++ {
		token, sent := m.o.Token(), m.o.Clock.Monotonic()
		err := Lock(ctx, m.rdb, m.key, token, m.o.TTL)
		switch {
		case err == nil:
			drift := m.o.TTL/100 + 2*time.Millisecond
			return &strategies.Lease{Token: token, Deadline: sent + m.o.TTL - drift}, nil
		case err != ErrTaken:
			return nil, err
		case n == m.o.Retry.Tries:
			return nil, fmt.Errorf("%w: %w", strategies.ErrNotAcquired, err)
		}
		if err := m.o.Clock.Sleep(ctx, m.o.Retry.Delay); err != nil {
			return nil, err
		}
	}
}

// Release gives the lock back.
func (m *Mutex) Release(ctx context.Context, lease *strategies.Lease) error {
	return Unlock(ctx, m.rdb, m.key, lease.Token)
}
