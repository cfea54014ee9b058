package deeds

import (
	"lockstep/sim/fault"
	"lockstep/sim/trace"
)

// Move is one that a hint is about.
type Move struct {
	Client string      // whose it is, or empty
	Fault  fault.Fault // that goes wrong with it, or nil
	Does   trace.Kind  // of a client's step: the kind of its event
	Begun  bool        // the client has acted before
	Wakes  bool        // the client's pause ends by it
	Pauses bool        // time passes, and a client that could go on stands still
}

// Thought says what to look at, and why, so that a reader can find the move without being told. With the frame of a hint
// it is whole in a row of the least window.
func (m *Move) Thought() string {
	if m.Fault != nil {
		return m.misfortune()
	}
	who := m.Client
	switch {
	case who == "" && m.Pauses:
		return "what if a client stood still, and time didn't?"
	case who == "":
		return "what happens by itself if you let time pass?"
	case m.Wakes:
		return who + " wakes up, and can't know how late it is."
	case !m.Begun:
		return who + " has not asked yet: what would it find?"
	case m.Does == trace.KindSend:
		return "what will " + who + "'s next command find in Redis?"
	case m.Does == trace.KindReceive:
		return "a reply has come that " + who + " has not read."
	case m.Does == trace.KindTimeout:
		return who + " waits for a reply that won't come."
	case m.Does == trace.KindClock:
		return who + " decides by the time that it reads now."
	}
	return "it is " + who + "'s turn: see what its code does next."
}

// misfortune is the thought about a fault.
func (m *Move) misfortune() string {
	switch m.Fault.(type) {
	case fault.Crash:
		return "what would be left in Redis if " + m.Client + " died now?"
	case fault.LoseReply:
		return "what if " + m.Client + " never hears what its command did?"
	case fault.Duplicate:
		return "what if " + m.Client + "'s last request came once more?"
	case fault.Hold:
		return "what if " + m.Client + "'s next request came late?"
	case fault.WallStep:
		return "what if " + m.Client + " decides by a clock that is wrong?"
	case fault.NodeStep:
		return "by whose clock does a lease end? It may jump."
	}
	if m.Client == "" {
		return "something goes wrong, and with no client."
	}
	return "something goes wrong with " + m.Client + "."
}
