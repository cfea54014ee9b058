package game

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/scenarios"
	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/debrief"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
	"lockstep/tui/tried"
	"lockstep/tui/tuitest"
)

// openLevel opens a level by its name.
func openLevel(t testing.TB, name string) (*tuitest.App, *Game) {
	return openLevelIn(t, 120, 40, tuitest.PlainTheme(false), name)
}

func openLevelIn(t testing.TB, w, h int, th *draw.Theme, name string) (*tuitest.App, *Game) {
	t.Helper()
	st := tuitest.RealApp(tuitest.LocksOnly(), th)
	rememberHints(st)
	level := slices.IndexFunc(scenarios.Levels(), func(l scenarios.Level) bool { return l.Name() == name })
	if level < 0 {
		t.Fatalf("there is no level %s", name)
	}
	s, err := NewLevel(st, level)
	if err != nil {
		t.Fatal(err)
	}
	return tuitest.Open(t, w, h, st, s, nil), s
}

// rememberHints has each hint computed once for all tests, of which many begin in the same way.
func rememberHints(st *screen.App) {
	find := st.NewGuide
	st.NewGuide = func(b explore.Bounds, goal trace.Code) (screen.Guide, error) {
		within := b
		within.Strategy = strategies.Strategy{Nodes: b.Strategy.Nodes} // without functions
		about := fmt.Sprintf("%s %s %+v", b.Strategy.Name, goal, within)
		return &remembering{about: about, find: func() (screen.Guide, error) { return find(b, goal) }}, nil
	}
}

// hints are those that have been given, by what the guide is about and the moves.
var hints sync.Map

// remembering is a guide that is made when it is asked something new.
type remembering struct {
	about string
	find  func() (screen.Guide, error)
	real  screen.Guide
}

func (r *remembering) From(ctx context.Context, moves []sim.Move) (explore.Hint, error) {
	key := fmt.Sprint(r.about, moves)
	if h, known := hints.Load(key); known {
		return h.(explore.Hint), nil
	}
	if r.real == nil {
		var err error
		if r.real, err = r.find(); err != nil {
			return explore.Hint{}, err
		}
	}
	h, err := r.real.From(ctx, moves)
	if err == nil {
		hints.Store(key, h)
	}
	return h, err
}

func (r *remembering) Close() error {
	if r.real == nil {
		return nil
	}
	return r.real.Close()
}

// openOwn opens a game of breaking a lock within the search's own bounds.
func openOwn(t testing.TB, strategy string, goal trace.Code) (*tuitest.App, *Game) {
	t.Helper()
	st := tuitest.RealApp(tuitest.LocksOnly(), tuitest.PlainTheme(false))
	rememberHints(st)
	msg := screen.ChallengeMsg{Strategy: st.Library.Strategy(strategy), Found: &goal}
	msg.Bounds = explore.Defaults(st.Library.Strategies[msg.Strategy])
	s, err := NewChallenge(st, msg)
	if err != nil {
		t.Fatal(err)
	}
	return tuitest.Open(t, 120, 40, st, s, nil), s
}

// win takes every hint, and fails unless that leads to the goal at the price of the least
// schedule that the search named at first.
func win(t *testing.T, a *tuitest.App, s *Game) {
	t.Helper()
	par := s.par.Cost
	if par.Steps == 0 {
		t.Fatalf("nothing is known at the beginning: %v", s.refused)
	}
	for n := 0; !s.won(); n++ {
		if n > par.Steps || s.refused != nil {
			t.Fatalf("not there after %d moves: %v\n%s", n, s.refused, a.View())
		}
		if s.ahead+n != s.parMoves {
			t.Errorf("after %d moves there are %d to go, and the least way has %d", n, s.ahead, s.parMoves)
		}
		a.Press("i i enter")
	}
	if s.hint.Taken != par {
		t.Errorf("the hints took %+v, and the least is %+v: %s", s.hint.Taken, par, s.Run.Schedule)
	}
}

