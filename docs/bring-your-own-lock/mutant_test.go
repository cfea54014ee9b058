package shop

import (
	"testing"

	"lockstep/sim/trace"
	"lockstep/sim/explore/locktest"
	"lockstep/strategies"
)

func TestTheSearchWouldNotice(t *testing.T) {
	mutant := strategies.Strategy{New: locktest.Functions(acquire, UnlockInTwo, ErrTaken)}
	locktest.Breaks(t, mutant, trace.Verdict{trace.DG, trace.FR})
}
