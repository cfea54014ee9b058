package game

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/progress"
	"lockstep/tui/screen"
	"lockstep/tui/tried"
	"lockstep/tui/tuitest"
)

// openRun takes over a real run at a position.
func openRun(t testing.TB, strategy, scenario string, pos int) (*tuitest.App, *Game) {
	return openRunIn(t, 120, 40, tuitest.PlainTheme(false), strategy, scenario, pos)
}

func openRunIn(t testing.TB, w, h int, th *draw.Theme, strategy, scenario string, pos int) (*tuitest.App, *Game) {
	st := tuitest.RealApp(screen.NewLibrary(), th)
	msg := screen.SandboxMsg{Strategy: st.Library.Strategy(strategy), Scenario: st.Library.Named(scenario), Pos: pos}
	var err error
	if msg.Trace, err = st.Library.Run(st.Library.Scenarios[msg.Scenario], st.Library.Strategies[msg.Strategy], 1); err != nil {
		t.Fatal(err)
	}
	s, err := New(st, msg)
	if err != nil {
		t.Fatal(err)
	}
	return tuitest.Open(t, w, h, st, s, nil), s
}

// do makes the first move whose name begins so.
func do(t testing.TB, a *tuitest.App, s *Game, what string) {
	t.Helper()
	var names []string
	for i, o := range s.options {
		if strings.HasPrefix(o.name, what) {
			s.at = i
			a.Press("enter")
			return
		}
		names = append(names, o.name)
	}
	t.Fatalf("there is no move %q among %q", what, names)
}

func TestGameScreens(t *testing.T) {
	tuitest.EachFrame(t, "run", func(t *testing.T, name string, w, h int, th *draw.Theme) {
		a, _ := openRunIn(t, w, h, th, "setnx", "crash-holding", 3) // a run that is not likely to change
		a.Press("down enter down enter")
		tuitest.Golden(t, name, a.View())
	})
}

// Moves are named by what they do, whatever the lock.
func TestMovesAreNamedByWhatTheyDo(t *testing.T) {
	testenv.LongRaced(t)
	a, s := openLevel(t, "get-then-del.FR.pause")
	for _, want := range []string{"A: SET lock", "A: reads the reply: OK", "A: enters the critical section", "A: does its work, and leaves", "A: GET lock",
		"A: reads the reply: A1", "time to 12.001s: A's record expires (A is paused)", "B: SET lock", "A: DEL lock"} {
		do(t, a, s, want)
	}
	if !s.won() {
		t.Errorf("these are the moves that win:\n%s", a.View())
	}
	if v := a.View(); !strings.Contains(v, "get_then_del.go:") || !strings.Contains(v, "l.rdb.Del(ctx, l.key).Err()") {
		t.Errorf("the line isn't named:\n%s", v)
	}
}

func TestGameGetsTwoClientsIn(t *testing.T) {
	a, s := openRun(t, "setpx-lua", "pause-past-ttl", 0)
	enter := func(client int, name string) {
		for n := 0; s.State.Clients[client].Phase != trace.PhaseWork; n++ {
			if n > 40 {
				t.Fatalf("%s never gets in:\n%s", name, a.View())
			}
			move := "time to"
			if s.next[client].moves != nil {
				move = s.next[client].name
			}
			do(t, a, s, move)
		}
	}
	enter(0, "A")
	for n := 0; s.State.LockRecord(0) != nil; n++ {
		if n > 20 {
			t.Fatalf("the record never expires:\n%s", a.View())
		}
		do(t, a, s, "time to")
	}
	enter(1, "B")
	if v := a.View(); !strings.Contains(v, "OVERLAPPING CRITICAL SECTIONS") {
		t.Errorf("two are in, and the screen doesn't shout:\n%s", v)
	}
}

func TestUndoGoesBackAnyNumberOfMoves(t *testing.T) {
	a, s := openRun(t, "naive-del", "late-release", 0)
	var hashes []string
	for i := range 10 {
		hashes = append(hashes, s.Run.Hash)
		s.at = i % min(len(s.options), 3)
		a.Press("enter")
		if s.here.Depth != i+1 {
			t.Fatalf("after %d moves it has %d: %s", i+1, s.here.Depth, s.Notice)
		}
	}
	last := s.Run.Hash
	for i := len(hashes) - 1; i >= 0; i-- {
		if a.Press("u"); s.Run.Hash != hashes[i] {
			t.Fatalf("undo to move %d gives another run", i)
		}
	}
	for range hashes {
		a.Press("U")
	}
	if s.Run.Hash != last {
		t.Error("redo does not come back to where it was")
	}
}

