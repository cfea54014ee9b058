package decide

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/scenarios/advice"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
)

// layout says where the parts of the screen are.
type layout struct {
	header, questions, lock, runs draw.Rectangle
	rules                         []draw.Rectangle
	answers                       [questions][]draw.Rectangle // as the last frame has them
}

// The rows of the list of runs that the recommendation leaves to it: before there are any runs, while the reader is
// at the questions, where a large window leaves a sixth of it, and while at the runs, with those that tell of one of them.
const (
	noRuns      = 0
	leastRuns   = 4
	leastListed = 8
	leastDetail = 5
	fewest      = 6 // rows that the list keeps where a run takes many to tell of
)

// arrange is a pure function of the window, of the rows that the recommendation takes, and of those that it leaves at least
// to the list of runs.
func arrange(w, h, lock, least int) layout {
	l := layout{header: draw.Rect(0, 0, w, 1), questions: draw.Rect(0, 2, w, questions)}
	y := 2 + questions
	l.rules = []draw.Rectangle{draw.Rect(0, 1, w, 1), draw.Rect(0, y, w, 1)}
	lock = min(lock, h-y-3-least)
	l.lock = draw.Rect(0, y+1, w, lock)
	y += 1 + lock
	l.rules = append(l.rules, draw.Rect(0, y, w, 1))
	l.runs = draw.Rect(0, y+1, w, h-1-(y+1))
	return l
}

// Draw draws the questions, the lock and the runs.
func (d *Decide) Draw(c *draw.Canvas, r draw.Rectangle) {
	a, waiting := d.advice()
	least, room := max(leastRuns, r.H/6), r.H // the text is scrolled, and the runs that show it stay in sight
	switch {
	case d.toAsk() > 0:
		least = noRuns
	case d.at >= questions:
		least = leastListed + leastDetail
		room = arrange(r.W, r.H+1, r.H, least).lock.H
	}
	rest := a.Rest(d.names(), d.outcome)
	told := draw.Paragraphs{Width: min(r.W-1, draw.WidestLine)}
	d.listed, d.claims, d.made = nil, nil, rest.Made
	switch asked := d.toAsk(); {
	case asked > 0:
		d.ask(&told, asked, r.W-1, arrange(r.W, r.H+1, r.H, least).lock.H)
	case waiting == 0:
		d.claims = a.Claims()
		d.listed = listed(a.Runs)
		if rest.Pending == 0 { // a list that grows would be read as a number of failures
			d.listed = append(d.listed, rest.Shown...)
		}
		d.tell(&told, &a, &rest, room, r.H)
	default:
		told.Add(draw.Dim, "", fmt.Sprintf("Still computing: %s to come until a lock can be named. The answers can be changed meanwhile.", draw.Plural(waiting, "run")))
	}
	rows := len(told.Lines)
	if d.toAsk() > 0 {
		rows = r.H // no list comes below
	}
	l := arrange(r.W, r.H+1, rows, least)
	if n := l.lock.H; n > 1 && n < len(told.Lines) && headed(told.Lines[n-2]) { // the last row says that there is more, and a heading alone before it says nothing
		l = arrange(r.W, r.H+1, n-1, least)
	}
	d.plan = l
	for _, rule := range l.rules {
		c.Fill(rule, d.Theme.Rule, draw.Dim)
	}
	n := c.Text(l.header.X+1, l.header.Y, r.W-2, "Which lock should I use?", draw.Title)
	if len(d.listed) > 0 {
		d.drawSigns(c, l.header, n+2, a.Cured() != "")
	}
	d.drawQuestions(c, l.questions)
	d.drawPlace(c, l.rules[1])
	d.drawText(c, l.lock, told.Lines)
	d.rows = nil
	d.at = min(d.at, questions+len(d.listed)-1)
	if len(d.listed) > 0 {
		d.room = arrange(r.W, r.H+1, d.lines, max(leastRuns, r.H/6)).runs.H
		d.drawRuns(c, l, &a, rest.Pending)
	}
}

// headed reports whether a line of the text is a heading.
func headed(l draw.Line) bool {
	return slices.ContainsFunc(l, func(s draw.Span) bool { return s.Ink == draw.Title })
}

