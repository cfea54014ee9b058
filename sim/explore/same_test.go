package explore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockstep/sim/testenv"
)

// TestSameEachTime: the result of a search doesn't depend on the number of its workers, nor
// on how they are scheduled.
func TestSameEachTime(t *testing.T) {
	t.Parallel()
	workers := []int{1, 3}
	if testenv.Whole() {
		workers = []int{1, 3, 2}
	}
	for _, name := range []string{"setnx-expire", "getset-equal", "watchdog", "fenced", "redlock"} {
		if !testenv.Whole() && name != "fenced" { // the others are left to the larger run, for time
			continue
		}
		t.Run(name, func(t *testing.T) {
			b := Defaults(strategy(t, name))
			b.Cycles, b.Faults = 1, Budget{Crash: 1, Pause: 1, ReplyLost: 1, HoldRequest: 1}
			if b.Nodes > 1 || testenv.Raced || !testenv.CI() || !testenv.Whole() && slices.Contains(slow, name) {
				b.Nodes, b.Faults = min(b.Nodes, 2), Budget{Crash: 1, Pause: 1}
			}
			first := ""
			for _, workers := range workers {
				got := outcome(t, b, workers)
				if first == "" {
					first = got
				}
				if got != first {
					t.Fatalf("with %d workers\n%s\nand at first\n%s", workers, got, first)
				}
			}
			t.Log(first)
		})
	}
}

func outcome(t *testing.T, b Bounds, workers int) string {
	t.Helper()
	r, err := Run(context.Background(), b, Options{Workers: workers})
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	fmt.Fprintf(&text, "complete %t: %d states, %d transitions, %d commands, %d operations, found %s, %+v, %+v\n",
		r.Complete, r.States, r.Transitions, r.Commands, r.Operations, r.Found, r.Vacuity, r.Near)
	for _, v := range r.Violated {
		if v.Schedule.String() != v.Trace.Schedule {
			t.Errorf("the schedule of %s is\n%s\nand its trace's\n%s", v.Code, v.Schedule, v.Trace.Schedule)
		}
		fmt.Fprintf(&text, "%s %d/%d/%d %s %s\n", v.Code, len(v.Faults), v.Switches, v.Steps, v.Trace.Hash, v.Schedule)
	}
	return text.String()
}
