package sim

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim/claims"
	"lockstep/sim/fault"
	"lockstep/sim/redis"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// The claims are those of claims.All. Each is tried in random runs, in which
// whatever the claim allows for goes wrong; how its assumptions are broken is in
// assumptions_test.go.

var thorough = flag.Int("thorough", 1, "how many times as many random runs to try")

// claim is what never happens, in how many runs, though what does happen in some.
type claim struct {
	number int // of claims.All
	cfg    func(rng *rand.Rand) Config
	faults faultMaker
	runs   int
	moves  int
	never  []trace.Code
	some   []trace.Code // not among them in all runs together: then nothing was tried
}

// try plays the claim's runs. A seed that refutes it is printed with its schedule,
// which can be replayed.
func (c *claim) try(t *testing.T) {
	t.Helper()
	for _, code := range claims.All[c.number-1].Never {
		if known, _ := trace.ParseCode(code); !slices.Contains(c.never, known) {
			t.Errorf("claim %d says never %s, and that is not looked for", c.number, code)
		}
	}
	of := claims.All[c.number-1].Of
	runs := c.runs * *thorough
	switch {
	case testenv.Raced:
		runs /= 10
	case !testenv.CI():
		runs /= 4
	}
	worlds := map[string]*World{}
	defer func() {
		for _, w := range worlds {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}
	}()
	seen := map[trace.Code]int{}
	grants := 0
	for seed := range uint64(runs) {
		rng := rand.New(rand.NewPCG(seed, 4))
		cfg := c.cfg(rng)
		cfg.Seed = seed
		if !slices.Contains(of, cfg.Strategy.Name) {
			t.Fatalf("claim %d is of %s, and this tries %s", c.number, of, cfg.Strategy.Name)
		}
		w := worldFor(t, worlds, cfg)
		if err := w.Reset(cfg, false); err != nil {
			t.Fatal(err)
		}
		chaos(w, rng, c.moves, c.faults)
		if w.Err() == nil {
			_ = w.Drain()
		}
		if err := w.Err(); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, w.Schedule())
		}
		for _, code := range w.Verdict() {
			seen[code]++
			if slices.Contains(c.never, code) {
				t.Fatalf("seed %d: %s\n%s\n%s", seed, w.Verdict(), w.monitor.Violations()[0].Text, w.Schedule())
			}
		}
		for _, cl := range w.State().Clients {
			if cl.Lease.Granted != trace.None {
				grants++
			}
		}
	}
	t.Logf("seeds 0 to %d: %d clients ended with a lease; runs by code: %v", runs-1, grants, seen)
	for _, code := range c.some {
		if seen[code] == 0 && !testenv.Raced { // which has too few runs to be sure
			t.Errorf("no run shows %s: nothing has been put to the test", code)
		}
	}
	if grants < runs {
		t.Errorf("in %d runs only %d clients ended with a lease: faults stop clients too often to put the claim to the test; bound a new one in minorityFault", runs, grants)
	}
}

// trial is a configuration in which things happen soon: two or three clients, a
// lease of a second, patience of 300ms, and work that may outlast the lease.
func trial(s strategies.Strategy, rng *rand.Rand, rates ...float64) Config {
	cfg := configOf(s, []string{"A", "B", "C"}[:2+rng.IntN(2)]...)
	cfg.TTL, cfg.Timeout = time.Second, 300*time.Millisecond
	cfg.Retry = strategies.Retry{Tries: 3, Delay: 100 * time.Millisecond}
	for i := range cfg.Clients {
		c := &cfg.Clients[i]
		c.Cycles = 1 + rng.IntN(3)
		c.Extend = rng.IntN(2) == 0
		c.Work = time.Duration(rng.IntN(1200)) * time.Millisecond
		c.Rate = rates[rng.IntN(len(rates))]
		c.Offset = time.Duration(rng.IntN(2000)-1000) * time.Millisecond
	}
	return cfg
}

// steady are the rates that leave a lease of a second its drift allowance of 12ms;
// a fast clock only ends it early.
var steady = []float64{0.989, 1, 1.01, 3}

// kindFaults are the kinds of fault that claim 1 allows: of clients, of the network, and of a
// server that loses nothing.
var kindFaults = slices.DeleteFunc(fault.Kinds(), func(s fault.Spec) bool { return s.Breaks != "" || s.Step == "" })

