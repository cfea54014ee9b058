package game

import (
	"slices"
	"strings"
	"testing"

	"lockstep/sim/testenv"
	"lockstep/tui/draw"
	"lockstep/tui/tuitest"
)

// rowsOf are the rows of a screen by what always stands in them: the label of a row of the diagram, and the lines between
// the parts. Who acts is pointed at, and a count of moves is about the list.
func rowsOf(v string, g *draw.Glyphs) (rows []string) {
	labels := []string{"A     does", "B     does", "C     does", "thinks", "redis", "believers", "resource", "broken", "virtual t"}
	for _, line := range strings.Split(v, "\n") {
		name := strings.TrimSpace(strings.TrimPrefix(line[:min(len(line), 14)], g.Pointer))
		at := slices.IndexFunc(labels, func(l string) bool { return strings.HasPrefix(name, l) })
		switch {
		case at >= 0:
			rows = append(rows, labels[at])
		case strings.HasPrefix(line, g.Rule):
			rows = append(rows, g.Rule)
		default:
			rows = append(rows, "")
		}
	}
	return rows
}

// No row of the diagram comes or goes from one move to the next, and no part of the screen moves, until the goal is
// reached; where there are two clients, each has a row for what it thinks in the smallest window.
func TestRowsStayInPlace(t *testing.T) {
	testenv.LongRaced(t)
	for _, name := range []string{"setnx-expire.PD.crash", "naive-del.FR.pause", "setpx-lua.FN.reply-lost", "setpx-lua.DG.server-clock"} {
		for _, size := range [][2]int{{80, 24}, {120, 30}, {120, 40}} {
			a, s := openLevelIn(t, size[0], size[1], tuitest.PlainTheme(false), name)
			if size[1] == 24 {
				a.Press("v")
			}
			want := rowsOf(a.View(), &s.Theme.Glyphs)
			if n := strings.Count(strings.Join(want, "\n"), "thinks"); n != len(s.cfg.Clients) {
				t.Errorf("%s in %v: %d clients have a row for what they think:\n%s", name, size, n, a.View())
			}
			for n := range s.parMoves - 1 {
				a.Press("i i enter")
				if got := rowsOf(a.View(), &s.Theme.Glyphs); !slices.Equal(got, want) {
					t.Fatalf("%s in %v: after %d moves the rows are %q, and were %q:\n%s", name, size, n+1, got, want, a.View())
				}
			}
		}
	}
}
