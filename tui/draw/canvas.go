// Package draw has the tools for drawing screens: a grid of cells, the inks and glyphs of
// a theme, and functions that measure, cut and wrap text by columns. It knows nothing of
// runs, keys or screens.
package draw

import (
	"fmt"
	"strings"
)

// Canvas is a grid of character cells. Every pane draws into one and nothing
// else, so a frame can't be wider or taller than its window: cells outside it are not
// drawn, and text that is cut says so.
//
// Invariants: len(cells) = W * H. A covered cell has a cell to its left that is not
// covered, and that holds a character of two columns.
type Canvas struct {
	W, H  int // in cells
	cells []cell
	More  string // the mark of text that was cut
}

// cell is one column of one row. A character of two columns stands in the left
// cell; the right one is marked as covered.
type cell struct {
	s       string
	ink     Ink
	covered bool
}

// Rectangle is a part of a canvas, in cells: w columns by h rows from (x, y) on.
type Rectangle struct{ X, Y, W, H int }

// Rect is shorthand for a rectangle.
func Rect(x, y, w, h int) Rectangle { return Rectangle{x, y, w, h} }

// Holds reports whether a cell lies in the rectangle.
func (r Rectangle) Holds(x, y int) bool { return x >= r.X && x < r.X+r.W && y >= r.Y && y < r.Y+r.H }

// Empty reports whether the rectangle has no cells.
func (r Rectangle) Empty() bool { return r.W <= 0 || r.H <= 0 }

// NewCanvas is an empty canvas. Text that is cut ends in the mark more, of one column.
func NewCanvas(w, h int, more string) *Canvas {
	return &Canvas{W: w, H: h, cells: make([]cell, w*h), More: more}
}

// Put draws one character of one column.
func (c *Canvas) Put(x, y int, s string, k Ink) {
	if x < 0 || y < 0 || x >= c.W || y >= c.H {
		return
	}
	c.free(x, y)
	c.cells[y*c.W+x] = cell{s: s, ink: k}
}

// free makes a cell empty, and its other half with it if it had one.
func (c *Canvas) free(x, y int) {
	row := c.cells[y*c.W : (y+1)*c.W]
	if row[x].covered && x > 0 {
		row[x-1] = cell{}
	}
	if x+1 < c.W && row[x+1].covered {
		row[x+1] = cell{}
	}
	row[x] = cell{}
}

func (c *Canvas) at(x, y int) cell {
	if x < 0 || y < 0 || x >= c.W || y >= c.H {
		return cell{}
	}
	return c.cells[y*c.W+x]
}

// Char is the character in a cell; it is empty where nothing was drawn, and outside.
func (c *Canvas) Char(x, y int) string { return c.at(x, y).s }

// Fill draws the same character all over a part.
func (c *Canvas) Fill(r Rectangle, s string, k Ink) {
	for y := r.Y; y < r.Y+r.H; y++ {
		for x := r.X; x < r.X+r.W; x++ {
			c.Put(x, y, s, k)
		}
	}
}

// Tint changes the ink of a part, and leaves its text.
func (c *Canvas) Tint(r Rectangle, k Ink) {
	for y := max(r.Y, 0); y < min(r.Y+r.H, c.H); y++ {
		for x := max(r.X, 0); x < min(r.X+r.W, c.W); x++ {
			c.cells[y*c.W+x].ink = k
		}
	}
}

// Text writes s from (x, y) on, in at most width columns, and returns the number
// of columns taken. Text that does not fit ends in the canvas's cut mark.
func (c *Canvas) Text(x, y, width int, s string, k Ink) int {
	width = min(width, c.W-x)
	if width <= 0 || y < 0 || y >= c.H {
		return 0
	}
	s = Fit(s, width, c.More)
	used := 0
	for len(s) > 0 {
		var g string
		var n int
		g, s, n = NextGlyph(s)
		if n == 0 {
			continue
		}
		c.glyph(x+used, y, g, n, k)
		used += n
	}
	return used
}

// glyph draws a character of one or two columns. One of two that would be cut by
// the canvas's edge is not drawn.
func (c *Canvas) glyph(x, y int, g string, columns int, k Ink) {
	if columns == 1 {
		c.Put(x, y, g, k)
		return
	}
	if x < 0 || x+1 >= c.W {
		return
	}
	c.Put(x, y, g, k)
	c.Put(x+1, y, "", k)
	i := y*c.W + x
	c.cells[i] = cell{s: g, ink: k}
	c.cells[i+1] = cell{ink: k, covered: true}
}

// Line writes a line made of pieces of text in several inks.
func (c *Canvas) Line(x, y, width int, l Line) int {
	width = min(width, c.W-x)
	used := 0
	for _, s := range l.Fitted(width, c.More) {
		used += c.Text(x+used, y, width-used, s.Text, s.Ink)
	}
	return used
}