// Each level is won by its hints at the price of the least schedule; the monitors, which
// have no part in the hints, find the goal; and the same moves, replayed, leave the other
// lock whole, as does every schedule of the level.
func TestLevelsAreWonByTheirHints(t *testing.T) {
	testenv.LongRaced(t)
	alike := []string{"setnx.PD.crash", "setnx-expire.PD.crash", "setnx-expire.PD.reply-lost", "naive-del.FR.pause", "naive-del.FR.duplicate", "setpx-lua.SW.pause"}
	for i, l := range scenarios.Levels() {
		if !testenv.Some(i, testenv.Quick(4, 2)) {
			continue
		}
		t.Run(l.Name(), func(t *testing.T) {
			a, s := openLevel(t, l.Name())
			win(t, a, s)
			if v := s.Run.Verdict(); !slices.Contains(v, l.Goal) {
				t.Errorf("the guide says that this is it, and the monitors say %s", v)
			}
			d := s.debrief
			if d == nil || d.Run == nil || d.Lock != l.Withstands || !d.Proven {
				t.Fatalf("the debrief is %+v", d)
			}
			if s.parMoves != l.Moves {
				t.Errorf("the list says %d moves, and the least way has %d", l.Moves, s.parMoves)
			}
			if d.Same != slices.Contains(alike, l.Name()) {
				t.Errorf("the moves with %s are the same: %v\n%s\n%s", d.Lock, d.Same, s.Run.Schedule, d.Run.Schedule)
			}
			if v := d.Run.Verdict(); slices.Contains(v, l.Goal) || len(d.Run.Events) == 0 {
				t.Errorf("the same moves with %s: %s\n%s", d.Lock, v, d.Run.Schedule)
			}
			if w, won := s.Progress.Won(l.Name()); !won || w.Steps != s.par.Steps {
				t.Errorf("the win isn't remembered: %+v", w)
			}
			least := tuitest.Open(t, 80, 24, s.App, s, nil)
			text := tuitest.Unwrapped(least.View())
			for _, view := range []string{"code", "diagram"} {
				if v := tuitest.Unwrapped(least.View()); !strings.Contains(v, "; ↓ tells more about this win.") {
					t.Errorf("in the least window the %s cuts the first words:\n%s", view, least.View())
				}
				least.Press("v")
			}
			a.Press("down")
			text += tuitest.Unwrapped(a.View())
			for _, want := range []string{tried.Elsewhere(d.Lock, d.Run, d.Same, l.Goal), "GOAL REACHED!", "You matched the best found: " + debrief.Cost(s.parMoves, s.par.Cost) + ".", d.Lock, "withstands this level (of all its schedules, none shows " + l.Goal.Named() + ")"} {
				if !strings.Contains(text, want) {
					t.Errorf("the screen doesn't say %q:\n%s", want, a.View())
				}
			}
			if outcome := map[trace.Code]string{trace.FR: ", which changes nothing.", trace.FN: ", by which A knows that it has the lock."}[l.Goal]; !strings.Contains(text, outcome) {
				t.Errorf("it isn't said what the other lock's command led to (%q):\n%s", outcome, a.View())
			}
			isTrue(t, s, l.Goal)
		})
	}
}

// isTrue compares the debrief's sentence about another lock with the run that its key shows.
func isTrue(t *testing.T, s *Game, goal trace.Code) {
	t.Helper()
	_, out := s.Update(tuitest.KeyMsg("f"))
	shown, is := out.To.(screen.FindingMsg)
	if !is || !shown.Own {
		t.Fatalf("f leads to %+v", out.To)
	}
	text := tried.Elsewhere(s.debrief.Lock, shown.Trace, s.debrief.Same, goal)
	if shown.From < 1 || shown.From > len(shown.Trace.Events) {
		t.Fatalf("f leads to position %d of %d", shown.From, len(shown.Trace.Events))
	}
	if e := &shown.Trace.Events[shown.From-1]; !slices.Contains(shown.Trace.Verdict(), goal) && !strings.Contains(strings.ToLower(text), "at "+trace.Brief(e.At)) {
		t.Errorf("f leads to %s, and the debrief says %q", shown.Trace.Line(e), text)
	}
	without, with, _ := strings.Cut(text, ", but ")
	without, _, _ = strings.Cut(without, ". ")
	with, _, _ = strings.Cut(with, ". ")
	for _, c := range trace.Codes {
		named := fmt.Sprintf("%s (%s)", c.Name(), c)
		if has := slices.Contains(shown.Trace.Verdict(), c); has != strings.Contains(with, named) || c == goal && has == strings.Contains(without, "no "+named) {
			t.Errorf("the run has %s, and the debrief says %q", shown.Trace.Verdict(), text)
		}
	}
	if strings.HasPrefix(text, "The same moves") && places(shown.Trace) != places(s.Run.Trace) {
		t.Errorf("the debrief says %q of\n%s\n%s", text, places(s.Run.Trace), places(shown.Trace))
	}
}

