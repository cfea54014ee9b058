package explore

import (
	"fmt"
	"time"

	"lockstep/sim"
)

// moves of the search as moves of a schedule, which any world can play.
func (m *model) schedule(trail []move) []sim.Move {
	var out []sim.Move
	for _, v := range trail {
		out = append(out, m.play(v)...)
	}
	return out
}

func (m *model) play(v move) []sim.Move {
	fault := func(f ...sim.Fault) (out []sim.Move) {
		for _, f := range f {
			out = append(out, sim.Move{Fault: f})
		}
		return out
	}
	name, node := "", fmt.Sprintf("n%d", v.who+1)
	if int(v.who) < len(m.cfg.Clients) {
		name = m.cfg.Clients[v.who].Name
	}
	by := time.Duration(v.by) * time.Millisecond
	step := sim.Move{Who: sim.SetOf(int(v.who)), Count: int(max(1, v.ops))}
	switch v.kind {
	case actsAndLosesReply:
		return append(fault(sim.LoseReply{Client: name}), step)
	case actsAndIsHeldUp:
		return append(fault(sim.Hold{Client: name}), step)
	case crashes:
		return fault(sim.Crash{Client: name})
	case passes:
		return []sim.Move{{Wait: by}}
	case frees:
		return fault(sim.Free{Client: name, N: int(v.n)})
	case repeats:
		return fault(sim.Duplicate{Client: name})
	case restarts:
		return fault(sim.Down{Node: node}, sim.Up{Node: node})
	case fallsBehind:
		return fault(sim.Lag{Replica: node + "r1", By: 1000 * time.Hour})
	case takesOver:
		return fault(sim.Down{Node: node}, sim.Failover{To: node + "r1"})
	case jumpsClient:
		return fault(sim.WallStep{Client: name, By: by})
	case jumpsServer:
		return fault(sim.NodeStep{Node: node, By: by})
	}
	return []sim.Move{step}
}
