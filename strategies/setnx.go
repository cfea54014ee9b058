package strategies

import (
	"context"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// SetNX is the oldest Redis lock: the key exists, or it does not.
//
//	acquire   SETNX key now+ttl
//	release   DEL key
//
// Source: the Japanese article on GETSET locks, part 4. The value is a stamp, in
// Unix seconds, which this part of the article stores and does not yet read.
//
// While nothing is lost and nobody dies it excludes perfectly, for the record
// never expires. That is also how it fails: a holder that dies leaves a record
// that nobody will ever remove.
type SetNX struct {
	rdb *redis.Client
	key string
	opt Options
}

// NewSetNX locks key on one Redis server.
func NewSetNX(rdb *redis.Client, key string, o Options) *SetNX {
	return &SetNX{rdb: rdb, key: key, opt: o}
}

// Acquire stores the end of the lease under the key unless something is stored
// there already.
func (l *SetNX) Acquire(ctx context.Context) (*Lease, error) {
	return retry(ctx, l.opt, l.try)
}

func (l *SetNX) try(ctx context.Context) (*Lease, error) {
	stamp := l.opt.Clock.Now().Add(l.opt.TTL).Unix()
	won, err := setNX(ctx, l.rdb, l.key, stamp)
	if err != nil {
		return nil, err
	}
	if !won {
		return nil, ErrNotAcquired
	}
	return &Lease{Token: strconv.FormatInt(stamp, 10)}, nil
}

// Release deletes the key, whoever's it is.
func (l *SetNX) Release(ctx context.Context, _ *Lease) error {
	return l.rdb.Del(ctx, l.key).Err()
}
