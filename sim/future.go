package sim

import (
	"fmt"
	"slices"
)

// future is what the monitor asks of a world that its events don't tell: livelocks are
// found by looking into threads and timers.
type future struct{ w *World }

// Next describes the operation of a client's main thread, and how long it waits yet.
func (f future) Next(client int) string {
	t := f.w.clients[client].threads[0]
	text := fmt.Sprintf("%v %v", t.Op.Kind, t.Over)
	if t.waiting {
		text += fmt.Sprintf(" %d", t.due-f.w.now)
	}
	return text
}

// Timers describe those that will still do something.
func (f future) Timers() (due []string) {
	for i := range f.w.timers.items {
		if t := &f.w.timers.items[i]; f.w.alive(t) {
			due = append(due, fmt.Sprintf("%d %d %s", t.kind, t.at-f.w.now, t.subject()))
		}
	}
	slices.Sort(due)
	return due
}
