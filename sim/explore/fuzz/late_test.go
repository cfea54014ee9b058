package fuzz

import (
	"context"
	"slices"
	"testing"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/explore/madeup"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
)

// TestLateRequestsInTheEngine: a search without bounds in which requests come late and twice never says "holds"
// of a lock that is made up where random schedules of the engine, which know nothing of how it looks at
// such requests, show a violation within its bounds.
func TestLateRequestsInTheEngine(t *testing.T) {
	testenv.Long(t)
	codes := trace.Verdict{trace.DG, trace.FR, trace.PD}
	broken, held := 0, 0
	for n := range madeup.Number {
		if !testenv.Some(n, madeup.Number) {
			continue
		}
		s := madeup.Lock(n, 12*time.Second)
		b := explore.Bounds{Strategy: s, Clients: 2, Cycles: explore.Any, TTL: 12 * time.Second, Codes: codes, Record: "lock",
			Faults: explore.Budget{explore.Crash: explore.Any, explore.Pause: explore.Any, explore.HoldRequest: 1, explore.Duplicate: 1}}
		r, err := explore.Run(context.Background(), b, explore.Options{Memory: 2 << 30})
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		set := Setting{Clients: 2, Cycles: 3, TTL: 12 * time.Second, Codes: codes,
			Faults: explore.Budget{explore.Crash: 1, explore.HoldRequest: 1, explore.Duplicate: 1}}
		found, err := Play(context.Background(), s, set, 1, uint64(testenv.Count(100, 1000)))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range found {
			if r.Holds(f.Code) && within(&f) {
				t.Errorf("%s: holds for %s, and seed %d violates it by %s\n%s", s.Name, f.Code, f.Seed, f.Cost, f.Shrunk)
			}
		}
		if len(found) > 0 {
			broken++
		}
		if !slices.ContainsFunc(codes, func(c trace.Code) bool { return !r.Holds(c) }) {
			held++
		}
		t.Logf("%s: %s; the engine shows %d codes", s.Name, r.Summary(), len(found))
	}
	if broken == 0 || held == 0 {
		t.Errorf("random schedules violate %d locks, and %d hold", broken, held)
	}
}

// within reports whether a schedule surely has no more requests that come late at a time, or twice, than the
// search: one of each, and that the last of its client.
func within(f *Found) bool {
	late, twice := 0, 0
	for _, m := range f.Shrunk.Moves {
		switch fault := m.Fault.(type) {
		case sim.Hold, sim.Delay:
			late++
		case sim.Duplicate:
			if twice++; fault.N > 1 {
				return false
			}
		}
	}
	return late <= 1 && twice <= 1
}
