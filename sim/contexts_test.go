package sim

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/strategies"
)

// TestTimedContexts: the deadline of a context is an instant of the machine's clock, which virtual time
// never comes to. Whoever passes one to Redis or to the clock is told so, with the line.
func TestTimedContexts(t *testing.T) {
	for name, call := range map[string]func(context.Context, *toyLock){
		"command": func(ctx context.Context, l *toyLock) { l.rdb.Get(ctx, l.key) },
		"script":  func(ctx context.Context, l *toyLock) { redis.NewScript("return 1").Run(ctx, l.rdb, nil) },
		"pipeline": func(ctx context.Context, l *toyLock) {
			_, _ = l.rdb.Pipelined(ctx, func(p redis.Pipeliner) error { return p.Get(ctx, l.key).Err() })
		},
		"transaction": func(ctx context.Context, l *toyLock) {
			_, _ = l.rdb.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Get(ctx, l.key).Err() })
		},
		"watch": func(ctx context.Context, l *toyLock) {
			_ = l.rdb.Watch(ctx, func(*redis.Tx) error { return nil }, l.key)
		},
		"connection": func(ctx context.Context, l *toyLock) { c := l.rdb.Conn(); defer c.Close(); c.Get(ctx, l.key) }, //nolint:errcheck // it is refused
		"sleep":      func(ctx context.Context, l *toyLock) { _ = l.Clock.Sleep(ctx, time.Second) },
	} {
		t.Run(name, func(t *testing.T) {
			p := drive(t, toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
				timed, cancel := context.WithTimeout(ctx, time.Hour)
				defer cancel()
				nested, stop := context.WithCancel(timed)
				defer stop()
				call(nested, l)
				return nil, strategies.ErrNotAcquired
			}, toyKeep))
			if p == nil || !strings.Contains(p.Error(), "passes a context with a deadline") || !strings.Contains(p.Error(), "A's lock at sim/contexts_test.go:") {
				t.Errorf("panic %v", p)
			}
		})
	}
}
