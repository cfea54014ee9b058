// Package agree plays random schedules in both interpreters, the search and the engine, and fails
// where they differ: in the violations that they find, or in the states of clients and servers after
// any choice.
package agree

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"

	"lockstep/sim"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/picture"
	"lockstep/sim/explore/space"
	"lockstep/sim/trace"
)

// Bounded plays one random complete schedule of a search within bounds, to the end. The world is
// any one.
func Bounded(m *space.Model, w *sim.World, seed uint64) error {
	if err := w.Reset(m.Config, false); err != nil {
		return err
	}
	rng, x := rand.New(rand.NewPCG(seed, 7)), m.Explorer()
	x.Begin()
	x.Reduce = seed%2 == 0
	var all space.Codes
	var path []space.Choice
	eager := rng.IntN(3) // faults come more or less often
	for {
		x.View(x.StateID())
		choices := x.Enabled()
		if len(choices) == 0 {
			break
		}
		c := choices[rng.IntN(len(choices))]
		for range eager {
			if c.Kind != space.Acts && c.Kind != space.Passes {
				c = choices[rng.IntN(len(choices))]
			}
		}
		c, err := x.ChooseLocal(c)
		if x.Err != nil {
			return x.Err
		}
		path = append(path, c)
		all |= x.Found
		if err == nil {
			if err = w.Play(m.Play(c), nil); err != nil {
				return err
			}
			err = differ(x, w, all)
		}
		if err != nil {
			return fmt.Errorf("after %d choices of schedule %d %w\n%s", len(path), seed, err, text(m, path))
		}
	}
	if !x.Rests() {
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
		return fmt.Errorf("at the end of schedule %d the search says %t to a permanent deadlock, and the engine %t\n%s", seed, dead, real, text(m, path))
	}
	return nil
}

// text is a path as the line of a schedule.
func text(m *space.Model, path []space.Choice) string {
	return sim.Schedule{Config: m.Config, Moves: m.Schedule(path)}.String()
}

// differ fails unless the search and the engine agree on violations, clients and nodes.
func differ(x *space.Explorer, w *sim.World, found space.Codes) error {
	if real := trace.SetOf(w.Verdict()...) & bounds.Searched; found != real {
		return fmt.Errorf("the search finds %s, and the engine %s", found, real)
	}
	names := bounds.Names[:x.Bounds.Clients]
	if a, b := x.Picture(make([]byte, 0, 512), true), picture.Of(make([]byte, 0, 512), w, names, x.Config.RecordKey()); !bytes.Equal(a, b) {
		return fmt.Errorf("the search has\n%s\nand the engine\n%s", a, b)
	}
	return nil
}
