package player

import (
	"slices"
	"strings"
	"testing"

	"lockstep/sim/testenv"
	"lockstep/tui/draw"
	"lockstep/tui/pane"
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
				if !testenv.Some(i+j+pos, testenv.Quick(9, 3)) {
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

// A sign has the same words at each event of a run, and the signs on the line above the diagram have one order: none changes its place with
// another.
func TestLegendStandsStill(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		a, p := openRun(t, size[0], size[1], "naive-del", "late-release")
		words, ahead := map[string]string{}, map[[2]string]bool{}
		for pos := range p.Run.Last() + 1 {
			p.goTo(pos)
			rows := strings.Split(a.View(), "\n")
			above := strings.Split(strings.Trim(rows[p.above.Y], "─ "), "  ")
			for _, sign := range append(above, strings.Split(rows[p.plan.Main.Y+p.plan.Main.H], "  ")...) {
				glyph, said, _ := strings.Cut(strings.TrimPrefix(sign, "─ "), " ")
				said, _, _ = strings.Cut(strings.TrimRight(said, "─ "), " ──")
				if !slices.ContainsFunc(pane.Legend(&p.Theme.Glyphs, p.Run), func(s draw.Sign) bool { return s[0] == glyph && s[0] != p.Theme.Gap }) || strings.Contains(said, "'s lock") {
					continue
				}
				if was := words[glyph]; was != "" && was != said {
					t.Errorf("%v, event %d: %s is %q, and was %q", size, pos, glyph, said, was)
				}
				words[glyph] = said
			}
			for i, one := range above {
				for _, other := range above[:i] {
					if ahead[[2]string{other, one}] = true; ahead[[2]string{one, other}] {
						t.Errorf("%v, event %d: %q and %q have changed their places", size, pos, one, other)
					}
				}
			}
		}
		if len(words) < 9 {
			t.Errorf("%v: the legend has only %v", size, words)
		}
	}
}
