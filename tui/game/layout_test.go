package game

import (
	"fmt"
	"strings"
	"testing"

	"lockstep/sim/testenv"
	"lockstep/tui/draw"
	"lockstep/tui/tuitest"
)

// Each window is covered, without a hole but in the gaps between two columns of code, and
// without an overlap; the diagram has the whole width.
func TestGameLayouts(t *testing.T) {
	testenv.RacedElsewhere(t)
	for w := draw.MinWidth; w <= 220; w += 35 {
		for h := draw.MinHeight; h <= 64; h += 1 + h/40 {
			for _, want := range []gameWishes{{clients: 2, goal: 3, moves: 5}, {clients: 3, goal: 5, moves: 30}, {clients: 2, goal: 4, moves: 4, debrief: 12}, {clients: 3, goal: 6, moves: 9, debrief: 40}} {
				for _, want.code = range []bool{false, true} {
					want.codeRows = mostCode
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