// places are the clients' acts in their order, without replies, results and the probe, which the lock decides.
func places(t *trace.Trace) string {
	var b strings.Builder
	for i := range t.Events {
		switch e := &t.Events[i]; e.Kind {
		case trace.KindAcquire, trace.KindSend, trace.KindRelease, trace.KindReceive, trace.KindTimeout, trace.KindPause, trace.KindEnter, trace.KindLeave, trace.KindRead:
			if t.Clients[e.Client] != trace.Probe {
				fmt.Fprintf(&b, "%s %s %s; ", trace.Brief(e.At), t.Clients[e.Client], e.Kind)
			}
		}
	}
	return b.String()
}

// A reader's own order of moves is kept with the other lock: B asks while A still waits for its reply.
func TestOwnMovesKeepTheirOrder(t *testing.T) {
	a, s := openLevel(t, "setnx-expire.PD.reply-lost")
	lose := slices.IndexFunc(s.options, func(o option) bool { return strings.HasSuffix(o.name, ", and the reply is lost") && o.client == 0 })
	s.at = lose
	a.Press("enter")
	for _, move := range []string{"B: SETNX", "B: reads the reply: 0", "time to 3s", "A: no reply"} {
		do(t, a, s, move)
	}
	if !s.won() {
		t.Fatal("these moves win:\n" + a.View())
	}
	isTrue(t, s, trace.PD)
	clients := 0
	for i := range s.debrief.Run.Events {
		e := &s.debrief.Run.Events[i]
		if e.Kind == trace.KindPause {
			t.Errorf("nobody was paused: %s", s.debrief.Run.Line(e))
		}
		if want := []time.Duration{3 * time.Second, 0}; (e.Kind == trace.KindTimeout || e.Kind == trace.KindRefused) && e.Client < len(want) {
			if clients++; e.At != want[e.Client] {
				t.Errorf("at another time than in the game: %s", s.debrief.Run.Line(e))
			}
		}
	}
	if text := tried.Elsewhere(s.debrief.Lock, s.debrief.Run, s.debrief.Same, trace.PD); clients != 2 || !strings.HasPrefix(text, "The same moves") || !strings.Contains(text, "A's record expires at 12.001s, and the probe, which was refused and asks again a lease (12s) after that expiry, gets the lock at 24.001s") {
		t.Errorf("says %q", text)
	}
	if at := tried.Decided(s.debrief.Run, trace.PD); s.debrief.Run.Events[at-1].Kind != trace.KindExpire {
		t.Errorf("the other lock's run opens at %s: the record's expiry is what differs", s.debrief.Run.Line(&s.debrief.Run.Events[at-1]))
	}
	a.Press("down")
	if v := tuitest.Unwrapped(a.View()); !strings.Contains(v, "but a false refusal (FN)") {
		t.Error(a.View())
	}
}

// With the same moves the other lock comes to the decision that the first got wrong.
func TestSameMovesReachTheDecision(t *testing.T) {
	testenv.LongRaced(t)
	for name, want := range map[string]string{"get-then-del.FR.pause": "EVALSHA", "naive-del.FR.pause": "EVALSHA", "setpx-lua.SW.pause": "WRITE"} {
		a, s := openLevel(t, name)
		win(t, a, s)
		e := s.debrief.Run.Events
		last := e[len(e)-1]
		if text := strings.ToUpper(trace.CommandText(last.Args) + last.Kind.String()); !strings.Contains(text, want) && !(want == "WRITE" && last.Kind == trace.KindReject) {
			t.Errorf("%s ends with %s", name, s.debrief.Run.Line(&last))
		}
	}
}

