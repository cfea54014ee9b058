package quiz

import (
	"slices"
	"testing"

	"lockstep/scenarios"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
)

// TestStopsWhereAClientIsTurnedAway: one key stops where a client is refused the lock for the first time, and neither at its next refusals nor at the
// probe's; nor while a question is open, as who has the lock then may be its answer.
func TestStopsWhereAClientIsTurnedAway(t *testing.T) {
	stopsOf := func(run *timeline.Timeline) (stops []int) {
		z := Of(run)
		for at := 0; at < run.Last(); {
			at = z.Next(at)
			stops = append(stops, at)
		}
		return stops
	}
	refusals := func(run *timeline.Timeline, client string) (all []int) {
		for at := range run.Last() {
			if e := run.Event(at); e != nil && e.Kind == trace.KindRefused && run.Clients[e.Client] == client {
				all = append(all, at)
			}
		}
		return all
	}

	run := runOf(t, "setpx-lua", "release-lost")
	stops := stopsOf(run)
	if at := refusals(run, "B"); len(at) == 0 || !slices.Contains(stops, at[0]) {
		t.Errorf("B is refused at %v, and the stops are %v", at, stops)
	}

	run = runOf(t, "setnx", "cut-off")
	at := refusals(run, "B")
	pending := slices.ContainsFunc(Of(run).all, func(q timeline.Question) bool { return q.Pos <= at[0] && at[0] < q.Until })
	if stops := stopsOf(run); !pending || slices.Contains(stops, at[0]) {
		t.Errorf("B is refused at %v, a question is open there: %t, and the stops are %v", at, pending, stops)
	}

	twice := 0
	for _, id := range [][2]string{{"setnx", "stampede-fallthrough"}, {"setnx", "wrong-type"}, {"setpx-lua", "stampede"}, {"setnx", "cut-off"}} {
		run := runOf(t, id[0], id[1])
		for _, client := range run.Clients {
			for n, at := range refusals(run, client) {
				if first := n == 0 && client != trace.Probe; run.TurnedAway(at) != first {
					t.Errorf("%v: %s's refusal number %d is its first: %t", id, client, n+1, !first)
				}
				twice += n
			}
		}
	}
	if twice == 0 {
		t.Error("nobody is refused twice")
	}
}

func runOf(t *testing.T, lock, script string) *timeline.Timeline {
	t.Helper()
	sc, err := scenarios.Find(script)
	if err != nil {
		t.Fatal(err)
	}
	st, err := scenarios.FindStrategy(lock)
	if err != nil {
		t.Fatal(err)
	}
	made, err := sc.Run(st, 1)
	if err != nil {
		t.Fatal(err)
	}
	return timeline.New(made)
}
