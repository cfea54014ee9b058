package tui

import (
	"strings"
	"testing"
	"time"

	"lockstep/sim"
	"lockstep/sim/timeline"
)

func traces() map[string]*sim.Trace {
	return map[string]*sim.Trace{"pause": pauseTrace(), "crowd": crowd(3, 5, 700), "empty": crowd(2, 1, 0), "one": crowd(2, 1, 1)}
}

func TestAxisNeverGoesBack(t *testing.T) {
	for name, tr := range traces() {
		r := timeline.New(tr)
		for zoom := -mostZoom; zoom <= mostZoom; zoom++ {
			for _, width := range []int{10, 68, 107, 300} {
				a := newAxis(r, width, zoom)
				for i := range tr.Events {
					if a.cols[i+1] < a.cols[i] {
						t.Fatalf("%s, width %d, zoom %d: event %d is left of the one before it", name, width, zoom, i)
					}
				}
			}
		}
	}
}

func TestAxisGivesEveryEventThatMattersItsOwnColumn(t *testing.T) {
	for name, tr := range traces() {
		r := timeline.New(tr)
		a := newAxis(r, 68, 0)
		for i := range tr.Events {
			if r.Matters(i) && a.cols[i+1] == a.cols[i] {
				t.Errorf("%s: event %d (%s) shares the column of the one before it", name, i, tr.Events[i].Kind)
			}
		}
	}
}

func TestAxisShowsAShortRunWhole(t *testing.T) {
	r := timeline.New(pauseTrace())
	for _, width := range []int{60, 68, 107} {
		if got := newAxis(r, width, 0).width(); got > width || got < width-2 {
			t.Errorf("%d columns on offer, %d used", width, got)
		}
	}
}

func TestWindowHoldsTheCursor(t *testing.T) {
	for name, tr := range traces() {
		r := timeline.New(tr)
		for zoom := -2; zoom <= 4; zoom++ {
			a, moves := newAxis(r, 68, zoom), map[int]bool{}
			for pos := range r.Moments {
				off := a.window(pos, 68)
				moves[off] = true
				if x := a.cols[pos] - off; x < 0 || x >= 68 {
					t.Fatalf("%s, zoom %d: cursor %d is in column %d of 68", name, zoom, pos, x)
				}
			}
			if most := a.width()/34 + 2; len(moves) > most {
				t.Errorf("%s, zoom %d: the window moved %d times in %d columns", name, zoom, len(moves), a.width())
			}
		}
	}
}

func TestAxisCompressesLongGaps(t *testing.T) {
	a := newAxis(timeline.New(pauseTrace()), 68, 0)
	last := a.gaps[len(a.gaps)-1]
	if !last.Endless || last.Length < 9*365*24*time.Hour {
		t.Errorf("ten years are not marked as a chasm: %+v", last)
	}
}

func TestAtIsTheInverseOfCols(t *testing.T) {
	a := newAxis(timeline.New(pauseTrace()), 68, 0)
	for pos := range a.cols {
		p := a.at(a.cols[pos])
		if a.cols[p] != a.cols[pos] || p < pos {
			t.Errorf("position %d is in column %d, whose last is %d", pos, a.cols[pos], p)
		}
	}
	if got := a.at(-1); got != 0 {
		t.Errorf("left of everything is position %d", got)
	}
}

func TestFogHidesTheFuture(t *testing.T) {
	r := timeline.New(pauseTrace())
	th := plainTheme(false)
	for pos := range r.Moments {
		c := newCanvas(80, 14, th.more)
		lanes := plan(r, pos, 12)
		a := newAxis(r, 80-labelWidth, 0)
		drawTimeline(c, rect{0, 0, 80, 14}, scene{Timeline: r, pos: pos, axis: a, column: a.cols[pos], all: a.width(), lanes: lanes, theme: th, veil: pos})
		for y := axisRows; y < 14; y++ {
			row := ""
			for x := labelWidth + a.cols[pos] + 1; x < 80; x++ {
				row += c.at(x, y).s
			}
			row = strings.TrimLeft(row, "! DGOVSWR") // a breach is named to the right of where it is
			if row != "" {
				t.Fatalf("position %d, row %d shows the future: %q", pos, y, row)
			}
		}
	}
}
