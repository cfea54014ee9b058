package player

import (
	"fmt"
	"slices"

	"lockstep/sim/timeline"
	"lockstep/tui/code"
	"lockstep/tui/draw"
	"lockstep/tui/facts"
	"lockstep/tui/ladder"
	"lockstep/tui/layout"
	"lockstep/tui/pane"
	"lockstep/tui/views"
)

// leastListed is the number of rows from which the holders, the diagram below them and the list of events have room.
const leastListed = layout.RoomyHeight

// Draw puts the panes where the layout says.
func (p *Player) Draw(c *draw.Canvas, r draw.Rectangle) {
	var lanes []pane.Lane
	want := layout.Wishes{Source: p.source, Listed: p.view == views.Trace || p.view == views.Holders && r.H < leastListed, Told: layout.LeastTold, Least: 1, Main: func(rows int) int {
		if p.Run == nil {
			return rows
		}
		taken := 0
		lanes, taken = p.lanesIn(rows, layout.BodyWidth(r.W, r.H+1, p.source), pane.PlanLanes)
		return taken
	}}
	if p.Run != nil {
		var table bool // in the place of the list of events
		want.Told, want.Least, table = p.wish(r)
		want.Listed = want.Listed || table
		want.Across = p.view == views.Timeline || p.view == views.Holders
		if width := r.W - 1 - layout.BodyWidth(r.W, r.H+1, p.source); width > 0 {
			want.Facts = len(p.facts(width))
		}
	}
	l := layout.Arrange(r.W, r.H+1, want)
	p.plan, p.overflows = l, false
	l.Draw(c, p.Theme)
	top := p.drawMode(c, l.Rules[0])
	p.DrawNotice(c, top, l.Rules[1])
	p.above = draw.Either(p.ofFile() || p.Stale[p.scenario] != "", draw.Rectangle{}, top)
	p.DrawHeader(c, l.Header)
	if p.Run == nil {
		p.DrawAwaited(c, l.Main)
		return
	}
	p.drawMain(c, l.Main, lanes)
	p.drawLegend(c, l.Main, lanes)
	p.DrawStatus(c, l.Status)
	p.drawTold(c, l.Told)
	p.drawState(c, l.State)
	p.DrawSource(c, l.Source)
	if !l.Trace.Empty() {
		p.drawTraceLines(c, l.Trace)
	}
}

// wish is how many rows the narration wishes: for all of it, as long as the diagram keeps the damage; and how many the diagram
// does not yield to it. Gaps and the ends of long evidence yield to the row of the resource, and that yields to evidence; the violations
// keep their row, though a client's deeds and its belief then share one where else a word were cut.
func (p *Player) wish(r draw.Rectangle) (told, least int, table bool) {
	width := layout.BodyWidth(r.W, r.H+1, p.source)
	list := 0 // the rows of the list above the diagram
	if p.view == views.Holders {
		list = len(p.holders(width-1)) + 1
	}
	beside := func(rows int) int { return layout.RoomBeside(list+rows, r.H+1) }
	room := beside(pane.AllRows(p.Run, p.Pos)) // no row comes or goes if the words can be short instead
	s := p.fitting(width, room)
	if s.Least() > room || s.RunTogether || s.Evidence.From < s.Evidence.To {
		room = beside(pane.WholeRows(p.Run, p.Pos))
		s = p.fitting(width, room)
	}
	least = list + pane.LeastRows(p.Run, p.Pos)
	for _, rows := range []int{pane.StoreRows(p.Run, p.Pos), pane.LeastRows(p.Run, p.Pos)} {
		if s.Least() > room {
			room = beside(rows)
		}
	}
	for _, rows := range []int{pane.BelievingRows(p.Run, p.Pos), pane.FewestRows(p.Run, p.Pos)} {
		if s.Uncut() > room {
			least, room = list+rows, beside(rows)
		}
	}
	lines, _ := s.Squeezed(room)
	if list := p.holdersBelow(width - 1); len(list) > 0 && (r.H >= layout.RoomyHeight || len(lines)+2+len(list) <= beside(pane.WholeRows(p.Run, p.Pos))) { // the list of events yields
		return len(lines) + 2 + len(list), least, r.H < layout.RoomyHeight
	}
	return len(lines), least, false
}

