package explore

import (
	"reflect"
	"slices"
	"testing"

	"lockstep/sim/explore/space"
	"lockstep/sim/trace"
)

// TestLeastOfAlike: where clients are interchangeable, the least schedules are the same if those are left out in which
// they don't ask first in the order of their names. For codes that no schedule violates, many of the nodes go.
func TestLeastOfAlike(t *testing.T) {
	for _, tt := range []struct {
		lock            string
		timed           bool
		clients, cycles int
		faults          Budget
		violated, kept  []trace.Code
	}{
		{"getset-equal", true, 2, 2, Budget{Pause: 1}, trace.Verdict{trace.SW, trace.DG, trace.OV, trace.FR, trace.FN}, nil},
		{"naive-del", false, 3, 1, Budget{Pause: 1, Crash: 1}, trace.Verdict{trace.SW, trace.DG, trace.OV, trace.FR}, nil},
		{"setnx", true, 3, 1, Budget{Crash: 2}, trace.Verdict{trace.PD}, trace.Verdict{trace.DG, trace.FR}},
		{"setpx-autoretry", false, 2, 1, Budget{ReplyLost: 1, Crash: 1}, trace.Verdict{trace.FN}, trace.Verdict{trace.DG, trace.FR, trace.PD}},
	} {
		t.Run(tt.lock, func(t *testing.T) {
			b := Defaults(strategy(t, tt.lock))
			b.Clients, b.Cycles, b.Faults = tt.clients, tt.cycles, tt.faults
			m, err := space.NewModel(b, tt.timed)
			if err != nil {
				t.Fatal(err)
			}
			defer m.Close() //nolint:errcheck // the test is over
			wanted := trace.SetOf(slices.Concat(tt.violated, tt.kept)...)
			all, expandedAll := leastOf(t, m, wanted, false)
			some, expanded := leastOf(t, m, wanted, true)
			if len(all) != len(tt.violated) || !reflect.DeepEqual(some, all) {
				t.Errorf("of all schedules the least are\n%v\nand of those with clients in order\n%v", all, some)
			}
			if len(tt.kept) > 0 && 4*expanded > 3*expandedAll {
				t.Errorf("%d nodes, and %d with clients in order", expandedAll, expanded)
			}
		})
	}
}

// leastOf returns the least schedules in a model, and how many nodes the search for them had.
func leastOf(t *testing.T, m *space.Model, wanted space.Codes, alike bool) (map[trace.Code][]space.Choice, int32) {
	t.Helper()
	x := m.Explorer()
	x.Begin()
	q := shortestFrom(x, wanted, nil)
	q.alike = alike
	if err := q.run(func() bool { return false }); err != nil {
		t.Fatal(err)
	}
	return q.got, q.nodes.count()
}
