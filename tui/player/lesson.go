package player

import (
	"fmt"

	"lockstep/scenarios"
	"lockstep/tui/screen"
)

// lessonCursor is the place of a run in the course.
type lessonCursor struct {
	lessons      []scenarios.Lesson
	lesson, step int
}

// OpenLesson is a player that plays a step of a lesson, and knows the next one.
func OpenLesson(app *screen.App, m screen.LessonMsg) *Player {
	l := &app.Library.Lessons[m.Lesson]
	step := l.Steps[m.Step]
	app.Progress.See(l.Name, step.ID())
	p := New(app, app.Library.Strategy(step.Strategy), app.Library.Named(step.Scenario))
	p.lesson = &lessonCursor{app.Library.Lessons, m.Lesson, m.Step}
	return p
}

// cursorOf is the first step of the course that plays a lock under a scenario, or nil.
func cursorOf(lessons []scenarios.Lesson, lock, scenario string) *lessonCursor {
	for i := range lessons {
		for j, step := range lessons[i].Steps {
			if step.Strategy == lock && step.Scenario == scenario {
				return &lessonCursor{lessons, i, j}
			}
		}
	}
	return nil
}

func (p *lessonCursor) at() (*scenarios.Lesson, *scenarios.LessonStep) {
	l := &p.lessons[p.lesson]
	return l, &l.Steps[p.step]
}

// next is the step after this one, in the next lesson if need be; nil at the end
// of the course.
func (p *lessonCursor) next() *lessonCursor {
	switch {
	case p.step+1 < len(p.lessons[p.lesson].Steps):
		return &lessonCursor{p.lessons, p.lesson, p.step + 1}
	case p.lesson+1 < len(p.lessons):
		return &lessonCursor{p.lessons, p.lesson + 1, 0}
	}
	return nil
}

func (p *lessonCursor) place() string {
	return fmt.Sprintf("lesson %d, step %d of %d", p.lesson+1, p.step+1, len(p.lessons[p.lesson].Steps))
}

// nextLocks are the locks that the lesson goes on with under this scenario.
func (p *lessonCursor) nextLocks() (names []string) {
	if p == nil {
		return nil
	}
	l, now := p.at()
	for _, step := range l.Steps[p.step+1:] {
		if step.Scenario == now.Scenario {
			names = append(names, step.Strategy)
		}
	}
	return names
}

// scripted reports whether a scenario steers the run.
func (p *Player) scripted() bool { return p.Title == "" && p.sought == nil }

// inCourse calls do with each step of the course that plays this very run, however it was opened, and
// reports whether there is any. Runs of a search or a game are none.
func (p *Player) inCourse(do func(lesson, step string)) bool {
	return !p.loading && p.scripted() && p.Library.Steps(p.Strategy, p.scenario, do)
}

// forClass reports whether nothing is told that is for the script's author.
func (p *Player) forClass() bool { return p.Teaching && !p.Rehearsing }

// scores reports whether predictions count here: in the course alone, and not for a class.
func (p *Player) scores() bool { return !p.Teaching && p.lesson != nil }
