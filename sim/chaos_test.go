package sim

import (
	"math/rand/v2"
	"time"

	"lockstep/sim/fault"
)

// faultMaker draws a fault that makes sense in a world; nil draws none.
type faultMaker func(w *World, rng *rand.Rand) fault.Fault

// wild is a short configuration in which every fault has something to hit.
func wild(cfg Config) Config {
	cfg = short(cfg)
	cfg.Retry.Tries = 2
	cfg.Replicas, cfg.Lag = 1, 5*time.Millisecond
	cfg.Clients[0].Extend = true
	return cfg
}

// chaos makes so many random moves. What it does depends on rng alone, and is in
// the world's schedule afterwards.
func chaos(w *World, rng *rand.Rand, moves int, make faultMaker) {
	for range moves {
		switch n := rng.IntN(100); {
		case n < 12:
			if f := make(w, rng); f != nil {
				_ = w.Inject(f) // where it doesn't fit, as with nothing under way to drop, nothing happens
			}
		case n < 16:
			w.Wait(span(rng))
		default:
			w.Step(1 + Set(rng.IntN(1<<w.Clients()-1))) // never nobody
		}
		if w.Err() != nil {
			return
		}
	}
}

// span is some time, short or long, often a round one.
func span(rng *rand.Rand) time.Duration {
	units := [...]time.Duration{time.Nanosecond, time.Microsecond, time.Millisecond, 100 * time.Millisecond, time.Second}
	return time.Duration(1+rng.IntN(20)) * units[rng.IntN(len(units))]
}

func anyClient(w *World, rng *rand.Rand) string { return w.clients[rng.IntN(w.Clients())].Name }
func anyNode(w *World, rng *rand.Rand) string   { return w.nodes[rng.IntN(w.Nodes())].Name }

// anyFault is a fault of any kind, but for the end of the run.
func anyFault(w *World, rng *rand.Rand) fault.Fault {
	kinds := fault.Kinds()
	s := &kinds[rng.IntN(len(kinds))]
	for s.Step == "" {
		s = &kinds[rng.IntN(len(kinds))]
	}
	return anyFaultOf(s, w, rng)
}

// anyFaultOf is a fault of a kind, with any parameters.
func anyFaultOf(s *fault.Spec, w *World, rng *rand.Rand) fault.Fault {
	args := make([]string, len(s.Params()))
	for i, p := range s.Params() {
		args[i] = drawn(p.Type, w, rng)
	}
	f, err := s.Make(args...)
	if err != nil {
		panic(err)
	}
	return f
}

// drawn is a parameter of a fault, as schedules write it.
func drawn(t fault.ParamType, w *World, rng *rand.Rand) string {
	one := func(of ...string) string { return of[rng.IntN(len(of))] }
	switch t {
	case fault.ParamClient:
		return anyClient(w, rng)
	case fault.ParamClients:
		return one("-", anyClient(w, rng))
	case fault.ParamNode, fault.ParamReplica: // a replica can have become the master, and the other way round
		return w.nodes[rng.IntN(len(w.nodes))].Name
	case fault.ParamHalf:
		return one("request", "reply")
	case fault.ParamDirection:
		return one("both", "requests", "replies")
	case fault.ParamSpan:
		return span(rng).String()
	case fault.ParamJump:
		return one("", "-") + span(rng).String()
	case fault.ParamCount:
		return one("1", "2")
	}
	panic("a parameter of no known type")
}
