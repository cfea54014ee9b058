package search

import (
	"strings"
	"testing"

	"lockstep/scenarios"
	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/fault"
	"lockstep/sim/trace"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

// The bounds that are offered from a run have each of its faults, or it is said that the search has none such: in every
// scenario of the catalogue, with a lock that it is about.
func TestBoundsHaveTheFaultsOfTheRun(t *testing.T) {
	lib := screen.NewLibrary()
	raised := 0
	for _, sc := range scenarios.All() {
		for _, name := range []string{"setpx-lua", "redlock"} {
			app := tuitest.HandmadeApp(lib, tuitest.PlainTheme(false))
			m := New(app, lib.Strategy(name))
			run, err := sc.Run(lib.Strategies[m.strategy], 1)
			if err != nil {
				t.Fatal(err)
			}
			m.Include(run)
			if m.refused != nil {
				t.Errorf("%s under %s: the bounds make no sense: %v", name, sc.Name, m.refused)
			}
			raised += len(m.included)
			has, lacks := m.ofRun()
			events := map[trace.Kind]explore.FaultKind{trace.KindCrash: explore.Crash, trace.KindWallStep: explore.ClientClock, trace.KindNodeStep: explore.ServerClock,
				trace.KindFailover: explore.Failover, trace.KindEvict: explore.Evict}
			for i := range run.Events { // by the run's events, not by its schedule
				kind, counts := events[run.Events[i].Kind]
				if !counts || run.Events[i].Kind == trace.KindCrash && run.Events[i].Client == trace.None {
					continue
				}
				if m.bounds.Faults[kind] == 0 && !strings.Contains(lacks, kind.Words(2)) {
					t.Errorf("%s under %s: nothing of the %s:\n%s\n%s", name, sc.Name, kind.Words(1), has, lacks)
				}
			}
			s, err := sim.ParseSchedule(run.Schedule, scenarios.FindStrategy)
			if err != nil {
				t.Fatal(err)
			}
			for _, mv := range s.Moves {
				if mv.Fault == nil {
					continue
				}
				spec := fault.SpecOf(mv.Fault)
				if _, has := explore.KindOf(mv.Fault); !has && !spec.Ends && strings.Contains("unplug occupy forget-scripts slow cut hang end-thread throw exit update", spec.Word) && !strings.Contains(lacks, spec.Many) {
					t.Errorf("%s under %s: %s are not said to be missing: %q", name, sc.Name, spec.Many, lacks)
				}
			}
		}
	}
	if raised < 10 {
		t.Errorf("only %d bounds were raised", raised)
	}
}

// A run with a failover offers one, before the search and beside its result; what no search has is said there, too.
func TestSearchOfARunSaysSo(t *testing.T) {
	a, m := openMadeUp(t, 120, 40, tuitest.PlainTheme(false), "setpx-lua")
	sc, err := scenarios.Find("failover")
	if err != nil {
		t.Fatal(err)
	}
	run, err := sc.Run(m.Library.Strategies[m.strategy], 1)
	if err != nil {
		t.Fatal(err)
	}
	m.Include(run)
	if m.bounds.Faults[explore.Failover] != 1 {
		t.Errorf("the bounds have %d failovers", m.bounds.Faults[explore.Failover])
	}
	m.lacks = append(m.lacks, "power cuts")
	for _, keys := range []string{"", "enter"} {
		a.Press(keys)
		a.View()
		v := tuitest.Unwrapped(tuitest.LinesText(m.resultLines(300)))
		for _, want := range []string{"in the run that you come from: failover to a replica", "no schedule of this search has: power cuts. What holds here says nothing of those."} {
			if !strings.Contains(v, want) {
				t.Errorf("after %q there is no %q:\n%s", keys, want, a.View())
			}
		}
	}
}

// The result is in the words of lockstep explore, with what it rests on.
func TestResultHasTheSummary(t *testing.T) {
	a, m := openMadeUp(t, 200, 60, tuitest.PlainTheme(false), "redlock")
	a.Press("enter")
	m.result.Probed = true
	if v := tuitest.Unwrapped(tuitest.LinesText(m.resultLines(300))); !strings.Contains(v, tuitest.Unwrapped("redlock: "+m.result.Summary()+".")) {
		t.Errorf("there is no %q:\n%s", m.result.Summary(), a.View())
	}
}
