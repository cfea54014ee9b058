package player

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/pane"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

// picture draws a layout with a letter for each pane.
func picture(w, h int, l layout) string {
	c := draw.NewCanvas(w, h, "~")
	for _, p := range []struct {
		r      draw.Rectangle
		letter string
	}{
		{l.header, "h"}, {l.main, "M"}, {l.status, "e"}, {l.told, "n"}, {l.trace, "t"}, {l.state, "S"}, {l.source, "C"}, {l.footer, "f"},
	} {
		for y := p.r.Y; y < p.r.Y+p.r.H; y++ {
			for x := p.r.X; x < p.r.X+p.r.W; x++ {
				if was := c.Char(x, y); was != "" {
					return fmt.Sprintf("%s overlaps %s at %d, %d", p.letter, was, x, y)
				}
				c.Put(x, y, p.letter, draw.Plain)
			}
		}
	}
	for _, r := range append(l.rules, l.wall) {
		c.Fill(r, "-", draw.Plain)
	}
	return c.Render(tuitest.PlainTheme(true))
}

func TestLayouts(t *testing.T) {
	var b strings.Builder
	for _, size := range [][2]int{{80, 24}, {119, 33}, {80, 34}, {120, 30}, {140, 40}, {200, 60}} {
		for _, source := range []bool{false, true} {
			l := arrange(size[0], size[1], wishes{source: source, main: func(rows int) int { return min(rows, 10) }})
			fmt.Fprintf(&b, "%dx%d, source toggled %v\n%s\n", size[0], size[1], source, tuitest.Thumbnail(picture(size[0], size[1], l)))
		}
	}
	tuitest.Golden(t, "layouts", b.String())
}

func TestLayoutCoversEveryWindow(t *testing.T) {
	for _, w := range []int{draw.MinWidth, 81, sideFrom - 1, sideFrom, 140, roomyWidth - 1, roomyWidth, 260} {
		for h := draw.MinHeight; h <= 64; h += 1 + h/40 {
			for _, rows := range []int{1, 8, 30, 200} {
				for _, source := range []bool{false, true} {
					l := arrange(w, h, wishes{source: source, main: func(int) int { return rows }})
					pic := picture(w, h, l)
					if strings.Contains(pic, "overlaps") {
						t.Fatalf("%dx%d: %s", w, h, pic)
					}
					for y, row := range strings.Split(pic, "\n") {
						if len(row) != w || strings.Contains(row, " ") {
							t.Fatalf("%dx%d, %d rows wished: row %d has a hole:\n%s", w, h, rows, y, pic)
						}
					}
					if l.told.H < leastTold {
						t.Fatalf("%dx%d: the narration has %d rows", w, h, l.told.H)
					}
				}
			}
		}
	}
}

// In every step of the course, at every event, the least window has two rows for each client, what it
// does and what it thinks, and all that is told.
func TestCourseFitsTheLeastWindow(t *testing.T) {
	lib := screen.NewLibrary()
	app := tuitest.HandmadeApp(lib, tuitest.PlainTheme(false))
	for i, lesson := range lib.Lessons {
		for j, step := range lesson.Steps {
			p := OpenLesson(app, screen.LessonMsg{Lesson: i, Step: j})
			tuitest.Open(t, draw.MinWidth, draw.MinHeight, app, p, nil)
			c := draw.NewCanvas(draw.MinWidth, draw.MinHeight-1, "~")
			for pos := range p.Run.Last() + 1 {
				p.goTo(pos)
				p.Draw(c, draw.Rect(0, 0, c.W, c.H))
				if p.plan.main.H < pane.LeastRows(p.Run, pos) {
					t.Errorf("%s, %s, event %d: a diagram of %d rows hides what some client thinks", lesson.Name, step.ID(), pos, p.plan.main.H)
				}
				if told := p.Narration(c.W, p.plan.told.H); len(told) > p.plan.told.H {
					t.Errorf("%s, %s, event %d: %d rows for %d lines:\n%s", lesson.Name, step.ID(), pos, p.plan.told.H, len(told), tuitest.LinesText(told))
				}
			}
		}
	}
}

// More columns never make the diagram narrower than in the least window.
func TestDiagramIsNeverNarrower(t *testing.T) {
	for _, w := range []int{80, 100, 119, 120, 121, 160, 179, 180, 200, 260} {
		for _, h := range []int{24, 30, 34, 40, 45, 60} {
			for _, toggled := range []bool{false, true} {
				l := arrange(w, h, wishes{source: toggled, main: func(rows int) int { return min(rows, 10) }})
				if hidden := w < roomyWidth && toggled; !hidden && l.main.W < draw.MinWidth {
					t.Errorf("%dx%d, source toggled %v: the diagram has %d columns", w, h, toggled, l.main.W)
				}
			}
		}
	}
}

