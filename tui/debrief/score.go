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

// Brief is the count of the moves beside the least, and that of the faults, where they differ.
func (s *Score) Brief() string {
	yours, least := draw.Plural(s.Moves, "move"), draw.Plural(s.least(), "move")
	switch {
	case s.Taken.Faults != s.Par.Faults:
		yours += ", with " + draw.Plural(s.Taken.Faults, "fault")
		least += ", with " + draw.Plural(s.Par.Faults, "fault")
	case yours == least:
		return fmt.Sprintf("You made %s, as few as the best found.", yours)
	}
	return fmt.Sprintf("You made %s; best found: %s.", yours, least)
}

// Text says how the moves differ from the least, and what helped. Steps, of which a move may take several, are told only where
// nothing else differs.
func (s *Score) Text() string {
	yours, least := Cost(s.Moves, s.Taken), Cost(s.least(), s.Par)
	text := "You matched the best found: " + yours + "."
	switch {
	case yours == least && s.Taken.Steps != s.Par.Steps:
		text += fmt.Sprintf(" A move can take several steps: yours take %d, and the best found %d.", s.Taken.Steps, s.Par.Steps)
	case yours == least:
	default:
		text = fmt.Sprintf("You did not match the best found. Yours: %s; best found: %s.", yours, least)
	}
	if s.Hints > 0 {
		text += fmt.Sprintf(" Hints asked for: %d.", s.Hints)
	}
	if s.Others > 0 {
		text += fmt.Sprintf(" Other moves tried: %d.", s.Others)
	}
	return text
}

// Cost describes moves and their faults to a reader who knows the words of no search: that the search counts changes to another client,
// too, is nothing to play by.
func Cost(moves int, c explore.Cost) string {
	return draw.Plural(moves, "move") + ", " + draw.Plural(c.Faults, "fault")
}
