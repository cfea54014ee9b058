package explore

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"lockstep/sim/explore/behaviour"
	"lockstep/strategies"
)

// TestNondeterminism: a strategy that depends on something besides its observations is
// caught, and the error names the client and the two operations that differ.
func TestNondeterminism(t *testing.T) {
	var drawn atomic.Int64 // all processes of the simulation share it, and no real ones would
	options := map[string]string{"ttl": "12s", "key": "lock", "a": "1", "b": "2", "c": "3", "d": "4"}
	for name, token := range map[string]func() string{
		"a global counter": func() string { return fmt.Sprint("token-", drawn.Add(1)) },
		"package time":     func() string { return fmt.Sprint("token-", time.Now().UnixNano()) },
		"the order of a map": func() string {
			text := "token"
			for k := range options {
				text += "-" + k
			}
			return text
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			m := mutant{release: rightRelease, acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
				token, sent := token(), m.Clock.Monotonic()
				if err := m.set(ctx, m.nodes[0], token, m.TTL); err != nil {
					return nil, err
				}
				return &strategies.Lease{Token: token, Deadline: sent + m.TTL - m.grace()}, nil
			}}
			b := Bounds{Strategy: mutantStrategy(m, 1), Clients: 2, Cycles: 2, TTL: 12 * time.Second, Faults: Budget{Crash: 1, Pause: 1, ReplyLost: 1}}
			ctx, cancel := context.WithTimeout(context.Background(), time.Minute) // not to wait for ever if it loops
			defer cancel()
			_, err := Run(ctx, b, Options{})
			var n *behaviour.Nondeterminism
			if !errors.As(err, &n) {
				t.Fatalf("nobody noticed: %v", err)
			}
			if n.Once == n.Again || !strings.Contains(n.Once, "token-") || !strings.Contains(n.Again, "token-") {
				t.Errorf("the error doesn't say what differs: %v", err)
			}
		})
	}
}

// TestOnceInAProcess: what a lock does only at its first execution in this process is done at each
// one of a process of its own. No search comes to it, as the lock was run before; and whoever is
// the first client would do it on behalf of all.
func TestOnceInAProcess(t *testing.T) {
	var first sync.Once
	m := mutant{release: rightRelease, acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
		first.Do(func() { m.nodes[0].Del(ctx, m.key) })
		token, sent := m.Token(), m.Clock.Monotonic()
		if err := m.set(ctx, m.nodes[0], token, m.TTL); err != nil {
			return nil, err
		}
		return &strategies.Lease{Token: token, Deadline: sent + m.TTL - m.grace()}, nil
	}}
	r, err := Run(t.Context(), Bounds{Strategy: mutantStrategy(m, 1), Clients: 2, Cycles: 1, TTL: 12 * time.Second}, Options{})
	var n *behaviour.Nondeterminism
	if !errors.As(err, &n) {
		t.Fatalf("nobody noticed: %v, %v", r, err)
	}
	if n.Once != "DEL lock" || n.Again == n.Once || n.Client != "A" || n.Source.Line == 0 {
		t.Errorf("the error doesn't say what differs: %v", err)
	}
}
