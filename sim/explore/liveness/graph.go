package liveness

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"lockstep/sim/explore/space"
	"lockstep/sim/monitor"
	"lockstep/sim/trace"
)

// graph has the states of a search that has closed, in the order of faults and then of choices
// that lead to them; and the edges by which they go on if nothing goes wrong.
type graph struct {
	x      *space.Explorer
	at     map[string]int32 // by the bytes of a state
	states []uint32         // one after the other
	came   []arrival
	stuck  []bool // a client is in Acquire, nobody can act, and nothing is ever due
	stands []standing
	first  []int32 // by state: its first edge
	edges  []edge
	later  []detour // by a fault, from states that were expanded
	grid   int32    // by which time passes, in milliseconds; 0 until it has
}

// standing is what matters of a state.
type standing struct {
	asking uint8 // clients in Acquire
	live   bool  // a lease is live
	lasts  bool  // one is, and doesn't end within a step of the grid, to which leases are rounded up
	left   bool  // a record of the lock belongs to nobody who is still asking for it or has it
}

// arrival is how a state is reached first.
type arrival struct {
	from int32
	by   move
}

// move is what matters of a choice.
type move struct {
	kind space.ChoiceKind
	who  uint8
}

// expires is the kind of the move by which a record goes that has come to the end of its life.
const expires = space.ChoiceKinds

// edge leads to a state. It is no fault.
type edge struct {
	to     int32
	by     move
	grants bool // a client is granted the lock
}

// passes reports whether time passes.
func (e *edge) passes() bool { return e.by.kind == space.Passes }

// detour leads to a state by a fault, or, which is as unlikely, by the end of a record before time
// passes on.
type detour struct {
	arrival
	key  string
	edge int32 // the edge that it is as well, or -1
}

// build walks through all states.
func build(ctx context.Context, m *space.Model, full func() bool) (*graph, error) {
	g := &graph{x: m.Explorer(), at: map[string]int32{}}
	g.add(arrival{from: -1}, keyOf(g.x.Begin()))
	for next := 0; next < len(g.came) || len(g.later) > 0; {
		if next == len(g.came) {
			later := g.later
			g.later = nil
			for _, d := range later {
				to := g.add(d.arrival, d.key)
				if d.edge >= 0 {
					g.edges[d.edge].to = to
				}
			}
			continue
		}
		if err := g.expand(int32(next)); err != nil {
			return nil, err
		}
		if next++; next%4096 == 0 && (full() || ctx.Err() != nil) {
			return nil, errCut
		}
	}
	g.first = append(g.first, int32(len(g.edges)))
	g.at = nil
	for n := range g.came {
		g.stands = append(g.stands, g.stand(g.state(int32(n))))
	}
	return g, nil
}

// errCut ends a walk that was cut off.
var errCut = unread("there was no room, or no time, for the graph of its states")

func keyOf(state []uint32) string {
	b := make([]byte, 0, 4*len(state))
	for _, id := range state {
		b = binary.LittleEndian.AppendUint32(b, id)
	}
	return string(b)
}

// state returns a state; the slice is valid until the next is added.
func (g *graph) state(n int32) []uint32 {
	w := int32(g.x.Width)
	return g.states[n*w : (n+1)*w]
}

// add adds a state unless it is known, and returns its number.
func (g *graph) add(a arrival, key string) int32 {
	if n, known := g.at[key]; known {
		return n
	}
	n := int32(len(g.came))
	g.at[key] = n
	for at := 0; at < len(key); at += 4 {
		g.states = append(g.states, binary.LittleEndian.Uint32([]byte(key[at:at+4])))
	}
	g.came = append(g.came, a)
	return n
}

// stand looks at a state.
func (g *graph) stand(state []uint32) (s standing) {
	for i := range g.x.Bounds.Clients {
		c, left, _ := g.x.Client(state, i)
		if asks(c) {
			s.asking++
		}
		s.live = s.live || c.Live
		s.lasts = s.lasts || c.Live && (left == 0 || left > g.grid)
	}
	for n := range g.x.Config.Nodes {
		o := g.x.Owner(state, n)
		if o == monitor.Nobody {
			continue
		}
		c, _, _ := g.x.Client(state, int(o.Client))
		s.left = s.left || c.Crashed || c.Acquired != o.N || c.Phase == trace.PhaseIdle
	}
	return s
}

func asks(c *monitor.Client) bool { return c.Phase == trace.PhaseAcquire && !c.Crashed }

// expand adds the edges of a state, and the states to which they lead.
func (g *graph) expand(n int32) error {
	x := g.x
	g.first = append(g.first, int32(len(g.edges)))
	state := slices.Clone(g.state(n))
	x.View(state)
	choices := slices.Clone(x.Enabled())
	x.Follow(state)
	all := x.Followed()
	if x.Err != nil {
		return x.Err
	}
	paused, asking, passes := false, false, false
	for i := range x.Bounds.Clients {
		c, _, would := x.Client(state, i)
		paused, asking = paused || would, asking || asks(c)
	}
	for i := 0; i*x.Width < len(all); i++ {
		by, to := move{kind: expires}, all[i*x.Width:(i+1)*x.Width]
		if i < len(choices) {
			by = move{choices[i].Kind, choices[i].Who}
		}
		fault := by.kind != expires && by.kind != space.Passes && by.kind.Fault() != space.NoFault
		if by.kind == space.Passes {
			if g.grid == 0 {
				g.grid = choices[i].By
			}
			if choices[i].By != g.grid {
				return unread(fmt.Sprintf("the lock begins a span that is no multiple of %s", trace.Duration(time.Duration(g.grid)*time.Millisecond)))
			}
			passes, fault = true, paused
		}
		switch a := (arrival{n, by}); {
		case fault:
			g.later = append(g.later, detour{a, keyOf(to), -1})
		case by.kind == expires:
			g.later = append(g.later, detour{a, keyOf(to), int32(len(g.edges))})
			g.edges = append(g.edges, edge{to: -1, by: by})
		default:
			g.edges = append(g.edges, edge{to: g.add(a, keyOf(to)), by: by, grants: g.grants(state, to)})
		}
	}
	g.stuck = append(g.stuck, asking && !passes && !paused)
	return nil
}

// grants reports whether a client is granted the lock between two states.
func (g *graph) grants(from, to []uint32) bool {
	for i := range g.x.Bounds.Clients {
		before, _, _ := g.x.Client(from, i)
		after, _, _ := g.x.Client(to, i)
		if after.Believes && !before.Believes {
			return true
		}
	}
	return false
}

// path lists the states on the way to one, which is the last, without that in which every
// schedule begins.
func (g *graph) path(n int32) (states []int32) {
	for ; g.came[n].from >= 0; n = g.came[n].from {
		states = append(states, n)
	}
	slices.Reverse(states)
	return states
}
