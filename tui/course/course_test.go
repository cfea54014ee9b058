package course

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/scenarios"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

func TestScreens(t *testing.T) {
	tuitest.EachFrame(t, "course", func(t *testing.T, name string, w, h int, th *draw.Theme) {
		app := tuitest.HandmadeApp(tuitest.Shelf(tuitest.Handmade), th)
		tuitest.Golden(t, name, tuitest.Open(t, w, h, app, New(app), nil).View())
	})
}

// In the least window no row of the list is cut.
func TestListIsWhole(t *testing.T) {
	lib := screen.NewLibrary()
	lib.Run = func(sc *scenarios.Scenario, st strategies.Strategy, _ uint64) (*trace.Trace, error) {
		return tuitest.Handmade(sc.Name, st.Name)
	}
	app := tuitest.HandmadeApp(lib, tuitest.PlainTheme(false))
	a := tuitest.Open(t, draw.MinWidth, draw.MinHeight, app, New(app), nil)
	v := a.View()
	for _, l := range app.Library.Lessons {
		if want := fmt.Sprintf("%s ", l.Title); !strings.Contains(v, want) {
			t.Errorf("%q is cut", want)
		}
		if want := fmt.Sprintf(" 0/%d ", len(l.Steps)); !strings.Contains(v, want) {
			t.Errorf("the number of steps of %q is cut, %q:\n%s", l.Title, want, v)
		}
	}
}

// The steps of a lesson that has ten or more stand in columns.
func TestStepsStandInColumns(t *testing.T) {
	app := tuitest.HandmadeApp(screen.NewLibrary(), tuitest.PlainTheme(false))
	c := New(app)
	c.goTo(slices.IndexFunc(app.Library.Lessons, func(l scenarios.Lesson) bool { return len(l.Steps) >= 10 }))
	l := &app.Library.Lessons[c.lesson]
	at := map[int]bool{}
	for i, row := range c.listSteps(l, 80, false) {
		text := ""
		for _, span := range row {
			text += span.Text
		}
		at[draw.Width(text[:strings.Index(text, l.Steps[i].Strategy)])] = true
	}
	if len(at) != 1 {
		t.Errorf("the locks of %s begin at the columns %v", l.Name, at)
	}
}

// The presenter shows the lesson at the cursor from its step there on, with the words before and behind.
func TestPlaylistOfALesson(t *testing.T) {
	app := tuitest.HandmadeApp(screen.NewLibrary(), tuitest.PlainTheme(false))
	c := New(app)
	for _, step := range []int{0, 1} {
		c.step = step
		_, out := c.Update(tuitest.KeyMsg("p"))
		msg, is := out.To.(screen.PresentMsg)
		l := &app.Library.Lessons[0]
		if !is || len(msg.Playlist.Showings) != len(l.Steps)-step {
			t.Fatalf("from step %d on it presents %+v", step, out.To)
		}
		for i, s := range msg.Playlist.Showings {
			want := &l.Steps[step+i]
			if s.Strategy.Name != want.Strategy || s.Scenario.Name != want.Scenario || s.Closing != want.Text || (s.Opening != "") != (step+i == 0) {
				t.Errorf("from step %d on, showing %d: %+v", step, i, s)
			}
		}
	}
}

func coursePicture(w, h int) string {
	header, list, lesson, rules, wall := arrangeCourse(w, h, 28)
	return tuitest.Parts(w, h, append(rules, wall), map[string]draw.Rectangle{"h": header, "l": list, "t": lesson, "f": draw.Rect(0, h-1, w, 1)})
}

func TestLayouts(t *testing.T) {
	var b strings.Builder
	for _, size := range tuitest.Sizes {
		w, h := size[0], size[1]
		fmt.Fprintf(&b, "course, %dx%d\n%s\n", w, h, tuitest.Thumbnail(coursePicture(w, h)))
	}
	tuitest.Golden(t, "layouts-course", b.String())
	tuitest.FitsEveryWindow(t, coursePicture)
}

// In the least window the titles of a lesson's scenarios and its own are whole where its text leaves rows for them.
func TestNamesOfStepsAreWhole(t *testing.T) {
	app := tuitest.HandmadeApp(screen.NewLibrary(), tuitest.PlainTheme(false))
	a := tuitest.Drive(t, screen.NewRouter(app, nil, New(app)))
	a.Update(tea.WindowSizeMsg{Width: draw.MinWidth, Height: draw.MinHeight})
	if v := a.View(); !strings.Contains(v, "▸ 1 setnx  new    stam") || !strings.Contains(tuitest.Unwrapped(v), "Clients that don't get") {
		t.Errorf("the text of lesson 1 leaves no rows for titles, and the names aren't there:\n%s", v)
	}
	a.Press("down")
	v := a.View()
	for _, step := range app.Library.Lessons[1].Steps {
		title := app.Library.Scenarios[app.Library.Named(step.Scenario)].Title
		if !strings.Contains(v, "    "+title) || !strings.Contains(v, "  new") {
			t.Errorf("%q is cut, or it isn't said that it was not seen:\n%s", title, v)
		}
	}
}

// The cursor stays where it was while help or a presentation is shown, and a run that was left leads back to
// its own step, whichever that is.
func TestCursorStaysOnItsStep(t *testing.T) {
	lib := screen.NewLibrary()
	lib.Run = func(*scenarios.Scenario, strategies.Strategy, uint64) (*trace.Trace, error) {
		return nil, errors.New("none is needed")
	}
	app := tuitest.HandmadeApp(lib, tuitest.PlainTheme(false))
	app.Progress.See(app.Library.Lessons[1].Name, app.Library.Lessons[1].Steps[0].ID())
	c := New(app)
	a := tuitest.Drive(t, screen.NewRouter(app, nil, c)) // no run is made
	a.Update(tea.WindowSizeMsg{Width: 120, Height: 40})
	for _, away := range []string{"? esc", "? enter"} {
		a.Press("g down down right " + away)
		if c.lesson != 2 || c.step != 1 {
			t.Errorf("after %s the cursor is on lesson %d, step %d", away, c.lesson+1, c.step+1)
		}
	}
	l := &app.Library.Lessons[2]
	app.Progress.See(l.Name, l.Steps[2].ID()) // as the player does, at its key for the next step
	if c.Resume(); c.lesson != 2 || c.step != 2 {
		t.Errorf("after step 3 the cursor is on lesson %d, step %d", c.lesson+1, c.step+1)
	}
	app.Progress.Play(l.Name, l.Steps[2].ID())
	if c.Resume(); c.lesson != 2 || c.step != 3%len(l.Steps) {
		t.Errorf("after the end of step 3 the cursor is on lesson %d, step %d", c.lesson+1, c.step+1)
	}
}
