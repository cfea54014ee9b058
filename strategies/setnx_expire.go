package strategies

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// SetNXExpire gives the oldest lock an expiry, by a second command.
//
//	acquire   SETNX key token
//	          if that stored it: EXPIRE key ttl
//	release   DEL key
//
// Source: the Chinese article, 浅谈 Redis 分布式锁实现, its wrong lock 1, which stores the request's id; the
// English article's first attempt; and Laravel's cache lock: the value 1 and the DEL until version 5.8
// (laravel/framework 26645), the two commands until 2020 (laravel/framework 31168).
//
// Two commands are not one. A client that dies between them, or whose EXPIRE does not
// arrive, leaves a record without an expiry, which nobody will ever remove. And
// since DEL doesn't ask for the value, a holder that overruns its lease deletes
// the next one's record.
type SetNXExpire struct {
	rdb *redis.Client
	key string
	opt Options
}

// NewSetNXExpire locks key on one Redis server. EXPIRE counts in whole seconds,
// so a fraction of the TTL is cut off.
func NewSetNXExpire(rdb *redis.Client, key string, o Options) *SetNXExpire {
	return &SetNXExpire{rdb: rdb, key: key, opt: o}
}

// Acquire stores a token under the key unless something is stored there already,
// and then lets it expire.
func (l *SetNXExpire) Acquire(ctx context.Context) (*Lease, error) {
	return retry(ctx, l.opt, l.try)
}

func (l *SetNXExpire) try(ctx context.Context) (*Lease, error) {
	token := l.opt.Token()
	won, err := setNX(ctx, l.rdb, l.key, token)
	if err != nil {
		return nil, err
	}
	if !won {
		return nil, ErrNotAcquired
	}
	if err := l.rdb.Expire(ctx, l.key, l.opt.TTL).Err(); err != nil {
		return nil, err
	}
	return &Lease{Token: token}, nil
}

// Release deletes the key, whoever's it is.
func (l *SetNXExpire) Release(ctx context.Context, _ *Lease) error {
	return l.rdb.Del(ctx, l.key).Err()
}
