package screen

import (
	"slices"

	"lockstep/scenarios"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Library is the strategies, the scenarios and the course, and the means of playing them.
type Library struct {
	Strategies []strategies.Strategy
	Scenarios  []*scenarios.Scenario
	Lessons    []scenarios.Lesson
	// Run makes a run with a seed. It is called from several goroutines at once.
	Run func(*scenarios.Scenario, strategies.Strategy, uint64) (*trace.Trace, error)
}

// NewLibrary is the built-in scenarios and strategies, with the course.
func NewLibrary() *Library {
	return &Library{Strategies: strategies.All(), Scenarios: scenarios.All(), Lessons: scenarios.Course(), Run: (*scenarios.Scenario).Run}
}

// Include adds a strategy and a scenario that may be a user's own, in front of the
// others, if they are missing. Either may be missing.
func (l *Library) Include(st strategies.Strategy, sc *scenarios.Scenario) {
	if st.Name != "" && l.Strategy(st.Name) < 0 {
		l.Strategies = append([]strategies.Strategy{st}, l.Strategies...)
	}
	if sc != nil && l.Scenario(sc) < 0 {
		l.Scenarios = append([]*scenarios.Scenario{sc}, l.Scenarios...)
	}
}

// Strategy is the place of a strategy in the list, or -1.
func (l *Library) Strategy(name string) int {
	for i := range l.Strategies {
		if l.Strategies[i].Name == name {
			return i
		}
	}
	return -1
}

// Scenario is the place of a scenario in the list, or -1.
func (l *Library) Scenario(s *scenarios.Scenario) int {
	for i := range l.Scenarios {
		if l.Scenarios[i] == s {
			return i
		}
	}
	return -1
}

// Named is the place of the scenario of that name in the list, or -1.
func (l *Library) Named(name string) int {
	return slices.IndexFunc(l.Scenarios, func(s *scenarios.Scenario) bool { return s.Name == name })
}

// Steps calls do with each step of the course that plays a lock under a scenario, both places in the
// list, and reports whether there is any. A user's own script is no part of the course.
func (l *Library) Steps(strategy, scenario int, do func(lesson, step string)) (any bool) {
	st, sc := l.Strategies[strategy], l.Scenarios[scenario]
	for i := range l.Lessons {
		for j := range l.Lessons[i].Steps {
			if step := &l.Lessons[i].Steps[j]; step.Strategy == st.Name && step.Scenario == sc.Name && sc.Path() == "" {
				do(l.Lessons[i].Name, step.ID())
				any = true
			}
		}
	}
	return any
}
