package scenarios_test

import (
	"slices"
	"testing"

	"lockstep/scenarios"
)

// What the course says of a run is what the run shows; and a rung is one because
// it changes something.
func TestCourseIsTrue(t *testing.T) {
	seen := map[string]bool{}
	for _, l := range scenarios.Course() {
		if seen[l.Name] || l.Name == "" || l.Title == "" || l.Text == "" || len(l.Rungs) < 2 {
			t.Errorf("lesson %q lacks a part, or is there twice", l.Name)
		}
		seen[l.Name] = true
		ids := map[string]bool{}
		for i, r := range l.Rungs {
			if ids[r.ID()] {
				t.Errorf("%s has %s twice", l.Name, r.ID())
			}
			ids[r.ID()] = true
			s, err := scenarios.Find(r.Scenario)
			if err != nil {
				t.Errorf("%s, rung %d: %v", l.Name, i+1, err)
				continue
			}
			st, err := scenarios.FindStrategy(r.Strategy)
			if err != nil {
				t.Errorf("%s, rung %d: %v", l.Name, i+1, err)
				continue
			}
			trace, err := s.Run(st, 1)
			if err != nil {
				t.Errorf("%s, rung %d: %v", l.Name, i+1, err)
				continue
			}
			if got := trace.Verdict(); !slices.Equal(got, r.Verdict) {
				t.Errorf("%s, rung %d, %s under %s: the course says %s, the run %s", l.Name, i+1, r.Strategy, r.Scenario, r.Verdict, got)
			}
			if i > 0 && slices.Equal(r.Verdict, l.Rungs[i-1].Verdict) {
				t.Errorf("%s, rung %d changes nothing", l.Name, i+1)
			}
		}
	}
}
