package sim

import (
	"fmt"
	"slices"
)

// future implements monitor.Future: it tells the monitor about threads and timers, which
// no event shows and by which livelocks are found.
type future struct{ w *World }

// Next describes the next operation of a client's main thread, and the time until then.
func (f future) Next(client int) string {
	t := f.w.clients[client].threads[0]
	text := fmt.Sprintf("%v %v", t.Op.Kind, t.Over)
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
