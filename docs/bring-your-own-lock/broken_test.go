//go:build broken

package shop

import (
	"testing"

	"lockstep/sim/explore"
	"lockstep/sim/explore/locktest"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// TestUnlockInTwo fails: its output is shown in bring-your-own-lock.md.
func TestUnlockInTwo(t *testing.T) {
	lock := strategies.Strategy{New: locktest.Functions(acquire, UnlockInTwo, ErrTaken)}
	locktest.Holds(t, lock, func(b *explore.Bounds) { b.Codes = trace.Verdict{trace.FR} })
}
