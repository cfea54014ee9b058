package strategies

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// SetPXWatch is the single-server lock for servers without scripts.
//
//	acquire   SET key token PX ttl NX
//	release   WATCH key; GET key; if that is the token: MULTI, DEL key, EXEC
//	          otherwise UNWATCH
//
// Source: redis-py's lock before it used Lua, done right; "Redis in Action".
//
// DEL need not find the record that GET saw, but then EXEC executes nothing: the
// connection has watched the key, and any change of it since GET, its
// expiry included (since Redis 6.0.9, says WATCH's page), calls the transaction off. All of this
// must go over one connection, which go-redis sees to. One failure remains, which no
// lock can prevent: a holder that is paused for longer than its lease wakes up
// inside the critical section with somebody else.
type SetPXWatch struct {
	rdb *redis.Client
	key string
	opt Options
}

// NewSetPXWatch locks key on one Redis server.
func NewSetPXWatch(rdb *redis.Client, key string, o Options) *SetPXWatch {
	return &SetPXWatch{rdb: rdb, key: key, opt: o}
}

// Acquire stores a token under the key, with an expiry, unless the key exists.
func (l *SetPXWatch) Acquire(ctx context.Context) (*Lease, error) {
	return retry(ctx, l.opt, l.try)
}

func (l *SetPXWatch) try(ctx context.Context) (*Lease, error) {
	token := l.opt.Token()
	sent := l.opt.Clock.Monotonic() // before the command: Redis starts counting later, never earlier
	won, err := setPXNX(ctx, l.rdb, l.key, token, l.opt.TTL)
	if err != nil {
		return nil, err
	}
	if !won {
		return nil, ErrNotAcquired
	}
	return &Lease{Token: token, Deadline: sent + l.opt.TTL - drift(l.opt.TTL)}, nil
}

// Release deletes the key if it still holds the lease's token when the
// transaction is executed.
func (l *SetPXWatch) Release(ctx context.Context, lease *Lease) error {
	err := l.rdb.Watch(ctx, func(tx *redis.Tx) error {
		holder, err := tx.Get(ctx, l.key).Result()
		if err != nil && !errors.Is(err, redis.Nil) { // no key reads as "": nobody's token
			return err
		}
		if holder != lease.Token {
			return ErrNotHeld
		}
		_, err = tx.TxPipelined(ctx, func(multi redis.Pipeliner) error {
			return multi.Del(ctx, l.key).Err()
		})
		return err
	}, l.key)
	if errors.Is(err, redis.TxFailedErr) { // since GET it has expired, or changed hands
		return ErrNotHeld
	}
	return err
}
