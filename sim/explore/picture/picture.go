// Package picture describes a situation by the facts that both interpreters of schedules show, the
// engine and the search. They disagree if their pictures differ.
package picture

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"lockstep/sim"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// Of appends a world's picture of the clients with these names, and of its masters. record is the key of
// the lock's record.
func Of(text []byte, w *sim.World, names []string, record string) []byte {
	s := w.State()
	for i, name := range names {
		c := &s.Clients[i]
		paused := c.Paused && c.Phase != trace.PhaseIdle
		text = Client(text, name, c.Crashed, c.Phase, c.Acquired, c.Lease.Live, c.Lease.Inside, paused)
		text = Acts(text, !c.Crashed && w.Ready(sim.SetOf(i)))
	}
	for addr, i := range s.Primary {
		text = Node(text, addr)
		subscribed, waiting := w.Lasting(i)
		text = Lasting(text, subscribed, waiting)
		for _, r := range s.Nodes[i].Records {
			text = Key(text, r.Key, r.Value, Life(r, w))
			if r.Key == record {
				text = Owner(text, r.Owner.Client, r.Owner.N)
			}
		}
	}
	return text
}

// Places is Of for clients of a world that are in the places of others, without tokens, the values of keys, the
// numbers of acquisitions, and pauses. as has the client of the world for each place, was the place for each
// of these clients, and live the places whose leases count as live in any case.
func Places(w *sim.World, names []string, as, was []uint8, live func(place int) bool, record string) (text []byte) {
	s := w.State()
	for i, name := range names {
		c := &s.Clients[as[i]]
		text = Client(text, name, c.Crashed, c.Phase, 0, c.Lease.Live || live(i), c.Lease.Inside, false)
	}
	for addr, i := range s.Primary {
		text = Node(text, addr)
		var keys []redis.Key
		owner := trace.None
		for _, r := range s.Nodes[i].Records {
			keys = append(keys, redis.Key{Name: r.Key, Left: Life(r, w)})
			if r.Key != record {
				continue
			}
			if owner = r.Owner.Client; owner >= 0 {
				owner = int(was[owner])
			}
		}
		text = Nameless(text, keys, record, owner)
	}
	return text
}

// Keys appends the keys of a node. The owner of the lock's record is the nth acquisition of a client.
func Keys(text []byte, keys []redis.Key, record string, owner, n int) []byte {
	for _, k := range keys {
		if text = Key(text, k.Name, k.Value, k.Left); k.Name == record {
			text = Owner(text, owner, n)
		}
	}
	return text
}

var token = regexp.MustCompile(`[A-Z][0-9]+-[0-9a-f]{4}`)

// Nameless is Keys without values, numbers of acquisitions, and the tokens in the names of keys, in an order
// that is the same whatever tokens these are.
func Nameless(text []byte, keys []redis.Key, record string, owner int) []byte {
	var all []string
	for _, k := range keys {
		shown := []redis.Key{{Name: token.ReplaceAllString(k.Name, "?"), Left: k.Left}}
		all = append(all, string(Keys(nil, shown, record, owner, 0)))
	}
	slices.Sort(all)
	return append(text, strings.Join(all, "")...)
}

// Life returns how many milliseconds a record still lives, as a snapshot has it.
func Life(r trace.HeldRecord, w *sim.World) int64 {
	if r.Expires == trace.Never {
		return redis.Immortal
	}
	return r.Left(w.Now()).Milliseconds()
}

// Client appends the part of a client.
func Client(text []byte, name string, crashed bool, phase trace.Phase, acquired int, live, inside, paused bool) []byte {
	text = append(append(text, name...), ' ')
	if crashed {
		return append(text, "crashed\n"...)
	}
	text = append(text, phase.String()...)
	text = strconv.AppendInt(append(text, ", acquisition "...), int64(acquired), 10)
	text = strconv.AppendBool(append(text, ", live "...), live)
	text = strconv.AppendBool(append(text, ", inside "...), inside)
	text = strconv.AppendBool(append(text, ", paused "...), paused)
	return append(text, '\n')
}

// Acts appends whether a client can perform an operation.
func Acts(text []byte, acts bool) []byte {
	return append(strconv.AppendBool(append(text, " acts "...), acts), '\n')
}

// Lasting appends how many subscribed connections and waiting commands a node has.
func Lasting(text []byte, subscribed, waiting int) []byte {
	text = strconv.AppendInt(append(text, " subscribed "...), int64(subscribed), 10)
	return append(strconv.AppendInt(append(text, ", waiting "...), int64(waiting), 10), '\n')
}

// Node appends the heading of the node with an index.
func Node(text []byte, i int) []byte {
	return append(strconv.AppendInt(append(text, 'n'), int64(i+1), 10), '\n')
}

// Key appends a key of a node, and how many milliseconds it still lives.
func Key(text []byte, name, value string, left int64) []byte {
	text = append(append(append(append(text, ' '), name...), '='), value...)
	if left != redis.Immortal {
		text = append(strconv.AppendInt(append(text, " for "...), left, 10), "ms"...)
	}
	return append(text, '\n')
}

// Owner appends the owner of the lock's record: the nth acquisition of a client.
func Owner(text []byte, client, n int) []byte {
	text = strconv.AppendInt(append(text, " of "...), int64(client), 10)
	return append(strconv.AppendInt(append(text, '/'), int64(n), 10), '\n')
}
