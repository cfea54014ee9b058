package shop

import (
	"testing"

	"lockstep/sim/explore/locktest"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

func TestTheSearchWouldNotice(t *testing.T) {
	mutant := strategies.Strategy{New: locktest.Functions(acquire, UnlockInTwo, ErrTaken)}
	locktest.Breaks(t, mutant, trace.Verdict{trace.DG, trace.FR})
}
