package space

import (
	"slices"

	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/flight"
	"lockstep/sim/explore/naming"
	"lockstep/sim/explore/spent"
	"lockstep/sim/trace"
)

// tidy brings the requests that are held up into canonical form, in a search without bounds: those of
// which nothing can come are dropped, and of the others the fields that don't matter. SOUNDNESS.md argues it.
func (x *Explorer) tidy() {
	w := &x.s.world
	was := x.ids.helds.Get(w.held)
	x.held = append(x.held[:0], was...)
	held := x.dropSpent(x.held)
	if w.left[bounds.HoldRequest] = x.Budget[bounds.HoldRequest] - flight.Holds(held); x.KeepsRequests {
		return
	}
	for n := range held {
		if r := &held[n]; x.forgetsAge(r) {
			r.Ago = dropped
		}
		held[n].Loses = held[n].Loses && !held[n].Orphan
		if held[n].Sender == flight.Unheard {
			held[n].Sender = flight.Same // without bounds nobody subscribes or waits at a server
		}
	}
	for n := 0; n < len(held); {
		if r := held[n]; !r.Orphan || slices.ContainsFunc(held[:n], r.SharesLane) {
			n++
		} else if kept, shorter := x.tidyLane(held, r); shorter {
			held = kept
		} else {
			n++
		}
	}
	if !slices.Equal(held, was) {
		w.held, _ = x.ids.helds.Put(held)
	}
	w.left[bounds.HoldRequest] = x.Budget[bounds.HoldRequest] - flight.Holds(held)
	x.replace(x.disowned)
}

// replace says of some of the requests that another process is their client now.
func (x *Explorer) replace(of func(*flight.Request) bool) {
	w := &x.s.world
	w.held = flight.Replace(x.ids.helds, w.held, of)
	for i := range x.Bounds.Clients {
		c := &x.s.clients[i]
		c.sentBefore = flight.Replace(x.ids.sents, c.sentBefore, of)
	}
}

// disowned reports whether a request of an earlier acquisition, whose tokens its client has forgotten, is to be taken
// for that of a process that has crashed, if any may: it only matters for whom it harms.
func (x *Explorer) disowned(r *flight.Request) bool {
	c := &x.s.clients[r.Client]
	if x.Bounds.Faults[bounds.Crash] != bounds.Any || r.Sender != flight.Same || !r.Orphan || c.Acquired == r.Acquired {
		return false
	}
	own, known := x.seriesKnown(c)
	_, series := x.mentioned([]flight.Request{*r})
	return series&(own|known) == 0
}

// forgetsAge reports whether it doesn't matter when a request that is held up was sent. It may where a
// lease is counted from then: that of an acquisition which goes on, if the lock says no other deadline.
// A thread of the client's own may extend it.
func (x *Explorer) forgetsAge(r *flight.Request) bool {
	if needs := x.habits.needs; needs != nil && !needs.Given {
		return true
	}
	c := &x.s.clients[r.Client]
	return r.Thread == 0 && r.Phase == trace.PhaseRelease || r.Orphan && !(c.Phase == trace.PhaseAcquire && c.Acquired == r.Acquired)
}

// tidyLane drops the requests on the connection of one, the first there, if nothing can come of them. Their
// client has closed it, so nobody reads a reply. If the request adds to a transaction alone, it does so
// now.
func (x *Explorer) tidyLane(held []flight.Request, first flight.Request) (kept []flight.Request, shorter bool) {
	n, c := &x.s.nodes[first.Addr], &x.s.clients[first.Client]
	if x.current(&first) {
		return held, false
	}
	after, kept, shorter, err := spent.Tidied(x.Servers, n.snapshot, flight.Peer(int(first.Client), first.Conn), held, first)
	if err != nil {
		x.fail(x.Clients.Refuse(err, int(first.Client), c.history, int(first.Thread), first.Command))
	}
	n.snapshot = after
	return kept, shorter
}

// current reports whether a request belongs to an acquisition that goes on: a rule may ask when its last command
// arrived.
func (x *Explorer) current(r *flight.Request) bool {
	c := &x.s.clients[r.Client]
	return !c.Crashed && c.Acquired == r.Acquired && r.Phase != trace.PhaseRelease
}

// dropSpent drops the requests of which nothing can come any more: of those that are held up and have no
// reader, and of copies. Nobody else knows the tokens in them, and as long as these aren't stored they do
// nothing. SOUNDNESS.md argues it.
func (x *Explorer) dropSpent(held []flight.Request) []flight.Request {
	clients := x.s.clients[:x.Bounds.Clients]
	all := append(x.requests[:0], held...)
	for i := range clients {
		all = append(all, x.ids.sents.Get(clients[i].sentBefore)...)
	}
	if x.requests = all; x.spent == nil || x.KeepsRequests || len(all) == 0 {
		return held
	}
	known := x.seriesStored()
	_, sent := x.mentioned(all)
	for i := range clients {
		own, series := x.seriesKnown(&clients[i])
		if known |= series; own&sent&^known != 0 && !x.spent.Done(clients[i].history) {
			known |= own
		}
	}
	gone := x.spent.Of(all, known, func(n int) bool {
		return n >= len(held) || !x.current(&all[n]) && x.spent.Unread(x.s.nodes[all[n].Addr].snapshot, flight.Peer(int(all[n].Client), all[n].Conn), held, all[n])
	}, func(r *flight.Request) uint32 { return x.s.nodes[r.Addr].snapshot },
		func(n int) naming.SeriesSet { _, series := x.mentioned(all[n : n+1]); return series })
	if gone == nil {
		return held
	}
	for i, rest := 0, gone[len(held):]; i < len(clients); i++ {
		clients[i].sentBefore, rest = flight.WithoutIn(x.ids.sents, clients[i].sentBefore, rest)
	}
	return flight.Without(held, gone)
}

// foresees reports whether a state has only those requests that are going to arrive once more: see foresee.
func (x *Explorer) foresees() bool { return x.habits.endless && !x.eachStep && !x.KeepsRequests }

// foresee adds the explorer's state to the successors, once for each choice of those requests that were executed just
// now of which a copy is going to arrive, at any time: the state keeps these, and no others. There are at most as many
// as the budget has left. The explorer ends in the successor in which there is none. SOUNDNESS.md argues it.
func (x *Explorer) foresee(before []uint32) {
	room := int(x.s.world.left[bounds.Duplicate])
	for i := range x.Bounds.Clients {
		room -= len(x.ids.sents.Get(x.s.clients[i].sentBefore))
	}
	if room == 0 || len(x.executed) == 0 {
		x.executed = x.executed[:0]
		x.tidy()
		x.packOnce(before)
		return
	}
	x.unforeseen.copyFrom(&x.s)
	for copied := range flight.Choices(x.executed, room) {
		x.s.copyFrom(&x.unforeseen)
		for _, r := range copied {
			c := &x.s.clients[r.Client]
			c.sentBefore, _ = x.ids.sents.Put(append(slices.Clone(x.ids.sents.Get(c.sentBefore)), r))
		}
		x.tidy()
		x.packOnce(before)
	}
	x.executed = x.executed[:0]
}
