// Package told has the words that stand below a run at a position, and says which of them yield where rows are few.
package told

import (
	"slices"

	"lockstep/tui/draw"
)

// Story is the whole text at a position, before anything of it yields where there are few
// rows.
type Story struct {
	Lines          []draw.Line
	Evidence, Hint Part
	Current        Part                         // the lines of the evidence on the event that the status row has, too, if there is one
	Scrolls        bool                         // lines without a row can be scrolled to: then no evidence goes whose number stands on the ruler
	Width          int                          // of the lines at most
	RunTogether    bool                         // the choices of a question are no list
	More           func(n int, all bool) string // says that so many events of the evidence, or all, have no row
}

// Part are lines of a story: those from one up to another.
type Part struct{ From, To int }

// up is the same part after a line above it has gone.
func (p Part) up() Part { return Part{p.From - 1, p.To - 1} }

// Least is the number of lines without the gaps that can go.
func (s *Story) Least() int {
	n := len(s.Lines)
	for _, l := range s.Lines {
		if len(l) == 0 {
			n--
		}
	}
	return n
}

// Uncut is the number of lines that nothing yields for: without gaps and evidence.
func (s *Story) Uncut() int { return s.Least() - (s.Evidence.To - s.Evidence.From) }

// Squeezed leaves out of lines that are more than rows: gaps, and then lines of the evidence,
// whose numbers stand on the ruler as well; that of the event at the cursor first, which the status row has; but none that can be scrolled to. Of the
// others it says how many there are: each event of the evidence takes one line where rows are few. No gap stands within
// the evidence. It returns the hint's place among those that are left.
func (s *Story) Squeezed(rows int) ([]draw.Line, Part) {
	lines, below := slices.Clone(s.Lines), len(s.Lines)-s.Hint.To
	proof, current := s.Evidence, s.Current
	for i := len(lines) - 1; i >= 0 && len(lines) > rows; i-- {
		if len(lines[i]) > 0 {
			continue
		}
		if i >= s.Hint.To {
			below--
		}
		if i < s.Evidence.From {
			proof, current = proof.up(), current.up()
		}
		lines = slices.Delete(lines, i, i+1)
	}
	if len(lines) > rows && current.From < current.To && !s.Scrolls {
		lines = slices.Delete(lines, current.From, current.To)
		proof.To -= current.To - current.From
	}
	if over := min(len(lines)-rows, proof.To-proof.From); over > 0 && !s.Scrolls {
		lines = s.without(lines, proof, over)
	}
	if s.Hint.From == s.Hint.To {
		return lines, Part{}
	}
	end := len(lines) - below
	return lines, Part{end - (s.Hint.To - s.Hint.From), end}
}

// without leaves out the first events of the evidence, and says so: at the end of the line above, or else in a line of
// its own, for which one event more goes; where there is none, at the end of one of the lines below.
func (s *Story) without(lines []draw.Line, proof Part, n int) []draw.Line {
	said := func(at int, text string) bool {
		if at < 0 || lines[at].Width()+draw.Width(text) > s.Width {
			return false
		}
		lines[at] = append(slices.Clip(lines[at]), draw.Text(text, draw.Strong))
		return true
	}
	all := n == proof.To-proof.From
	if said(proof.From-1, "  "+s.More(n, all)) {
		return slices.Delete(lines, proof.From, proof.From+n)
	}
	if all {
		for at := proof.To; at < len(lines); at++ {
			if said(at, "  "+s.More(n, all)) {
				return slices.Delete(lines, proof.From, proof.To)
			}
		}
	}
	n = min(n+1, proof.To-proof.From)
	return slices.Replace(lines, proof.From, proof.From+n, draw.Line{draw.Text("    "+s.More(n, n == proof.To-proof.From), draw.Strong)})
}
