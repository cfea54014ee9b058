package player

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/layout"
	"lockstep/tui/pane"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
	"lockstep/tui/views"
)

// In every step of the course, at every event, the least window has two rows for each client that goes on, what it
// does and what it thinks, and all that is told; only where that were cut, one row for each client.
func TestCourseFitsTheLeastWindow(t *testing.T) {
	lib := screen.NewLibrary()
	app := tuitest.HandmadeApp(lib, tuitest.PlainTheme(false))
	for i, lesson := range lib.Lessons {
		for j, step := range lesson.Steps {
			p := OpenLesson(app, screen.LessonMsg{Lesson: i, Step: j})
			tuitest.Open(t, draw.MinWidth, draw.MinHeight, app, p, nil)
			c := draw.NewCanvas(draw.MinWidth, draw.MinHeight-1, "~")
			for pos := range p.Run.Last() + 1 {
				if !testenv.Some(i+j+pos, testenv.Quick(6, 2)) {
					continue
				}
				p.goTo(pos)
				p.Draw(c, draw.Rect(0, 0, c.W, c.H))
				if p.plan.Main.H < pane.FewestRows(p.Run, pos) {
					t.Errorf("%s, %s, event %d: a diagram of %d rows hides a client", lesson.Name, step.ID(), pos, p.plan.Main.H)
				}
				if least := pane.LeastRows(p.Run, pos); p.plan.Main.H < least && len(p.Narration(c.W, p.plan.Told.H)) <= layout.RoomBeside(least, draw.MinHeight) {
					t.Errorf("%s, %s, event %d: a diagram of %d rows hides what some client thinks", lesson.Name, step.ID(), pos, p.plan.Main.H)
				}
				if told := p.Narration(c.W, p.plan.Told.H); len(told) > p.plan.Told.H {
					t.Errorf("%s, %s, event %d: %d rows for %d lines:\n%s", lesson.Name, step.ID(), pos, p.plan.Told.H, len(told), tuitest.LinesText(told))
				}
			}
		}
	}
}

// In a window of 34 rows or more the diagram has all of its columns, so that no bar has a shorter label, and no
// instant goes without one, that the first screen shows at the same size; and the state is whole.
func TestDiagramHasTheWindowsWidth(t *testing.T) {
	for _, lock := range []string{"naive-del", "redlock"} {
		for _, size := range [][2]int{{120, 40}, {160, 34}, {200, 60}} {
			a, p := openRun(t, size[0], size[1], lock, "late-release")
			for pos := range p.Run.Last() + 1 {
				if !testenv.Sampled(pos, 4) && pos < p.Run.Last() { // it goes on from the end
					continue
				}
				p.goTo(pos)
				v := a.View()
				if p.plan.Main.W != size[0] || p.plan.State.H < min(len(p.facts(p.plan.State.W)), layout.LeastState) {
					t.Fatalf("%s at %v, event %d: %d columns, %d rows for %d facts:\n%s", lock, size, pos, p.plan.Main.W, p.plan.State.H, len(p.facts(p.plan.State.W)), v)
				}
			}
			a.Press("v") // at the end it leads to the holders first
			if v := a.View(); p.view != views.Holders || p.plan.Main.W != size[0] || !strings.Contains(v, "who held the lock, up to") || !strings.Contains(v, "virtual t") {
				t.Errorf("%v: the list of holders lacks the diagram below it, or columns:\n%s", size, v)
			}
			a.Press("v")
			a.View()
			if p.plan.Main.W == size[0] {
				t.Errorf("%v: the ladder takes the state's columns", size)
			}
		}
	}
	a, _ := openRun(t, 200, 60, "naive-del", "late-release")
	a.Press("!")
	for _, want := range []string{"lock=A, expires 10.002s", "┄ 8.998s ┄", "lease over, unseen"} {
		if v := a.View(); !strings.Contains(v, want) {
			t.Errorf("there is no %q in:\n%s", want, v)
		}
	}
}

// At the violations of runs with three clients there is, in the least window, a row for what each
// of those that act, and have not finished or crashed, does and one for what it thinks; what is broken keeps its row; and every event of the evidence is on the
// screen, in a line of its own or in that of the event at the cursor.
func TestClimaxInTheLeastWindow(t *testing.T) {
	for _, run := range [][2]string{{"naive-del", "late-release"}, {"setnx", "stampede-fallthrough"}, {"get-then-del", "release-gap"}, {"timestamp-del", "takeover-race"}} {
		a, p := openRun(t, draw.MinWidth, draw.MinHeight, run[0], run[1])
		for range len(p.Run.Breaches) {
			a.Press("!")
			v := a.View()
			thinking := 0
			for i := range p.Run.Clients {
				if p.Run.Clients[i] != trace.Probe && p.Run.Begun(i, p.Pos) && !p.Run.Moments[p.Pos].Clients[i].Stopped && !p.Run.Moments[p.Pos].Clients[i].Crashed {
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
			if !strings.Contains(v, "\n broken  ") {
				t.Errorf("%v at %d: no row says what is broken:\n%s", run, p.Pos, v)
			}
			if strings.Contains(v, "more line") {
				t.Errorf("%v at %d: the words are cut:\n%s", run, p.Pos, v)
			}
		}
	}
}

// A reader who predicts, and goes on with one key, sees at a violation what each client thinks that believes that it has the lock: the words
// of the chapter, which have been read, yield to those rows.
func TestBeliefsStayWhereAPropertyBreaks(t *testing.T) {
	a, p := openRun(t, draw.MinWidth, draw.MinHeight, "naive-del", "late-release")
	breaks := 0
	for p.Pos < p.Run.Last() {
		a.Press("enter")
		v := a.View()
		if _, fresh := p.Run.Breached(p.Pos); len(fresh) == 0 {
			continue
		}
		breaks++
		if got, want := strings.Count(v, "thinks  "), p.Run.Moments[p.Pos].Believers; got < want {
			t.Errorf("at %d: %d believe, and %d rows say what they think:\n%s", p.Pos, want, got, v)
		}
	}
	if breaks == 0 {
		t.Error("nothing breaks")
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
				words := strings.TrimPrefix(strings.TrimSpace(l), "// ") // which a comment that is folded has in each line
				if len(l) <= 80 && !slices.ContainsFunc(more, func(m string) bool { return strings.Contains(m, words) }) {
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
			list, r := p.plan.Trace, p.plan.Main
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