// Games within the search's own bounds are won by hints as well.
func TestHintsLeadThere(t *testing.T) {
	testenv.Long(t)
	for _, c := range []struct {
		strategy string
		goal     trace.Code
	}{{"setpx-lua", trace.OV}, {"naive-del", trace.DG}, {"timestamp-del", trace.FR}} {
		a, s := openOwn(t, c.strategy, c.goal)
		win(t, a, s)
		if _, out := s.Update(tuitest.KeyMsg("f")); (out.To != nil) != s.replayed() {
			t.Errorf("%v: f leads to %v", c, out.To)
		}
		if v := s.Run.Verdict(); !slices.Contains(v, c.goal) {
			t.Errorf("%v: the guide says that this is it, and the monitors say %s", c, v)
		}
	}
}

func TestHintsSayWhenItIsTooLate(t *testing.T) {
	a, s := openOwn(t, "setpx-lua", trace.OV)
	first := s.hint
	do(t, a, s, "A: crashes") // the only crash; a pause is left, and nobody to pause
	if v := tuitest.Unwrapped(a.View()); s.hint.Reachable || !strings.Contains(v, "Out of reach since your move 1;") {
		t.Errorf("%+v\n%s", s.hint, a.View())
	}
	do(t, a, s, "B: reads its") // which changes nothing
	if a.Press("i"); s.hint.Reachable || !strings.Contains(s.Notice, "went out of reach with your move 1:") {
		t.Error(s.Notice)
	}
	known := s.distances[s.here.Parent]
	delete(s.distances, s.here.Parent) // as when the game was left here
	if v := tuitest.Unwrapped(a.View()); !strings.Contains(v, "Out of reach since your move 2, or one before it;") {
		t.Errorf("it is not known of move 1 that it is too late after it:\n%s", v)
	}
	s.distances[s.here.Parent] = known
	if a.Press("u u"); s.hint.Steps != first.Steps {
		t.Errorf("after the undo it is %+v, and was %+v", s.hint, first)
	}
	for _, move := range []string{"A: reads its", "A: SET", "B: reads its", "B: SET"} {
		do(t, a, s, move)
	}
	if slices.ContainsFunc(s.options, func(o option) bool { return o.moves[0].Wait > 0 }) {
		t.Errorf("it is offered to pause both:\n%s", a.View())
	}
	both, _ := s.wait(time.Second) // as a schedule that was pasted might
	s.try(both)
	a.Do(s.ask())
	if v := tuitest.Unwrapped(a.View()); s.refused == nil || !strings.Contains(v, "Against the rules: that takes more pauses than the bounds have; u takes it back") {
		t.Errorf("the rules are broken, and the screen doesn't say so:\n%s", a.View())
	}
}

// A lock that can't be broken is said to be one, at once.
func TestHintsKnowWhatCannotBe(t *testing.T) {
	testenv.LongRaced(t)
	a, s := openOwn(t, "setnx", trace.OV) // it has no expiry: nobody else ever gets in
	if v := tuitest.Unwrapped(a.View()); s.par.Reachable || !strings.Contains(v, "No schedule with at most 1 crash of a client and 1 pause of a client gets") {
		t.Errorf("%+v\n%s", s.par, a.View())
	}
}

// A deadlock is judged at the end. Once all that is to go wrong has gone wrong, what is stored looks like the goal already: who has still to
// act is said then.
func TestDeadlockSaysWhoIsStillToAct(t *testing.T) {
	a, s := openLevelIn(t, 80, 24, tuitest.PlainTheme(false), "setnx-expire.PD.reply-lost")
	for _, want := range []string{"", " Not won yet: A and B are not finished. Best found from here: 4 moves.", " Not won yet: A and B are not finished. Best found from here: 3 moves.",
		" Not won yet: B has still to ask. Best found from here: 2 moves.", " Not won yet: B is not finished. Best found from here: 1 move."} {
		who, _, _ := strings.Cut(want, " Best")
		if v := a.View(); !strings.Contains(v, who) {
			t.Errorf("after %d moves there is no %q:\n%s", s.here.Depth, who, v)
		}
		a.Press("i")
		if v := a.View(); !strings.Contains(v, want) {
			t.Errorf("with a hint after %d moves there is no %q:\n%s", s.here.Depth, want, v)
		}
		a.Press("i enter")
	}
	if v := a.View(); !s.won() || strings.Contains(v, "Not won yet") {
		t.Errorf("won: %t, and it says\n%s", s.won(), v)
	}
	a, s = openLevelIn(t, 80, 24, tuitest.PlainTheme(false), "naive-del.FR.pause")
	for !s.won() {
		if a.Press("i i enter"); strings.Contains(a.View(), "Not won yet") {
			t.Errorf("another goal waits for nobody:\n%s", a.View())
		}
	}
}

