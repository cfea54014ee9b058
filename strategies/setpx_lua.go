package strategies

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// SetPXLua is the single-server lock done right.
//
//	acquire   SET key token PX ttl NX
//	release   EVALSHA (EVAL where the server lacks the script):
//	          if GET key == token then DEL key
//
// Source: the Chinese and English articles' correct lock, and the "Correct
// implementation with a single instance" of the Redis documentation.
//
// Value and expiry are set in one command, the token is unique per acquisition,
// and owner check and deletion are one script. One failure remains, which no lock can
// prevent: a holder that is paused for longer than its lease wakes up inside the
// critical section with somebody else.
type SetPXLua struct {
	rdb *redis.Client
	key string
	opt Options
}

// compareAndDelete deletes the key if it still holds the caller's token.
var compareAndDelete = redis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
  return redis.call("DEL", KEYS[1])
end
return 0`)

// NewSetPXLua locks key on one Redis server.
func NewSetPXLua(rdb *redis.Client, key string, o Options) *SetPXLua {
	return &SetPXLua{rdb: rdb, key: key, opt: o}
}

// Acquire stores a token under the key, with an expiry, unless the key exists.
func (l *SetPXLua) Acquire(ctx context.Context) (*Lease, error) {
	return retry(ctx, l.opt, l.try)
}

func (l *SetPXLua) try(ctx context.Context) (*Lease, error) {
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

// Release deletes the key if it still holds the lease's token.
func (l *SetPXLua) Release(ctx context.Context, lease *Lease) error {
	deleted, err := compareAndDelete.Run(ctx, l.rdb, []string{l.key}, lease.Token).Int()
	if err != nil {
		return err
	}
	if deleted == 0 {
		return ErrNotHeld
	}
	return nil
}
