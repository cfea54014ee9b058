// Package sample chooses runs that show how locks fail: those of the course first, as a reader may have seen them.
package sample

import (
	"slices"

	"lockstep/docs/failures"
	"lockstep/scenarios"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Cell is a run that need not be made: its verdict is the one that the scenario expects.
type Cell struct {
	Scenario *scenarios.Scenario
	Strategy strategies.Strategy
	Verdict  trace.Verdict
}

// Expected is the whole matrix, as the scenarios expect it.
func Expected() (all []Cell) {
	for _, s := range scenarios.All() {
		for _, st := range strategies.All() {
			if v, known := s.Expect(st.Name); known {
				all = append(all, Cell{s, st, v})
			}
		}
	}
	return all
}

// taught are the places of the runs in the course, from 1, by scenario and lock.
func taught() map[[2]string]int {
	places, n := map[[2]string]int{}, 0
	for _, l := range scenarios.Course() {
		for _, step := range l.Steps {
			if n++; places[[2]string{step.Scenario, step.Strategy}] == 0 {
				places[[2]string{step.Scenario, step.Strategy}] = n
			}
		}
	}
	return places
}

// Failing is the first of some runs that fails, in the order of the course, and after those of it in their own; nil if all withstand.
func Failing(cells []scenarios.Cell) *scenarios.Cell {
	places := taught()
	place := func(c *scenarios.Cell) int {
		if at := places[[2]string{c.Scenario.Name, c.Strategy.Name}]; at > 0 {
			return at
		}
		return len(places) + 1
	}
	var best *scenarios.Cell
	for i := range cells {
		c := &cells[i]
		if c.Err != nil || len(c.Trace.Verdict()) == 0 || !c.Trace.Verdict()[0].Failure() {
			continue
		}
		if best == nil || place(c) < place(best) {
			best = c
		}
	}
	return best
}

// OfCode is a run with a code: of the scenarios that its own page is about, if it has one, and of the
// course, if it is in there.
func OfCode(cells []Cell, code trace.Code) *Cell {
	taught := taught()
	paged := map[string]bool{}
	for _, p := range failures.Showing(code.String()) {
		for _, name := range p.Scenarios {
			paged[name] = paged[name] || p.IsAbout(code.Name())
		}
	}
	var best *Cell
	most := -1
	for i := range cells {
		c := &cells[i]
		if !slices.Contains(c.Verdict, code) {
			continue
		}
		worth := 0
		if paged[c.Scenario.Name] {
			worth += 2
		}
		if taught[[2]string{c.Scenario.Name, c.Strategy.Name}] > 0 {
			worth++
		}
		if worth > most {
			best, most = c, worth
		}
	}
	return best
}
