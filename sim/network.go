package sim

import (
	"bytes"
	"fmt"
	"slices"
	"time"

	"lockstep/sim/fault"
	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/resp"
	"lockstep/sim/trace"
)

// message is one command on its way to a node, and then its reply on the way
// back. It outlives its client: a request sent before a crash still arrives.
type message struct {
	conn   *conn
	args   []string
	reply  []byte
	short  [16]byte // where most replies have room
	failed error    // instead of a reply: the node was down, or had ended the connection

	client, thread, node int
	acq, cycle, command  int
	phase                trace.Phase
	sent, executed       int // Seqs, or None
	sentAt               time.Duration
	epoch                int // of the node, when it was sent
	source               trace.Source

	arranged nextRequest // its client's nextRequest when it was sent

	held bool   // in flight until a Free
	gen  uint32 // bumped when the message is delayed, so that its old timer is dead
	here bool   // it has arrived, and waits for the messages sent before it
	lost bool
	read bool // its reply has reached the client

	wants     int  // of a WAIT: how many acknowledgements
	prolonged bool // it made the client's own record live longer
	copy      bool // a duplicate: it has no reply to deliver
	pushed    bool // sent by the server without a request: there is only the reply
	hangsUp   bool // no command, but the end of the connection

	peer *redis.Peer // of a command that waits for an element: the connection's end at the server
}

// noScript reports whether the reply asks for the script itself. An EVALSHA with that
// reply has done nothing, and doesn't count as a command of the protocol: positions mean
// the same whether the server knows the script already or not.
func (m *message) noScript() bool { return bytes.HasPrefix(m.reply, []byte("-NOSCRIPT")) }

// queued reports whether the command was not executed on its own, but by a later EXEC.
func (m *message) queued() bool { return bytes.HasPrefix(m.reply, []byte("+QUEUED")) }

// network keeps the links between clients and servers, and the messages of the run.
//
// Invariant: sentMessages has every message of the run in the order of sending, copies
// included. The messages between its length and its capacity are those of earlier runs,
// to be used again.
type network struct {
	links        []link // by client and server, see World.link
	sentMessages []*message
	popping      []*message // those that wait at their servers for an element, the longest wait first
}

func (n *network) reset(latency time.Duration) {
	n.sentMessages, n.popping = n.sentMessages[:0], n.popping[:0]
	for i := range n.links {
		n.links[i] = link{request: latency, reply: latency}
	}
}

// newMessage returns one more message, of which the caller sets every field. Only its
// trace outlives a run, so a run's messages serve the next.
func (n *network) newMessage() *message {
	i := len(n.sentMessages)
	if i == cap(n.sentMessages) {
		n.sentMessages = slices.Grow(n.sentMessages, 1)
	}
	n.sentMessages = n.sentMessages[:i+1]
	if n.sentMessages[i] == nil {
		n.sentMessages[i] = new(message)
	}
	return n.sentMessages[i]
}

// link is the way between one client and one node. The two directions have
// latencies of their own and can be cut separately.
type link struct {
	request, reply       time.Duration
	cutRequest, cutReply bool
}

// lane is one direction of a connection. Its messages arrive in the order in which they
// were sent, as over TCP: a message that overtakes another waits for it, and a message
// sent after a lost one never arrives, until the connection is given up.
//
// Invariant: queue is in the order of sending, and empty of anything sent after torn was
// set.
type lane struct {
	queue []*message // in flight
	torn  bool       // a message was lost
}

func (l *lane) reset() { l.queue, l.torn = l.queue[:0], false }

func (l *lane) add(m *message) {
	m.here = false
	l.queue = append(l.queue, m)
}

// arrived takes the first message out if it has arrived. The caller repeats it, because
// one arrival may let several messages through.
func (l *lane) arrived() (m *message, any bool) {
	if len(l.queue) == 0 || !l.queue[0].here {
		return nil, false
	}
	m = l.queue[0]
	l.queue = append(l.queue[:0], l.queue[1:]...)
	return m, true
}

// tear takes out a message and all messages behind it.
func (l *lane) tear(m *message) []*message {
	l.torn = true
	i := slices.Index(l.queue, m)
	rest := slices.Clone(l.queue[i:])
	l.queue = l.queue[:i]
	return rest
}

