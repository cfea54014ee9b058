package player

import (
	"fmt"
	"slices"

	"lockstep/tui/draw"
	"lockstep/tui/events"
)

// drawTraceLines draws the end of the list of events up to the cursor.
func (p *Player) drawTraceLines(c *draw.Canvas, r draw.Rectangle) {
	lines, _ := p.traceLines(r)
	c.Lines(r, lines, 0)
}

// traceLines are the lines of the list as it is scrolled, none of them cut, and the position of each. The
// evidence of the violation at hand is numbered, matches of the search are marked.
func (p *Player) traceLines(r draw.Rectangle) (lines []draw.Line, at []int) {
	if p.find.Only != "" {
		text := fmt.Sprintf(" only with %q: %d of %d events", p.find.Only, p.find.Kept(p.Pos), p.Pos)
		if p.Pos > 0 && !p.find.Keeps(p.Pos) {
			text += ", and that at the cursor"
		}
		lines, at = append(lines, draw.Line{draw.Text(text, draw.Strong)}), append(at, p.Pos)
	}
	p.scroll[panelTrace] = min(max(p.scroll[panelTrace], -max(p.Pos-r.H, 0)), 0)
	rows := events.Rows(p.Run, p.Pos, r.H-len(lines), -p.scroll[panelTrace], p.find.Keeps)
	list, places := events.Lines(rows, r.H-len(lines), func(row events.Row) []draw.Line {
		proof, found := 0, false
		if e := p.Run.Event(row.Pos); e != nil {
			proof, found = p.evidence(e.Seq), p.find.Hit(row.Pos)
		}
		all := row.Line(p.Run, p.Theme, r.W, proof, found).Hanging(r.W)
		if row.Pos == p.Pos && !row.Breaks() {
			for i := range all {
				all[i] = all[i].Selected(r.W)
			}
		}
		return all
	})
	return append(lines, list...), append(at, places...)
}

// evidence is the place of an event, from 1, among those that prove the violation
// at hand, or 0.
func (p *Player) evidence(seq int) int { return slices.Index(p.lit(), seq) + 1 }

// lit are the events that prove the violation that is told at the cursor, or that whose evidence the reader goes round: they have
// numbers only where the words do.
func (p *Player) lit() []int {
	if p.picked != none && (p.proving || p.Run.Breaches[p.picked].Pos == p.Pos) {
		return p.Run.Breaches[p.picked].Events
	}
	return nil
}
