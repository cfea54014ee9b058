package game

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"lockstep/scenarios"
	"lockstep/sim/testenv"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

// With three clients a window of 30 rows has a diagram, and a line of code of the one that has no column.
// No move is cut beside room that another column doesn't need, and those without a number are explained.
func TestThreeClientsInThirtyRows(t *testing.T) {
	testenv.LongRaced(t)
	a, s := openLevelIn(t, 100, 30, tuitest.PlainTheme(false), "timestamp-del.DG.crash")
	v := a.View()
	for _, want := range []string{"believers", " C  idle   stamp := l.opt.Clock.Now().Add(l.opt.TTL).Unix()"} {
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
	if s.Update(screen.Click{X: s.plan.left + 1, Y: s.plan.moves.Y}); s.at != s.plan.moves.H {
		t.Errorf("a click at the second column leads to move %d of a column of %d", s.at, s.plan.moves.H)
	}
	b, g := openLevelIn(t, 200, 60, tuitest.PlainTheme(false), "timestamp-del.DG.crash")
	g.options[3].name = long + long
	if v := b.View(); !strings.Contains(v, long+long) {
		t.Errorf("cut beside an empty column:\n%s", v)
	}
}

// Each window is covered, without a hole but in the gaps between two columns of code, and
// without an overlap; the diagram has the whole width.
func TestGameLayouts(t *testing.T) {
	testenv.LongRaced(t)
	for w := draw.MinWidth; w <= 220; w += 35 {
		for h := draw.MinHeight; h <= 64; h += 1 + h/40 {
			for _, want := range []gameWishes{{clients: 2, goal: 3, moves: 5}, {clients: 3, goal: 5, moves: 30}, {clients: 2, goal: 4, moves: 4, debrief: 12}, {clients: 3, goal: 6, moves: 9, debrief: 40}} {
				for _, want.code = range []bool{false, true} {
					want.codeRows = 27
					want.diagram = func(rows int) int { return min(rows, 11) }
					l := arrangeGame(w, h, want)
					named := map[string]draw.Rectangle{"h": l.header, "g": l.goal, "d": l.diagram, "s": l.status, "m": l.moves, "f": draw.Rect(0, h-1, w, 1)}
					for i, r := range l.code {
						named[fmt.Sprint(i)] = r
					}
					if !l.others.Empty() {
						named["o"] = l.others
					}
					pic := tuitest.Parts(w, h, nil, named)
					if strings.Contains(pic, "overlaps") {
						t.Fatalf("%dx%d, %+v: %s", w, h, want, pic)
					}
					rows := strings.Split(pic, "\n")
					for _, r := range l.rules {
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
					if l.moves.H < min(leastMoves, max(want.debrief, want.moves)) || !l.diagram.Empty() && l.diagram.W != w {
						t.Fatalf("%dx%d, %+v: %+v", w, h, want, l)
					}
				}
			}
		}
	}
}

// Rows that the diagram leaves, as it grows by steps, are the code's, as far as it has a use for them.
func TestCodeHasTheRowsThatAreLeft(t *testing.T) {
	want := gameWishes{clients: 2, goal: 3, moves: 3, code: true, codeRows: 40, diagram: func(rows int) int {
		if rows < 18 {
			return min(rows, 10)
		}
		return 18
	}}
	for _, h := range []int{40, 60} {
		l := arrangeGame(120, h, want)
		if room := max(leastMoves, (h-draw.FrameRows-want.goal)/5); l.moves.H != room || l.diagram.H < 10 {
			t.Errorf("of %d rows the moves have %d, and %d are enough: %+v", h, l.moves.H, room, l)
		}
	}
	a, s := openLevelIn(t, 120, 40, tuitest.PlainTheme(false), "get-then-del.FR.pause")
	if v := a.View(); s.plan.code[0].H < 12 || !strings.Contains(v, "if !won {") {
		t.Errorf("%d rows of code:\n%s", s.plan.code[0].H, v)
	}
}

// Where the window has room, no head of a function is cut, whichever lock and however many columns of code.
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
