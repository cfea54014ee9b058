package tui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"lockstep/scenarios"
	"lockstep/sim/explore"
	"lockstep/sim/trace"
)

// locksOnly is all locks, and one scenario: games need none, and a matrix takes time.
func locksOnly() *library {
	lib := newLibrary(Options{})
	lib.scenarios, lib.lessons = lib.scenarios[:1], nil
	return lib
}

// challengeApp opens a game of one's own with a lock, for the usual goal.
func challengeApp(t testing.TB, strategy string) (*app, *sandbox) {
	a := openApp(t, 120, 40, locksOnly(), Options{Seed: 1}, plainTheme(false))
	a.top().(*home).column = a.lib.strategy(strategy)
	a.press("b")
	s, is := a.top().(*sandbox)
	if !is || s.challenge == nil {
		t.Fatalf("b leads to %T", a.top())
	}
	return a, s
}

// Whoever takes every hint gets there at the price that was named at first; and
// the engine's own monitors, which have no part in the hints, say so.
func TestHintsLeadThere(t *testing.T) {
	for _, c := range []struct {
		strategy string
		goal     trace.Code
	}{{"setpx-lua", trace.OV}, {"naive-del", trace.DG}, {"timestamp-del", trace.FR}, {"setpx-lua", trace.SW}} {
		a, s := challengeApp(t, c.strategy)
		for s.goal != c.goal { // the next one in the list
			a.press("o")
			p := a.top().(*picker)
			for goals[p.at] != c.goal {
				p.at = (p.at + 1) % len(goals)
			}
			a.press("enter")
		}
		par := s.par.Cost
		if par.Steps == 0 {
			t.Fatalf("%v: nothing is known at the beginning: %v", c, s.refused)
		}
		for n := 0; !s.reached(); n++ {
			if n > par.Steps || s.refused != nil {
				t.Fatalf("%v: not there after %d moves: %v", c, n, s.refused)
			}
			a.press("i enter")
		}
		if s.hint.Taken != par {
			t.Errorf("%v: the hints took %+v, and the least is %+v", c, s.hint.Taken, par)
		}
		if v := s.reel.trace.Verdict().String(); !strings.Contains(v, c.goal.String()) {
			t.Errorf("%v: the guide says that this is it, and the monitors say %s", c, v)
		}
		said, _ := s.challenge.words(&s.keys)
		if want := "There! Yours: " + costWords(par) + "; least: " + costWords(par) + "."; said != want || !strings.Contains(a.View(), want[:40]) {
			t.Errorf("%v: nobody is told:\n%s", c, a.View())
		}
	}
}

func TestHintsSayWhenItIsTooLate(t *testing.T) {
	a, s := challengeApp(t, "setpx-lua")
	first := s.hint
	do(t, a, s, "A", "crash") // the only crash; a pause is left, and nobody to pause
	if v := unwrapped(a.View()); s.hint.Reachable || !strings.Contains(v, "No longer reachable from here") {
		t.Errorf("%+v\n%s", s.hint, a.View())
	}
	if a.press("i"); !strings.Contains(s.notice, "no way on") {
		t.Error(s.notice)
	}
	if a.press("u"); s.hint.Steps != first.Steps {
		t.Errorf("after the undo it is %+v, and was %+v", s.hint, first)
	}
	do(t, a, s, "A", "step")
	do(t, a, s, "A", "step")
	do(t, a, s, "B", "step")
	do(t, a, s, "B", "step")
	do(t, a, s, "time", "1s") // pauses both
	if v := unwrapped(a.View()); s.refused == nil || !strings.Contains(v, "more pauses than the bounds have") {
		t.Errorf("the rules are broken, and nobody says so:\n%s", a.View())
	}
}

// A lock that can't be broken is said to be one, at once.
func TestHintsKnowWhatCannotBe(t *testing.T) {
	a, s := challengeApp(t, "setnx") // it has no expiry: nobody else ever gets in
	a.press("o g enter")
	if v := unwrapped(a.View()); s.par.Reachable || !strings.Contains(v, "No schedule with at most 1 crash of a client and 1 pause of a client gets") {
		t.Errorf("%+v\n%s", s.par, a.View())
	}
}

// An answer that comes late is not taken for one to the question of now.
func TestLateHintIsDropped(t *testing.T) {
	_, s := challengeApp(t, "setpx-lua")
	late := s.ask()
	s.try(s.rows[0].choices[0])
	s.ask()
	if s.update(late()); s.known {
		t.Error("the hint for another place is shown")
	}
	if text, _ := s.challenge.words(&s.keys); text != "Thinking." {
		t.Errorf("says %q", text)
	}
}

