package space

import (
	"slices"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/flight"
	"lockstep/sim/explore/intern"
	"lockstep/sim/monitor"
)

// client is the part of a state that belongs to one client: its facts for the rules, and
// those of its threads, its lease and its connections that still matter. All times are in
// milliseconds from the state's own instant, so that states which differ only in when they
// happen are equal. Equal clients have equal ids. There is no padding between the fields,
// so that a client is compared and hashed as a piece of memory and not field by field.
//
// Invariant: deadline is 0 and forever false unless the lease is live; of the two only one
// is set.
// Invariant: a thread that waits has a due above 0, and no turn, or turn 1 if it can't be ready before
// another has acted (see local.yield); the turns of those that are ready are 1, 2 and so on, in the order
// in which they became ready.
// Invariant: a client that has crashed equals dead(Touched, sentBefore).
// Invariant: sentBefore is 0 once no budget is left for a request that arrives twice.
type client struct {
	history uint32 // its id
	monitor.Client
	paused  bool // time has passed while it could have acted: its next step ends a pause
	forever bool // its lease has no deadline

	waits [behaviour.MaxThreads]bool  // its operation can't be performed yet
	due   [behaviour.MaxThreads]int32 // until the wait ends by itself
	sent  [behaviour.MaxThreads]int32 // since its last command was sent, while that matters
	turn  [behaviour.MaxThreads]uint8 // its place in the order of becoming ready

	since     int32 // since this cycle's first reading of the monotonic clock (or the first of all: see Bounds.ClockGoesOn), or unset
	deadline  int32 // until the end of its lease, if that is live and has a deadline
	grantSent int32 // since it sent the command that stored its record, until it is granted
	wall      int32 // by how much its wall clock is ahead

	inbox uint32 // the id of the list of replies that have arrived
	torn  uint16 // connections that lost a reply, a bit each
	gone  uint16 // connections that a restart or a failover has ended in the middle of a transaction

	sentBefore uint32 // the id of the list of its requests that were executed last, if they could arrive twice; without bounds, of those that are going to: see foresee
}

// anyTime is the due of a thread whose wait may end at any time: see Model.WakeEarly.
const anyTime int32 = 1<<31 - 1

// never is the due of a thread whose wait ends by nothing but a reply, or a message.
const never = anyTime - 1

const (
	unset   int32 = -1 << 31  // the value of a span that isn't running
	dropped int32 = unset + 1 // the value of a span since a reading on which nothing is known to depend any more
)

// reply is a reply in an inbox.
type reply struct {
	reply     uint32 // its id
	ago       int32  // since its command was sent, if that prolonged the record
	conn      uint16
	refused   bool // there is no reply: the connection has ended
	prolonged bool // the command gave the client's own record a later expiry
}

// node is the part of a state that belongs to one node.
//
// Invariant: owner is monitor.Nobody if the snapshot holds no record of the lock.
type node struct {
	snapshot uint32        // its id
	owner    monitor.Owner // of the lock's record
	behind   replica
	failed   bool // a replica has taken over
}

// replica is the content of a replica that has fallen behind its master.
type replica struct {
	snapshot uint32 // its id; 0 if the replica is in sync
	owner    monitor.Owner
}

// world is the rest of a state.
//
// Invariant: now is 0 in a model that isn't timed, and mover and switched are 0 unless the
// bounds limit switches.
type world struct {
	fence int64  // the highest fencing token that the resource has accepted
	held  uint32 // the id of the list of requests that are held up
	now   int32  // true time in milliseconds, in a timed model
	reads uint32 // the id of the list of spans since true time was read, as long as they matter; in a timed model
	left  unspent

	mover    uint8 // the client that acted last, from 1; 0 before any has
	switched uint8 // how often that has changed
}

// unspent are the faults that may still happen, by kind. It is longer than a [Budget] by as many zeros as
// let a world, of which 20 bytes stand before it and two behind it, be a multiple of eight bytes: it has no
// padding then, however many kinds of fault there are.
type unspent [(20+bounds.FaultKinds+2+7)/8*8 - 20 - 2]uint8

// state is an unpacked state. Packed, it is a slice of ids: of its clients without the probe,
// of its nodes, and of its world, in this order.
type state struct {
	clients []client
	nodes   []node
	world   world
}

// idTables intern the parts of states.
type idTables struct {
	clients *intern.Summarised[client, summary]
	nodes   *intern.Summarised[node, nodeSummary]
	worlds  *intern.Summarised[world, worldSummary]
	inboxes *intern.Lists[reply]
	helds   *intern.Lists[flight.Request]
	sents   *intern.Lists[flight.Request]
	reads   *intern.Lists[int32]
	renamed *intern.Memo[partKey, uint32]    // see canonical
	deeds   *intern.Memo[deedsKey, []uint32] // see environment
	names   *intern.Chunks[names]            // by a client's id, in a search without bounds
}

// newTables returns empty tables.
func (m *Model) newTables() *idTables {
	t := &idTables{intern.NewSummarised(m.summary), intern.NewSummarised(m.nodeSummary), intern.NewSummarised(func(*world) (s worldSummary) { return s }),
		intern.NewLists[reply](), intern.NewLists[flight.Request](), intern.NewLists[flight.Request](), intern.NewLists[int32](), intern.NewMemo[partKey, uint32](), intern.NewMemo[deedsKey, []uint32](), new(intern.Chunks[names])}
	t.names.Add(names{}) // id 0 means none
	return t
}

// MaxList is the number of replies to one client, of held requests, or of readings of true
// time that still matter, that a state can have.
const MaxList = intern.MaxList

