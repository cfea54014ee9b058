package strategies

import (
	"context"
	"errors"

	"github.com/redis/go-redis/v9"
)

// Redlock asks several independent Redis servers, and has the lock if most of
// them agree.
//
//	acquire   SET key token PX ttl NX, on every node in turn
//	          won if a majority stored it and the lease has not run out meanwhile
//	          otherwise release on every node
//	release   on every node, EVALSHA (EVAL where it lacks the script):
//	          if GET key == token then DEL key
//
// Source: the Redlock algorithm of the Redis documentation, with five nodes;
// its author's redlock-rb for how often and how soon to ask again.
//
// A node that fails, or does not answer within the client's read timeout, counts
// as one that refused; that timeout must be small against the TTL. Exclusion
// rests on this: a majority cannot be had twice at a time. So it holds as long
// as no node forgets a key before its time, by a restart without persistence or
// by a jump of its clock, and clocks run at nearly the same rate. And as with
// every lock, a holder that is paused for longer than its lease wakes up inside
// the critical section with somebody else.
type Redlock struct {
	nodes []*redis.Client
	key   string
	opt   Options
}

// NewRedlock locks key on Redis servers that know nothing of each other.
func NewRedlock(nodes []*redis.Client, key string, o Options) *Redlock {
	return &Redlock{nodes: nodes, key: key, opt: o}
}

// Acquire stores a token on a majority of the nodes, or on none. It returns
// ErrNotAcquired also where too many nodes failed to answer.
func (l *Redlock) Acquire(ctx context.Context) (*Lease, error) {
	return retry(ctx, l.opt, l.try)
}

func (l *Redlock) try(ctx context.Context) (*Lease, error) {
	token := l.opt.Token()
	sent := l.opt.Clock.Monotonic() // before the first command: no node starts counting earlier
	votes := 0
	for _, node := range l.nodes {
		won, err := setPXNX(ctx, node, l.key, token, l.opt.TTL)
		if err == nil && won {
			votes++
		}
	}
	deadline := sent + l.opt.TTL - drift(l.opt.TTL)
	if votes >= l.majority() && l.opt.Clock.Monotonic() < deadline {
		return &Lease{Token: token, Deadline: deadline}, nil
	}
	// A node that seemed to refuse may have stored the token and lost its reply.
	// Clean up there too, and even if the caller has stopped waiting.
	_, _ = l.releaseAll(context.WithoutCancel(ctx), token)
	return nil, ErrNotAcquired
}

// Release deletes the key wherever it still holds the lease's token. It is
// content if a majority did. Otherwise the lock had been lost, unless a node that
// failed might have made the majority: then its error is returned.
func (l *Redlock) Release(ctx context.Context, lease *Lease) error {
	deleted, err := l.releaseAll(ctx, lease.Token)
	if deleted >= l.majority() {
		return nil
	}
	if err != nil {
		return err
	}
	return ErrNotHeld
}

// releaseAll goes on past nodes that fail. It returns how many held the token,
// and all their errors.
func (l *Redlock) releaseAll(ctx context.Context, token string) (deleted int, failed error) {
	for _, node := range l.nodes {
		n, err := compareAndDelete.Run(ctx, node, []string{l.key}, token).Int()
		deleted += n
		failed = errors.Join(failed, err)
	}
	return deleted, failed
}

func (l *Redlock) majority() int { return len(l.nodes)/2 + 1 }
