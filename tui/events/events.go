// Package events lists the events of a run: up to a position, with the violations that they complete, or as the numbered
// evidence of one violation.
package events

import (
	"fmt"
	"slices"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/pane"
)

// Row is a row of the list of events: an event, or a violation below the event that
// completed it.
type Row struct {
	Pos    int
	breach *timeline.Breach
	room   int // columns of the instants of all rows of the list
}

// usualInstant is the least number of columns for instants: most runs take no longer than a day.
const usualInstant = 10

// Rows are the last n rows up to a position, skip rows before its end, of the events that are
// kept, and of that at the position.
func Rows(r *timeline.Timeline, pos, n, skip int, keeps func(pos int) bool) []Row {
	var rows []Row
	for p := pos; p > 0 && len(rows) < n+skip; p-- {
		if !keeps(p) && p != pos {
			continue // and a violation is nothing without the event that completes it
		}
		_, fresh := r.Breached(p)
		for i := len(fresh) - 1; i >= 0; i-- {
			rows = append(rows, Row{Pos: p, breach: &fresh[i]})
		}
		rows = append(rows, Row{Pos: p})
	}
	rows = rows[min(skip, len(rows)):]
	slices.Reverse(rows)
	rows = rows[max(len(rows)-n, 0):]
	room := usualInstant
	for _, row := range rows {
		room = max(room, draw.Width(trace.Instant(r.When(row.Pos))))
	}
	for i := range rows {
		rows[i].room = room
	}
	return rows
}

// Lines are the lines of the last rows that have room for all of theirs among n, and the position of
// each line.
func Lines(rows []Row, n int, linesOf func(Row) []draw.Line) (lines []draw.Line, at []int) {
	for i := len(rows) - 1; i >= 0; i-- {
		more := linesOf(rows[i])
		if len(lines)+len(more) > n && len(lines) > 0 {
			break
		}
		lines = append(more, lines...)
		at = append(slices.Repeat([]int{rows[i].Pos}, len(more)), at...)
	}
	return lines, at
}

// Breaks reports whether the row is a violation.
func (row Row) Breaks() bool { return row.breach != nil }

// Line is the row in a list so wide. An event that proves the violation at hand has its number there,
// from 1; another one has none, 0, and perhaps the mark of a search's hit.
func (row Row) Line(r *timeline.Timeline, t *draw.Theme, width, proof int, found bool) draw.Line {
	if row.breach != nil {
		k := draw.Breach
		if !row.breach.Code.Failure() {
			k = draw.Strong
		}
		return draw.Line{draw.Text(fmt.Sprintf("%14s%s %s", "", pane.SignOf(row.breach.Code), row.breach.Code), k), draw.Text("  "+row.breach.Text, k)}
	}
	e := r.Event(row.Pos)
	k, text := draw.Strong, draw.Plain
	if client := r.Doer(e); client != trace.None {
		k = draw.ClientInk(client)
	}
	mark := "   "
	if proof > 0 {
		mark, text = fmt.Sprintf("[%d]", proof), draw.Breach
	} else if found {
		mark = t.Pointer + "  "
	}
	return draw.Line{draw.Text(mark, draw.Breach), draw.Text(fmt.Sprintf("%*s #%-4d ", row.room, trace.Instant(e.At), e.Seq), draw.Dim),
		draw.Text(draw.Pad(r.Actor(e), r.ActorColumn()), k), draw.Text(" "+kindColumn(e, t, width)+" ", draw.Dim), draw.Text(r.Text(e), text)}
}

// Evidence are the events that prove a violation, with their numbers on the ruler: whole, or each in one line. These are no prose,
// and take all of the width. The lines of the event at a position are those from one up to another.
func Evidence(r *timeline.Timeline, seqs []int, pos, width int, whole bool, t *draw.Theme) (lines []draw.Line, from, to int) {
	heads := r.Heads(seqs)
	for n, seq := range seqs {
		e := r.Event(r.After(seq))
		current := r.After(seq) == pos
		if current {
			from = len(lines)
		}
		head := "   " + heads[n]
		actor, joint := pane.Actor(r, e)
		text := actor + joint + r.Text(e)
		if !whole {
			text = pane.Shortened(text, width-draw.Width(head))
		}
		if !whole || draw.Width(head+text) <= width {
			lines = append(lines, draw.Line{draw.Text(draw.Fit(head+text, width, t.More), draw.Plain)})
		} else {
			for _, l := range draw.Wrap(text, width-draw.Width(head)) {
				lines = append(lines, draw.Line{draw.Text(head+l, draw.Plain)})
				head = draw.Pad("", draw.Width(head))
			}
		}
		if current {
			to = len(lines)
		}
	}
	return lines, from, to
}

// kindColumn is an event's kind, in a column that has room for the longest where there is room for
// text beside it.
func kindColumn(e *trace.Event, t *draw.Theme, width int) string {
	const short, long, wide = 9, 15, 100
	column := short
	if width >= wide {
		column = long
	}
	return draw.Pad(draw.Fit(e.Kind.String(), column, t.More), column)
}
