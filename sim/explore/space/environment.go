package space

import (
	"fmt"
	"slices"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/naming"
	"lockstep/sim/monitor"
)

// deedsKey is the key of the environment's successors of a node.
type deedsKey struct {
	node uint32
	used naming.SeriesSet
}

// Meet adds to the environment the deeds of clients in this round, and reports whether any
// of them is new.
func (m *Model) Meet() (more bool) {
	if m.Bounds.Others {
		m.deeds, more = m.Clients.Deeds(m.deeds, m.Reached())
	}
	return more
}

// environment adds the successors of a packed state, which is unpacked as from, by the
// environment's deeds at the nodes, and returns their number.
func (x *Explorer) environment(state []uint32) (count int) {
	n := x.Bounds.Clients
	x.s.copyFrom(&x.from)
	used := x.seriesUsed()
	for _, id := range state[:n] {
		used |= x.ids.names.At(id).own
	}
	for at, id := range state[n : len(state)-1] {
		for _, to := range x.doneTo(deedsKey{id, used}) {
			x.s.copyFrom(&x.from)
			x.s.nodes[at] = *x.ids.nodes.Value(to)
			x.facts.Recount()
			x.dropUnsought()
			x.pack(state)
			count++
		}
	}
	return count
}

// doneTo lists the ids of the environment's successors of a node.
func (x *Explorer) doneTo(key deedsKey) []uint32 {
	if known, is := x.ids.deeds.Get(key); is {
		return *known
	}
	var all []uint32
	for _, deed := range x.deeds {
		instances, err := x.Clients.Instances(deed, key.used)
		if err != nil {
			x.fail(err)
			return nil
		}
		for _, instance := range instances {
			n, done := x.does(instance, *x.ids.nodes.Value(key.node))
			if x.Err != nil {
				return nil
			}
			if id := x.ids.nodes.ID(n); done && id != key.node && !slices.Contains(all, id) {
				all = append(all, id)
			}
		}
	}
	x.ids.deeds.Put(key, all)
	return all
}

// does returns a node after a deed of the environment, unless that can't be done there. The
// record then belongs to nobody who could be harmed: any two clients can be the real ones, so
// the harm that the environment does to its own kind, or to them, a real one does to another.
func (x *Explorer) does(deed behaviour.Deed, n node) (_ node, done bool) {
	answers, done, err := x.Servers.Do(deed, n.snapshot, func(q behaviour.Question) (behaviour.Answer, error) { return x.answer(&n, q) })
	for _, a := range answers {
		if a.Shares && x.Bounds.CodeSet()&ofOwners != 0 {
			err = errShared
		}
		switch {
		case !a.Effect.Touched:
		case !a.Effect.After:
			n.owner = monitor.Nobody
		case a.Effect.ChangesHands(x.facts.Counter):
			n.owner = monitor.Owner{Client: int16(x.probe() + 1)}
		}
		n.snapshot = a.Snapshot
	}
	if err != nil {
		x.fail(fmt.Errorf("what others can do at any time: %w", err))
	}
	return n, done
}
