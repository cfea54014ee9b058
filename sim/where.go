package sim

import "lockstep/sim/trace"

// Where is the point of its protocol at which a client stands.
type Where struct {
	Phase   trace.Phase
	Cycle   int
	Sent    int        // commands sent in this phase, or accesses made in work
	Sending bool       // about to send the next one, or to make the next access
	Landed  bool       // the last one was executed at its node, and its reply has not been read
	About   trace.Kind // the step of its own that it is about to take: acquire, enter, leave, release
	Over    bool       // it has finished, or crashed
}

// Where finds out where a client stands.
func (w *World) Where(client int) Where {
	c := w.clients[client]
	t := c.threads[0]
	at := Where{Phase: t.phase, Cycle: w.state.Clients[client].Cycle, Sent: t.command, Over: t.over || c.crashed}
	if at.Over || !t.started {
		return at
	}
	switch t.op.kind {
	case opSend, opRead, opWrite, opQuery:
		at.Sending = true
	case opMark:
		at.About = t.op.mark
	case opReceive:
		at.Landed = t.last != nil && t.last.executed != trace.None && !t.last.read && !t.last.noScript()
	}
	return at
}