// lanesIn plans the lanes of a diagram in rows, and counts the rows that the view takes of them. That of the holders has the diagram below
// its list, if there is room.
func (p *Player) lanesIn(rows, width int, plan func(*timeline.Timeline, int, int) []pane.Lane) (lanes []pane.Lane, taken int) {
	switch p.view {
	case views.Timeline:
	case views.Holders:
		taken = min(len(p.holders(width-1)), rows)
		if rows-taken-1 < pane.FewestRows(p.Run, p.Pos) {
			return nil, taken
		}
		taken++
	default:
		return nil, rows
	}
	lanes = plan(p.Run, p.Pos, rows-taken-pane.AxisRows)
	return lanes, taken + pane.AxisRows + len(lanes)
}

// holders is the list of who held the lock when, up to the cursor; or up to where the evidence was called for that the cursor has gone back to, as
// all of that has been seen.
func (p *Player) holders(width int) []draw.Line {
	return facts.Holders(p.Run, max(p.Pos, p.back), p.Pos, width)
}

// holdersBelow is the list of who held the lock when, for below the words that end a run, unless it is in view.
func (p *Player) holdersBelow(width int) []draw.Line {
	if p.view == views.Holders {
		return nil
	}
	return facts.HoldersAtEnd(p.Run, p.Pos, width)
}

// DiagramRows is how many of the rows on offer the diagram takes.
func (p *Player) DiagramRows(rows int) int {
	plan := pane.PlanLanes
	if p.Steady {
		plan = func(r *timeline.Timeline, pos, rows int) []pane.Lane { return pane.SteadyLanes(r, pos, rows, false) }
	}
	_, taken := p.lanesIn(rows, draw.MinWidth, plan)
	return min(rows, taken)
}

// DrawDiagram draws the view that is chosen, for screens with a layout of their own. It returns the rest of the legend,
// if that has room in so many spare rows.
func (p *Player) DrawDiagram(c *draw.Canvas, r draw.Rectangle, spare int) []draw.Line {
	p.plan, p.spare, p.above = layout.Layout{Main: r}, spare, draw.Rectangle{}
	if r.Empty() {
		return nil
	}
	plan := pane.FillLanes
	if p.Steady {
		plan = func(r *timeline.Timeline, pos, rows int) []pane.Lane { return pane.SteadyLanes(r, pos, rows, true) }
	}
	lanes, _ := p.lanesIn(r.H, r.W, plan)
	p.drawMain(c, r, lanes)
	p.drawLegend(c, r, lanes)
	if rest := draw.SignRows(p.unexplained, r.W-2); len(rest) <= spare {
		return rest
	}
	return nil
}

// DrawAwaited says what is run, or why it can't be.
func (p *Player) DrawAwaited(c *draw.Canvas, r draw.Rectangle) {
	p.App.DrawAwaited(c, r, p.Strategy, p.scenario, p.failed)
}

// DrawHeader names the run on the left and the place in it on the right.
func (p *Player) DrawHeader(c *draw.Canvas, r draw.Rectangle) {
	st, sc := p.Library.Strategies[p.Strategy], p.Library.Scenarios[p.scenario]
	title := " " + draw.Either(p.Title != "", p.Title, sc.Title)
	left := draw.Line{draw.Text(": with ", draw.Dim), draw.Text(st.Name, draw.Title)}
	if p.Run != nil && p.Seed != 1 {
		left = append(left, draw.Text(fmt.Sprintf("  seed %d", p.Seed), draw.Dim))
	}
	right := p.whereabouts(r.W - draw.Width(title) - left.Width() - 1)
	room := r.W - right.Width() - 1
	const least = 8
	if room-left.Width() < least { // the title alone, rather than the first letters of both
		left = nil
	}
	if len(left) > 0 && draw.Width(title)+left.Width() > room {
		left[0].Text = ": "
	}
	title = draw.FitWords(title, room-left.Width(), p.Theme.More) // of a long title rather less than of the rest
	left = append(draw.Line{draw.Text(title, draw.Title)}, left...)
	c.Line(r.X, r.Y, room, left)
	c.Line(r.X+room+1, r.Y, right.Width(), right)
}

