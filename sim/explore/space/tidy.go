package space

import (
	"slices"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/flight"
	"lockstep/sim/trace"
)

// tidy brings the requests that are held up into canonical form, in a search without bounds: those of
// which nothing can come are dropped, and of the others what doesn't matter. SOUNDNESS.md argues it.
func (x *Explorer) tidy() {
	w := &x.s.world
	held := slices.Clone(x.ids.helds.Get(w.held))
	if w.left[HoldRequest] = x.Budget[HoldRequest] - flight.Holds(held); len(held) == 0 || x.Untidy {
		return
	}
	for n := range held {
		if r := &held[n]; x.forgetsAge(r) {
			r.Ago = dropped
		}
		held[n].Loses = held[n].Loses && !held[n].Orphan
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
	w.held, _ = x.ids.helds.Put(held)
	w.left[HoldRequest] = x.Budget[HoldRequest] - flight.Holds(held)
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
	if own := !c.Crashed && c.Acquired == first.Acquired; own && first.Phase != trace.PhaseRelease {
		return held, false // a rule may ask when its last command arrived
	}
	conn := peer(int(first.Client), first.Conn)
	var commands []uint32
	for _, r := range flight.Lane(held, first) {
		commands = append(commands, r.Command)
	}
	spares, adds := x.Servers.Idle(n.snapshot, conn, commands)
	switch {
	case first.Stale || spares:
		n.snapshot = x.Servers.Without(n.snapshot, conn)
		return slices.DeleteFunc(held, first.SharesLane), true
	case adds:
		a, err := x.Servers.Run(behaviour.Question{Snapshot: n.snapshot, Conn: conn, Command: first.Command})
		if err != nil {
			x.fail(x.Clients.Refuse(err, int(first.Client), c.history, int(first.Thread), first.Command))
			return held, false
		}
		n.snapshot = a.Snapshot
		at := slices.IndexFunc(held, first.SharesLane)
		held = slices.Delete(held, at, at+1)
		held[slices.IndexFunc(held, first.SharesLane)].Queued = first.Queued
		return held, true
	}
	return held, false
}
