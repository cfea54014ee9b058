package space

import "lockstep/sim"

// Outside lists, in words, what no schedule within some bounds has.
func Outside(b *Bounds) string {
	var covered []sim.Fault
	for i := range choiceRows {
		covered = append(covered, choiceRows[i].makes()...)
	}
	return b.Outside(covered)
}
