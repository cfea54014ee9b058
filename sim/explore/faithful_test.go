package explore

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"lockstep/sim"
	"lockstep/strategies"
)

// TestFaithful: what the search remembers is what the whole engine does. Random
// complete schedules, with faults of all kinds, are played on both, and after each
// move they agree on what is violated and on what is so.
func TestFaithful(t *testing.T) {
	for _, s := range strategies.All() {
		t.Run(s.Name, func(t *testing.T) {
			b := Defaults(s)
			b.Faults = Budget{1, 3, 1, 1, 1, 1, 1, 1}
			m, err := newModel(b)
			if err != nil {
				t.Fatal(err)
			}
			defer m.close()
			w, err := sim.New(m.cfg)
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			for seed := range uint64(3000) {
				if !compare(t, m, w, seed) {
					t.Fatalf("seed %d", seed)
				}
			}
		})
	}
}

func compare(t *testing.T, m *model, w *sim.World, seed uint64) bool {
	if err := w.Reset(m.cfg, dbg); err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(seed, 7))
	x := m.explorer()
	x.s.copyFrom(m.start())
	var all codes
	var trail []move
	var choices []move
	eager := rng.IntN(3) // faults come more or less often
	for {
		choices = x.moves(choices)
		if len(choices) == 0 {
			break
		}
		v := choices[rng.IntN(len(choices))]
		for range eager {
			if v.kind != acts && v.kind != passes {
				v = choices[rng.IntN(len(choices))]
			}
		}
		trail = append(trail, v)
		if dbg {
			fmt.Printf("%+v\n", v)
			for _, c := range x.s.clients {
				fmt.Printf("    %+v %+v\n", c, x.tables.inboxes.get(c.inbox))
			}
		}
		x.follow(v)
		if x.err != nil {
			t.Error(x.err)
			return false
		}
		all |= x.found
		if err := w.Play(m.play(v), nil); err != nil {
			t.Error(err)
			return false
		}
		if got, want := all.String(), engineCodes(w); got != want {
			t.Errorf("after %d moves the search finds %s, the engine %s\n%s", len(trail), got, want, show(m, trail))
			return false
		}
		if got, want := x.picture(), enginePicture(m, w); got != want {
			t.Errorf("after %d moves the search has\n%s\nthe engine\n%s\n%s", len(trail), got, want, show(m, trail))
			if dbg {
				tr, _ := w.Trace()
				tr.Plain(os.Stdout)
			}
			return false
		}
	}
	if x.deadlocked() {
		all |= setOf(sim.PD)
	}
	if err := w.Aftermath(); err != nil {
		t.Error(err)
	}
	if got, want := all.has(sim.PD), slices.Contains(w.Verdict(), sim.PD); got != want {
		t.Errorf("at the end the search finds %s, the engine %s\n%s", all, w.Verdict(), show(m, trail))
		return false
	}
	return true
}

func show(m *model, trail []move) string {
	return sim.Schedule{Config: m.cfg, Moves: m.schedule(trail)}.String()
}

// engineCodes is what the engine's monitors say, of the codes that searches look for.
func engineCodes(w *sim.World) string {
	var s codes
	for _, c := range w.Verdict() {
		if c != sim.BD && c != sim.LV {
			s |= setOf(c)
		}
	}
	return s.String()
}

func (x *explorer) picture() string {
	text := ""
	for i := range x.bounds.Clients {
		c, m := x.s.clients[i], x.moment(i)
		if c.crashed {
			text += fmt.Sprintf("%s crashed\n", names[i])
			continue
		}
		text += fmt.Sprintf("%s %v acquired=%d live=%v inside=%v paused=%v\n", names[i], m.phase, m.acquired, c.live, m.inside, c.paused)
	}
	for i, n := range x.s.nodes {
		text += fmt.Sprintf("n%d", i+1)
		for _, k := range x.v.memories.at(n.memory).Keys {
			text += fmt.Sprintf(" %s=%s", k.Name, k.Value)
			if k.Left != sim.Immortal {
				text += fmt.Sprintf(" for %dms", k.Left)
			}
			if k.Name == x.cfg.Key {
				text += fmt.Sprintf(" of %d/%d", n.owner, n.ownerN)
			}
		}
		text += "\n"
	}
	return text
}

func enginePicture(m *model, w *sim.World) string {
	s := w.State()
	text := ""
	for i := range m.bounds.Clients {
		c := s.Clients[i]
		if c.Crashed {
			text += fmt.Sprintf("%s crashed\n", names[i])
			continue
		}
		text += fmt.Sprintf("%s %v acquired=%d live=%v inside=%v paused=%v\n", names[i], c.Phase, c.Acquired, c.Lease.Live, c.Lease.Inside, c.Paused)
	}
	for _, i := range s.Primary {
		text += fmt.Sprintf("n%d", i+1)
		for _, r := range s.Nodes[i].Records {
			text += fmt.Sprintf(" %s=%s", r.Key, r.Value)
			if r.Expires != sim.Never {
				text += fmt.Sprintf(" for %dms", r.Left(w.Now()).Milliseconds())
			}
			if r.Key == m.cfg.Key {
				text += fmt.Sprintf(" of %d/%d", r.Owner.Client, r.Owner.N)
			}
		}
		text += "\n"
	}
	return text
}

var dbg = false
