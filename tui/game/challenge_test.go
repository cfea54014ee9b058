package game

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/scenarios"
	"lockstep/sim/explore"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/player"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

// openGame opens a game of breaking a lock, for the usual goal.
func openGame(t testing.TB, strategy string) (*tuitest.App, *Sandbox) {
	return openGameIn(t, 120, 40, tuitest.PlainTheme(false), strategy)
}

func openGameIn(t testing.TB, w, h int, th *draw.Theme, strategy string) (*tuitest.App, *Sandbox) {
	st := tuitest.RealApp(tuitest.LocksOnly(), th)
	msg := screen.ChallengeMsg{Strategy: st.Library.Strategy(strategy)}
	msg.Bounds = explore.Defaults(st.Library.Strategies[msg.Strategy])
	s, err := NewChallenge(st, msg)
	if err != nil {
		t.Fatal(err)
	}
	return tuitest.Open(t, w, h, st, s, nil), s
}

// A player who takes every hint reaches the goal at the price that was named at first; and
// the engine's own monitors, which have no part in the hints, say so.
func TestHintsLeadThere(t *testing.T) {
	for _, c := range []struct {
		strategy string
		goal     trace.Code
	}{{"setpx-lua", trace.OV}, {"naive-del", trace.DG}, {"timestamp-del", trace.FR}, {"setpx-lua", trace.SW}} {
		a, s := openGame(t, c.strategy)
		a.Press("o g" + strings.Repeat(" down", slices.Index(goals, c.goal)) + " enter")
		par := s.par.Cost
		if par.Steps == 0 {
			t.Fatalf("%v: nothing is known at the beginning: %v", c, s.refused)
		}
		for n := 0; !s.reached(); n++ {
			if n > par.Steps || s.refused != nil {
				t.Fatalf("%v: not there after %d moves: %v", c, n, s.refused)
			}
			a.Press("i enter")
		}
		if s.hint.Taken != par {
			t.Errorf("%v: the hints took %+v, and the least is %+v", c, s.hint.Taken, par)
		}
		if v := s.Run.Verdict().String(); !strings.Contains(v, c.goal.String()) {
			t.Errorf("%v: the guide says that this is it, and the monitors say %s", c, v)
		}
		said, _ := s.challenge.outlook(&s.Keys)
		if want := "There! Yours: " + screen.CostText(par) + "; least: " + screen.CostText(par) + "."; said != want || !strings.Contains(a.View(), want[:40]) {
			t.Errorf("%v: the screen doesn't say so:\n%s", c, a.View())
		}
	}
}

func TestHintsSayWhenItIsTooLate(t *testing.T) {
	a, s := openGame(t, "setpx-lua")
	first := s.hint
	do(t, a, s, "A", "crash") // the only crash; a pause is left, and nobody to pause
	if v := tuitest.Unwrapped(a.View()); s.hint.Reachable || !strings.Contains(v, "No longer reachable from here") {
		t.Errorf("%+v\n%s", s.hint, a.View())
	}
	if a.Press("i"); !strings.Contains(s.Notice, "no way on") {
		t.Error(s.Notice)
	}
	if a.Press("u"); s.hint.Steps != first.Steps {
		t.Errorf("after the undo it is %+v, and was %+v", s.hint, first)
	}
	do(t, a, s, "A", "step")
	do(t, a, s, "A", "step")
	do(t, a, s, "B", "step")
	do(t, a, s, "B", "step")
	do(t, a, s, "time", "1s") // pauses both
	if v := tuitest.Unwrapped(a.View()); s.refused == nil || !strings.Contains(v, "more pauses than the bounds have") {
		t.Errorf("the rules are broken, and the screen doesn't say so:\n%s", a.View())
	}
}

// A lock that can't be broken is said to be one, at once.
func TestHintsKnowWhatCannotBe(t *testing.T) {
	a, s := openGame(t, "setnx") // it has no expiry: nobody else ever gets in
	a.Press("o g enter")
	if v := tuitest.Unwrapped(a.View()); s.par.Reachable || !strings.Contains(v, "No schedule with at most 1 crash of a client and 1 pause of a client gets") {
		t.Errorf("%+v\n%s", s.par, a.View())
	}
}

// An answer that comes late is not taken for one to the question of now.
func TestLateHintIsDropped(t *testing.T) {
	_, s := openGame(t, "setpx-lua")
	late := s.ask()
	s.try(s.rows[0].choices[0])
	s.ask()
	if s.Update(late()); s.known {
		t.Error("the hint for another place is shown")
	}
	if text, _ := s.challenge.outlook(&s.Keys); text != "Thinking." {
		t.Errorf("says %q", text)
	}
}