// Lines writes a pane's lines from the offset on. It counts the lines that don't fit:
// those above in the first row, those below in the last.
func (c *Canvas) Lines(r Rectangle, all []Line, offset int) {
	for row := 0; row < r.H && offset+row < len(all); row++ {
		at := offset + row
		switch {
		case row == r.H-1 && len(all)-at > 1:
			c.Text(r.X, r.Y+row, r.W, fmt.Sprintf("%s %d more lines", c.More, len(all)-at), Dim)
		case row == 0 && offset > 0 && r.H > 1:
			c.Text(r.X, r.Y+row, r.W, fmt.Sprintf("%s %d lines above", c.More, at+1), Dim)
		default:
			c.Line(r.X, r.Y+row, r.W, all[at])
		}
	}
}

// PageOf is how far a page is in a pane of so many rows whose lines don't all fit: the first row and the last
// one count lines there, and each line is to be seen on one page or another.
func PageOf(rows int) int { return max(rows-2, 1) }

// Span is a piece of text in one ink.
type Span struct {
	Text string
	Ink  Ink
}

// Line is a row of spans.
type Line []Span

// Text is a piece of text in one ink.
func Text(s string, k Ink) Span { return Span{s, k} }

// Width is the number of columns that the line takes.
func (l Line) Width() int {
	n := 0
	for _, s := range l {
		n += Width(s.Text)
	}
	return n
}

// Fitted is the line, cut if it is too wide.
func (l Line) Fitted(width int, more string) Line {
	if l.Width() <= width {
		return l
	}
	return l.fit(width, more)
}

// fit cuts a line that is too wide; the mark takes the ink of the span that it cuts.
func (l Line) fit(width int, more string) Line {
	var out Line
	for _, s := range l {
		n := Width(s.Text)
		if n < width {
			out, width = append(out, s), width-n
			continue
		}
		if n == width { // fits by itself, but something follows
			s.Text += " "
		}
		return append(out, Span{Fit(s.Text, width, more), s.Ink})
	}
	return out
}

// Hanging is the line, with the text of its last span wrapped below its own beginning where all of it
// is too wide, and there is room for that.
func (l Line) Hanging(width int) []Line {
	if l.Width() <= width {
		return []Line{l}
	}
	head, last := l[:len(l)-1:len(l)-1], l[len(l)-1]
	text := strings.TrimLeft(last.Text, " ")
	indent := Line(head).Width() + len(last.Text) - len(text)
	if 2*indent > width {
		return []Line{l}
	}
	head = append(head, Text(last.Text[:len(last.Text)-len(text)], Plain))
	var lines []Line
	for _, s := range Wrap(text, width-indent) {
		lines = append(lines, append(head, Text(s, last.Ink)))
		head = Line{Text(strings.Repeat(" ", indent), Plain)}
	}
	return lines
}

// Selected is the line as the selected one of its list, over the whole width.
func (l Line) Selected(width int) Line {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.Text)
	}
	b.WriteString(strings.Repeat(" ", max(width-l.Width(), 0)))
	return Line{{b.String(), Pick}}
}

// Render gives the frame: exactly h lines, none wider than w.
func (c *Canvas) Render(t *Theme) string {
	var b strings.Builder
	b.Grow(len(c.cells) * 3)
	for y := range c.H {
		if y > 0 {
			b.WriteByte('\n')
		}
		c.renderRow(&b, c.cells[y*c.W:(y+1)*c.W], t)
	}
	return b.String()
}

func (c *Canvas) renderRow(b *strings.Builder, row []cell, t *Theme) {
	for len(row) > 0 && row[len(row)-1] == (cell{}) {
		row = row[:len(row)-1]
	}
	open := Plain
	for i := range row {
		if row[i].covered {
			continue
		}
		ink := row[i].ink
		if t.lined && ink == Breach && margin(row, i) {
			ink = Plain
		}
		if ink != open {
			b.WriteString(t.after[open])
			open = ink
			b.WriteString(t.before[open])
		}
		if row[i].s == "" {
			b.WriteByte(' ')
		} else {
			b.WriteString(row[i].s)
		}
	}
	b.WriteString(t.after[open])
}

// margin reports whether a cell is a blank before or after the words of its ink: a line below it would
// belong to nothing.
func margin(row []cell, i int) bool {
	blank := func(c cell) bool { return !c.covered && strings.TrimSpace(c.s) == "" }
	if !blank(row[i]) {
		return false
	}
	from, to := i, i
	for from > 0 && row[from-1].ink == row[i].ink && blank(row[from-1]) {
		from--
	}
	for to+1 < len(row) && row[to+1].ink == row[i].ink && blank(row[to+1]) {
		to++
	}
	return from == 0 || row[from-1].ink != row[i].ink || to+1 == len(row) || row[to+1].ink != row[i].ink
}
