package tried

import (
	"slices"

	"lockstep/scenarios"
	"lockstep/sim"
	"lockstep/sim/fault"
	"lockstep/sim/trace"
)

// The search counts steps: the client's code goes on to its next operation, whether others can
// see that or not. A reader counts moves: entries of the list.

// Count is the number of moves that a reader makes by a continuation of some moves. It is the number of those
// that can be counted if the continuation can't be played.
func Count(cfg sim.Config, made, path []sim.Move, g Grain) (moves int) {
	path = Singles(path)
	ends := g.ended(cfg, made, path)
	var last *sim.Move // with which the next one may be one move
	for i := range path[:min(len(ends)+1, len(path))] {
		if last == nil || !oneMove(last, &path[i]) {
			moves++
		}
		last = &path[i]
		if i < len(ends) && ends[i] {
			last = nil
		}
	}
	return moves
}

// ended says of each single step of a continuation whether a move ends with it, as far as it can be played.
func (g Grain) ended(cfg sim.Config, made, path []sim.Move) (ends []bool) {
	made = slices.Clone(made)
	seen := 0
	if t, err := scenarios.Replay(sim.Schedule{Config: cfg, Moves: made}); err == nil {
		seen = len(t.Events)
	}
	for _, m := range path {
		made = append(made, m)
		t, err := scenarios.Replay(sim.Schedule{Config: cfg, Moves: made})
		if err != nil {
			break
		}
		ends = append(ends, m.Count > 0 && slices.ContainsFunc(t.Events[min(seen, len(t.Events)):], func(e trace.Event) bool { return e.Client != trace.None && m.Who.Has(e.Client) && g.Ends(e.Kind) }))
		seen = len(t.Events)
	}
	return ends
}

// oneMove reports whether a reader makes two moves of a schedule by one entry of the list: steps of one
// client, a fault that concerns a request and the steps that send it, the parts of a restart.
func oneMove(a, b *sim.Move) bool {
	switch a.Fault.(type) {
	case nil:
		return a.Count > 0 && (b.Count > 0 && a.Who == b.Who || ofRequest(b.Fault))
	case fault.Down:
		return b.Fault != nil
	}
	return ofRequest(a.Fault) && b.Count > 0
}

// ofRequest reports whether a fault concerns a client's next request.
func ofRequest(f fault.Fault) bool {
	switch f.(type) {
	case fault.LoseReply, fault.Hold:
		return true
	}
	return false
}