// kindFault is one of kindFaults. A kind that breaks an assumption doesn't change the draws.
func kindFault(w *World, rng *rand.Rand) fault.Fault {
	for {
		switch f := anyFaultOf(&kindFaults[rng.IntN(len(kindFaults))], w, rng).(type) {
		case fault.Hang, fault.Crash:
			if rng.IntN(3) == 0 { // or hardly anybody would be left
				return f
			}
		case fault.Duplicate:
			f.After = spread(rng)
			return f
		case fault.Delay:
			f.By = spread(rng)
			return f
		default:
			return f
		}
	}
}

// spread is some time up to more than a lease.
func spread(rng *rand.Rand) time.Duration { return time.Duration(rng.IntN(1500)) * time.Millisecond }

// durableFault adds restarts of servers whose disks hold everything.
func durableFault(w *World, rng *rand.Rand) fault.Fault {
	switch rng.IntN(12) {
	case 0:
		return fault.Down{Node: anyNode(w, rng)}
	case 1, 2:
		return fault.Up{Node: anyNode(w, rng)}
	}
	return kindFault(w, rng)
}

// awake is durableFault, but nobody's work hangs while its renewal goes on.
func awake(w *World, rng *rand.Rand) fault.Fault {
	for {
		if f := durableFault(w, rng); !isHang(f) {
			return f
		}
	}
}

// isHang reports whether a fault ends a main thread and nothing else of its process.
func isHang(f fault.Fault) bool {
	switch f.(type) {
	case fault.Hang, fault.Throw:
		return true
	}
	return false
}

// Claim 1: SET NX PX with a unique token, and compare-and-delete, never grants
// twice; nobody harms another's record; and the lock is never lost for good, unless
// a thread goes on extending it for work that hangs.

func TestClaim1(t *testing.T) {
	t.Parallel()
	var tried []string
	for _, tc := range []struct {
		strategy string
		runs     int
		rates    []float64
		faults   faultMaker
		never    []trace.Code
	}{
		{"setpx-lua", 2200, steady, durableFault, []trace.Code{trace.DG, trace.FR, trace.PD, trace.LV, trace.GAP}},
		{"setpx-watch", 600, steady, durableFault, []trace.Code{trace.DG, trace.FR, trace.PD, trace.LV, trace.GAP}},
		{"setpx-delex", 200, steady, durableFault, []trace.Code{trace.DG, trace.FR, trace.PD, trace.LV, trace.GAP}},
		// It exposes no deadline, so none that leaves an allowance for slow clocks.
		{"watchdog", 200, []float64{1, 1.01, 3}, awake, []trace.Code{trace.DG, trace.FR, trace.PD, trace.LV}},
	} {
		tried = append(tried, tc.strategy)
		t.Run(tc.strategy, func(t *testing.T) {
			(&claim{
				number: 1,
				cfg: func(rng *rand.Rand) Config {
					cfg := trial(named(tc.strategy), rng, tc.rates...)
					cfg.Cold = rng.IntN(2) == 0
					cfg.Nodes[0].Persistence = redis.PersistAlways
					cfg.Nodes[0].Offset = time.Duration(rng.IntN(2000)-1000) * time.Millisecond
					return cfg
				},
				faults: tc.faults,
				runs:   tc.runs, moves: 100,
				never: tc.never,
				some:  []trace.Code{trace.OV, trace.SW, trace.FN, trace.BD},
			}).try(t)
		})
	}
	if of := claims.All[0].Of; !slices.Equal(tried, of) {
		t.Errorf("claim 1 is of %s, and tried with %s", of, tried)
	}
}

// Claim 3: with a fencing token that is minted with the grant, and a resource that
// checks it on every access, there are no stale writes; not even where the lock
// itself has failed.

// unkindFault breaks the lock, but not the counter.
func unkindFault(w *World, rng *rand.Rand) fault.Fault {
	switch rng.IntN(6) {
	case 0:
		return fault.Evict{Node: anyNode(w, rng)}
	case 1:
		return fault.NodeStep{Node: anyNode(w, rng), By: time.Duration(rng.IntN(2400)-1200) * time.Millisecond}
	}
	return durableFault(w, rng)
}

func TestClaim3(t *testing.T) {
	t.Parallel()
	cfg := func(rng *rand.Rand) Config {
		cfg := trial(named("fenced"), rng, 0.5, 1, 2)
		cfg.Resource, cfg.Nodes[0].Persistence = Fenced, redis.PersistAlways
		return cfg
	}
	(&claim{number: 3, cfg: cfg, faults: unkindFault, runs: 500, moves: 120, never: []trace.Code{trace.SW}, some: []trace.Code{trace.DG, trace.OV}}).try(t)
}

// Claim 4: Redlock never grants twice, whatever a minority of its nodes does that
// keeps the assumptions.