// Every kind of fault that the bounds have can be made, and is what searches make.
func TestEveryFaultHasItsMove(t *testing.T) {
	app := tuitest.RealApp(tuitest.LocksOnly(), tuitest.PlainTheme(false))
	lib := app.Library
	for _, kinds := range [][]explore.FaultKind{{explore.Crash, explore.Pause, explore.ReplyLost, explore.HoldRequest, explore.Duplicate}, {explore.Restart, explore.Evict, explore.ServerClock, explore.ClientClock}, {explore.Failover}} {
		st := lib.Strategy("timestamp-del")
		b := explore.Defaults(lib.Strategies[st])
		b.Faults = explore.Budget{}
		for _, k := range kinds {
			b.Faults[k] = 1
		}
		s, err := NewChallenge(app, screen.ChallengeMsg{Strategy: st, Bounds: b})
		if err != nil {
			t.Fatal(err)
		}
		a := tuitest.Open(t, 120, 40, app, s, nil)
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
					if s.Notice == "" {
						t.Errorf("%s %s does nothing, without a word", row.name, c.name)
					}
					continue
				}
				tried++
				a.Do(s.ask())
				if s.refused != nil && !strings.Contains(s.refused.Error(), "than the bounds have") {
					t.Errorf("%s %s: %v", row.name, c.name, s.refused)
				}
				s.goTo(here)
			}
		}
		if tried < len(kinds) {
			t.Errorf("%v: only %d moves", kinds, tried)
		}
	}
}

// A schedule made by hand is saved as a scenario; nothing is saved before it
// breaks anything.
func TestChallengeIsSaved(t *testing.T) {
	t.Chdir(t.TempDir())
	a, s := openGame(t, "setpx-lua")
	if a.Press("w"); !strings.Contains(s.Notice, "nothing is broken yet") {
		t.Error(s.Notice)
	}
	for !s.reached() {
		a.Press("i enter")
	}
	a.Press("w")
	sc, err := scenarios.Load("setpx-lua-sandbox.yaml")
	if err != nil {
		t.Fatal(err, s.Notice)
	}
	run, err := sc.Run(s.cfg.Strategy, 1)
	if err != nil || !strings.Contains(run.Verdict().String(), "OV") {
		t.Errorf("it gives %v, %v", run.Verdict(), err)
	}
}

// A pasted schedule of the same setup is played on with hints, one of another without.
func TestChallengeTakesSchedules(t *testing.T) {
	a, s := openGame(t, "setpx-lua")
	do(t, a, s, "A", "step")
	paste := tuitest.KeyMsg(s.Run.Schedule)
	paste.Paste = true
	a.Press("u")
	a.Send(paste)
	if s.challenge == nil || s.here.depth == 0 {
		t.Fatalf("the same setup has no hints: %s", s.Notice)
	}
	full, err := a.Library.Run(a.Library.Scenarios[0], a.Library.Strategies[a.Library.Strategy("setnx")], 1)
	if err != nil {
		t.Fatal(err)
	}
	paste.Runes = []rune(full.Schedule)
	a.Send(paste)
	if s.challenge != nil || !strings.Contains(s.Notice, "no hints") {
		t.Errorf("another setup has hints: %s", s.Notice)
	}
	a.Press("i o u U esc")
}

func TestChallengeScreens(t *testing.T) {
	tuitest.EachFrame(t, "challenge", func(t *testing.T, name string, w, h int, th *draw.Theme) {
		a, s := openGameIn(t, w, h, th, "setpx-lua")
		a.Press("enter enter enter enter enter down down i")
		s.known, s.hint = true, explore.Hint{Reachable: true, Cost: explore.Cost{Faults: 1, Steps: 9}, Due: 12001 * time.Millisecond}
		s.offer()
		tuitest.Golden(t, name, a.View())
	})
}

// A hint, from the question to the answer, at the beginning: nothing is remembered yet.
func BenchmarkHint(b *testing.B) {
	st, _ := scenarios.FindStrategy("getset-expired")
	for b.Loop() {
		app := tuitest.RealApp(tuitest.LocksOnly(), tuitest.PlainTheme(false))
		s := &Sandbox{Player: player.New(app, 0, 0), here: &branch{}, challenge: &challenge{}}
		s.adviser = &adviser{find: app.NewGuide, bounds: explore.Defaults(st), goal: trace.SW}
		if h := s.ask()().(hintMsg); h.err != nil {
			b.Fatal(h.err)
		}
		s.adviser.close()
	}
}
