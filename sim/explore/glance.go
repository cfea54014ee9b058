package explore

import (
	"sync/atomic"

	"lockstep/sim"
	"lockstep/sim/monitor"
)

// glance is what has to be known of a client's state to list the choices that there
// are, and to make those of them that are nobody else's business. It follows from the
// state alone. It is made once for each, and small: a search looks at glances all the
// time, and spells a state out only where one client's step depends on another.
type glance struct {
	crashed, over bool
	acts          bool // it can
	sends         bool // and what it does then is to send a command
	idles         bool // if time passed now, that would begin a pause
	repeats       bool // a command of its could arrive once more
	inside        bool // the critical section
	touched       monitor.Rank
	due           int32  // how long it takes until anything happens to it by itself; 0 is never
	ranks         uint32 // the grants that matter to it: a bit each
	next          uint64 // its own step, if it is known; atomic
}

// ownStep is what a client does next, if that is its own business: the client's number
// after it, on what condition, and what is counted then. 0 is not known.
type ownStep uint64

const (
	isRefused ownStep = 1 << (32 + iota) // it is told that it doesn't get the lock
	isTooLate                            // it is told that it didn't release it

	conditions = 40 // from this bit on: a monitor.Condition
)

func (s ownStep) under() monitor.Condition { return monitor.Condition(s >> conditions) }

func (s ownStep) to() uint32 { return uint32(s) }

// glance looks at a client.
func (m *model) glance(c *client) glance {
	g := glance{crashed: c.Crashed, touched: c.Touched, inside: c.Inside, ranks: c.Ranks()}
	if c.Crashed {
		return g
	}
	now := m.k.at(c.moment)
	g.over, g.repeats, g.idles, g.due = now.over, c.last != 0, m.idles(c), m.dueTo(c)
	if t, any := m.next(c); any {
		g.acts, g.sends = true, now.threads[t].kind == sim.OpSend
	}
	return g
}

// nodeGlance is the same of a node.
type nodeGlance struct {
	due    int32
	owner  int16
	behind bool // a replica is
	begun  bool // a connection has begun something on it
}

func (m *model) nodeGlance(n *node) nodeGlance {
	return nodeGlance{due: m.dueAt(n), owner: n.owner.Client, behind: n.behind.memory != 0, begun: len(m.v.snapshot(n.memory).Peers) > 0}
}

// worldGlance is the same of the rest.
type worldGlance struct {
	crashed uint32 // the world after one more crash, if it is known; atomic
}

// noted gives numbers to values, and keeps a note of each.
type noted[K comparable, N any] struct {
	interned[K]
	notes chunks[N]
}

// newNoted makes a table whose notes are made by a function.
func newNoted[K comparable, N any](make func(*K) N) *noted[K, N] {
	t := new(noted[K, N])
	var none N
	t.notes.add(none) // number 0 is nobody's
	t.begin()
	t.added = func(k *K) { t.notes.add(make(k)) }
	return t
}

func (t *noted[K, N]) note(id uint32) *N { return t.notes.at(id) }

// view takes a glance at a state.
func (x *explorer) view(state []uint32) {
	n := x.bounds.Clients
	for i := range x.glances {
		x.glances[i] = x.tables.clients.note(state[i])
	}
	x.world = x.tables.worlds.value(state[len(state)-1])
	x.quiet = x.world.held == 0
	for i := range x.nodes {
		x.nodes[i] = x.tables.nodes.note(state[n+i])
		x.quiet = x.quiet && !x.nodes[i].begun
	}
}

// warm reads the glances at some states ahead, for the processor to wait for many of
// them at once.
func (x *explorer) warm(states []uint32) {
	n := x.bounds.Clients
	for at := 0; at < len(states); at += x.width {
		for _, id := range states[at : at+n] {
			x.ahead += x.tables.clients.note(id).ranks
		}
	}
}

// leap makes a move from the state that the explorer views, if that can be done at a
// glance, and adds the state to which it leads. The moves that can't be are those at
// which clients, nodes and the resource meet. Where a connection has begun something
// on a node, or a request is held up, none can be: a client that ends a connection
// might end that.
func (x *explorer) leap(m move, state, to []uint32) (_ []uint32, done bool) {
	if !x.quiet {
		return to, false
	}
	who := int(m.who)
	switch m.kind {
	case acts:
		s := ownStep(atomic.LoadUint64(&x.glances[who].next))
		if s == 0 || !x.own(who, s) {
			return to, false
		}
		x.seen.own(s)
		to = append(to, state...)
		to[len(to)-len(state)+who] = s.to()
		return to, true
	case crashes:
		touched := x.glances[who].touched
		if !x.dense(who, 1<<touched) {
			return to, false
		}
		x.seen.used[Crash] = true
		to = append(to, state...)
		after := to[len(to)-len(state):]
		after[who] = x.corpse(touched)
		after[len(after)-1] = x.afterCrash(after[len(after)-1])
		return to, true
	}
	return to, false
}

// own reports whether a client's own step is that here.
func (x *explorer) own(who int, s ownStep) bool {
	if s.under()&monitor.Unowned != 0 && x.owns(who) {
		return false
	}
	if s.under()&monitor.Alone != 0 {
		for i, g := range x.glances {
			if i != who && g.inside {
				return false
			}
		}
	}
	ranks := x.tables.clients.note(s.to()).ranks
	return ranks == x.glances[who].ranks || x.dense(who, ranks)
}

// owns reports whether a record on some node is a client's.
func (x *explorer) owns(who int) bool {
	for _, n := range x.nodes {
		if int(n.owner) == who {
			return true
		}
	}
	return false
}

// dense reports whether the order of the grants that matter has no gap if, of those
// that matter to this client, there are only these. See rank.
func (x *explorer) dense(who int, ranks uint32) bool {
	used := ranks | 1
	for i, g := range x.glances {
		if i != who {
			used |= g.ranks
		}
	}
	return used&(used+1) == 0
}

// corpse is the number of a client that has crashed.
func (x *explorer) corpse(touched monitor.Rank) uint32 {
	if x.corpses[touched] == 0 {
		x.corpses[touched] = x.tables.clients.id(dead(touched))
	}
	return x.corpses[touched]
}

// afterCrash is the number of a world after one more crash.
func (x *explorer) afterCrash(id uint32) uint32 {
	known := &x.tables.worlds.note(id).crashed
	if n := atomic.LoadUint32(known); n != 0 {
		return n
	}
	w := *x.tables.worlds.value(id)
	w.left[Crash]--
	n := x.tables.worlds.id(w)
	atomic.StoreUint32(known, n)
	return n
}

// isOwn reports whether the move that was made last was a client's own step, as long as
// a search takes it to be.
func (x *explorer) isOwn(m move, who int) bool {
	return x.hasty && m.kind == acts && int(m.who) == who && !x.meets && x.found == 0 && x.err == nil
}

// keep remembers what is a client's own step.
func (x *explorer) keep(from uint32, s ownStep) {
	atomic.StoreUint64(&x.tables.clients.note(from).next, uint64(s))
}
