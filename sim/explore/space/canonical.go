package space

import (
	"cmp"
	"slices"
	"sync/atomic"

	"lockstep/sim/explore/flight"
	"lockstep/sim/explore/intern"
	"lockstep/sim/explore/naming"
	"lockstep/sim/explore/orbit"
	"lockstep/sim/monitor"
)

// partKey is the key of a part of a state under new names. Which series it mentions follows from its id.
type partKey struct {
	id      uint32
	kind    orbit.Kind
	clients uint8
	naming.Names
}

// canonical replaces a packed state of a search without bounds by its canonical form: the same
// state under other names of clients and series, and the same form for nearly all states that
// differ in nothing else. SOUNDNESS.md argues it. Where clients are alike, the form is the least that
// there is: else it would depend on the state from which the search came, and on its workers' pace.
func (x *Explorer) canonical(state []uint32) {
	keys, order := x.clientKeys(state), naming.SameClients
	n := x.Bounds.Clients
	slices.SortFunc(order[:n], func(a, b uint8) int { return cmp.Or(cmp.Compare(keys[a], keys[b]), cmp.Compare(a, b)) })
	x.least = append(x.least[:0], state...)
	x.renameInOrder(x.least, order)
	for naming.NextOrder(order[:n], keys[:]) {
		x.form = append(x.form[:0], state...)
		x.renameInOrder(x.form, order)
		if slices.Compare(x.form, x.least) < 0 {
			x.form, x.least = x.least, x.form
		}
	}
	copy(state, x.least)
}

// renameInOrder gives clients the names in this order, and series those in the order in which the
// clients, in theirs, the nodes and the requests mention them.
func (x *Explorer) renameInOrder(state []uint32, order [naming.SeriesClients]uint8) {
	g, n := &x.naming, x.Bounds.Clients
	clients := naming.SameClients
	for place, i := range order[:n] {
		clients[i] = uint8(place)
	}
	g.Begin(clients)
	for _, i := range order[:n] {
		g.Name(x.ids.names.At(state[i]).own)
	}
	for _, id := range state[n : len(state)-1] {
		s := x.ids.nodes.Summary(id)
		g.Name(s.owners)
		g.Name(s.series)
	}
	nameAll := func(list []flight.Request) {
		for i := range list {
			g.Name(x.seriesOwned(int(list[i].Client), list[i].Acquired))
			g.Name(x.Clients.SeriesInCommand(list[i].Command))
		}
	}
	nameAll(x.ids.helds.Get(x.ids.worlds.Value(state[len(state)-1]).held))
	for _, i := range order[:n] {
		nameAll(x.ids.sents.Get(x.ids.clients.Value(state[i]).sentBefore))
	}
	for _, i := range order[:n] {
		g.Name(x.ids.names.At(state[i]).series)
	}
	x.rename(state)
}

// clientKeys returns the keys by which clients of a packed state are put in order: their shapes, which
// are without names, and else the records, transactions and requests that belong to them.
func (x *Explorer) clientKeys(state []uint32) (keys [naming.SeriesClients]uint64) {
	n := x.Bounds.Clients
	for i := range n {
		keys[i] = uint64(x.shape(i, state[i])) << 32
	}
	for at, id := range state[n : len(state)-1] {
		s := x.ids.nodes.Summary(id)
		if i := int(s.owner); i >= 0 && i < n {
			keys[i] |= 1 << (2*at + 16)
		}
		for i := range n {
			if s.peers>>i&1 != 0 {
				keys[i] |= 2 << (2*at + 16)
			}
		}
	}
	for _, req := range x.ids.helds.Get(x.ids.worlds.Value(state[len(state)-1]).held) {
		keys[req.Client]++
	}
	return keys
}

// shape returns the id of client i as it would be if it were the first, and had drawn its
// tokens first.
func (x *Explorer) shape(i int, id uint32) uint32 {
	s := x.ids.names.At(id)
	if known := atomic.LoadUint32(&s.shape); known != 0 {
		return known
	}
	clients := naming.SameClients
	for j := range i {
		clients[j] = uint8(j + 1)
	}
	clients[i] = 0
	x.naming.Begin(clients)
	x.naming.Name(s.own)
	x.naming.Name(s.series)
	shape := x.renameClient(i, id)
	atomic.StoreUint32(&s.shape, shape)
	return shape
}

// rename gives all parts of a packed state their new names.
func (x *Explorer) rename(state []uint32) {
	g, n := &x.naming, x.Bounds.Clients
	var clients [naming.SeriesClients]uint32
	for i := range n {
		clients[g.Client(i)] = x.renameClient(i, state[i])
	}
	copy(state, clients[:n])
	for at, id := range state[n : len(state)-1] {
		state[n+at] = x.renameNode(id)
	}
	state[len(state)-1] = x.renameWorld(state[len(state)-1])
}

func (x *Explorer) renameClient(i int, id uint32) uint32 {
	s := x.ids.names.At(id)
	return x.renamed(orbit.Client, id, 1<<i, s.own|s.series, func(r *naming.Renaming) uint32 { return x.clientUnder(i, id, r) })
}

