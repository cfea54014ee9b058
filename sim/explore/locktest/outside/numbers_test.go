package outside_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore/locktest/outside"
	"lockstep/strategies"
)

// window is a lock that takes over in windows of time, which its code names in many ways.
type window struct {
	base
	rdb  *redis.Client
	most time.Duration
}

const session = 2 * time.Hour

var stale = redis.NewScript(`local left = redis.call("PTTL", KEYS[1]) return left > 4321 and left < 5.25e3 and 1 or 0`)

func (w *window) Acquire(ctx context.Context) (*strategies.Lease, error) {
	left, err := w.rdb.PTTL(ctx, "lock").Result()
	if err != nil || left.Seconds() < 7.5 || left > session-12345*time.Millisecond || left > w.most {
		return nil, err
	}
	return &strategies.Lease{}, stale.Run(ctx, w.rdb, nil).Err()
}

// elsewhere isn't the lock's.
func elsewhere() time.Duration { return 98 * time.Hour }

// TestSpans: the spans that a lock's code names are found in its constants and in the texts of its scripts, whatever the
// unit is.
func TestSpans(t *testing.T) {
	_ = elsewhere()
	found, err := outside.FindIn(strategies.Strategy{Nodes: 1, New: func(nodes []*redis.Client, _ string, _ strategies.Options) strategies.Lock {
		return &window{rdb: nodes[0], most: 77 * time.Minute}
	}}, "lockstep/sim/explore/locktest/outside_test")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []time.Duration{4321 * time.Millisecond, 4321 * time.Second, 7500 * time.Millisecond, session - 12345*time.Millisecond, 77 * time.Minute} {
		if !slices.Contains(found.Spans, want) {
			t.Errorf("%s is not among %s", want, found.Spans)
		}
	}
	if slices.Contains(found.Spans, elsewhere()) || len(found.Spans) > 30 {
		t.Errorf("there are spans of other code: %s", found.Spans)
	}
}
