// Package views has the views of a run that one key goes round.
package views

import (
	"slices"

	"github.com/charmbracelet/bubbles/key"

	"lockstep/tui/screen"
)

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

// Footer is what a footer has to say of the views of a run.
type Footer struct {
	Keys        *screen.KeyMap
	Shown, Next View
	Source      bool // the code stands in the place of the view: the keys for either, and that which leaves, close it
	Out         bool // the key that leaves has nothing else to leave first
	Asked       bool // a question is open: it is no time to look up what is asked
	Ended       bool // the run has ended
	Proven      bool // the list has the key for the evidence
}

// View is the key for the view, by what it leads to.
func (f *Footer) View() key.Binding {
	to := f.Next
	if f.Source {
		to = f.Shown
	}
	return screen.As(f.Keys.View, to.String())
}

// In puts the keys for the views into a list where they are of use: in another view than the first that for the view is the way
// on, and the one beside it is the way out. The code is closed by the key that has opened it.
func (f *Footer) In(list []key.Binding) []key.Binding {
	at, view := 3, f.View()
	switch {
	case f.Source:
		list = slices.Insert(list, min(1, len(list)), screen.As(f.Keys.Source, f.Shown.String()))
		if f.Out {
			list = append(list, screen.As(f.Keys.Close, f.Shown.String()))
		}
		return list
	case f.Shown != Timeline && !f.Out:
		at = 1
	case f.Shown != Timeline:
		return append(slices.Insert(list, min(1, len(list)), view), screen.As(f.Keys.Close, Timeline.String()))
	case f.Next != Holders || f.Asked:
		return list
	case f.Ended:
		at = 1
	case f.Proven:
		at = 2
	}
	return slices.Insert(list, min(at, len(list)), view)
}

// First puts the key that stops a run before those that go on.
func First(list []key.Binding, stop key.Binding) []key.Binding {
	list = slices.DeleteFunc(list, func(b key.Binding) bool { return b.Help() == stop.Help() })
	return slices.Insert(list, 0, stop)
}
