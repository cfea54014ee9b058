package scenarios_test

import (
	"regexp"
	"slices"
	"testing"
	"time"

	"lockstep/scenarios"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// The time for which a record that was left behind kept others out is that which its words describe: it begins with the first refusal after
// its owner crashed, stopped or was done, as the events of the run have it, and not with one while the owner was still at work.
func TestBlockingIsCountedFromWhereItSays(t *testing.T) {
	said := regexp.MustCompile(`^what (\w+) left behind kept .+ out for (\S+), counted from the first refusal after (\w+)('s crash|'s main thread had stopped| was done)(, though nobody(?: alive)? held the lock)?$`)
	counted, later := map[string]int{}, 0
	for _, name := range scenarios.Names() {
		for _, s := range strategies.All() {
			run := scenarios.Ran(t, name, s.Name)
			for _, v := range run.Violations {
				if v.Code != trace.BD {
					continue
				}
				m := said.FindStringSubmatch(v.Text)
				if m == nil || m[1] != m[3] {
					t.Errorf("%s under %s: %s", s.Name, name, v.Text)
					continue
				}
				before, from := refusals(run, slices.Index(run.Clients, m[1]), m[4], v.Events[0])
				if got := trace.Duration(v.At - from); got != m[2] {
					t.Errorf("%s under %s: by its words it is %s: %s", s.Name, name, got, v.Text)
				}
				counted[m[4]]++
				later += before
			}
		}
	}
	if len(counted) != 3 || later == 0 {
		t.Errorf("blocking that was counted: %v, with %d refusals before", counted, later)
	}
}

// refusals are the instant of the first refusal of a client after the owner of a record was gone in the way that is said, and how many there
// were while that one was still at work. A client that waits for another try was refused, too.
func refusals(run *trace.Trace, owner int, way string, written int) (before int, first time.Duration) {
	ends := map[string][]trace.Kind{
		"'s crash": {trace.KindCrash}, "'s main thread had stopped": {trace.KindHang},
		" was done": {trace.KindRefused, trace.KindFailed, trace.KindReleased, trace.KindReleaseFailed, trace.KindStop, trace.KindDone},
	}[way]
	gone := false
	for i := range run.Events {
		e := &run.Events[i]
		waits := (e.Kind == trace.KindSleep || e.Kind == trace.KindAwait) && e.Phase == trace.PhaseAcquire
		refused := e.Seq > written && (waits || e.Kind == trace.KindRefused || e.Kind == trace.KindFailed)
		switch {
		case e.Client == owner && e.Kind == trace.KindAcquire:
			gone = e.Seq > written // or the record is that of this very acquisition
		case refused && gone:
			return before, e.At
		case e.Client == owner && slices.Contains(ends, e.Kind):
			gone = true
		case refused:
			before++
		}
	}
	return before, -1
}