// minorityFault lets fewer than half of the nodes go down; they come back only
// where nothing is lost thereby.
func minorityFault(w *World, rng *rand.Rand) fault.Fault {
	down := 0
	for _, n := range w.nodes {
		if !n.Up {
			down++
		}
	}
	switch rng.IntN(8) {
	case 0:
		if down < (w.Nodes()-1)/2 {
			return fault.Down{Node: anyNode(w, rng)}
		}
	case 1:
		if n := w.nodes[rng.IntN(w.Nodes())]; n.Persistence == redis.PersistAlways {
			return fault.Up{Node: n.Name}
		}
	}
	return kindFault(w, rng)
}

func TestClaim4(t *testing.T) {
	t.Parallel()
	for _, size := range []struct {
		nodes, runs int
		some        []trace.Code
	}{{3, 1000, []trace.Code{trace.OV, trace.BD}}, {5, 150, []trace.Code{trace.BD}}} {
		t.Run(fmt.Sprint(size.nodes), func(t *testing.T) {
			s, _ := strategies.Get("redlock")
			s.Nodes = size.nodes
			(&claim{
				number: 4,
				cfg: func(rng *rand.Rand) Config {
					cfg := trial(s, rng, steady...)
					cfg.Timeout = 50 * time.Millisecond
					cfg.Retry = strategies.Retry{Tries: 2, Jitter: 100 * time.Millisecond}
					for i := range cfg.Nodes {
						cfg.Nodes[i].Persistence = []redis.Persistence{redis.PersistNone, redis.PersistAlways}[rng.IntN(2)]
						cfg.Nodes[i].Offset = time.Duration(rng.IntN(2000)-1000) * time.Millisecond
					}
					return cfg
				},
				faults: minorityFault,
				runs:   size.runs, moves: 40 * size.nodes,
				never: []trace.Code{trace.DG, trace.FR, trace.PD, trace.GAP},
				some:  size.some,
			}).try(t)
		})
	}
}

// Claim 5: strategies with a TTL recover within one TTL of the last crash. Where the
// record expires by itself, that is to the millisecond; where its stamp has to be
// seen to be old, as soon as somebody looks.

func TestClaim5(t *testing.T) {
	t.Parallel()
	for _, s := range strategies.All() {
		if s.NoTTL || s.Name == "setnx-expire" {
			continue // see TestClaim5Assumptions
		}
		t.Run(s.Name, func(t *testing.T) {
			s.Nodes = min(s.Nodes, 3)
			cfg := short(configOf(s, "A", "B"))
			cfg.Retry = strategies.Retry{Tries: 1}
			cfg.Clients[1].Insist = 100 * time.Millisecond
			w := newWorld(t, cfg)
			n := lifetime(t, w, "A")
			for k := 0; k <= n; k++ {
				reset(t, w, cfg)
				for range k {
					w.Step(SetOf(0))
				}
				inject(t, w, fault.Crash{Client: "A"})
				crashed := w.Now()
				until(t, w, "B", trace.KindGranted)
				// What A had sent arrives a latency later; stamps of whole seconds may
				// last one longer; and B asks every so often.
				bound := cfg.Latency + cfg.TTL + time.Millisecond + overlong(s.Name) + 150*time.Millisecond
				if took := w.Now() - crashed; took > bound {
					t.Fatalf("A crashes after %d steps, and B gets the lock after %s", k, took)
				}
				if stampless(s.Name) {
					expectGoneBy(t, w, crashed+cfg.Latency+cfg.TTL+time.Millisecond, k)
				}
			}
		})
	}
}

// overlong is by how much a stamp can outlast its TTL.
func overlong(name string) time.Duration {
	switch {
	case stampless(name):
		return 0
	case name == "getset-redisio": // it adds a second, and the stamp's own second has to be over
		return 2 * time.Second
	}
	return time.Second
}

// stampless: the end of the lease is the record's expiry, and not its value.
func stampless(name string) bool {
	return !strings.HasPrefix(name, "getset") && !strings.HasPrefix(name, "timestamp")
}

// expectGoneBy: until then, at the latest, A's last record is gone from every node.
func expectGoneBy(t *testing.T, w *World, by time.Duration, k int) {
	t.Helper()
	for i := range w.trace.Events {
		e := &w.trace.Events[i]
		for _, ch := range e.Changes {
			if e.Kind == trace.KindExpire && ch.Key == w.cfg.Key && e.At > by && strings.HasPrefix(ch.Before.Value, "A") {
				t.Fatalf("A crashes after %d steps, and its record is there until %s, not %s", k, e.At, by)
			}
		}
	}
}
