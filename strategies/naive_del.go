package strategies

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// NaiveDel acquires as it should, and releases without looking.
//
//	acquire   SET key token PX ttl NX
//	release   DEL key
//
// Source: the Chinese article, 浅谈 Redis 分布式锁实现, its wrong release 1.
//
// Value and expiry are set in one command, and the token is unique. But nobody
// asks for it: a holder that overruns its lease deletes the next holder's
// record, and lets a third client in beside it.
type NaiveDel struct {
	rdb *redis.Client
	key string
	opt Options
}

// NewNaiveDel locks key on one Redis server.
func NewNaiveDel(rdb *redis.Client, key string, o Options) *NaiveDel {
	return &NaiveDel{rdb: rdb, key: key, opt: o}
}

// Acquire stores a token under the key, with an expiry, unless the key exists.
func (l *NaiveDel) Acquire(ctx context.Context) (*Lease, error) {
	return retry(ctx, l.opt, l.try)
}

func (l *NaiveDel) try(ctx context.Context) (*Lease, error) {
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

// Release deletes the key, whoever's it is.
func (l *NaiveDel) Release(ctx context.Context, _ *Lease) error {
	return l.rdb.Del(ctx, l.key).Err()
}
