package game

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"lockstep/scenarios"
	"lockstep/sim/testenv"
	"lockstep/tui/draw"
	"lockstep/tui/layout"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

// With three clients a window of 30 rows has a diagram, and the code.
// No move is cut beside room that another column doesn't need, and those without a number are explained.
func TestThreeClientsInThirtyRows(t *testing.T) {
	testenv.LongRaced(t)
	a, s := openLevelIn(t, 100, 30, tuitest.PlainTheme(false), "timestamp-del.DG.crash")
	v := a.View()
	for _, want := range []string{"believers", "ABC▸     won, err := setNX(ctx, l.rdb, l.key, stamp)"} {
		if !strings.Contains(v, want) {
			t.Errorf("no %q in\n%s", want, v)
		}
	}
	for len(s.options) < 12 {
		s.options = append(s.options, option{name: fmt.Sprint("short ", len(s.options))})
	}
	long := strings.Repeat("long ", 12) + "end"
	s.options[3].name = long
	if v = a.View(); !strings.Contains(v, long) || !strings.Contains(v, "short 9") || !strings.Contains(v, " 12 moves: 1 to 9, or ↑↓ and enter ") {
		t.Error(v)
	}
	if s.Update(screen.Click{X: s.plan.Left + 1, Y: s.plan.Moves.Y}); s.at != s.plan.Rows {
		t.Errorf("a click at the second column leads to move %d of a column of %d", s.at, s.plan.Rows)
	}
	b, g := openLevelIn(t, 200, 60, tuitest.PlainTheme(false), "timestamp-del.DG.crash")
	g.options[3].name = long + long
	if v := b.View(); !strings.Contains(v, long+long) {
		t.Errorf("cut beside an empty column:\n%s", v)
	}
}

// What one client can do stands in one column, where there are rows for that.
func TestColumnsBreakBetweenClients(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 30}} {
		a, _ := openLevelIn(t, size[0], size[1], tuitest.PlainTheme(false), "timestamp-del.DG.crash")
		if v := a.View(); !regexp.MustCompile(`1 A: SETNX lock 1012 +5 C: SETNX lock 1012`).MatchString(v) {
			t.Errorf("%v: the second column begins within a client's moves:\n%s", size, v)
		}
	}
}

// Each window is covered, without a hole and without an overlap; the diagram has the whole width.
func TestGameLayouts(t *testing.T) {
	testenv.LongRaced(t)
	for w := draw.MinWidth; w <= 220; w += 35 {
		for h := draw.MinHeight; h <= 64; h += 1 + h/40 {
			for _, want := range []layout.GameWishes{{Goal: 3, Moves: 5}, {Goal: 5, Moves: 30}, {Goal: 4, Moves: 4, Debrief: 12}, {Goal: 6, Moves: 9, Debrief: 40}} {
				for _, want.Code = range []bool{false, true} {
					want.CodeRows = 27
					want.Diagram = func(rows int) int { return min(rows, 11) }
					l := layout.ArrangeGame(w, h, want)
					named := map[string]draw.Rectangle{"h": l.Header, "g": l.Goal, "d": l.Diagram, "s": l.Status, "m": l.Moves, "f": draw.Rect(0, h-1, w, 1)}
					if !l.Code.Empty() {
						named["c"] = l.Code
					}
					pic := tuitest.Parts(w, h, nil, named)
					if strings.Contains(pic, "overlaps") {
						t.Fatalf("%dx%d, %+v: %s", w, h, want, pic)
					}
					rows := strings.Split(pic, "\n")
					for _, r := range l.Rules {
						if strings.TrimSpace(rows[r.Y]) != "" || r.W != w {
							t.Fatalf("%dx%d, %+v: the rule at %d is not free:\n%s", w, h, want, r.Y, pic)
						}
						rows[r.Y] = "-"
					}
					for y, row := range rows {
						if strings.TrimSpace(row) == "" {
							t.Fatalf("%dx%d, %+v: row %d has nothing:\n%s", w, h, want, y, pic)
						}
					}
					if l.Moves.H < min(layout.LeastMoves, max(want.Debrief, want.Moves)) || !l.Diagram.Empty() && l.Diagram.W != w {
						t.Fatalf("%dx%d, %+v: %+v", w, h, want, l)
					}
				}
			}
		}
	}
}

// Rows that the diagram leaves, as it grows by steps, are the code's, as far as it has a use for them.
func TestCodeHasTheRowsThatAreLeft(t *testing.T) {
	want := layout.GameWishes{Goal: 3, Moves: 3, Code: true, CodeRows: 40, Diagram: func(rows int) int {
		if rows < 18 {
			return min(rows, 10)
		}
		return 18
	}}
	for _, h := range []int{40, 60} {
		l := layout.ArrangeGame(120, h, want)
		if room := max(layout.LeastMoves, (h-draw.FrameRows-want.Goal)/5); l.Moves.H != room || l.Diagram.H < 10 {
			t.Errorf("of %d rows the moves have %d, and %d are enough: %+v", h, l.Moves.H, room, l)
		}
	}
	a, s := openLevelIn(t, 120, 40, tuitest.PlainTheme(false), "get-then-del.FR.pause")
	if v := a.View(); s.plan.Code.H < 12 || !strings.Contains(v, "if !won {") {
		t.Errorf("%d rows of code:\n%s", s.plan.Code.H, v)
	}
}

// Where the window has room, no head of a function is cut, whichever lock.
func TestHeadsAreWhole(t *testing.T) {
	testenv.LongRaced(t)
	cut := regexp.MustCompile(`func \(l [^{]*…`)
	for _, l := range scenarios.Levels() {
		a, _ := openLevelIn(t, 200, 60, tuitest.PlainTheme(false), l.Name())
		if v := a.View(); cut.MatchString(v) {
			t.Errorf("%s: a head is cut:\n%s", l.Name(), v)
		}
	}
}
