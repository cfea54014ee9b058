package strategies

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// PXATClientClock tells Redis until when, by the client's clock.
//
//	acquire   EVALSHA (EVAL where the server lacks the script):
//	          SET key token NX PXAT now+ttl
//	release   EVALSHA (EVAL likewise): if GET key == token then DEL key
//
// Source: rueidislock as it comes, without FallbackSETPX; one key of its three,
// and without its renewal.
//
// An expiry that is sent as an instant doesn't slip while the command is under
// way. But it is the client's instant, and Redis uses its own clock. If the
// client's is slow, the key expires that much too early; if it is slow by more
// than the TTL, Redis says OK to a key that is dead at once. The client counts
// on its whole TTL all the same. If its clock is fast, a dead holder blocks that
// much longer.
type PXATClientClock struct {
	rdb *redis.Client
	key string
	opt Options
}

// lockUntil stores the caller's token, to expire at an instant in Unix
// milliseconds, unless one is stored. It returns nil if one is.
var lockUntil = redis.NewScript(`
return redis.call("SET", KEYS[1], ARGV[1], "NX", "PXAT", ARGV[2])`)

// NewPXATClientClock locks key on one Redis server, of 6.2 or later.
func NewPXATClientClock(rdb *redis.Client, key string, o Options) *PXATClientClock {
	return &PXATClientClock{rdb: rdb, key: key, opt: o}
}

// Acquire stores a token under the key, with an instant at which it expires,
// unless the key exists.
func (l *PXATClientClock) Acquire(ctx context.Context) (*Lease, error) {
	return retry(ctx, l.opt, l.try)
}

func (l *PXATClientClock) try(ctx context.Context) (*Lease, error) {
	token := l.opt.Token()
	// An instant in Go carries the readings of both clocks. The library sends the
	// wall clock's to Redis, and sets its own timer by the other; it allows for no
	// drift.
	now := l.opt.Clock.Monotonic()
	until := l.opt.Clock.Now().Add(l.opt.TTL).UnixMilli()
	err := lockUntil.Run(ctx, l.rdb, []string{l.key}, token, until).Err()
	if errors.Is(err, redis.Nil) {
		return nil, ErrNotAcquired
	}
	if err != nil {
		return nil, err
	}
	return &Lease{Token: token, Deadline: now + l.opt.TTL}, nil
}

// Release deletes the key if it still holds the lease's token.
func (l *PXATClientClock) Release(ctx context.Context, lease *Lease) error {
	deleted, err := compareAndDelete.Run(ctx, l.rdb, []string{l.key}, lease.Token).Int()
	if err != nil {
		return err
	}
	if deleted == 0 {
		return ErrNotHeld
	}
	return nil
}
