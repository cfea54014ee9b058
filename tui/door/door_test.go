package door

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/muesli/termenv"

	"lockstep/scenarios"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/progress"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

var sizes = [][2]int{{80, 24}, {120, 40}, {200, 60}}

func open(t testing.TB, w, h int, lib *screen.Library, th *draw.Theme) (*tuitest.App, *Door) {
	app := tuitest.HandmadeApp(lib, th)
	d := New(app)
	return tuitest.Open(t, w, h, app, d, nil), d
}

func TestScreens(t *testing.T) {
	for _, size := range sizes {
		a, _ := open(t, size[0], size[1], tuitest.Shelf(tuitest.Handmade), tuitest.PlainTheme(false))
		tuitest.Golden(t, fmt.Sprintf("door-%dx%d", size[0], size[1]), a.View())
	}
	a, _ := open(t, 80, 24, tuitest.Shelf(tuitest.Handmade), tuitest.PlainTheme(true))
	tuitest.Golden(t, "door-80x24-ascii", a.View())
}

// At every size the reader sees all the ways in, and a lock that fails: who holds it, who thinks so,
// what broke, and why.
func TestViolationIsOnTheScreen(t *testing.T) {
	for _, size := range sizes {
		a, d := open(t, size[0], size[1], screen.NewLibrary(), tuitest.PlainTheme(false))
		v := a.View()
		for _, w := range ways {
			if !strings.Contains(v, w.name) || !strings.Contains(v, w.about(d)) {
				t.Errorf("%v: %q or what it is about is not on the screen:\n%s", size, w.name, v)
			}
		}
		why, later, _ := strings.Cut(d.Library.Scenarios[d.scenario].Because(shownLock), " C then ") // C has done nothing yet
		if later == "" || strings.Contains(tuitest.Unwrapped(v), later) {
			t.Errorf("%v: it tells what the picture does not show yet: %q", size, later)
		}
		for _, want := range []string{"FOREIGN RELEASE", "B thinks it has the lock; Redis has no record of it.", "━━A holds", "══B", draw.Either(size[1] < tall, why, "so A's DEL removes B's record")} {
			if !strings.Contains(tuitest.Unwrapped(v), want) {
				t.Errorf("%v: %q is not on the screen:\n%s", size, want, v)
			}
		}
		if size[1] < tall && (!strings.Contains(v, " !! foreign release") || strings.Contains(v, "FR")) {
			t.Errorf("%v: what broke has a code that nobody has explained:\n%s", size, v)
		}
		if code := strings.Index(v, "FR"); size[1] >= tall && (code < 0 || !strings.HasSuffix(v[:code], "A foreign release (")) {
			t.Errorf("%v: the code doesn't stand behind its name first:\n%s", size, v)
		}
		if strings.Contains(v, "more lines") {
			t.Errorf("%v: the explanation is cut:\n%s", size, v)
		}
	}
}

// Where rows are left beside the picture, the signs in it are explained.
func TestSignsAreExplained(t *testing.T) {
	for _, size := range sizes {
		a, _ := open(t, size[0], size[1], screen.NewLibrary(), tuitest.PlainTheme(false))
		for _, want := range []string{"◆ sends", "▽ frees", "↷ is back", "[ ] enters and leaves", "┄ time passes", "│ joins"} {
			if v := a.View(); size[1] >= tall && !strings.Contains(v, want) {
				t.Errorf("%v: there is no %q in\n%s", size, want, v)
			}
		}
		if v := a.View(); size[1] < tall && !strings.Contains(v, " ✗ broke  · want  ◆ send  ✓ has it  █ work  ○ read  ● write  ↷ wake  ▽ free") {
			t.Errorf("%v: there is no row for the signs in\n%s", size, v)
		}
	}
}

// The way to a script of one's own is on the page that explains the screen, and on the screen where rows are left, by the name by which the
// program was called, and never cut.
func TestOwnScriptIsFound(t *testing.T) {
	for _, name := range []string{"lockstep", "go run .", "/home/somebody/bin/a/long/way/down/lockstep"} {
		for _, size := range sizes {
			a, d := open(t, size[0], size[1], screen.NewLibrary(), tuitest.PlainTheme(false))
			d.Rename = func(text string) string { return strings.ReplaceAll(text, "lockstep ", name+" ") }
			if want := name + " new lesson.yaml writes one"; !strings.Contains(d.Help().About, want) {
				t.Errorf("%q is not in %q", want, d.Help().About)
			}
			if v := a.View(); size[1] >= owning && (!strings.Contains(v, "script of your own") || strings.Contains(v, "lesson.y…")) {
				t.Errorf("%v: no whole word of a script of one's own:\n%s", size, v)
			}
		}
	}
}

// The game's entry says how many levels have been won, as that of the course has its steps.
func TestWonLevelsAreCounted(t *testing.T) {
	a, d := open(t, 80, 24, screen.NewLibrary(), tuitest.PlainTheme(false))
	all := scenarios.Levels()
	d.Progress.Win(all[0].Name(), progress.Win{})
	if v, want := a.View(), fmt.Sprintf("1 of %d levels won; you say who runs next", len(all)); !strings.Contains(v, want) {
		t.Errorf("there is no %q in\n%s", want, v)
	}
}

