package space

import (
	"fmt"
	"slices"
	"time"

	"lockstep/sim/explore/certificate"
)

// certified tells how a certificate has the choices of a search, and says which it can't have.
var certified = map[ChoiceKind]certificate.MoveKind{
	Acts: certificate.Steps, ActsAndLosesReply: certificate.LosesReply, Crashes: certificate.Crashes, Passes: certificate.Ticks,
}

// Certificate is the set of states of a search that has closed, whose model this is. It walks
// through them once more, for the schedules that lead to them with the fewest crashes: each
// crash takes another client of the engine.
//
// The rows have neither digests nor needs: see [certificate.Make], to which the function
// that is returned tells the needs.
func (m *Model) Certificate() (h certificate.Header, rows []certificate.Row, needs func(row, place int) certificate.Need, err error) {
	if m.instants.Grid == 0 {
		return h, nil, nil, fmt.Errorf("the search has no grid of instants")
	}
	w := &walk{x: m.Explorer(), at: map[string]int{}}
	rows, err = w.all(m.instants.Grid)
	if err != nil {
		return h, nil, nil, err
	}
	known := m.Clients.Needs()
	h = certificate.Header{Lock: m.Config.Strategy.Name, Places: m.Bounds.Clients,
		Codes: m.Bounds.CodeSet().Verdict().Strings(), Faults: certificate.Faults{Crash: m.Bounds.Faults[Crash] == Any, ReplyLost: m.Bounds.Faults[ReplyLost] == Any},
		Grid: time.Duration(m.instants.Grid) * time.Millisecond, Far: time.Duration(m.instants.Far) * time.Millisecond, Given: known.Given}
	h.Config, err = certificate.ConfigText(m.Config, rows)
	return h, rows, func(row, place int) certificate.Need {
		h := m.ids.clients.Value(w.states[row][place]).history
		return certificate.NeedOf(known.Reading[h], known.Sending[h])
	}, err
}

// walk goes through the states of a search in the order of crashes, and then of choices.
type walk struct {
	x      *Explorer
	at     map[string]int // by the bytes of a state: its place among those that are known
	states [][]uint32
	rows   []certificate.Row
	later  []edge // by a crash from a state that was visited
}

// edge leads to a state that may not be known yet.
type edge struct {
	from int
	move certificate.Move
	to   []uint32
}

// all visits all states. A parent's index is less than that of its row.
func (w *walk) all(grid int32) ([]certificate.Row, error) {
	w.add(edge{to: w.x.Begin()})
	for next := 0; next < len(w.states) || len(w.later) > 0; {
		if next == len(w.states) {
			crashed := w.later
			w.later = nil
			for _, e := range crashed {
				w.add(e)
			}
			continue
		}
		if err := w.expand(next, grid); err != nil {
			return nil, err
		}
		next++
	}
	return w.rows, nil
}

// expand adds the successors of a state; those by a crash come later.
func (w *walk) expand(n int, grid int32) error {
	state := w.states[n]
	w.x.View(state)
	w.x.Follow(state)
	choices, to := w.x.choices, w.x.Followed()
	if w.x.Err != nil {
		return w.x.Err
	}
	for i, c := range choices {
		kind, is := certified[c.Kind]
		if !is || c.Kind == Passes && c.By != grid {
			return fmt.Errorf("a certificate can't have this choice of the search: %+v", c)
		}
		e := edge{n, certificate.Move{Kind: kind, Place: c.Who}, slices.Clone(to[i*w.x.Width : (i+1)*w.x.Width])}
		if kind == certificate.Crashes {
			w.later = append(w.later, e)
		} else {
			w.add(e)
		}
	}
	return nil
}

// add adds a state unless it is known.
func (w *walk) add(e edge) {
	key := fmt.Sprint(e.to)
	if _, known := w.at[key]; known {
		return
	}
	w.at[key] = len(w.states)
	w.states = append(w.states, e.to)
	w.rows = append(w.rows, certificate.Row{Parent: e.from, Move: e.move})
}
