package strategies

import (
	"context"
	"errors"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// TimestampDel stores the end of the lease, and deletes a stamp that has passed.
//
//	acquire   SETNX key now+ttl
//	          if refused: GET key; if that is < now: DEL key, and from the start
//	release   DEL key
//
// Source: the Japanese article on GETSET locks, part 5, first half. Stamps are
// Unix seconds. This is the algorithm that it means; its code is
// timestamp-overwritten.
//
// Between reading a stamp and deleting it anything may happen: two that have
// both read the expired stamp both take over, the second by deleting the
// first's. A key that is gone counts as expired, so a release in that gap does
// the same with no time passing at all. The stamps are compared with each
// client's own wall clock, and nothing in the record says whose it is.
type TimestampDel struct {
	rdb *redis.Client
	key string
	opt Options
}

// NewTimestampDel locks key on one Redis server.
func NewTimestampDel(rdb *redis.Client, key string, o Options) *TimestampDel {
	return &TimestampDel{rdb: rdb, key: key, opt: o}
}

// Acquire stores the end of the lease under the key unless an unexpired one is
// stored there already.
func (l *TimestampDel) Acquire(ctx context.Context) (*Lease, error) {
	return retry(ctx, l.opt, l.try)
}

// try stores a stamp, as often as it can delete an expired one.
func (l *TimestampDel) try(ctx context.Context) (*Lease, error) {
	for {
		stamp := l.opt.Clock.Now().Add(l.opt.TTL).Unix()
		won, err := setNX(ctx, l.rdb, l.key, stamp)
		if err != nil {
			return nil, err
		}
		if won {
			return &Lease{Token: strconv.FormatInt(stamp, 10)}, nil
		}
		stored, err := l.rdb.Get(ctx, l.key).Int64()
		if err != nil && !errors.Is(err, redis.Nil) { // no key reads as 0: long expired
			return nil, err
		}
		if stored >= l.opt.Clock.Now().Unix() {
			return nil, ErrNotAcquired
		}
		if err := l.rdb.Del(ctx, l.key).Err(); err != nil {
			return nil, err
		}
	}
}

// Release deletes the key, whoever's it is.
func (l *TimestampDel) Release(ctx context.Context, _ *Lease) error {
	return l.rdb.Del(ctx, l.key).Err()
}
