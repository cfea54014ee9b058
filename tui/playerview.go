package tui

import (
	"fmt"

	"lockstep/sim"
	"lockstep/strategies"
)

// draw puts the panes where the layout says.
func (p *player) draw(c *canvas, r rect) {
	var lanes []lane
	l := arrange(r.w, r.h+1, wishes{source: p.source, main: func(rows int) int {
		switch {
		case p.reel == nil:
			return rows
		case p.view != viewTimeline:
			return rows - 2 // for the narration
		}
		lanes = plan(p.reel, p.pos, rows-axisRows)
		return axisRows + len(lanes)
	}})
	p.plan, p.overflows = l, false
	l.drawFrame(c, p.theme)
	p.drawHeader(c, l.header)
	if p.reel == nil {
		p.drawNothing(c, l)
		return
	}
	p.drawMain(c, l.main, lanes)
	p.drawStatus(c, l.status)
	p.drawTold(c, l.told)
	p.drawState(c, l.state)
	p.drawSource(c, l.source)
	if !l.trace.empty() {
		p.drawTraceLines(c, l.trace)
	}
}

func (p *player) drawNothing(c *canvas, l layout) {
	st, sc := p.lib.strategies[p.strategy].Name, p.lib.scenarios[p.scenario].Name
	if p.failed == nil {
		c.text(l.main.x+1, l.main.y, l.main.w-2, fmt.Sprintf("running %s under %s", st, sc), inkDim)
		return
	}
	c.text(l.main.x+1, l.main.y, l.main.w-2, fmt.Sprintf("%s under %s can't be run:", st, sc), inkBreach)
	for i, s := range wrap(p.failed.Error(), l.main.w-4) {
		if i < l.main.h-1 {
			c.text(l.main.x+3, l.main.y+1+i, l.main.w-4, s, inkPlain)
		}
	}
}

// drawHeader names the run on the left and the place in it on the right.
func (p *player) drawHeader(c *canvas, r rect) {
	var right line
	if p.reel != nil {
		if all, _ := p.reel.Breached(p.pos); len(all) > 0 {
			right = append(right, p.theme.flag(all), span{"  ", inkPlain})
		}
		if n := len(p.reel.Chapters); n > 0 {
			right = append(right, span{fmt.Sprintf("[%d/%d] ", p.reel.Chapter(p.pos), n), inkDim})
		}
	}
	if p.pupil != nil {
		right = append(line{{p.pupil.place() + "  ", inkDim}}, right...)
	}
	if p.loading {
		right = line{{"running ", inkDim}}
	}
	st, sc := p.lib.strategies[p.strategy], p.lib.scenarios[p.scenario]
	title := sc.Title
	if p.title != "" {
		title = p.title
	}
	left := line{{"  with ", inkDim}, {st.Name, inkTitle}}
	if p.reel != nil && p.seed != 1 {
		left = append(left, span{fmt.Sprintf("  seed %d", p.seed), inkDim})
	}
	room := r.w - right.width() - 1
	title = fit(" "+title, max(room-left.width(), 8), p.theme.more) // of a long title rather less than of the rest
	left = append(line{{title, inkTitle}}, left...)
	c.line(r.x, r.y, room, left)
	c.line(r.x+room+1, r.y, right.width(), right)
}

func (p *player) drawMain(c *canvas, r rect, lanes []lane) {
	switch {
	case r.empty():
	case p.view == viewLadder:
		drawLadder(c, r, p.reel, p.pos, p.theme)
	case p.view == viewTrace:
		p.drawTraceLines(c, r)
	case p.view == viewState:
		p.drawState(c, r)
	case r.w > labelWidth:
		a := p.axes.of(p.reel, r.w-labelWidth, p.zoom)
		drawTimeline(c, r, scene{Timeline: p.reel, pos: p.pos, axis: a, column: a.cols[p.pos], all: a.width(),
			lanes: lanes, theme: p.theme, lit: p.lit(), veil: p.veil()})
	}
}

// drawStatus says what the event is, and who holds the lock. A notice or a prompt
// takes the second's place, unless that is a violation: nothing hides one.
func (p *player) drawStatus(c *canvas, r rect) {
	event := statusLine(p.reel, p.pos)
	l, band := holders(p.reel, p.pos, p.now)
	if p.veil() != p.pos {
		l, band = line{{" Who has it? Predict, and the rows will tell.", inkStrong}}, inkPlain
	}
	said := p.notice
	if p.find.asking() {
		said = p.find.prompt(&p.keys)
	}
	switch {
	case said == "":
	case band == inkPlain:
		l = line{{" " + said, inkStrong}}
	default:
		event = line{{" " + said, inkStrong}}
	}
	c.line(r.x, r.y, r.w, event)
	r = rect{r.x, r.y + 1, r.w, r.h - 1}
	if band != inkPlain {
		c.fill(r, " ", band)
	}
	c.line(r.x, r.y+r.h/2, r.w, l)
}

// scrolled keeps a pane's scroll within what there is to scroll.
func (p *player) scrolled(which pane, lines, rows, base int) int {
	p.overflows = p.overflows || which == p.focus && which != paneSource && lines > rows
	p.scroll[which] = min(max(p.scroll[which], -base), max(lines-rows, 0)-base)
	return base + p.scroll[which]
}

func (p *player) drawTold(c *canvas, r rect) {
	if p.below != nil {
		p.below(c, r)
		return
	}
	lines := p.narration(r.w)
	top := 0
	if r.h > len(lines) {
		top = 1 // a line of air, if there is one to spare
	}
	c.lines(rect{r.x, r.y + top, r.w, r.h - top}, lines, p.scrolled(paneTold, len(lines), r.h, 0))
}

func (p *player) drawState(c *canvas, r rect) {
	if r.empty() {
		return
	}
	lines := []line{{{"state at " + sim.Brief(p.now.At), inkTitle}}, {{"  (not before the question is answered)", inkDim}}}
	if p.veil() == p.pos {
		lines = stateLines(p.reel, p.pos, p.before, p.now)
	}
	c.lines(rect{r.x + 1, r.y, r.w - 1, r.h}, lines, p.scrolled(paneState, len(lines), r.h, 0))
}

func (p *player) drawSource(c *canvas, r rect) {
	if r.empty() {
		return
	}
	file := sourceFile(p.reel, p.pos, p.file)
	code, known := p.code[file]
	if !known {
		text, _ := strategies.Text(file)
		code = codeLines(text)
		p.code[file] = code
	}
	title := rect{r.x + 1, r.y, r.w - 1, 1}
	r = rect{r.x + 1, r.y + 1, r.w - 1, r.h - 1}
	lines, focus := sourceLines(p.reel, p.pos, p.now, file, code, r.w)
	base := min(max(focus-r.h/2, 0), max(len(lines)-r.h, 0))
	first := p.scrolled(paneSource, len(lines), r.h, base)
	last := min(first+r.h, len(lines))
	c.line(title.x, title.y, title.w, line{{"source: strategies/" + file, inkTitle},
		{fmt.Sprintf("  lines %d to %d of %d", first+1, last, len(lines)), inkDim}})
	c.lines(r, lines[first:last], 0)
}
