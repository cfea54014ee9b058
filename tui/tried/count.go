package tried

import (
	"slices"

	"lockstep/scenarios"
	"lockstep/sim"
	"lockstep/sim/trace"
)

// The search counts steps: the client's code goes on to its next operation, whether others can
// see that or not. A reader counts moves: entries of the list.

// Count is the number of moves that a reader makes by a continuation of some moves. It is the number of those
// that can be counted if the continuation can't be played.
func Count(cfg sim.Config, made, path []sim.Move) (moves int) {
	made = slices.Clone(made)
	seen := 0
	if t, err := scenarios.Replay(sim.Schedule{Config: cfg, Moves: made}); err == nil {
		seen = len(t.Events)
	}
	var last *sim.Move // with which the next one may be one move
	for _, m := range Singles(path) {
		if last == nil || !oneMove(last, &m) {
			moves++
		}
		made = append(made, m)
		t, err := scenarios.Replay(sim.Schedule{Config: cfg, Moves: made})
		if err != nil {
			return moves
		}
		last = &m
		if m.Count > 0 && slices.ContainsFunc(t.Events[min(seen, len(t.Events)):], func(e trace.Event) bool { return e.Client != trace.None && m.Who.Has(e.Client) && Ends(e.Kind) }) {
			last = nil
		}
		seen = len(t.Events)
	}
	return moves
}

// oneMove reports whether a reader makes two moves of a schedule by one entry of the list: steps of one
// client, a fault that concerns a request and the steps that send it, the parts of a restart.
func oneMove(a, b *sim.Move) bool {
	switch a.Fault.(type) {
	case nil:
		return a.Count > 0 && (b.Count > 0 && a.Who == b.Who || ofRequest(b.Fault))
	case sim.Down:
		return b.Fault != nil
	}
	return ofRequest(a.Fault) && b.Count > 0
}

// ofRequest reports whether a fault concerns a client's next request.
func ofRequest(f sim.Fault) bool {
	switch f.(type) {
	case sim.LoseReply, sim.Hold:
		return true
	}
	return false
}

// Ends reports whether an event of a client ends its move: others can see it, its time
// matters, or it is the second half of a request.
func Ends(k trace.Kind) bool {
	switch k {
	case trace.KindSend, trace.KindReceive, trace.KindTimeout, trace.KindDisconnect, trace.KindClock, trace.KindEnter, trace.KindLeave, trace.KindRead,
		trace.KindWrite, trace.KindReject, trace.KindQuery, trace.KindSleep, trace.KindDone:
		return true
	}
	return false
}
