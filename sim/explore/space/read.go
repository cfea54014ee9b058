package space

import (
	"errors"
	"fmt"

	"lockstep/sim"
)

// Read returns the choice that moves make which begin with a fault, and the number of moves
// that belong to it.
func Read(x *Explorer, moves []sim.Move) (Choice, int, error) {
	f, then := moves[0].Fault, sim.Fault(nil)
	if len(moves) > 1 {
		then = moves[1].Fault
	}
	for i := range choiceRows {
		if choiceRows[i].read == nil {
			continue
		}
		if c, n := choiceRows[i].read(x, f, then); n > 0 {
			return c, n, nil
		}
	}
	if _, down := f.(sim.Down); down {
		return Choice{}, 0, errors.New("a node that is down and stays down is nothing that a search does")
	}
	return Choice{}, 0, fmt.Errorf("%q is nothing that a search does", f)
}
