package sim

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/strategies"
)

// The claims are those of design.md, section 2. Each is tried in random runs, in
// which whatever the claim allows for goes wrong; and each of its assumptions is
// broken once, to see what it is there for.

var thorough = flag.Int("thorough", 1, "how many times as many random runs to try")

// claim is what never happens, in how many runs, though what does happen in some.
type claim struct {
	cfg    func(rng *rand.Rand) Config
	faults faultMaker
	runs   int
	moves  int
	never  []Code
	some   []Code // not among them in all runs together: then nothing was tried
}

// try plays the claim's runs. A seed that refutes it is printed with its schedule,
// which can be replayed.
func (c *claim) try(t *testing.T) {
	t.Helper()
	runs := c.runs * *thorough
	if raceDetector {
		runs /= 10
	}
	worlds := map[string]*World{}
	defer func() {
		for _, w := range worlds {
			if err := w.Close(); err != nil {
				t.Error(err)
			}
		}
	}()
	seen := map[Code]int{}
	grants := 0
	for seed := range uint64(runs) {
		rng := rand.New(rand.NewPCG(seed, 4))
		cfg := c.cfg(rng)
		cfg.Seed = seed
		w := worldFor(t, worlds, cfg)
		if err := w.Reset(cfg, false); err != nil {
			t.Fatal(err)
		}
		chaos(w, rng, c.moves, c.faults)
		if w.Err() == nil {
			_ = w.Aftermath()
		}
		if err := w.Err(); err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, w.Schedule())
		}
		for _, code := range w.Verdict() {
			seen[code]++
			if slices.Contains(c.never, code) {
				t.Fatalf("seed %d: %s\n%s\n%s", seed, w.Verdict(), w.monitors.found[0].Text, w.Schedule())
			}
		}
		for _, cl := range w.State().Clients {
			if cl.Lease.Granted != None {
				grants++
			}
		}
	}
	t.Logf("seeds 0 to %d: %d clients ended with a lease; runs by code: %v", runs-1, grants, seen)
	for _, code := range c.some {
		if seen[code] == 0 {
			t.Errorf("no run shows %s: nothing has been put to the test", code)
		}
	}
	if grants < runs {
		t.Errorf("in %d runs only %d clients ended with a lease", runs, grants)
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
		c.Work = time.Duration(rng.IntN(1200)) * time.Millisecond
		c.Rate = rates[rng.IntN(len(rates))]
		c.Offset = time.Duration(rng.IntN(2000)-1000) * time.Millisecond
	}
	return cfg
}

// steady are the rates that leave a lease of a second its drift allowance of 12ms;
// a fast clock only ends it early.
var steady = []float64{0.989, 1, 1.01, 3}

