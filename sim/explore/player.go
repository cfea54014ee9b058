package explore

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"

	"lockstep/sim"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// player plays choices of a search without bounds in the engine, in which a client that takes
// the place of another after a crash is a client of its own.
type player struct {
	model  // with more clients in its configuration
	search *model
	as     []uint8 // for each client of the search, the engine's client that is in its place
	was    []uint8 // for each client of the engine, the search's
}

// newPlayer returns a player, with spare clients.
func (m *model) newPlayer() *player {
	p := &player{model: *m, search: m}
	p.cfg.Clients = slices.Clone(p.cfg.Clients)
	for len(p.cfg.Clients) < sim.MaxClients {
		c := p.cfg.Clients[0]
		c.Name = string(rune('A' + len(p.cfg.Clients)))
		p.cfg.Clients = append(p.cfg.Clients, c)
	}
	return p
}

// play returns the choice as moves of the engine, or reports that there is no client left.
func (p *player) play(c choice) ([]sim.Move, bool) {
	row := c.row()
	if row.of == ofNode || row.of == ofTime {
		return p.model.play(c), true
	}
	who := c.who
	if c.kind == frees && p.as[who] != who {
		return nil, false // whose request it is of those that were in this place isn't known here
	}
	c.who = p.as[who]
	if c.kind == crashes && p.bounds.Faults[Crash] == Any {
		if len(p.was) == len(p.cfg.Clients) {
			return nil, false
		}
		p.as[who], p.was = uint8(len(p.was)), append(p.was, who)
	}
	return p.model.play(c), true
}

// steps is the number of choices in a random schedule of a search without bounds.
const steps = 200

// agree plays a random schedule in both the search and the engine, and fails where they
// differ.
func (p *player) agree(w *sim.World, seed uint64) error {
	if err := w.Reset(p.cfg, false); err != nil {
		return err
	}
	p.as, p.was = nil, nil
	for i := range p.bounds.Clients {
		p.as, p.was = append(p.as, uint8(i)), append(p.was, uint8(i))
	}
	rng, x := rand.New(rand.NewPCG(seed, 7)), p.search.explorer()
	x.s.copyFrom(p.search.start())
	x.reduce = seed%2 == 0
	var all codes
	var choices []choice
	var moves []sim.Move
	for range steps {
		x.view(x.stateID())
		if choices = x.enabled(choices); len(choices) == 0 {
			return nil
		}
		c := choices[rng.IntN(len(choices))]
		if c.kind != acts && rng.IntN(2) > 0 {
			c = choices[rng.IntN(len(choices))]
		}
		x.choose(c)
		if c.ops = x.ops; x.err != nil {
			return x.err
		}
		all |= x.found
		made, fits := p.play(c)
		if !fits {
			return nil
		}
		moves = append(moves, made...)
		if err := w.Play(made, nil); err != nil {
			return err
		}
		if err := p.differ(x, w, all); err != nil {
			return fmt.Errorf("without bounds %w\n%s", err, sim.Schedule{Config: p.cfg, Moves: moves})
		}
	}
	return nil
}

// differ fails unless the search and the engine agree on violations, clients and nodes. The
// names of tokens and the numbers of acquisitions are the engine's own.
func (p *player) differ(x *explorer, w *sim.World, found codes) error {
	if real := codesOf(w.Verdict()) & x.bounds.codes(); real&^found != 0 { // leases are rounded up
		return fmt.Errorf("the search finds %s, and the engine %s", found, real)
	}
	if a, b := p.searched(x), p.played(x, w); !bytes.Equal(a, b) {
		return fmt.Errorf("the search has\n%s\nand the engine\n%s", a, b)
	}
	return nil
}

func (p *player) searched(x *explorer) (text []byte) {
	for i := range p.bounds.Clients {
		c := &x.s.clients[i]
		text = clientPicture(text, i, c.Crashed, c.Phase, 0, c.Live, c.Inside, false)
	}
	for i, n := range x.s.nodes {
		text = nodePicture(text, i)
		for _, k := range x.servers.Snapshot(n.snapshot).Keys {
			text = keyPicture(text, k.Name, "", k.Left)
			if k.Name == x.cfg.RecordKey() {
				text = ownerPicture(text, int(n.owner.Client), 0)
			}
		}
	}
	return text
}

func (p *player) played(x *explorer, w *sim.World) (text []byte) {
	s := w.State()
	for i := range p.bounds.Clients {
		c := &s.Clients[p.as[i]]
		text = clientPicture(text, i, c.Crashed, c.Phase, 0, c.Lease.Live || x.s.clients[i].Live, c.Lease.Inside, false)
	}
	for addr, i := range s.Primary {
		text = nodePicture(text, addr)
		for _, r := range s.Nodes[i].Records {
			left := redis.Immortal
			if r.Expires != trace.Never {
				left = r.Left(w.Now()).Milliseconds()
			}
			text = keyPicture(text, r.Key, "", left)
			if r.Key == p.cfg.RecordKey() {
				owner := r.Owner.Client
				if owner >= 0 {
					owner = int(p.was[owner])
				}
				text = ownerPicture(text, owner, 0)
			}
		}
	}
	return text
}
