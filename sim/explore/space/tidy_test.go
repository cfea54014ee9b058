package space

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/madeup"
)

// TestKnownTokensAreKept: on random schedules, no request is dropped as spent whose tokens a server has or a
// client knows, be they another's. The locks are such that clients store tokens of others again.
func TestKnownTokensAreKept(t *testing.T) {
	const seed = 3
	t.Logf("seed %d", seed)
	rng, dropped, others := rand.New(rand.NewPCG(seed, 1)), 0, 0
	for n := range madeup.Number {
		if !strings.Contains(madeup.Lock(n, time.Second).Name, "restores") {
			continue
		}
		b := Bounds{Strategy: madeup.Lock(n, 12*time.Second), Clients: 2, Cycles: bounds.Any, TTL: 12 * time.Second, Record: "lock"}
		b.Faults = Budget{bounds.Crash: bounds.Any, bounds.Pause: bounds.Any, bounds.HoldRequest: 3}
		m, err := NewModel(b, false)
		if err != nil {
			t.Fatal(err)
		}
		x := m.Explorer()
		x.Reduce = true
		for range 30 {
			state := x.Begin()
			for range 800 {
				x.Visit(state)
				choices := x.Enabled()
				if len(choices) == 0 {
					break
				}
				c := choices[rng.IntN(len(choices))]
				if c.Kind == Crashes && rng.IntN(8) > 0 {
					continue
				}
				x.Choose(c)
				if x.Err != nil {
					t.Fatal(x.Err)
				}
				held := slices.Clone(x.ids.helds.Get(x.s.world.held))
				kept := x.dropSpent(slices.Clone(held))
				for _, r := range held {
					tokens := x.Clients.SeriesInCommand(r.Command)
					known := x.Servers.SeriesIn(x.s.nodes[0].snapshot)
					for i := range b.Clients {
						h := x.history(i)
						if known |= h.Own | h.Series; int(r.Client) != i && (h.Own|h.Series)&tokens != 0 {
							others++
						}
					}
					gone := !slices.Contains(kept, r)
					if gone {
						dropped++
					}
					if gone && known&tokens != 0 {
						t.Fatalf("%s: command %d is dropped, and somebody knows its token", b.Strategy.Name, r.Command)
					}
				}
				state = x.Packed(state)
			}
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if dropped < 100 || others < 100 {
		t.Errorf("%d requests were dropped, and of %d others knew the tokens", dropped, others)
	}
}
