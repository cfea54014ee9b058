package screen_test

import (
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/lipgloss"

	"lockstep/scenarios"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
)

func appOf(lib *screen.Library) *screen.App {
	return screen.NewApp(lib, nil, draw.NewTheme(lipgloss.NewRenderer(io.Discard), false, true), 1, nil)
}

// ownScript is a library with a script of one's own, and its place there.
func ownScript(t *testing.T, text string) (*screen.Library, int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "own.yaml")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	own, err := scenarios.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	lib := screen.NewLibrary()
	lib.Include(lib.Strategies[0], own)
	return lib, lib.Scenario(own)
}

// TestRemedyMustBePutToTheTest has scripts after which no lock may be named, as it gets by only because nobody holds it, or because the script's
// misfortune doesn't strike it.
func TestRemedyMustBePutToTheTest(t *testing.T) {
	const both = "title: x\nsetup: {clients: {A: {work: 5s}, B: {work: 5s}}, retry: {tries: 1}"
	for name, tt := range map[string]struct{ script, lock, other, why string }{
		"one of five servers":   {both + "}\nscript:\n  - {run: A, to: work}\n  - evict: n1\n  - {run: B, to: work}\n", "setpx-lua", "redlock", "only 1 of its 5 servers was hit"},
		"the one in the middle": {both + "}\nscript:\n  - {run: A, to: work}\n  - evict: pivot\n  - {run: B, to: work}\n", "setpx-lua", "redlock", "only 1 of its 5 servers was hit"},
		"no replica": {both + ", replicas: 1, lag: 20ms}\nscript:\n  - {run: A, to: work}\n  - failover: {to: n1r1}\n  - {run: B, to: work}\n",
			"setpx-lua", "redlock", "the misfortune had no effect here"},
		"nobody has it": {both + ", replicas: 1, lag: 1h}\nscript:\n  - {run: A, to: work}\n  - down: n1\n  - failover: {to: n1r1}\n  - {run: B, to: work}\n",
			"setpx-lua", "setpx-wait", "nobody got the lock"},
		"all servers": {both + "}\nscript:\n  - {run: A, to: work}\n  - evict: all\n  - {run: B, to: work}\n", "setpx-lua", "redlock", ""},
	} {
		lib, sc := ownScript(t, tt.script)
		grid, lock, other := appOf(lib).Grid, lib.Strategy(tt.lock), lib.Strategy(tt.other)
		for _, st := range []int{lock, other} {
			run, err := lib.Run(lib.Scenarios[sc], lib.Strategies[st], 1)
			if err != nil {
				t.Fatal(err)
			}
			grid.Learn(sc, st, run)
			if st != lock {
				continue
			}
			if !slices.Contains(run.Verdict(), trace.DG) {
				t.Fatalf("%s: %s shows %s: the test needs another script", name, tt.lock, run.Verdict())
			}
			for c, r := range lib.Remedies(sc, lock, run, nil) {
				if tt.why != "" && r.Name == tt.other {
					t.Errorf("%s: %s is named against %s", name, r.Name, c)
				}
			}
		}
		if why := grid.Spared(sc, lock, other); why != tt.why {
			t.Errorf("%s: %s is told apart by %q, want %q", name, tt.other, why, tt.why)
		}
	}
}

// TestRemediesOfTheCatalogueAreNoAccidents goes through all built-in runs: whatever is named has been held, has met with what the other lock
// has, and doesn't get stuck in its place.
func TestRemediesOfTheCatalogueAreNoAccidents(t *testing.T) {
	lib := screen.NewLibrary()
	named := 0
	for sc := range lib.Scenarios {
		if !testenv.Some(sc, 4) || !testenv.Sampled(sc, 8) {
			continue
		}
		for st := range lib.Strategies {
			run, err := lib.Run(lib.Scenarios[sc], lib.Strategies[st], 1)
			if err != nil || !slices.ContainsFunc(run.Verdict(), trace.Code.Failure) {
				continue
			}
			for c, r := range lib.Remedies(sc, st, run, nil) {
				named++
				other, err := lib.Run(lib.Scenarios[sc], lib.Strategies[r.Strategy], 1)
				if err != nil {
					t.Fatal(err)
				}
				t.Logf("%s, %s under %s (%s): %s (%s)", c, run.Strategy, lib.Scenarios[sc].Name, run.Verdict(), r.Name, other.Verdict())
				held := slices.ContainsFunc(other.Events, func(e trace.Event) bool { return e.Kind == trace.KindEnter })
				stuck := slices.Contains(other.Verdict(), trace.UA) && !slices.ContainsFunc(run.Verdict(), func(c trace.Code) bool { return c == trace.UA || c == trace.PD || c == trace.DN })
				if !held || stuck {
					t.Errorf("%s is named for %s under %s, where it shows %s, and somebody has entered: %t", r.Name, run.Strategy, lib.Scenarios[sc].Name, other.Verdict(), held)
				}
				for _, fault := range []string{"failover/", "evict/", "down/", "unplug/", "clock/", "lag/"} {
					here, there := strings.Count(run.Schedule, ","+fault), strings.Count(other.Schedule, ","+fault)
					if there < here || there > 0 && other.Masters > run.Masters && !strings.Contains(other.Schedule, ",cut/") && 2*there < other.Masters {
						t.Errorf("%s is named for %s under %s, where %s strikes it %d times, of %d", r.Name, run.Strategy, lib.Scenarios[sc].Name, fault, there, here)
					}
				}
			}
		}
	}
	if named == 0 {
		t.Error("no lock is named anywhere")
	}
}
