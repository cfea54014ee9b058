package space

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"

	"lockstep/sim"
	"lockstep/sim/explore/picture"
	"lockstep/sim/trace"
)

// Agree plays one random complete schedule in both the search and the engine, and fails
// where they differ.
func (m *Model) Agree(w *sim.World, seed uint64) error {
	if err := w.Reset(m.Config, false); err != nil {
		return err
	}
	rng := rand.New(rand.NewPCG(seed, 7))
	x := m.Explorer()
	x.s.copyFrom(m.start())
	x.Reduce = seed%2 == 0
	var all Codes
	var path, choices []Choice
	eager := rng.IntN(3) // faults come more or less often
	for {
		before := x.StateID()
		x.View(before)
		if choices = x.enabled(choices); len(choices) == 0 {
			break
		}
		c := choices[rng.IntN(len(choices))]
		for range eager {
			if c.Kind != Acts && c.Kind != Passes {
				c = choices[rng.IntN(len(choices))]
			}
		}
		counted := x.Stats
		if x.Choose(c); x.Err != nil {
			return x.Err
		}
		c.ops = x.ops
		path = append(path, c)
		if err := x.checkLocal(c, before, counted); err != nil {
			return fmt.Errorf("%w\n%s", err, m.text(path))
		}
		all |= x.Found
		if err := w.Play(m.Play(c), nil); err != nil {
			return err
		}
		if err := m.differ(x, w, all); err != nil {
			return fmt.Errorf("after %d choices of schedule %d %w\n%s", len(path), seed, err, m.text(path))
		}
	}
	if !x.Over() {
		return nil // the bound on switches has ended the schedule early
	}
	dead := x.Deadlocked()
	if x.Err != nil {
		return x.Err
	}
	if err := w.Drain(); err != nil {
		return err
	}
	if real := slices.Contains(w.Verdict(), trace.PD); dead != real {
		return fmt.Errorf("at the end of schedule %d the search says %t to a permanent deadlock, and the engine %t\n%s", seed, dead, real, m.text(path))
	}
	return nil
}

// checkLocal fails if the choice that was made last is a local step, and leads to another
// state as such.
func (x *Explorer) checkLocal(c Choice, before []uint32, counted Stats) error {
	if !x.Reduce {
		return nil
	}
	after, stats := x.StateID(), x.Stats
	x.Stats = counted
	if to, local := x.localStep(c, before, nil); local && (!slices.Equal(to, after) || x.Stats != stats || x.Found != 0) {
		return fmt.Errorf("the search takes a step of client %d for its own business, and it isn't", c.Who)
	}
	x.Stats = stats
	return nil
}

// text is a path as the line of a schedule.
func (m *Model) text(path []Choice) string {
	return sim.Schedule{Config: m.Config, Moves: m.Schedule(path)}.String()
}

// differ fails unless the search and the engine agree on violations, clients and nodes.
func (m *Model) differ(x *Explorer, w *sim.World, found Codes) error {
	if real := trace.SetOf(w.Verdict()...) & searched; found != real {
		return fmt.Errorf("the search finds %s, and the engine %s", found, real)
	}
	if a, b := x.picture(make([]byte, 0, 512), true), picture.Of(make([]byte, 0, 512), w, Names[:m.Bounds.Clients], m.Config.RecordKey()); !bytes.Equal(a, b) {
		return fmt.Errorf("the search has\n%s\nand the engine\n%s", a, b)
	}
	return nil
}

// Outline describes the state that the explorer is in, without what depends on when that is
// alone: the contents of records, and what clients remember.
func (x *Explorer) Outline() string {
	text := make([]byte, 0, 256)
	for i := range x.Bounds.Clients {
		c := &x.s.clients[i]
		text = picture.Client(text, Names[i], c.Crashed, c.Phase, int(c.Acquired), c.Live, c.Inside, c.paused)
		if c.Crashed {
			continue
		}
		for t, p := range x.history(i).Threads {
			text = strconv.AppendBool(strconv.AppendBool(append(text, byte('a'+p.Kind)), p.Over), c.waits[t])
		}
	}
	for i, n := range x.s.nodes {
		text = picture.Node(text, i)
		for _, k := range x.Servers.Snapshot(n.snapshot).Keys {
			text = picture.Key(text, k.Name, "", k.Left)
		}
		text = picture.Owner(text, int(n.owner.Client), int(n.owner.N))
	}
	return string(text)
}

// picture describes a state of the search by what a world shows, too: see picture.Of. Without names
// it leaves out the values of keys, the numbers of acquisitions, and pauses.
func (x *Explorer) picture(text []byte, names bool) []byte {
	for i := range x.Bounds.Clients {
		c := &x.s.clients[i]
		n, paused := int(c.Acquired), c.paused && c.Phase != trace.PhaseIdle // between cycles it makes no difference
		if !names {
			n, paused = 0, false
		}
		text = picture.Client(text, Names[i], c.Crashed, c.Phase, n, c.Live, c.Inside, paused)
	}
	for i, n := range x.s.nodes {
		text = picture.Node(text, i)
		for _, k := range x.Servers.Snapshot(n.snapshot).Keys {
			if !names {
				k.Value, n.owner.N = "", 0
			}
			text = picture.Key(text, k.Name, k.Value, k.Left)
			if k.Name == x.Config.RecordKey() {
				text = picture.Owner(text, int(n.owner.Client), int(n.owner.N))
			}
		}
	}
	return text
}
