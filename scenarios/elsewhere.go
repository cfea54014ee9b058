package scenarios

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/trace"
)

// mostElsewhere is how many other scenarios are named at most.
const mostElsewhere = 2

// Elsewhere says in which other scenarios of the catalogue a lock breaks that has withstood this one, by the same faults; it is empty if there
// are none. One run that goes well is no proof that the lock bears its faults.
func (s *Scenario) Elsewhere(lock string) string {
	mine, most := s.faults(), 0
	var shared, names []string
	for _, other := range All() {
		v, _ := other.Expect(lock)
		same := slices.DeleteFunc(other.faults(), func(key string) bool { return !slices.Contains(mine, key) })
		if other.Name == s.Name || len(same) == 0 || len(same) < most || !slices.ContainsFunc(v, func(c trace.Code) bool { return c.Harm() >= trace.Shares }) {
			continue
		}
		if len(same) > most {
			most, shared, names = len(same), same, nil
		}
		names = append(names, fmt.Sprintf("%s (%s)", other.Name, v))
	}
	if names == nil {
		return ""
	}
	return fmt.Sprintf("%s breaks in other runs with the same faults (%s): %s.", lock, strings.Join(shared, ", "), trace.List(names[:min(len(names), mostElsewhere)]))
}

// faults are the words of the script's steps that make a fault, each once.
func (s *Scenario) faults() (keys []string) {
	for i := range s.script {
		if a, is := s.script[i].action.(faultAction); is && !a.step.Spec.Ends && !slices.Contains(keys, a.step.Key) {
			keys = append(keys, a.step.Key)
		}
	}
	return keys
}
