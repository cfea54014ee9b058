// Package lock is a lock on one Redis server, with a test that searches every schedule of it
// within bounds.
package lock

import (
	"context"
	"errors"
	"time"

	"github.com/redis/go-redis/v9"
)

// ErrTaken means that another process has the lock.
var ErrTaken = errors.New("the lock is taken")

// ErrLost means that the lock was no longer the caller's when it was to be given back: its
// time was up, and another process may have had it meanwhile.
var ErrLost = errors.New("the lock was lost")

// Lock is a lock on one key, which all processes that take it have in common.
type Lock struct {
	Redis *redis.Client
	Key   string
	TTL   time.Duration // until the lock is free by itself, if its holder dies

	// NewToken returns a text that no process has had before, at each call. In production:
	// crypto/rand.Text.
	NewToken func() string
	// Now reads a clock that never jumps. In production, with start the time at which the
	// process began: time.Since(start).
	Now func() time.Duration
}

// Held is a lock that was taken.
type Held struct {
	Token string
	Until time.Duration // on the clock Now: from then on the caller must not count on it
}

// Acquire takes the lock. It returns ErrTaken if another process has it; after any other
// error nobody knows whether it was taken, and it will be free after the TTL.
func (l *Lock) Acquire(ctx context.Context) (*Held, error) {
	// The clock is read before the command is sent: the TTL begins at the server no earlier.
	token, sent := l.NewToken(), l.Now()
	won, err := l.Redis.SetNX(ctx, l.Key, token, l.TTL).Result()
	if err != nil {
		return nil, err
	}
	if !won {
		return nil, ErrTaken
	}
	drift := l.TTL/100 + 2*time.Millisecond // for clocks that don't run at quite the same rate
	return &Held{Token: token, Until: sent + l.TTL - drift}, nil
}

// release deletes the record if it is still the caller's. To compare and to delete must be
// one step: between two, the record may expire, and another process may take the lock.
var release = redis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
  return redis.call("DEL", KEYS[1])
end
return 0`)

// Release gives the lock back. It returns ErrLost if that was lost already.
func (l *Lock) Release(ctx context.Context, held *Held) error {
	deleted, err := release.Run(ctx, l.Redis, []string{l.Key}, held.Token).Int()
	if err != nil {
		return err
	}
	if deleted == 0 {
		return ErrLost
	}
	return nil
}