// send puts a command on its way.
func (w *World) send(m *message) {
	l := w.link(m.client, m.node)
	m.conn.requests.add(m)
	if l.cutRequest || m.conn.requests.torn {
		w.lose(m, false)
		return
	}
	if m.arranged == isHeld {
		m.held = true
		w.networkEvent(m, trace.Never, fmt.Sprintf("%s's request is held up: %s", w.clients[m.client].Name, trace.CommandText(m.args)))
		return
	}
	w.timers.push(timer{at: w.now + l.request, kind: timerRequest, gen: m.gen, msg: m})
}

// nextRequest is a fault arranged in advance for the request that a client sends next.
type nextRequest uint8

const (
	arrives    nextRequest = iota
	losesReply             // it is executed, and its reply is lost
	isHeld                 // it is in flight until a Free
)

// lose drops a request or a reply, and with it all that was sent after it in the same
// direction of its connection.
func (w *World) lose(m *message, reply bool) {
	lane := &m.conn.requests
	if reply {
		lane = &m.conn.replies
	}
	for _, m := range lane.tear(m) {
		w.drop(m, reply)
	}
}

// drop loses a message: a request, a reply to one, or a message that a server has published.
func (w *World) drop(m *message, reply bool) {
	m.lost, m.held = true, false
	m.gen++
	if m.hangsUp {
		return
	}
	if m.pushed {
		w.emit(&trace.Event{Kind: trace.KindLost, Client: m.client, Node: m.node, Acq: m.acq, Ref: m.sent,
			Note: fmt.Sprintf("%s's %s to %s is lost", w.nodes[m.node].Name, m.content(), w.clients[m.client].Name)})
		return
	}
	client, node, command := w.clients[m.client].Name, w.nodes[m.node].Name, trace.CommandText(m.args)
	note := fmt.Sprintf("%s's %s to %s is lost: %s", client, fault.Half(reply), node, command)
	if reply {
		note = fmt.Sprintf("%s's reply to %s's %s is lost", node, client, command)
	}
	w.emit(&trace.Event{Kind: trace.KindLost, Client: m.client, Thread: m.thread, Node: m.node, Phase: m.phase, Cycle: m.cycle,
		Acq: m.acq, Command: m.command, Ref: m.sent, Args: m.args, Note: note})
}

// executeCopy executes a request that a library has sent again.
func (w *World) executeCopy(m *message) {
	p := redis.NewPeer(w.nodes[m.node]) // on another connection
	if args := w.admits(p.Node, p, m); args != nil {
		reply, changes := p.Node.Execute(w.now, p, args)
		w.carriedOut(p.Node, p, m, reply, changes)
	}
	p.Node.Leave(p) // which nobody listens to
}

// content describes a message of the network for a note.
func (m *message) content() string {
	switch {
	case !m.pushed:
		return trace.CommandText(m.args)
	case m.failed != nil:
		return "end of the connection"
	}
	return "message " + resp.Text(m.reply)
}

// word names a message among the timers.
func (m *message) word() string {
	if m.pushed || m.hangsUp {
		return fmt.Sprint(m.pushed, m.failed != nil)
	}
	return m.args[0]
}

// serve executes the requests that have arrived on a connection, up to one that blocks. The
// end of the connection unblocks it.
func (w *World) serve(c *conn) {
	for c.blocked == nil || len(c.requests.queue) > 0 && c.requests.queue[0].hangsUp {
		next, any := c.requests.arrived()
		switch {
		case !any:
			return
		case next.hangsUp:
			w.hungUp(c)
		case c.ended:
			w.refuse(next, connectionEnded)
		default:
			n := w.nodes[next.node]
			p := c.peerOf(n)
			if args := w.admits(n, p, next); args != nil { // without a function of its own, as in Announced
				reply, changes := n.Execute(w.now, p, args)
				w.carriedOut(n, p, next, reply, changes)
			}
		}
	}
}

// admits returns the command that a node executes for a request, or nil if it refuses it, because the
// connection is gone, or keeps it waiting. All connections of a server end when it goes down, and the server
// started after it doesn't execute requests that were in flight.
func (w *World) admits(n *redis.Node, p *redis.Peer, m *message) (args []string) {
	switch {
	case !n.Up:
		w.refuse(m, "")
		return nil
	case p == nil || m.epoch != n.Epoch && !m.copy:
		w.refuse(m, connectionEnded)
		return nil
	case w.waits(n, p, m):
		return nil
	case p.Queues && isWait(m.args):
		return w.queuedWait(n)
	}
	return m.args
}

