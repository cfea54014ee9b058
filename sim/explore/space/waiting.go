package space

import (
	"bytes"
	"cmp"
	"slices"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/flight"
	"lockstep/sim/monitor"
	"lockstep/sim/redis"
)

// This file delivers messages to subscribers, and keeps the requests that wait at their servers for an element.
// sim/pubsub.go and sim/blocked.go are the engine's part.

// unfit ends the search because of a command that it has no model of.
func (x *Explorer) unfit(req *flight.Request, why error) {
	x.fail(x.Clients.Refuse(why, int(req.Client), x.s.clients[req.Client].history, int(req.Thread), req.Command))
}

// arrive executes requests that arrive one behind the other on a connection.
func (x *Explorer) arrive(due []flight.Request) {
	for i := range due {
		if x.execute(&due[i], due[i].Loses, false) {
			if i+1 < len(due) {
				x.unfit(&due[i+1], x.Clients.Behind(due[i+1].Command))
			}
			x.block(due[i], false)
		}
	}
}

// block begins the wait of a request for an element. If its client has closed the connection, the server learns of
// it at once.
func (x *Explorer) block(req flight.Request, copied bool) {
	if !copied && x.behind(req) {
		x.unfit(&req, x.Clients.Behind(req.Command))
	}
	if copied || !req.Orphan || req.Sender == flight.Unheard {
		if req.Left = x.Clients.Patience(req.Command); req.Left < 0 {
			x.unfit(&req, x.Clients.Overlong(req.Command))
			req.Left = flight.Forever
		}
		x.put(flight.Wait(slices.Clone(x.ids.helds.Get(x.s.world.held)), req, copied), int(req.Client))
	}
}

// put replaces the list of requests that are under way, to which client i has added one.
func (x *Explorer) put(held []flight.Request, i int) {
	id, fits := x.ids.helds.Put(held)
	if !fits {
		x.fail(x.crowded(i, "a request that is held up", "requests held up at a time, those included that wait at a server; use a smaller budget of held requests, or fewer commands at a time"))
	}
	x.s.world.held = id
}

// endsWith ends the connection of a request that has arrived, if its client has closed that and no other
// is held up on it.
func (x *Explorer) endsWith(req flight.Request) {
	if !req.Orphan || req.Copied() || x.behind(req) {
		return
	}
	n := &x.s.nodes[req.Addr]
	if conn := flight.Peer(int(req.Client), req.Conn); req.Sender == flight.Unheard {
		n.snapshot = x.Servers.Unheard(n.snapshot, conn)
	} else {
		n.snapshot = x.Servers.Without(n.snapshot, conn)
	}
}

// serve executes the requests that wait at a node and find an element now. The one that has waited longest
// comes first, and each may bring another its element.
func (x *Explorer) serve(node uint8) {
	n := &x.s.nodes[node]
	for at := 0; x.s.world.held != 0 && x.Err == nil; at++ {
		held := x.ids.helds.Get(x.s.world.held)
		if at = flight.NextAt(held, node, at); at < 0 {
			return
		}
		req := held[at]
		a, err := x.answer(n, behaviour.Question{Snapshot: n.snapshot, Conn: connOf(&req, req.Copied()), Command: req.Command})
		if err != nil {
			x.unfit(&req, err)
			return
		}
		if a.Blocks || bytes.HasPrefix([]byte(*x.Clients.Replies.Value(a.Reply)), []byte("-WRONGTYPE")) {
			continue
		}
		x.s.world.held, _ = x.ids.helds.Put(slices.Delete(slices.Clone(held), at, at+1))
		req.Left = 0
		x.finish(&req, n, a, req.Loses, req.Copied())
		x.answered(req)
		at = -1
	}
}

// answered ends a wait.
func (x *Explorer) answered(req flight.Request) {
	x.endsWith(req)
	if !x.s.clients[req.Client].Crashed {
		x.settle(int(req.Client))
	}
}

// giveUp answers requests that have waited for an element in vain.
func (x *Explorer) giveUp(over []flight.Request) {
	for _, req := range over {
		n := &x.s.nodes[req.Addr]
		x.finish(&req, n, behaviour.Answer{Snapshot: n.snapshot, Reply: x.Clients.Replies.ID(redis.NoElement)}, req.Loses, req.Copied())
		x.answered(req)
	}
}

// unblock ends the waits at a node that goes down, given the requests that are under way.
func (x *Explorer) unblock(held []flight.Request, node uint8) {
	waiting, kept := flight.TakeAt(held, node)
	x.s.world.held, _ = x.ids.helds.Put(kept)
	for i := range waiting {
		req := &waiting[i]
		if !req.Orphan {
			x.s.clients[req.Client].gone |= 1 << req.Conn
		}
		x.refuse(req, req.Loses)
		x.answered(*req)
	}
}

// refuse tells a client that the connection has ended on which it has sent a request.
func (x *Explorer) refuse(req *flight.Request, lost bool) {
	if !req.Orphan {
		x.deliver(int(req.Client), reply{conn: uint16(req.Conn), refused: true}, lost)
	}
}

// publish delivers messages that a command has sent.
func (x *Explorer) publish(sent uint32) {
	for _, m := range x.Servers.Messages(sent) {
		x.message(m.Conn, reply{reply: m.Text})
	}
}

// message delivers a message that a server sends by itself on a connection. If the client has closed that, or has
// crashed, it comes to nothing.
func (x *Explorer) message(conn uint16, m reply) {
	i := flight.PeerClient(int(conn))
	if m.conn = uint16(flight.PeerConn(int(conn))); i >= len(x.s.clients) || x.s.clients[i].Crashed || flight.Waits(x.ids.helds.Get(x.s.world.held), i, uint8(m.conn)) {
		return
	}
	x.deliver(i, m, false)
	x.settle(i)
}

// Asleep reports whether some clients wait for a message, or for an element, in the state that the explorer views,
// and nothing happens any more unless something goes wrong.
func (x *Explorer) Asleep() bool {
	for _, s := range x.summaries {
		if s.acts && !s.crashed || s.due != 0 {
			return false
		}
	}
	return !x.Over() && flight.Holds(x.ids.helds.Get(x.world.held)) == 0 && len(x.passing(nil)) == 0
}

// keepsLock reports whether a client that waits for ever has the lock, or a record of it.
func (x *Explorer) keepsLock() bool {
	for i := range x.Bounds.Clients {
		c := &x.s.clients[i]
		if c.Crashed || x.history(i).Over {
			continue
		}
		own := monitor.Owner{Client: int16(i), N: c.Acquired}
		if c.Live || slices.ContainsFunc(x.s.nodes, func(n node) bool { return n.owner == own }) {
			return true
		}
	}
	return false
}

// Sleeper returns the line at which a client waits for ever in the state that the explorer views, the least of those of
// clients that are new; or nothing.
func (x *Explorer) Sleeper(state []uint32, isNew func(client uint32) bool) (least string) {
	for _, id := range state[:x.Bounds.Clients] {
		c := x.ids.clients.Value(id)
		if c.Crashed || !isNew(id) {
			continue
		}
		if t := slices.Index(c.waits[:x.Clients.At(c.history).Count], true); t >= 0 {
			if line := cmp.Or(x.Clients.LineBy(c.history, t), " at a line that isn't known"); least == "" || line < least {
				least = line
			}
		}
	}
	return least
}