// drawPlace says on a rule why the last key did nothing, or else what the question at the cursor means, as long as there is something to answer
// or to change, or that the cursor is at the runs.
func (d *Decide) drawPlace(c *draw.Canvas, rule draw.Rectangle) {
	text, ink := d.said, draw.Strong
	switch k := &d.Keys; {
	case text != "":
	case d.at < questions && d.toAsk() == 0 && !d.again:
		return
	case d.at < questions:
		text, ink = advice.Questions[d.at].Hint, draw.Dim
	default:
		text, ink = fmt.Sprintf("at the runs: %s plays the one at %s, %s goes back to the questions", k.Enter.Help().Key, d.Theme.Pointer, k.Close.Help().Key), draw.Dim
	}
	c.Text(rule.X+1, rule.Y, rule.W-2, " "+text+" ", ink)
}

// drawText draws the text from the line that was scrolled to, and says by which key it goes on.
func (d *Decide) drawText(c *draw.Canvas, r draw.Rectangle, lines []draw.Line) {
	d.beyond = max(len(lines)-r.H, 0)
	d.above = min(d.above, d.beyond)
	c.Lines(r, lines, d.above)
	if d.above > 0 && d.at < questions {
		text := fmt.Sprintf("%s %d lines above: %s", d.Theme.More, d.above+1, d.Keys.PageUp.Help().Key)
		c.Text(r.X, r.Y, r.W, draw.Pad(text, r.W), draw.Dim)
	}
	if below := d.beyond - d.above; below > 0 && d.at < questions {
		text := fmt.Sprintf("%s %d more lines: %s", d.Theme.More, below+1, d.Keys.PageDown.Help().Key)
		c.Text(r.X, r.Y+r.H-1, r.W, text, draw.Dim)
	}
}

// drawSigns says at the end of a row what the signs before the codes of the runs mean, and the codes, if there is
// room beside the row's beginning. Where a lock is recommended with an idempotency key, nothing is forbidden with that.
func (d *Decide) drawSigns(c *draw.Canvas, r draw.Rectangle, taken int, cured bool) {
	g := &d.Theme.Glyphs
	signs := draw.Either(cured, "", "by your answers: ") + g.Granted + " ok  " + g.Mild + " tolerable  " + g.Bad + " " + draw.Either(cured, "the lock alone fails", "forbidden")
	codes := ""
	for _, c := range d.codes() {
		if more := fmt.Sprintf("%s (%s)  ", c.Name(), c); taken+draw.Width(codes+more+signs)+1 < r.W {
			codes += more
		}
	}
	signs = codes + signs
	if n := draw.Width(signs); taken+n+1 < r.W {
		c.Text(r.X+r.W-1-n, r.Y, n, signs, draw.Dim)
	}
}

// codes are those that the list of runs has, the worst first.
func (d *Decide) codes() trace.Verdict {
	var all trace.Verdict
	for i := range d.listed {
		if c, ok := code(&d.listed[i]); ok && !slices.Contains(all, c) {
			all = append(all, c)
		}
	}
	return all.Sorted()
}

// widestCode are the columns of the longest name of a code in the list.
func (d *Decide) widestCode() (widest int) {
	for _, c := range d.codes() {
		widest = max(widest, draw.Width(c.Name()))
	}
	return widest
}

// code is the worst of a run, as the list has it: a code that the answers forbid comes first. It is false if there is none.
func code(r *advice.Run) (trace.Code, bool) {
	for _, v := range []trace.Verdict{r.Broken, r.Verdict} {
		if len(v) > 0 {
			return v[0], true
		}
	}
	return 0, false
}

// listed are the runs with those first that break something, or that would rather not be.
func listed(runs []advice.Run) []advice.Run {
	all := slices.Clone(runs)
	slices.SortStableFunc(all, func(x, y advice.Run) int { return rank(&x) - rank(&y) })
	return all
}

func rank(r *advice.Run) int {
	switch {
	case len(r.Broken) > 0:
		return 0
	case len(r.Unwanted) > 0:
		return 1
	}
	return 2
}

// brevity is how much of the recommendation is left out.
type brevity int

