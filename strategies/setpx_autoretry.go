package strategies

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// SetPXAutoRetry is the single-server lock done right, over a client that means
// too well.
//
//	acquire   SET key token PX ttl NX, sent again by the client library, up to
//	          three times, when no reply comes
//	release   EVALSHA (EVAL where the server lacks the script), sent again likewise:
//	          if GET key == token then DEL key
//
// Source: go-redis as it comes: MaxRetries is 3 unless set, to -1 for none. Its
// issue 2985 is such a case.
//
// SET NX is not a command to send twice. If it was executed and only its reply
// got lost, the second one finds the key and is refused: by the caller's own
// token, which nobody will release now, and which keeps everybody out until it
// expires. Without the library's help the caller would at least have seen an
// error, and known that it does not know.
type SetPXAutoRetry struct {
	rdb *redis.Client
	key string
	opt Options
}

// NewSetPXAutoRetry locks key on one Redis server.
func NewSetPXAutoRetry(rdb *redis.Client, key string, o Options) *SetPXAutoRetry {
	return &SetPXAutoRetry{rdb: rdb, key: key, opt: o}
}

// Acquire stores a token under the key, with an expiry, unless the key exists.
func (l *SetPXAutoRetry) Acquire(ctx context.Context) (*Lease, error) {
	return retry(ctx, l.opt, l.try)
}

func (l *SetPXAutoRetry) try(ctx context.Context) (*Lease, error) {
	token := l.opt.Token()
	sent := l.opt.Clock.Monotonic() // before the command: Redis starts counting later, never earlier
	won, err := setPXNX(ctx, l.rdb, l.key, token, l.opt.TTL)
	if err != nil {
		return nil, err
	}
	if !won { // by another's token, or by this one
		return nil, ErrNotAcquired
	}
	return &Lease{Token: token, Deadline: sent + l.opt.TTL - drift(l.opt.TTL)}, nil
}

// Release deletes the key if it still holds the lease's token. If the reply was
// lost, the second time it doesn't, and a release that was done is reported as
// ErrNotHeld.
func (l *SetPXAutoRetry) Release(ctx context.Context, lease *Lease) error {
	deleted, err := compareAndDelete.Run(ctx, l.rdb, []string{l.key}, lease.Token).Int()
	if err != nil {
		return err
	}
	if deleted == 0 {
		return ErrNotHeld
	}
	return nil
}
