package explore

import (
	"slices"

	"lockstep/sim"
)

// countless are the violations whose names take no "a": a plural, and what one does
// not count.
var countless = []sim.Code{sim.OV, sim.GAP, sim.BD}

// Named is what a schedule shows, as it stands in a sentence: "a stale write",
// "overlapping critical sections".
func Named(c sim.Code) string {
	if slices.Contains(countless, c) {
		return c.Name()
	}
	return "a " + c.Name()
}