// pending is a client of a successor that has no id yet.
type pending struct {
	client client
	digest uint32
	at     int // the index of its id in the successors
}

// pack adds the explorer's state to the successors, more than once if it is foreseen whether a request
// arrives twice.
func (x *Explorer) pack(before []uint32) {
	if x.habits.endless && !x.eachStep {
		x.foresee(before)
	} else {
		x.packOnce(before)
	}
}

// packOnce adds the explorer's state to the successors; unpack is its inverse. Most of it is as
// it was in the state before, and keeps its ids. New clients get theirs from resolve.
func (x *Explorer) packOnce(before []uint32) {
	base := len(x.successors)
	x.successors = append(x.successors, before...)
	to := x.successors[base:]
	for i := range x.Bounds.Clients { // the probe has not begun
		c := &x.s.clients[i]
		if *c == x.from.clients[i] {
			continue
		}
		x.pending = append(x.pending, pending{client: *c, digest: x.ids.clients.Digest(*c), at: base + i})
	}
	for i := range x.s.nodes {
		if x.s.nodes[i] != x.from.nodes[i] {
			to[x.Bounds.Clients+i] = x.ids.nodes.ID(x.s.nodes[i])
		}
	}
	if x.s.world != x.from.world {
		to[len(to)-1] = x.ids.worlds.ID(x.s.world)
	}
}

// resolve interns the pending clients of the successors. Nearly all its time is spent
// waiting for memory, so it prefetches a batch of them before it looks at any.
func (x *Explorer) resolve() {
	t := x.ids.clients
	var likely [64]uint32
	for batch := range slices.Chunk(x.pending, len(likely)) {
		for i := range batch {
			likely[i] = t.Likely(batch[i].digest)
		}
		for _, id := range likely[:len(batch)] {
			c := t.Value(id)
			x.ahead += c.history + c.sentBefore
		}
		for i := range batch {
			p := &batch[i]
			x.successors[p.at] = t.Add(&p.client, p.digest, struct{}{})
		}
	}
	x.pending = x.pending[:0]
}

// unpack sets a state to a packed one. The probe has not begun.
func (x *Explorer) unpack(state []uint32, s *state) {
	n := x.Bounds.Clients
	for i := range n {
		s.clients[i] = *x.ids.clients.Value(state[i])
	}
	s.clients[n] = x.idleProbe
	for i := range s.nodes {
		s.nodes[i] = *x.ids.nodes.Value(state[n+i])
	}
	s.world = *x.ids.worlds.Value(state[len(state)-1])
}

// Visit takes the explorer to a packed state, and views it.
func (x *Explorer) Visit(state []uint32) {
	x.unpack(state, &x.from)
	x.Back()
	x.View(state)
}

// Back takes the explorer back to the state that it has visited last.
func (x *Explorer) Back() { x.s.copyFrom(&x.from) }

// Packed returns the packed state that the explorer is in. It has come there by one choice
// from the given one, which it has visited. It uses the result again when it is called next.
func (x *Explorer) Packed(from []uint32) []uint32 {
	x.successors = x.successors[:0]
	if x.habits.endless && !x.eachStep {
		x.tidy()
	}
	x.packOnce(from)
	return x.Followed()
}

// Client returns client i's facts for the rules in a packed state, how much longer its lease is
// live in milliseconds (0 is for ever, or not at all), and whether it is paused if time passes.
func (x *Explorer) Client(state []uint32, i int) (c *monitor.Client, left int32, paused bool) {
	is := x.ids.clients.Value(state[i])
	return &is.Client, is.deadline, is.paused || x.idles(is)
}

// Owner returns to whom the lock's record on node i belongs in a packed state.
func (x *Explorer) Owner(state []uint32, i int) monitor.Owner {
	return x.ids.nodes.Value(state[x.Bounds.Clients+i]).owner
}

func (s *state) copyFrom(o *state) {
	copy(s.clients, o.clients)
	copy(s.nodes, o.nodes)
	s.world = o.world
}

// facts returns the facts of the state for the rules. They point into the state, whose
// slices must stay where they are.
func (s *state) facts(m *Model) *monitor.Facts {
	var clients []*monitor.Client
	for i := range s.clients {
		clients = append(clients, &s.clients[i].Client)
	}
	var owners []*monitor.Owner
	for i := range s.nodes {
		owners = append(owners, &s.nodes[i].owner)
	}
	f := monitor.NewFacts(clients, owners)
	f.Quorum, f.Counter, f.Workload = m.quorum, m.Config.Strategy.Counter, m.Config.Workload
	return f
}

// queue makes a thread ready, after all of its client's that are ready already.
func (c *client) queue(thread int) {
	last := uint8(0)
	for i, w := range c.waits {
		if !w && i != thread {
			last = max(last, c.turn[i])
		}
	}
	c.waits[thread], c.due[thread], c.turn[thread] = false, 0, last+1
}

// order brings turns into canonical form: threads that are ready in the same order have
// equal turns.
func (c *client) order(h *behaviour.History) {
	was := c.turn
	for i := range c.turn {
		c.turn[i] = 0
		switch {
		case i >= int(h.Count) || h.Threads[i].Over:
			continue
		case c.waits[i]:
			c.turn[i] = was[i]
			continue
		}
		c.turn[i] = 1 // and one more for each that is before it
		for j := range i {
			switch {
			case c.turn[j] == 0 || c.waits[j]:
			case was[j] <= was[i]:
				c.turn[i]++
			default:
				c.turn[j]++
			}
		}
	}
}
