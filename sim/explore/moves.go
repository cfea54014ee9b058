package explore

import (
	"slices"

	"lockstep/sim"
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
			x.settle(i)
		}
	case restarts:
		x.spend(Restart, 1)
		x.restart(int(m.who))
	case fallsBehind:
		x.spend(Failover, 1)
		n := &x.s.nodes[m.who]
		n.behind = replica{memory: x.v.replicated(n.memory), owner: n.owner, ownerN: n.ownerN}
	case takesOver:
		x.takeOver(int(m.who))
	case jumpsClient:
		x.spend(Client, 1)
		x.s.clients[m.who].wall += m.by
	case jumpsServer:
		x.spend(Server, 1)
		n := &x.s.nodes[m.who]
		x.set(n, x.v.age(n.memory, m.by))
		x.ownership()
	}
}

// turnTo notes who acts, where it is bounded how often that changes.
func (x *explorer) turnTo(who uint8) {
	w := &x.s.world
	if x.bounds.Switches == 0 || w.mover == who+1 {
		return
	}
	if w.mover != 0 {
		w.switched++
	}
	w.mover = who + 1
}

// turns reports whether it may be this client that acts next.
func (x *explorer) turns(i int) bool {
	w := &x.s.world
	return x.bounds.Switches == 0 || w.mover == 0 || int(w.mover) == i+1 || int(w.switched) < x.bounds.Switches
}

func (x *explorer) spend(k Kind, n uint8) {
	x.s.world.left[k] -= n
	x.seen.used[k] = true
}

// crash ends a client. What it has sent is still on its way; all that it knew is
// gone, and only what it did to the resource and to the nodes is left.
func (x *explorer) crash(i int) {
	x.hangUp(i, 0xffff)
	touched := x.s.clients[i].touched
	x.s.clients[i] = client{crashed: true, touched: touched, since: unset, stamp: unset}
	x.s.rank()
}

// free lets a held request arrive, and those that had to wait behind it.
func (x *explorer) free(who, nth uint8) {
	held := append([]letter(nil), x.tables.helds.get(x.s.world.held)...)
	n := slices.IndexFunc(held, func(l letter) bool {
		if l.client == who && !l.queued {
			nth--
		}
		return nth == 0
	})
	first := held[n]
	due := []letter{first}
	var kept []letter
	blocked := false
	for i, l := range held {
		switch {
		case i == n:
		case i > n && l.client == first.client && l.conn == first.conn && l.orphan == first.orphan && l.queued && !blocked:
			due = append(due, l)
		default:
			if i > n && l.client == first.client && l.conn == first.conn && l.orphan == first.orphan {
				blocked = true
			}
			kept = append(kept, l)
		}
	}
	x.s.world.held, _ = x.tables.helds.put(kept)
	for i := range due {
		x.execute(&due[i], false, false)
	}
	if first.orphan && !x.behind(&first) {
		n := &x.s.nodes[first.addr]
		n.memory = x.v.without(n.memory, peer(int(first.client), uint16(first.conn)))
	}
	if !x.s.clients[first.client].crashed {
		x.settle(int(first.client))
	}
}

// restart takes a node's memory away, and ends its connections.
func (x *explorer) restart(n int) {
	x.disconnect(n)
	nd := &x.s.nodes[n]
	nd.memory = x.v.empty(nd.memory)
	nd.owner, nd.ownerN = -1, 0
	x.ownership()
}

// takeOver is the end of a master, and a replica's in its place: one that had
// fallen behind.
func (x *explorer) takeOver(n int) {
	x.disconnect(n)
	nd := &x.s.nodes[n]
	*nd = node{memory: nd.behind.memory, owner: nd.behind.owner, ownerN: nd.behind.ownerN, failed: true}
	x.ownership()
}

// disconnect ends a node's connections.
func (x *explorer) disconnect(n int) {
	for _, b := range x.v.memory(x.s.nodes[n].memory).Peers {
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

// moves lists the choices that there are in the current situation.
func (x *explorer) moves(to []move) []move {
	to = to[:0]
	if x.done() {
		return to
	}
	left := &x.s.world.left
	for i := range x.bounds.Clients {
		c := &x.s.clients[i]
		if c.crashed {
			continue
		}
		m := x.k.at(c.moment)
		if t, any := x.next(i); any && x.turns(i) {
			to = append(to, move{kind: acts, who: uint8(i)})
			if p := &m.threads[t]; p.kind == sim.OpSend {
				if left[ReplyLost] > 0 {
					to = append(to, move{kind: actsAndLosesReply, who: uint8(i), fault: ReplyLost})
				}
				if left[Delay] > 0 {
					to = append(to, move{kind: actsAndIsHeldUp, who: uint8(i), fault: Delay})
				}
			}
		}
		if left[Crash] > 0 && !m.over {
			to = append(to, move{kind: crashes, who: uint8(i), fault: Crash})
		}
		if left[Duplicate] > 0 && c.last != 0 {
			to = append(to, move{kind: repeats, who: uint8(i), fault: Duplicate})
		}
		if left[Client] > 0 && x.timed && !m.over {
			to = append(to, move{kind: jumpsClient, who: uint8(i), fault: Client, by: x.ttl + overStamp},
				move{kind: jumpsClient, who: uint8(i), fault: Client, by: -x.ttl - overStamp})
		}
	}
	var nth [len(names)]uint8
	for _, l := range x.tables.helds.get(x.s.world.held) {
		if !l.queued {
			nth[l.client]++
			to = append(to, move{kind: frees, who: l.client, n: nth[l.client]})
		}
	}
	for n := range x.s.nodes {
		if left[Failover] > 0 {
			to = append(to, move{kind: fallsBehind, who: uint8(n), fault: Failover})
		}
		if x.s.nodes[n].behind.memory != 0 {
			to = append(to, move{kind: takesOver, who: uint8(n)})
		}
		if left[Restart] > 0 {
			to = append(to, move{kind: restarts, who: uint8(n), fault: Restart})
		}
		if left[Server] > 0 {
			to = append(to, move{kind: jumpsServer, who: uint8(n), fault: Server, by: x.ttl + overStamp},
				move{kind: jumpsServer, who: uint8(n), fault: Server, by: -x.ttl - overStamp})
		}
	}
	return x.passing(to)
}

// passing adds that time passes, if anything is due and the budget has as many
// pauses as that would begin.
func (x *explorer) passing(to []move) []move {
	by, any := x.due()
	_, n := x.idle()
	if !any || n > x.s.world.left[Pause] {
		return to
	}
	return append(to, move{kind: passes, by: by})
}

// done: nobody will do anything any more.
func (x *explorer) done() bool {
	for i := range x.bounds.Clients {
		c := &x.s.clients[i]
		if !c.crashed && !x.k.at(c.moment).over {
			return false
		}
	}
	return x.s.world.held == 0
}
