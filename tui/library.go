package tui

import (
	"slices"

	"lockstep/scenarios"
	"lockstep/sim"
	"lockstep/strategies"
)

// library is what there is to play, and the means of playing it.
type library struct {
	strategies []strategies.Strategy
	scenarios  []*scenarios.Scenario
	lessons    []scenarios.Lesson
	run        func(*scenarios.Scenario, strategies.Strategy, uint64) (*sim.Trace, error)
}

// newLibrary is the built-in scenarios and strategies, with the course.
func newLibrary() *library {
	return &library{strategies: strategies.All(), scenarios: scenarios.All(), lessons: scenarios.Course(), run: (*scenarios.Scenario).Run}
}

// include adds a strategy and a scenario that may be a user's own, in front of the
// others, if it has not got them. Either may be missing.
func (l *library) include(st strategies.Strategy, sc *scenarios.Scenario) {
	if st.Name != "" && l.strategy(st.Name) < 0 {
		l.strategies = append([]strategies.Strategy{st}, l.strategies...)
	}
	if sc != nil && l.scenario(sc) < 0 {
		l.scenarios = append([]*scenarios.Scenario{sc}, l.scenarios...)
	}
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
