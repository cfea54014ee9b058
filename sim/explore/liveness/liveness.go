package liveness

import (
	"context"
	"errors"
	"fmt"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore/certificate"
	"lockstep/sim/explore/space"
	"lockstep/sim/trace"
)

// Result is what a closed graph says of those who ask for a lock.
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
	Kind space.FaultKind
	Text string
}

// unread is the reason why a graph tells nothing.
type unread string

func (e unread) Error() string { return string(e) }

// Refuse returns the reason why no graph within the bounds tells of livelocks, or nil.
func Refuse(b *space.Bounds) error {
	switch {
	case !b.Endless():
		return errors.New("a livelock has no end: a search for LV takes --cycles any")
	case b.Others:
		return errors.New("a search for LV takes so many clients as are stated: an environment in place of others gives back what it doesn't have, so nobody can rely on it")
	case b.Tries < 2:
		return errors.New("with one try at a time nobody keeps asking: a search for LV takes --tries 2 or more, and a lock that waits between two (see --retry-delay)")
	}
	for k, n := range b.Faults {
		switch kind := space.FaultKind(k); kind {
		case space.Crash, space.Pause, space.ReplyLost:
			if n != 0 && n != space.Any {
				return fmt.Errorf("a search for LV takes none or any number of %s: they end at some time anyway", kind.Words(2))
			}
		default:
			if n != 0 {
				return fmt.Errorf("a search for LV knows nothing of %s yet", kind.Words(2))
			}
		}
	}
	return nil
}

// Read reads off the graph of a model that is [space.Model.Unreduced] and lasting, and whose search has closed.
// full reports that the memory is.
// The search had so many states.
func Read(ctx context.Context, m *space.Model, states int64, full func() bool) (*Result, error) {
	var why unread
	g, err := build(ctx, m, full)
	if err == nil && !m.Clients.Single() {
		err = unread("the lock has threads of its own: in which order those of one client wake up at one instant, no search tries")
	}
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
	return r, g.read(m, r)
}

// read judges the graph.
func (g *graph) read(m *space.Model, r *Result) error {
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
		r.Wait = time.Duration(one.longest()) * time.Duration(g.grid) * time.Millisecond
		return nil
	}
	r.Unbounded = "there is a client that is never granted it, however long it asks"
	if two := g.waiting(2); !two.rounds((*edge).passes) {
		return nil
	}
	r.Unbounded = "there are clients of whom none is ever granted it, however long they ask"
	exact := g.livelock()
	if begin, edges, is := exact.cycle(); is {
		return g.confirm(m, begin, edges, r)
	}
	r.Because = "clients are kept out for ever by a record that somebody has left behind: that is no livelock, but a permanent deadlock (PD)"
	if free := g.free(); free.rounds((*edge).passes) {
		r.Because = "clients never get it if records go in the very millisecond in which they ask: whether they do is more than a grid of instants tells"
	}
	return nil
}

// waiting is the part of the graph in which the lock may be free, nobody is granted it, and so many
// clients keep asking.
func (g *graph) waiting(asking uint8) *part {
	return &part{graph: g,
		has:   func(n int32) bool { return !g.stands[n].lasts },
		takes: func(from int32, e *edge) bool { return !e.grants && (!e.passes() || g.stands[from].asking >= asking) }}
}

// free is that part of it where no record is left behind.
func (g *graph) free() *part {
	p := g.waiting(2)
	p.has = func(n int32) bool { return !g.stands[n].lasts && !g.stands[n].left }
	return p
}

// livelock is that part of it in which a cycle is a livelock for the engine, too: no lease is
// live, and a record goes a millisecond after the end of its life.
func (g *graph) livelock() *part {
	p := g.waiting(2)
	takes := p.takes
	p.has = func(n int32) bool { return !g.stands[n].live && !g.stands[n].left }
	p.takes = func(from int32, e *edge) bool { return e.by.kind != expires && takes(from, e) }
	return p
}

// confirm has the engine play a livelock.
func (g *graph) confirm(m *space.Model, begin int32, edges []int32, r *Result) error {
	played := certificate.Lasso{Config: m.Config, Places: m.Bounds.Clients, Grid: time.Duration(g.grid) * time.Millisecond}
	l := &Lasso{}
	for _, n := range g.path(begin) {
		by := g.came[n].by
		if by.kind == expires {
			r.Because = unconfirmed + "a record goes on the way to it in the very millisecond in which somebody asks"
			return nil
		}
		played.Prefix = append(played.Prefix, by.played())
		l.Faults = append(l.Faults, g.faults(m, n)...)
	}
	for _, i := range edges {
		played.Turn = append(played.Turn, g.edges[i].by.played())
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

// faults lists what goes wrong on the last move to a state.
func (g *graph) faults(m *space.Model, n int32) (all []Fault) {
	a := g.came[n]
	who := m.Name(int(a.by.who))
	switch a.by.kind {
	case space.Crashes:
		all = append(all, Fault{space.Crash, who + " crashes"})
	case space.ActsAndLosesReply:
		all = append(all, Fault{space.ReplyLost, fmt.Sprintf("the reply to %s's request is lost", who)})
	case space.Passes:
		for i := range m.Bounds.Clients {
			if _, _, paused := g.x.Client(g.state(a.from), i); paused {
				all = append(all, Fault{space.Pause, fmt.Sprintf("%s is paused for %s", m.Name(i), trace.Duration(time.Duration(g.grid)*time.Millisecond))})
			}
		}
	}
	return all
}

// played is the move as the engine makes it.
func (v move) played() certificate.Move {
	switch v.kind {
	case space.ActsAndLosesReply:
		return certificate.Move{Kind: certificate.LosesReply, Place: v.who}
	case space.Crashes:
		return certificate.Move{Kind: certificate.Crashes, Place: v.who}
	case space.Passes:
		return certificate.Move{Kind: certificate.Ticks}
	}
	return certificate.Move{Kind: certificate.Steps, Place: v.who}
}
