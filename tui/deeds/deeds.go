// Package deeds names the moves of the game by their effects, and says what to look at before a hint names one.
package deeds

import (
	"slices"
	"strings"

	"lockstep/sim/fault"
	"lockstep/sim/trace"
	"lockstep/tui/tried"
)

// Of says what a client does in the events of one move, and is that event; nil where nothing tells of it.
func Of(t *trace.Trace, events []trace.Event, client int, g tried.Grain) (text string, last *trace.Event) {
	for i := range events {
		e := &events[i]
		if e.Client != client {
			continue
		}
		if g.Ends(e.Kind) {
			last = e
			break
		}
		if e.Kind != trace.KindPause && e.Kind != trace.KindResume {
			last = e
		}
	}
	switch {
	case last == nil:
		return "goes on", last
	case last.Kind == trace.KindLeave && slices.ContainsFunc(events, func(e trace.Event) bool { return e.Client == client && e.Kind == trace.KindRead }):
		return "does its work, and leaves the critical section", last
	case last.Kind == trace.KindSend:
		text = trace.CommandText(last.Args)
		if len(t.Nodes) > 1 && last.Node != trace.None {
			text += ", to " + t.Nodes[last.Node]
		}
		return text, last
	case last.Kind == trace.KindReceive:
		return "reads the reply: " + last.Reply, last
	case last.Kind == trace.KindClock: // to the microsecond only where that says something
		return "reads its " + last.Note + " clock: " + strings.TrimRight(strings.TrimRight(trace.Instant(last.By), "0"), "."), last
	case last.Kind == trace.KindRead:
		return "reads the resource", last
	case last.Kind == trace.KindWrite, last.Kind == trace.KindReject:
		return "writes the resource", last
	}
	return t.Text(last), last
}

// Fault says what a fault does to its actor, and of a clock by how much that jumps.
func Fault(does string, f fault.Fault) string {
	switch f := f.(type) {
	case fault.WallStep:
		return does + " by " + trace.Brief(f.By.Abs())
	case fault.NodeStep:
		return does + " by " + trace.Brief(f.By.Abs())
	}
	return does
}