const (
	entire      brevity = iota
	briefClaims         // without the conditions of the claims
	brief               // without all that the list of runs says, too
)

// tell puts the recommendation into words, and behind it an example of the chosen answer to a question to which the
// reader has come back. It is as brief as it takes to fill no more than a third of the window. While the reader is at the questions,
// the text can be scrolled. At the runs it has its first paragraphs, as many as fit into some rows: the lock and the protection, if
// no more. A name alone would pass for an answer without conditions.
func (d *Decide) tell(t *draw.Paragraphs, a *advice.Advice, rest *advice.Rest, rows, window int) {
	explained := d.explained(t.Width)
	var ends []int
	for b := entire; b <= brief; b++ {
		ends = d.set(t, a, rest, b)
		if len(explained)+len(t.Lines) <= min(rows, window/3) {
			break
		}
	}
	if d.lines = len(explained) + len(t.Lines); d.at < questions || d.lines <= rows {
		t.Lines = slices.Concat(t.Lines, explained)
		return
	}
	if len(t.Lines) <= rows {
		return
	}
	keep := 0
	for _, end := range ends {
		if end < rows { // and a row for the key that leads to the rest
			keep = end
		}
	}
	t.Lines = t.Lines[:keep]
	t.Add(draw.Dim, "", d.Theme.More+" "+d.Keys.Close.Help().Key+" goes back to the questions, and to the rest of this.")
}

// set sets the recommendation in paragraphs, those of a section below its heading, and returns the lines with which they end.
func (d *Decide) set(t *draw.Paragraphs, a *advice.Advice, rest *advice.Rest, b brevity) (ends []int) {
	t.Lines = nil
	for _, section := range d.told(a, rest, b) {
		indent := ""
		if section.Heading != "" {
			t.Add(draw.Title, "", section.Heading)
			indent = "  "
		}
		for i, s := range section.Paragraphs {
			k := draw.Plain
			if i == 0 && section.Heading == "" {
				k = headlineInk(a)
			}
			for line := range strings.SplitSeq(s, "\n") {
				t.Add(k, indent, line)
			}
			ends = append(ends, len(t.Lines))
		}
	}
	return ends
}

func headlineInk(a *advice.Advice) draw.Ink {
	if a.Enough {
		return draw.Strong
	}
	return draw.Breach
}

// explained is an example of the chosen answer to the question to which the reader has come back, which may be to change it.
func (d *Decide) explained(width int) []draw.Line {
	if !d.again {
		return nil
	}
	t := draw.Paragraphs{Width: width}
	at := d.asked
	if d.at < questions {
		at = d.at
	}
	q := &advice.Questions[at]
	answer := &q.Answers[d.answers[at]]
	t.Add(draw.Dim, "", q.Text+" "+answer.Text+": "+answer.Example+".")
	return t.Lines
}

// told is the recommendation in its sections. The last has the claims behind it, with all of their conditions or with the key
// that shows them: that is for specialists, and so comes after all that must be known.
func (d *Decide) told(a *advice.Advice, rest *advice.Rest, b brevity) []advice.Section {
	sections := a.Text(rest, d.outcome, d.title, b < brief)
	if len(d.claims) == 0 {
		return sections
	}
	const meaning = "A claim says what a lock never shows while its conditions hold. It is tested, not proved."
	paragraphs := []string{meaning}
	for _, n := range d.claims {
		text := a.Claim(n, b < brief)
		if b == entire {
			text = a.ClaimText(n)
		}
		paragraphs = append(paragraphs, text)
	}
	if beyond := a.Beyond(d.listed); beyond != "" && b < brief {
		paragraphs = append(paragraphs, beyond)
	}
	paragraphs = append(paragraphs, d.Keys.Evidence.Help().Key+" lists the conditions.")
	if b == brief {
		paragraphs = []string{strings.Join(paragraphs, " ")}
	}
	return append(sections, advice.Section{Heading: "For specialists", Paragraphs: paragraphs})
}

// title is a scenario's, by which the list of runs has it.
func (d *Decide) title(scenario string) string {
	return "\"" + d.Library.Scenarios[d.Library.Named(scenario)].Title + "\""
}

