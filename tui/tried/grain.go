package tried

import (
	"slices"

	"lockstep/scenarios"
	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/fault"
	"lockstep/sim/trace"
)

// Grain says how many steps of a client are one move: as many as can't be told apart from the same steps with others'
// between them. The zero value holds everywhere.
type Grain struct {
	ClocksAreLocal bool // a reading of a clock comes to the same until its client goes on
	WorkIsLocal    bool // in the critical section nothing decides about the goal
}

// GrainOf is the grain of a game within bounds, for a goal. A clock is read at the same time whether or not others
// act first, unless it can jump or its client can stand still while time passes. And a double grant, a foreign release, a deadlock or a
// false refusal is decided by the commands to Redis: a client may still stand still or die inside, before its work.
func GrainOf(b *explore.Bounds, goal trace.Code) Grain {
	return Grain{
		ClocksAreLocal: b.Faults[explore.Pause] == 0 && b.Faults[explore.ClientClock] == 0,
		WorkIsLocal:    slices.Contains(trace.Verdict{trace.DG, trace.FR, trace.PD, trace.FN}, goal),
	}
}

// Ends reports whether an event of a client ends its move: others can see it, its time
// matters, or it is the second half of a request.
func (g Grain) Ends(k trace.Kind) bool {
	switch k {
	case trace.KindSend, trace.KindReceive, trace.KindTimeout, trace.KindDisconnect, trace.KindEnter, trace.KindLeave, trace.KindQuery, trace.KindSleep, trace.KindDone:
		return true
	case trace.KindClock:
		return !g.ClocksAreLocal
	case trace.KindRead, trace.KindWrite, trace.KindReject:
		return !g.WorkIsLocal
	}
	return false
}

// Postponed is a path to a goal in which steps that end no move come just before the next steps of their client: only so can it be
// made move by move. A search has them as well before as after another client's steps. Where the goal would not be reached so, the path stays as it is.
func (g Grain) Postponed(cfg sim.Config, made, path []sim.Move, goal trace.Code) []sim.Move {
	singles := Singles(path)
	ends := g.ended(cfg, made, singles)
	if len(ends) < len(singles) {
		return path
	}
	var moved, begun []sim.Move // begun is a move of who's that has not ended
	var who sim.Set
	held := map[sim.Set][]sim.Move{}
	for i, m := range singles {
		if m.Count == 0 && ofRequest(m.Fault) { // part of the move of which it is in the midst
			begun = append(begun, m)
			continue
		}
		if m.Who != who || m.Count == 0 {
			if len(begun) > 0 && begun[len(begun)-1].Count > 0 {
				held[who], begun = append(held[who], begun...), nil
			}
			who = m.Who
			begun = append(held[who], begun...)
			delete(held, who)
		}
		begun = append(begun, m)
		if ends[i] || m.Count == 0 {
			moved, begun = append(moved, begun...), nil
		}
	}
	moved = append(moved, begun...)
	if len(moved) < len(singles) || slices.EqualFunc(moved, singles, Same) || reaches(cfg, made, moved, goal) != reaches(cfg, made, singles, goal) {
		return path
	}
	return moved
}

// reaches says when a path reaches a goal: by its last move, once the run has come to its end, or never.
func reaches(cfg sim.Config, made, path []sim.Move, goal trace.Code) (when string) {
	moves := append(slices.Clone(made), path...)
	for _, end := range []string{"at once", "in the end"} {
		t, err := scenarios.Replay(sim.Schedule{Config: cfg, Moves: moves})
		if err == nil && slices.Contains(t.Verdict(), goal) {
			return end
		}
		moves = append(moves, sim.Move{Fault: fault.Drain{}})
	}
	return "never"
}
