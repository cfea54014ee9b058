package explore

import (
	"lockstep/sim/explore/behaviour"
	"lockstep/sim/monitor"
	"lockstep/sim/process"
	"lockstep/sim/redis"
)

// stats are counted by a worker on its way. None of it is part of a state.
type stats struct {
	refused  int64
	tooLate  int64 // releases that found the lock gone or in other hands
	compared int64 // comparisons in a release that failed
	fenced   int64 // accesses that the resource refused
	extended bool
	used     [faultKinds]bool
}

// local counts a localStep.
func (s *stats) local(l localStep) {
	if l&isRefused != 0 {
		s.refused++
	}
	if l&isTooLate != 0 {
		s.tooLate++
	}
}

func (s *stats) add(o *stats) {
	s.refused += o.refused
	s.tooLate += o.tooLate
	s.compared += o.compared
	s.fenced += o.fenced
	s.extended = s.extended || o.extended
	for i := range s.used {
		s.used[i] = s.used[i] || o.used[i]
	}
}

// sooner is the lesser of a span, of which 0 is never, and another one, which is never
// if it is past.
func sooner(a, b int32) int32 {
	if b > 0 && (a == 0 || b < a) {
		return b
	}
	return a
}

// due is how long it takes until anything happens by itself: a record expires, a
// lease lapses, a sleep or somebody's patience ends, a stamp is over.
func (x *explorer) due() (by int32, any bool) {
	for i := range x.s.nodes {
		by = sooner(by, x.dueAt(&x.s.nodes[i]))
	}
	for i := range x.s.clients {
		by = sooner(by, x.dueTo(&x.s.clients[i]))
	}
	return by, by > 0
}

// dueAt is when the next record of a node expires.
func (m *model) dueAt(n *node) (by int32) {
	for _, memory := range [2]uint32{n.snapshot, n.behind.snapshot} {
		for _, k := range m.servers.Snapshot(memory).Keys {
			if k.Left != redis.Immortal {
				by = sooner(by, int32(k.Left)+1)
			}
		}
	}
	return by
}

// dueTo is when the next thing happens to a client by itself.
func (m *model) dueTo(c *client) (by int32) {
	if c.Crashed {
		return 0
	}
	if c.Live && !c.forever {
		by = sooner(by, c.deadline)
	}
	now := m.clients.At(c.history)
	for t := range int(now.Count) {
		if c.waits[t] && !now.Threads[t].Over {
			by = sooner(by, c.due[t])
		}
	}
	if c.stamp != unset {
		by = sooner(by, c.stamp)
	}
	return by
}

// idle lists the clients that could act now, and for which it would be the
// beginning of a pause if time went on.
func (x *explorer) idle() (set uint8, n uint8) {
	for i := range x.bounds.Clients {
		if x.idles(&x.s.clients[i]) {
			set |= 1 << i
			n++
		}
	}
	return set, n
}

func (m *model) idles(c *client) bool {
	if c.Crashed || c.paused {
		return false
	}
	now := m.clients.At(c.history)
	for t := range int(now.Count) {
		if p := &now.Threads[t]; !p.Over && !c.waits[t] && p.Kind != process.OpStart {
			return true
		}
	}
	return false
}

// advance lets time pass. What is due by then happens: expiries first, then
// lapses, then those wake whose time has come.
func (x *explorer) advance(by int32) {
	pausing, _ := x.idle()
	for n := range x.s.nodes {
		nd := &x.s.nodes[n]
		x.set(nd, x.servers.Age(nd.snapshot, by))
		if b := &nd.behind; b.snapshot != 0 {
			a := x.servers.Age(b.snapshot, by)
			if b.snapshot = a.Snapshot; a.Expired {
				b.owner = monitor.Nobody
			}
		}
	}
	x.facts.Recount()
	for i := range x.s.clients {
		c := &x.s.clients[i]
		if c.Crashed {
			continue
		}
		c.paused = c.paused || pausing>>i&1 != 0
		x.pass(i, c, by)
	}
	w := &x.s.world
	if x.timed {
		w.now += by
	}
	if w.held != 0 {
		held := append([]request(nil), x.ids.helds.get(w.held)...)
		for n := range held {
			held[n].ago += by
		}
		w.held, _ = x.ids.helds.put(held)
	}
}

// set gives a node another memory. A record that is gone has no owner.
func (x *explorer) set(n *node, a behaviour.Aged) {
	n.snapshot = a.Snapshot
	if a.Expired {
		n.owner = monitor.Nobody
	}
}

// pass lets time pass for one client.
func (x *explorer) pass(i int, c *client, by int32) {
	m := x.clients.At(c.history)
	if c.since != unset {
		c.since += by
	}
	if c.stamp != unset {
		if c.stamp -= by; c.stamp <= 0 {
			c.stamp = unset
		}
	}
	if c.Live && !c.forever {
		if c.deadline -= by; c.deadline <= 0 {
			c.Live, c.deadline = false, 0
		}
	}
	c.grantSent += by
	if c.inbox != 0 {
		mail := append([]reply(nil), x.ids.inboxes.get(c.inbox)...)
		for n := range mail {
			if mail[n].prolonged {
				mail[n].ago += by
			}
		}
		c.inbox, _ = x.ids.inboxes.put(mail)
	}
	for t := range int(m.Count) {
		c.sent[t] += by
		if c.waits[t] && !m.Threads[t].Over {
			c.due[t] -= by
		}
	}
	x.settle(i)
}
