package sim

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"testing"

	"lockstep/sim/trace"
	"lockstep/strategies"
)

var update = flag.Bool("update", false, "write the hashes of this version to testdata")

const goldenHashes = "testdata/hashes.golden"

// recorded is one run of a strategy with a bit of everything in it.
func recorded(t *testing.T, w *World, cfg Config, seed uint64) *trace.Trace {
	t.Helper()
	cfg.Seed = seed
	reset(t, w, cfg)
	chaos(w, rand.New(rand.NewPCG(seed, 2)), 80, anyFault)
	if w.Err() == nil {
		drained(t, w)
	}
	return traceOf(t, w)
}

// TestSameScheduleSameHash: in the same world, in another one, on one processor or
// on two, and with other goroutines in the way.
func TestSameScheduleSameHash(t *testing.T) {
	noise := make(chan struct{})
	defer close(noise)
	go func() {
		for {
			select {
			case <-noise:
				return
			default:
				runtime.Gosched()
			}
		}
	}()
	each(t, func(t *testing.T, s strategies.Strategy) {
		cfg := wild(configOf(s, "A", "B"))
		w, other := newWorld(t, cfg), newWorld(t, cfg)
		for seed := range uint64(3) {
			want := recorded(t, w, cfg, seed)
			for _, procs := range []int{1, 2} {
				before := runtime.GOMAXPROCS(procs)
				got := recorded(t, w, cfg, seed)
				again := recorded(t, other, cfg, seed)
				runtime.GOMAXPROCS(before)
				if got.Hash != want.Hash || again.Hash != want.Hash {
					t.Fatalf("seed %d on %d processors: %s, in another world %s, expected %s\n%s", seed, procs, got.Hash, again.Hash, want.Hash, want.Schedule)
				}
			}
		}
	})
}

// TestSeedsDiffer: a hash that never changes proves nothing.
func TestSeedsDiffer(t *testing.T) {
	cfg := config(t, "setpx-lua", "A", "B")
	w := newWorld(t, cfg)
	seen := map[string]uint64{}
	for seed := range uint64(20) {
		cfg.Seed = seed
		hash := fullRun(t, w, cfg)
		if other, twice := seen[hash]; twice {
			t.Errorf("seeds %d and %d have the hash %s", other, seed, hash)
		}
		seen[hash] = seed
	}
}

// TestHashesOfRecord compares a few runs with the hashes that are in testdata. It is
// how a race build, another machine or another Go version shows that it plays the
// same. Write them anew, with -update, only for a deliberate change of what happens
// or of the encoding that is hashed; the wording of events is no part of either.
func TestHashesOfRecord(t *testing.T) {
	var got strings.Builder
	for _, name := range []string{"setnx", "getset-expired", "setpx-lua", "redlock"} {
		cfg := config(t, name, "A", "B")
		fmt.Fprintf(&got, "%-15s %s\n", name, fullRun(t, newWorld(t, cfg), cfg))
	}
	if *update {
		if err := os.WriteFile(goldenHashes, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(goldenHashes)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the hashes are\n%sand in %s\n%s", got.String(), goldenHashes, want)
	}
}

// TestReplay: a run's own schedule plays it again, from its text too, and it
// prints itself the same.
func TestReplay(t *testing.T) {
	each(t, func(t *testing.T, s strategies.Strategy) {
		cfg := wild(configOf(s, "A", "B"))
		w, other := newWorld(t, cfg), newWorld(t, cfg)
		for seed := range uint64(10) {
			want := recorded(t, w, cfg, seed)
			schedule, err := ParseSchedule(want.Schedule, func(string) (strategies.Strategy, error) { return s, nil })
			if err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, want.Schedule)
			}
			if again := schedule.String(); again != want.Schedule {
				t.Fatalf("seed %d: it prints\n%s\nand, parsed,\n%s", seed, want.Schedule, again)
			}
			reset(t, other, schedule.Config)
			if err := other.Play(schedule.Moves, nil); fmt.Sprint(err) != fmt.Sprint(w.Err()) {
				t.Fatalf("seed %d: replayed: %v; the run itself: %v\n%s", seed, err, w.Err(), want.Schedule)
			}
			if got := traceOf(t, other); got.Hash != want.Hash || got.Schedule != want.Schedule {
				t.Fatalf("seed %d: replayed, the hash is %s, expected %s:\n%s\n%s", seed, got.Hash, want.Hash, got.Schedule, want.Schedule)
			}
		}
	})
}

// TestSteps: many steps at once are the same as one by one, wherever they are parted.
func TestSteps(t *testing.T) {
	each(t, func(t *testing.T, s strategies.Strategy) {
		cfg := configOf(s, "A", "B")
		cfg.Clients[0].Extend, cfg.Clients[1].Cycles = true, 2
		one, many := newWorld(t, cfg), newWorld(t, cfg)
		steps := 0
		for one.Step(everybody(one)) {
			steps++
		}
		mustGoOn(t, one)
		want := traceOf(t, one)
		for _, n := range []int{1, 2, 3, 7, steps, steps + 1} {
			reset(t, many, cfg)
			made := 0
			for last := n; last == n; made += last {
				last = many.Steps(everybody(many), n)
			}
			mustGoOn(t, many)
			if got := traceOf(t, many); made != steps || got.Hash != want.Hash || got.Schedule != want.Schedule {
				t.Fatalf("%d at once: %d steps, %s, expected %d, %s\n%s\n%s", n, made, got.Hash, steps, want.Hash, got.Schedule, want.Schedule)
			}
		}
	})
}

// TestReplayNotes: notes are no events, but they stand in the schedule where they
// were said.
func TestReplayNotes(t *testing.T) {
	cfg := config(t, "setpx-lua", "A")
	w := newWorld(t, cfg)
	until(t, w, "A", trace.KindGranted)
	w.Remark(trace.Note{Kind: trace.NoteSay, Text: "A has it", Index: 1})
	until(t, w, "A", trace.KindRelease)
	w.Remark(trace.Note{Kind: trace.NoteAsk, Text: "and now?", Index: 2})
	run(t, w)
	want := traceOf(t, w)

	var said []int
	reset(t, w, cfg)
	if err := w.Play(mustParse(t, want.Schedule).Moves, func(n int) {
		said = append(said, n)
		w.Remark(want.Notes[n-1])
	}); err != nil {
		t.Fatal(err)
	}
	got := traceOf(t, w)
	if fmt.Sprint(said) != "[1 2]" || got.Schedule != want.Schedule || got.Hash != want.Hash || fmt.Sprint(got.Notes) != fmt.Sprint(want.Notes) {
		t.Errorf("replayed, %v were said:\n%v\n%s\nexpected\n%v\n%s", said, got.Notes, got.Schedule, want.Notes, want.Schedule)
	}
}