// Every kind of fault that the bounds have can be made, and is what searches make.
func TestEveryFaultHasItsMove(t *testing.T) {
	lib := locksOnly()
	a := openApp(t, 120, 40, lib, Options{Seed: 1}, plainTheme(false))
	for _, kinds := range [][]explore.FaultKind{{explore.Crash, explore.Pause, explore.ReplyLost, explore.HoldRequest, explore.Duplicate}, {explore.Restart, explore.ServerClock, explore.ClientClock}, {explore.Failover}} {
		st := lib.strategy("timestamp-del")
		b := explore.Defaults(lib.strategies[st])
		b.Faults = explore.Budget{}
		for _, k := range kinds {
			b.Faults[k] = 1
		}
		s, err := newChallenge(a.stage, st, b, trace.OV)
		if err != nil {
			t.Fatal(err)
		}
		a.rooms = append(a.rooms, s)
		tried := 0
		for range 3 {
			do(t, a, s, "A", "step")
		}
		here := s.here
		for i, row := range s.rows {
			for j, c := range row.choices {
				s.row, s.col = i, j
				s.try(c)
				if s.here == here { // it does not fit here: nothing is held, say
					if s.notice == "" {
						t.Errorf("%s %s does nothing, without a word", row.name, c.name)
					}
					continue
				}
				tried++
				a.do(s.ask())
				if s.refused != nil && !strings.Contains(s.refused.Error(), "than the bounds have") {
					t.Errorf("%s %s: %v", row.name, c.name, s.refused)
				}
				s.goTo(here)
			}
		}
		if tried < len(kinds) {
			t.Errorf("%v: only %d moves", kinds, tried)
		}
		a.press("esc")
	}
}

// What was scheduled by hand is saved as a scenario; nothing is saved before it
// breaks anything.
func TestChallengeIsSaved(t *testing.T) {
	t.Chdir(t.TempDir())
	a, s := challengeApp(t, "setpx-lua")
	if a.press("w"); !strings.Contains(s.notice, "nothing is broken yet") {
		t.Error(s.notice)
	}
	for !s.reached() {
		a.press("i enter")
	}
	a.press("w")
	sc, err := scenarios.Load("setpx-lua-sandbox.yaml")
	if err != nil {
		t.Fatal(err, s.notice)
	}
	run, err := sc.Run(s.cfg.Strategy, 1)
	if err != nil || !strings.Contains(run.Verdict().String(), "OV") {
		t.Errorf("it gives %v, %v", run.Verdict(), err)
	}
}

// A pasted schedule of the same setup is played on with hints, one of another without.
func TestChallengeTakesSchedules(t *testing.T) {
	a, s := challengeApp(t, "setpx-lua")
	do(t, a, s, "A", "step")
	paste := keyMsg(s.reel.trace.Schedule)
	paste.Paste = true
	a.press("u")
	a.send(paste)
	if s.challenge == nil || s.here.depth == 0 {
		t.Fatalf("the same setup has no hints: %s", s.notice)
	}
	full, err := a.lib.run(a.lib.scenarios[0], a.lib.strategies[a.lib.strategy("setnx")], 1)
	if err != nil {
		t.Fatal(err)
	}
	paste.Runes = []rune(full.Schedule)
	a.send(paste)
	if s.challenge != nil || !strings.Contains(s.notice, "no hints") {
		t.Errorf("another setup has hints: %s", s.notice)
	}
	a.press("i o u U esc")
}

func TestChallengeScreens(t *testing.T) {
	for look, th := range looks() {
		for _, size := range sizes {
			lib := locksOnly()
			a := openApp(t, size[0], size[1], lib, Options{Seed: 1}, th)
			a.top().(*home).column = lib.strategy("setpx-lua")
			a.press("b enter enter enter down down i")
			s := a.top().(*sandbox)
			s.known, s.hint = true, explore.Hint{Reachable: true, Cost: explore.Cost{Faults: 1, Steps: 9}, Due: 12001 * time.Millisecond}
			s.offer()
			golden(t, fmt.Sprintf("challenge-%dx%d-%s", size[0], size[1], look), a.View())
		}
	}
}

// A hint, from the question to the answer, at the beginning: nothing is remembered yet.
func BenchmarkHint(b *testing.B) {
	st, _ := scenarios.FindStrategy("getset-expired")
	for b.Loop() {
		stage := newStage(locksOnly(), nil, Options{}, plainTheme(false))
		s := &sandbox{player: &player{stage: stage}, here: &branch{}, challenge: &challenge{}}
		s.guide = &guide{find: stage.newGuide, bounds: explore.Defaults(st), goal: trace.SW}
		if h := s.ask()().(hinted); h.err != nil {
			b.Fatal(h.err)
		}
		s.guide.close()
	}
}

// What was tried in a game is there again, hints and all, when one comes back to it; so
// is what a search has found.
func TestWhatWasLeftStays(t *testing.T) {
	a, s := challengeApp(t, "naive-del")
	do(t, a, s, "A", "step")
	do(t, a, s, "A", "step")
	steps := s.hint.Steps
	a.press("esc b")
	if a.top() != room(s) || s.here.depth != 2 || !s.known || s.hint.Steps != steps {
		t.Errorf("back in the game it is another, or at %d, or without a hint: %+v", s.here.depth, s.hint)
	}
	a.press("esc a enter esc a")
	m, is := a.top().(*searcher)
	if !is || m.result == nil {
		t.Fatalf("what was searched is forgotten:\n%s", a.View())
	}
	a.press("enter")
	if _, is := a.top().(*shown); !is {
		t.Fatalf("no finding is played:\n%s", a.View())
	}
	rooms := len(a.rooms)
	if a.press("a"); a.top() != room(m) || len(a.rooms) != rooms-1 {
		t.Errorf("%d rooms lead to the search, after %d", len(a.rooms), rooms)
	}
}
