package strategies

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// RedlockWallClock is Redlock with a stopwatch that can be set back.
//
//	acquire   SET key token PX ttl NX, on every node in turn
//	          won if a majority stored it and, by the wall clock, the lease has not
//	          run out meanwhile; otherwise release on every node
//	release   on every node, EVALSHA (EVAL where it lacks the script):
//	          if GET key == token then DEL key
//
// Source: redlock-py, by time.time(); node-redlock, by Date.now(); redlock-php
// and its ports, by microtime().
//
// If the wall clock is set back while the votes are collected, less time seems to
// have passed, or even less than none: a lease that has run out is granted, for
// longer than a whole ttl if need be. If it is set forward, a good lease is
// refused. In all else this is redlock, its release included.
type RedlockWallClock struct{ Redlock }

// NewRedlockWallClock locks key on Redis servers that know nothing of each other.
func NewRedlockWallClock(nodes []*redis.Client, key string, o Options) *RedlockWallClock {
	return &RedlockWallClock{Redlock{nodes: nodes, key: key, opt: o}}
}

// Acquire stores a token on a majority of the nodes, or on none.
func (l *RedlockWallClock) Acquire(ctx context.Context) (*Lease, error) {
	return retry(ctx, l.opt, l.try)
}

func (l *RedlockWallClock) try(ctx context.Context) (*Lease, error) {
	token := l.opt.Token()
	start := l.opt.Clock.Now().Round(0) // without Go's monotonic reading, which those libraries haven't either
	votes := 0
	for _, node := range l.nodes {
		won, err := setPXNX(ctx, node, l.key, token, l.opt.TTL)
		if err == nil && won {
			votes++
		}
	}
	elapsed := l.opt.Clock.Now().Sub(start)
	validity := l.opt.TTL - elapsed - drift(l.opt.TTL)
	if votes >= l.majority() && validity > 0 {
		// They hand out how much is left, not until when: the caller counts from
		// the moment at which it looks.
		return &Lease{Token: token, Deadline: l.opt.Clock.Monotonic() + validity}, nil
	}
	_, _ = l.releaseAll(context.WithoutCancel(ctx), token)
	return nil, ErrNotAcquired
}