// kind draws from those faults that claim 1 allows: of clients, of the network, and
// of a server that loses nothing.
func kindFault(w *World, rng *rand.Rand) Fault {
	for {
		switch f := anyFault(w, rng).(type) {
		case NodeStep, Evict, Down, Up, Lag, Failover, Rejoin:
		case Hang, Crash:
			if rng.IntN(3) == 0 { // or hardly anybody would be left
				return f
			}
		case Duplicate:
			f.After = spread(rng)
			return f
		case Delay:
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
func durableFault(w *World, rng *rand.Rand) Fault {
	switch rng.IntN(12) {
	case 0:
		return Down{anyNode(w, rng)}
	case 1, 2:
		return Up{anyNode(w, rng)}
	}
	return kindFault(w, rng)
}

// Claim 1: SET NX PX with a unique token, and compare-and-delete, never grants
// twice; nobody harms another's record; and the lock is never lost for good.

func TestClaim1(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"setpx-lua", "setpx-watch"} {
		s, found := strategies.Get(name)
		if !found {
			continue
		}
		t.Run(name, func(t *testing.T) {
			(&claim{
				cfg: func(rng *rand.Rand) Config {
					cfg := trial(s, rng, steady...)
					cfg.Cold = rng.IntN(2) == 0
					cfg.Nodes[0].Persistence = PersistAlways
					cfg.Nodes[0].Offset = time.Duration(rng.IntN(2000)-1000) * time.Millisecond
					return cfg
				},
				faults: durableFault,
				runs:   map[string]int{"setpx-lua": 2000}[name] + 200, moves: 100,
				never: []Code{DG, FR, PD, LV, GAP},
				some:  []Code{OV, SW, FN, BD},
			}).try(t)
		})
	}
}

// TestClaim1Assumptions breaks one assumption after the other.
func TestClaim1Assumptions(t *testing.T) {
	second := func(cfg *Config) {} // a lease of ten seconds, as it comes
	for _, tc := range []struct {
		assumption string
		strategy   string
		cfg        func(*Config)
		play       func(t *testing.T, w *World)
		want       string
	}{
		{"all of them hold", "setpx-lua", second, func(t *testing.T, w *World) {
			until(t, w, "A", KindEnter)
			w.Wait(9 * time.Second)
		}, "ok"},
		{"no restart without persistence", "setpx-lua", second, func(t *testing.T, w *World) {
			until(t, w, "A", KindEnter)
			inject(t, w, Down{"n1"}, Up{"n1"})
		}, "DG OV"},
		{"no restart within the second that everysec may lose", "setpx-lua",
			func(cfg *Config) { cfg.Nodes[0].Persistence = PersistEverysec }, func(t *testing.T, w *World) {
				until(t, w, "A", KindEnter)
				w.Wait(900 * time.Millisecond)
				inject(t, w, Down{"n1"}, Up{"n1"})
			}, "DG OV"},
		{"a restart after that second is none of the matter", "setpx-lua",
			func(cfg *Config) { cfg.Nodes[0].Persistence = PersistEverysec }, func(t *testing.T, w *World) {
				until(t, w, "A", KindEnter)
				w.Wait(1000 * time.Millisecond)
				inject(t, w, Down{"n1"}, Up{"n1"})
			}, "ok"},
		{"no eviction", "setpx-lua", second, func(t *testing.T, w *World) {
			until(t, w, "A", KindEnter)
			inject(t, w, Evict{"n1"})
		}, "DG OV"},
		{"no failover to a replica that has not got the key", "setpx-lua",
			func(cfg *Config) { cfg.Replicas, cfg.Lag = 1, 10*time.Millisecond }, func(t *testing.T, w *World) {
				until(t, w, "A", KindEnter)
				inject(t, w, Failover{To: "n1r1"})
			}, "DG OV"},
		{"a failover to one that has got it is none of the matter", "setpx-lua",
			func(cfg *Config) { cfg.Replicas, cfg.Lag = 1, 10*time.Millisecond }, func(t *testing.T, w *World) {
				until(t, w, "A", KindEnter)
				w.Wait(10 * time.Millisecond)
				inject(t, w, Failover{To: "n1r1"})
			}, "ok"},
		{"no jump of the server's clock", "setpx-lua", second, func(t *testing.T, w *World) {
			until(t, w, "A", KindEnter)
			inject(t, w, NodeStep{"n1", 10 * time.Second})
		}, "DG OV"},
		{"rates differ by no more than the drift allowance", "setpx-lua",
			func(cfg *Config) { cfg.Clients[0].Rate = 0.98 }, func(t *testing.T, w *World) {
				until(t, w, "A", KindEnter)
				w.Wait(10 * time.Second)
			}, "DG OV"},
		{"a difference that it covers is none of the matter", "setpx-lua",
			func(cfg *Config) { cfg.Clients[0].Rate = 0.99 }, func(t *testing.T, w *World) {
				until(t, w, "A", KindEnter)
				w.Wait(10 * time.Second)
			}, "OV"},
		{"the token is unique", "fixed-value", second, func(t *testing.T, w *World) {
			until(t, w, "A", KindLeave)
			w.Wait(10 * time.Second)
			until(t, w, "B", KindEnter)
			until(t, w, "A", KindDone) // it releases what is B's
			until(t, w, "C", KindEnter)
		}, "DG OV FR"},
		{"nothing but compare-and-delete touches the key", "naive-del", second, func(t *testing.T, w *World) {
			until(t, w, "A", KindLeave)
			w.Wait(10 * time.Second)
			until(t, w, "B", KindEnter)
			until(t, w, "A", KindDone)
			until(t, w, "C", KindEnter)
		}, "DG OV FR"},
		{"comparing and deleting are one", "get-then-del", second, func(t *testing.T, w *World) {
			until(t, w, "A", KindRelease)
			until(t, w, "A", KindReceive) // its GET says that all is well
			w.Wait(10 * time.Second)
			until(t, w, "B", KindEnter)
			until(t, w, "A", KindDone)
			until(t, w, "C", KindEnter)
		}, "DG OV FR"},
	} {
		t.Run(tc.assumption, func(t *testing.T) {
			cfg := config(t, tc.strategy, "A", "B", "C")
			cfg.Retry.Tries = 1
			for i := range cfg.Clients {
				cfg.Clients[i].Work = time.Minute
			}
			if strings.Contains(tc.want, "FR") {
				cfg.Clients[0].Work = time.Second
			}
			tc.cfg(&cfg)
			w := newWorld(t, cfg)
			tc.play(t, w)
			for range 20 { // and then B
				if w.Where(1).Phase == PhaseWork || w.Where(1).Over {
					break
				}
				w.Step(SetOf(1))
			}
			expectVerdict(t, w, tc.want)
		})
	}
}

// TestDeadlineBelongsToTheSend: counted from anything later, or on the wall clock,
// the deadline is too late.
func TestDeadlineBelongsToTheSend(t *testing.T) {
	for name, tc := range map[string]struct {
		deadline func(l *toyLock, sent, answered time.Duration, walls [2]time.Time) time.Duration
		want     string
	}{
		"from the send":  {func(l *toyLock, sent, _ time.Duration, _ [2]time.Time) time.Duration { return sent + l.TTL }, "ok"},
		"from the reply": {func(l *toyLock, _, answered time.Duration, _ [2]time.Time) time.Duration { return answered + l.TTL }, "DG"},
		"less what the wall clock says it took": {func(l *toyLock, _, answered time.Duration, walls [2]time.Time) time.Duration {
			return answered + l.TTL - walls[1].Sub(walls[0])
		}, "DG"},
	} {
		s := toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
			before, sent := l.Clock.Now(), l.Clock.Monotonic()
			lease, err := toyTake(ctx, l)
			if err == nil {
				lease.Deadline = tc.deadline(l, sent, l.Clock.Monotonic(), [2]time.Time{before, l.Clock.Now()})
			}
			return lease, err
		}, toyKeep)
		cfg := configOf(s, "A", "B")
		cfg.Timeout = time.Minute
		w := newWorld(t, cfg)
		until(t, w, "A", KindSend)
		w.Wait(time.Millisecond)
		inject(t, w, Delay{"A", true, 5 * time.Second}, WallStep{"A", -5 * time.Second})
		until(t, w, "A", KindGranted)
		w.Wait(5 * time.Second)
		until(t, w, "B", KindGranted)
		if got := w.Verdict().String(); got != tc.want {
			t.Errorf("a deadline %s: %s, expected %s", name, got, tc.want)
		}
	}
}

