package space

import (
	"fmt"
	"slices"
	"time"

	"lockstep/sim/explore/bounds"
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
	x := m.Explorer()
	states, rows, err := certificate.Walk(x.Begin(), x.edges)
	if err != nil {
		return h, nil, nil, err
	}
	known := m.Clients.Needs()
	h = certificate.Header{Lock: m.Config.Strategy.Name, Places: m.Bounds.Clients,
		Codes: m.Bounds.CodeSet().Verdict().Strings(), Faults: certificate.Faults{Crash: m.Bounds.Faults[bounds.Crash] == bounds.Any, ReplyLost: m.Bounds.Faults[bounds.ReplyLost] == bounds.Any},
		Grid: time.Duration(m.instants.Grid) * time.Millisecond, Far: time.Duration(m.instants.Far) * time.Millisecond, Given: known.Given}
	h.Config, err = certificate.ConfigText(m.Config, rows)
	return h, rows, func(row, place int) certificate.Need {
		h := m.ids.clients.Value(states[row][place]).history
		return certificate.NeedOf(known.Reading[h], known.Sending[h])
	}, err
}

// edges lists the choices of a certificate in a packed state.
func (x *Explorer) edges(place int, state []uint32) (edges []certificate.Edge, err error) {
	x.View(state)
	x.Follow(state)
	to := slices.Clone(x.Followed())
	if x.Err != nil {
		return nil, x.Err
	}
	for i, c := range x.choices {
		kind, is := certified[c.Kind]
		if !is || c.Kind == Passes && c.By != x.instants.Grid {
			return nil, fmt.Errorf("a certificate can't have this choice of the search: %+v", c)
		}
		edges = append(edges, certificate.Edge{From: place, Move: certificate.Move{Kind: kind, Place: c.Who}, To: to[i*x.Width : (i+1)*x.Width]})
	}
	return edges, nil
}
