package tui

import (
	"fmt"
	"strings"
)

// canvas is a grid of character cells. Every pane draws into one and nothing
// else, so a frame can't be wider or taller than its window: what falls outside
// is not drawn, and text that is cut says so.
type canvas struct {
	w, h  int
	cells []cell
	more  string // the mark of text that was cut
}

// cell is one column of one row. A character of two columns stands in the left
// cell; the right one is marked as covered.
type cell struct {
	s       string
	ink     ink
	covered bool
}

// rect is a part of a canvas, in cells.
type rect struct{ x, y, w, h int }

func (r rect) holds(x, y int) bool { return x >= r.x && x < r.x+r.w && y >= r.y && y < r.y+r.h }

func (r rect) empty() bool { return r.w <= 0 || r.h <= 0 }

func newCanvas(w, h int, more string) *canvas {
	return &canvas{w: w, h: h, cells: make([]cell, w*h), more: more}
}

// put draws one character of one column.
func (c *canvas) put(x, y int, s string, k ink) {
	if x < 0 || y < 0 || x >= c.w || y >= c.h {
		return
	}
	c.free(x, y)
	c.cells[y*c.w+x] = cell{s: s, ink: k}
}

// free makes a cell empty, and its other half with it if it had one.
func (c *canvas) free(x, y int) {
	row := c.cells[y*c.w : (y+1)*c.w]
	if row[x].covered && x > 0 {
		row[x-1] = cell{}
	}
	if x+1 < c.w && row[x+1].covered {
		row[x+1] = cell{}
	}
	row[x] = cell{}
}

func (c *canvas) at(x, y int) cell {
	if x < 0 || y < 0 || x >= c.w || y >= c.h {
		return cell{}
	}
	return c.cells[y*c.w+x]
}

// fill draws the same character all over a part.
func (c *canvas) fill(r rect, s string, k ink) {
	for y := r.y; y < r.y+r.h; y++ {
		for x := r.x; x < r.x+r.w; x++ {
			c.put(x, y, s, k)
		}
	}
}

// tint changes the ink of what stands in a part already.
func (c *canvas) tint(r rect, k ink) {
	for y := max(r.y, 0); y < min(r.y+r.h, c.h); y++ {
		for x := max(r.x, 0); x < min(r.x+r.w, c.w); x++ {
			c.cells[y*c.w+x].ink = k
		}
	}
}

// text writes s from (x, y) on, in at most width columns, and returns how many
// it took. Text that does not fit ends in the canvas's cut mark.
func (c *canvas) text(x, y, width int, s string, k ink) int {
	width = min(width, c.w-x)
	if width <= 0 || y < 0 || y >= c.h {
		return 0
	}
	s = fit(s, width, c.more)
	used := 0
	for len(s) > 0 {
		var g string
		var n int
		g, s, n = nextGlyph(s)
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
func (c *canvas) glyph(x, y int, g string, columns int, k ink) {
	if columns == 1 {
		c.put(x, y, g, k)
		return
	}
	if x < 0 || x+1 >= c.w {
		return
	}
	c.put(x, y, g, k)
	c.put(x+1, y, "", k)
	i := y*c.w + x
	c.cells[i] = cell{s: g, ink: k}
	c.cells[i+1] = cell{ink: k, covered: true}
}

// line writes a line made of pieces of text in several inks.
func (c *canvas) line(x, y, width int, l line) int {
	width = min(width, c.w-x)
	used := 0
	for _, s := range l.fitted(width, c.more) {
		used += c.text(x+used, y, width-used, s.text, s.ink)
	}
	return used
}

// lines writes a pane's lines from the offset on. What doesn't fit is counted:
// lines above in the first row, and lines below in the last.
func (c *canvas) lines(r rect, all []line, offset int) {
	for row := 0; row < r.h && offset+row < len(all); row++ {
		at := offset + row
		switch {
		case row == r.h-1 && len(all)-at > 1:
			c.text(r.x, r.y+row, r.w, fmt.Sprintf("%s %d more lines", c.more, len(all)-at), inkDim)
		case row == 0 && offset > 0 && r.h > 1:
			c.text(r.x, r.y+row, r.w, fmt.Sprintf("%s %d lines above", c.more, at+1), inkDim)
		default:
			c.line(r.x, r.y+row, r.w, all[at])
		}
	}
}

// span is a piece of text in one ink, and line is a row of them.
type (
	span struct {
		text string
		ink  ink
	}
	line []span
)

func (l line) width() int {
	n := 0
	for _, s := range l {
		n += textWidth(s.text)
	}
	return n
}

// fitted is the line, cut if it is too wide.
func (l line) fitted(width int, more string) line {
	if l.width() <= width {
		return l
	}
	return l.fit(width, more)
}

// fit cuts a line that is too wide; the mark takes the ink of what it cuts.
func (l line) fit(width int, more string) line {
	var out line
	for _, s := range l {
		n := textWidth(s.text)
		if n < width {
			out, width = append(out, s), width-n
			continue
		}
		if n == width { // fits by itself, but something follows
			s.text += " "
		}
		return append(out, span{fit(s.text, width, more), s.ink})
	}
	return out
}

// lit is the line as the selected one of its list, over the whole width.
func (l line) lit(width int) line {
	var b strings.Builder
	for _, s := range l {
		b.WriteString(s.text)
	}
	b.WriteString(strings.Repeat(" ", max(width-l.width(), 0)))
	return line{{b.String(), inkPick}}
}

// render gives the frame: exactly h lines, none wider than w.
func (c *canvas) render(t *theme) string {
	var b strings.Builder
	b.Grow(len(c.cells) * 3)
	for y := range c.h {
		if y > 0 {
			b.WriteByte('\n')
		}
		c.renderRow(&b, c.cells[y*c.w:(y+1)*c.w], t)
	}
	return b.String()
}

func (c *canvas) renderRow(b *strings.Builder, row []cell, t *theme) {
	for len(row) > 0 && row[len(row)-1] == (cell{}) {
		row = row[:len(row)-1]
	}
	open := inkPlain
	for i := range row {
		if row[i].covered {
			continue
		}
		if row[i].ink != open {
			b.WriteString(t.after[open])
			open = row[i].ink
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
