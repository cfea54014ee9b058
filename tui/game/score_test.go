package game

import (
	"strings"
	"testing"

	"lockstep/sim/explore"
	"lockstep/tui/debrief"
)

// What a win took is told by what is on the screen: moves and faults. Steps are told where the moves agree
// with the least and they don't, and then it is said what they are.
func TestScoreExplainsItsWords(t *testing.T) {
	least := explore.Cost{Faults: 1, Switches: 1, Steps: 6}
	for _, c := range []struct {
		taken explore.Cost
		want  string
	}{
		{least, "You matched the best found: 4 moves, 1 fault."},
		{explore.Cost{Faults: 1, Switches: 1, Steps: 8}, "You matched the best found: 4 moves, 1 fault. A move can take several steps: yours take 8, and the best found 6."},
		{explore.Cost{Faults: 1, Switches: 2, Steps: 6}, "You matched the best found: 4 moves, 1 fault."},
		{explore.Cost{Faults: 2, Switches: 1, Steps: 6}, "You did not match the best found. Yours: 4 moves, 2 faults; best found: 4 moves, 1 fault."},
	} {
		s := debrief.Score{Moves: 4, Least: 4, Taken: c.taken, Par: least}
		if got := s.Text(); got != c.want {
			t.Errorf("%+v: %q, want %q", c.taken, got, c.want)
		}
	}
}

// The first words count what was made beside what is needed. Fewer moves than the search's, which counts steps, are the least.
func TestScoreInBrief(t *testing.T) {
	for _, c := range []struct {
		moves, least int
		want         string
	}{{6, 4, "You made 6 moves; best found: 4 moves."}, {4, 4, "You made 4 moves, as few as the best found."}, {3, 4, "You made 3 moves, as few as the best found."}} {
		s := debrief.Score{Moves: c.moves, Least: c.least}
		if got := s.Brief(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
	for par, want := range map[int]string{1: "You made 5 moves, with 2 faults; best found: 5 moves, with 1 fault.", 2: "You made 5 moves, as few as the best found."} {
		s := debrief.Score{Moves: 5, Least: 5, Taken: explore.Cost{Faults: 2, Switches: 2}, Par: explore.Cost{Faults: par}}
		if got := s.Brief(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if s := (debrief.Score{Moves: 6, Least: 4, Hints: 2, Others: 3}); !strings.HasSuffix(s.Text(), "Hints asked for: 2. Other moves tried: 3.") {
		t.Errorf("what helped isn't told: %s", s.Text())
	}
}
