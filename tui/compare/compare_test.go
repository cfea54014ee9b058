package compare

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"lockstep/tui/draw"
	"lockstep/tui/pane"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

// openCompare opens a scenario of the shelf under two locks.
func openCompare(t testing.TB, w, h int, th *draw.Theme, msg screen.CompareMsg) (*tuitest.App, *Compare) {
	app := tuitest.HandmadeApp(tuitest.Shelf(tuitest.Handmade), th)
	m := New(app, msg)
	return tuitest.Open(t, w, h, app, m, nil), m
}

func TestScreens(t *testing.T) {
	tuitest.EachFrame(t, "compare", func(t *testing.T, name string, w, h int, th *draw.Theme) {
		a, _ := openCompare(t, w, h, th, screen.CompareMsg{Strategies: [2]int{3, 6}})
		a.Press("g ! !")
		tuitest.Golden(t, name, a.View())
	})
}

func TestCompareScrubsBoth(t *testing.T) {
	_, m := openCompare(t, 120, 40, tuitest.PlainTheme(false), screen.CompareMsg{Strategies: [2]int{0, 2}})
	for i, s := range m.alignment.Steps {
		if s[0] != s[1] {
			t.Fatalf("step %d: the same run stands at %v in its two copies", i, s)
		}
		if m.differs[i] {
			t.Fatalf("step %d: a run differs from itself", i)
		}
	}
	for _, w := range []int{68, 188} {
		ax, _ := pane.JointAxes(m.alignment, w, 0)
		for side := range ax {
			for k := 1; k < len(ax[side].Cols); k++ {
				if ax[side].Cols[k] < ax[side].Cols[k-1] {
					t.Fatalf("width %d: side %d goes back at %d", w, side, k)
				}
			}
		}
	}
}

func comparePicture(w, h int, lanes [2]int) string {
	l := arrangeCompare(w, h, lanes, leastTold)
	return tuitest.Parts(w, h, []draw.Rectangle{l.titles[0], l.titles[1], l.differs}, map[string]draw.Rectangle{"h": l.header, "U": l.halves[0], "L": l.halves[1], "t": l.told, "f": draw.Rect(0, h-1, w, 1)})
}

func TestLayouts(t *testing.T) {
	var b strings.Builder
	for _, size := range tuitest.Sizes {
		w, h := size[0], size[1]
		fmt.Fprintf(&b, "compare, 7 and 12 lanes, %dx%d\n%s\n", w, h, tuitest.Thumbnail(comparePicture(w, h, [2]int{7, 12})))
	}
	tuitest.Golden(t, "layouts-compare", b.String())
	for _, n := range [][2]int{{1, 1}, {7, 12}, {45, 28}} {
		tuitest.FitsEveryWindow(t, func(w, h int) string { return comparePicture(w, h, n) })
	}
}

// At a violation the screen says which lock broke what and how, and none of the words are cut.
func TestCauseIsTold(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		lib := screen.NewLibrary()
		app := tuitest.RealApp(lib, tuitest.PlainTheme(false))
		m := New(app, screen.CompareMsg{Scenario: lib.Named("late-release"), Strategies: [2]int{lib.Strategy("naive-del"), lib.Strategy("setpx-lua")}})
		a := tuitest.Open(t, size[0], size[1], app, m, nil)
		if at := m.alignment.Steps[m.at]; at[0] != m.alignment.Runs[0].Breaches[0].Pos {
			t.Errorf("%v: it stands at %v, and not at the DEL with which the runs part", size, at)
		}
		a.Press("g")
		for i := range m.alignment.Runs[0].Breaches {
			a.Press("!")
			v := tuitest.Unwrapped(a.View())
			if b := m.alignment.Runs[0].Breaches[i]; !strings.Contains(v, "naive-del, "+b.Code.Name()+": ") || !strings.Contains(v, b.Text) {
				t.Errorf("%v: nothing of %s, %s:\n%s", size, b.Code, b.Text, a.View())
			}
			if strings.Contains(v, "more line") {
				t.Errorf("%v: cut:\n%s", size, a.View())
			}
		}
	}
}

// The key for the next difference says truly why there is none.
func TestNoDifferenceIsLeft(t *testing.T) {
	lib := screen.NewLibrary()
	app := tuitest.RealApp(lib, tuitest.PlainTheme(false))
	for lower, locks := range map[string][2]int{"get-then-del": {lib.Strategy("naive-del"), lib.Strategy("get-then-del")}, "naive-del": {lib.Strategy("naive-del"), lib.Strategy("naive-del")}} {
		m := New(app, screen.CompareMsg{Scenario: lib.Named("late-release"), Strategies: locks})
		a := tuitest.Open(t, 120, 40, app, m, nil)
		for m.notice = ""; m.notice == ""; {
			a.Press("n")
		}
		rest := m.differs[m.at:]
		want := "They do not differ again from here on."
		switch {
		case !slices.Contains(rest, true):
		case !slices.Contains(rest, false):
			want = "They differ from here to the end."
		default:
			want = "They differ until "
		}
		if !strings.HasPrefix(m.notice, want) {
			t.Errorf("%s: from step %d on they differ so: %v, and it says %q", lower, m.at, rest, m.notice)
		}
	}
}

// The caption of the row of differences stands apart from its rule.
func TestCaptionStandsApart(t *testing.T) {
	a, _ := openCompare(t, 120, 40, tuitest.PlainTheme(false), screen.CompareMsg{Strategies: [2]int{3, 6}})
	if v := a.View(); !strings.Contains(v, "─ differs ─") {
		t.Error(v)
	}
}
