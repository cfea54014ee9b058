package explore

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore/agree"
	"lockstep/sim/explore/space"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// TestFaithful: the search agrees with the engine. Random complete schedules, with faults of
// all kinds, are played in both, and after each choice they have the same violations and the
// same clients and nodes.
func TestFaithful(t *testing.T) {
	t.Parallel()
	for _, s := range strategies.All() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			b := Defaults(s)
			b.Faults = Budget{1, 3, 1, 1, 1, 1, 1, 1, Evict: 1}
			if s.Nodes > 1 {
				expectAgreement(t, b, 1000)
			} else {
				expectAgreement(t, b, 700)
				b.Faults = Budget{Crash: 1, Pause: 3, ReplyLost: 1, HoldRequest: 1, Duplicate: 1, ClientClock: 1, Failover: 1}
				expectAgreement(t, b, 300)
			}
		})
	}
}

func expectAgreement(t *testing.T, b Bounds, schedules uint64) {
	t.Helper()
	switch {
	case testenv.Raced:
		schedules = 20
	case !testenv.CI():
		schedules /= 32
	case !testenv.Whole():
		schedules /= 16
	}
	if err := agreement(b, schedules); err != nil {
		t.Fatal(err)
	}
}

func agreement(b Bounds, schedules uint64) error {
	return withModel(b, func(m *space.Model) error {
		w, err := sim.New(m.Config)
		for seed := uint64(0); err == nil && seed < schedules; seed++ {
			err = agree.Bounded(m, w, seed)
		}
		return errors.Join(err, w.Close())
	})
}

// TestFaithfulWidely is TestFaithful within random bounds: more clients and cycles, callers
// that check or extend their leases, resources that check fencing tokens, faults of all
// kinds, few switches.
func TestFaithfulWidely(t *testing.T) {
	t.Parallel()
	for i, s := range strategies.All() {
		t.Run(s.Name, func(t *testing.T) {
			t.Parallel()
			if i%4 != 0 {
				testenv.Long(t)
			}
			draws := 1
			if testenv.Whole() && !testenv.Raced {
				draws = 24
			}
			for draw := range draws {
				seed := uint64(100*i + draw)
				b := drawBounds(s, rand.New(rand.NewPCG(seed, 4)))
				if err := b.Check(); err != nil {
					t.Fatalf("seed %d: %s", seed, err)
				}
				if err := agreement(b, 25); err != nil {
					b.Strategy.New = nil
					t.Fatalf("seed %d: %+v\n%s", seed, b, err)
				}
			}
		})
	}
}

func drawBounds(s strategies.Strategy, rng *rand.Rand) Bounds {
	b := Defaults(s)
	b.Clients, b.Cycles = 2+rng.IntN(3), 1+rng.IntN(3)
	b.Checks, b.Extend = rng.IntN(2) == 0, rng.IntN(2) == 0
	if s.Fences {
		b.Resource = [...]sim.Resource{sim.Plain, sim.Fenced, sim.FencedWrites}[rng.IntN(3)]
	}
	if rng.IntN(4) == 0 {
		b.Switches = 1 + rng.IntN(5)
	}
	if s.Nodes > 1 {
		b.Nodes = 1 + rng.IntN(5)
	}
	b.TTL = [...]time.Duration{12 * time.Second, 3 * time.Second, 900 * time.Millisecond}[rng.IntN(3)]
	b.Timeout = [...]time.Duration{0, 0, 300 * time.Millisecond, 20 * time.Second}[rng.IntN(4)]
	b.Remembers = rng.IntN(5) == 0
	for k := range b.Faults {
		b.Faults[k] = uint8(rng.IntN(3))
	}
	if b.Faults[Failover] = 0; s.Nodes == 1 && rng.IntN(3) == 0 {
		for k := range b.Faults {
			if FaultKind(k).OnMaster() {
				b.Faults[k] = 0
			}
		}
		b.Faults[Failover] = 1
	}
	return b
}

// TestFaithfulRefusals: a lock that refuses without a command is refused twice in one step of
// a search.
func TestFaithfulRefusals(t *testing.T) {
	m := mutant{release: rightRelease, acquire: func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
		if m.id == "open" {
			return nil, strategies.ErrNotAcquired
		}
		l, err := rightAcquire(ctx, m)
		if err != nil {
			m.id = "open"
		}
		return l, err
	}}
	b := Bounds{Strategy: mutantStrategy(m, 1), Clients: 2, Cycles: 3, TTL: 12 * time.Second, Faults: Budget{Crash: 1, Pause: 1}}
	expectAgreement(t, b, 200)
}

// TestFaithfulAfterLivelocks: where clients have asked in vain until they had no cycles left, the engine says of a
// record that never goes what the search does.
func TestFaithfulAfterLivelocks(t *testing.T) {
	lock := keen(1, 4*time.Millisecond, func(l *keenLock) { l.TTL = 0 })
	b := Bounds{Strategy: lock, Clients: 2, Cycles: 3, Tries: 3, TTL: 12 * time.Millisecond, Faults: Budget{ReplyLost: 1}, Codes: trace.Verdict{trace.PD}}
	if err := agreement(b, 60); err != nil {
		t.Fatal(err)
	}
}