func TestBranchesAreKept(t *testing.T) {
	a, s := openRun(t, "setnx", "crash-holding", 0)
	do(t, a, s, "A: ")
	one := s.Run.Hash
	a.Press("u")
	do(t, a, s, "B: ")
	two := s.Run.Hash
	if one == two {
		t.Fatal("it makes no difference who steps")
	}
	if !strings.Contains(a.View(), "in place of your last move you have tried 1 other: ] goes there") {
		t.Errorf("the branches are not told:\n%s", a.View())
	}
	for _, want := range []string{one, two, one} {
		if a.Press("]"); s.Run.Hash != want {
			t.Error("the branch keys don't go round")
		}
	}
	a.Press("u")
	do(t, a, s, "A: ") // the same again is no third branch
	if n := len(s.here.Parent.Tried); n != 2 {
		t.Errorf("%d branches", n)
	}
}

// Nothing that was tried is lost: the game that is opened next time has all branches, and
// stands where the last one was left. No key has to be pressed for that, so neither esc nor
// a crash makes a difference.
func TestNothingTriedIsLost(t *testing.T) {
	a, s := openLevel(t, "get-then-del.FR.pause")
	a.Press("1 1 u 2 u 3 1 down")
	hash, tree := s.Run.Hash, shape(s.root)
	path := filepath.Join(t.TempDir(), "progress.json")
	files := progress.Open(path)
	s.Progress = files
	s.keep()
	for name, store := range map[string]*progress.Store{"session": files, "file": progress.Open(path)} {
		app := tuitest.RealApp(tuitest.LocksOnly(), tuitest.PlainTheme(false))
		app.Progress = store
		again, err := NewLevel(app, s.level)
		if err != nil {
			t.Fatal(err)
		}
		if got := shape(again.root); again.Run.Hash != hash || got != tree {
			t.Errorf("%s: it comes back as %s, and was %s", name, got, tree)
		}
	}
}

// A game that can't be read is set aside, and said to be; the game begins anew.
func TestBrokenGameIsSetAside(t *testing.T) {
	dir := t.TempDir()
	for _, text := range []string{"{", `{"setup":"x"}`} {
		app := tuitest.RealApp(tuitest.LocksOnly(), tuitest.PlainTheme(false))
		app.Progress = progress.Open(filepath.Join(dir, "progress.json"))
		app.Progress.KeepGame("setnx.PD.crash", []byte(text))
		s, err := NewLevel(app, 0)
		if err != nil || !strings.Contains(s.Notice, "set aside") || s.here.Depth > 0 {
			t.Errorf("%v, %q", err, s.Notice)
		}
		if kept, err := os.ReadFile(filepath.Join(dir, "games", "setnx.PD.crash.json.old")); err != nil || string(kept) != text {
			t.Errorf("%s, %v", kept, err)
		}
	}
}

// shape is a tree as text.
func shape(b *tried.Branch) string {
	text := fmt.Sprint(b.Made, b.Last)
	for _, c := range b.Tried {
		text += "(" + shape(c) + ")"
	}
	return text
}

