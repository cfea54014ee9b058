package explore

import (
	"slices"

	"lockstep/sim/monitor"
)

// move is one choice: who acts, what goes wrong, or that time passes.
type move struct {
	kind  moveKind
	who   uint8
	fault Kind
	by    int32 // of time that passes, or of a clock that jumps
	n     uint8 // which of the client's held requests, from 1
	ops   uint8 // how many operations of the client it was
}

type moveKind uint8

const (
	acts moveKind = iota
	actsAndLosesReply
	actsAndIsHeldUp
	crashes
	passes
	frees
	repeats
	restarts
	jumpsClient
	jumpsServer
	fallsBehind
	takesOver
)

// follow makes one move, in a situation that is the explorer's own.
func (x *explorer) follow(m move) {
	x.found, x.ops = 0, 0
	switch m.kind {
	case acts, actsAndLosesReply, actsAndIsHeldUp:
		t, _ := x.next(int(m.who))
		f := goes
		switch m.kind {
		case actsAndLosesReply:
			f = losesReply
			x.spend(ReplyLost, 1)
		case actsAndIsHeldUp:
			f = heldUp
			x.spend(Delay, 1)
		}
		x.turnTo(m.who)
		x.step(int(m.who), t, f)
	case crashes:
		x.spend(Crash, 1)
		x.crash(int(m.who))
	case passes:
		if _, n := x.idle(); n > 0 {
			x.spend(Pause, n)
		}
		x.advance(m.by)
	case frees:
		x.free(m.who, m.n)
	case repeats:
		x.spend(Duplicate, 1)
		l := *x.tables.letters.value(x.s.clients[m.who].last)
		x.execute(&l, false, true)
		for i := range x.s.clients {
			if x.s.world.left[Duplicate] == 0 { // nothing can arrive twice any more
				x.s.clients[i].last = 0
			}
			x.settle(i)
		}
	case restarts:
		x.spend(Restart, 1)
		x.restart(int(m.who))
	case fallsBehind:
		x.spend(Failover, 1)
		n := &x.s.nodes[m.who]
		n.behind = replica{memory: x.v.replicated(n.memory), owner: n.owner}
	case takesOver:
		x.takeOver(int(m.who))
	case jumpsClient:
		x.spend(Client, 1)
		x.s.clients[m.who].wall += m.by
	case jumpsServer:
		x.spend(Server, 1)
		n := &x.s.nodes[m.who]
		x.set(n, x.v.age(n.memory, m.by))
		x.facts.Recount()
	}
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

func (x *explorer) spend(k Kind, n uint8) {
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
func (l letter) sharesLane(o letter) bool {
	return l.client == o.client && l.conn == o.conn && l.orphan == o.orphan
}

// free lets a held request arrive, and those that had to wait behind it; or, if it is
// behind another one on its connection, wait for that.
func (x *explorer) free(who, nth uint8) {
	held := append([]letter(nil), x.tables.helds.get(x.s.world.held)...)
	n := slices.IndexFunc(held, func(l letter) bool {
		if l.client == who && !l.queued {
			nth--
		}
		return nth == 0
	})
	first := held[n]
	if slices.ContainsFunc(held[:n], first.sharesLane) {
		held[n].queued = true
		x.s.world.held, _ = x.tables.helds.put(held)
		return
	}
	due := []letter{first}
	var kept []letter
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
	x.s.world.held, _ = x.tables.helds.put(kept)
	for i := range due {
		x.execute(&due[i], due[i].loses, false)
	}
	if first.orphan && !x.behind(&first) {
		n := &x.s.nodes[first.addr]
		n.memory = x.v.without(n.memory, peer(int(first.client), uint16(first.conn)))
	}
	if !x.s.clients[first.client].Crashed {
		x.settle(int(first.client))
	}
}

// restart takes a node's memory away, and ends its connections.
func (x *explorer) restart(n int) {
	x.disconnect(n)
	nd := &x.s.nodes[n]
	nd.memory = x.v.empty(nd.memory)
	nd.owner = monitor.Nobody
	x.facts.Recount()
}

// takeOver is the end of a master, and a replica's in its place: one that had
// fallen behind.
func (x *explorer) takeOver(n int) {
	x.disconnect(n)
	nd := &x.s.nodes[n]
	*nd = node{memory: nd.behind.memory, owner: nd.behind.owner, failed: true}
	x.facts.Recount()
}

// disconnect ends a node's connections.
func (x *explorer) disconnect(n int) {
	for _, b := range x.v.snapshot(x.s.nodes[n].memory).Peers {
		c := &x.s.clients[b.Conn>>4]
		c.gone |= 1 << (b.Conn & 15)
	}
	w := &x.s.world
	held := append([]letter(nil), x.tables.helds.get(w.held)...)
	for i := range held {
		if int(held[i].addr) == n {
			held[i].stale = true
		}
	}
	w.held, _ = x.tables.helds.put(held)
}

// moves lists the choices that there are in the state that the explorer views.
func (x *explorer) moves(to []move) []move {
	to = to[:0]
	if x.over() {
		return to
	}
	left := &x.world.left
	for i, g := range x.summaries {
		who := uint8(i)
		if g.acts && x.turns(i) {
			to = append(to, move{kind: acts, who: who})
			if g.sends && left[ReplyLost] > 0 {
				to = append(to, move{kind: actsAndLosesReply, who: who, fault: ReplyLost})
			}
			if g.sends && left[Delay] > 0 {
				to = append(to, move{kind: actsAndIsHeldUp, who: who, fault: Delay})
			}
		}
		lives := !g.crashed && !g.over
		if left[Crash] > 0 && lives {
			to = append(to, move{kind: crashes, who: who, fault: Crash})
		}
		if left[Duplicate] > 0 && g.repeats {
			to = append(to, move{kind: repeats, who: who, fault: Duplicate})
		}
		if left[Client] > 0 && x.timed && lives {
			to = append(to, move{kind: jumpsClient, who: who, fault: Client, by: x.ttl + overStamp},
				move{kind: jumpsClient, who: who, fault: Client, by: -x.ttl - overStamp})
		}
	}
	return x.passing(x.befalling(to))
}

// befalling adds what happens on the way to the nodes, and there.
func (x *explorer) befalling(to []move) []move {
	left := &x.world.left
	var nth [len(names)]uint8
	for _, l := range x.tables.helds.get(x.world.held) {
		if !l.queued {
			nth[l.client]++
			to = append(to, move{kind: frees, who: l.client, n: nth[l.client]})
		}
	}
	for i, n := range x.nodes {
		if left[Failover] > 0 {
			to = append(to, move{kind: fallsBehind, who: uint8(i), fault: Failover})
		}
		if n.behind {
			to = append(to, move{kind: takesOver, who: uint8(i)})
		}
		if left[Restart] > 0 {
			to = append(to, move{kind: restarts, who: uint8(i), fault: Restart})
		}
		if left[Server] > 0 {
			to = append(to, move{kind: jumpsServer, who: uint8(i), fault: Server, by: x.ttl + overStamp},
				move{kind: jumpsServer, who: uint8(i), fault: Server, by: -x.ttl - overStamp})
		}
	}
	return to
}

// passing adds that time passes, if anything is due and the budget has as many
// pauses as that would begin.
func (x *explorer) passing(to []move) []move {
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
	return append(to, move{kind: passes, by: by})
}

// over: nobody will do anything any more.
func (x *explorer) over() bool {
	for _, g := range x.summaries {
		if !g.crashed && !g.over {
			return false
		}
	}
	return x.world.held == 0
}
