package strategies

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// FencedLate numbers its leases by a command of its own, too late.
//
//	acquire   SET key token PX ttl NX; if that stored it: INCR key:fence
//	release   EVALSHA (EVAL where the server lacks the script):
//	          if GET key == token then DEL key
//
// Source: a common mistake; compare fenced.
//
// Two commands are not one. A holder that is paused between them for longer than
// its lease draws its number after the next holder has drawn one. Now the stale
// lease has the higher number, and the resource, which compares numbers, lets it
// in and keeps the rightful one out.
type FencedLate struct {
	rdb *redis.Client
	key string
	opt Options
}

// NewFencedLate locks key on one Redis server.
func NewFencedLate(rdb *redis.Client, key string, o Options) *FencedLate {
	return &FencedLate{rdb: rdb, key: key, opt: o}
}

// Acquire stores a token under the key, with an expiry, unless the key exists,
// and then draws the lease's number.
func (l *FencedLate) Acquire(ctx context.Context) (*Lease, error) {
	return retry(ctx, l.opt, l.try)
}

func (l *FencedLate) try(ctx context.Context) (*Lease, error) {
	token := l.opt.Token()
	sent := l.opt.Clock.Monotonic() // before the command: Redis starts counting later, never earlier
	won, err := setPXNX(ctx, l.rdb, l.key, token, l.opt.TTL)
	if err != nil {
		return nil, err
	}
	if !won {
		return nil, ErrNotAcquired
	}
	fence, err := l.rdb.Incr(ctx, fenceKey(l.key)).Result()
	if err != nil {
		return nil, err // the record stays until it expires
	}
	return &Lease{Token: token, Deadline: sent + l.opt.TTL - drift(l.opt.TTL), Fence: fence}, nil
}

// Release deletes the key if it still holds the lease's token. The counter stays.
func (l *FencedLate) Release(ctx context.Context, lease *Lease) error {
	deleted, err := compareAndDelete.Run(ctx, l.rdb, []string{l.key}, lease.Token).Int()
	if err != nil {
		return err
	}
	if deleted == 0 {
		return ErrNotHeld
	}
	return nil
}