// whereabouts are the broken properties and the place in the run and in the course.
func (p *Player) whereabouts(room int) draw.Line {
	if p.loading {
		return draw.Line{draw.Text("running ", draw.Dim)}
	}
	var broken, chapter, lesson, short draw.Line
	if p.lesson != nil {
		lesson, short = draw.Line{draw.Text(p.lesson.String()+"  ", draw.Dim)}, draw.Line{draw.Text(p.lesson.Short()+"  ", draw.Dim)}
	}
	if p.Run != nil {
		if all, _ := p.Run.Breached(p.Pos); len(all) > 0 {
			broken = draw.Line{pane.NamedSpan(all, draw.Either(p.Names, room-2, 0)), draw.Text("  ", draw.Plain)}
		}
		if p.Scrolls { // in a room's talk
			chapter = draw.Line{draw.Text(p.quiz.Slide(p.Pos), draw.Dim)}
		} else if at, n := p.quiz.Chapters(p.Pos); n > 0 {
			chapter = draw.Line{draw.Text(fmt.Sprintf("chapter %d/%d ", at, n), draw.Dim)}
		}
	}
	return facts.Whereabouts(lesson, short, broken, chapter, room)
}

func (p *Player) drawMain(c *draw.Canvas, r draw.Rectangle, lanes []pane.Lane) {
	switch {
	case r.Empty():
	case p.view == views.Ladder:
		ladder.Draw(c, p.listing(r), p.Run, p.Pos, p.Theme)
	case p.view == views.Trace:
		p.drawTraceLines(c, p.listing(r))
	case p.view == views.State:
		p.drawState(c, r)
	case p.view == views.Holders:
		list, below := p.holders(r.W-1), draw.Rect(r.X, r.Y, r.W, 0)
		if len(lanes) > 0 {
			below.H = len(lanes) + pane.AxisRows
			below.Y += r.H - below.H
			p.drawTimeline(c, below, lanes)
		}
		r.H -= below.H
		c.Lines(r, list, p.scrolled(panelState, len(list), r.H, 0))
	default:
		p.drawTimeline(c, r, lanes)
	}
}

// drawTimeline draws the diagram, which at the end of a run goes on to the instant to which its words have come.
func (p *Player) drawTimeline(c *draw.Canvas, r draw.Rectangle, lanes []pane.Lane) {
	if r.W > pane.LabelWidth {
		a := p.axes.Of(p.Run, r.W-pane.LabelWidth, p.zoom)
		now, since := p.Run.Now(p.Pos), 0
		switch { // an instant after that of the event has a column of its own, if there is one
		case p.Pos == p.Run.Last() && p.Now > p.Run.When(p.Pos):
			now, since = p.Now, 2
		case p.Pos < p.Run.Last() && now > p.Run.When(p.Pos):
			since = max(min(2, a.Cols[p.Pos+1]-a.Cols[p.Pos]-1), 0)
		}
		p.drawn = pane.DrawTimeline(c, r, pane.Scene{Timeline: p.Run, Pos: p.Pos, Axis: a, Column: a.Cols[p.Pos] + since, All: a.Width() + since,
			Lanes: lanes, Theme: p.Theme, Lit: p.lit(), Now: now})
	}
}

// listing is the place of a list of events: beside the wall it leaves a column of air.
func (p *Player) listing(r draw.Rectangle) draw.Rectangle {
	if !p.plan.Wall.Empty() {
		r.W--
	}
	return r
}

// drawLegend explains the glyphs of the diagram, on the rule above it, and those for which that has no room on the one below it. At the end of
// that it says which rows there was no room for, and how many marks are covered by others. It keeps the signs for which
// there was no room. Where all of the diagram has none beside a list, it says what shows it.
func (p *Player) drawLegend(c *draw.Canvas, r draw.Rectangle, lanes []pane.Lane) {
	p.unexplained = nil
	width := r.W - 4
	var above, below, notes draw.Line
	var others []draw.Sign
	switch {
	case r.Empty() || len(lanes) == 0 && p.view != views.Holders:
		return
	case len(lanes) == 0:
		notes = draw.Line{draw.Text(" "+p.Keys.Close.Help().Key, draw.Strong), draw.Text(" shows the timeline ", draw.Dim)}
	default:
		zoom := draw.Either(p.zoom < pane.MostZoom, p.Keys.In.Help().Key, "")
		for form := pane.MissingAll; form <= pane.MissingCount; form++ {
			notes = p.drawn.Missing(p.Run, p.Pos, lanes, form, zoom)
			above, below, others = p.drawn.Legend(p.Theme, p.above.W-2, width-notes.Width())
			if notes.Width() <= width && p.explains(others, width) {
				break
			}
		}
		if !p.explains(others, width) {
			notes = append(draw.Line{draw.Text(" "+p.Keys.Help.Help().Key, draw.Strong), draw.Text(" more ", draw.Dim)}, notes...)
			above, below, others = p.drawn.Legend(p.Theme, p.above.W-2, width-notes.Width())
		}
	}
	notes = notes.Fitted(width, p.Theme.More)
	c.Line(p.above.X+1, p.above.Y, p.above.W-2, above)
	c.Line(r.X+1, r.Y+r.H, r.W-2, below)
	c.Line(r.X+r.W-1-notes.Width(), r.Y+r.H, r.W-2, notes)
	p.unexplained = others
}