// carriedOut goes on after a node has executed a request.
func (w *World) carriedOut(n *redis.Node, p *redis.Peer, m *message, reply []byte, changes []trace.Change) {
	if n.Blocked() {
		w.block(m, p)
		return
	}
	w.finish(n, m, reply, changes)
	if len(changes) > 0 {
		w.serveWaiting(n)
	}
}

// finish ends the execution of a request: its changes, its reply and its messages go out.
func (w *World) finish(n *redis.Node, m *message, reply []byte, changes []trace.Change) {
	w.propagate(n, changes, m)
	m.reply = append(m.short[:0], reply...)
	ev := m.event(trace.KindExecute)
	ev.Changes = changes
	if w.recording {
		ev.Reply = resp.Text(reply)
	}
	m.executed = w.emit(&ev)
	if w.state.Clients[m.client].Lease.Granter == m.executed {
		w.grantSent[m.client] = m.sentAt
	}
	m.prolonged = w.prolongs(m, changes)
	w.returnReply(m)
	w.push(n, m.executed)
}

// event makes an event of this kind about a request at its node.
func (m *message) event(k trace.Kind) trace.Event {
	return trace.Event{Kind: k, Client: m.client, Thread: m.thread, Node: m.node, Phase: m.phase, Cycle: m.cycle, Acq: m.acq,
		Command: m.command, Copy: m.copy, Ref: m.sent, Args: m.args, Source: m.source}
}

const connectionEnded = "has ended the connection"

// refuse answers a request with an error instead of executing it. why is the event's note;
// empty, the node is down.
func (w *World) refuse(m *message, why string) {
	ev := m.event(trace.KindUnreachable)
	ev.Note = why
	m.executed = w.emit(&ev)
	m.failed = process.ErrRefused(w.nodes[m.node].Name)
	w.returnReply(m)
}

// prolongs reports whether the changes make the record of the client's current
// acquisition live longer.
func (w *World) prolongs(m *message, changes []trace.Change) bool {
	for i := range changes {
		ch := &changes[i]
		if ch.Key != w.cfg.RecordKey() || ch.Before == nil || ch.After == nil || ch.After.Expires <= ch.Before.Expires {
			continue
		}
		if r := w.state.LockRecord(m.node); r != nil && r.Owner == w.state.Acquisition(m.client) {
			return true
		}
	}
	return false
}

// returnReply starts the second half: the reply travels back. The reply to a duplicate
// doesn't, because no client waits for it.
func (w *World) returnReply(m *message) {
	if m.copy {
		return
	}
	l := w.link(m.client, m.node)
	m.conn.replies.add(m)
	if l.cutReply || m.conn.replies.torn || m.arranged == losesReply {
		w.lose(m, true)
		return
	}
	w.timers.push(timer{at: w.now + l.reply, kind: timerReply, gen: m.gen, msg: m})
}

// deliver puts a reply into its connection's inbox. To read it is a step of the client.
func (w *World) deliver(m *message) {
	m.here = true
	c := m.conn
	for {
		next, any := c.replies.arrived()
		if !any {
			return
		}
		if c.Closed || c.client.crashed {
			continue
		}
		c.inbox = append(c.inbox, next)
		if t := c.reader; t != nil {
			w.ready(t)
		}
	}
}

func (w *World) link(client, node int) *link { return &w.links[client*len(w.nodes)+node] }

// inFlight finds the newest message of a client whose request (or whose reply) is in
// flight. A WAIT that blocks at its node is not, nor is a request that has arrived behind
// it.
func (w *World) inFlight(client int, reply bool) *message {
	for _, m := range slices.Backward(w.sentMessages) {
		if m.client != client || m.copy || m.hangsUp {
			continue
		}
		lane := &m.conn.requests
		if reply {
			lane = &m.conn.replies
		}
		i := slices.Index(lane.queue, m)
		if i < 0 || !reply && m.conn.blocked != nil && !slices.ContainsFunc(lane.queue[:i+1], func(m *message) bool { return !m.here }) {
			continue
		}
		return m
	}
	return nil
}
