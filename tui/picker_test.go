package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim/testenv"
	"lockstep/tui/draw"
	"lockstep/tui/picker"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

func TestPicker(t *testing.T) {
	tuitest.EachFrame(t, "picker", func(t *testing.T, name string, w, h int, th *draw.Theme) {
		app := tuitest.HandmadeApp(tuitest.Shelf(tuitest.Handmade), th)
		p := picker.Strategies(app, "Which lock?  (the scenario stays, and the place in it)", 0, 0, nil)
		tuitest.Golden(t, name, tuitest.Open(t, w, h, app, p, nil).View())
	})
}

// What is told of an item stands below the list, also where that is shorter than the window.
func TestDescriptionIsBesideTheList(t *testing.T) {
	app := tuitest.HandmadeApp(tuitest.Shelf(tuitest.Handmade), tuitest.PlainTheme(false))
	for _, n := range []int{3, 14, 80} {
		items := make([]picker.Item, n)
		for i := range items {
			items[i] = picker.Item{Name: fmt.Sprint("level ", i), Detail: "told of it", Badge: func() draw.Span { return draw.Span{} }}
		}
		p := &picker.Picker{App: app, Title: "Which?", Items: items, About: "levels"}
		lines := strings.Split(tuitest.Open(t, 200, 60, app, p, nil).View(), "\n")
		for y, line := range lines {
			if strings.Contains(line, "told of it") && (lines[y-1] != "" && strings.TrimSpace(lines[y-1]) != "" || !strings.Contains(lines[y-2], "level ")) {
				t.Errorf("%d items: %q and %q are above what is told of one", n, lines[y-2], lines[y-1])
			}
		}
		if !strings.Contains(strings.Join(lines, "\n"), "told of it") {
			t.Errorf("%d items: nothing is told", n)
		}
	}
}

// Numbers that stand in the list can be typed, also those of two digits. They go there, and choose nothing: that is for
// enter alone, be there a number of two digits that begins so or not. Esc takes the number back, and leaves after that.
func TestNumbersCanBeTyped(t *testing.T) {
	app := tuitest.HandmadeApp(tuitest.Shelf(tuitest.Handmade), tuitest.PlainTheme(false))
	items := make([]picker.Item, 14)
	for i := range items {
		items[i] = picker.Item{Name: "level", Badge: func() draw.Span { return draw.Span{} }}
	}
	chosen := 0
	p := &picker.Picker{App: app, Title: "Which?", Items: items, Current: -1, Numbered: true, Choose: func(i int) (tea.Cmd, screen.Outcome) {
		chosen = i + 1
		return nil, screen.Outcome{}
	}}
	a := tuitest.Open(t, 80, 24, app, p, nil)
	for _, step := range []struct {
		keys         string
		want, chosen int
	}{{"3", 3, 3}, {"enter", 3, 3}, {"home", 1, 0}, {"1", 1, 0}, {"2", 12, 12}, {"1", 1, 0}, {"esc", 12, 0}, {"9", 9, 9}, {"home 1 7", 7, 0}, {"home 0", 1, 0}, {"1 enter", 1, 1}, {"down 1 esc", 2, 0}} {
		chosen = 0
		if a.Press(step.keys); p.At+1 != step.want || chosen != step.chosen {
			t.Errorf("%s leads to %d and chooses %d, want %d, %d", step.keys, p.At+1, chosen, step.want, step.chosen)
		}
	}
	if v := a.View(); !strings.Contains(v, "enter 1-14 choose") || !strings.Contains(v, "esc back") {
		t.Errorf("the footer:\n%s", v)
	}
	a.Press("1")
	if v := a.View(); !strings.Contains(v, "1_  enter takes it, another digit goes on") || !strings.Contains(v, "esc cancel the number") {
		t.Errorf("in the middle of a number:\n%s", v)
	}
	a.Press("esc")
	if _, out := p.Update(tuitest.KeyMsg("esc")); !out.Close {
		t.Error("esc without a number doesn't leave")
	}
}

// No sign stands beside an ok before it is known whether the lock is broken anyway: until then it is to come, as the
// legend has it; and of a bad lock it is said under what it fails.
func TestOkWaitsForTheLock(t *testing.T) {
	lib := tuitest.Only("extend-unchecked")
	app := tuitest.HandmadeApp(lib, tuitest.PlainTheme(false))
	sc, lock := lib.Named("late-release"), lib.Strategy("extend-unchecked")
	p := picker.Strategies(app, "Which?", sc, 0, nil)
	badge := func() string { return p.Items[lock].Badge().Text }
	app.Grid.At(sc, lock).Known = true // it has come out ok, and nothing else is known
	if got := badge(); got != app.Theme.Wants+app.Theme.Wants {
		t.Errorf("%s shows %s before anything is known of it elsewhere", lib.Strategies[lock].Name, got)
	}
	if got := p.Items[lock].Outcome(); got != "extend-unchecked: no property broke here; its other runs are still being made" {
		t.Errorf("below the list stands %q", got)
	}
	a := tuitest.Open(t, 80, 24, app, p, nil)
	if got := badge(); got != "(ok)" {
		t.Errorf("in the end %s shows %s", lib.Strategies[lock].Name, got)
	}
	p.At = lock
	if v := tuitest.Unwrapped(a.View()); !strings.Contains(v, "(ok) but a bad lock") || !strings.Contains(v, "no property broke here, but it is a bad lock: under ") {
		t.Errorf("the list doesn't say what its signs mean:\n%s", a.View())
	}
}

