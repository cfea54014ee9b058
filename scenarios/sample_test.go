package scenarios_test

import (
	"slices"
	"testing"

	"lockstep/scenarios"
	"lockstep/scenarios/sample"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// The example of a code shows it, and is of its own page where it has one.
func TestExamples(t *testing.T) {
	cells := sample.Expected()
	if want := len(scenarios.All()) * len(strategies.All()); len(cells) != want {
		t.Errorf("%d runs are expected, of %d", len(cells), want)
	}
	for _, code := range trace.Codes {
		c := sample.OfCode(cells, code)
		if c == nil {
			t.Errorf("%s has no example: no script in scenarios/scripts expects it of a lock", code)
			continue
		}
		if run := scenarios.Ran(t, c.Scenario.Name, c.Strategy.Name); !slices.Contains(run.Verdict(), code) {
			t.Errorf("%s: the example, %s under %s, shows %v", code, c.Strategy.Name, c.Scenario.Name, run.Verdict())
		}
	}
}
