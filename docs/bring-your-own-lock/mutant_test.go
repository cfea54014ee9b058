package shop

import (
	"testing"

	"lockstep/sim"
	"lockstep/sim/explore/locktest"
	"lockstep/strategies"
)

func TestTheSearchWouldNotice(t *testing.T) {
	mutant := strategies.Strategy{New: locktest.Functions(acquire, UnlockInTwo, ErrTaken)}
	locktest.Breaks(t, mutant, sim.Verdict{sim.DG, sim.FR})
}