// Every way asks for the screen that it names, by its digit as well as by the cursor.
func TestWaysIn(t *testing.T) {
	a, d := open(t, 80, 24, screen.NewLibrary(), tuitest.PlainTheme(false))
	_ = a.View() // clicks refer to it
	late, naive := d.Library.Named("late-release"), d.Library.Strategy("naive-del")
	for i, want := range []screen.OpenMsg{
		screen.PlayMsg{Strategy: naive, Scenario: late, Playing: true}, screen.CourseMsg{},
		screen.LevelsMsg{}, screen.DecideMsg{}, screen.RunsMsg{Strategy: naive, Scenario: late},
	} {
		_, byDigit := d.Update(tuitest.KeyMsg(fmt.Sprint(i + 1)))
		_, byCursor := d.Update(tuitest.KeyMsg("enter"))
		_, byClick := d.Update(screen.Click{X: 10, Y: d.menu.Y + i*d.rows})
		if d.at != i || byDigit.To != want || byCursor.To != want || byClick.To != want {
			t.Errorf("way %d asks for %v, %v, %v; want %v", i+1, byDigit.To, byCursor.To, byClick.To, want)
		}
	}
}

func TestRunThatFailsIsTold(t *testing.T) {
	a, _ := open(t, 80, 24, tuitest.Shelf(func(string, string) (*trace.Trace, error) { return nil, errors.New("no such luck") }), tuitest.PlainTheme(false))
	if v := a.View(); !strings.Contains(v, "no such luck") || !strings.Contains(v, "All runs") {
		t.Errorf("the error is not shown:\n%s", v)
	}
}

func TestCourseResumes(t *testing.T) {
	a, d := open(t, 80, 24, tuitest.Shelf(tuitest.Handmade), tuitest.PlainTheme(false))
	for _, step := range []struct{ lesson, step, want string }{
		{"", "", "to learn or to teach: 2 lessons, 3 steps"},
		{"pauses", "pause-past-ttl/naive-del", "to learn: 1 of 3 steps seen; next: lesson 1"},
		{"pauses", "pause-past-ttl/setpx-lua", "to learn: 2 of 3 steps seen; next: lesson 2"},
		{"crowds", "crowd/redlock", "to learn or to teach: all 3 steps seen"},
	} {
		if step.lesson != "" {
			d.Progress.See(step.lesson, step.step)
			d.Progress.Play(step.lesson, step.step)
		}
		if v := a.View(); !strings.Contains(v, step.want) {
			t.Errorf("after %s it does not say %q:\n%s", step.step, step.want, v)
		}
	}
}

// A run that was watched elsewhere, the door's own to begin with, makes nobody a reader of the course: its step was seen,
// and the course begins where it does.
func TestRunSeenElsewhereOpensNoCourse(t *testing.T) {
	a, d := open(t, 80, 24, tuitest.Shelf(tuitest.Handmade), tuitest.PlainTheme(false))
	d.Progress.Play("pauses", "pause-past-ttl/naive-del")
	if v := a.View(); !strings.Contains(v, "to learn: 1 of 3 steps seen; start: lesson 1") {
		t.Errorf("of the course it says:\n%s", v)
	}
}

// No entry is cut, however far the reader has come; the next lesson is named where there is a row for it. The help
// names no key that does nothing here.
func TestEntriesAreWhole(t *testing.T) {
	lib := screen.NewLibrary()
	a, d := open(t, 80, 24, lib, tuitest.PlainTheme(false))
	for _, l := range lib.Lessons {
		for _, step := range l.Steps {
			d.Progress.Play(l.Name, step.ID())
			for _, w := range ways {
				if v := a.View(); !strings.Contains(v, w.about(d)) {
					t.Errorf("%q is cut:\n%s", w.about(d), v)
				}
			}
		}
	}
	b, e := open(t, 120, 40, lib, tuitest.PlainTheme(false))
	e.Progress.Play(lib.Lessons[0].Name, lib.Lessons[0].Steps[0].ID())
	if v := b.View(); !strings.Contains(v, "Next: lesson 1, "+lib.Lessons[0].Title+".") {
		t.Errorf("the next lesson isn't named:\n%s", v)
	} else if n := strings.Count(v, "lesson 1"); n != 1 {
		t.Errorf("the next lesson is named %d times:\n%s", n, v)
	}
	for _, k := range d.Help().Keys {
		if k.Help().Key == d.Keys.Close.Help().Key {
			t.Error("the help names a key that does nothing")
		}
	}
}

func picture(w, h int) string {
	l := arrange(w, h, func(rows int) int { return min(rows, 16) })
	return tuitest.Parts(w, h, l.rules, map[string]draw.Rectangle{"h": l.header, "m": l.menu, "p": l.picture, "t": l.told, "f": draw.Rect(0, h-1, w, 1)})
}

func TestLayout(t *testing.T) {
	tuitest.FitsEveryWindow(t, picture)
}

// A frame of the door.
func BenchmarkFrame(b *testing.B) {
	a, _ := open(b, 200, 60, screen.NewLibrary(), draw.NewTheme(tuitest.RendererOf(termenv.TrueColor), false, false))
	for b.Loop() {
		_ = a.View()
	}
}
