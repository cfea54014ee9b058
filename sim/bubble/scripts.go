package bubble

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/strategies"
)

// scripts finds the Lua scripts that a library calls by their digests, by a process whose
// requests are all granted: a server that has been in use for a while has them in its cache.
func scripts(t *testing.T, l Library) (found []*redis.Script) {
	seedRandom()
	b := newBubble(t, "scripts", Process{Key: "lock", TTL: 10 * time.Second, Nodes: l.Nodes, Retry: strategies.Retry{Tries: 1}})
	defer b.end()
	known := map[string]bool{}
	first := l.New
	for _, f := range []function{
		func(ctx context.Context, l *Lock) error { return l.Acquire(ctx) },
		func(ctx context.Context, l *Lock) error { return l.Extend(ctx) },
		func(ctx context.Context, l *Lock) error { return l.Release(ctx) },
	} {
		s := stimulus{call: f, make: first}
		first = nil
		for b.apply(&s); ; b.apply(&s) {
			s = stimulus{}
			for _, r := range b.take() {
				word := strings.ToUpper(r.args[0])
				if word == "EVAL" && !known[r.args[1]] {
					known[r.args[1]] = true
					found = append(found, redis.NewScript(r.args[1]))
				}
				s.replies = append(s.replies, reply{r.conn.node, r.conn.id, granting(word), nil})
			}
			if len(s.replies) == 0 {
				break
			}
		}
	}
	return found
}

// granting is the reply of a server that knows no script and says yes to everything.
func granting(command string) []byte {
	switch command {
	case "EVALSHA":
		return []byte("-NOSCRIPT No matching script. Please use EVAL.\r\n")
	case "EVAL":
		return []byte(":1\r\n")
	}
	return []byte("+OK\r\n")
}
