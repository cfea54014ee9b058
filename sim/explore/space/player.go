package space

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"

	"lockstep/sim"
	"lockstep/sim/explore/picture"
	"lockstep/sim/trace"
)

// player plays choices of a search without bounds in the engine, in which a client that takes
// the place of another after a crash is a client of its own.
type player struct {
	Model  // with more clients in its configuration
	search *Model
	as     []uint8 // for each client of the search, the engine's client that is in its place
	was    []uint8 // for each client of the engine, the search's
}

// NewPlayer returns a player, with spare clients.
func (m *Model) NewPlayer() *player {
	p := &player{Model: *m, search: m}
	p.Config.Clients = slices.Clone(p.Config.Clients)
	for len(p.Config.Clients) < sim.MaxClients {
		c := p.Config.Clients[0]
		c.Name = string(rune('A' + len(p.Config.Clients)))
		p.Config.Clients = append(p.Config.Clients, c)
	}
	return p
}

// play returns the choice as moves of the engine, or reports that there is no client left.
func (p *player) play(c Choice) ([]sim.Move, bool) {
	row := c.row()
	if row.of == OfNode || row.of == OfTime {
		return p.Model.Play(c), true
	}
	who := c.Who
	if (c.Kind == Frees || c.Kind == Repeats) && p.as[who] != who {
		return nil, false // whose request it is of those that were in this place isn't known here
	}
	c.Who = p.as[who]
	if c.Kind == Crashes && p.Bounds.Faults[Crash] == Any {
		if len(p.was) == len(p.Config.Clients) {
			return nil, false
		}
		p.as[who], p.was = uint8(len(p.was)), append(p.was, who)
	}
	return p.Model.Play(c), true
}

// steps is the number of choices in a random schedule of a search without bounds.
const steps = 200

// Agree plays a random schedule in both the search and the engine, and fails where they
// differ.
func (p *player) Agree(w *sim.World, seed uint64) error {
	if err := w.Reset(p.Config, false); err != nil {
		return err
	}
	p.as, p.was = nil, nil
	for i := range p.Bounds.Clients {
		p.as, p.was = append(p.as, uint8(i)), append(p.was, uint8(i))
	}
	rng, x := rand.New(rand.NewPCG(seed, 7)), p.search.Explorer()
	x.s.copyFrom(p.search.start())
	x.Reduce = seed%2 == 0
	var all Codes
	var choices []Choice
	var moves []sim.Move
	for range steps {
		x.View(x.StateID())
		if choices = x.enabled(choices); len(choices) == 0 {
			return nil
		}
		c := choices[rng.IntN(len(choices))]
		if c.Kind != Acts && rng.IntN(2) > 0 {
			c = choices[rng.IntN(len(choices))]
		}
		ahead := c.Kind == Acts && x.history(int(c.Who)).Threads[0].Asks() && !x.history(int(c.Who)).Single()
		x.Choose(c)
		if c.ops = x.ops; x.Err != nil {
			return x.Err
		}
		all |= x.Found
		made, fits := p.play(c)
		if !fits {
			return nil
		}
		moves = append(moves, made...)
		if err := w.Play(made, nil); err != nil {
			return err
		}
		if err := p.differ(x, w, all); ahead && err != nil {
			return nil // the engine's client asks again before its thread has had its reply
		} else if err != nil {
			return fmt.Errorf("without bounds %w\n%s", err, sim.Schedule{Config: p.Config, Moves: moves})
		}
	}
	return nil
}

// differ fails unless the search and the engine agree on violations, clients and nodes. The
// names of tokens and the numbers of acquisitions are the engine's own.
func (p *player) differ(x *Explorer, w *sim.World, found Codes) error {
	if real := trace.SetOf(w.Verdict()...) & x.Bounds.CodeSet() &^ trace.SetOf(trace.LV); real&^found != 0 { // leases are rounded up, and LV takes a graph
		return fmt.Errorf("the search finds %s, and the engine %s", found, real)
	}
	live := func(i int) bool { return x.s.clients[i].Live }
	if a, b := x.picture(nil, false), picture.Places(w, Names[:p.Bounds.Clients], p.as, p.was, live, p.Config.RecordKey()); !bytes.Equal(a, b) {
		return fmt.Errorf("the search has\n%s\nand the engine\n%s", a, b)
	}
	return nil
}
