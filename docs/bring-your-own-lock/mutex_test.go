package shop

import (
	"testing"

	"lockstep/sim/explore"
	"lockstep/sim/explore/locktest"
	"lockstep/strategies"
)

func TestMutex(t *testing.T) {
	locktest.Holds(t, strategies.Strategy{New: NewMutex}, func(b *explore.Bounds) {
		b.Cycles, b.Faults[explore.Pause] = 1, 2 // before Extend, and in it
	})
}
