package sim

import (
	"bytes"
	"slices"

	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// This file keeps the commands that wait at their servers for an element of a list or of a
// sorted set. A server serves the one that has waited longest. It doesn't know that a client
// has crashed, so a dead client's command takes its element all the same, and the element is
// gone: as in Redis, until TCP notices.

// block begins the wait of a command that has found no element.
func (w *World) block(m *message, p *redis.Peer) {
	m.peer = p
	w.popping = append(w.popping, m)
	if !m.copy {
		m.conn.blocked = m
	}
	ev := m.event(trace.KindBlock)
	w.emit(&ev)
	if d := redis.Patience(m.args); d > 0 {
		w.timers.push(timer{at: w.now + d, kind: timerGiveUp, gen: m.gen, msg: m})
	}
}

// stopWaiting ends the wait of a command, and reports whether it was waiting.
func (w *World) stopWaiting(m *message) bool {
	i := slices.Index(w.popping, m)
	if i < 0 {
		return false
	}
	w.popping = slices.Delete(w.popping, i, i+1)
	if m.conn.blocked == m {
		m.conn.blocked = nil
	}
	return true
}

// serveWaiting executes the commands that wait at a server and find an element now. The one
// that has waited longest comes first, and each may bring another its element.
func (w *World) serveWaiting(n *redis.Node) {
	for i := 0; i < len(w.popping); i++ {
		m := w.popping[i]
		if m.node != n.Index {
			continue
		}
		reply, changes := n.Execute(w.now, m.peer, m.args)
		if n.Blocked() || bytes.HasPrefix(reply, []byte("-WRONGTYPE")) {
			continue
		}
		w.stopWaiting(m)
		w.finish(n, m, reply, changes)
		if !m.copy {
			w.serve(m.conn)
		}
		i = -1
	}
}

// popsNothing answers a command that has waited for an element in vain.
func (w *World) popsNothing(m *message) {
	if !w.stopWaiting(m) {
		return
	}
	w.answer(m, redis.NoElement)
	if !m.copy {
		w.serve(m.conn)
	}
}

// takeWaiting ends the waits at a server, and returns their commands.
func (w *World) takeWaiting(n *redis.Node) (all []*message) {
	for _, m := range slices.Clone(w.popping) {
		if m.node == n.Index {
			w.popping = slices.DeleteFunc(w.popping, func(x *message) bool { return x == m })
			all = append(all, m)
		}
	}
	return all
}
