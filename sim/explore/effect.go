package explore

import (
	"slices"

	"lockstep/sim/monitor"
)

// act is a client's next step, and what becomes of the request if it sends one.
func (x *explorer) act(c choice, f requestFate) {
	t, _ := x.next(int(c.who))
	x.turnTo(c.who)
	x.macroStep(int(c.who), t, f)
}

// turnTo notes who acts, where it is bounded how often that changes.
func (x *explorer) turnTo(who uint8) {
	if x.bounds.Switches == 0 {
		return
	}
	w := &x.s.world
	if w.mover == who+1 {
		return
	}
	if w.mover != 0 {
		w.switched++
	}
	w.mover = who + 1
}

// turns reports whether it may be this client that acts next.
func (x *explorer) turns(i int) bool {
	w := x.world
	return x.bounds.Switches == 0 || w.mover == 0 || int(w.mover) == i+1 || int(w.switched) < x.bounds.Switches
}

func (x *explorer) spend(k FaultKind, n uint8) {
	x.s.world.left[k] -= n
	x.stats.used[k] = true
}

// crash ends a client. What it has sent is still on its way; all that it knew is
// gone, and only what it did to the resource and to the nodes is left.
func (x *explorer) crash(i int) {
	x.closeConns(i, 0xffff)
	x.s.clients[i] = dead(x.s.clients[i].Touched)
	x.facts.CanonicaliseRanks()
}

// dead is a client that has crashed.
func dead(touched monitor.Rank) client {
	return client{Client: monitor.Client{Crashed: true, Touched: touched}, since: unset, stamp: unset}
}

// sharesLane reports whether another request is on the same connection.
func (l request) sharesLane(o request) bool {
	return l.client == o.client && l.conn == o.conn && l.orphan == o.orphan
}

// free lets a held request arrive, and those that had to wait behind it; or, if it is
// behind another one on its connection, wait for that.
func (x *explorer) free(who, nth uint8) {
	held := append([]request(nil), x.ids.helds.get(x.s.world.held)...)
	n := slices.IndexFunc(held, func(l request) bool {
		if l.client == who && !l.queued {
			nth--
		}
		return nth == 0
	})
	first := held[n]
	if slices.ContainsFunc(held[:n], first.sharesLane) {
		held[n].queued = true
		x.s.world.held, _ = x.ids.helds.put(held)
		return
	}
	due := []request{first}
	var kept []request
	blocked := false
	for i, l := range held {
		switch {
		case i == n:
		case i > n && l.queued && !blocked && first.sharesLane(l):
			due = append(due, l)
		default:
			blocked = blocked || i > n && first.sharesLane(l)
			kept = append(kept, l)
		}
	}
	x.s.world.held, _ = x.ids.helds.put(kept)
	for i := range due {
		x.execute(&due[i], due[i].loses, false)
	}
	if first.orphan && !x.behind(&first) {
		n := &x.s.nodes[first.addr]
		n.snapshot = x.servers.Without(n.snapshot, peer(int(first.client), uint16(first.conn)))
	}
	if !x.s.clients[first.client].Crashed {
		x.settle(int(first.client))
	}
}

// repeat lets a client's last executed request arrive once more.
func (x *explorer) repeat(i int) {
	l := *x.ids.requests.Value(x.s.clients[i].last)
	x.execute(&l, false, true)
	for i := range x.s.clients {
		if x.s.world.left[Duplicate] == 0 { // nothing can arrive twice any more
			x.s.clients[i].last = 0
		}
		x.settle(i)
	}
}

// stepClock makes a node's clock jump, and all its expiries with it.
func (x *explorer) stepClock(i int, by int32) {
	n := &x.s.nodes[i]
	x.set(n, x.servers.Age(n.snapshot, by))
	x.facts.Recount()
}

// fallBehind: what is written from now on does not reach a node's replica.
func (x *explorer) fallBehind(i int) {
	n := &x.s.nodes[i]
	n.behind = replica{snapshot: x.servers.Replicated(n.snapshot), owner: n.owner}
}

// restart takes a node's memory away, and ends its connections.
func (x *explorer) restart(n int) {
	x.disconnect(n)
	nd := &x.s.nodes[n]
	nd.snapshot = x.servers.Empty(nd.snapshot)
	nd.owner = monitor.Nobody
	x.facts.Recount()
}

// takeOver is the end of a master, and a replica's in its place: one that had
// fallen behind.
func (x *explorer) takeOver(n int) {
	x.disconnect(n)
	nd := &x.s.nodes[n]
	*nd = node{snapshot: nd.behind.snapshot, owner: nd.behind.owner, failed: true}
	x.facts.Recount()
}

// disconnect ends a node's connections.
func (x *explorer) disconnect(n int) {
	for _, b := range x.servers.Snapshot(x.s.nodes[n].snapshot).Peers {
		c := &x.s.clients[b.Conn>>4]
		c.gone |= 1 << (b.Conn & 15)
	}
	w := &x.s.world
	held := append([]request(nil), x.ids.helds.get(w.held)...)
	for i := range held {
		if int(held[i].addr) == n {
			held[i].stale = true
		}
	}
	w.held, _ = x.ids.helds.put(held)
}

// passing adds that time passes, if anything is due and the budget has as many
// pauses as that would begin.
func (x *explorer) passing(to []choice) []choice {
	by, pauses := int32(0), uint8(0)
	for _, n := range x.nodes {
		by = sooner(by, n.due)
	}
	for _, g := range x.summaries {
		by = sooner(by, g.due)
		if g.idles {
			pauses++
		}
	}
	if by == 0 || pauses > x.world.left[Pause] {
		return to
	}
	return append(to, choice{kind: passes, by: by})
}

// lives: the client has neither crashed nor finished its program.
func (g *summary) lives() bool { return !g.crashed && !g.over }

// over: nobody will do anything any more.
func (x *explorer) over() bool {
	for _, g := range x.summaries {
		if g.lives() {
			return false
		}
	}
	return x.world.held == 0
}
