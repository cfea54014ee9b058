package game

import (
	"strings"
	"testing"

	"lockstep/sim/explore"
	"lockstep/tui/tuitest"
)

// Where no time can be let pass, the list of moves says why, in every window; where some can, it says nothing of it.
func TestWhyTimeCantPass(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		a, s := openLevelIn(t, size[0], size[1], tuitest.PlainTheme(false), "timestamp-del.DG.crash")
		said := 0
		for range 12 {
			v, passes := a.View(), false
			for _, o := range s.options {
				passes = passes || o.moves[0].Wait > 0
			}
			if says := strings.Contains(v, "time can't pass: "); says == passes && !s.won() {
				t.Fatalf("%v: time can pass: %v, and it is said that it can't: %v\n%s", size, passes, says, v)
			}
			if !passes {
				said++
			}
			a.Press("1")
		}
		if s.bounds.Faults[explore.Pause] == 0 && said == 0 {
			t.Errorf("%v: time could always pass", size)
		}
	}
}
