// Package orbit takes packed states that differ in the names of clients alone for one: of all that are a state under
// other names, its orbit, a search within bounds follows the least. The parts of states are known by their ids, and a
// part's id under other names is asked for once.
package orbit

import (
	"sync"
	"sync/atomic"

	"lockstep/sim/explore/intern"
	"lockstep/sim/explore/naming"
)

// Kind is a kind of part of a packed state: those of clients come first, then those of nodes, and then that of the
// rest of the world.
type Kind uint8

// The kinds of part.
const (
	Client Kind = iota
	Node
	World
	Kinds // their number
)

// Renamer gives parts other names. It reports false if that can't be done.
type Renamer interface {
	Renamed(k Kind, id uint32, r *naming.Renaming) (to uint32, done bool)
}

// Orbits knows the ids of parts under other names. It is safe for concurrent use.
type Orbits struct {
	Ways    []*naming.Renaming // in which clients' names can be exchanged
	before  [][]uint8          // for each way, by a client's new name: the old one
	clients int                // of a state
	parts   [Kinds]parts
}

// parts are those of a kind under other names.
type parts struct {
	mu    sync.Mutex            // held while under grows
	under intern.Chunks[uint32] // for each id, and each way in its order: the id under that, or 0 if it is not known yet; atomic
}

// New returns the orbits of states with so many clients.
func New(clients int) *Orbits {
	o := &Orbits{Ways: naming.Interchanges(clients), clients: clients}
	for _, r := range o.Ways {
		before := make([]uint8, clients)
		for i, to := range r.Clients[:clients] {
			before[to] = uint8(i)
		}
		o.before = append(o.before, before)
	}
	return o
}

// Finder finds the least states of orbits, for one worker. Nil is for states each of which is an orbit of its own.
type Finder struct {
	*Orbits
	by    Renamer
	width int
	form  []uint32 // scratch
}

// Finder returns one for states of a width that has parts renamed so; nil, if the orbits are nil.
func (o *Orbits) Finder(by Renamer, width int) *Finder {
	if o == nil {
		return nil
	}
	return &Finder{Orbits: o, by: by, width: width}
}

// LeastOf replaces each of some packed states, which are concatenated, by the least of its orbit.
func (f *Finder) LeastOf(states []uint32) {
	if f == nil {
		return
	}
	for at := 0; at < len(states); at += f.width {
		f.Least(states[at : at+f.width])
	}
}

// Least replaces a packed state by the least of its orbit, and returns how many states that has.
func (f *Finder) Least(state []uint32) (size int) {
	if f == nil {
		return 1
	}
	least, same := state, 1
	for way := range f.Ways {
		at := 0
		var id uint32
		for ; at < len(state); at++ {
			if id = f.part(state, way, at); id != least[at] {
				break
			}
		}
		switch {
		case at == len(state):
			same++
		case id < least[at]:
			f.form = append(append(f.form[:0], least[:at]...), id)
			for at++; at < len(state); at++ {
				f.form = append(f.form, f.part(state, way, at))
			}
			least, same = f.form, 1
		}
	}
	copy(state, least)
	return (len(f.Ways) + 1) / same
}

// part returns the part in a place of a state under other names.
func (f *Finder) part(state []uint32, way, at int) uint32 {
	switch {
	case at < f.clients:
		return f.under(Client, state[f.before[way][at]], way)
	case at < len(state)-1:
		return f.under(Node, state[at], way)
	}
	return f.under(World, state[at], way)
}

// under returns the id of a part under other names. If it can't be renamed, it is its own.
func (f *Finder) under(k Kind, id uint32, way int) uint32 {
	known := f.parts[k].at(id*uint32(len(f.Ways)) + uint32(way))
	if to := atomic.LoadUint32(known); to != 0 {
		return to
	}
	to, done := f.by.Renamed(k, id, f.Ways[way])
	if !done {
		return id
	}
	atomic.StoreUint32(known, to)
	return to
}

// at returns the place for the part with an index.
func (p *parts) at(i uint32) *uint32 {
	if i >= p.under.Count.Load() {
		p.mu.Lock()
		for p.under.Count.Load() <= i {
			p.under.Add(0)
		}
		p.mu.Unlock()
	}
	return p.under.At(i)
}

// Ask has a part renamed in all ways, unless that was done before.
func (f *Finder) Ask(k Kind, id uint32) {
	for way := range f.Ways {
		f.under(k, id, way)
	}
}

// IDs deals ids out to workers, each to one of them.
type IDs struct{ dealt atomic.Uint32 }

// Each calls do with ids from 1 up to a number that may grow meanwhile, until none is left for this worker, or do
// reports false.
func (d *IDs) Each(most func() int, do func(id uint32) (goOn bool)) {
	for n := d.dealt.Load(); int(n) < most(); n = d.dealt.Load() {
		if d.dealt.CompareAndSwap(n, n+1) && !do(n+1) {
			return
		}
	}
}
