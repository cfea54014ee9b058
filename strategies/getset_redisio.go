package strategies

import (
	"context"
	"errors"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// GetSetRedisIO is the GETSET lock as the Redis documentation once taught it.
//
//	acquire   SETNX key now+ttl+1
//	          if refused: GET key; if that is < now: GETSET key now+ttl+1;
//	          won if GETSET's answer is < now too
//	release   if the own stamp is not < now: DEL key
//
// Source: the page of SETNX in the Redis documentation, its locking pattern.
// Stamps are Unix seconds. The page doesn't say what a key means that is gone
// by the time of GET or GETSET; here it counts as expired.
//
// The losers overwrite the winner's stamp, which the page calls no problem; it is
// one whenever their stamps differ by much. The stamps are compared with each
// client's own wall clock. And the page's advice, to check before DEL that one's
// time is not over, is better than nothing, but not by much: the check and DEL are
// two steps, and nothing in the record says whose it is.
type GetSetRedisIO struct {
	rdb *redis.Client
	key string
	opt Options
}

// NewGetSetRedisIO locks key on one Redis server.
func NewGetSetRedisIO(rdb *redis.Client, key string, o Options) *GetSetRedisIO {
	return &GetSetRedisIO{rdb: rdb, key: key, opt: o}
}

// Acquire stores the end of the lease under the key, or swaps it for an expired
// one.
func (l *GetSetRedisIO) Acquire(ctx context.Context) (*Lease, error) {
	return retry(ctx, l.opt, l.try)
}

func (l *GetSetRedisIO) try(ctx context.Context) (*Lease, error) {
	stamp := l.opt.Clock.Now().Add(l.opt.TTL).Unix() + 1
	won, err := setNX(ctx, l.rdb, l.key, stamp)
	if err != nil {
		return nil, err
	}
	if !won {
		if err := l.expired(l.rdb.Get(ctx, l.key)); err != nil {
			return nil, err
		}
		//lint:ignore SA1019 GETSET, deprecated or not, is what this lock is about
		if err := l.expired(l.rdb.GetSet(ctx, l.key, stamp)); err != nil {
			return nil, err
		}
	}
	return &Lease{Token: strconv.FormatInt(stamp, 10)}, nil
}

// expired returns nil if the stamp in the reply lies in the past, and
// ErrNotAcquired if it doesn't.
func (l *GetSetRedisIO) expired(reply *redis.StringCmd) error {
	stamp, err := reply.Int64()
	if err != nil && !errors.Is(err, redis.Nil) { // no key reads as 0: long expired
		return err
	}
	if stamp >= l.opt.Clock.Now().Unix() {
		return ErrNotAcquired
	}
	return nil
}

// Release deletes the key, whoever's it is, unless the lease is over.
func (l *GetSetRedisIO) Release(ctx context.Context, lease *Lease) error {
	stamp, err := strconv.ParseInt(lease.Token, 10, 64)
	if err != nil {
		return err
	}
	if stamp < l.opt.Clock.Now().Unix() {
		return ErrNotHeld
	}
	return l.rdb.Del(ctx, l.key).Err()
}
