package game

import (
	"os"
	"slices"
	"strings"
	"testing"

	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

// openSandbox takes over a real run at a position.
func openSandbox(t testing.TB, strategy, scenario string, pos int) (*tuitest.App, *Sandbox) {
	return openSandboxIn(t, 120, 40, tuitest.PlainTheme(false), strategy, scenario, pos)
}

func openSandboxIn(t testing.TB, w, h int, th *draw.Theme, strategy, scenario string, pos int) (*tuitest.App, *Sandbox) {
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

// do makes a move by the names of who and what.
func do(t testing.TB, a *tuitest.App, s *Sandbox, who, what string) {
	t.Helper()
	for i, row := range s.rows {
		for j, c := range row.choices {
			if row.name == who && c.name == what {
				s.row, s.col = i, j
				a.Press("enter")
				return
			}
		}
	}
	t.Fatalf("%s can't be made to %s", who, what)
}

func TestSandboxScreens(t *testing.T) {
	tuitest.EachFrame(t, "sandbox", func(t *testing.T, name string, w, h int, th *draw.Theme) {
		a, _ := openSandboxIn(t, w, h, th, "setnx", "crash-holding", 3) // a run that is not likely to change
		a.Press("down enter down down enter")
		tuitest.Golden(t, name, a.View())
	})
}

func TestSandboxGetsTwoClientsIn(t *testing.T) {
	a, s := openSandbox(t, "setpx-lua", "pause-past-ttl", 0)
	for s.State.Clients[0].Phase != trace.PhaseWork {
		do(t, a, s, "A", "step")
	}
	do(t, a, s, "time", "a lease: 10s")
	do(t, a, s, "time", "1s")
	for s.State.Clients[1].Phase != trace.PhaseWork {
		do(t, a, s, "B", "step")
	}
	if v := a.View(); !strings.Contains(v, "OVERLAPPING CRITICAL SECTIONS") {
		t.Errorf("two are in, and the screen doesn't shout:\n%s", v)
	}
	for i := 1; i < len(s.here.moves()); i++ {
		if m := s.here.moves()[i]; m.Count > mostSilent {
			t.Errorf("a step took %d", m.Count)
		}
	}
}

func TestSandboxUndoesAnyNumberOfMoves(t *testing.T) {
	a, s := openSandbox(t, "naive-del", "late-release", 0)
	var hashes []string
	for i, step := range strings.Fields("A A A A B time A A B A") {
		hashes = append(hashes, s.Run.Hash)
		what := "step"
		if step == "time" {
			what = "1s"
		}
		do(t, a, s, step, what)
		if s.here.depth != i+1 {
			t.Fatalf("after %d moves it has %d: %s", i+1, s.here.depth, s.Notice)
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

func TestSandboxKeepsBranches(t *testing.T) {
	a, s := openSandbox(t, "setnx", "crash-holding", 0)
	do(t, a, s, "A", "step")
	one := s.Run.Hash
	a.Press("u")
	do(t, a, s, "B", "step")
	two := s.Run.Hash
	if one == two {
		t.Fatal("it makes no difference who steps")
	}
	if !strings.Contains(a.View(), "Branch 2 of 2") {
		t.Errorf("the branches are not told:\n%s", a.View())
	}
	for _, want := range []string{one, two, one} {
		if a.Press("]"); s.Run.Hash != want {
			t.Error("the branch keys don't go round")
		}
	}
	a.Press("u")
	do(t, a, s, "A", "step") // the same again is no third branch
	if n := len(s.here.parent.tried); n != 2 {
		t.Errorf("%d branches", n)
	}
}

// Where one takes over, the run so far is the very one that one was looking at.
func TestSandboxBeginsWithTheRunSoFar(t *testing.T) {
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
		for pos := 0; pos <= script; pos += 7 {
			_, s := openSandbox(t, cell[0], cell[1], pos)
			got := s.Run.Trace
			if len(got.Events) < pos {
				t.Fatalf("%v at %d: only %d events", cell, pos, len(got.Events))
			}
			for i := range got.Events {
				if g, w := got.Line(&got.Events[i]), full.Line(&full.Events[i]); g != w {
					t.Fatalf("%v at %d, event %d:\n%s\n%s", cell, pos, i+1, g, w)
				}
			}
		}
	}
}

func TestSandboxTakesSchedules(t *testing.T) {
	a, s := openSandbox(t, "setpx-lua", "pause-past-ttl", 20)
	text, hash := s.Run.Trace.Schedule, s.Run.Trace.Hash
	b, other := openSandbox(t, "setnx", "crash-holding", 0)
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
	do(t, a, s, "A", "lose reply")
	if !strings.Contains(s.Notice, "can't be done") || len(s.here.tried) > 0 {
		t.Errorf("losing a reply that is not under way: %q", s.Notice)
	}
}

func TestSandboxIsWrittenToAFile(t *testing.T) {
	t.Chdir(t.TempDir())
	a, s := openSandbox(t, "setnx", "crash-holding", 10)
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
func BenchmarkSandboxUndo(b *testing.B) {
	a, s := openSandbox(b, "redlock", "restart-no-fsync", 60)
	for b.Loop() {
		a.Press("u")
		_ = a.View()
		b.StopTimer()
		a.Press("U")
		b.StartTimer()
	}
	b.ReportMetric(float64(s.here.depth), "moves")
}
