package space

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/naming"
	"lockstep/sim/monitor"
	"lockstep/sim/redis"
	"lockstep/sim/testenv"
	"lockstep/strategies"
)

// TestEnvironment: whatever a third client does to a node, the environment can do, with the
// deeds that two clients and the environment itself lead to.
func TestEnvironment(t *testing.T) {
	t.Parallel()
	for i, name := range []string{"setpx-lua", "setpx-watch", "get-then-del", "setnx-expire"} {
		if !testenv.Some(i, 2) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s, known := strategies.Get(name)
			if !known {
				t.Fatal("there is no such lock")
			}
			b := bounds.Defaults(s)
			b.Cycles, b.Faults = bounds.Any, Budget{bounds.Crash: bounds.Any, bounds.Pause: bounds.Any, bounds.ReplyLost: bounds.Any}
			b.Others = true
			abstract := digital(t, b)
			closeUnder(t, abstract)
			b.Others, b.Clients, b.Faults[bounds.HoldRequest], b.Faults[bounds.Duplicate] = false, 3, 1, 1
			follows(t, digital(t, b), abstract.Explorer())
		})
	}
}

// digital returns a model in which time stops at multiples of the TTL and the timeout.
func digital(t *testing.T, b Bounds) *Model {
	m, err := NewModel(b, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() }) //nolint:errcheck // nothing is written
	m.instants.Digitize([]int32{m.timeout, m.ttl}, nil)
	m.Servers.ExpireEarly()
	return m
}

// closeUnder visits all states, until clients do nothing that the environment doesn't know.
func closeUnder(t *testing.T, m *Model) {
	for more := true; more; more = m.Meet() {
		m.forget()
		x := m.Explorer()
		seen, queue := map[string]bool{}, [][]uint32{x.Begin()}
		for len(queue) > 0 && len(seen) < 40_000 {
			s := queue[0]
			queue = queue[1:]
			x.View(s)
			x.Follow(s)
			for to := range slices.Chunk(x.Followed(), x.Width) {
				if key := fmt.Sprint(to); !seen[key] {
					seen[key] = true
					queue = append(queue, slices.Clone(to))
				}
			}
			if x.Err != nil {
				t.Fatal(x.Err)
			}
		}
	}
}

// follows plays random schedules of three clients, and takes the nodes before and after each
// step of the third to the environment's explorer.
func follows(t *testing.T, m *Model, env *Explorer) {
	const seed = 3
	t.Logf("seed %d", seed)
	rng, x := rand.New(rand.NewPCG(seed, 1)), m.Explorer()
	changes := 0
	for range 100 {
		s := x.Begin()
		for range 150 {
			x.Visit(s)
			choices := x.Enabled()
			c := choices[rng.IntN(len(choices))]
			if c.Kind != Acts {
				c = choices[rng.IntN(len(choices))]
			}
			used := x.seriesUsed()
			for i := range x.Bounds.Clients {
				own, _ := x.seriesOf(&x.s.clients[i])
				used |= own
			}
			before := x.s.nodes[0]
			if x.Choose(c); x.Err != nil {
				t.Fatal(x.Err)
			}
			if after := x.s.nodes[0]; c.Kind.Scope() != OfTime && c.Who == 2 {
				from, to := asOthers(x, env, before), asOthers(x, env, after)
				if from != to {
					changes++
				}
				if from != to && !slices.Contains(env.doneTo(deedsKey{from, thirdAsOthers().On(used)}), to) {
					t.Fatalf("the environment can't make %+v of %+v", env.Servers.Snapshot(env.ids.nodes.Value(to).snapshot), env.Servers.Snapshot(env.ids.nodes.Value(from).snapshot))
				}
			}
			s = x.Packed(s)
		}
	}
	if changes < 100 {
		t.Errorf("the third client has changed the node only %d times", changes)
	}
}

// thirdAsOthers gives the third client the name of the environment.
func thirdAsOthers() *naming.Renaming {
	var g naming.Namer
	g.Begin([...]uint8{0, 1, behaviour.Environment, 2})
	return g.Complete()
}

// asOthers returns the id of a node of three clients as it is for the environment's explorer.
func asOthers(x, env *Explorer, n node) uint32 {
	snap := *x.Servers.Snapshot(x.Servers.Rename(n.snapshot, thirdAsOthers()))
	snap.Peers = slices.DeleteFunc(slices.Clone(snap.Peers), func(txn redis.OpenTxn) bool { return txn.Conn>>4 >= 2 })
	if len(snap.Peers) == 0 {
		snap.Peers = nil
	}
	if n.owner.Client == 2 {
		n.owner = monitor.Owner{Client: behaviour.Environment}
	}
	n.snapshot = env.Servers.ID(snap)
	return env.ids.nodes.ID(n)
}
