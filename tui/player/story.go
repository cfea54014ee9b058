package player

import (
	"slices"

	"lockstep/tui/draw"
)

// story is all there is to tell at a position, before anything of it yields to the rows that there
// are.
type story struct {
	lines          []draw.Line
	evidence, hint part
	current        int  // the line of the evidence that the status row has, too; negative if there is none
	scrolls        bool // what has no row can be scrolled to: then no evidence goes whose number stands on the ruler
}

// part are lines of a story: those from one up to another.
type part struct{ from, to int }

// least is the number of lines without the gaps that can go.
func (s *story) least() int {
	n := len(s.lines)
	for _, l := range s.lines[s.evidence.to:] {
		if len(l) == 0 {
			n--
		}
	}
	return n
}

// uncut is the number of lines that nothing yields for: without gaps and evidence.
func (s *story) uncut() int { return s.least() - (s.evidence.to - s.evidence.from) }

// squeezed leaves out of lines that are more than rows: gaps, and then lines of the evidence,
// whose numbers stand on the ruler as well; that of the event at the cursor first. Gaps stand below
// the evidence. It returns the hint's place among those that are left.
func (s *story) squeezed(rows int) ([]draw.Line, part) {
	lines, below := slices.Clone(s.lines), len(s.lines)-s.hint.to
	for i := len(lines) - 1; i >= s.evidence.to && len(lines) > rows; i-- {
		if len(lines[i]) == 0 {
			if i >= s.hint.to {
				below--
			}
			lines = slices.Delete(lines, i, i+1)
		}
	}
	proof := s.evidence
	if s.current >= 0 && len(lines) > rows {
		lines = slices.Delete(lines, s.current, s.current+1)
		proof.to--
	}
	if over := min(len(lines)-rows, proof.to-proof.from); over > 0 && !s.scrolls {
		lines = slices.Delete(lines, proof.from, proof.from+over)
	}
	if s.hint.from == s.hint.to {
		return lines, part{}
	}
	end := len(lines) - below
	return lines, part{end - (s.hint.to - s.hint.from), end}
}
