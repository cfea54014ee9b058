// Package views has the views of a run that one key goes round.
package views

import "slices"

// View is the content of a player's largest pane.
type View uint8

// The views.
const (
	Timeline View = iota
	Ladder
	Trace
	State
	Holders // who has had the lock when
)

// String is what a view shows: the name that it has beside its key, wherever that is named.
func (v View) String() string {
	return [...]string{"timeline", "ladder", "trace", "state", "who held it"}[v]
}

// Next is the view that follows. Once anybody has had the lock that of the holders comes first: who held the lock when is what
// one may still want to know. The state is none where it has a pane beside the others.
func (v View) Next(held, beside bool) View {
	order := []View{Timeline, Ladder, Trace, State, Holders}
	if held {
		order = []View{Timeline, Holders, Ladder, Trace, State}
	}
	if beside {
		order = slices.DeleteFunc(order, func(v View) bool { return v == State })
	}
	return order[(slices.Index(order, v)+1)%len(order)]
}
