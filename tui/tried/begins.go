package tried

import (
	"time"

	"lockstep/sim"
	"lockstep/sim/fault"
)

// Begins reports whether the least way begins with the steps of a move, or with more of the
// same client's.
func Begins(path, move []sim.Move) bool {
	if move[0].Count == 0 && move[0].Fault == nil || len(move) == 1 && move[0].Fault != nil {
		return len(path) > 0 && Same(path[0], move[0]) || len(move) == 1 && move[0].Wait > 0 && len(path) > 0 && waitOf(path) == move[0].Wait
	}
	step := move[len(move)-1]
	var fault fault.Fault
	if len(move) > 1 {
		fault = move[0].Fault
	}
	left := step.Count
	for _, m := range path {
		switch {
		case left <= 0:
			return fault == nil
		case m.Fault != nil && fault != nil && m.Fault.String() == fault.String():
			fault = nil
		case m.Count > 0 && m.Who == step.Who:
			left -= m.Count
		default:
			return false
		}
	}
	return left <= 0 && fault == nil
}

// waitOf is the time that passes at the beginning of a way, before anything else happens.
func waitOf(path []sim.Move) (d time.Duration) {
	for _, m := range path {
		if m.Wait == 0 {
			break
		}
		d += m.Wait
	}
	return d
}