// Claim 3: with a fencing token that is minted with the grant, and a resource that
// checks it on every access, there are no stale writes; not even where the lock
// itself has failed.

var fencedTake = redis.NewScript(`
if redis.call("SET", KEYS[1], ARGV[1], "NX", "PX", ARGV[2]) then
  return redis.call("INCR", KEYS[2])
end
return 0`)

var fencedDrop = redis.NewScript(`
if redis.call("GET", KEYS[1]) == ARGV[1] then
  return redis.call("DEL", KEYS[1])
end
return 0`)

// fenced mints the token in the script that takes the lock; late, by a command of
// its own afterwards.
func fenced(late bool) strategies.Strategy {
	return toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		if late {
			lease, err := toyTake(ctx, l)
			if err == nil {
				lease.Fence, err = l.rdb.Incr(ctx, "fence").Result()
			}
			return lease, err
		}
		token, sent := l.Token(), l.Clock.Monotonic()
		fence, err := fencedTake.Run(ctx, l.rdb, []string{l.key, "fence"}, token, l.TTL.Milliseconds()).Int64()
		switch {
		case err != nil:
			return nil, err
		case fence == 0:
			return nil, strategies.ErrNotAcquired
		}
		return &strategies.Lease{Token: token, Deadline: sent + l.TTL, Fence: fence}, nil
	}, func(ctx context.Context, l *toyLock, lease *strategies.Lease) error {
		return fencedDrop.Run(ctx, l.rdb, []string{l.key}, lease.Token).Err()
	}, fencedTake, fencedDrop)
}

