package player

import (
	"strings"
	"testing"

	"lockstep/sim/testenv"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

// In every step of the course, at every event, each glyph of the diagram that has a meaning is explained in the least window: in the
// legend, on the rules below and above the diagram, or by a word where it stands. No title, and no cause of a violation, is cut in the midst of a
// word.
func TestLegendIsWholeInTheLeastWindow(t *testing.T) {
	lib := screen.NewLibrary()
	app := tuitest.HandmadeApp(lib, tuitest.PlainTheme(false))
	above := 0
	for i, lesson := range lib.Lessons {
		for j, step := range lesson.Steps {
			p := OpenLesson(app, screen.LessonMsg{Lesson: i, Step: j})
			tuitest.Open(t, draw.MinWidth, draw.MinHeight, app, p, nil)
			for pos := range p.Run.Last() + 1 {
				if !testenv.Some(i+j+pos, 3) {
					continue
				}
				p.goTo(pos)
				c := draw.NewCanvas(draw.MinWidth, draw.MinHeight-1, "\x00")
				p.Draw(c, draw.Rect(0, 0, c.W, c.H))
				v := c.Render(p.Theme)
				if len(p.unexplained) > 0 || strings.Contains(v, " ? more ") {
					t.Errorf("%s, %s, event %d: nothing explains %v\n%s", lesson.Name, step.ID(), pos, p.unexplained, v)
				}
				if c.Char(2, 1) != p.Theme.Rule {
					above++
				}
			}
		}
	}
	if above == 0 {
		t.Error("in no frame the rule above the diagram has signs: the course doesn't try that")
	}
}

// At a failover each server has a row of its own in the least window: which of them has the record is what the run shows.
func TestServersHaveRowsAtAFailover(t *testing.T) {
	for _, lock := range []string{"setpx-lua", "fenced", "setpx-wait"} {
		a, p := openRun(t, draw.MinWidth, draw.MinHeight, lock, "failover")
		for pos := range p.Run.Last() + 1 {
			p.goTo(pos)
			_, fresh := p.Run.Breached(pos)
			for _, name := range p.Run.Nodes {
				if v := a.View(); len(fresh) > 0 && !strings.Contains(v, name+" redis") && !strings.Contains(v, name+"   redis") {
					t.Errorf("%s, event %d: %s has no row in\n%s", lock, pos, name, v)
				}
			}
		}
	}
}