// Where one takes over, the run so far is the very one that one was looking at.
func TestGameBeginsWithTheRunSoFar(t *testing.T) {
	testenv.LongRaced(t)
	for _, cell := range [][2]string{{"get-then-del", "release-gap"}, {"redlock", "restart-no-fsync"}, {"setpx-lua", "pause-past-ttl"}, {"setnx-expire", "crash-mid-acquire"},
		{"setpx-lua", "stampede"}, {"setpx-wait", "failover"}, {"watchdog", "watchdog-dies"}} {
		lib := screen.NewLibrary()
		full, err := lib.Run(lib.Scenarios[lib.Named(cell[1])], lib.Strategies[lib.Strategy(cell[0])], 1)
		if err != nil {
			t.Fatal(err)
		}
		script := slices.IndexFunc(full.Events, func(e trace.Event) bool { // what comes after it is the engine's own
			return e.Kind == trace.KindStop || e.Client != trace.None && full.Clients[e.Client] == trace.Probe
		})
		for pos := 0; pos <= script; pos += 19 {
			_, s := openRun(t, cell[0], cell[1], pos)
			got := s.Run.Trace
			if len(got.Events) < pos {
				t.Fatalf("%v at %d: only %d events", cell, pos, len(got.Events))
			}
			for i := range got.Events {
				own := full.Events[i]
				if own.Held() { // where the reader decides who acts, it is no script that has a client wait
					own.Note = got.Events[i].Note
				}
				full.Events[i] = own
				if g, w := got.Line(&got.Events[i]), full.Line(&full.Events[i]); g != w {
					t.Fatalf("%v at %d, event %d:\n%s\n%s", cell, pos, i+1, g, w)
				}
			}
		}
	}
}

func TestGameTakesSchedules(t *testing.T) {
	_, s := openRun(t, "setpx-lua", "pause-past-ttl", 20)
	text, hash := s.Run.Trace.Schedule, s.Run.Trace.Hash
	b, other := openRun(t, "setnx", "crash-holding", 0)
	msg := tuitest.KeyMsg("  " + text + "\n")
	msg.Paste = true
	b.Send(msg)
	if other.Run.Trace.Hash != hash {
		t.Errorf("the pasted schedule gives another run: %s", other.Notice)
	}
	if !strings.Contains(b.View(), "with setpx-lua") {
		t.Errorf("the header keeps the old strategy:\n%s", b.View())
	}
	msg = tuitest.KeyMsg("lockstep1,setpx-lau,x")
	msg.Paste = true
	b.Send(msg)
	if !strings.Contains(b.View(), `did you mean "setpx-lua"`) || other.Run.Trace.Hash != hash {
		t.Errorf("a wrong schedule is not refused with a reason:\n%s", b.View())
	}
}

func TestGameIsWrittenToAFile(t *testing.T) {
	t.Chdir(t.TempDir())
	a, s := openRun(t, "setnx", "crash-holding", 10)
	a.Press("x enter")
	text, err := os.ReadFile("setnx-sandbox.txt")
	if err != nil || !strings.Contains(string(text), s.Run.Schedule) {
		t.Errorf("%v: %s", err, text)
	}
	if !strings.Contains(a.View(), "Written to ./setnx-sandbox.txt") {
		t.Errorf("the screen doesn't say so:\n%s", a.View())
	}
}

// An undo, from the key to the frame: the run is replayed.
func BenchmarkUndo(b *testing.B) {
	a, s := openRun(b, "redlock", "restart-no-fsync", 60)
	for b.Loop() {
		a.Press("u")
		_ = a.View()
		b.StopTimer()
		a.Press("U")
		b.StartTimer()
	}
	b.ReportMetric(float64(s.here.Depth), "moves")
}

// The instant at which a client can go on, because a reply has come, can be chosen: time needn't pass it, which would
// pause the client.
func TestTimePassesToTheReply(t *testing.T) {
	a, s := openRun(t, "naive-del", "late-release", 26)
	do(t, a, s, "time to 15.002s: A can go on")
	do(t, a, s, "A: reads the reply: 1")
	if s.State.Clients[0].Paused || s.now != 15002*time.Millisecond {
		t.Errorf("A was paused, or it is later, at %s:\n%s", s.now, a.View())
	}
}

// A client that was paused by the passing of time can't be paused again, which would change nothing: its step ends
// the pause, and says so.
func TestPausedClientIsNotPausedAgain(t *testing.T) {
	a, s := openRun(t, "naive-del", "clock-skew", 13)
	if !s.State.Clients[0].Paused {
		t.Fatalf("A is not paused:\n%s", a.View())
	}
	for _, o := range s.options {
		if o.name == "A: is paused" {
			t.Errorf("A can be paused twice:\n%s", a.View())
		}
	}
	do(t, a, s, "A: writes the resource (its pause ends)")
	if s.State.Clients[0].Paused {
		t.Errorf("A is still paused:\n%s", a.View())
	}
	do(t, a, s, "B: is paused")
	do(t, a, s, "B: goes on")
}
