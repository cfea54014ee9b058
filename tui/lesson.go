package tui

import (
	"fmt"

	"lockstep/scenarios"
)

// pupil is the place of a run in the course.
type pupil struct {
	lessons      []scenarios.Lesson
	lesson, rung int
}

// newPupil is a player that plays a rung, and knows the next one.
func newPupil(s *stage, m lessonMsg) *player {
	l := &s.lib.lessons[m.lesson]
	s.diary.See(l.Name)
	step := l.Rungs[m.step]
	p := newPlayer(s, s.lib.strategy(step.Strategy), s.lib.named(step.Scenario))
	p.pupil = &pupil{s.lib.lessons, m.lesson, m.step}
	return p
}

func (p *pupil) at() (*scenarios.Lesson, *scenarios.Rung) {
	l := &p.lessons[p.lesson]
	return l, &l.Rungs[p.rung]
}

// next is the rung after this one, in the next lesson if need be; nil at the end
// of the course.
func (p *pupil) next() *pupil {
	switch {
	case p.rung+1 < len(p.lessons[p.lesson].Rungs):
		return &pupil{p.lessons, p.lesson, p.rung + 1}
	case p.lesson+1 < len(p.lessons):
		return &pupil{p.lessons, p.lesson + 1, 0}
	}
	return nil
}

func (p *pupil) place() string {
	return fmt.Sprintf("lesson %d, rung %d of %d", p.lesson+1, p.rung+1, len(p.lessons[p.lesson].Rungs))
}
