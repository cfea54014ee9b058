package strategies

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// RedlockStrictErrors is Redlock that wins and won't have it.
//
//	acquire   SET key token PX ttl NX, on every node in turn
//	          won if a majority stored it, the lease has not run out meanwhile, and
//	          no node failed; if one did, its error, and the keys stay;
//	          otherwise release on every node
//	release   on every node, EVALSHA (EVAL where it lacks the script):
//	          if GET key == token then DEL key
//
// Source: redlock-py, which raises a MultipleRedlockException in this case.
//
// The point of a majority is that a minority may fail. Here a single node that is
// down turns every success into an error. The caller hasn't got the lock, and
// neither can anybody else: the majority of the nodes keeps its token until it
// expires, and the token is lost with the error. In all else this is redlock,
// its release included.
type RedlockStrictErrors struct{ Redlock }

// NewRedlockStrictErrors locks key on Redis servers that know nothing of each other.
func NewRedlockStrictErrors(nodes []*redis.Client, key string, o Options) *RedlockStrictErrors {
	return &RedlockStrictErrors{Redlock{nodes: nodes, key: key, opt: o}}
}

// Acquire stores a token on a majority of the nodes. If any node failed it
// returns the errors of all that did.
func (l *RedlockStrictErrors) Acquire(ctx context.Context) (*Lease, error) {
	return retry(ctx, l.opt, l.try)
}

func (l *RedlockStrictErrors) try(ctx context.Context) (*Lease, error) {
	token := l.opt.Token()
	sent := l.opt.Clock.Monotonic() // before the first command: no node starts counting earlier
	votes := 0
	var failed error
	for _, node := range l.nodes {
		won, err := setPXNX(ctx, node, l.key, token, l.opt.TTL)
		if err == nil && won {
			votes++
		}
		failed = errors.Join(failed, err)
	}
	deadline := sent + l.opt.TTL - drift(l.opt.TTL)
	if votes >= l.majority() && l.opt.Clock.Monotonic() < deadline {
		if failed != nil {
			return nil, failed // no clean-up
		}
		return &Lease{Token: token, Deadline: deadline}, nil
	}
	_, _ = l.releaseAll(context.WithoutCancel(ctx), token)
	return nil, ErrNotAcquired
}