// explains reports whether the signs for which the legend has no room are none, or are explained elsewhere: in the pane of the state, or in rows below
// the diagram.
func (p *Player) explains(others []draw.Sign, width int) bool {
	return len(p.otherSigns(others)) > 0 || len(draw.SignRows(others, width)) <= p.spare
}

// DrawStatus draws the event at the cursor, in two rows if it needs them and there are so many, and the
// holders of the lock, for whom the last row is.
func (p *Player) DrawStatus(c *draw.Canvas, r draw.Rectangle) {
	line := pane.StatusLine(p.Run, p.Pos, !p.forClass())
	if e := p.Run.Event(p.Pos); e != nil && p.evidence(e.Seq) > 0 { // the number that it has on the ruler
		line = slices.Insert(line, 0, draw.Text(fmt.Sprintf("[%d]", p.evidence(e.Seq)), draw.Alarm))
	}
	event := line.Hanging(r.W)
	if len(event) > 2 || r.H < 4 || event[0].Width() > r.W {
		event = []draw.Line{pane.ShortenedLine(line, r.W)}
		if event[0].Width() > r.W { // which of the events it is the list has, too
			event[0] = pane.ShortenedLine(pane.StatusLine(p.Run, p.Pos, false), r.W)
		}
	}
	l, band := pane.Holders(p.Run, p.Pos, p.State, r.W-min(p.plan.Wall.W, 1))        // a column of air beside the wall
	if p.quiz.MoreAnswers(p.Pos) && band == draw.Plain && p.Run.Clash(p.Pos) == "" { // it may be the answer
		l = draw.Line{draw.Text(" Another question is answered here: "+p.Keys.Enter.Help().Key+" goes on.", draw.Dim)}
	}
	if r.H == 1 { // the event is in the diagram
		event = nil
	}
	c.Lines(draw.Rect(r.X, r.Y, r.W, len(event)), event, 0)
	r = draw.Rect(r.X, r.Y+len(event), r.W, r.H-len(event))
	if band != draw.Plain {
		c.Fill(r, " ", band)
	}
	if all := l.Hanging(r.W); len(all) <= r.H {
		c.Lines(draw.Rect(r.X, r.Y+(r.H-len(all)+1)/2, r.W, len(all)), all, 0)
		return
	}
	c.Line(r.X, r.Y+r.H/2, r.W, l)
}

// drawMode names the mode for a class, which lasts from run to run, and the key that ends it, at the end of a rule, and returns the rest.
func (p *Player) drawMode(c *draw.Canvas, rule draw.Rectangle) draw.Rectangle {
	if !p.Teaching {
		return rule
	}
	_, stale := p.Stale[p.scenario] // of which there is more to say
	mode := draw.Line{draw.Text(draw.Either(stale || p.ofFile(), " for a class; ", " for a class: questions wait, nothing is scored; "), draw.Strong), draw.Text(p.Keys.Teach.Help().Key, draw.Here), draw.Text(" ends it ", draw.Strong)}
	c.Line(rule.X+rule.W-mode.Width()-1, rule.Y, mode.Width(), mode)
	rule.W -= mode.Width()
	return rule
}

