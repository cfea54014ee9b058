package sim

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// TestMain looks for goroutines that any of the tests has left behind. Threads are
// coroutines, and a coroutine that is never ended is a goroutine for ever.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	fuzzing := flag.Lookup("test.fuzz").Value.String() != "" // its workers are goroutines too
	if code == 0 && !fuzzing {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// each calls f with the catalogue and the toys that cling to life, in a fixed order.
func each(t *testing.T, f func(t *testing.T, s strategies.Strategy)) {
	all := crashables()
	var names []string
	for name := range all {
		names = append(names, name)
	}
	slices.Sort(names)
	for i, name := range names {
		if testenv.Some(i, 3) {
			t.Run(name, func(t *testing.T) { f(t, all[name]) })
		}
	}
}

// TestLeakIsSeen: goleak does notice a thread that was never ended.
func TestLeakIsSeen(t *testing.T) {
	w, err := New(config(t, "setpx-lua", "A"))
	if err != nil {
		t.Fatal(err)
	}
	reset(t, w, config(t, "setpx-lua", "A"))
	w.Step(SetOf(0))
	if goleak.Find() == nil {
		t.Error("a thread is under way, and no goroutine is found")
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	goleak.VerifyNone(t)
}

// TestCloseAnywhere: a world that is closed, at whatever step of a run, leaves no
// goroutine.
func TestCloseAnywhere(t *testing.T) {
	each(t, func(t *testing.T, s strategies.Strategy) {
		cfg := short(configOf(s, "A", "B"))
		cfg.Retry.Tries = 2
		n := runLength(t, cfg)
		for k := 0; k <= n; k++ {
			w, err := New(cfg)
			if err != nil {
				t.Fatal(err)
			}
			reset(t, w, cfg)
			for range k {
				w.Step(everybody(w))
			}
			if err := w.Close(); err != nil {
				t.Fatalf("closed after %d steps: %v", k, err)
			}
		}
		if err := goleak.Find(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestStopAnywhere: Stop does for goroutines what Close does.
func TestStopAnywhere(t *testing.T) {
	cfg := short(config(t, "redlock", "A", "B"))
	w := newWorld(t, cfg)
	for k := range 60 {
		reset(t, w, cfg)
		for range k {
			w.Step(everybody(w))
		}
		w.Stop()
		if err := goleak.Find(); err != nil {
			t.Fatalf("stopped after %d steps: %v", k, err)
		}
	}
}

// runLength is how many steps a run takes in which everybody may always act.
func runLength(t *testing.T, cfg Config) int {
	t.Helper()
	w, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	reset(t, w, cfg)
	n := 0
	for w.Step(everybody(w)) {
		n++
	}
	mustGoOn(t, w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return n
}

// fullRun is a run to its end, and its hash.
func fullRun(t *testing.T, w *World, cfg Config) string {
	t.Helper()
	reset(t, w, cfg)
	run(t, w)
	drained(t, w)
	return traceOf(t, w).Hash
}

// TestResetAnywhere: whatever became of the last run, and however far it had
// come, a reset world is like a new one.
func TestResetAnywhere(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s strategies.Strategy) {
		clients := []string{"A", "B"}
		if s.Nodes > 1 {
			clients = clients[:1] // it has steps enough
		}
		cfg := short(configOf(s, clients...))
		cfg.Retry.Tries = 2
		fresh := fullRun(t, newWorld(t, cfg), cfg)
		w := newWorld(t, cfg)
		n := runLength(t, cfg)
		for k := 0; k <= n; k++ {
			reset(t, w, cfg)
			for range k {
				w.Step(everybody(w))
			}
			if got := fullRun(t, w, cfg); got != fresh {
				t.Fatalf("after a run that was abandoned at step %d, the hash is %s; in a new world it is %s", k, got, fresh)
			}
		}
	})
}

// TestResetAfterFaults is the same after runs in which everything has gone wrong:
// links are cut, nodes down, clocks off, messages late, and scripts forgotten.
func TestResetAfterFaults(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s strategies.Strategy) {
		cfg := wild(configOf(s, "A", "B"))
		fresh := fullRun(t, newWorld(t, cfg), cfg)
		w := newWorld(t, cfg)
		for seed := range uint64(25) {
			before := cfg
			before.Cold, before.Workload, before.Resource, before.Seed = seed%2 == 0, trace.Workload(seed/2%2), Resource(seed%3), seed
			reset(t, w, before)
			rng := rand.New(rand.NewPCG(seed, 0))
			chaos(w, rng, 10+rng.IntN(80), anyFault)
			schedule := w.Schedule().String()
			if got := fullRun(t, w, cfg); got != fresh {
				t.Fatalf("seed %d: the hash is %s; in a new world it is %s. What came before:\n%s", seed, got, fresh, schedule)
			}
		}
	})
}

// TestResetToAnotherConfiguration: settings of the last run don't stay.
func TestResetToAnotherConfiguration(t *testing.T) {
	plain := short(config(t, "setpx-lua", "A", "B"))
	other := plain
	other.TTL, other.Latency, other.Timeout = 3*time.Second, 7*time.Millisecond, time.Second
	other.Seed, other.Key, other.Workload, other.Resource, other.Cold = 7, "other", trace.Cache, Fenced, true
	other.Clients = []process.Config{{Name: "A", Rate: 2, Offset: time.Hour, Cycles: 2}, {Name: "B", Rate: 0.5, Cycles: 1, Insist: time.Second}}
	other.Nodes = []redis.Config{{Offset: time.Minute, Persistence: redis.PersistAlways}}
	other.Strategy, _ = strategies.Get("incr-expire")

	fresh := fullRun(t, newWorld(t, plain), plain)
	w := newWorld(t, other)
	fullRun(t, w, other)
	if got := fullRun(t, w, plain); got != fresh {
		t.Errorf("the hash is %s; in a new world it is %s", got, fresh)
	}
}

// TestResetRefusesAnotherWorld: a world has the clients and nodes that it was
// made with.
func TestResetRefusesAnotherWorld(t *testing.T) {
	w := newWorld(t, config(t, "setpx-lua", "A", "B"))
	for _, cfg := range []Config{config(t, "setpx-lua", "A"), config(t, "setpx-lua", "A", "C"), config(t, "redlock", "A", "B")} {
		if err := w.Reset(cfg, true); err == nil || !strings.Contains(err.Error(), "other clients or nodes") {
			t.Errorf("%d clients on %d nodes: %v", len(cfg.Clients), len(cfg.Nodes), err)
		}
	}
}

// TestUnrecordedRunsAgree: without recording there is no trace, but the schedule,
// the state and the verdict are the same.
func TestUnrecordedRunsAgree(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s strategies.Strategy) {
		cfg := wild(configOf(s, "A", "B"))
		w := newWorld(t, cfg)
		for seed := range uint64(5) {
			var said [2]string
			for i, record := range []bool{true, false} {
				if err := w.Reset(cfg, record); err != nil {
					t.Fatal(err)
				}
				chaos(w, rand.New(rand.NewPCG(seed, 1)), 60, anyFault)
				state := *w.State()
				for i := range state.Clients {
					state.Clients[i].Source = trace.Source{}
				}
				said[i] = fmt.Sprint(w.Schedule(), "\n", w.Verdict(), "\n", w.Err(), "\n", describe(&state))
			}
			if said[0] != said[1] {
				t.Fatalf("seed %d: recorded:\n%s\nnot recorded:\n%s", seed, said[0], said[1])
			}
		}
		if _, err := w.Trace(); err == nil {
			t.Error("there is a trace of a run that was not recorded")
		}
	})
}
