package certificate

import "fmt"

// Edge leads from a state of a walk, by its place among those that are known, to one that may not be
// known yet.
type Edge struct {
	From int
	Move Move
	To   []uint32
}

// Walk goes through the states that follow from a first one, in the order of crashes, and then of
// choices, and returns them, and the rows of a certificate of them, which have neither digests nor
// needs. A parent's index is less than that of its row. next lists the edges from the state with a
// place; it reuses no state.
func Walk(begin []uint32, next func(place int, state []uint32) ([]Edge, error)) (states [][]uint32, rows []Row, err error) {
	w := &walk{at: map[string]int{}}
	w.add(Edge{To: begin})
	for n := 0; n < len(w.states) || len(w.later) > 0; {
		if n == len(w.states) {
			crashed := w.later
			w.later = nil
			for _, e := range crashed {
				w.add(e)
			}
			continue
		}
		edges, err := next(n, w.states[n])
		if err != nil {
			return nil, nil, err
		}
		for _, e := range edges {
			if e.Move.Kind == Crashes {
				w.later = append(w.later, e)
			} else {
				w.add(e)
			}
		}
		n++
	}
	return w.states, w.rows, nil
}

// walk is a Walk that goes on.
type walk struct {
	at     map[string]int // by the text of a state: its place among those that are known
	states [][]uint32
	rows   []Row
	later  []Edge // by a crash from a state that was visited
}

// add adds a state unless it is known.
func (w *walk) add(e Edge) {
	key := fmt.Sprint(e.To)
	if _, known := w.at[key]; known {
		return
	}
	w.at[key] = len(w.states)
	w.states = append(w.states, e.To)
	w.rows = append(w.rows, Row{Parent: e.From, Move: e.Move})
}
