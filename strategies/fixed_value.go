package strategies

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// FixedValue does everything right, with a token that all clients share.
//
//	acquire   SET key locked PX ttl NX
//	release   EVALSHA (EVAL where the server lacks the script):
//	          if GET key == locked then DEL key
//
// Source: the English article on RedLock-Hyperf, on the uniqueness of the value.
//
// Comparing proves nothing when all values are equal. A holder that overruns its
// lease finds "its" value stored, and deletes the next holder's record.
type FixedValue struct {
	rdb *redis.Client
	key string
	opt Options
}

// fixedValue is the value that every holder stores.
const fixedValue = "locked"

// NewFixedValue locks key on one Redis server.
func NewFixedValue(rdb *redis.Client, key string, o Options) *FixedValue {
	return &FixedValue{rdb: rdb, key: key, opt: o}
}

// Acquire stores the fixed value under the key, with an expiry, unless the key
// exists.
func (l *FixedValue) Acquire(ctx context.Context) (*Lease, error) {
	return retry(ctx, l.opt, l.try)
}

func (l *FixedValue) try(ctx context.Context) (*Lease, error) {
	won, err := setPXNX(ctx, l.rdb, l.key, fixedValue, l.opt.TTL)
	if err != nil {
		return nil, err
	}
	if !won {
		return nil, ErrNotAcquired
	}
	return &Lease{Token: fixedValue}, nil
}

// Release deletes the key if it holds the fixed value, which it does for as long
// as anybody has the lock.
func (l *FixedValue) Release(ctx context.Context, lease *Lease) error {
	deleted, err := compareAndDelete.Run(ctx, l.rdb, []string{l.key}, lease.Token).Int()
	if err != nil {
		return err
	}
	if deleted == 0 {
		return ErrNotHeld
	}
	return nil
}
