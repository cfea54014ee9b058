package tui

import (
	"fmt"

	"lockstep/sim"
)

// drawTraceLines draws the end of the list of events up to the cursor. The
// evidence of the violation at hand is numbered, what was searched for is marked.
func (p *player) drawTraceLines(c *canvas, r rect) {
	if p.find.only != "" {
		text := fmt.Sprintf("only with %q: %d of %d events", p.find.only, count(p.find.kept[:p.pos]), p.pos)
		c.text(r.x+1, r.y, r.w-1, text, inkStrong)
		r = rect{r.x, r.y + 1, r.w, r.h - 1}
	}
	p.scroll[paneTrace] = min(max(p.scroll[paneTrace], -max(p.pos-r.h, 0)), 0)
	for i, row := range traceRows(p.reel, p.pos, r.h, -p.scroll[paneTrace], &p.find) {
		c.line(r.x, r.y+i, r.w, p.traceLine(row, r.w))
	}
}

func (p *player) traceLine(row traceRow, width int) line {
	if row.breach != nil {
		return line{{fmt.Sprintf("%14s!! %s  %s", "", row.breach.Code, row.breach.Text), inkBreach}}
	}
	t, e := p.reel.Trace, p.reel.Event(row.pos)
	name, k, text := t.Actor(e), inkStrong, inkPlain
	if client := p.reel.Doer(e); client != sim.None {
		k = clientInk(client)
	}
	mark := "  "
	if n := p.evidence(e.Seq); n > 0 {
		mark, text = fmt.Sprintf("%d ", n), inkBreach
	} else if p.find.hit(row.pos) {
		mark = p.theme.pointer + " "
	}
	l := line{{mark, inkBreach}, {fmt.Sprintf("%11s #%-4d ", sim.Instant(e.At), e.Seq), inkDim},
		{padded(name, 6), k}, {" " + p.kind(e, width) + " ", inkDim}, {t.Text(e), text}}
	if row.pos == p.pos {
		return l.fitted(width, p.theme.more).lit(width)
	}
	return l
}

// kind is an event's, in a column that has room for the longest where there is room for
// text beside it.
func (p *player) kind(e *sim.Event, width int) string {
	const short, long, wide = 9, 15, 100
	column := short
	if width >= wide {
		column = long
	}
	return padded(fit(e.Kind.String(), column, p.theme.more), column)
}

// evidence is the place of an event, from 1, among those that prove the violation
// at hand, or 0.
func (p *player) evidence(seq int) int {
	for i, s := range p.lit() {
		if s == seq {
			return i + 1
		}
	}
	return 0
}

// lit are the events that prove the violation that was last shown.
func (p *player) lit() []int {
	if p.picked == none || p.picked >= len(p.reel.Breaches) {
		return nil
	}
	return p.reel.Breaches[p.picked].Events
}
