package tui

import (
	"fmt"
	"strings"
	"testing"
)

// openCompare opens a scenario of the shelf under two locks.
func openCompare(t testing.TB, w, h int, th *theme, msg compareMsg) (*tester, *compare) {
	s := handmadeStage(shelf(handmade), th)
	m := newCompare(s, msg)
	return open(t, w, h, s, m, nil), m
}

func TestCompareScreens(t *testing.T) {
	eachFrame(t, "compare", func(t *testing.T, name string, w, h int, th *theme) {
		a, _ := openCompare(t, w, h, th, compareMsg{strategies: [2]int{3, 6}})
		a.press("! !")
		golden(t, name, a.View())
	})
}

func TestCompareScrubsBoth(t *testing.T) {
	_, m := openCompare(t, 120, 40, plainTheme(false), compareMsg{strategies: [2]int{0, 2}})
	for i, s := range m.joint.Steps {
		if s[0] != s[1] {
			t.Fatalf("step %d: the same run stands at %v in its two copies", i, s)
		}
		if m.differs[i] {
			t.Fatalf("step %d: a run differs from itself", i)
		}
	}
	for _, w := range []int{68, 188} {
		ax, _ := jointAxes(m.joint, w, 0)
		for side := range ax {
			for k := 1; k < len(ax[side].cols); k++ {
				if ax[side].cols[k] < ax[side].cols[k-1] {
					t.Fatalf("width %d: side %d goes back at %d", w, side, k)
				}
			}
		}
	}
}

func comparePicture(w, h int, lanes [2]int) string {
	l := arrangeCompare(w, h, lanes)
	return parts(w, h, []rect{l.titles[0], l.titles[1], l.differs}, map[string]rect{"h": l.header, "U": l.halves[0], "L": l.halves[1], "t": l.told, "f": {0, h - 1, w, 1}})
}

func TestCompareLayouts(t *testing.T) {
	var b strings.Builder
	for _, size := range sizes {
		w, h := size[0], size[1]
		fmt.Fprintf(&b, "compare, 7 and 12 lanes, %dx%d\n%s\n", w, h, thumbnail(comparePicture(w, h, [2]int{7, 12})))
	}
	golden(t, "layouts-compare", b.String())
	for _, n := range [][2]int{{1, 1}, {7, 12}, {45, 28}} {
		fitsEveryWindow(t, func(w, h int) string { return comparePicture(w, h, n) })
	}
}
