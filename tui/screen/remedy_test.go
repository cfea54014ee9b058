package screen_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/scenarios"
	"lockstep/sim/trace"
	"lockstep/tui/screen"
)

// TestRemediesAreRun has the author of a script expect what isn't so: what would have stopped a failure is
// what runs show.
func TestRemediesAreRun(t *testing.T) {
	pause, err := scenarios.Find("pause-past-ttl")
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join("..", "..", "scenarios", "scripts", "pause-past-ttl.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	script, _, _ := strings.Cut(string(text), "\nexpect:")
	lib, place := ownScript(t, script+"\nexpect:\n  - verdict: ok\n    under: [fenced, redlock]\n")
	own := lib.Scenarios[place]
	for _, sc := range []*scenarios.Scenario{own, pause} {
		at, lock := lib.Scenario(sc), lib.Strategy("setpx-lua")
		run, err := lib.Run(sc, lib.Strategies[lock], 1)
		if err != nil {
			t.Fatal(err)
		}
		if v := run.Verdict(); v.String() != "SW OV" {
			t.Fatalf("%s: setpx-lua shows %s: the test needs another scenario", sc.Name, v)
		}
		found := lib.Remedies(at, lock, run, nil)
		if r, any := found[trace.OV]; any {
			t.Errorf("%s: %s is said to withstand OV, and shows it in the run", sc.Name, r.Name)
		}
		r, any := found[trace.SW]
		if !any || r.Name != "fenced" || r.Still.String() != "OV" {
			t.Errorf("%s: against SW %+v is named; fenced stops that, and shows OV", sc.Name, r)
		}
		if text := r.Text("c"); text != "fenced shows no SW here, but OV: see why (c)." {
			t.Errorf("%s: %q doesn't say what it leaves", sc.Name, text)
		}
	}
}

// TestRemedyIsNoLockThatTheScriptHoldsUp has B go on until it is at work: under setpx-lua it is at once, after a failover. Under setpx-wait
// it is refused until A's lease is over, and A, in the critical section, is held up all the while. That isn't what the lock falls to.
func TestRemedyIsNoLockThatTheScriptHoldsUp(t *testing.T) {
	for retry, named := range map[string]bool{"": false, ", retry: {tries: 1}": true} {
		lib, place := ownScript(t, "title: x\nsetup: {clients: {A: {work: 3s}, B: {}}, ttl: 10s, replicas: 1, lag: 20ms"+retry+
			"}\nscript:\n  - {run: A, to: work}\n  - down: n1\n  - failover: {to: n1r1}\n  - {run: B, to: work}\n  - {run: all}\n")
		run, err := lib.Run(lib.Scenarios[place], lib.Strategies[lib.Strategy("setpx-lua")], 1)
		if err != nil {
			t.Fatal(err)
		}
		r, any := lib.Remedies(place, lib.Strategy("setpx-lua"), run, nil)[trace.DG]
		if is := any && r.Name == "setpx-wait"; is != named || !slices.Contains(run.Verdict(), trace.DG) {
			t.Errorf("with setup%q: %s under setpx-lua, and %+v is named", retry, run.Verdict(), r)
		}
	}
}

// TestRemediesAreNear has the simplest lock named that doesn't show a failure, and several servers only where a
// server fails: under fail-open redlock withstands because it calls servers that don't answer a refusal.
func TestRemediesAreNear(t *testing.T) {
	lib := screen.NewLibrary()
	for _, tt := range []struct {
		lock, scenario string
		want           map[trace.Code]string
	}{
		{"naive-del", "pause-past-ttl", map[trace.Code]string{trace.FR: "setpx-lua", trace.SW: "fenced"}},
		{"fenced", "fail-open", nil},
		{"setpx-lua", "fail-open", nil},
		{"setpx-lua", "failover", map[trace.Code]string{trace.DG: "setpx-wait", trace.OV: "setpx-wait"}},
		{"naive-del", "failover", map[trace.Code]string{trace.FR: "setpx-wait"}}, // setpx-lua, which is simpler, shows SW DG OV
		{"setpx-wait", "failover-wait", nil},                                     // of redlock's servers one goes down, and none has a replica
		{"redlock-no-elapsed", "slow-node", map[trace.Code]string{trace.DG: "redlock"}},
	} {
		sc, lock := lib.Named(tt.scenario), lib.Strategy(tt.lock)
		if sc < 0 || lock < 0 {
			t.Fatalf("no %s under %s", tt.lock, tt.scenario)
		}
		run, err := lib.Run(lib.Scenarios[sc], lib.Strategies[lock], 1)
		if err != nil {
			t.Fatal(err)
		}
		found := lib.Remedies(sc, lock, run, nil)
		t.Logf("%s %s: %s %+v", tt.lock, tt.scenario, run.Verdict(), found)
		for c, want := range tt.want {
			if found[c].Name != want {
				t.Errorf("%s under %s shows %s: against %s %q is named, want %q", tt.lock, tt.scenario, run.Verdict(), c, found[c].Name, want)
			}
		}
		if tt.want == nil && len(found) > 0 {
			t.Errorf("%s under %s shows %s: named are %+v", tt.lock, tt.scenario, run.Verdict(), found)
		}
	}
}

// TestRemediesOfTheCourse goes through its steps: a lock to which the lesson comes later is called that, with what it falls to where the
// course breaks it, and no lock is ticked that fails where every lock has to hold, in the course or outside.
func TestRemediesOfTheCourse(t *testing.T) {
	lib := screen.NewLibrary()
	broken := map[string]bool{} // in some step of the course
	for _, l := range lib.Lessons {
		for _, s := range l.Steps {
			for _, c := range s.Verdict {
				broken[s.Strategy] = broken[s.Strategy] || c.Failure()
			}
		}
	}
	ticked, next := map[string]bool{}, 0
	for _, l := range lib.Lessons {
		for i, s := range l.Steps {
			sc, lock := lib.Named(s.Scenario), lib.Strategy(s.Strategy)
			run, err := lib.Run(lib.Scenarios[sc], lib.Strategies[lock], 1)
			if err != nil {
				t.Fatal(err)
			}
			var goes []string
			for _, later := range l.Steps[i+1:] {
				if later.Scenario == s.Scenario {
					goes = append(goes, later.Strategy)
				}
			}
			for _, first := range [][]string{nil, goes} {
				for c, r := range lib.Remedies(sc, lock, run, first) {
					text := r.Text("c")
					if r.Recommended() {
						ticked[r.Name] = true
					}
					if several := lib.Strategies[r.Strategy].Nodes > 1 && lib.Strategies[lock].Nodes == 1; several != strings.Contains(text, " on 5 servers") {
						t.Errorf("%s, %s under %s: %s", l.Name, s.Strategy, s.Scenario, text)
					}
					is := slices.Contains(first, r.Name)
					if is != strings.Contains(text, "shown later in this lesson") {
						t.Errorf("%s, %s under %s, %s: %s", l.Name, s.Strategy, s.Scenario, c, text)
					}
					if i := lib.Named(r.Falls); i >= 0 && is {
						falls, err := lib.Run(lib.Scenarios[i], lib.Strategies[r.Strategy], 1)
						if err != nil {
							t.Fatal(err)
						}
						if v := falls.Verdict(); lib.Strategies[r.Strategy].Fences && !slices.Contains(v, trace.SW) {
							t.Errorf("%s, %s under %s: %s; but the resource refuses the late holder there: %s", l.Name, s.Strategy, s.Scenario, text, v)
						}
					}
					if is && r.Stops() && broken[r.Name] != strings.Contains(text, "still falls to") {
						t.Errorf("%s, %s under %s, %s doesn't say what it falls to, or does: %s", l.Name, s.Strategy, s.Scenario, c, text)
					}
					if is {
						next++
					}
				}
			}
		}
	}
	for _, bad := range []string{"setnx", "setnx-expire", "timestamp-del", "getset-equal", "naive-del", "get-then-del"} {
		if ticked[bad] {
			t.Errorf("%s is ticked as what would have stopped something", bad)
		}
	}
	if next == 0 || !ticked["setpx-lua"] {
		t.Errorf("%d remedies come later; ticked are %v", next, ticked)
	}
}