// clientUnder returns the id of client i under new names.
func (x *Explorer) clientUnder(i int, id uint32, r *naming.Renaming) uint32 {
	c := *x.ids.clients.Value(id)
	var err error
	if !c.Crashed {
		if c.history, err = x.Clients.Rename(c.history, r); err != nil {
			x.fail(err)
			return id
		}
	}
	c.Acquired = r.Number(i, c.Acquired)
	if c.inbox != 0 {
		inbox := slices.Clone(x.ids.inboxes.Get(c.inbox))
		for n := range inbox {
			inbox[n].reply = x.Clients.Reply(inbox[n].reply, r)
		}
		c.inbox, _ = x.ids.inboxes.Put(inbox)
	}
	c.sentBefore = x.renameRequests(x.ids.sents, c.sentBefore, r)
	return x.ids.clients.ID(c)
}

func (x *Explorer) renameNode(id uint32) uint32 {
	s := x.ids.nodes.Summary(id)
	clients := s.peers
	if s.owner >= 0 {
		clients |= 1 << s.owner
	}
	for bit := range s.owners.All {
		clients |= 1 << (bit / naming.SeriesEach)
	}
	return x.renamed(orbit.Node, id, clients, s.owners|s.series, func(r *naming.Renaming) uint32 { return x.nodeUnder(id, r) })
}

// nodeUnder returns the id of a node under new names.
func (x *Explorer) nodeUnder(id uint32, r *naming.Renaming) uint32 {
	n := *x.ids.nodes.Value(id)
	n.snapshot, n.owner = x.Servers.Rename(n.snapshot, r), renamedOwner(n.owner, r)
	if n.behind.snapshot != 0 {
		n.behind.snapshot, n.behind.owner = x.Servers.Rename(n.behind.snapshot, r), renamedOwner(n.behind.owner, r)
	}
	return x.ids.nodes.ID(n)
}

func renamedOwner(o monitor.Owner, r *naming.Renaming) monitor.Owner {
	if o == monitor.Nobody {
		return o
	}
	return monitor.Owner{Client: int16(r.Client(int(o.Client))), N: r.Number(int(o.Client), o.N)}
}

func (x *Explorer) renameWorld(id uint32) uint32 {
	held := x.ids.helds.Get(x.ids.worlds.Value(id).held)
	if len(held) == 0 {
		return id
	}
	clients, series := x.mentioned(held)
	return x.renamed(orbit.World, id, clients, series, func(r *naming.Renaming) uint32 { return x.worldUnder(id, r) })
}

// worldUnder returns the id of a world under new names.
func (x *Explorer) worldUnder(id uint32, r *naming.Renaming) uint32 {
	w := *x.ids.worlds.Value(id)
	w.held = x.renameRequests(x.ids.helds, w.held, r)
	return x.ids.worlds.ID(w)
}

// mentioned returns the clients and the series that requests mention.
func (m *Model) mentioned(list []flight.Request) (clients uint8, series naming.SeriesSet) {
	for i := range list {
		if list[i].Command == 0 {
			continue // it only keeps its place
		}
		clients |= 1 << list[i].Client
		series |= m.seriesOwned(int(list[i].Client), list[i].Acquired) | m.Clients.SeriesInCommand(list[i].Command)
	}
	return clients, series
}

func (x *Explorer) renameRequests(lists *intern.Lists[flight.Request], id uint32, r *naming.Renaming) uint32 {
	if id == 0 {
		return 0
	}
	renamed := slices.Clone(lists.Get(id))
	for i := range renamed {
		if req := &renamed[i]; req.Command != 0 {
			req.Acquired = r.Number(int(req.Client), req.Acquired)
			req.Client, req.Command = r.Clients[req.Client], x.Clients.Command(req.Command, r)
		}
	}
	id, _ = lists.Put(renamed)
	return id
}

// renamed returns the id of a part that mentions these clients and series under its new names,
// memoised.
func (x *Explorer) renamed(kind orbit.Kind, id uint32, clients uint8, series naming.SeriesSet, rename func(*naming.Renaming) uint32) uint32 {
	names, same, fit := x.naming.Names(clients, series)
	if same {
		return id
	}
	key := partKey{id, kind, clients, names}
	if known, is := x.ids.renamed.Get(key); is && fit {
		return *known
	}
	to := rename(x.naming.Complete())
	if x.Err == nil && fit {
		x.ids.renamed.Put(key, to)
	}
	return to
}

// Renamed returns the id of a part of a state within bounds under other names of clients: see [orbit.Renamer]. Its
// acquisitions keep their numbers, whosever they are.
func (x *Explorer) Renamed(k orbit.Kind, id uint32, r *naming.Renaming) (to uint32, done bool) {
	switch k {
	case orbit.Client:
		to = x.clientUnder(0, id, r)
	case orbit.Node:
		to = x.nodeUnder(id, r)
	default:
		to = x.worldUnder(id, r)
	}
	return to, x.Err == nil
}

// Parts returns how many parts of a kind there are.
func (m *Model) Parts(k orbit.Kind) int {
	return [...]int{orbit.Client: m.ids.clients.Len(), orbit.Node: m.ids.nodes.Len(), orbit.World: m.ids.worlds.Len()}[k]
}
