package search

import (
	"fmt"
	"strings"

	"lockstep/sim/explore"
	"lockstep/sim/explore/report"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
)

// The least widths of a finding beside others: one with its least schedule, and a name alone.
const (
	leastSchedule = 78
	leastName     = 36
)

// block are the lines of one finding.
type block struct {
	lines []draw.Line
	least bool // it has a least schedule, which can be opened
}

// tellFindings gives the result for each code, below headings with the answer and its
// reasons: consecutive codes with the same share the heading, and stand side by side where there is room.
func (m *Search) tellFindings(t *draw.Paragraphs, all []explore.Finding) {
	for from, to := 0, 0; from < len(all); from = to {
		heading := all[from].String()
		for to = from; to < len(all) && all[to].String() == heading; {
			to++
		}
		ink, _ := m.sign(all[from])
		t.Gap()
		t.Add(ink, "", strings.ToUpper(heading[:1])+heading[1:]+":")
		least := leastName
		if all[from].Answer == explore.Violated {
			least = leastSchedule
		}
		columns := min(max(t.Width/least, 1), to-from)
		width, opened := t.Width/columns, len(m.places)
		var blocks []block
		for _, f := range all[from:to] {
			b := m.blockOf(f, width, opened)
			if b.least {
				opened++
			}
			blocks = append(blocks, b)
		}
		m.setBlocks(t, blocks, columns, width)
	}
}

// setBlocks sets findings in columns of a width: they go on below each other, and then in the next column, as the cursor does.
func (m *Search) setBlocks(t *draw.Paragraphs, blocks []block, columns, width int) {
	rows := (len(blocks) + columns - 1) / columns
	top := make([]int, rows+1) // the first line of each row
	top[0] = len(t.Lines)
	for row := range rows {
		high := 0
		for i := row; i < len(blocks); i += rows {
			high = max(high, len(blocks[i].lines))
		}
		top[row+1] = top[row] + high
	}
	t.Lines = append(t.Lines, make([]draw.Line, top[rows]-top[0])...)
	for i, b := range blocks {
		x, y := i/rows*width, top[i%rows]
		if b.least {
			m.places = append(m.places, draw.Rect(x, y, width, 2))
		}
		for n, l := range b.lines {
			at := &t.Lines[y+n]
			if gap := x - at.Width(); gap > 0 {
				*at = append(*at, draw.Text(strings.Repeat(" ", gap), draw.Plain))
			}
			*at = append(*at, l...)
		}
	}
}

// sign is the sign of a finding's answer, and its ink.
func (m *Search) sign(f explore.Finding) (draw.Ink, string) {
	switch f.Answer {
	case explore.Violated:
		return draw.Breach, m.Theme.Bad
	case explore.NotDecided:
		return draw.Alarm, "?"
	}
	return draw.Good, m.Theme.Granted
}

// blockOf is the result for one code in a width. One with a least schedule has a number, by which it is at the cursor or not.
func (m *Search) blockOf(f explore.Finding, width, number int) block {
	ink, sign := m.sign(f)
	name, mark := fmt.Sprintf("%s %-3s %s", sign, f.Code, f.Code.Name()), " "
	if f.Least != nil && m.results && m.finding == number {
		ink, mark = draw.Pick, m.Theme.Pointer
	}
	t := draw.Paragraphs{Width: width, Lines: []draw.Line{{draw.Text(mark, draw.Here), draw.Text(name, ink)}}}
	switch {
	case f.Least != nil:
		m.tellLeast(&t, f.Least)
	case f.Answer == explore.Violated:
		t.Add(draw.Plain, "      ", "There was no time to find the least schedule.")
	}
	return block{t.Lines, f.Least != nil}
}

// tellLeast describes the least schedule of a violation.
func (m *Search) tellLeast(t *draw.Paragraphs, v *explore.Counterexample) {
	switch {
	case v.Turn > 0:
		t.Add(draw.Plain, "      ", report.Least(v))
		return
	case v.Random:
		t.Add(draw.Plain, "      ", report.Least(v))
	default:
		t.Add(draw.Plain, "      ", "least: "+screen.CostText(explore.Cost{Faults: len(v.Faults), Switches: v.Switches, Steps: v.Steps}))
	}
	for _, f := range v.Faults {
		note := ""
		switch {
		case f.Replaced:
			note = " (without that, another fault takes its place)"
		case !f.Essential:
			note = " (it breaks without that, too)"
		}
		t.Add(draw.Dim, "      ", f.Text+note)
	}
	if v.Within != nil {
		t.Add(draw.Dim, "      ", "the least within smaller bounds; the search of these was stopped before it was known")
	}
}
