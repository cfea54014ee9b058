package game

import (
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim/explore"
	"lockstep/sim/testenv"
	"lockstep/tui/tuitest"
)

// Where no time can be let pass, the list of moves says why, in every window; where some can, it says nothing of it.
func TestWhyTimeCantPass(t *testing.T) {
	testenv.LongRaced(t)
	a, s := openLevel(t, "timestamp-del.DG.crash")
	said, reasons := 0, []string(nil)
	for range 12 {
		passes := slices.ContainsFunc(s.options, func(o option) bool { return o.moves[0].Wait > 0 })
		for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
			a.Send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
			v := a.View()
			if says := strings.Contains(v, "time can't pass"); says == passes && !s.won() {
				t.Fatalf("%v: time can pass: %v, and it is said that it can't: %v\n%s", size, passes, says, v)
			}
		}
		if !passes {
			said, reasons = said+1, append(reasons, s.still)
		}
		a.Press("1")
	}
	for _, want := range []string{"time can't pass: nothing is due before one of A, B and C acts", "time can't pass before B acts: this level allows no pause", "time can't pass while B can go on: this level allows no pause"} {
		if !slices.Contains(reasons, want) {
			t.Errorf("%q is no reason: %q", want, reasons)
		}
	}
	if s.bounds.Faults[explore.Pause] == 0 && said == 0 {
		t.Error("time could always pass")
	}
}

// The key that makes a move again is offered where one was taken back.
func TestRedoIsOfferedWhereThereIsOne(t *testing.T) {
	a, _ := openLevelIn(t, 200, 60, tuitest.PlainTheme(false), "naive-del.FR.pause")
	if v := a.View(); strings.Contains(v, "redo") {
		t.Errorf("nothing was taken back:\n%s", v)
	}
	a.Press("1 u")
	if v := a.View(); !strings.Contains(v, "U redo") {
		t.Errorf("a move was taken back:\n%s", v)
	}
}

// The cursor stays where it can be drawn if a game has no move left.
func TestCursorWithoutMoves(t *testing.T) {
	a, s := openLevel(t, "naive-del.FR.pause")
	s.options, s.at = nil, 0
	for _, key := range []string{"down", "up", "pgdown", "enter", "1"} {
		a.Press(key)
		s.options = nil
		a.View()
	}
	if s.at != 0 {
		t.Errorf("the cursor is at %d of no moves", s.at)
	}
}
