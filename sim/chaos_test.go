package sim

import (
	"math/rand/v2"
	"time"
)

// faultMaker draws a fault that makes sense in a world; nil draws none.
type faultMaker func(w *World, rng *rand.Rand) Fault

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
func chaos(w *World, rng *rand.Rand, moves int, fault faultMaker) {
	for range moves {
		switch n := rng.IntN(100); {
		case n < 12:
			if f := fault(w, rng); f != nil {
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

func anyClient(w *World, rng *rand.Rand) string { return w.clients[rng.IntN(w.Clients())].name }
func anyNode(w *World, rng *rand.Rand) string   { return w.nodes[rng.IntN(w.Nodes())].Name }

// anyFault is anything that there is.
func anyFault(w *World, rng *rand.Rand) Fault {
	c, n := anyClient(w, rng), anyNode(w, rng)
	sign := time.Duration(1 - 2*rng.IntN(2))
	switch rng.IntN(21) {
	case 0:
		return Crash{c}
	case 1:
		return Pause{c}
	case 2:
		return Resume{c}
	case 3:
		return WallStep{c, sign * span(rng)}
	case 4:
		return NodeStep{n, sign * span(rng)}
	case 5:
		return Drop{c, rng.IntN(2) == 0}
	case 6:
		return Delay{c, rng.IntN(2) == 0, span(rng)}
	case 7:
		return Duplicate{c, span(rng)}
	case 8:
		return Cut{c, n, Direction(rng.IntN(3))}
	case 9:
		return Heal{c, n}
	case 10:
		return Slow{c, n, span(rng), span(rng)}
	case 11:
		return Down{n}
	case 12:
		return Hang{c}
	case 13:
		return EndThread{c}
	case 14:
		return Evict{n}
	case 15:
		return ForgetScripts{n}
	case 16:
		return Lag{n, span(rng)}
	case 17:
		return Failover{n, [][]string{nil, {c}}[rng.IntN(2)]}
	case 18:
		return Rejoin{n}
	case 19:
		return Update{}
	default:
		return Up{n}
	}
}
