package sim

import (
	"slices"

	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/resp"
	"lockstep/sim/trace"
)

// This file delivers published messages. A message leaves its server when it is published, as
// an event of its own, and travels as a reply does: behind all replies on its connection, for
// as long as they take, and it can be lost like one. A client that subscribes later never gets
// it.

// push sends the messages that a server has published, by the command with this Seq.
func (w *World) push(n *redis.Node, by int) {
	for _, p := range n.Pushes() {
		if c := w.connOf(p.To); c != nil {
			m := w.newPush(c, n)
			m.reply = p.Message
			ev := trace.Event{Kind: trace.KindPush, Client: m.client, Node: n.Index, Ref: by, Acq: m.acq, Reply: resp.Text(p.Message)}
			m.executed = w.emit(&ev)
			m.sent = m.executed
			w.returnReply(m)
		}
	}
}

// newPush makes a message from a server that answers no request.
func (w *World) newPush(c *conn, n *redis.Node) *message {
	m := w.newMessage()
	*m = message{conn: c, client: c.client.Index, node: n.Index, acq: c.client.Acquired, pushed: true, sent: trace.None, executed: trace.None}
	return m
}

// connOf finds the connection with this end at its server.
func (w *World) connOf(p *redis.Peer) *conn {
	for _, client := range w.clients {
		for _, c := range client.conns {
			if c.peer == p {
				return c
			}
		}
	}
	return nil
}

// HangUp implements process.Line. The server learns of it when all earlier requests of the
// connection have arrived. It takes a message only where that matters: the server would send
// more on this connection.
func (c *conn) HangUp() {
	w := c.world
	if !c.lingers() || c.ended {
		return
	}
	m := w.newMessage()
	*m = message{conn: c, client: c.client.Index, node: c.node().Index, hangsUp: true, sent: trace.None, executed: trace.None}
	l := w.link(m.client, m.node)
	if c.requests.add(m); l.cutRequest || c.requests.torn {
		w.lose(m, false)
		return
	}
	w.timers.push(timer{at: w.now + l.request, kind: timerRequest, gen: m.gen, msg: m})
}

// lingers reports whether the server would go on to send on the connection by itself.
func (c *conn) lingers() bool {
	return c.peer != nil && c.peer.Subscribed() || c.blocked != nil && redis.Pops(c.blocked.args) ||
		slices.ContainsFunc(c.requests.queue, func(m *message) bool { return redis.Subscribes(m.args) || redis.Pops(m.args) })
}

// hungUp handles the arrival of the client's end of a connection.
func (w *World) hungUp(c *conn) {
	c.ended = true
	if c.blocked != nil {
		w.stopWaiting(c.blocked)
	}
	if c.peer != nil {
		c.peer.Node.Leave(c.peer)
	}
}

// disconnect ends connections with subscriptions of a server. The clients learn of it as of a
// reply.
func (w *World) disconnect(n *redis.Node, subscribers []*redis.Peer) {
	for _, p := range subscribers {
		c := w.connOf(p)
		n.Leave(p)
		if c == nil || c.ended {
			continue
		}
		c.ended = true
		m := w.newPush(c, n)
		m.failed = process.ErrRefused(n.Name)
		w.returnReply(m)
	}
}

// reroute makes a client's connections to an address lead to another server. Its
// subscriptions end with the connections to the old one; of other connections it needn't
// know: see conn.peerOf.
func (w *World) reroute(client, addr, server int) {
	route := &w.routes[client*len(w.primary)+addr]
	old := w.nodes[*route]
	if *route = server; old.Index == server {
		return
	}
	w.disconnect(old, slices.DeleteFunc(slices.Clone(old.Subscribers()), func(p *redis.Peer) bool {
		c := w.connOf(p)
		return c != nil && c.client.Index != client
	}))
}
