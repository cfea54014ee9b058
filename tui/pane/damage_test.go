package pane_test

import (
	"slices"
	"testing"

	"lockstep/scenarios"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/pane"
	"lockstep/tui/tuitest"
)

// The sentence at a stale write says in one row of the least window what was written over or after what, whoever believes that they
// hold the lock; and no name of a failure makes room for who doesn't.
func TestDamageIsSaid(t *testing.T) {
	for _, c := range []struct{ lock, scenario, want string }{
		{"setpx-lua", "pause-past-ttl", " !! STALE WRITE !!  A writes although B, who got the lock later, has read."},
		{"setnx", "crash-holding", " !! PERMANENT DEADLOCK !!  Redis keeps dead A's record."},
	} {
		run := timeline.New(tuitest.RealRun(t, c.lock, c.scenario))
		b := run.Breaches[slices.IndexFunc(run.Breaches, func(b timeline.Breach) bool { return b.Code == trace.SW || b.Code == trace.PD })]
		if l, _ := pane.Holders(run, b.Pos, run.StateAt(b.Pos), draw.MinWidth); tuitest.LineText(l) != c.want {
			t.Errorf("%s under %s: %q", c.lock, c.scenario, tuitest.LineText(l))
		}
	}
	for _, l := range scenarios.Course() {
		for _, step := range l.Steps {
			run := timeline.New(tuitest.RealRun(t, step.Strategy, step.Scenario))
			for _, b := range run.Breaches {
				if l, _ := pane.Holders(run, b.Pos, run.StateAt(b.Pos), draw.MinWidth); b.Code == trace.SW && l.Width() > draw.MinWidth {
					t.Errorf("%s is too wide: %q", step.ID(), tuitest.LineText(l))
				}
			}
		}
	}
}
