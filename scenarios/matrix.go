package scenarios

import (
	"runtime"
	"sync"

	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Cell is one strategy under one scenario.
type Cell struct {
	Strategy strategies.Strategy
	Scenario *Scenario
	Trace    *trace.Trace
	Err      error
}

// AsExpected reports whether the verdict is the one that the scenario states.
// Where it states none, nothing can differ from it.
func (c *Cell) AsExpected() bool {
	if c.Err != nil {
		return false
	}
	return c.Scenario.Meets(c.Strategy.Name, c.Trace.Verdict())
}

// Matrix runs every strategy under every scenario, on all cores. The cells are ordered by
// scenario, then by strategy; the result doesn't depend on the number of cores.
func Matrix(seed uint64) []Cell {
	return Part(seed, func(*Scenario, strategies.Strategy) bool { return true })
}

// Part runs the cells of the matrix that are wanted, in the same way.
func Part(seed uint64, wanted func(*Scenario, strategies.Strategy) bool) []Cell {
	var cells []Cell
	for _, s := range All() {
		for _, st := range strategies.All() {
			if wanted(s, st) {
				cells = append(cells, Cell{Strategy: st, Scenario: s})
			}
		}
	}
	next := make(chan *Cell)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for c := range next {
				c.Trace, c.Err = c.Scenario.Run(c.Strategy, seed)
			}
		})
	}
	for i := range cells {
		next <- &cells[i]
	}
	close(next)
	wg.Wait()
	return cells
}
