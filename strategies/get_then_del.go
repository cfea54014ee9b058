package strategies

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// GetThenDel acquires as it should, and looks before it releases.
//
//	acquire   SET key token PX ttl NX
//	release   GET key; if that is the token: DEL key
//
// Source: the Chinese article, 浅谈 Redis 分布式锁实现, its wrong release 2.
//
// DEL need not find the record that GET saw. If the key expires between the two
// and somebody else acquires it, DEL removes that one's record.
type GetThenDel struct {
	rdb *redis.Client
	key string
	opt Options
}

// NewGetThenDel locks key on one Redis server.
func NewGetThenDel(rdb *redis.Client, key string, o Options) *GetThenDel {
	return &GetThenDel{rdb: rdb, key: key, opt: o}
}

// Acquire stores a token under the key, with an expiry, unless the key exists.
func (l *GetThenDel) Acquire(ctx context.Context) (*Lease, error) {
	return retry(ctx, l.opt, l.try)
}

func (l *GetThenDel) try(ctx context.Context) (*Lease, error) {
	token := l.opt.Token()
	won, err := setPXNX(ctx, l.rdb, l.key, token, l.opt.TTL)
	if err != nil {
		return nil, err
	}
	if !won {
		return nil, ErrNotAcquired
	}
	return &Lease{Token: token}, nil
}

// Release deletes the key if it held the lease's token a moment ago.
func (l *GetThenDel) Release(ctx context.Context, lease *Lease) error {
	holder, err := l.rdb.Get(ctx, l.key).Result()
	if err != nil && !errors.Is(err, redis.Nil) { // no key reads as "": nobody's token
		return err
	}
	if holder != lease.Token {
		return ErrNotHeld
	}
	return l.rdb.Del(ctx, l.key).Err()
}
