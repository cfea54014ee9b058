package sim

import (
	"bytes"
	"fmt"
	"time"
)

// message is one command on its way to a node, and then its reply on the way
// back. It outlives its client: what was sent before a crash still arrives.
type message struct {
	conn   *conn
	args   []string
	reply  []byte
	failed error // instead of a reply: the node was down

	client, thread, node int
	acq, cycle, command  int
	phase                Phase
	sent, executed       int // Seqs, or None
	sentAt               time.Duration
	source               Source

	gen  uint32 // bumped when the message is delayed, so that its old timer is dead
	lost bool
	read bool // its reply has reached the client

	wants     int  // of a WAIT: how many acknowledgements
	prolonged bool // it made the client's own record live longer
	copy      bool // a duplicate: it has no reply to deliver
}

func (m *message) inFlight() bool { return m.executed == None && m.failed == nil && !m.lost }

// noScript: the node had to be sent the script itself. An EVALSHA that was
// answered so has done nothing, and doesn't count as a command of the protocol:
// positions mean the same whether the server knows the script already or not.
func (m *message) noScript() bool { return bytes.HasPrefix(m.reply, []byte("-NOSCRIPT")) }

// link is the way between one client and one node. The two directions have
// latencies of their own and can be cut separately.
type link struct {
	request, reply       time.Duration
	cutRequest, cutReply bool
}

// send puts a command on its way.
func (w *World) send(m *message) {
	w.sentMessages = append(w.sentMessages, m)
	l := w.link(m.client, m.node)
	if l.cutRequest {
		w.lose(m, "request")
		return
	}
	w.timers.push(timer{at: w.now + l.request, kind: timerRequest, gen: m.gen, msg: m})
}

// lose drops a message, which ends it.
func (w *World) lose(m *message, what string) {
	m.lost = true
	m.gen++
	w.emit(Event{Kind: KindLost, Client: m.client, Thread: m.thread, Node: m.node, Phase: m.phase, Cycle: m.cycle,
		Acq: m.acq, Command: m.command, Ref: m.sent, Args: m.args,
		Note: fmt.Sprintf("%s's %s to %s is lost: %s", w.clients[m.client].name, what, w.nodes[m.node].name, CommandText(m.args))})
}

// arrive is the first half of a request: the node executes it.
func (w *World) arrive(m *message) {
	n := w.nodes[m.node]
	ev := Event{Client: m.client, Thread: m.thread, Node: m.node, Phase: m.phase, Cycle: m.cycle, Acq: m.acq,
		Command: m.command, Ref: m.sent, Args: m.args, Source: m.source}
	if !n.up {
		ev.Kind = KindUnreachable
		m.executed = w.emit(ev)
		m.failed = errRefused(n)
	} else {
		if w.waits(n, m) {
			return
		}
		reply, changes := n.execute(w.now, m.conn.peerOf(n), m.args)
		w.ship(n, changes, m)
		m.reply = append(m.reply[:0], reply...)
		ev.Kind, ev.Changes = KindExecute, changes
		if w.recording {
			ev.Reply = replyText(reply)
		}
		m.executed = w.emit(ev)
		if w.state.Clients[m.client].Lease.Granter == m.executed {
			w.grantSent[m.client] = m.sentAt
		}
		m.prolonged = w.prolongs(m, changes)
	}
	if !m.copy {
		w.returnReply(m)
	}
}

// prolongs reports whether the changes make the record of the client's current
// acquisition live longer.
func (w *World) prolongs(m *message, changes []Change) bool {
	for i := range changes {
		ch := &changes[i]
		if ch.Key != w.cfg.Key || ch.Before == nil || ch.After == nil || ch.After.Expires <= ch.Before.Expires {
			continue
		}
		if r := w.state.LockRecord(m.node); r != nil && r.Owner == w.state.Acquisition(m.client) {
			return true
		}
	}
	return false
}

// returnReply starts the second half: the reply travels back.
func (w *World) returnReply(m *message) {
	l := w.link(m.client, m.node)
	if l.cutReply {
		w.lose(m, "reply")
		return
	}
	w.timers.push(timer{at: w.now + l.reply, kind: timerReply, gen: m.gen, msg: m})
}

// deliver puts the reply where its client will find it. Reading it is the
// client's own step.
func (w *World) deliver(m *message) {
	if m.conn.closed || w.clients[m.client].crashed {
		return
	}
	m.conn.inbox = append(m.conn.inbox, m)
	if t := m.conn.reader; t != nil {
		w.ready(t)
	}
}

func (w *World) link(client, node int) *link { return &w.links[client*len(w.nodes)+node] }

// inFlight finds the newest message of a client whose request (or whose reply)
// is under way.
func (w *World) inFlight(client int, reply bool) *message {
	for i := len(w.sentMessages) - 1; i >= 0; i-- {
		m := w.sentMessages[i]
		if m.client != client || m.lost || m.copy {
			continue
		}
		if reply && m.executed != None && !m.conn.has(m) && !m.read {
			return m
		}
		if !reply && m.inFlight() {
			return m
		}
	}
	return nil
}
