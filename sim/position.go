package sim

import (
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// Position is the point of its protocol at which a client stands. Scripts stop clients
// at positions, because a position means the same under every strategy.
type Position struct {
	Phase   trace.Phase
	Cycle   int        // from 1; 0 before the client's first
	Sent    int        // commands sent in this phase, or accesses made in work
	Sending bool       // about to send the next command, or to make the next access
	Landed  bool       // the last command was executed at its node, and its reply has not been read
	About   trace.Kind // the step of the client's program that comes next: acquire, enter, leave or release; KindNone within an operation
	Over    bool       // the client has finished or crashed; of the other fields only Phase, Cycle and Sent are set
}

// Position returns the position of a client's main thread.
func (w *World) Position(client int) Position {
	c := w.clients[client]
	t := c.threads[0]
	at := Position{Phase: t.Phase, Cycle: w.state.Clients[client].Cycle, Sent: t.Command, Over: t.Over || c.crashed}
	if at.Over || !t.Started {
		return at
	}
	switch t.Op.Kind {
	case process.OpSend, process.OpRead, process.OpWrite, process.OpQuery:
		at.Sending = true
	case process.OpMark:
		at.About = t.Op.Mark
	case process.OpReceive:
		at.Landed = t.last != nil && t.last.executed != trace.None && !t.last.read && !t.last.noScript()
	}
	return at
}
