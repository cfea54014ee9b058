package strategies

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// RedlockNoElapsed is Redlock without the time that it took.
//
//	acquire   SET key token PX ttl NX, on every node in turn
//	          won if a majority stored it, for a whole ttl from then;
//	          otherwise release on every node
//	release   on every node, EVALSHA (EVAL where it lacks the script):
//	          if GET key == token then DEL key
//
// Source: hand-written Redlocks; node-redlock 5, where the lease that is handed out says
// rightly when it ends, but is granted even if that is over, which comes to the same for a
// caller who doesn't look. Its version 4 looked: lock.expiration > Date.now().
//
// The first node counts from the first command, the caller from the last reply.
// If a node is slow, or the client was paused while replies were under way, the
// keys may be gone, and in others' hands, before the caller begins. In all else
// this is redlock, its release included.
type RedlockNoElapsed struct{ Redlock }

// NewRedlockNoElapsed locks key on Redis servers that know nothing of each other.
func NewRedlockNoElapsed(nodes []*redis.Client, key string, o Options) *RedlockNoElapsed {
	return &RedlockNoElapsed{Redlock{nodes: nodes, key: key, opt: o}}
}

// Acquire stores a token on a majority of the nodes, or on none.
func (l *RedlockNoElapsed) Acquire(ctx context.Context) (*Lease, error) {
	return retry(ctx, l.opt, l.try)
}

func (l *RedlockNoElapsed) try(ctx context.Context) (*Lease, error) {
	token := l.opt.Token()
	votes := 0
	for _, node := range l.nodes {
		won, err := setPXNX(ctx, node, l.key, token, l.opt.TTL)
		if err == nil && won {
			votes++
		}
	}
	if votes >= l.majority() {
		validity := l.opt.TTL - drift(l.opt.TTL)
		return &Lease{Token: token, Deadline: l.opt.Clock.Monotonic() + validity}, nil
	}
	_, _ = l.releaseAll(context.WithoutCancel(ctx), token)
	return nil, ErrNotAcquired
}