// Enter, pressed once more than it took to come here, makes no move: it shows which one it would make.
func TestEnterIsSafeOnArrival(t *testing.T) {
	testenv.LongRaced(t)
	a, s := openLevelIn(t, 80, 24, tuitest.PlainTheme(false), "setnx-expire.PD.reply-lost")
	for _, again := range []bool{false, true} {
		if again {
			if err := s.play(s.level + 1); err != nil {
				t.Fatal(err)
			}
			a.Do(s.ask())
		}
		if v := a.View(); strings.Contains(v, s.Theme.Pointer+" 1 ") {
			t.Errorf("a move is chosen already:\n%s", v)
		}
		if a.Press("enter"); s.here.Depth != 0 || !strings.Contains(a.View(), s.Theme.Pointer+" 1 ") || !strings.Contains(a.View(), "enter again makes the move at") {
			t.Errorf("enter, on arrival, leads to\n%s", a.View())
		}
	}
	if a.Press("enter"); s.here.Depth != 1 {
		t.Errorf("enter again makes no move:\n%s", a.View())
	}
}

// Which move is the right one is not to be seen by how far the goal is after it: that comes with a hint, and the best from the start stands in its place.
func TestDistanceComesWithAHint(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}} {
		a, s := openLevelIn(t, size[0], size[1], tuitest.PlainTheme(false), "naive-del.FR.pause")
		best := debrief.Cost(s.parMoves, s.par.Cost)
		for range 3 {
			if v := tuitest.Unwrapped(a.View()); strings.Contains(v, "Best found from here") || !strings.Contains(v, ": "+best) {
				t.Errorf("%v: after %d moves:\n%s", size, s.here.Depth, v)
			}
			a.Press("i")
			if v := tuitest.Unwrapped(a.View()); s.here.Depth > 0 && !strings.Contains(v, "Best found from here: ") {
				t.Errorf("%v: a hint after %d moves:\n%s", size, s.here.Depth, v)
			}
			a.Press("i enter")
		}
	}
}

// Who opens a level that is won is told the key that starts it anew; who wins it just then has other things to read.
func TestWonLevelSaysHowToStartAnew(t *testing.T) {
	const anew = "You have won this one: g starts it anew"
	a, s := openLevelIn(t, 80, 24, tuitest.PlainTheme(false), "naive-del.FR.pause")
	for range 20 {
		if a.Press("i i enter"); s.won() {
			break
		}
	}
	if v := a.View(); !s.won() || strings.Contains(v, anew) {
		t.Errorf("just won:\n%s", v)
	}
	if err := s.play(s.level); err != nil {
		t.Fatal(err)
	}
	a.Do(s.ask())
	if v := a.View(); !s.won() || !strings.Contains(v, anew) {
		t.Errorf("opened again:\n%s", v)
	}
	if a.Press("g"); s.here != s.root || strings.Contains(a.View(), anew) {
		t.Errorf("started anew:\n%s", a.View())
	}
}

// What a win counts is said before the first move, in the words in which the score is told then.
func TestScoreIsAnnounced(t *testing.T) {
	for _, name := range []string{"setnx-expire.PD.reply-lost", "naive-del.FR.pause", "timestamp-del.DG.crash"} {
		a, s := openLevelIn(t, 80, 24, tuitest.PlainTheme(false), name)
		cost := debrief.Cost(s.parMoves, s.par.Cost)
		if want := ": " + cost + ": can you match it?"; !strings.Contains(a.View(), want) {
			t.Errorf("%s: there is no %q in\n%s", name, want, a.View())
		}
	}
}

// An answer that comes late is not taken for one to the question of now.
func TestLateHintIsDropped(t *testing.T) {
	_, s := openLevel(t, "get-then-del.FR.pause")
	late := s.ask()
	s.try(s.options[0])
	s.ask()
	if s.Update(late()); s.known {
		t.Error("the hint for another place is shown")
	}
	if text, _ := s.outlook(80); text != "Thinking." {
		t.Errorf("says %q", text)
	}
}

