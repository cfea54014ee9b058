package strategies

import (
	"context"
	"errors"
	"strconv"

	"github.com/redis/go-redis/v9"
)

// GetSetExpired takes over any expired stamp by GETSET, and adds an expiry
// that is Redis's own.
//
//	acquire   SETNX key now+ttl
//	          if refused: GET key; if that is < now: GETSET key now+ttl;
//	          won if GETSET's answer is < now too
//	          once won: EXPIRE key ttl
//	release   TTL key; if that is not 0: DEL key
//
// Source: the Japanese article on GETSET locks, the complete code. Stamps are
// Unix seconds, and a key that is gone counts as expired, as null < time() does
// in PHP.
//
// All that is wrong with GETSET locks is wrong here: the losers overwrite the
// winner's stamp, and by doing so wipe its EXPIRE; the stamps are compared with
// each client's own wall clock; two GETSETs in a row may both get an expired
// stamp back. The release means "if the key is still there", but in PHP the -2
// of a missing key and the -1 of one without expiry are true, and the 0 of a key
// in its last half second is false. Nothing in the record says whose it is.
type GetSetExpired struct {
	rdb *redis.Client
	key string
	opt Options
}

// NewGetSetExpired locks key on one Redis server. EXPIRE counts in whole
// seconds, so a fraction of the TTL is cut off.
func NewGetSetExpired(rdb *redis.Client, key string, o Options) *GetSetExpired {
	return &GetSetExpired{rdb: rdb, key: key, opt: o}
}

// Acquire stores the end of the lease under the key, or swaps it for an expired
// one, and then lets the key expire.
func (l *GetSetExpired) Acquire(ctx context.Context) (*Lease, error) {
	return retry(ctx, l.opt, l.try)
}

func (l *GetSetExpired) try(ctx context.Context) (*Lease, error) {
	stamp := l.opt.Clock.Now().Add(l.opt.TTL).Unix()
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
	if err := l.rdb.Expire(ctx, l.key, l.opt.TTL).Err(); err != nil {
		return nil, err
	}
	return &Lease{Token: strconv.FormatInt(stamp, 10)}, nil
}

// expired returns nil if the stamp in the reply lies in the past, and
// ErrNotAcquired if it doesn't.
func (l *GetSetExpired) expired(reply *redis.StringCmd) error {
	stamp, err := reply.Int64()
	if err != nil && !errors.Is(err, redis.Nil) { // no key reads as 0: long expired
		return err
	}
	if stamp >= l.opt.Clock.Now().Unix() {
		return ErrNotAcquired
	}
	return nil
}

// Release deletes the key, whoever's it is, unless its remaining time rounds to
// no seconds at all.
func (l *GetSetExpired) Release(ctx context.Context, _ *Lease) error {
	ttl, err := l.rdb.TTL(ctx, l.key).Result()
	if err != nil {
		return err
	}
	if ttl == 0 { // PHP's idea of false: -1 and -2 are true
		return nil
	}
	return l.rdb.Del(ctx, l.key).Err()
}
