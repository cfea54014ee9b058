// Package views has the views of a run that one key goes round.
package views

import (
	"slices"

	"github.com/charmbracelet/bubbles/key"

	"lockstep/tui/screen"
)

// View is the content of a player's largest pane.
type View uint8

// The views, in the order in which the key goes round them.
const (
	Timeline View = iota
	Holders       // who has had the lock when
	Ladder        // who sends to whom, with a row for each event
	Trace
	State
)

// String is the name of a view, which says what the view shows: it stands beside the view's key, wherever that is named.
func (v View) String() string {
	return [...]string{"timeline", "who held it when", "who sends to whom", "trace", "state"}[v]
}

// Ahead names a view that a key leads to, by the contents of the view: only a name that says less by itself has "view" before it. Before
// the end of a run the holders are those so far.
func (v View) Ahead(ended bool) string {
	switch {
	case v != Holders && v != Ladder:
		return "view: " + v.String()
	case ended || v == Ladder:
		return v.String()
	}
	return "who held it so far"
}

// Next is the view that follows, in one order everywhere: first that of the holders, also before anybody has had the lock, as a run is
// watched to see who held it when. The state is none where it has a pane beside the others.
func (v View) Next(beside bool) View {
	next := (v + 1) % (State + 1)
	if beside && next == State {
		return Timeline
	}
	return next
}

// Footer is the state of a run's views, for a footer.
type Footer struct {
	Keys        *screen.KeyMap
	Shown, Next View
	Source      bool // the code stands in the place of the view: the keys for either, and that which leaves, close it
	Out         bool // the key that leaves has nothing else to leave first
	Ended       bool // nothing of the run is to come
	Narrow      bool // there is room for few words
	Proven      bool // the list has the key for the evidence
	Playing     bool // the run plays by itself
}

// View is the key for the view, described by the view that it leads to.
func (f *Footer) View() key.Binding {
	to := f.Next
	if f.Source {
		to = f.Shown
	}
	if f.Shown != Timeline && !f.Source { // else it reads as the name of the view that is shown
		if f.Narrow {
			return screen.As(f.Keys.View, "next view")
		}
		return screen.As(f.Keys.View, "next view: "+to.String())
	}
	if f.Narrow && to == Holders && !f.Ended {
		return screen.As(f.Keys.View, "holders so far")
	}
	return screen.As(f.Keys.View, to.Ahead(f.Ended))
}

// In puts the keys for the views into a list where they are of use: in another view than the first that for the view is the way
// on, and the one beside it is the way out. Beside a table that ends at the cursor stands the key for the whole of it. The code is closed by
// the key that has opened it.
func (f *Footer) In(list []key.Binding) []key.Binding {
	view := f.View()
	at := 1 + slices.IndexFunc(list, func(b key.Binding) bool {
		return b.Help().Key == screen.Pair(f.Keys.Back, f.Keys.Forward, "").Help().Key
	})
	switch {
	case f.Source:
		list = slices.Insert(list, min(1, len(list)), screen.As(f.Keys.Source, f.Shown.String()))
		if f.Out {
			list = append(list, screen.As(f.Keys.Close, f.Shown.String()))
		}
		return list
	case f.Shown != Timeline:
		ahead := []key.Binding{view}
		if f.Shown == Holders && !f.Ended {
			ahead = []key.Binding{screen.As(f.Keys.Last, "to the end"), view}
		}
		if f.Out {
			list = append(list, screen.As(f.Keys.Close, Timeline.String()))
		}
		return slices.Insert(list, min(1, len(list)), ahead...)
	case f.Ended:
		at = 1
	case f.Proven, f.Playing:
		at = 2
	}
	return slices.Insert(list, min(at, len(list)), view)
}

// Others are the keys that are as useful anywhere. One that the footer has already, for comparing or for the evidence, is shown once.
func (f *Footer) Others(compare, evidence, lesson, chapters bool) []key.Binding {
	k := f.Keys
	list := []key.Binding{screen.As(k.Strategy, "lock"), f.View()}
	if !compare {
		list = append(list, k.Compare)
	}
	list = append(list, k.Explore, k.Sandbox, k.Source, k.Scenario, k.Search, k.Filter, screen.Pair(k.In, k.Out, "zoom"))
	if lesson {
		list = append(list, k.Present)
	}
	if !evidence {
		list = append(list, k.Evidence)
	}
	if chapters {
		list = append(list, screen.Pair(k.First, k.Last, "ends"))
	}
	return append(list, k.Pane, k.Export, k.Mouse, k.Help, k.Quit)
}

// Keys are all that work in a player, for its help.
func Keys(k *screen.KeyMap) []key.Binding {
	return append([]key.Binding{
		k.Forward, k.Back, screen.As(k.Next, "next chapter: to the next words of the story"), k.Previous, screen.As(k.Violation, "next violation"), k.Evidence, k.First, k.Last, k.Play, k.Faster, k.Slower,
		screen.As(k.Guess, "predict the answer"), screen.As(k.Enter, "go on: to the next words, question, answer, violation, or access that the resource refuses"), screen.As(k.Teach, "questions for a class"), screen.As(k.Strategy, "another lock"), screen.As(k.Scenario, "another scenario"),
		screen.As(k.Compare, "compare two locks"), screen.As(k.Sandbox, "your turn from here"), screen.As(k.Explore, "search all schedules"), k.Export, k.NextStep, screen.As(k.Present, "present the lesson"), screen.As(k.View, "the next view, after the timeline: who held the lock when, who sends to whom, the trace, the state"), k.Source, k.In, k.Out, screen.As(k.Search, "search the trace"), k.Match, k.MatchBack,
		screen.As(k.Filter, "filter the trace"), k.Pane, k.Up, k.Down, k.PageUp, k.PageDown,
	}, k.Always()...)
}

// First puts the key that stops a run before those that go on.
func First(list []key.Binding, stop key.Binding) []key.Binding {
	list = slices.DeleteFunc(list, func(b key.Binding) bool { return b.Help() == stop.Help() })
	return slices.Insert(list, 0, stop)
}
