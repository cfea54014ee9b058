package tuitest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"lockstep/scenarios"
	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/fault"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/draw"
	"lockstep/tui/progress"
	"lockstep/tui/screen"
)

// Only is the library of the program with some of its locks: a screen that judges locks makes the runs of all
// that are there.
func Only(names ...string) *screen.Library {
	lib := screen.NewLibrary()
	lib.Strategies = nil
	for _, name := range names {
		s, known := strategies.Get(name)
		if !known {
			panic("there is no lock " + name)
		}
		lib.Strategies = append(lib.Strategies, s)
	}
	return lib
}

// Shelf is a library whose runs are given. Its contents do not change
// with the catalogue, so the goldens don't either.
func Shelf(run func(scenario, strategy string) (*trace.Trace, error)) *screen.Library {
	lib := &screen.Library{
		Scenarios: []*scenarios.Scenario{
			{Name: "pause-past-ttl", Title: "A pause outlives the lease", Shows: "no lock can stop a client that wakes up too late"},
			{Name: "crowd", Title: "Many take turns", Shows: "nothing goes wrong"},
		},
		Lessons: []scenarios.Lesson{
			{Name: "pauses", Title: "Pauses", Text: "A process can stop anywhere, for any time, and notices nothing of it.", Steps: []scenarios.LessonStep{
				{Scenario: "pause-past-ttl", Strategy: "naive-del", Verdict: trace.Verdict{trace.SW, trace.OV}, Text: "A sleeps past its lease."},
				{Scenario: "pause-past-ttl", Strategy: "setpx-lua", Verdict: trace.Verdict{trace.SW, trace.OV}, Text: "The right release is no help."},
			}},
			{Name: "crowds", Title: "Crowds", Text: "Many want it.", Steps: []scenarios.LessonStep{
				{Scenario: "crowd", Strategy: "redlock", Text: "They take turns."},
			}},
		},
		Run: func(s *scenarios.Scenario, st strategies.Strategy, _ uint64) (*trace.Trace, error) {
			return run(s.Name, st.Name)
		},
	}
	for i := range 18 {
		lib.Scenarios = append(lib.Scenarios, &scenarios.Scenario{Name: fmt.Sprintf("misfortune-%d", i+1), Title: fmt.Sprintf("Misfortune %d", i+1), Shows: "what can happen"})
	}
	for _, name := range strings.Fields("setnx setnx-expire incr-expire timestamp-del getset-equal getset-expired naive-del get-then-del fixed-value setpx-lua fenced redlock redlock-hyperf") {
		st, found := strategies.Get(name)
		if !found {
			panic(name)
		}
		lib.Strategies = append(lib.Strategies, st)
	}
	return lib
}

// Handmade is the shelf of most tests.
func Handmade(scenario, strategy string) (*trace.Trace, error) {
	if scenario == "crowd" {
		return Crowd(3, 5, 300), nil
	}
	t := PauseTrace()
	t.Strategy = strategy
	return t, nil
}

// HandmadeSearch is a search whose numbers don't change when the engine gets better.
func HandmadeSearch(_ context.Context, b explore.Bounds, opt explore.Options) (*explore.Result, error) {
	b.TTL = PauseTrace().TTL // its least schedules are that run
	opt.Progress(explore.Progress{States: 12345, Transitions: 45678, Depth: 12, Frontier: 678, Bytes: 3 << 20})
	if b.Clients == 4 {
		return nil, errors.New("A does different things although it has seen the same: " + strings.Repeat("SETlockX", 40))
	}
	r := &explore.Result{Bounds: b, Complete: b.Clients < 3, States: 23456, Transitions: 78901, Commands: 12, Operations: 345,
		Vacuity: explore.Vacuity{Granted: true, Reacquired: b.Cycles > 1}, Near: explore.NearMisses{Refused: 1200, Compared: 34}}
	if !r.Complete {
		r.Why = "the memory limit was reached"
	}
	if b.Faults[explore.HoldRequest] > 0 {
		r.Vacuity.Unused = append(r.Vacuity.Unused, explore.HoldRequest)
	}
	r.Found = trace.Verdict{trace.SW, trace.DG, trace.OV} // for the least DG there was no time
	for i, c := range []trace.Code{trace.SW, trace.OV} {
		t := PauseTrace()
		cfg, err := b.Config()
		if err != nil {
			return nil, err
		}
		t.Strategy, t.Title = b.Strategy.Name, "The least schedule with a "+c.Name()
		r.Violated = append(r.Violated, &explore.Counterexample{Code: c, Faults: []explore.Fault{{Kind: explore.Pause, Text: "A is paused for 4.1s", Essential: true}}, Switches: 1 + i, Steps: 14 + i, Trace: t,
			Schedule: sim.Schedule{Config: cfg, Moves: []sim.Move{{Who: sim.SetOf(0), Count: 4}}}})
	}
	return r, nil
}

// parrot gives hints without thinking: far ones, near ones, none.
type parrot struct{}

// From gives a hint that depends on the number of moves alone.
func (parrot) From(_ context.Context, moves []sim.Move) (explore.Hint, error) {
	h := explore.Hint{Reachable: true, Cost: explore.Cost{Faults: 1, Steps: 5}, Due: 12001 * time.Millisecond, Next: []sim.Move{{Who: 1, Count: 1}}}
	switch len(moves) % 7 {
	case 2:
		h.Next = []sim.Move{{Fault: fault.Evict{Node: "n1"}}}
	case 3:
		h.Reachable = false
	case 5:
		return explore.Hint{}, errors.New(strings.Repeat("長い説明 ", 30))
	case 6:
		h.Reached = true
	}
	return h, nil
}

// Close does nothing.
func (parrot) Close() error { return nil }

// LocksOnly is all locks, and one scenario: games need none, and a matrix takes time.
func LocksOnly() *screen.Library {
	lib := screen.NewLibrary()
	lib.Scenarios, lib.Lessons = lib.Scenarios[:1], nil
	return lib
}

// RealApp is the app that screens share, with the real search and the real hints.
func RealApp(lib *screen.Library, th *draw.Theme) *screen.App {
	return screen.NewApp(lib, &progress.Store{}, th, 1, Formats())
}

// HandmadeApp is the same with a search and with hints that don't change when the
// engine gets better.
func HandmadeApp(lib *screen.Library, th *draw.Theme) *screen.App {
	app := RealApp(lib, th)
	MakeUp(app)
	return app
}

// MakeUp replaces computed runs, searches and hints by made-up ones.
func MakeUp(app *screen.App) {
	app.Explore = HandmadeSearch
	app.NewGuide = func(explore.Bounds, trace.Code) (screen.Guide, error) { return parrot{}, nil }
	app.Now = func() time.Time { return time.Time{} }
}

// Formats is one form of export.
func Formats() []screen.Export {
	return []screen.Export{{Name: "text", About: "what --plain prints", Extension: ".txt",
		Write: timeline.Plain}}
}

// RealRun is a run of the catalogue.
func RealRun(t testing.TB, lock, scenario string) *trace.Trace {
	t.Helper()
	sc, err := scenarios.Find(scenario)
	if err != nil {
		t.Fatal(err)
	}
	st, err := scenarios.FindStrategy(lock)
	if err != nil {
		t.Fatal(err)
	}
	run, err := sc.Run(st, 1)
	if err != nil {
		t.Fatal(err)
	}
	return run
}
