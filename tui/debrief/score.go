package debrief

import (
	"fmt"

	"lockstep/sim/explore"
	"lockstep/tui/draw"
)

// Score compares the reader's moves with the least.
type Score struct {
	Moves, Least int          // the reader's, and the search's
	Taken, Par   explore.Cost // of the same
	Hints        int          // asked for
	Others       int          // moves that were tried, and lead elsewhere
}

// least are the fewest moves. The search counts steps: should some way have more of them and fewer moves, that is no worse.
func (s *Score) least() int { return min(s.Least, s.Moves) }

// Brief is the count of the moves beside the least, and that of the changes to another client, for which the level asks, too.
func (s *Score) Brief() string {
	yours, least := draw.Plural(s.Moves, "move"), draw.Either(s.least() == s.Moves, "as many moves", draw.Plural(s.least(), "move"))
	if s.Taken.Switches+s.Par.Switches > 0 {
		yours += ", changing to another client " + often(s.Taken.Switches)
	}
	if s.Taken.Switches != s.Par.Switches {
		least += ", changing client " + often(s.Par.Switches)
	}
	return fmt.Sprintf("You made %s; best found: %s.", yours, least)
}

// often is a number of times, which may be none.
func often(n int) string { return draw.Either(n == 0, "never", draw.Times(n)) }

// Text says in what the moves differ from the least, and what helped. Steps, of which a move may take several, are told only where
// nothing else differs.
func (s *Score) Text() string {
	yours, least := Cost(s.Moves, s.Taken), Cost(s.least(), s.Par)
	text := "You matched the least: " + yours + "."
	switch {
	case yours == least && s.Taken.Steps != s.Par.Steps:
		text += fmt.Sprintf(" A move can take several steps: yours take %d, and the least %d.", s.Taken.Steps, s.Par.Steps)
	case yours == least:
	case s.Moves <= s.Least && s.Taken.Faults == s.Par.Faults:
		text = fmt.Sprintf("You matched the least in moves (%d) and faults (%d), but not in changes to another client: you made %d, and the least has %d.",
			s.Moves, s.Par.Faults, s.Taken.Switches, s.Par.Switches)
	default:
		text = fmt.Sprintf("You did not match the least. Yours: %s; the least: %s.", yours, least)
	}
	if s.Hints > 0 {
		text += fmt.Sprintf(" Hints asked for: %d.", s.Hints)
	}
	if s.Others > 0 {
		text += fmt.Sprintf(" Other moves tried: %d.", s.Others)
	}
	return text
}

// Cost describes moves and their cost to a reader who knows the words of no search.
func Cost(moves int, c explore.Cost) string {
	text := draw.Plural(moves, "move")
	if c.Switches > 0 {
		text += ", changing to another client " + draw.Times(c.Switches)
	}
	return text + ", " + draw.Plural(c.Faults, "fault")
}
