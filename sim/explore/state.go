package explore

import (
	"slices"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/intern"
	"lockstep/sim/monitor"
	"lockstep/sim/trace"
)

// client is the part of a state that is one client's: how the rules see it, and what of its
// threads, its lease and its connections still matters. All times are in milliseconds from
// the state's own instant, so that states which differ only in when they happen are one.
// Its fields are comparable, and equal clients have equal ids. No byte is left over between
// them, so that a client is compared and hashed as a piece of memory and not field by field.
//
// Invariant: deadline is 0 and forever false unless the lease is live; of the two only one
// is set.
// Invariant: a thread that waits has a due above 0 and no turn; the turns of those that are
// ready are 1, 2 and so on, in the order in which they became ready.
// Invariant: a client that has crashed is nothing but dead(Touched).
// Invariant: last is 0 once no budget is left for a request that arrives twice.
type client struct {
	history uint32
	monitor.Client
	paused  bool // it could have acted, and time has passed: its next step ends a pause
	forever bool // its lease has no deadline

	waits [behaviour.MaxThreads]bool // its operation can't be performed yet
	due   [behaviour.MaxThreads]int32
	sent  [behaviour.MaxThreads]int32 // since its last command was sent, while that matters
	turn  [behaviour.MaxThreads]uint8 // order of becoming ready

	since     int32 // since this cycle's first reading of the monotonic clock, or unset
	deadline  int32 // of its lease, if that is live and not for ever
	grantSent int32 // since it sent what stored its record, until it is granted
	wall      int32 // how wrong its wall clock is
	stamp     int32 // until what it read on its wall clock is over by a TTL, or unset

	inbox uint32 // replies that have arrived
	torn  uint16 // connections that lost a reply
	gone  uint16 // connections that ended in the middle of something
	last  uint32 // the command that was executed last, if it could arrive twice
}

const unset int32 = -1 << 31

// reply is a reply in an inbox.
type reply struct {
	reply     uint32
	ago       int32 // since its command was sent, if it prolonged a lease
	conn      uint16
	refused   bool
	prolonged bool
}

// node is the part of a state that is one node's.
//
// Invariant: owner is monitor.Nobody if the memory holds no record of the lock.
type node struct {
	snapshot uint32
	owner    monitor.Owner // of the lock's record
	behind   replica
	failed   bool // a replica has taken over
}

// replica is what a replica that has fallen behind holds.
type replica struct {
	snapshot uint32 // 0: it has all that the master has
	owner    monitor.Owner
}

// request is a request that is held up, or one that could arrive once more.
type request struct {
	client, thread, conn, addr uint8
	command                    uint32
	acquired                   uint16
	phase                      trace.Phase
	ago                        int32
	stale                      bool // its connection has ended: its node has restarted since
	orphan                     bool // nobody waits for the reply: its connection is given up, and has another number
	queued                     bool // it waits behind another one on its connection
	loses                      bool // its reply is going to be lost
}

// world is the rest of a state.
//
// Invariant: now is 0 in a model that isn't timed, and mover and switched are 0 unless the
// bounds limit switches.
type world struct {
	fence int32 // the highest that the resource has seen
	held  uint32
	now   int32 // true time, if wall clocks or the nodes' are looked at
	left  Budget

	// Who acted last, from 1, and how often that changed. Both are 0 unless changes
	// are bounded: situations that differ in nothing else are one otherwise.
	mover    uint8
	switched uint16
}

// state is a state spelt out.
type state struct {
	clients []client
	nodes   []node
	world   world
}

// idTables are the numbers that states are made of.
type idTables struct {
	clients  *summarised[client, summary]
	nodes    *summarised[node, nodeSummary]
	worlds   *summarised[world, worldSummary]
	inboxes  *lists[reply]
	helds    *lists[request]
	requests *intern.Table[request]
}

func (m *model) newTables() *idTables {
	return &idTables{newSummarised(m.summary), newSummarised(m.nodeSummary), newSummarised(func(*world) (s worldSummary) { return s }),
		newLists[reply](), newLists[request](), intern.NewTable[request]()}
}

// maxList is how many replies or held requests there can be at a time.
const maxList = 6

// lists gives numbers to short lists; the empty one is 0.
type lists[V comparable] struct{ ids *intern.Table[listOf[V]] }

type listOf[V comparable] struct {
	n     int
	items [maxList]V
}

