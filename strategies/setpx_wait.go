package strategies

import (
	"context"
	"time"

	"github.com/redis/go-redis/v9"
)

// SetPXWait has its record on a replica before it counts on it.
//
//	acquire   SET key token PX ttl NX
//	          WAIT 1 1000; if fewer have it: release, and refused
//	release   EVALSHA (EVAL where the server lacks the script):
//	          if GET key == token then DEL key
//
// Source: WAIT in the Redis documentation; Redisson's checkLockSyncedSlaves, for
// the timeout.
//
// Replication is asynchronous: a master that dies right after SET takes the
// record with it, unless a replica has it. But one replica of two is no promise
// that this very one is promoted; if it is the other, the lock is free (redisson
// 5256). Only if every replica that may be promoted has the record is that gap
// closed, and then the loss of any of them stops all locking. A majority would
// do if promotion needed one, but Redis's failover does not ask for it.
type SetPXWait struct {
	rdb *redis.Client
	key string
	opt Options
}

// How many replicas must have the record, and how long to wait for them: less
// than the client's read timeout, and little against the TTL.
const (
	waitReplicas = 1
	waitTimeout  = time.Second
)

// NewSetPXWait locks key on one Redis server that has replicas.
func NewSetPXWait(rdb *redis.Client, key string, o Options) *SetPXWait {
	return &SetPXWait{rdb: rdb, key: key, opt: o}
}

// Acquire stores a token under the key, with an expiry, unless the key exists,
// and gives it back if it does not reach enough replicas in time.
func (l *SetPXWait) Acquire(ctx context.Context) (*Lease, error) {
	return retry(ctx, l.opt, l.try)
}

func (l *SetPXWait) try(ctx context.Context) (*Lease, error) {
	conn := l.rdb.Conn() // WAIT is about the writes of its own connection
	defer func() { _ = conn.Close() }()

	token := l.opt.Token()
	sent := l.opt.Clock.Monotonic() // before the command: Redis starts counting later, never earlier
	won, err := setPXNX(ctx, conn, l.key, token, l.opt.TTL)
	if err != nil {
		return nil, err
	}
	if !won {
		return nil, ErrNotAcquired
	}
	lease := &Lease{Token: token, Deadline: sent + l.opt.TTL - drift(l.opt.TTL)}

	replicas, err := conn.Wait(ctx, waitReplicas, waitTimeout).Result()
	if err == nil && replicas >= waitReplicas {
		return lease, nil
	}
	// Nobody has the lock, but the key is there. Clean up, even if the caller has
	// stopped waiting.
	_ = l.Release(context.WithoutCancel(ctx), lease)
	if err != nil {
		return nil, err
	}
	return nil, ErrNotAcquired
}

// Release deletes the key if it still holds the lease's token.
func (l *SetPXWait) Release(ctx context.Context, lease *Lease) error {
	deleted, err := compareAndDelete.Run(ctx, l.rdb, []string{l.key}, lease.Token).Int()
	if err != nil {
		return err
	}
	if deleted == 0 {
		return ErrNotHeld
	}
	return nil
}
