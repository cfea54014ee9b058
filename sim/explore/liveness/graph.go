package liveness

import (
	"context"
	"encoding/binary"
	"runtime"
	"slices"
	"time"

	"lockstep/sim/explore/certificate"
	"lockstep/sim/monitor"
	"lockstep/sim/trace"
)

// graph has the states of a search that has closed, in the order of faults and then of choices
// that lead to them; and the edges by which they go on if nothing goes wrong.
type graph struct {
	Space
	at     map[string]int32 // by the bytes of a state
	states []uint32         // one after the other
	came   []arrival
	stuck  []bool // a client is in Acquire, nobody can act, and nothing is ever due
	stands []standing
	first  []int32 // by state: its first edge
	edges  []edge
	later  []detour // by a fault, from states that were expanded
	width  int32    // of a state
	grid   int32    // by which time passes, in milliseconds; 0 until it has
}

// standing is the part of a state that matters.
type standing struct {
	asking uint8 // clients in Acquire
	live   bool  // a lease is live
	lasts  bool  // one is, and doesn't end within a step of the grid, to which leases are rounded up
	left   bool  // a record of the lock belongs to nobody who is still asking for it or has it
}

// arrival is how a state is reached first.
type arrival struct {
	from int32
	by   certificate.Move
}

// edge leads to a state. It is no fault.
type edge struct {
	to     int32
	by     certificate.Move
	grants bool // a client is granted the lock
}

// passes reports whether time passes.
func (e *edge) passes() bool { return e.by.Kind == certificate.Ticks }

// detour leads to a state by a fault, or, which is as unlikely, by the end of a record before time
// passes on.
type detour struct {
	arrival
	key  string
	edge int32 // the edge that it is as well, or -1
}

// build walks through all states.
func build(ctx context.Context, from Space, full func() bool) (*graph, error) {
	g := &graph{Space: from, at: map[string]int32{}}
	first := g.Begin()
	g.width = int32(len(first))
	g.add(arrival{from: -1}, keyOf(first))
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
		if next++; next%pieces == 0 && (ctx.Err() != nil || isFull(full)) {
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

// pieces is the number of states after which a walk looks at its limits.
const pieces = 1 << 15

// isFull reports whether the memory is full even without the garbage of the search.
func isFull(full func() bool) bool {
	if full() {
		runtime.GC()
	}
	return full()
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
	return g.states[n*g.width : (n+1)*g.width]
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
	for i := range g.Clients() {
		c, left, _ := g.Client(state, i)
		if asks(c) {
			s.asking++
		}
		s.live = s.live || c.Live
		s.lasts = s.lasts || c.Live && (left == 0 || left > g.grid)
	}
	for n := range g.Nodes() {
		o := g.Owner(state, n)
		if o == monitor.Nobody {
			continue
		}
		c, _, _ := g.Client(state, int(o.Client))
		s.left = s.left || c.Crashed || c.Acquired != o.N || c.Phase == trace.PhaseIdle
	}
	return s
}

func asks(c *monitor.Client) bool { return c.Phase == trace.PhaseAcquire && !c.Crashed }

// expand adds the edges of a state, and the states to which they lead.
func (g *graph) expand(n int32) error {
	g.first = append(g.first, int32(len(g.edges)))
	state := slices.Clone(g.state(n))
	paused, asking, passes := false, false, false
	for i := range g.Clients() {
		c, _, would := g.Client(state, i)
		paused, asking = paused || would, asking || asks(c)
	}
	moves, err := g.Moves(state)
	if err != nil {
		return err
	}
	for _, m := range moves {
		fault := m.By.Kind == certificate.LosesReply || m.By.Kind == certificate.Crashes
		if m.By.Kind == certificate.Ticks {
			if g.grid == 0 {
				g.grid = m.Millis
			}
			if m.Millis != g.grid {
				return unread("a record lives for a span that is no multiple of that by which time goes on: the greatest of which the TTL, all sleeps, all lives and the timeout are multiples")
			}
			passes, fault = true, paused
		}
		a, to := arrival{n, m.By}, keyOf(m.To)
		_, known := g.at[to]
		switch {
		case fault && known:
		case fault:
			g.later = append(g.later, detour{a, to, -1})
		case m.By.Kind == Expires:
			g.later = append(g.later, detour{a, to, int32(len(g.edges))})
			g.edges = append(g.edges, edge{to: -1, by: m.By})
		default:
			g.edges = append(g.edges, edge{to: g.add(a, to), by: m.By, grants: g.grants(state, m.To)})
		}
	}
	g.stuck = append(g.stuck, asking && !passes && !paused)
	return nil
}

// tick is the time that passes at once.
func (g *graph) tick() time.Duration { return time.Duration(g.grid) * time.Millisecond }

// grants reports whether a client is granted the lock between two states.
func (g *graph) grants(from, to []uint32) bool {
	for i := range g.Clients() {
		before, _, _ := g.Client(from, i)
		after, _, _ := g.Client(to, i)
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
