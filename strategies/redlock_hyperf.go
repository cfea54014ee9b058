package strategies

import (
	"context"

	"github.com/redis/go-redis/v9"
)

// RedlockHyperf is Redlock as a PHP library ships it.
//
//	acquire   SET key token PX ttl NX, on every node in turn
//	          won if enough stored it and some of the TTL is left;
//	          otherwise release on every node
//	release   on every node, EVAL: if GET key == token then DEL key
//
// Source: the SDK of the English article, zonghay/redlock-hyperf 2021, a port of
// redlock-php: two tries, 100 to 200 ms apart.
//
// It departs from the algorithm in five ways. An error of any one node ends
// everything at once, and the tokens that other nodes have stored stay there until they
// expire; so the lock is no more available than its worst node. The time spent
// is measured on the wall clock: if that is set back meanwhile, a lease that has
// run out seems valid. N/2+1 is not rounded down, so three nodes must all
// agree, and four of five. All tries share one token, so that a delayed
// release of the first can undo the second. And the token is uniqid(gethostname(), true): the
// host's name, the microsecond and a pseudo-random fraction, which PHP's manual does not
// guarantee to be unique. Here Options.Token draws it.
type RedlockHyperf struct {
	nodes []*redis.Client
	key   string
	opt   Options
}

// NewRedlockHyperf locks key on Redis servers that know nothing of each other.
func NewRedlockHyperf(nodes []*redis.Client, key string, o Options) *RedlockHyperf {
	return &RedlockHyperf{nodes: nodes, key: key, opt: o}
}

// hyperfQuorum is how many of the nodes must agree. In PHP 5/2+1 is 3.5, and
// fewer than 4 are fewer than that.
func hyperfQuorum(nodes int) int { return min(nodes, (nodes+1)/2+1) }

// Acquire stores a token on enough of the nodes, or returns the error of the
// first node that has one.
func (l *RedlockHyperf) Acquire(ctx context.Context) (*Lease, error) {
	token := l.opt.Token()
	return retry(ctx, l.opt, func(ctx context.Context) (*Lease, error) {
		return l.try(ctx, token)
	})
}

func (l *RedlockHyperf) try(ctx context.Context, token string) (*Lease, error) {
	start := l.opt.Clock.Now().Round(0) // without Go's monotonic reading, which microtime() hasn't either
	votes := 0
	for _, node := range l.nodes {
		won, err := setPXNX(ctx, node, l.key, token, l.opt.TTL)
		if err != nil {
			return nil, err // no clean-up
		}
		if won {
			votes++
		}
	}
	validity := l.opt.TTL - l.opt.Clock.Now().Sub(start) - drift(l.opt.TTL)
	if votes >= hyperfQuorum(len(l.nodes)) && validity > 0 {
		// The library hands out how much is left, not until when: its caller
		// counts from the moment at which it looks.
		return &Lease{Token: token, Deadline: l.opt.Clock.Monotonic() + validity}, nil
	}
	if err := l.releaseAll(ctx, token); err != nil {
		return nil, err
	}
	return nil, ErrNotAcquired
}

// Release deletes the key wherever it still holds the lease's token, as far as
// the first node that fails. The library doesn't look at the count of deleted keys.
func (l *RedlockHyperf) Release(ctx context.Context, lease *Lease) error {
	return l.releaseAll(ctx, lease.Token)
}

func (l *RedlockHyperf) releaseAll(ctx context.Context, token string) error {
	for _, node := range l.nodes {
		if err := compareAndDelete.Eval(ctx, node, []string{l.key}, token).Err(); err != nil {
			return err
		}
	}
	return nil
}
