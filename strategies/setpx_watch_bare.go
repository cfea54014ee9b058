package strategies

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// SetPXWatchBare watches the key, and then does nothing with it.
//
//	acquire   SET key token PX ttl NX
//	release   WATCH key; GET key; if that is the token: DEL key
//	          in any case UNWATCH
//
// Source: redis-py's lock before 3.0, as its pull request 1031 found it: after
// WATCH its pipeline executes each command at once, until MULTI.
//
// WATCH stops no command. All that it does is to call off an EXEC, and there is
// none. If the key expires after GET and somebody else acquires it, DEL removes
// that one's record, as if nobody had watched.
type SetPXWatchBare struct {
	rdb *redis.Client
	key string
	opt Options
}

// NewSetPXWatchBare locks key on one Redis server.
func NewSetPXWatchBare(rdb *redis.Client, key string, o Options) *SetPXWatchBare {
	return &SetPXWatchBare{rdb: rdb, key: key, opt: o}
}

// Acquire stores a token under the key, with an expiry, unless the key exists.
func (l *SetPXWatchBare) Acquire(ctx context.Context) (*Lease, error) {
	return retry(ctx, l.opt, l.try)
}

func (l *SetPXWatchBare) try(ctx context.Context) (*Lease, error) {
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

// Release deletes the key if it held the lease's token a moment ago.
func (l *SetPXWatchBare) Release(ctx context.Context, lease *Lease) error {
	return l.rdb.Watch(ctx, func(tx *redis.Tx) error {
		holder, err := tx.Get(ctx, l.key).Result()
		if err != nil && !errors.Is(err, redis.Nil) { // no key reads as "": nobody's token
			return err
		}
		if holder != lease.Token {
			return ErrNotHeld
		}
		return tx.Del(ctx, l.key).Err() // at once: tx.TxPipelined would have waited for EXEC
	}, l.key)
}
