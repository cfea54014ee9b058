package lock

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore/locktest"
	"lockstep/strategies"
)

// searched is the lock as the search uses it: with the search's tokens and clock.
type searched struct{ Lock }

func newSearched(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
	return &searched{Lock{Redis: nodes[0], Key: key, TTL: o.TTL, NewToken: o.Token, Now: o.Clock.Monotonic}}
}

func (s *searched) Acquire(ctx context.Context) (*strategies.Lease, error) {
	held, err := s.Lock.Acquire(ctx)
	switch {
	case errors.Is(err, ErrTaken):
		return nil, fmt.Errorf("%w: %w", strategies.ErrNotAcquired, err)
	case err != nil:
		return nil, err
	}
	return &strategies.Lease{Token: held.Token, Deadline: held.Until}, nil
}

func (s *searched) Release(ctx context.Context, lease *strategies.Lease) error {
	err := s.Lock.Release(ctx, &Held{Token: lease.Token, Until: lease.Deadline})
	if errors.Is(err, ErrLost) {
		return fmt.Errorf("%w: %w", strategies.ErrNotHeld, err)
	}
	return err
}

// TestLock searches every schedule of two processes that take the lock twice each, of which
// one may crash and one may be paused. Run go test -v to see what that covered. Then break a
// line of lock.go, say the comparison in release, to see the schedule in which it fails.
func TestLock(t *testing.T) {
	locktest.Holds(t, strategies.Strategy{New: newSearched})
}
