package space

import (
	"fmt"
	"math"
	"slices"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/flight"
	"lockstep/sim/explore/instants"
	"lockstep/sim/monitor"
	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// spanOf returns a life in milliseconds as a span. After a server's clock has jumped back
// again and again it may be too long; then time passes in two parts.
func spanOf(life int64) int32 { return int32(min(life, math.MaxInt32)) }

// age adds a time that passes to a span of which it doesn't matter by how much it is longer
// than the longest that matters.
func (m *Model) age(span *int32, by int32) {
	if *span > dropped {
		*span = int32(min(int64(*span)+int64(by), int64(m.instants.Far)))
	}
}

// ageGrant is age for a span since a command was sent by which a lease of a TTL may begin, or go on: once
// that is over, it doesn't matter for how long.
func (m *Model) ageGrant(span *int32, by int32) {
	if m.age(span, by); m.habits.endless {
		*span = min(*span, m.ttl)
	}
}

// grow adds a time that passes to a span that counts it, and fails if that is too long.
func (x *Explorer) grow(span *int32, by int32) {
	if *span > math.MaxInt32-by {
		x.fail(fmt.Errorf("a schedule goes on for more than %d days: the search counts in 32 bits of milliseconds; use a shorter TTL", math.MaxInt32/(24*3600*1000)))
		return
	}
	*span += by
}

// Due returns the time in milliseconds until anything happens by itself: a record expires, a
// lease lapses, a sleep or the wait for a reply ends.
func (x *Explorer) Due() (by int32, any bool) {
	for i := range x.s.nodes {
		by = instants.Sooner(by, x.dueAt(&x.s.nodes[i], instants.Ends))
	}
	for i := range x.s.clients {
		by = instants.Sooner(by, x.dueTo(&x.s.clients[i], instants.Ends))
	}
	for left := range flight.Patience(x.ids.helds.Get(x.s.world.held)) {
		by = instants.Sooner(by, left)
	}
	return by, by > 0
}

// dueAt returns the time until a record of a node or of its replica next comes to an
// instant, the last of which is its expiry. It returns 0 if there is none.
func (m *Model) dueAt(n *node, in *instants.Set) (by int32) {
	for _, snapshot := range [2]uint32{n.snapshot, n.behind.snapshot} {
		for _, k := range m.Servers.Snapshot(snapshot).Keys {
			if k.Left != redis.Immortal {
				by = instants.Sooner(by, in.ToNextLife(spanOf(k.Left+1)))
			}
		}
	}
	return by
}

// dueTo returns the time until a span of a client's next comes to an instant, or 0.
func (m *Model) dueTo(c *client, in *instants.Set) (by int32) {
	if c.Crashed {
		return 0
	}
	if c.Live && !c.forever {
		by = instants.Sooner(by, in.ToLapse(c.deadline))
	}
	if in.Digital && c.Phase == trace.PhaseAcquire && c.grantSent > dropped && !m.Config.Strategy.NoTTL {
		by = instants.Sooner(by, in.ToGrid(m.ttl-c.grantSent)) // a lease without a deadline of its own, if it is granted then
	}
	h := m.Clients.At(c.history)
	for t := range int(h.Count) {
		if c.waits[t] && c.due[t] < never && !h.Threads[t].Over {
			by = instants.Sooner(by, in.ToNext(c.due[t]))
		}
	}
	if c.since > dropped {
		by = instants.Sooner(by, in.NextReading(c.since, h))
	}
	return by
}

// Idle returns the set and the number of the clients for which a pause would begin if time
// passed now.
func (x *Explorer) Idle() (set uint8, n uint8) {
	for i := range x.Bounds.Clients {
		if x.idles(&x.s.clients[i]) {
			set |= 1 << i
			n++
		}
	}
	return set, n
}

// idles reports whether a pause of a client would begin if time passed now: it could act, and
// is not paused already. A client that has not begun yet can't be paused, nor can one that is
// about to ask for the lock: it merely asks later, which is nobody's fault.
func (m *Model) idles(c *client) bool {
	if c.Crashed || c.paused {
		return false
	}
	h := m.Clients.At(c.history)
	for t := range int(h.Count) {
		if p := &h.Threads[t]; !p.Over && !c.waits[t] && p.Kind != process.OpStart && !p.Asks() {
			return true
		}
	}
	return false
}

// Early counts the clients that are about to ask for the lock: if time passed now, they would
// ask later.
func (x *Explorer) Early() (n int32) {
	for i := range x.Bounds.Clients {
		c := &x.s.clients[i]
		if c.Crashed {
			continue
		}
		if h := x.history(i); slices.ContainsFunc(h.Threads[:h.Count], func(o behaviour.Operation) bool { return o.Asks() }) {
			n++
		}
	}
	return n
}

// advance lets time pass by so many milliseconds, and makes everything happen that is due by
// then: first records expire, then, client by client, leases lapse and threads wake.
func (x *Explorer) advance(by int32) {
	pausing, _ := x.Idle()
	var sent []uint32
	for n := range x.s.nodes {
		if _, id := x.ageNode(&x.s.nodes[n], by); id != 0 {
			sent = append(sent, id)
		}
	}
	x.facts.Recount()
	over := x.ageWorld(&x.s.world, by)
	for _, id := range sent {
		x.publish(id)
	}
	x.giveUp(over)
	for i := range x.s.clients {
		x.pass(&x.s.clients[i], by, pausing>>i&1 != 0)
	}
}

// ageNode lets time pass for a node. It reports whether the lock's record has expired, and the messages about
// keys that have.
func (m *Model) ageNode(n *node, by int32) (expired bool, sent uint32) {
	a := m.Servers.Age(n.snapshot, by)
	m.set(n, a)
	if b := &n.behind; b.snapshot != 0 {
		later := m.Servers.Age(b.snapshot, by)
		if b.snapshot = later.Snapshot; later.Expired {
			b.owner = monitor.Nobody
		}
	}
	return a.Expired, a.Sent
}

// ageWorld lets time pass for the rest of a state. It returns the requests that have waited for an element
// in vain.
func (x *Explorer) ageWorld(w *world, by int32) (over []flight.Request) {
	if x.timed {
		x.grow(&w.now, by)
		w.reads, _ = x.ids.reads.Put(x.instants.Age(x.ids.reads.Get(w.reads), by))
	}
	if w.held != 0 {
		held := slices.Clone(x.ids.helds.Get(w.held))
		for n := range held {
			x.ageGrant(&held[n].Ago, by)
		}
		over, held = flight.Later(held, by)
		w.held, _ = x.ids.helds.Put(held)
	}
	return over
}

// set gives a node an older snapshot. A record that has expired has no owner.
func (m *Model) set(n *node, a behaviour.Aged) {
	n.snapshot = a.Snapshot
	if a.Expired {
		n.owner = monitor.Nobody
	}
}

// pass lets time pass for a client, which is paused from now on if it could have acted.
func (m *Model) pass(c *client, by int32, pausing bool) {
	if c.Crashed {
		return
	}
	c.paused = c.paused || pausing && m.Bounds.Faults[bounds.Pause] != bounds.Any
	h := m.Clients.At(c.history)
	if c.since > dropped {
		c.since = spanOf(m.instants.Shown(int64(c.since)+int64(by), h.Read, m.timed))
	}
	if c.Live && !c.forever {
		if c.deadline -= by; c.deadline <= 0 {
			c.Live, c.deadline = false, 0
		}
	}
	m.ageGrant(&c.grantSent, by)
	if c.inbox != 0 {
		inbox := append([]reply(nil), m.ids.inboxes.Get(c.inbox)...)
		for n := range inbox {
			if inbox[n].prolonged {
				m.ageGrant(&inbox[n].ago, by)
			}
		}
		c.inbox, _ = m.ids.inboxes.Put(inbox)
	}
	for t := range int(h.Count) {
		m.age(&c.sent[t], by)
		if c.waits[t] && c.due[t] < never && !h.Threads[t].Over {
			c.due[t] -= by
		}
	}
	(&local{habits: m.habits, c: c}).settle()
}
