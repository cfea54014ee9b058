package liveness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore/certificate"
	"lockstep/sim/monitor"
	"lockstep/sim/trace"
)

// Result has the answers of a closed graph about those who ask for a lock.
type Result struct {
	// Because is why nothing is decided about livelocks; empty if that is.
	Because string
	Lasso   *Lasso // a livelock, or nil
	// Wait is the longest time for which nobody is granted the lock, although nobody holds it and
	// somebody keeps asking. Unbounded is why there is no longest; Wait is 0 then.
	Wait      time.Duration
	Unbounded string
}

// Lasso is a livelock: a schedule that comes, by some moves again and again, to the same
// situation.
type Lasso struct {
	Schedule sim.Schedule // the way to the situation, and the turn twice
	Prefix   int          // moves to the situation
	Turn     int          // moves that lead back to it
	Faults   []Fault      // on the way to the situation
}

// Fault is one thing that goes wrong.
type Fault struct {
	By   certificate.MoveKind // a pause is that of time which passes
	Text string
}

// unread is the reason why a graph tells nothing.
type unread string

func (e unread) Error() string { return string(e) }

// Space has the states of a search.
type Space interface {
	Clients() int
	Nodes() int
	Config() sim.Config // of the search
	Begin() []uint32    // the state in which every schedule begins
	// Moves lists all that can happen in a state. The slices are its own until the next call.
	Moves(state []uint32) ([]Move, error)
	// Client returns client i's state under the rules, how much longer its lease is live in
	// milliseconds (0 is for ever, or not at all), and whether it is paused if time passes.
	Client(state []uint32, i int) (c *monitor.Client, left int32, paused bool)
	// Owner returns to whom the lock's record on server i belongs.
	Owner(state []uint32, i int) monitor.Owner
}

// Move leads to another state.
type Move struct {
	By     certificate.Move
	Millis int32 // of time that passes
	To     []uint32
}

// Expires is the kind of the move by which a record goes that has come to the end of its life. Until
// time passes, it may as well stay.
const Expires certificate.MoveKind = 100

// Read reads off the graph of a search that has closed, with so many states. full reports that the
// memory is.
func Read(ctx context.Context, from Space, states int64, full func() bool) (*Result, error) {
	var why unread
	g, err := build(ctx, from, full)
	switch {
	case errors.As(err, &why):
		return &Result{Because: string(why), Unbounded: string(why)}, nil
	case err != nil:
		return nil, err
	}
	if n := int64(len(g.came)); n != states {
		return nil, fmt.Errorf("the search has %d states, and its graph %d: one of them is wrong", states, n)
	}
	r := &Result{}
	return r, g.read(r)
}

// read judges the graph.
func (g *graph) read(r *Result) error {
	any := func(*edge) bool { return true }
	one := g.waiting(1)
	still := *one
	still.takes = func(from int32, e *edge) bool { return !e.passes() && one.takes(from, e) }
	if still.rounds(any) {
		r.Because = "clients ask again and again without waiting, and in a search that takes no time: let the lock wait between two tries (see --retry-delay)"
		r.Unbounded = r.Because
		return nil
	}
	for s := range g.stuck {
		if g.stuck[s] && one.has(int32(s)) {
			r.Because = "a client can come to wait for something that never comes, and doesn't ask again"
			r.Unbounded = r.Because
			return nil
		}
	}
	if !one.rounds((*edge).passes) {
		r.Wait = time.Duration(one.longest()) * g.tick()
		return nil
	}
	r.Unbounded = "there is a client that is never granted it, however long it asks"
	if two := g.waiting(2); !two.rounds((*edge).passes) {
		return nil
	}
	r.Unbounded = "there are clients of whom none is ever granted it, however long they ask"
	if begin, edges, is := g.livelock(false).cycle(); is {
		return g.confirm(begin, edges, r)
	}
	begin, edges, is := g.livelock(true).cycle()
	if !is {
		r.Because = "clients never get it if records go in the very millisecond in which they ask: whether they do is more than a grid of instants tells"
		return nil
	}
	err := g.confirm(begin, edges, r)
	if r.Lasso == nil {
		r.Because = "clients are kept out for ever by a record that somebody has left behind: look for a permanent deadlock (PD), as " + r.Because
	}
	return err
}

// waiting is the part of the graph in which the lock may be free, nobody is granted it, and so many
// clients keep asking.
func (g *graph) waiting(asking uint8) *part {
	return &part{graph: g,
		has:   func(n int32) bool { return !g.stands[n].lasts },
		takes: func(from int32, e *edge) bool { return !e.grants && (!e.passes() || g.stands[from].asking >= asking) }}
}

// livelock is that part of it in which a cycle can be a livelock for the engine, too: no lease is
// live, and a record goes a millisecond after the end of its life. Records that are left behind are
// in it or not: for the engine it counts whether their owners are dead, which no state has.
func (g *graph) livelock(left bool) *part {
	p := g.waiting(2)
	takes := p.takes
	p.has = func(n int32) bool { return !g.stands[n].live && (left || !g.stands[n].left) }
	p.takes = func(from int32, e *edge) bool { return e.by.Kind != Expires && takes(from, e) }
	return p
}

// confirm has the engine play a livelock.
func (g *graph) confirm(begin int32, edges []int32, r *Result) error {
	played := certificate.Lasso{Config: g.Config(), Places: g.Clients(), Grid: g.tick()}
	l := &Lasso{}
	for _, n := range g.path(begin) {
		by := g.came[n].by
		if by.Kind == Expires {
			r.Because = unconfirmed + "a record goes on the way to it in the very millisecond in which somebody asks"
			return nil
		}
		played.Prefix = append(played.Prefix, by)
		l.Faults = append(l.Faults, g.faults(n)...)
	}
	for _, i := range edges {
		played.Turn = append(played.Turn, g.edges[i].by)
	}
	schedule, why, err := played.Play()
	if err != nil {
		return err
	}
	if why != "" {
		r.Because = unconfirmed + why
		return nil
	}
	l.Schedule, l.Prefix, l.Turn = schedule, len(played.Prefix), len(played.Turn)
	r.Lasso = l
	return nil
}

const unconfirmed = "the graph has a cycle in which nobody is granted the lock, and the engine doesn't confirm it: "

// faults lists the faults on the last move to a state.
func (g *graph) faults(n int32) (all []Fault) {
	a := g.came[n]
	names := g.Config().Clients
	switch who := names[a.by.Place].Name; a.by.Kind {
	case certificate.Crashes:
		all = append(all, Fault{a.by.Kind, who + " crashes"})
	case certificate.LosesReply:
		all = append(all, Fault{a.by.Kind, fmt.Sprintf("the reply to %s's request is lost", who)})
	case certificate.Ticks:
		for i := range g.Clients() {
			if _, _, paused := g.Client(g.state(a.from), i); paused {
				all = append(all, Fault{a.by.Kind, fmt.Sprintf("%s is paused for %s", names[i].Name, trace.Duration(g.tick()))})
			}
		}
	}
	return all
}