// At the violations of runs with three clients there is, in the least window, a row for what each
// of those that act does and one for what it thinks; and every event of the evidence is on the
// screen, in a line of its own or in that of the event at the cursor.
func TestClimaxInTheLeastWindow(t *testing.T) {
	for _, run := range [][2]string{{"naive-del", "late-release"}, {"setnx", "stampede-fallthrough"}, {"get-then-del", "release-gap"}, {"timestamp-del", "takeover-race"}} {
		a, p := openRun(t, draw.MinWidth, draw.MinHeight, run[0], run[1])
		for range len(p.Run.Breaches) {
			a.Press("!")
			v := a.View()
			thinking := 0
			for i := range p.Run.Clients {
				if p.Run.Clients[i] != trace.Probe && p.Run.Begun(i, p.Pos) {
					thinking++
				}
			}
			if got := strings.Count(v, "thinks  "); got < thinking {
				t.Errorf("%v at %d: %d clients act, and %d rows say what they think:\n%s", run, p.Pos, thinking, got, v)
			}
			for _, seq := range p.lit() {
				if !strings.Contains(v, fmt.Sprintf("#%d ", seq)) {
					t.Errorf("%v at %d: nothing of #%d:\n%s", run, p.Pos, seq, v)
				}
			}
			if strings.Contains(v, "more line") {
				t.Errorf("%v at %d: the words are cut:\n%s", run, p.Pos, v)
			}
		}
	}
}

// A diagram fills the rows that it has asked for: in a screen with a layout of its own no row between
// the last lane and the rule is empty.
func TestDiagramFillsItsRows(t *testing.T) {
	_, p := openPlayer(t, 200, 60, tuitest.PlainTheme(false), tuitest.Handmade)
	for pos := range p.Run.Moments {
		p.goTo(pos)
		for offered := 10; offered < 40; offered++ {
			rows := p.DiagramRows(offered)
			if got := pane.AxisRows + len(pane.FillLanes(p.Run, pos, rows-pane.AxisRows)); got != rows {
				t.Fatalf("at %d, of %d rows, %d are asked for and %d drawn", pos, offered, rows, got)
			}
		}
	}
}

// A larger window shows all of the code that a smaller one shows, and cuts no line of the list of events.
func TestMoreRoomShowsNoLess(t *testing.T) {
	code := func(w, h int, keys string) (lines []string) {
		a, _ := openRun(t, w, h, "setpx-lua", "late-release")
		a.Press(keys)
		inside := false
		for _, l := range strings.Split(a.View(), "\n") {
			l = strings.TrimSpace(l[strings.Index(l, "│")+1:])
			switch {
			case strings.Contains(l, "source: "):
				inside = true
			case strings.HasPrefix(l, "───"):
				inside = false
			case inside && l != "":
				lines = append(lines, strings.TrimPrefix(l, "│"))
			}
		}
		return lines
	}
	for _, keys := range []string{"", "!", "] ] ]"} {
		small := code(100, 30, keys+" s")
		if len(small) < 10 {
			t.Fatalf("100x30 shows %q", small)
		}
		for size, more := range map[[2]int][]string{{120, 40}: code(120, 40, keys+" s"), {140, 34}: code(140, 34, keys+" s"), {200, 60}: code(200, 60, keys)} {
			for _, l := range small {
				if len(l) <= 80 && !slices.ContainsFunc(more, func(m string) bool { return strings.Contains(m, strings.TrimSpace(l)) }) {
					t.Errorf("after %q %v doesn't show %q:\n%s", keys, size, l, strings.Join(more, "\n"))
				}
			}
		}
	}
	for size, keys := range map[[2]int]string{{80, 24}: "v v", {120, 40}: "", {200, 60}: ""} {
		a, p := openRun(t, size[0], size[1], "setpx-lua", "late-release")
		a.Press(keys)
		for pos := range p.Run.Last() {
			p.goTo(pos + 1)
			a.View()
			list, r := p.plan.trace, p.plan.main
			if !list.Empty() {
				r = list
			}
			lines, at := p.traceLines(r)
			if text := tuitest.LinesText(lines); !strings.Contains(tuitest.Unwrapped(text), tuitest.Unwrapped(p.Run.Text(p.Run.Event(p.Pos)))) || len(lines) > r.H || slices.ContainsFunc(lines, func(l draw.Line) bool { return l.Width() > r.W }) || at[len(at)-1] != p.Pos {
				t.Fatalf("%v, event %d:\n%s", size, pos+1, text)
			}
		}
	}
}