func newLists[V comparable]() *lists[V] { return &lists[V]{intern.NewTable[listOf[V]]()} }

func (l *lists[V]) get(id uint32) []V {
	if id == 0 {
		return nil
	}
	v := l.ids.Value(id)
	return v.items[:v.n]
}

func (l *lists[V]) put(items []V) (id uint32, fits bool) {
	if len(items) == 0 {
		return 0, true
	}
	if len(items) > maxList {
		return 0, false
	}
	var v listOf[V]
	v.n = copy(v.items[:], items)
	return l.ids.ID(v), true
}

// pending is a client of a successor that has no number yet.
type pending struct {
	client client
	digest uint32
	at     int // where its number belongs among the successors
}

// pack adds the state of the situation, to which a move has led, to the successors;
// unpack is its inverse. Most of a situation is as it was in the state that it
// follows, and has its numbers already. New clients get theirs from resolve.
func (x *explorer) pack(before []uint32) {
	base := len(x.successors)
	x.successors = append(x.successors, before...)
	to := x.successors[base:]
	for i := range x.bounds.Clients { // the probe has not begun
		c := &x.s.clients[i]
		if *c == x.from.clients[i] {
			continue
		}
		x.pending = append(x.pending, pending{client: *c, digest: x.ids.clients.Digest(*c), at: base + i})
	}
	for i := range x.s.nodes {
		if x.s.nodes[i] != x.from.nodes[i] {
			to[x.bounds.Clients+i] = x.ids.nodes.ID(x.s.nodes[i])
		}
	}
	if x.s.world != x.from.world {
		to[len(to)-1] = x.ids.worlds.ID(x.s.world)
	}
}

// resolve gives numbers to the clients of the successors. To find them is above all to
// wait for memory, so it is asked for all of them before any is looked at.
func (x *explorer) resolve() {
	t := x.ids.clients
	var likely [64]uint32
	for batch := range slices.Chunk(x.pending, len(likely)) {
		for i := range batch {
			likely[i] = t.Likely(batch[i].digest)
		}
		for _, id := range likely[:len(batch)] {
			c := t.Value(id)
			x.ahead += c.history + c.last
		}
		for i := range batch {
			p := &batch[i]
			x.successors[p.at] = t.Add(&p.client, p.digest, struct{}{})
		}
	}
	x.pending = x.pending[:0]
}

func (x *explorer) unpack(state []uint32, s *state) {
	n := x.bounds.Clients
	for i := range n {
		s.clients[i] = *x.ids.clients.Value(state[i])
	}
	s.clients[n] = x.idleProbe
	for i := range s.nodes {
		s.nodes[i] = *x.ids.nodes.Value(state[n+i])
	}
	s.world = *x.ids.worlds.Value(state[len(state)-1])
}

func (s *state) copyFrom(o *state) {
	copy(s.clients, o.clients)
	copy(s.nodes, o.nodes)
	s.world = o.world
}

// facts are those of the situation, where it keeps them: they stay there for as long as
// it lives.
func (s *state) facts(m *model) *monitor.Facts {
	var clients []*monitor.Client
	for i := range s.clients {
		clients = append(clients, &s.clients[i].Client)
	}
	var owners []*monitor.Owner
	for i := range s.nodes {
		owners = append(owners, &s.nodes[i].owner)
	}
	f := monitor.NewFacts(clients, owners)
	f.Quorum, f.Counter, f.Workload = m.quorum, m.cfg.Strategy.Counter, m.cfg.Workload
	return f
}

// queue puts a thread behind all of its client's that are ready.
func (c *client) queue(thread int) {
	last := uint8(0)
	for i, w := range c.waits {
		if !w && i != thread {
			last = max(last, c.turn[i])
		}
	}
	c.waits[thread], c.due[thread], c.turn[thread] = false, 0, last+1
}

// order makes turns dense, so that equal orders are equal.
func (c *client) order(m *behaviour.History) {
	was := c.turn
	for i := range c.turn {
		c.turn[i] = 0
		if i >= int(m.Count) || m.Threads[i].Over || c.waits[i] {
			continue
		}
		c.turn[i] = 1 // and one more for each that is before it
		for j := range i {
			switch {
			case c.turn[j] == 0:
			case was[j] <= was[i]:
				c.turn[i]++
			default:
				c.turn[j]++
			}
		}
	}
}
