package libraries

import (
	"context"
	"testing"
	"time"

	"github.com/go-redsync/redsync/v4"

	"lockstep/sim/bubble"
	"lockstep/sim/explore"
	"lockstep/sim/explore/locktest"
	"lockstep/sim/trace"
)

// once bounds a search to one cycle and one pause.
func once(b *explore.Bounds) { b.Cycles, b.Faults[explore.Crash] = 1, 0 }

// What holds above rests on the bubble's clock. A redsync that believes in its lease for half as long
// again as Redis keeps the record is found out.
func TestTooLongALeaseIsFound(t *testing.T) {
	wrong := bubble.Library{New: Redsync(redsync.WithDriftFactor(-0.5))}
	locktest.Breaks(t, bubble.Strategy(t, wrong), trace.Verdict{trace.DG}, once)
}

// And so is one that takes the instant after the reply for the beginning of its lease.
func TestALeaseFromTheReplyIsFound(t *testing.T) {
	wrong := bubble.Library{New: func(p *bubble.Process) bubble.Lock {
		l := Redislock(nil)(p)
		var until time.Time
		acquire := l.Acquire
		l.Acquire = func(ctx context.Context) error {
			err := acquire(ctx)
			until = time.Now().Add(p.TTL)
			return err
		}
		l.Until = func() time.Time { return until }
		return l
	}}
	locktest.Breaks(t, bubble.Strategy(t, wrong), trace.Verdict{trace.DG}, once)
}