// DrawNotice draws a notice or a prompt on a rule, where it hides nothing of the run; and on the rule at the top, which can be the same,
// that the run is out of date, and why, or that there is a new one of the file.
func (p *Player) DrawNotice(c *draw.Canvas, top, rule draw.Rectangle) {
	said := p.Notice
	if p.ofFile() {
		rule = top
	}
	if p.find.Asking() {
		said = p.find.Prompt(&p.Keys)
	}
	said = draw.Either(said != "", " "+said+" ", "")
	stale := ""
	if why, is := p.Stale[p.scenario]; is && p.Run != nil {
		stale = " " + why + " "
	}
	if top != rule {
		c.Line(top.X+1, top.Y, top.W-2, draw.Line{draw.Text(stale, draw.Breach)}.Fitted(top.W-2, p.Theme.More))
		stale = ""
	} else if stale != "" && said != "" { // the message of a key goes with the next key, and leaves at least the head of the error
		least := min(draw.Width(stale), max(rule.W/2, rule.W-2-draw.Width(said)))
		said, stale = draw.Fit(said, rule.W-2-least, p.Theme.More), draw.Fit(stale, least, p.Theme.More)
	}
	c.Line(rule.X+1, rule.Y, rule.W-2, draw.Line{draw.Text(stale, draw.Breach), draw.Text(said, draw.Strong)}.Fitted(rule.W-2, p.Theme.More))
}

// scrolled keeps a pane's scroll within its lines.
func (p *Player) scrolled(which panel, lines, rows, base int) int {
	p.overflows = p.overflows || which == p.focus && which != panelSource && lines > rows
	p.scroll[which] = min(max(p.scroll[which], -base), max(lines-rows, 0)-base)
	return base + p.scroll[which]
}

func (p *Player) drawTold(c *draw.Canvas, r draw.Rectangle) {
	lines := p.Narration(r.W, r.H)
	list := p.holdersBelow(r.W - 1)
	if len(lines)+len(list) >= r.H && p.view == views.Timeline {
		list = []draw.Line{{draw.Text(" "+p.Keys.View.Help().Key, draw.Strong), draw.Text(" "+p.NextView().Ahead(true), draw.Dim)}}
	}
	if len(list) > 0 && len(lines)+len(list) < r.H {
		lines = append(append(lines, nil), list...)
	}
	top := 0
	if r.H > len(lines) {
		top = 1 // a line of air, if there is one to spare
	}
	c.Lines(draw.Rect(r.X, r.Y+top, r.W, r.H-top), lines, p.scrolled(panelTold, len(lines), r.H, 0))
}

// facts are the lines of the state in a pane of a width.
func (p *Player) facts(width int) (lines []draw.Line) {
	for _, l := range facts.Lines(p.Run, p.Pos, p.previous, p.State) {
		lines = append(lines, l.Hanging(width-1)...)
	}
	return lines
}

func (p *Player) drawState(c *draw.Canvas, r draw.Rectangle) {
	if r.Empty() {
		return
	}
	lines := append(p.facts(r.W), p.otherSigns(p.unexplained)...)
	c.Lines(draw.Rect(r.X+1, r.Y, r.W-1, r.H), lines, p.scrolled(panelState, len(lines), r.H, 0))
}

// otherSigns explains signs below the state beside the diagram, if that leaves the rows for it.
func (p *Player) otherSigns(signs []draw.Sign) []draw.Line {
	r := p.plan.State
	if r.Empty() || len(signs) == 0 {
		return nil
	}
	return pane.OtherSigns(signs, r.W-1, r.H-len(p.facts(r.W)))
}

// DrawSource draws the code with the line of each client.
func (p *Player) DrawSource(c *draw.Canvas, r draw.Rectangle) {
	if r.Empty() {
		return
	}
	file := code.FileAt(p.Run, p.Pos, p.file)
	asked := p.quiz.At(p.Pos)
	named := false
	if asked != nil && asked.Of != nil { // the code of the last command says nothing of that of the question
		var sent string
		if sent, named = code.SentIn(asked.Of); named {
			file = sent
		}
	}
	text, known := p.code[file]
	if !known {
		text = code.Of(file)
		p.code[file] = text
	}
	bare, waits := text, p.Untold && file != "" && p.quiz.Ahead(p.Pos) // its comments may tell an answer
	if waits {
		bare = code.Bare(text)
	}
	v := code.StandingAt(p.Run, p.Pos, p.State, file, bare, r.W-1, p.Theme)
	if waits {
		v.Uncommented(text)
		v.Beheaded(text)
	}
	if named {
		v.Ask(bare, asked.Of.Source.Line, r.W-1, p.Run.Named(asked.Of))
	}
	v.Draw(c, r, file, text, p.Theme, func(rows, base int) int { return p.scrolled(panelSource, len(v.Rows), rows, base) })
}