// A hint that was asked for too early comes with the answer, unless another key was pressed since.
func TestEarlyHintComes(t *testing.T) {
	for key, want := range map[string]string{"i": "Hint: A has not asked yet: what would it find? i again names the move.", "down": ""} {
		_, s := openLevel(t, "get-then-del.FR.pause")
		late := s.ask()
		s.Update(tuitest.KeyMsg("i"))
		s.Update(tuitest.KeyMsg(key))
		if key == "i" && !strings.HasPrefix(s.Notice, "Thinking") {
			t.Errorf("says %q", s.Notice)
		}
		if s.Update(late()); s.Notice != want {
			t.Errorf("%s: with the answer it says %q", key, s.Notice)
		}
	}
}

// Every kind of fault that the bounds have can be made, and is one that searches make.
func TestEveryFaultHasItsMove(t *testing.T) {
	testenv.Long(t)
	app := tuitest.RealApp(tuitest.LocksOnly(), tuitest.PlainTheme(false))
	for _, kinds := range [][]explore.FaultKind{{explore.Crash, explore.Pause, explore.ReplyLost, explore.HoldRequest, explore.Duplicate}, {explore.Restart, explore.Evict, explore.ServerClock, explore.ClientClock}, {explore.Failover}} {
		st := app.Library.Strategy("timestamp-del")
		b := explore.Defaults(app.Library.Strategies[st])
		b.Cycles = 1
		b.Faults = explore.Budget{}
		for _, k := range kinds {
			b.Faults[k] = 1
		}
		s, err := NewChallenge(app, screen.ChallengeMsg{Strategy: st, Bounds: b})
		if err != nil {
			t.Fatal(err)
		}
		a := tuitest.Open(t, 120, 40, app, s, nil)
		a.Press("1 1 1")
		s.at = slices.IndexFunc(s.options, func(o option) bool { return o.client == 1 })
		a.Press("enter") // the next one of B sends a command
		here, faults := s.here, 0
		for _, o := range slices.Clone(s.options) {
			s.try(o)
			if s.here == here {
				t.Errorf("%q is listed, and can't be made: %s", o.name, s.Notice)
				continue
			}
			if strings.HasSuffix(o.name, ", and the reply is lost") && !strings.Contains(o.name, "SETNX") {
				t.Errorf("%q sends nothing whose reply could be lost", o.name)
			}
			if o.moves[0].Fault != nil {
				faults++
			}
			a.Do(s.ask())
			if s.refused != nil && !strings.Contains(s.refused.Error(), "than the bounds have") {
				t.Errorf("%s: %v", o.name, s.refused)
			}
			s.goTo(here)
		}
		if want := len(kinds) - 1; faults < want { // pauses are no moves of their own
			t.Errorf("%v: only %d faults", kinds, faults)
		}
	}
}

// The next level comes after a win, and the moves under the other lock are on a key.
func TestAfterTheWin(t *testing.T) {
	a, s := openLevel(t, "setpx-lua.FN.reply-lost")
	win(t, a, s)
	if _, out := s.Update(tuitest.KeyMsg("f")); out.To == nil {
		t.Error("the other run isn't shown:", s.Notice)
	} else if m := out.To.(screen.FindingMsg); a.Library.Strategies[m.Strategy].Name != "setpx-get" {
		t.Errorf("%+v", m)
	}
	if a.Press("enter"); s.cfg.Strategy.Name != "setpx-lua" || s.goal != trace.SW || s.here.Depth != 0 {
		t.Errorf("the next level is %s for %s\n%s", s.cfg.Strategy.Name, s.goal, a.View())
	}
}

func TestLevelScreens(t *testing.T) {
	testenv.LongRaced(t)
	tuitest.EachFrame(t, "level", func(t *testing.T, name string, w, h int, th *draw.Theme) {
		a, _ := openLevelIn(t, w, h, th, "naive-del.FR.pause")
		a.Press("i i enter i i enter i i enter")
		tuitest.Golden(t, name, a.View())
	})
}

// A hint, from the question to the answer, at the beginning: nothing is remembered yet.
func BenchmarkHint(b *testing.B) {
	for b.Loop() {
		_, s := openOwn(b, "getset-expired", trace.SW)
		if s.refused != nil {
			b.Fatal(s.refused)
		}
		s.adviser.Close()
	}
}
