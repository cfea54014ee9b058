package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/trace"
	"lockstep/strategies"
)

// toyLock is a strategy made of two functions, for tests that need one with a
// certain flaw and no other.
type toyLock struct {
	rdb *redis.Client
	key string
	strategies.Options

	acquire func(context.Context, *toyLock) (*strategies.Lease, error)
	release func(context.Context, *toyLock, *strategies.Lease) error
}

func (l *toyLock) Acquire(ctx context.Context) (*strategies.Lease, error) { return l.acquire(ctx, l) }

func (l *toyLock) Release(ctx context.Context, lease *strategies.Lease) error {
	return l.release(ctx, l, lease)
}

// toy makes a strategy of them.
func toy(acquire func(context.Context, *toyLock) (*strategies.Lease, error),
	release func(context.Context, *toyLock, *strategies.Lease) error, scripts ...*redis.Script) strategies.Strategy {
	return strategies.Strategy{Name: "toy", Nodes: 1, Timeout: 3 * time.Second, Retry: strategies.Retry{Tries: 1}, Scripts: scripts,
		New: func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
			return &toyLock{rdb: nodes[0], key: key, Options: o, acquire: acquire, release: release}
		}}
}

// toyTake is SET NX PX with a token of its own.
func toyTake(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
	token := l.Token()
	sent := l.Clock.Monotonic()
	won, err := l.rdb.SetNX(ctx, l.key, token, l.TTL).Result()
	switch {
	case err != nil:
		return nil, err
	case !won:
		return nil, strategies.ErrNotAcquired
	}
	return &strategies.Lease{Token: token, Deadline: sent + l.TTL}, nil
}

// toyDrop is a plain DEL.
func toyDrop(ctx context.Context, l *toyLock, _ *strategies.Lease) error {
	return l.rdb.Del(ctx, l.key).Err()
}

// toyKeep releases nothing.
func toyKeep(context.Context, *toyLock, *strategies.Lease) error { return nil }

// toyDo is a client that sends the given commands in the place of Acquire, one
// after the other, and whose lease is of no use to anybody.
func toyDo(commands ...[]any) strategies.Strategy {
	return toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		for _, args := range commands {
			l.rdb.Do(ctx, args...)
		}
		return nil, strategies.ErrNotAcquired
	}, toyKeep)
}

// cmd is a command's words.
func cmd(words ...any) []any { return words }

// describe prints a state to compare it with another.
func describe(s *trace.State) string {
	return fmt.Sprintf("%s\n%+v\n%+v\n%+v", s.At, s.Clients, nodesText(s), s.Store)
}

func nodesText(s *trace.State) string {
	text := ""
	for i, n := range s.Nodes {
		text += fmt.Sprintf("n%d up=%v offset=%s", i+1, n.Up, n.Offset)
		for _, r := range n.Records {
			text += fmt.Sprintf(" %s=%s until %s by %v at %d", r.Key, r.Value, r.Expires, r.Owner, r.Written)
		}
		text += "\n"
	}
	return text
}
