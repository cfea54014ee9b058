package strategies

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// SetPXDelEx is the single-server lock without a script.
//
//	acquire   SET key token PX ttl NX
//	release   DELEX key IFEQ token
//
// Source: DELEX of Redis 8.4. Valkey has it since 9.2, and as DELIFEQ since 9.0.
//
// One command compares and deletes, so nothing can come between, as in the
// script that it replaces. One failure remains, which no lock can prevent: a holder that
// is paused for longer than its lease wakes up inside the critical section with
// somebody else.
type SetPXDelEx struct {
	rdb *redis.Client
	key string
	opt Options
}

// NewSetPXDelEx locks key on one Redis server, of 8.4 or later.
func NewSetPXDelEx(rdb *redis.Client, key string, o Options) *SetPXDelEx {
	return &SetPXDelEx{rdb: rdb, key: key, opt: o}
}

// Acquire stores a token under the key, with an expiry, unless the key exists.
func (l *SetPXDelEx) Acquire(ctx context.Context) (*Lease, error) {
	return retry(ctx, l.opt, l.try)
}

func (l *SetPXDelEx) try(ctx context.Context) (*Lease, error) {
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

// Release deletes the key if it still holds the lease's token.
func (l *SetPXDelEx) Release(ctx context.Context, lease *Lease) error {
	deleted, err := l.rdb.DelExArgs(ctx, l.key, redis.DelExArgs{Mode: "IFEQ", MatchValue: lease.Token}).Result()
	if err != nil {
		return err
	}
	if deleted == 0 {
		return ErrNotHeld
	}
	return nil
}