// What the list cuts is told whole below it, of each item and in the least window, and the list keeps its rows.
func TestNothingIsCutBelowTheList(t *testing.T) {
	testenv.Long(t)
	app := tuitest.HandmadeApp(screen.NewLibrary(), tuitest.PlainTheme(false))
	lib := app.Library
	for i := range app.Grid.Cells {
		want, _ := lib.Scenarios[i/len(lib.Strategies)].Expect(lib.Strategies[i%len(lib.Strategies)].Name)
		app.Grid.Cells[i] = screen.Cell{Known: true, Verdict: want}
	}
	for _, p := range []*picker.Picker{
		picker.Strategies(app, "Which lock?", lib.Named("late-release"), 0, nil),
		picker.Scenarios(app, "What happens to it?", 0, lib.Strategy("extend-unchecked"), nil),
	} {
		a, rows := tuitest.Open(t, 80, 24, app, p, nil), 0
		for i, it := range p.Items {
			p.At = i
			v := a.View()
			_, below, found := strings.Cut(v, "\n   "+it.Name+": ")
			if below = tuitest.Unwrapped(it.Name + ": " + below); !found || !strings.Contains(below, it.Outcome()) || !strings.Contains(below, tuitest.Unwrapped(it.About)) {
				t.Errorf("of %s not all is told:\n%s", it.Name, v)
			}
			list, _, _ := strings.Cut(v, "\n\n")
			if n := strings.Count(list, "\n"); rows > 0 && n != rows {
				t.Errorf("at %s the list has %d rows, before %d:\n%s", it.Name, n, rows, v)
			} else {
				rows = n
			}
		}
	}
}

// The list of locks to compare with says what the one at the cursor withstands, for which the cursor may begin there.
func TestCompareSaysWhatALockWithstands(t *testing.T) {
	testenv.LongRaced(t)
	lib := tuitest.Only("setpx-lua", "fenced", "redlock")
	app := tuitest.HandmadeApp(lib, tuitest.PlainTheme(false))
	p := picker.Compare(app, lib.Named("pause-past-ttl"), lib.Strategy("setpx-lua"), 0)
	a := tuitest.Open(t, 80, 24, app, p, nil)
	for lock, want := range map[string]string{"fenced": "; fenced avoids SW, shows OV", "redlock": ""} {
		p.At = lib.Strategy(lock)
		if first := strings.TrimRight(strings.Split(a.View(), "\n")[0], " "); !strings.HasSuffix(first, fmt.Sprintf("row %d of %d%s", p.At+1, len(p.Items), want)) {
			t.Errorf("of %s it is said: %s", lock, first)
		}
	}
}

// That a run is no test of a lock is said of one that breaks nothing in it alone.
func TestSparedIsSaidBesideAnOk(t *testing.T) {
	testenv.LongRaced(t)
	lib := tuitest.Only("setpx-lua", "redlock-strict-errors")
	app := tuitest.HandmadeApp(lib, tuitest.PlainTheme(false))
	mine, other, told := lib.Strategy("setpx-lua"), lib.Strategy("redlock-strict-errors"), 0
	for sc := range lib.Scenarios {
		for _, st := range []int{mine, other} {
			if run, err := lib.Run(lib.Scenarios[sc], lib.Strategies[st], 1); err == nil {
				app.Grid.Learn(sc, st, run)
			}
		}
		if app.Grid.Spared(sc, mine, other) == "" || len(app.Grid.At(sc, other).Verdict) == 0 {
			continue
		}
		told++
		if why := picker.Strategies(app, "", sc, mine, nil).Items[other].Spared(); why != "" {
			t.Errorf("%s: beside %s stands %q", lib.Scenarios[sc].Name, app.Grid.At(sc, other).Verdict, why)
		}
	}
	if told == 0 {
		t.Error("the test needs other locks")
	}
}

// What is told of the item at the cursor takes the width that there is.
func TestDetailTakesTheWidth(t *testing.T) {
	app := tuitest.HandmadeApp(tuitest.Shelf(tuitest.Handmade), tuitest.PlainTheme(false))
	detail := strings.TrimSpace(strings.Repeat("word ", 22))
	p := &picker.Picker{App: app, Title: "Which?", Current: -1, Items: []picker.Item{{Name: "level", Detail: detail, Badge: func() draw.Span { return draw.Span{} }}}}
	if v := tuitest.Open(t, 120, 40, app, p, nil).View(); !strings.Contains(v, detail) {
		t.Errorf("%q is wrapped:\n%s", detail, v)
	}
}

// The badge of a run that can't be made is explained where it is shown.
func TestLegendHasRunsThatCannotBeMade(t *testing.T) {
	app := tuitest.HandmadeApp(tuitest.Shelf(tuitest.Handmade), tuitest.PlainTheme(false))
	for badge, want := range map[string]bool{"!err": true, "··": false} {
		p := &picker.Picker{App: app, Title: "Which?", Current: -1, Items: []picker.Item{{Name: "lock", Badge: func() draw.Span { return draw.Text(badge, draw.Plain) }}}}
		if v := tuitest.Open(t, 80, 24, app, p, nil).View(); strings.Contains(v, "!err no run") != want {
			t.Errorf("with %s:\n%s", badge, v)
		}
	}
}
