package strategies

import (
	"context"
	"errors"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// GetSetEqual takes an expired stamp over by swapping it: a client wins only
// if it gets back the very stamp that it had read.
//
//	acquire   SETNX key now+ttl
//	          if refused: GET key; if that is < now: GETSET key now+ttl;
//	          won if GETSET's answer is the stamp that GET read
//	release   DEL key
//
// Source: the Chinese article, 浅谈 Redis 分布式锁实现, its wrong lock 2.
//
// Of several that read the same expired stamp one wins, but the losers write
// too: each replaces the winner's stamp with its own, which may end earlier, so
// that a third client takes over while the winner is still at work, or later,
// and then outlives the winner. Stamps are no tokens: two clients may compute
// the same one. They are compared with each client's own wall clock, and nothing
// in the record says whose it is, so a late release deletes the next holder's.
type GetSetEqual struct {
	rdb *redis.Client
	key string
	opt Options
}

// NewGetSetEqual locks key on one Redis server.
func NewGetSetEqual(rdb *redis.Client, key string, o Options) *GetSetEqual {
	return &GetSetEqual{rdb: rdb, key: key, opt: o}
}

// Acquire stores the end of the lease under the key, or swaps it for an expired
// one.
func (l *GetSetEqual) Acquire(ctx context.Context) (*Lease, error) {
	return retry(ctx, l.opt, l.try)
}

func (l *GetSetEqual) try(ctx context.Context) (*Lease, error) {
	stamp := l.opt.Clock.Now().Add(l.opt.TTL).UnixMilli()
	lease := &Lease{Token: strconv.FormatInt(stamp, 10)}

	won, err := setNX(ctx, l.rdb, l.key, stamp)
	if err != nil {
		return nil, err
	}
	if won {
		return lease, nil
	}

	read, err := l.rdb.Get(ctx, l.key).Int64()
	switch {
	case errors.Is(err, redis.Nil): // released just now: come again
		return nil, ErrNotAcquired
	case err != nil:
		return nil, err
	case read >= l.opt.Clock.Now().UnixMilli():
		return nil, ErrNotAcquired
	}

	//lint:ignore SA1019 GETSET, deprecated or not, is what this lock is about
	old, err := l.rdb.GetSet(ctx, l.key, stamp).Int64()
	switch {
	case errors.Is(err, redis.Nil): // refused, and yet the stamp is stored now
		return nil, ErrNotAcquired
	case err != nil:
		return nil, err
	case old != read: // somebody was faster, and has just lost its stamp to ours
		return nil, ErrNotAcquired
	}
	return lease, nil
}

// Release deletes the key, whoever's it is.
func (l *GetSetEqual) Release(ctx context.Context, _ *Lease) error {
	return l.rdb.Del(ctx, l.key).Err()
}