// unkindFault breaks the lock, but not the counter.
func unkindFault(w *World, rng *rand.Rand) Fault {
	switch rng.IntN(6) {
	case 0:
		return Evict{anyNode(w, rng)}
	case 1:
		return NodeStep{anyNode(w, rng), time.Duration(rng.IntN(2400)-1200) * time.Millisecond}
	}
	return durableFault(w, rng)
}

func TestClaim3(t *testing.T) {
	t.Parallel()
	cfg := func(rng *rand.Rand) Config {
		cfg := trial(fenced(false), rng, 0.5, 1, 2)
		cfg.Resource, cfg.Nodes[0].Persistence = Fenced, PersistAlways
		return cfg
	}
	(&claim{cfg: cfg, faults: unkindFault, runs: 500, moves: 120, never: []Code{SW}, some: []Code{DG, OV}}).try(t)
}

// TestClaim3Assumptions: a paused holder comes back, B has been there meanwhile.
func TestClaim3Assumptions(t *testing.T) {
	for name, tc := range map[string]struct {
		s        strategies.Strategy
		resource Resource
		faults   []Fault // while A is away
		stop     Kind    // where A is held up
		want     string
	}{
		"all of them hold":                      {fenced(false), Fenced, nil, KindRead, "OV"},
		"the resource checks":                   {fenced(false), Plain, nil, KindRead, "SW OV"},
		"the token is minted with the grant":    {fenced(true), Fenced, nil, KindReceive, "SW OV"},
		"the counter is durable":                {fenced(false), Fenced, []Fault{Down{"n1"}, Up{"n1"}}, KindRead, "SW OV"},
		"there is a token at all":               {toy(toyTake, toyKeep), Fenced, nil, KindRead, "SW OV"},
		"a token minted late, but not too late": {fenced(true), Fenced, nil, KindRead, "OV"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := configOf(tc.s, "A", "B")
			cfg.Resource = tc.resource
			w := newWorld(t, cfg)
			until(t, w, "A", tc.stop)
			w.Wait(11 * time.Second)
			inject(t, w, tc.faults...)
			until(t, w, "B", KindRead)
			run(t, w)
			expectVerdict(t, w, tc.want)
		})
	}
}

// TestReadsMustRegister: a resource that checks writes only lets a reader in whom
// it should have kept out, and loses an update.
func TestReadsMustRegister(t *testing.T) {
	for resource, want := range map[Resource]string{FencedWrites: "SW OV", Fenced: "OV"} {
		cfg := configOf(fenced(false), "A", "B")
		cfg.Resource = resource
		w := newWorld(t, cfg)
		until(t, w, "A", KindRead)
		w.Wait(11 * time.Second)
		until(t, w, "B", KindRead) // it has seen the old value, and marked it as its own, or not
		run(t, w, "A")
		run(t, w)
		expectVerdict(t, w, want)
	}
}

// Claim 4: Redlock never grants twice, whatever a minority of its nodes does that
// keeps the assumptions.

// minorityFault lets fewer than half of the nodes go down; they come back only
// where nothing is lost thereby.
func minorityFault(w *World, rng *rand.Rand) Fault {
	down := 0
	for _, n := range w.nodes {
		if !n.up {
			down++
		}
	}
	switch rng.IntN(8) {
	case 0:
		if down < (w.Nodes()-1)/2 {
			return Down{anyNode(w, rng)}
		}
	case 1:
		if n := w.nodes[rng.IntN(w.Nodes())]; n.persistence == PersistAlways {
			return Up{n.name}
		}
	}
	return kindFault(w, rng)
}

func TestClaim4(t *testing.T) {
	t.Parallel()
	for _, size := range []struct {
		nodes, runs int
		some        []Code
	}{{3, 250, []Code{BD}}, {5, 40, nil}} {
		t.Run(fmt.Sprint(size.nodes), func(t *testing.T) {
			s, _ := strategies.Get("redlock")
			s.Nodes = size.nodes
			(&claim{
				cfg: func(rng *rand.Rand) Config {
					cfg := trial(s, rng, steady...)
					cfg.Timeout = 50 * time.Millisecond
					cfg.Retry = strategies.Retry{Tries: 2, Jitter: 100 * time.Millisecond}
					for i := range cfg.Nodes {
						cfg.Nodes[i].Persistence = []Persistence{PersistNone, PersistAlways}[rng.IntN(2)]
						cfg.Nodes[i].Offset = time.Duration(rng.IntN(2000)-1000) * time.Millisecond
					}
					return cfg
				},
				faults: minorityFault,
				runs:   size.runs, moves: 40 * size.nodes,
				never: []Code{DG, FR, PD, GAP},
				some:  size.some,
			}).try(t)
		})
	}
}

