package tui

import (
	"os"
	"slices"
	"strings"
	"testing"

	"lockstep/sim"
)

// openSandbox takes over a real run at a position.
func openSandbox(t testing.TB, strategy, scenario string, pos int) (*tester, *sandbox) {
	return openSandboxIn(t, 120, 40, plainTheme(false), strategy, scenario, pos)
}

func openSandboxIn(t testing.TB, w, h int, th *theme, strategy, scenario string, pos int) (*tester, *sandbox) {
	st := realStage(newLibrary(), th)
	msg := sandboxMsg{strategy: st.lib.strategy(strategy), scenario: st.lib.named(scenario), pos: pos}
	var err error
	if msg.trace, err = st.lib.run(st.lib.scenarios[msg.scenario], st.lib.strategies[msg.strategy], 1); err != nil {
		t.Fatal(err)
	}
	s, err := newSandbox(st, msg)
	if err != nil {
		t.Fatal(err)
	}
	return open(t, w, h, st, s, nil), s
}

// do makes a move by the names of who and what.
func do(t testing.TB, a *tester, s *sandbox, who, what string) {
	t.Helper()
	for i, row := range s.rows {
		for j, c := range row.choices {
			if row.name == who && c.name == what {
				s.row, s.col = i, j
				a.press("enter")
				return
			}
		}
	}
	t.Fatalf("%s can't be made to %s", who, what)
}

func TestSandboxScreens(t *testing.T) {
	eachFrame(t, "sandbox", func(t *testing.T, name string, w, h int, th *theme) {
		a, _ := openSandboxIn(t, w, h, th, "setnx", "crash-holding", 3) // a run that is not likely to change
		a.press("down enter down down enter")
		golden(t, name, a.View())
	})
}

func TestSandboxGetsTwoClientsIn(t *testing.T) {
	a, s := openSandbox(t, "setpx-lua", "pause-past-ttl", 0)
	for s.now.Clients[0].Phase != sim.PhaseWork {
		do(t, a, s, "A", "step")
	}
	do(t, a, s, "time", "a lease: 10s")
	do(t, a, s, "time", "1s")
	for s.now.Clients[1].Phase != sim.PhaseWork {
		do(t, a, s, "B", "step")
	}
	if v := a.View(); !strings.Contains(v, "OVERLAPPING CRITICAL SECTIONS") {
		t.Errorf("two are in, and nobody shouts:\n%s", v)
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
		hashes = append(hashes, s.reel.Hash)
		what := "step"
		if step == "time" {
			what = "1s"
		}
		do(t, a, s, step, what)
		if s.here.depth != i+1 {
			t.Fatalf("after %d moves it has %d: %s", i+1, s.here.depth, s.notice)
		}
	}
	last := s.reel.Hash
	for i := len(hashes) - 1; i >= 0; i-- {
		if a.press("u"); s.reel.Hash != hashes[i] {
			t.Fatalf("undo to move %d gives another run", i)
		}
	}
	for range hashes {
		a.press("U")
	}
	if s.reel.Hash != last {
		t.Error("redo does not come back to where it was")
	}
}

func TestSandboxKeepsBranches(t *testing.T) {
	a, s := openSandbox(t, "setnx", "crash-holding", 0)
	do(t, a, s, "A", "step")
	one := s.reel.Hash
	a.press("u")
	do(t, a, s, "B", "step")
	two := s.reel.Hash
	if one == two {
		t.Fatal("it makes no difference who steps")
	}
	if !strings.Contains(a.View(), "Branch 2 of 2") {
		t.Errorf("the branches are not told:\n%s", a.View())
	}
	for _, want := range []string{one, two, one} {
		if a.press("]"); s.reel.Hash != want {
			t.Error("the branch keys don't go round")
		}
	}
	a.press("u")
	do(t, a, s, "A", "step") // the same again is no third branch
	if n := len(s.here.parent.tried); n != 2 {
		t.Errorf("%d branches", n)
	}
}

// Where one takes over, the run so far is the very one that one was looking at.
func TestSandboxBeginsWithTheRunSoFar(t *testing.T) {
	for _, cell := range [][2]string{{"get-then-del", "release-gap"}, {"redlock", "restart-no-fsync"}, {"setpx-lua", "pause-past-ttl"}, {"setnx-expire", "crash-mid-acquire"},
		{"setpx-lua", "stampede"}, {"setpx-wait", "failover"}, {"watchdog", "watchdog-dies"}} {
		lib := newLibrary()
		full, err := lib.run(lib.scenarios[lib.named(cell[1])], lib.strategies[lib.strategy(cell[0])], 1)
		if err != nil {
			t.Fatal(err)
		}
		script := slices.IndexFunc(full.Events, func(e sim.Event) bool { // what comes after it is the engine's own
			return e.Kind == sim.KindStop || e.Client != sim.None && full.Clients[e.Client] == sim.Probe
		})
		for pos := 0; pos <= script; pos += 7 {
			_, s := openSandbox(t, cell[0], cell[1], pos)
			got := s.reel.Trace
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
	text, hash := s.reel.Trace.Schedule, s.reel.Trace.Hash
	b, other := openSandbox(t, "setnx", "crash-holding", 0)
	msg := keyMsg("  " + text + "\n")
	msg.Paste = true
	b.send(msg)
	if other.reel.Trace.Hash != hash {
		t.Errorf("the pasted schedule gives another run: %s", other.notice)
	}
	if !strings.Contains(b.View(), "with setpx-lua") {
		t.Errorf("the header keeps the old strategy:\n%s", b.View())
	}
	msg = keyMsg("lockstep1,setpx-lau,x")
	msg.Paste = true
	b.send(msg)
	if !strings.Contains(b.View(), `did you mean "setpx-lua"`) || other.reel.Trace.Hash != hash {
		t.Errorf("a wrong schedule is not refused with a reason:\n%s", b.View())
	}
	do(t, a, s, "A", "lose reply")
	if !strings.Contains(s.notice, "can't be done") || len(s.here.tried) > 0 {
		t.Errorf("losing a reply that is not under way: %q", s.notice)
	}
}

func TestSandboxIsWrittenToAFile(t *testing.T) {
	t.Chdir(t.TempDir())
	a, s := openSandbox(t, "setnx", "crash-holding", 10)
	a.press("x enter")
	text, err := os.ReadFile("setnx-sandbox.txt")
	if err != nil || !strings.Contains(string(text), s.reel.Schedule) {
		t.Errorf("%v: %s", err, text)
	}
	if !strings.Contains(a.View(), "Written to ./setnx-sandbox.txt") {
		t.Errorf("nobody is told:\n%s", a.View())
	}
}

// An undo, from the key to the frame: the run is replayed.
func BenchmarkSandboxUndo(b *testing.B) {
	a, s := openSandbox(b, "redlock", "restart-no-fsync", 60)
	for b.Loop() {
		a.press("u")
		_ = a.View()
		b.StopTimer()
		a.press("U")
		b.StartTimer()
	}
	b.ReportMetric(float64(s.here.depth), "moves")
}
