package code

import (
	"strings"

	"lockstep/tui/draw"
)

// Place is the line of a file, from 1, around which a window shows it. A client that stands there has a mark beside it.
type Place struct {
	Line   int
	Stands bool
	Mark   string // of two columns
	Ink    draw.Ink
}

const (
	margin      = "  "
	leastHeaded = 6 // rows, above whose first one the head of the function stands, if it has scrolled away
	before      = 4 // the share of a window that is above the line: that which comes next says more
	further     = 4 // columns by which the rows of one line are indented after its first
)

// Draw shows the lines around a place. That on which a client stands is whole, in as many rows as it takes; others
// end at the edge.
func Draw(c *draw.Canvas, r draw.Rectangle, code []string, at Place, th *draw.Theme) {
	code, focus := Joined(code, at.Line)
	width, whole := r.W-draw.Width(margin), []string(nil)
	if at.Stands && focus > 0 {
		whole = folded(code[focus-1], width)
	}
	more := max(len(whole)-1, 0) // rows
	begin := min(max(focus-1-r.H/before, 0), max(len(code)+more-r.H, 0))
	if head := headOf(code, focus-1); head >= 0 && head < begin && r.H >= leastHeaded {
		c.Line(r.X, r.Y, r.W, draw.Line{draw.Text(margin+code[head], draw.Dim)}.Fitted(r.W, th.More))
		r, begin = draw.Rect(r.X, r.Y+1, r.W, r.H-1), begin+1
	}
	begin = max(begin, min(focus-1, focus+more-r.H))
	for i, y := begin, 0; i < len(code) && y < r.H; i++ {
		if i+1 == focus && whole != nil {
			mark := at.Mark
			for n := 0; n < len(whole) && y < r.H; n, y = n+1, y+1 {
				c.Line(r.X, r.Y+y, r.W, draw.Line{draw.Text(mark, at.Ink), draw.Text(whole[n], draw.Pick)})
				mark = margin
			}
			continue
		}
		k := draw.Plain
		if strings.HasPrefix(strings.TrimSpace(code[i]), "//") {
			k = draw.Dim
		}
		c.Line(r.X, r.Y+y, r.W, draw.Line{draw.Text(margin, at.Ink), draw.Text(code[i], k)}.Fitted(r.W, th.More))
		y++
	}
}

// folded is a line of code in rows of a width: the first ones end where a reader of code breaks a line, if they can.
func folded(line string, width int) (rows []string) {
	rest, indent := []rune(line), ""
	for draw.Width(indent+string(rest)) > width {
		n := max(width-draw.Width(indent), 1)
		for end := n; end > depth(string(rest))+1; end-- {
			if strings.ContainsRune(" (,", rest[end-1]) || rest[end-1] == ')' && rest[end] == '.' {
				n = end
				break
			}
		}
		rows = append(rows, strings.TrimRight(indent+string(rest[:n]), " "))
		rest = []rune(strings.TrimLeft(string(rest[n:]), " "))
		indent = strings.Repeat(" ", depth(line)+further)
	}
	return append(rows, indent+string(rest))
}

// headOf is the line, from 0, that begins the function in which another line is, or -1.
func headOf(code []string, at int) int {
	for i := at; i >= 0 && i < len(code); i-- {
		switch {
		case strings.HasPrefix(code[i], "func "):
			return i
		case strings.HasPrefix(code[i], "}"):
			return -1
		}
	}
	return -1
}
