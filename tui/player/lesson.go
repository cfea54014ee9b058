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
func OpenLesson(s *screen.App, m screen.LessonMsg) *Player {
	l := &s.Library.Lessons[m.Lesson]
	s.Progress.See(l.Name)
	step := l.Rungs[m.Step]
	p := New(s, s.Library.Strategy(step.Strategy), s.Library.Named(step.Scenario))
	p.lesson = &lessonCursor{s.Library.Lessons, m.Lesson, m.Step}
	return p
}

func (p *lessonCursor) at() (*scenarios.Lesson, *scenarios.Rung) {
	l := &p.lessons[p.lesson]
	return l, &l.Rungs[p.step]
}

// next is the step after this one, in the next lesson if need be; nil at the end
// of the course.
func (p *lessonCursor) next() *lessonCursor {
	switch {
	case p.step+1 < len(p.lessons[p.lesson].Rungs):
		return &lessonCursor{p.lessons, p.lesson, p.step + 1}
	case p.lesson+1 < len(p.lessons):
		return &lessonCursor{p.lessons, p.lesson + 1, 0}
	}
	return nil
}

func (p *lessonCursor) place() string {
	return fmt.Sprintf("lesson %d, rung %d of %d", p.lesson+1, p.step+1, len(p.lessons[p.lesson].Rungs))
}
