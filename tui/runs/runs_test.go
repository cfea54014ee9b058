package runs

import (
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"lockstep/tui/draw"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

// openRuns opens the matrix on a library.
func openRuns(t testing.TB, w, h int, th *draw.Theme, lib *screen.Library) (*tuitest.App, *Runs) {
	app := tuitest.HandmadeApp(lib, th)
	m := New(app, screen.RunsMsg{})
	return tuitest.Open(t, w, h, app, m, nil), m
}

func TestScreens(t *testing.T) {
	tuitest.EachFrame(t, "runs", func(t *testing.T, name string, w, h int, th *draw.Theme) {
		a, _ := openRuns(t, w, h, th, tuitest.Shelf(tuitest.Handmade))
		a.Press("right right right")
		tuitest.Golden(t, name, a.View())
	})
}

func TestMatrixFillsIn(t *testing.T) {
	app := tuitest.HandmadeApp(tuitest.Shelf(tuitest.Handmade), tuitest.PlainTheme(false))
	a := tuitest.Drive(t, screen.NewRouter(app, nil, New(app, screen.RunsMsg{})))
	a.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	if v := a.View(); !strings.Contains(v, "running 0 of 260") || !strings.Contains(v, "··") || strings.Contains(v, "✗SW") {
		t.Errorf("something is known before anything has run:\n%s", v)
	}
	first, rest := a.Init()(), tea.BatchMsg(nil)
	if several, is := first.(tea.BatchMsg); is {
		first, rest = several[0](), several[1:]
	}
	_, more := a.Update(first)
	if v := a.View(); !strings.Contains(v, "running 8 of 260") || strings.Count(v, "✗SW") < 8 {
		t.Errorf("eight cells are done, and not shown:\n%s", v)
	}
	a.Do(tea.Batch(append(rest, more)...))
	if v := a.View(); !strings.Contains(v, "260 runs") || strings.Contains(v, "not run yet") {
		t.Errorf("all is done, and not shown:\n%s", v)
	}
}

func TestRunsTellTheStoryOfACell(t *testing.T) {
	a, h := openRuns(t, 120, 40, tuitest.PlainTheme(false), screen.NewLibrary())
	for _, cell := range [][2]string{{"release-gap", "get-then-del"}, {"crash-holding", "setnx"}, {"release-gap", "setpx-lua"}, {"release-gap", "setpx-delex"}} {
		h.row, h.column = a.Library.Named(cell[0]), a.Library.Strategy(cell[1])
		sc, v := a.Library.Scenarios[h.row], tuitest.Unwrapped(a.View())
		if !strings.Contains(v, tuitest.Unwrapped(sc.Because(cell[1]))) {
			t.Errorf("%v: the reason is not told:\n%s", cell, a.View())
		}
		if like := sc.ExpectsLike(cell[1]); like != "" && !strings.Contains(v, "As "+like+": ") {
			t.Errorf("%v: the reason is not told as that of %s:\n%s", cell, like, a.View())
		}
		for _, code := range a.Grid.At(h.row, h.column).Verdict {
			if !strings.Contains(v, code.Name()) {
				t.Errorf("%v: %s is not named", cell, code)
			}
		}
	}
}

func TestMouse(t *testing.T) {
	a, h := openRuns(t, 80, 24, tuitest.PlainTheme(false), tuitest.Shelf(tuitest.Handmade))
	if strings.Contains(a.View(), "gives it back") {
		t.Error("the footer speaks of a mouse that is off")
	}
	a.Press("m")
	if !strings.Contains(a.View(), "mouse: m gives it back") || !strings.Contains(a.View(), "q quit") {
		t.Errorf("the footer does not say that the mouse is on:\n%s", a.View())
	}
	a.Click(h.plan.grid.X+2*cellWidth, h.plan.grid.Y+4)
	if h.row != 4 || h.column != 2 {
		t.Errorf("the click went to %d, %d", h.row, h.column)
	}
	_, out := h.Update(screen.Click{X: h.plan.grid.X + 2*cellWidth, Y: h.plan.grid.Y + 4})
	if want := (screen.PlayMsg{Strategy: 2, Scenario: 4}); out.To != want {
		t.Errorf("a second click asks for %v, want %v", out.To, want)
	}
}

func runsPicture(w, h, scenarios, strategies int) string {
	l := arrangeRuns(w, h, 26, scenarios, strategies)
	return tuitest.Parts(w, h, l.rules, map[string]draw.Rectangle{"h": l.header, "s": l.heads, "n": l.names, "M": l.grid, "t": l.story, "f": draw.Rect(0, h-1, w, 1)})
}

func TestLayouts(t *testing.T) {
	var b strings.Builder
	for _, size := range tuitest.Sizes {
		w, h := size[0], size[1]
		fmt.Fprintf(&b, "matrix of 45 by 28, %dx%d\n%s\n", w, h, tuitest.Thumbnail(runsPicture(w, h, 45, 28)))
	}
	tuitest.Golden(t, "layouts-runs", b.String())
}

func TestLayoutFitsEveryWindow(t *testing.T) {
	for _, n := range [][2]int{{1, 1}, {7, 12}, {45, 28}} {
		tuitest.FitsEveryWindow(t, func(w, h int) string { return runsPicture(w, h, n[0], n[1]) })
	}
}

// A frame of the matrix.
func BenchmarkMatrixFrame(b *testing.B) {
	a, _ := openRuns(b, 200, 60, draw.NewTheme(tuitest.RendererOf(termenv.TrueColor), false, false), tuitest.Shelf(tuitest.Handmade))
	for b.Loop() {
		_ = a.View()
	}
}
