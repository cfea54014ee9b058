// Package lesson knows the place of a run in the course: the step before it and the one after it, the words around it, and the part of
// its lesson that is left to present.
package lesson

import (
	"fmt"

	"lockstep/scenarios"
	"lockstep/tui/screen"
)

// Place is a step of a lesson; both count from 0.
type Place struct {
	Library      *screen.Library
	Lesson, Step int
}

// Of is the first step of the course that plays a lock under a scenario, both places in the library, or nil.
func Of(lib *screen.Library, strategy, scenario int) *Place {
	for i := range lib.Lessons {
		for j, step := range lib.Lessons[i].Steps {
			if step.Strategy == lib.Strategies[strategy].Name && step.Scenario == lib.Scenarios[scenario].Name {
				return &Place{lib, i, j}
			}
		}
	}
	return nil
}

// At is the lesson, and its step.
func (p *Place) At() (*scenarios.Lesson, *scenarios.LessonStep) {
	l := &p.Library.Lessons[p.Lesson]
	return l, &l.Steps[p.Step]
}

// Run is the lock and the scenario of the step, as places in the library.
func (p *Place) Run() (strategy, scenario int) {
	_, step := p.At()
	return p.Library.Strategy(step.Strategy), p.Library.Named(step.Scenario)
}

// Next is the step after this one, in the next lesson if need be; nil at the end of the course.
func (p *Place) Next() *Place {
	switch {
	case p.Step+1 < len(p.Library.Lessons[p.Lesson].Steps):
		return &Place{p.Library, p.Lesson, p.Step + 1}
	case p.Lesson+1 < len(p.Library.Lessons):
		return &Place{p.Library, p.Lesson + 1, 0}
	}
	return nil
}

// String says where it is.
func (p *Place) String() string {
	return fmt.Sprintf("lesson %d, step %d of %d", p.Lesson+1, p.Step+1, len(p.Library.Lessons[p.Lesson].Steps))
}

// Short says where it is, where columns are few.
func (p *Place) Short() string { return fmt.Sprintf("lesson %d.%d", p.Lesson+1, p.Step+1) }

// Opening are the words before the run: the lesson's, or how it goes on.
func (p *Place) Opening() string {
	l, step := p.At()
	if p.Step == 0 {
		return l.Text
	}
	if before := l.Steps[p.Step-1]; before.Strategy == step.Strategy {
		return "The same lock once more, but now: " + p.Library.Scenarios[p.Library.Named(step.Scenario)].Title + "."
	}
	return "Now with " + step.Strategy + "."
}

// Onward says what the course continues with, or nothing at its end.
func (p *Place) Onward() string {
	next := p.Next()
	if next == nil {
		return ""
	}
	_, now := p.At()
	l, step := next.At()
	switch {
	case next.Lesson != p.Lesson:
		return "continues with the next lesson, " + l.Title
	case step.Scenario != now.Scenario:
		return "continues with " + step.Strategy + " under " + step.Scenario
	}
	return "continues with " + step.Strategy
}

// NextLocks are the locks that the lesson goes on with under the scenario of this step; of no place there are none.
func (p *Place) NextLocks() (names []string) {
	if p == nil {
		return nil
	}
	l, now := p.At()
	for _, step := range l.Steps[p.Step+1:] {
		if step.Scenario == now.Scenario {
			names = append(names, step.Strategy)
		}
	}
	return names
}

// Present asks for the lesson to be presented, from this step on.
func (p *Place) Present() screen.PresentMsg {
	l, _ := p.At()
	list := scenarios.Playlist{Title: l.Title}
	for i := p.Step; i < len(l.Steps); i++ {
		st, sc := (&Place{p.Library, p.Lesson, i}).Run()
		list.Showings = append(list.Showings, l.Showing(i, p.Library.Strategies[st], p.Library.Scenarios[sc]))
	}
	return screen.PresentMsg{Playlist: list}
}