// heading is that of the runs that decide. Where the list has no room to say how many are below, it counts those that no question is about.
func heading(a *advice.Advice, pending int, others []advice.Run) string {
	n, failed := len(a.Runs), 0
	for i := range a.Runs {
		if len(a.Runs[i].Broken) > 0 {
			failed++
		}
	}
	text := "Your answers: "
	switch {
	case a.Enough:
		text += fmt.Sprintf("nothing forbidden in %d runs", n)
	default:
		text += fmt.Sprintf("%s alone fails in %d of %d", a.Lock.Name, failed, n)
	}
	if pending > 0 {
		return text + fmt.Sprintf("; %d to come", pending)
	}
	if len(others) > 0 {
		n := failing(others)
		text += "; " + draw.Either(n == 0, "no other fails", draw.Plural(n, "other")+draw.Either(n == 1, " fails", " fail"))
	}
	return text
}

// failing is the number of runs that show codes that the answers forbid.
func failing(runs []advice.Run) (n int) {
	for i := range runs {
		n += min(len(runs[i].Broken), 1)
	}
	return n
}

// down has the keys that lead to the runs below those in sight.
func (d *Decide) down() string {
	return draw.Either(d.at < questions, d.Keys.Enter.Help().Key+" ", "") + d.Keys.Down.Help().Key
}

// below counts the runs below those in sight: it keeps apart those that decide and those that no question is about. Of these it says of how
// many they are, too, as most are not listed.
func (d *Decide) below(past int, a *advice.Advice) string {
	var all []string
	if n := len(a.Runs) - past; n > 0 {
		all = append(all, draw.Plural(n, "more run")+" of your answers")
	}
	others := d.listed[max(past, len(a.Runs)):]
	of := draw.Either(past > len(a.Runs), " more", fmt.Sprintf(" of %d others", d.made)) // the first of them are in sight
	switch n, failed := len(others), failing(others); {
	case n == 0:
	case n > failed:
		all = append(all, fmt.Sprintf("%d%s, %s", n, of, draw.Either(failed == 0, "only work lost", fmt.Sprintf("%d fail", failed))))
	case past > len(a.Runs):
		all = append(all, draw.Plural(n, "more failing run"))
	default:
		all = append(all, draw.Plural(n, "failing run")+of)
	}
	return strings.Join(all, "; ")
}

// part is a part of the list: the runs that decide, or those of one kind that no question is about, whose red is no contradiction to
// the recommendation: their heading says what follows from them. In the least window it leaves room for which of its runs are in sight.
type part struct {
	heading     string
	first, past int // of its runs
}

// parts are those of the list, in their order.
func (d *Decide) parts(a *advice.Advice) (all []part) {
	if n := len(a.Runs); n > 0 {
		all = append(all, part{past: n})
	}
	for i := len(a.Runs); i < len(d.listed); i++ {
		if heading := trace.Capital(a.Kind(&d.listed[i]).Text()); i == len(a.Runs) || heading != all[len(all)-1].heading {
			all = append(all, part{heading, i, i})
		}
		all[len(all)-1].past = i + 1
	}
	return all
}

// heads reports whether a run that isn't the list's first is the first of its part.
func heads(parts []part, i int) bool {
	return i > 0 && slices.ContainsFunc(parts, func(p part) bool { return p.first == i })
}

// drawDetail draws the text on the run at the cursor below the list, and returns the rows that the list has at
// any run, by which it scrolls: the longest text leaves those, or the list would jump from one run to the next. The rows that
// this run's own text leaves beside those, spare, have further runs. While the reader is at the questions all rows are the list's: it
// begins with the same ones then.
func (d *Decide) drawDetail(c *draw.Canvas, list draw.Rectangle, a *advice.Advice) (_ draw.Rectangle, spare int) {
	if d.at < questions {
		return list, 0
	}
	all := 0
	for i := range d.listed {
		all = max(all, len(d.detail(i, a, list.W)))
	}
	own := d.detail(d.at-questions, a, list.W)
	rows := max(min(all, list.H-fewest), 0)
	list.H -= rows
	spare = max(rows-len(own), 0)
	c.Lines(draw.Rect(list.X, list.Y+list.H+spare, list.W, rows-spare), own, 0)
	return list, spare
}

