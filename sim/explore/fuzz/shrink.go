package fuzz

import (
	"slices"
	"time"

	"lockstep/sim/trace"
)

// shrunk returns a schedule that violates the code, too, and of which nothing can be left out:
// no op, no step, no fault. It is the one that the player has played last.
func (p *player) shrunk(s setting, ops []op, c trace.Code) ([]op, spent) {
	ops = slices.Clone(ops)
	p.shows(s, ops, c)
	cost := p.spent()
	try := func(candidate []op) bool {
		if !p.shows(s, candidate, c) {
			return false
		}
		now := p.spent()
		if now.total() > cost.total() || now.clients > cost.clients || now.cycles > cost.cycles {
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
			for ops[at].count > 1 && try(with(ops, at, func(o *op) { o.count /= 2 })) {
				again = true
			}
			for ops[at].count > 1 && try(with(ops, at, func(o *op) { o.count-- })) {
				again = true
			}
		}
		again = p.reordered(&ops, &cost, try) || again
	}
	for at := len(ops) - 2; at >= 0; at-- { // two waits in a row, of which neither can go
		if ops[at].wait > 0 && ops[at+1].wait > 0 {
			joined := slices.Delete(slices.Clone(ops), at+1, at+2)
			joined[at].wait += ops[at+1].wait
			try(joined)
		}
	}
	for at := range ops {
		for _, unit := range [...]time.Duration{time.Hour, time.Minute, time.Second, 100 * time.Millisecond, 10 * time.Millisecond} {
			for _, d := range [...]time.Duration{ops[at].wait.Round(unit), ops[at].wait.Truncate(unit)} {
				if d > 0 && d != ops[at].wait && ops[at].wait%unit != 0 && try(with(ops, at, func(o *op) { o.wait = d })) {
					break
				}
			}
		}
	}
	p.shows(s, ops, c)
	return ops, p.spent()
}

// reordered moves waits to where they cost less: before or after a client's steps.
func (p *player) reordered(ops *[]op, cost *spent, try func([]op) bool) (any bool) {
	for at := range *ops {
		if (*ops)[at].wait == 0 {
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
func with(ops []op, at int, change func(*op)) []op {
	ops = slices.Clone(ops)
	change(&ops[at])
	return ops
}
