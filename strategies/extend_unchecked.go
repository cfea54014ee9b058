package strategies

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// ExtendUnchecked looks before it prolongs its lease, as get-then-del looks
// before it releases it.
//
//	acquire   SET key token PX ttl NX
//	extend    GET key; if that is the token: PEXPIRE key ttl
//	release   EVALSHA (EVAL where the server lacks the script):
//	          if GET key == token then DEL key
//
// Source: redisson 84, and many hand-written locks; some send SET key token XX PX
// ttl instead of PEXPIRE.
//
// PEXPIRE need not find the record that GET saw. If the key expires between the
// two and somebody else acquires it, PEXPIRE prolongs that one's record, and its
// answer 1 is taken for a lease of one's own. With SET XX it is worse: the
// other's token is gone as well.
type ExtendUnchecked struct {
	rdb *redis.Client
	key string
	opt Options
}

// NewExtendUnchecked locks key on one Redis server.
func NewExtendUnchecked(rdb *redis.Client, key string, o Options) *ExtendUnchecked {
	return &ExtendUnchecked{rdb: rdb, key: key, opt: o}
}

// Acquire stores a token under the key, with an expiry, unless the key exists.
func (l *ExtendUnchecked) Acquire(ctx context.Context) (*Lease, error) {
	return retry(ctx, l.opt, l.try)
}

func (l *ExtendUnchecked) try(ctx context.Context) (*Lease, error) {
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

// Extend prolongs the key if it held the lease's token a moment ago.
func (l *ExtendUnchecked) Extend(ctx context.Context, lease *Lease) error {
	holder, err := l.rdb.Get(ctx, l.key).Result()
	if err != nil && !errors.Is(err, redis.Nil) { // no key reads as "": nobody's token
		return err
	}
	if holder != lease.Token {
		return ErrNotHeld
	}
	sent := l.opt.Clock.Monotonic()
	extended, err := l.rdb.PExpire(ctx, l.key, l.opt.TTL).Result()
	if err != nil {
		return err
	}
	if !extended {
		return ErrNotHeld
	}
	lease.Deadline = sent + l.opt.TTL - drift(l.opt.TTL)
	return nil
}

// Release deletes the key if it still holds the lease's token.
func (l *ExtendUnchecked) Release(ctx context.Context, lease *Lease) error {
	deleted, err := compareAndDelete.Run(ctx, l.rdb, []string{l.key}, lease.Token).Int()
	if err != nil {
		return err
	}
	if deleted == 0 {
		return ErrNotHeld
	}
	return nil
}
