package trials

import (
	"slices"
	"time"

	"lockstep/sim"
	"lockstep/sim/trace"
)

// Shrunk returns a schedule that violates the code, too, and of which nothing can be left out:
// no op, no step, no fault. It costs no more in anything. It is the one that the player has played last.
func (p *Player) Shrunk(cfg sim.Config, ops []Op, c trace.Code) ([]Op, Cost) {
	ops = slices.Clone(ops)
	p.Shows(cfg, ops, c)
	cost := p.Cost()
	try := func(candidate []Op) bool {
		if !p.Shows(cfg, candidate, c) {
			return false
		}
		now := p.Cost()
		if !now.Within(&cost) {
			return false
		}
		ops, cost = candidate, now
		return true
	}
	for again := true; again; {
		again = false
		for size := max(1, len(ops)/2); size > 0; size /= 2 {
			for at := len(ops) - size; at >= 0; at-- {
				if at+size <= len(ops) && try(slices.Delete(slices.Clone(ops), at, at+size)) {
					again = true
				}
			}
		}
		for at := range ops {
			for ops[at].Count > 1 && try(with(ops, at, func(o *Op) { o.Count /= 2 })) {
				again = true
			}
			for ops[at].Count > 1 && try(with(ops, at, func(o *Op) { o.Count-- })) {
				again = true
			}
		}
		again = p.reordered(&ops, &cost, try) || again
	}
	for at := len(ops) - 2; at >= 0; at-- { // two waits in a row, of which neither can go
		if ops[at].Wait > 0 && ops[at+1].Wait > 0 {
			joined := slices.Delete(slices.Clone(ops), at+1, at+2)
			joined[at].Wait += ops[at+1].Wait
			try(joined)
		}
	}
	for at := range ops {
		for _, unit := range [...]time.Duration{time.Hour, time.Minute, time.Second, 100 * time.Millisecond, 10 * time.Millisecond} {
			for _, d := range [...]time.Duration{ops[at].Wait.Round(unit), ops[at].Wait.Truncate(unit)} {
				if d > 0 && d != ops[at].Wait && ops[at].Wait%unit != 0 && try(with(ops, at, func(o *Op) { o.Wait = d })) {
					break
				}
			}
		}
	}
	p.Shows(cfg, ops, c)
	return ops, p.Cost()
}

// reordered moves waits to where they cost less: before or after a client's steps.
func (p *Player) reordered(ops *[]Op, cost *Cost, try func([]Op) bool) (any bool) {
	for at := range *ops {
		if (*ops)[at].Wait == 0 {
			continue
		}
		for to := range *ops {
			before := cost.total()
			moved := slices.Clone(*ops)
			o := moved[at]
			moved = slices.Insert(slices.Delete(moved, at, at+1), to, o)
			old, was := *ops, *cost
			if to != at && try(moved) {
				if cost.total() < before {
					return true
				}
				*ops, *cost = old, was
			}
		}
	}
	return false
}

// with returns the ops with one of them changed.
func with(ops []Op, at int, change func(*Op)) []Op {
	ops = slices.Clone(ops)
	change(&ops[at])
	return ops
}
