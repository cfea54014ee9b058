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

// Player plays choices of a search without bounds in the engine, in which a client that takes
// the place of another after a crash is a client of its own.
type Player struct {
	search *space.Model
	engine space.Model // with more clients in its configuration
	as     []uint8     // for each client of the search, the engine's client that is in its place
	was    []uint8     // for each client of the engine, the search's
}

// NewPlayer returns a player, with spare clients.
func NewPlayer(m *space.Model) *Player {
	p := &Player{search: m, engine: *m}
	cfg := &p.engine.Config
	cfg.Clients = slices.Clone(cfg.Clients)
	for len(cfg.Clients) < sim.MaxClients {
		c := cfg.Clients[0]
		c.Name = string(rune('A' + len(cfg.Clients)))
		cfg.Clients = append(cfg.Clients, c)
	}
	return p
}

// Config returns the configuration of the engine's world.
func (p *Player) Config() sim.Config { return p.engine.Config }

// moves returns the choice as moves of the engine, or reports that there is no client left.
func (p *Player) moves(c space.Choice) ([]sim.Move, bool) {
	if of := c.Kind.Scope(); of == space.OfNode || of == space.OfTime {
		return p.engine.Play(c), true
	}
	who := c.Who
	if (c.Kind == space.Frees || c.Kind == space.FreesAndLosesReply || c.Kind == space.Repeats) && p.as[who] != who {
		return nil, false // whose request it is of those that were in this place isn't known here
	}
	c.Who = p.as[who]
	if c.Kind == space.Crashes && p.engine.Bounds.Faults[bounds.Crash] == bounds.Any {
		if len(p.was) == len(p.engine.Config.Clients) {
			return nil, false
		}
		p.as[who], p.was = uint8(len(p.was)), append(p.was, who)
	}
	return p.engine.Play(c), true
}

// steps is the number of choices in a random schedule of a search without bounds.
const steps = 200

// Play plays a random schedule of a search without bounds. The world has the player's configuration.
func (p *Player) Play(w *sim.World, seed uint64) error {
	if err := w.Reset(p.Config(), false); err != nil {
		return err
	}
	p.as, p.was = nil, nil
	for i := range p.search.Bounds.Clients {
		p.as, p.was = append(p.as, uint8(i)), append(p.was, uint8(i))
	}
	rng, x := rand.New(rand.NewPCG(seed, 7)), p.search.Explorer()
	x.Begin()
	x.Reduce = seed%2 == 0
	var all space.Codes
	var moves []sim.Move
	for range steps {
		x.View(x.StateID())
		choices := x.Enabled()
		if len(choices) == 0 {
			return nil
		}
		c := choices[rng.IntN(len(choices))]
		if c.Kind != space.Acts && rng.IntN(2) > 0 {
			c = choices[rng.IntN(len(choices))]
		}
		ahead := c.Kind == space.Acts && x.AsksAhead(int(c.Who))
		if c = x.Choose(c); x.Err != nil {
			return x.Err
		}
		all |= x.Found
		made, fits := p.moves(c)
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
			return fmt.Errorf("without bounds %w\n%s", err, sim.Schedule{Config: p.Config(), Moves: moves})
		}
	}
	return nil
}

// differ fails unless the search and the engine agree on violations, clients and nodes. The
// names of tokens and the numbers of acquisitions are the engine's own.
func (p *Player) differ(x *space.Explorer, w *sim.World, found space.Codes) error {
	sought := x.Bounds.CodeSet() &^ trace.SetOf(trace.LV) // leases are rounded up, and LV takes a graph
	if real := trace.SetOf(w.Verdict()...) & sought; real&^found != 0 {
		return fmt.Errorf("the search finds %s, and the engine %s", found, real)
	}
	names := bounds.Names[:x.Bounds.Clients]
	if a, b := x.Picture(nil, false), picture.Places(w, names, p.as, p.was, x.Live, x.Config.RecordKey()); !bytes.Equal(a, b) {
		return fmt.Errorf("the search has\n%s\nand the engine\n%s", a, b)
	}
	return nil
}
