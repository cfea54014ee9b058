package sim

import (
	"fmt"
	"slices"

	"lockstep/sim/trace"
)

// future implements monitor.Future: it tells the monitor about threads and timers, which
// no event shows and by which livelocks are found.
type future struct{ w *World }

// Next describes the next operation of a client's main thread, the time until then, and the replies to the client in its
// present try, or in the one after which it waits.
func (f future) Next(client int) string {
	c := f.w.clients[client]
	t := c.threads[0]
	text := fmt.Sprintf("%v %v %x", t.Op.Kind, t.Over, c.heard)
	if t.waiting && t.due != never {
		text += fmt.Sprintf(" %d", t.due-f.w.now)
	}
	return text
}

// Timers describes the timers that are not dead, and the subscriptions, sorted.
func (f future) Timers() (due []string) {
	for i := range f.w.timers.items {
		if t := &f.w.timers.items[i]; f.w.alive(t) {
			due = append(due, fmt.Sprintf("%d %d %s", t.kind, t.at-f.w.now, t.subject()))
		}
	}
	for _, n := range f.w.nodes {
		for _, p := range n.Subscribers() {
			if c := f.w.connOf(p); c != nil {
				due = append(due, fmt.Sprintf("%s subscribes at %s", c.client.Name, n.Name))
			}
		}
	}
	slices.Sort(due)
	return due
}

// hear notes a reply. Replies of an earlier try may be forgotten: the client was told again the facts on which it still
// depends, or it counts tries, which nobody sees.
func (c *client) hear(reply []byte) {
	if c.tries {
		c.heard, c.tries = 0, false
	}
	for len(reply) > 0 {
		c.heard = (c.heard ^ uint64(reply[0])) * fnvPrime
		reply = reply[max(1, trace.TokenAt(reply)):] // of a token, whose it is
	}
	c.heard = (c.heard ^ endOfReply) * fnvPrime
}

const (
	fnvPrime   = 1_099_511_628_211 // of 64 bits: http://www.isthe.com/chongo/tech/comp/fnv
	endOfReply = 256
)
