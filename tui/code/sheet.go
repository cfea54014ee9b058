package code

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/timeline"
	"lockstep/tui/draw"
)

// leastSheet is how many rows code has at least below the rows about it.
const leastSheet = 5

// Draw draws the code below a title, with the line in focus in sight: scrolled gives the first row, by how many there are and
// where the first one stands unscrolled.
func (v *Standing) Draw(c *draw.Canvas, r draw.Rectangle, file string, text []string, th *draw.Theme, scrolled func(rows, base int) int) {
	title := draw.Rect(r.X+1, r.Y, r.W-1, 1)
	r = draw.Rect(r.X+1, r.Y+1, r.W-1, r.H-1)
	if v.Note != "" && r.H > leastSheet {
		c.Line(r.X, r.Y, r.W, draw.Line{draw.Text(v.Note, draw.Strong)}.Fitted(r.W, th.More))
		r = draw.Rect(r.X, r.Y+1, r.W, r.H-1)
	}
	base := max(v.Focus-r.H/2, 0)
	above := v.Script
	if n := len(above.Rows); n > 0 && r.H-n > leastSheet && base > 0 { // the script that runs there stands above it
		c.Lines(draw.Rect(r.X, r.Y, r.W, n+1), append(above.Rows, draw.Line{draw.Text(th.More, draw.Dim)}), 0) // lines are left out
		r = draw.Rect(r.X, r.Y+n+1, r.W, r.H-n-1)
	} else {
		above = Script{}
	}
	base = min(max(v.Focus-r.H/2, 0), max(len(v.Rows)-r.H, 0))
	end := v.End() - r.H // the line in focus is whole
	base = WholeComment(v.Texts, base, v.Focus, r.H)
	for base > max(end, 0) && v.Lines[base] == v.Lines[base-1] && v.Focus-base < r.H-1 { // from the beginning of a line
		base--
	}
	base = min(max(base, end), v.Focus)
	if head, next := v.declared(base), v.nextDeclared(base); head < base && next <= min(v.Focus, len(v.Rows)-r.H) {
		base = next
	} else if head < base && head >= end && v.Focus-head < r.H {
		base = head
	} else if r.H > leastSheet && head < base && len(above.Rows) == 0 { // it stands above the lines that are left out of it
		above = Script{Rows: v.Rows[head : head+1], First: v.Lines[head], Last: v.Lines[head]}
		c.Lines(draw.Rect(r.X, r.Y, r.W, 2), append(slices.Clone(above.Rows), draw.Line{draw.Text(th.More, draw.Dim)}), 0)
		r = draw.Rect(r.X, r.Y+2, r.W, r.H-2)
		base = min(max(base+2, v.End()-r.H), v.Focus)
	}
	first := scrolled(r.H, base)
	for first == base && first > 0 && first < v.Focus && slices.Contains([]string{"", "}"}, strings.TrimSpace(v.Texts[first])) {
		first, base = first+1, base+1 // the end of the lines that are left out
	}
	last := min(first+r.H, len(v.Rows))
	head := draw.Line{draw.Text("source: not known", draw.Title)}
	if file != "" {
		lines, of, bare := above.lines(v.Lines[first], v.Lines[last-1]), fmt.Sprintf(" of %d", len(text)), draw.Either(v.Bare, ", without comments", "")
		head = draw.Line{draw.Text("source: strategies/"+file, draw.Title)}
		if head.Width()+draw.Width(lines+of+bare) > title.W {
			of = ""
		}
		head = append(head, draw.Text(lines+of+bare, draw.Dim))
	}
	c.Line(title.X, title.Y, title.W, head)
	c.Lines(r, v.Rows[first:last], 0)
}

// declared is the row in which the declaration begins in whose middle a row is, or else that row itself.
func (v *Standing) declared(row int) int {
	for at := row; at >= 0; at-- {
		switch text := v.Texts[at]; {
		case at > 0 && v.Lines[at] == v.Lines[at-1]: // the rest of a line
		case at < row && strings.HasPrefix(text, "}"):
			return row
		case text != "" && !strings.HasPrefix(text, " ") && !strings.HasPrefix(text, "}") && !strings.HasPrefix(text, ")"):
			return at
		}
	}
	return row
}

// nextDeclared is the first row after one with which another declaration begins, or the comment above it; behind the last row if none does.
func (v *Standing) nextDeclared(row int) int {
	for at := row + 1; at < len(v.Rows); at++ {
		if v.Texts[at-1] == "" && v.declared(at) == at && v.Texts[at] != "" && !strings.HasPrefix(v.Texts[at], " ") {
			return at
		}
	}
	return len(v.Rows)
}

// lines says which lines of a file are shown: those of the script and, below them, others.
func (s *Script) lines(first, last int) string {
	text := fmt.Sprintf("%d to %d", first, last)
	if len(s.Rows) > 0 && s.Last < first {
		text = fmt.Sprintf("%d to %d and %s", s.First, s.Last, text)
	}
	return "  lines " + text
}

// Signs explains the mark beside a line of the code, as it is where the first two clients stand at one.
func Signs(g *draw.Glyphs, run *timeline.Timeline) []draw.Sign {
	names := "AB"
	if run != nil {
		names = strings.Join(draw.ShortNames(run.Clients[:min(2, len(run.Clients))]), "")
	}
	return []draw.Sign{{names + g.Pointer, "beside a line of the code: the clients that stand there, at the command that they send next or whose reply they await"}}
}
