package sample

import (
	"slices"
	"testing"

	"lockstep/scenarios"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// The example of a code shows it, and is of its own page where it has one.
func TestExamples(t *testing.T) {
	cells := Expected()
	if want := len(scenarios.All()) * len(strategies.All()); len(cells) != want {
		t.Errorf("%d runs are expected, of %d", len(cells), want)
	}
	for _, code := range trace.Codes {
		c := OfCode(cells, code)
		if c == nil {
			t.Errorf("%s has no example", code)
			continue
		}
		if run, err := c.Scenario.Run(c.Strategy, 1); err != nil || !slices.Contains(run.Verdict(), code) {
			t.Errorf("%s: the example, %s under %s, shows %v, %v", code, c.Strategy.Name, c.Scenario.Name, run, err)
		}
	}
}
