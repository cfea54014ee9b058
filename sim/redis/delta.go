package redis

import (
	"time"

	"lockstep/sim/trace"
)

// Delta is the changes of a write on a master, in the form in which its replicas get them.
type Delta struct {
	keys   []stored
	gone   []string
	stored []string // the keys among them under which a value was stored
}

// DeltaOf returns the delta that carries a node's newest changes to its replicas.
func (n *Node) DeltaOf(changes []trace.Change) (u Delta) {
	for _, ch := range changes {
		if ch.After == nil {
			u.gone = append(u.gone, ch.Key)
			continue
		}
		written, _ := n.look(ch.Key)
		u.keys = append(u.keys, written)
		if ch.Stored {
			u.stored = append(u.stored, ch.Key)
		}
	}
	return u
}

// Apply writes a master's changes to the node, and returns the node's own. It fails on a
// type that it cannot write.
func (n *Node) Apply(now time.Duration, u Delta) ([]trace.Change, error) {
	n.stores = append(n.stores[:0], u.stored...)
	n.sync(now)
	for _, key := range u.gone {
		n.redis.Del(key)
	}
	for _, s := range u.keys {
		n.redis.Del(s.key)
		if s.when != immortal && s.when < n.millis {
			continue
		}
		if err := n.restore(s); err != nil {
			return nil, err
		}
	}
	return n.changed(now), nil
}

// CopyOf replaces the node's contents with those of its new master, and returns the changes.
// It fails on a type that it cannot write.
func (n *Node) CopyOf(now time.Duration, master *Node) ([]trace.Change, error) {
	var u Delta
	for _, s := range n.known {
		u.gone = append(u.gone, s.key)
	}
	u.keys = append(u.keys, master.known...)
	return n.Apply(now, u)
}
