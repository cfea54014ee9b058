package tui

import (
	"slices"

	"lockstep/scenarios"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// library is what there is to play, and the means of playing it.
type library struct {
	strategies []strategies.Strategy
	scenarios  []*scenarios.Scenario
	lessons    []scenarios.Lesson
	run        func(*scenarios.Scenario, strategies.Strategy, uint64) (*trace.Trace, error)
}

// newLibrary is the built-in scripts and strategies, and the ones that the
// player was opened with, should they be a user's own.
func newLibrary(o Options) *library {
	l := &library{strategies: strategies.All(), scenarios: scenarios.All(), lessons: scenarios.Course(), run: (*scenarios.Scenario).Run}
	if o.Strategy.Name != "" && l.strategy(o.Strategy.Name) < 0 {
		l.strategies = append([]strategies.Strategy{o.Strategy}, l.strategies...)
	}
	if o.Scenario != nil && l.scenario(o.Scenario) < 0 {
		l.scenarios = append([]*scenarios.Scenario{o.Scenario}, l.scenarios...)
	}
	return l
}

// strategy is the place of a strategy in the list, or -1.
func (l *library) strategy(name string) int {
	for i := range l.strategies {
		if l.strategies[i].Name == name {
			return i
		}
	}
	return -1
}

// scenario is the place of a scenario in the list, or -1.
func (l *library) scenario(s *scenarios.Scenario) int {
	for i := range l.scenarios {
		if l.scenarios[i] == s {
			return i
		}
	}
	return -1
}

// named is the place of the scenario of that name in the list, or -1.
func (l *library) named(name string) int {
	return slices.IndexFunc(l.scenarios, func(s *scenarios.Scenario) bool { return s.Name == name })
}
