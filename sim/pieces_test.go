package sim

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"lockstep/sim/trace"
	"lockstep/strategies"
)

// TestCommandsInPieces: go-redis writes through a buffer of 1 KiB, so a large
// command arrives in pieces; and a reply larger than its buffer is read in pieces.
func TestCommandsInPieces(t *testing.T) {
	big := strings.Repeat("0123456789", 1000)
	s := toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		pipe := l.rdb.Pipeline()
		pipe.Set(ctx, "a", big, 0)
		pipe.Set(ctx, "b", "small", 0)
		a, b := pipe.Get(ctx, "a"), pipe.Get(ctx, "b")
		if _, err := pipe.Exec(ctx); err != nil {
			return nil, err
		}
		if a.Val() != big || b.Val() != "small" {
			return nil, fmt.Errorf("a has %d bytes, b is %q", len(a.Val()), b.Val())
		}
		return &strategies.Lease{}, nil
	}, toyKeep)
	w := newWorld(t, configOf(s, "A"))
	run(t, w)
	if count(w, trace.KindGranted) != 1 || count(w, trace.KindSend) != 4 || count(w, trace.KindExecute) != 4 || count(w, trace.KindReceive) != 4 {
		t.Errorf("it went otherwise:\n%s", strings.Join(story(w, trace.KindFailed, trace.KindSend, trace.KindExecute, trace.KindReceive), "\n"))
	}
}