// TestClaim4Assumptions: A has n1, n2 and n3, and no more; then one of them lets it
// down, and B gets n3, n4 and n5.
func TestClaim4Assumptions(t *testing.T) {
	for _, tc := range []struct {
		assumption string
		cfg        func(*Config)
		play       func(t *testing.T, w *World)
		want       string
	}{
		{"all of them hold", func(*Config) {}, func(*testing.T, *World) {}, "ok"},
		{"a node that restarts has kept its keys", func(*Config) {}, func(t *testing.T, w *World) { inject(t, w, Down{"n3"}, Up{"n3"}) }, "DG OV"},
		{"as one that persists always does", func(cfg *Config) { cfg.Nodes[2].Persistence = PersistAlways },
			func(t *testing.T, w *World) { inject(t, w, Down{"n3"}, Up{"n3"}) }, "ok"},
		{"or it stays away until all leases are over", func(*Config) {}, func(t *testing.T, w *World) {
			inject(t, w, Down{"n3"})
			w.Wait(10 * time.Second)
			inject(t, w, Up{"n3"})
		}, "OV"},
		{"no node's clock jumps", func(*Config) {}, func(t *testing.T, w *World) { inject(t, w, NodeStep{"n3", 10 * time.Second}) }, "DG OV"},
		{"no key is evicted", func(*Config) {}, func(t *testing.T, w *World) { inject(t, w, Evict{"n3"}) }, "DG OV"},
		{"rates differ by no more than the drift allowance", func(cfg *Config) { cfg.Clients[0].Rate = 0.97 },
			func(_ *testing.T, w *World) { w.Wait(10010*time.Millisecond - w.Now()) }, "DG OV"},
		{"the client's wall clock is nobody's business", func(*Config) {},
			func(t *testing.T, w *World) { inject(t, w, WallStep{"A", -time.Hour}) }, "ok"},
	} {
		t.Run(tc.assumption, func(t *testing.T) {
			cfg := config(t, "redlock", "A", "B")
			cfg.Retry.Tries, cfg.Clients[0].Work = 1, time.Minute
			tc.cfg(&cfg)
			w := newWorld(t, cfg)
			inject(t, w, Cut{"A", "n4", Both}, Cut{"A", "n5", Both})
			until(t, w, "A", KindEnter)
			tc.play(t, w)
			for w.Where(1).Phase != PhaseWork && !w.Where(1).Over && w.Step(SetOf(1)) {
			}
			expectVerdict(t, w, tc.want)
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
			continue // see TestClaim5Needs
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
				inject(t, w, Crash{"A"})
				crashed := w.Now()
				until(t, w, "B", KindGranted)
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
	return !strings.HasPrefix(name, "getset") && name != "timestamp-del"
}

// expectGoneBy: until then, at the latest, A's last record is gone from every node.
func expectGoneBy(t *testing.T, w *World, by time.Duration, k int) {
	t.Helper()
	for i := range w.trace.Events {
		e := &w.trace.Events[i]
		for _, ch := range e.Changes {
			if e.Kind == KindExpire && ch.Key == w.cfg.Key && e.At > by && strings.HasPrefix(ch.Before.Value, "A") {
				t.Fatalf("A crashes after %d steps, and its record is there until %s, not %s", k, e.At, by)
			}
		}
	}
}

// TestClaim5Needs a TTL, which is set together with the record.
func TestClaim5Needs(t *testing.T) {
	for _, tc := range []struct {
		strategy string
		sends    int // A crashes after so many, all of them executed
		want     string
	}{
		{"setnx", 1, "PD"}, {"setnx-expire", 1, "PD"}, {"setnx-expire", 2, "BD"},
	} {
		w := newWorld(t, config(t, tc.strategy, "A", "B"))
		for range tc.sends {
			until(t, w, "A", KindSend)
		}
		inject(t, w, Crash{"A"})
		if got := aftermath(t, w); got != tc.want {
			t.Errorf("%s, crashed after %d commands: %s, expected %s", tc.strategy, tc.sends, got, tc.want)
		}
	}
}