// leastMarked are the rows of a list that ends with how many runs are below it: one of fewer has its place in the heading alone.
const leastMarked = 4

// mark are the rows that a list of so many keeps below a run of it, if there are others below that.
func (d *Decide) mark(run, rows int) int {
	if rows < leastMarked || run == len(d.listed)-1 {
		return 0
	}
	return 1
}

// scroll has the list begin no further up than it must for the run at the cursor to be seen whole, and no further down than
// it must for the list to be filled.
func (d *Decide) scroll(entries [][]draw.Line, parts []part, room int) {
	at := max(d.at-questions, 0)
	rows := func(first, last int) (n int) { // of the entries in sight, of the headings among them, and of the mark below them
		n = d.mark(last, room)
		for i := first; i <= last; i++ {
			n += len(entries[i])
			if i > first && heads(parts, i) {
				n++
			}
		}
		return n
	}
	d.first = min(d.first, at)
	for d.first > 0 && rows(d.first-1, len(entries)-1) <= room {
		d.first--
	}
	for d.first < at && rows(d.first, at) > room {
		d.first++
	}
}

func (d *Decide) drawRuns(c *draw.Canvas, l layout, a *advice.Advice, pending int) {
	list, spare := d.drawDetail(c, l.runs, a)
	d.page = list.H
	parts := d.parts(a)
	room := l.runs
	room.H = min(room.H, d.room) // reasons that have room only at the runs would move those below them
	entries := d.entries(room, a, len(parts)-1)
	d.scroll(entries, parts, list.H)
	list.H += spare
	past, headings := d.drawRows(c, list, entries, parts)
	var unmarked []advice.Run
	switch {
	case past < len(d.listed) && len(d.rows) < list.H:
		c.Text(list.X+3, list.Y+len(d.rows), list.W-3, d.Theme.More+" below ("+d.down()+"): "+d.below(past, a), draw.Dim)
	case past <= len(a.Runs):
		unmarked = d.listed[len(a.Runs):]
	}
	rule := draw.Rect(l.rules[2].X, l.rules[2].Y, l.rules[2].W, 1)
	for i := range parts {
		p, before := &parts[i], len(a.Runs)
		sight := inSight{max(d.first, p.first) - before, min(past, p.past) - before, len(d.listed) - before, " others"}
		switch row, headed := headings[p.first]; {
		case sight.first >= sight.past:
		case p.heading == "":
			d.drawHeading(c, rule, " "+heading(a, pending, unmarked)+" ", inSight{max(d.first, p.first), min(past, p.past), p.past, ""})
		case headed:
			d.drawHeading(c, draw.Rect(rule.X, row, rule.W, 1), p.heading, sight)
		default:
			d.drawHeading(c, rule, " "+p.heading+" ", sight)
		}
	}
}

// inSight are the runs of a part that are in sight, of all those that decide, or of all that no question is about, whatever their
// kind: the text above the list counts them so, too.
type inSight struct {
	first, past, of int
	what            string
}

// drawRows draws the runs for which the list has room, and returns the one after them, and the rows that it has left for the headings
// of parts, by their first run: that of the first part in sight is in the rule above.
func (d *Decide) drawRows(c *draw.Canvas, list draw.Rectangle, entries [][]draw.Line, parts []part) (past int, headings map[int]int) {
	past, headings = d.first, map[int]int{}
	for i := d.first; i < len(d.listed); i++ {
		headed, need := heads(parts, i) && i > d.first, len(entries[i])
		if headed {
			need++
		}
		if len(d.rows)+need+d.mark(i, list.H) > list.H {
			break
		}
		if headed {
			headings[i] = list.Y + len(d.rows)
			d.rows = append(d.rows, noRun)
		}
		for _, row := range entries[i] {
			if i == d.at-questions {
				row = row.Fitted(list.W, d.Theme.More).Selected(list.W)
			}
			c.Line(list.X, list.Y+len(d.rows), list.W, row)
			d.rows = append(d.rows, i)
		}
		past = i + 1
	}
	return past, headings
}

