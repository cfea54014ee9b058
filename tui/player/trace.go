package player

import (
	"fmt"

	"lockstep/sim/trace"
	"lockstep/tui/draw"
)

// drawTraceLines draws the end of the list of events up to the cursor. The
// evidence of the violation at hand is numbered, matches of the search are marked.
func (p *Player) drawTraceLines(c *draw.Canvas, r draw.Rectangle) {
	if p.find.only != "" {
		text := fmt.Sprintf("only with %q: %d of %d events", p.find.only, count(p.find.kept[:p.Pos]), p.Pos)
		c.Text(r.X+1, r.Y, r.W-1, text, draw.Strong)
		r = draw.Rect(r.X, r.Y+1, r.W, r.H-1)
	}
	p.scroll[panelTrace] = min(max(p.scroll[panelTrace], -max(p.Pos-r.H, 0)), 0)
	for i, row := range traceRows(p.Run, p.Pos, r.H, -p.scroll[panelTrace], &p.find) {
		c.Line(r.X, r.Y+i, r.W, p.traceLine(row, r.W))
	}
}

func (p *Player) traceLine(row traceRow, width int) draw.Line {
	if row.breach != nil {
		return draw.Line{draw.Text(fmt.Sprintf("%14s!! %s  %s", "", row.breach.Code, row.breach.Text), draw.Breach)}
	}
	t, e := p.Run.Trace, p.Run.Event(row.pos)
	name, k, text := t.Actor(e), draw.Strong, draw.Plain
	if client := p.Run.Doer(e); client != trace.None {
		k = draw.ClientInk(client)
	}
	mark := "  "
	if n := p.evidence(e.Seq); n > 0 {
		mark, text = fmt.Sprintf("%d ", n), draw.Breach
	} else if p.find.hit(row.pos) {
		mark = p.Theme.Pointer + " "
	}
	l := draw.Line{draw.Text(mark, draw.Breach), draw.Text(fmt.Sprintf("%11s #%-4d ", trace.Instant(e.At), e.Seq), draw.Dim),
		draw.Text(draw.Pad(name, 6), k), draw.Text(" "+p.kind(e, width)+" ", draw.Dim), draw.Text(t.Text(e), text)}
	if row.pos == p.Pos {
		return l.Fitted(width, p.Theme.More).Selected(width)
	}
	return l
}

// kind is an event's, in a column that has room for the longest where there is room for
// text beside it.
func (p *Player) kind(e *trace.Event, width int) string {
	const short, long, wide = 9, 15, 100
	column := short
	if width >= wide {
		column = long
	}
	return draw.Pad(draw.Fit(e.Kind.String(), column, p.Theme.More), column)
}

// evidence is the place of an event, from 1, among those that prove the violation
// at hand, or 0.
func (p *Player) evidence(seq int) int {
	for i, s := range p.lit() {
		if s == seq {
			return i + 1
		}
	}
	return 0
}

// lit are the events that prove the violation that was last shown.
func (p *Player) lit() []int {
	if p.picked == none || p.picked >= len(p.Run.Breaches) {
		return nil
	}
	return p.Run.Breaches[p.picked].Events
}
