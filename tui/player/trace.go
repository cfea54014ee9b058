package player

import (
	"fmt"

	"lockstep/tui/draw"
	"lockstep/tui/pane"
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
	for i, row := range p.traceRows(r.H) {
		proof, found := 0, false
		if e := p.Run.Event(row.Pos); e != nil {
			proof, found = p.evidence(e.Seq), p.find.hit(row.Pos)
		}
		l := row.Line(p.Run, p.Theme, r.W, proof, found)
		if row.Pos == p.Pos && !row.Breaks() {
			l = l.Fitted(r.W, p.Theme.More).Selected(r.W)
		}
		c.Line(r.X, r.Y+i, r.W, l)
	}
}

// traceRows are the rows of the list as it is scrolled.
func (p *Player) traceRows(rows int) []pane.TraceRow {
	return pane.TraceRows(p.Run, p.Pos, rows, -p.scroll[panelTrace], p.find.keeps)
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