// drawHeading draws the heading of a part of the list, and which of the runs that it counts are in sight, unless all are.
func (d *Decide) drawHeading(c *draw.Canvas, r draw.Rectangle, heading string, s inSight) {
	c.Text(r.X+1, r.Y, r.W-2, heading, draw.Title)
	if s.past-s.first >= s.of {
		return
	}
	place := fmt.Sprintf(" %d-%d of %d%s ", s.first+1, s.past, s.of, s.what)
	if s.first+1 == s.past {
		place = fmt.Sprintf(" %d of %d%s ", s.past, s.of, s.what)
	}
	if at := r.W - 1 - draw.Width(place); at > draw.Width(heading)+1 {
		c.Text(r.X+at, r.Y, draw.Width(place), place, draw.Strong)
	}
}

// entries are the runs of the list, each with its title, and in a wide window with its name, by which other screens and the command line
// call it. Where there is room they have their reasons, never a part of one: all of them, as far as the list has rows for that, and
// else those that take one row, and of the others the first. The reason of the run at the cursor stands below the list, with the
// name. So many rows are for headings.
func (d *Decide) entries(list draw.Rectangle, a *advice.Advice, headings int) (entries [][]draw.Line) {
	titles, names := 0, 0
	for _, run := range d.listed {
		titles = max(titles, draw.Width(d.Library.Scenarios[d.Library.Named(run.Scenario)].Title))
		names = max(names, draw.Width(run.Scenario))
	}
	if list.W < wideEnough {
		titles, names = min(titles, list.W-frame), 0
	}
	room, rows, reasons := list.H-headings, 0, d.reasons()
	set := func(titles, names int, reasons []string) {
		entries, rows = nil, 0
		for i := range d.listed {
			entries = append(entries, d.entry(i, len(a.Runs), titles, names, list.W, reasons[i]))
			rows += len(entries[i])
		}
	}
	none := make([]string, len(d.listed))
	if set(titles, names, reasons); list.W-frame-titles-names-2 >= leastReason && (rows <= room || list.W >= wideEnough) {
		return entries
	}
	if usual := min(titles, usualTitle); list.W-frame-usual-2 >= leastReason {
		titles = usual
	} else {
		set(titles, 0, none)
		return entries
	}
	set(titles, 0, reasons)
	whole := entries
	set(titles, 0, none)
	for i := range entries { // those that break something come first
		if more := len(whole[i]) - len(entries[i]); more == 0 || rows+more <= room {
			entries[i], rows = whole[i], rows+more
		}
	}
	return entries
}

// reasons are those of the listed runs, without the sentences that several of them have: repeated sentences drown the rest.
func (d *Decide) reasons() (all []string) {
	sentences, times := make([][]string, len(d.listed)), map[string]int{}
	for i := range d.listed {
		run := &d.listed[i]
		reason := d.Library.Scenarios[d.Library.Named(run.Scenario)].Because(run.Strategy)
		sentences[i] = strings.SplitAfter(reason, ". ")
		for _, s := range sentences[i] {
			times[strings.Trim(s, " .")]++
		}
	}
	for _, its := range sentences {
		own := slices.DeleteFunc(slices.Clone(its[1:]), func(s string) bool { return times[strings.Trim(s, " .")] > 2 })
		all = append(all, strings.TrimSpace(its[0]+strings.Join(own, "")))
	}
	return all
}

// frame are the columns of a row of the list beside the title, the name and the reason; leastReason are those that a
// reason takes to be read easily; usualTitle are those of a title beside a reason, which begins later in the row of a
// longer one.
const (
	frame       = 12
	leastReason = 40
	usualTitle  = 50
)

