package tui

import (
	"fmt"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"
)

// openHome opens the matrix on a library.
func openHome(t testing.TB, w, h int, th *theme, lib *library) (*tester, *home) {
	s := handmadeStage(lib, th)
	m := newHome(s)
	return open(t, w, h, s, m, nil), m
}

func TestHomeScreens(t *testing.T) {
	eachFrame(t, "home", func(t *testing.T, name string, w, h int, th *theme) {
		a, _ := openHome(t, w, h, th, shelf(handmade))
		a.press("right right right")
		golden(t, name, a.View())
	})
}

func TestMatrixFillsIn(t *testing.T) {
	lib := shelf(handmade)
	s := handmadeStage(lib, plainTheme(false))
	a := &tester{root: newRouter(s, nil, newHome(s)), t: t}
	a.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	if v := a.View(); !strings.Contains(v, "running 0 of 260") || !strings.Contains(v, "··") || strings.Contains(v, "✗SW") {
		t.Errorf("something is known before anything has run:\n%s", v)
	}
	_, more := a.Update(compute(lib, 1, []int{0, 1}))
	if v := a.View(); !strings.Contains(v, "running 2 of 260") || strings.Count(v, "✗SW") < 2 {
		t.Errorf("two cells are done, and not shown:\n%s", v)
	}
	a.do(more)
	if v := a.View(); !strings.Contains(v, "260 runs") || strings.Contains(v, "not run yet") {
		t.Errorf("all is done, and not shown:\n%s", v)
	}
}

func TestHomeTellsTheStoryOfACell(t *testing.T) {
	a, h := openHome(t, 120, 40, plainTheme(false), newLibrary())
	for _, cell := range [][2]string{{"release-gap", "get-then-del"}, {"crash-holding", "setnx"}, {"release-gap", "setpx-lua"}} {
		h.row, h.column = a.lib.named(cell[0]), a.lib.strategy(cell[1])
		sc, v := a.lib.scenarios[h.row], unwrapped(a.View())
		if !strings.Contains(v, unwrapped(sc.Because(cell[1]))) {
			t.Errorf("%v: the reason is not told:\n%s", cell, a.View())
		}
		for _, code := range a.board.at(h.row, h.column).verdict {
			if !strings.Contains(v, code.Name()) {
				t.Errorf("%v: %s is not named", cell, code)
			}
		}
	}
}

func TestHomeMouse(t *testing.T) {
	a, h := openHome(t, 80, 24, plainTheme(false), shelf(handmade))
	if strings.Contains(a.View(), "gives it back") {
		t.Error("the footer speaks of a mouse that is off")
	}
	a.press("m")
	if !strings.Contains(a.View(), "mouse: m gives it back") || !strings.Contains(a.View(), "q quit") {
		t.Errorf("the footer does not say that the mouse is on:\n%s", a.View())
	}
	a.click(h.plan.grid.x+2*cellWidth, h.plan.grid.y+4)
	if h.row != 4 || h.column != 2 {
		t.Errorf("the click went to %d, %d", h.row, h.column)
	}
	_, out := h.update(click{x: h.plan.grid.x + 2*cellWidth, y: h.plan.grid.y + 4})
	if want := (playMsg{strategy: 2, scenario: 4}); out.to != want {
		t.Errorf("a second click asks for %v, want %v", out.to, want)
	}
}

func homePicture(w, h, scenarios, strategies int) string {
	l := arrangeHome(w, h, 26, scenarios, strategies)
	return parts(w, h, l.rules, map[string]rect{"h": l.header, "s": l.heads, "n": l.names, "M": l.grid, "t": l.story, "f": {0, h - 1, w, 1}})
}

func TestHomeLayouts(t *testing.T) {
	var b strings.Builder
	for _, size := range sizes {
		w, h := size[0], size[1]
		fmt.Fprintf(&b, "matrix of 45 by 28, %dx%d\n%s\n", w, h, thumbnail(homePicture(w, h, 45, 28)))
	}
	golden(t, "layouts-home", b.String())
}

func TestHomeLayoutFitsEveryWindow(t *testing.T) {
	for _, n := range [][2]int{{1, 1}, {7, 12}, {45, 28}} {
		fitsEveryWindow(t, func(w, h int) string { return homePicture(w, h, n[0], n[1]) })
	}
}

// A frame of the matrix.
func BenchmarkMatrixFrame(b *testing.B) {
	a, _ := openHome(b, 200, 60, newTheme(rendererOf(termenv.TrueColor), false, false), shelf(handmade))
	for b.Loop() {
		_ = a.View()
	}
}
