package scenarios

import (
	"cmp"
	"maps"
	"math/rand/v2"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"lockstep/sim"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// cellRun is what must be the same whenever, wherever and after whatever else a
// cell is run.
type cellRun struct{ hash, text string }

func runOf(t testing.TB, trace *trace.Trace) cellRun { return cellRun{trace.Hash, plain(t, trace)} }

func compare(t testing.TB, how string, c cell, got, want cellRun) {
	t.Helper()
	differ(t, c.strategy+" under "+c.scenario+" "+how, got.text, want.text)
	if got.hash != want.hash {
		t.Errorf("%s under %s %s: hash %s, not %s", c.strategy, c.scenario, how, got.hash, want.hash)
	}
}

// The same cell gives the same trace, byte for byte: in a world that another run,
// of another strategy, has left behind; in one made for it; on one core and on two;
// and while others run at the same time.
func TestDeterminism(t *testing.T) {
	testenv.Long(t)
	cells := slices.SortedFunc(maps.Keys(matrix()), func(a, b cell) int {
		return cmp.Or(strings.Compare(a.scenario, b.scenario), strings.Compare(a.strategy, b.strategy))
	})
	want := map[cell]cellRun{}
	for _, c := range cells {
		want[c] = runOf(t, c.of(t)) // on all cores
	}

	const seed = 20260101
	t.Logf("the order of the runs in used worlds comes from seed %d", seed)
	rand.New(rand.NewPCG(seed, 0)).Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
	before := runtime.GOMAXPROCS(1)
	defer runtime.GOMAXPROCS(before)
	for _, c := range cells {
		compare(t, "in a used world, on one core", c, c.again(t), want[c])
	}

	// A new world costs more than the run itself. One cell of eight has one,
	// of each strategy and each scenario.
	runtime.GOMAXPROCS(2)
	for i, s := range All() {
		for j, st := range strategies.All() {
			if (i+j)%8 != 0 {
				continue
			}
			if err := Close(); err != nil { // so that the next world is a new one
				t.Fatal(err)
			}
			c := cell{s.Name, st.Name}
			compare(t, "in a new world", c, c.again(t), want[c])
		}
	}
}

// again runs a cell another time.
func (c cell) again(t testing.TB) cellRun {
	t.Helper()
	s, err := Find(c.scenario)
	if err != nil {
		t.Fatal(err)
	}
	return runOf(t, mustRun(t, s, c.strategy))
}

// Runs that go on at the same time share nothing but the pool of worlds.
func TestConcurrentRuns(t *testing.T) {
	s, err := Find("loser-lowers-stamp")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"getset-expired", "redlock"} {
		want := runOf(t, mustRun(t, s, name))
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for range 3 {
					trace, err := s.Run(strategy(t, name), 1)
					if err != nil {
						t.Error(err)
						return
					}
					compare(t, "beside others", cell{s.Name, name}, runOf(t, trace), want)
				}
			})
		}
		wg.Wait()
	}
}

// The seed makes the tokens and the jitter, and nothing else.
func TestSeeds(t *testing.T) {
	s, err := Find("crash-holding")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		strategy string
		draws    bool
	}{
		{"setpx-lua", true},      // tokens
		{"redlock", true},        // tokens and jitter
		{"incr-expire", false},   // stores a count
		{"timestamp-del", false}, // stores a stamp
	} {
		hashes := map[string]uint64{}
		for seed := range uint64(5) {
			trace, err := s.Run(strategy(t, tt.strategy), seed)
			if err != nil {
				t.Fatal(err)
			}
			if other, same := hashes[trace.Hash]; same == tt.draws && seed > 0 {
				t.Errorf("%s: seed %d gives hash %s; known already: %v (seed %d)", tt.strategy, seed, trace.Hash, same, other)
			}
			hashes[trace.Hash] = seed
		}
	}
}

// A schedule is all there is to a run: parsed and replayed it gives the same
// events, and, since it came from a built-in script, the same narration.
func TestReplay(t *testing.T) {
	testenv.LongRaced(t) // TestConcurrentRuns is short
	every := 16          // of each strategy and each scenario; in CI all
	if testenv.CI() {
		every = 1
	}
	eachCell(t, every, func(t *testing.T, s *Scenario, st strategies.Strategy) {
		trace := cell{s.Name, st.Name}.of(t)
		schedule, err := sim.ParseSchedule(trace.Schedule, FindStrategy)
		if err != nil {
			t.Fatal(err)
		}
		if again := schedule.String(); again != trace.Schedule {
			t.Errorf("the schedule, parsed and printed:\n%s\nwas\n%s", again, trace.Schedule)
		}
		again, err := Replay(schedule)
		if err != nil {
			t.Fatal(err)
		}
		compare(t, "replayed", cell{s.Name, st.Name}, runOf(t, again), runOf(t, trace))
		for i := range trace.Events {
			if !reflect.DeepEqual(again.Events[i], trace.Events[i]) {
				t.Fatalf("event #%d differs in something that the text doesn't show:\n%+v\n%+v", i+1, again.Events[i], trace.Events[i])
			}
		}
		if !reflect.DeepEqual(tidy(again), tidy(trace)) {
			t.Errorf("the traces differ in something that neither events nor text show:\n%+v\n%+v", again, trace)
		}
	})
}

// tidy makes no list of an empty list: a used world leaves one behind.
func tidy(trace *trace.Trace) trace.Trace {
	t := *trace
	if len(t.Violations) == 0 {
		t.Violations = nil
	}
	if len(t.Notes) == 0 {
		t.Notes = nil
	}
	return t
}

// A schedule that was branched off a script's still has that script's narration
// as far as it goes.
func TestReplayOfABranch(t *testing.T) {
	s, err := Find("crash-holding")
	if err != nil {
		t.Fatal(err)
	}
	config, _, _ := strings.Cut(mustRun(t, s, "setpx-lua").Schedule, ",--,")
	schedule, err := sim.ParseSchedule(config+",--,@1,A:3,@99,aftermath", FindStrategy)
	if err != nil {
		t.Fatal(err)
	}
	trace, err := Replay(schedule)
	if err != nil {
		t.Fatal(err)
	}
	if len(trace.Notes) != 2 || trace.Notes[0].Text != "A takes the lock and goes to work. Nobody else wants it yet." ||
		trace.Notes[1].Text != "(note 99 of crash-holding)" {
		t.Errorf("notes %+v", trace.Notes)
	}
	if trace.Schedule != schedule.String() {
		t.Errorf("its schedule is\n%s\nwas\n%s", trace.Schedule, schedule)
	}
}

// Of a schedule that came from somebody's file the narration is not known here:
// its places are kept, and say so.
func TestReplayOfAnUnknownScript(t *testing.T) {
	s := script(t, "title: Mine\nscript:\n  - say: Hello.\n  - run: all\n  - ask: Well?\n    answer: verdict\n")
	trace := mustRun(t, s, "setpx-lua")
	schedule, err := sim.ParseSchedule(trace.Schedule, FindStrategy)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Replay(schedule)
	if err != nil {
		t.Fatal(err)
	}
	if again.Hash != trace.Hash || again.Schedule != trace.Schedule || again.Title != "" {
		t.Errorf("hash %s, title %q, schedule\n%s", again.Hash, again.Title, again.Schedule)
	}
	if len(again.Notes) != 2 || again.Notes[0].Text != "(note 1 of test.yaml)" || again.Notes[1].Seq != trace.Notes[1].Seq {
		t.Errorf("notes %+v", again.Notes)
	}
}