// entry is a run in the list, with its reason, or without one. A title that is longer than the column of titles is folded where a
// reason stands beside it, so that all reasons begin in the same column.
func (d *Decide) entry(i, deciding, titles, names, width int, reason string) (rows []draw.Line) {
	run := &d.listed[i]
	sc := d.Library.Scenarios[d.Library.Named(run.Scenario)]
	mark := "  "
	if i == d.at-questions {
		mark = d.Theme.Pointer + " "
	}
	badge := d.badge(i, deciding)
	folded := draw.Wrap(sc.Title, titles)
	if reason == "" {
		folded = []string{draw.Fit(sc.Title, width-frame, d.Theme.More)}
	}
	head := draw.Line{draw.Text(" "+mark, draw.Here), draw.Text(draw.Pad(badge.Text, 6), badge.Ink), draw.Text(draw.Pad(folded[0], titles)+"  ", draw.Strong)}
	if names > 0 {
		head = append(head, draw.Text(draw.Pad(run.Scenario, names)+"  ", draw.Dim))
	}
	if reason == "" {
		if c, ok := code(run); ok && names == 0 { // the words stand below each other, but behind a title that is longer
			begin := min(titles, width-frame-d.widestCode()-1)
			head[2].Text = draw.Pad(folded[0], begin) + "  "
			if head.Width()+draw.Width(c.Name()) >= width {
				head[2].Text = folded[0]
			} else {
				head = append(head, draw.Text(c.Name(), draw.Dim))
			}
		}
		return []draw.Line{head}
	}
	because := draw.Wrap(reason, width-head.Width()-1)
	before, left := draw.Width(" "+mark)+6, head.Width() // columns of the mark and the badge, and of all that a reason begins behind
	for n := range max(len(folded), len(because)) {
		row := head
		if n > 0 {
			title := ""
			if n < len(folded) {
				title = folded[n]
			}
			row = draw.Line{draw.Text(draw.Pad("", before), draw.Plain), draw.Text(draw.Pad(title, left-before), draw.Strong)}
		}
		if n < len(because) {
			row = append(row, draw.Text(because[n], draw.Plain))
		}
		rows = append(rows, row)
	}
	return rows
}

// badge is the outcome of a run for these answers: a code that they don't forbid is no failure, and a run that they don't
// cover is not as loud as one that decides.
func (d *Decide) badge(i, deciding int) draw.Span {
	switch r := &d.listed[i]; {
	case len(r.Broken) > 0 && i >= deciding:
		return draw.Text(d.Theme.Bad+r.Broken.Worst(), draw.Plain)
	case len(r.Broken) > 0:
		return draw.Text(d.Theme.Bad+r.Broken.Worst(), draw.Breach)
	case len(r.Verdict) > 0:
		return draw.Text(d.Theme.Mild+r.Verdict.Worst(), draw.Plain)
	}
	return draw.Text(d.Theme.Granted+"ok", draw.Good)
}

// detail tells of a run: its whole verdict, and the reason.
func (d *Decide) detail(i int, a *advice.Advice, width int) []draw.Line {
	run := &d.listed[i]
	sc := d.Library.Scenarios[d.Library.Named(run.Scenario)]
	t := draw.Paragraphs{Width: min(width-1, draw.WidestLine)}
	cell := screen.Cell{Known: true, Verdict: run.Verdict}
	head := sc.Title + " (" + run.Scenario + "): " + cell.Text()
	if i >= len(a.Runs) {
		head += "; your answers don't call for it"
		if setting := a.Setting(run); setting != "" && len(run.Broken) > 0 {
			head += ", as the setup can rule it out (" + setting + ")"
		}
	}
	if why := a.Follows(run); why != "" {
		head += ". " + why
	}
	if elsewhere := cell.Badge(&d.Theme.Glyphs).Text; len(run.Broken) == 0 && elsewhere != d.badge(i, len(a.Runs)).Text {
		head += " In the list of all runs it is " + elsewhere + ", whatever your answers."
	}
	t.Add(draw.Strong, "", head)
	t.Add(draw.Plain, "", sc.Because(run.Strategy)+d.saidOf(sc.ExpectsLike(run.Strategy), &a.Lock))
	return t.Lines
}

// saidOf says of which other lock a reason is said, if it is said of one, and why it holds for this one, too.
func (d *Decide) saidOf(other string, lock *strategies.Strategy) string {
	switch other {
	case "":
		return ""
	case lock.Like:
		return fmt.Sprintf(" (So it is with %s, which %s is like: %s.)", other, lock.Name, lock.LikeBecause)
	}
	return fmt.Sprintf(" (So it is with %s, which %s is like here.)", other, lock.Name)
}
