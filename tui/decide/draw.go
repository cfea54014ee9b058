package decide

import (
	"fmt"
	"slices"

	"lockstep/scenarios/advice"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
)

// layout says where the parts of the screen are.
type layout struct {
	header, questions, lock, runs draw.Rectangle
	rules                         []draw.Rectangle
}

// The rows of the list of runs that the recommendation leaves to it: while the reader is at the questions, and
// while at the runs, with those that tell of one of them.
const (
	leastRuns   = 2
	leastListed = 10
	leastDetail = 5
)

// arrange is a pure function of the window and of the rows that the recommendation takes; listing
// is for a reader who is at the runs.
func arrange(w, h, lock int, listing bool) layout {
	l := layout{header: draw.Rect(0, 0, w, 1), questions: draw.Rect(0, 2, w, questions)}
	y := 2 + questions
	l.rules = []draw.Rectangle{draw.Rect(0, 1, w, 1), draw.Rect(0, y, w, 1)}
	least := leastRuns
	if listing {
		least = leastListed + leastDetail
	}
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
	listing, room := d.at >= questions, r.H
	if listing {
		room = arrange(r.W, r.H+1, r.H, listing).lock.H
	}
	told := draw.Paragraphs{Width: min(r.W-1, draw.WidestLine)}
	d.listed, d.claims = nil, nil
	switch asked := d.toAsk(); {
	case asked > 0:
		d.ask(&told, asked)
	case waiting == 0:
		d.claims = a.Claims()
		d.listed = listed(a.Runs)
		if d.pending(a.Lock.Name) == 0 { // a list that grows would be read as a number of failures
			d.listed = append(d.listed, a.Elsewhere(d.names(), d.outcome)...)
		}
		d.tell(&told, &a, room, r.H)
	default:
		told.Add(draw.Dim, "", fmt.Sprintf("%s still to come ...", draw.Plural(waiting, "run")))
	}
	l := arrange(r.W, r.H+1, len(told.Lines), listing)
	d.plan = l
	for _, rule := range l.rules {
		c.Fill(rule, d.Theme.Rule, draw.Dim)
	}
	c.Text(l.header.X+1, l.header.Y, r.W-2, "Which lock should I use?", draw.Title)
	d.drawQuestions(c, l.questions)
	if d.at < questions {
		c.Text(l.rules[1].X+1, l.rules[1].Y, r.W-2, " "+advice.Questions[d.at].Hint+" ", draw.Dim)
	}
	c.Lines(l.lock, told.Lines, 0)
	d.rows = nil
	d.at = min(d.at, questions+len(d.listed)-1)
	if len(d.listed) > 0 {
		d.drawRuns(c, l, &a)
	}
}

// ask says what the questions that are still to be answered mean.
func (d *Decide) ask(t *draw.Paragraphs, asked int) {
	k := &d.Keys
	t.Add(draw.Strong, "", fmt.Sprintf("%s to answer; then a lock is named, with the runs that decide. %s gives the left or the right answer.",
		draw.Plural(asked, "question"), screen.Pair(k.Back, k.Forward, "").Help().Key))
	for i, q := range advice.Questions {
		if !d.given[i] {
			t.Add(draw.Plain, "? ", fmt.Sprintf("%s: %s, or %s? %s", q.Text, q.Answers[0].Text, q.Answers[1].Text, q.Hint))
		}
	}
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

func (d *Decide) drawQuestions(c *draw.Canvas, r draw.Rectangle) {
	text, first := 0, 0
	for _, q := range advice.Questions {
		text, first = max(text, draw.Width(q.Text)), max(first, draw.Width(q.Answers[0].Text))
	}
	for i, q := range advice.Questions {
		mark, k := "  ", draw.Plain
		if i == d.at {
			mark, k = d.Theme.Pointer+" ", draw.Strong
		}
		l := draw.Line{draw.Text(" "+mark, draw.Here), draw.Text(draw.Pad(q.Text, text), k), draw.Text(draw.Either(d.given[i], "  ", "? "), draw.Strong)}
		for j, answer := range q.Answers {
			box, ink := "( ) ", draw.Dim
			if d.given[i] && d.answers[i] == j {
				box, ink = "(x) ", draw.Strong
			}
			words := box + answer.Text
			if j == 0 {
				words = draw.Pad(words, first+6)
			}
			l = append(l, draw.Text(words, ink))
		}
		c.Line(r.X, r.Y+i, r.W, l)
	}
}

// tell puts the recommendation into words: its first paragraphs, as many as fit into some rows. They are
// brief where that leaves half of the window to the rest.
func (d *Decide) tell(t *draw.Paragraphs, a *advice.Advice, rows, window int) {
	set := func(texts []string) (ends []int) {
		t.Lines = nil
		for i, s := range texts {
			k := draw.Plain
			switch {
			case i == 0 && a.Enough:
				k = draw.Strong
			case i == 0:
				k = draw.Breach
			}
			t.Add(k, "", s)
			ends = append(ends, len(t.Lines))
		}
		return ends
	}
	ends := set(d.told(a, true))
	if len(t.Lines) > min(rows, window/2-questions) {
		ends = set(d.told(a, false))
	}
	if len(t.Lines) <= rows {
		return
	}
	keep := 0
	for _, end := range ends {
		if end < rows { // and a row for what leads to the rest
			keep = end
		}
	}
	t.Lines = t.Lines[:keep]
	rest := d.Theme.More + " " + d.Keys.First.Help().Key + " goes back to the questions, and to the rest of this."
	if keep > 0 {
		t.Add(draw.Dim, "", rest)
		return
	}
	name, ink := "Use "+a.Lock.Name+". ", draw.Strong
	if !a.Enough {
		name, ink = "No lock is enough. ", draw.Breach
	}
	t.Lines = append(t.Lines, draw.Line{draw.Text(" "+name, ink), draw.Text(rest, draw.Dim)})
}

// told is the recommendation, what is said of the runs that don't decide, and the claims behind it, with all
// of their conditions or with the key that shows them. Where rows are few and no lock is enough, the heading of
// those runs has to say it.
func (d *Decide) told(a *advice.Advice, whole bool) []string {
	all := a.Text(d.title)
	unspoken := a.Unspoken(d.listed[len(a.Runs):], d.outcome)
	if n := d.pending(a.Lock.Name); n > 0 { // about as long as what takes its place
		unspoken = fmt.Sprintf("Still counting: %s of %s, about which no question asks, %s to come. What %s of what you forbid will be listed last: the recommendation doesn't cover it.",
			draw.Plural(n, "other run"), a.Lock.Name, draw.Either(n == 1, "is", "are"), draw.Either(n == 1, "it shows", "they show"))
	}
	if unspoken != "" && (whole || a.Enough) {
		all = append(all, unspoken)
	}
	for i, n := range d.claims {
		text := advice.ClaimText(n, whole)
		if i == len(d.claims)-1 {
			if beyond := a.Beyond(d.listed); beyond != "" {
				text += " " + beyond
			}
			text += " " + d.Keys.Evidence.Help().Key + " opens it."
		}
		all = append(all, text)
	}
	return all
}

// title is a scenario's, by which the list of runs has it.
func (d *Decide) title(scenario string) string {
	return "\"" + d.Library.Scenarios[d.Library.Named(scenario)].Title + "\""
}

// heading says which runs these are, by the first of them in sight, and that there are others where the last in
// sight is none of those: the count of rows has them, too.
func (d *Decide) heading(a *advice.Advice, last int) string {
	if len(a.Runs) > 0 && d.first >= len(a.Runs) {
		return d.unasked(a)
	}
	text := fmt.Sprintf("%s of %s %s", draw.Plural(len(a.Runs), "run"), a.Lock.Name, draw.Either(len(a.Runs) == 1, "decides", "decide"))
	if n := d.pending(a.Lock.Name); n > 0 {
		return text + fmt.Sprintf("; still counting what else it shows: %s to come", draw.Plural(n, "run"))
	}
	if n := len(d.listed) - len(a.Runs); n > 0 && last <= len(a.Runs) {
		text += fmt.Sprintf(", and %d at the end %s", n, draw.Either(n == 1, "doesn't", "don't"))
	}
	return text
}

// unasked is the heading of the runs that decide nothing: their red is no contradiction to the recommendation.
func (d *Decide) unasked(a *advice.Advice) string {
	n := len(d.listed) - len(a.Runs)
	return "Not covered by any question: " + draw.Plural(n, "run") + draw.Either(n == 1, " that shows", " that show") + " what your answers forbid"
}

// heads reports whether a run is the first of those that decide nothing, in a list that has others above it.
func (d *Decide) heads(i int, a *advice.Advice) bool { return i > 0 && i == len(a.Runs) }

func (d *Decide) drawRuns(c *draw.Canvas, l layout, a *advice.Advice) {
	list := l.runs
	if d.at >= questions {
		all := 0 // the rows are those of the longest, or the list would jump
		for i := range d.listed {
			all = max(all, len(d.detail(i, a, list.W)))
		}
		rows := max(min(all, list.H-leastListed), 0)
		list.H -= rows
		c.Lines(draw.Rect(list.X, list.Y+list.H, list.W, rows), d.detail(d.at-questions, a, list.W), 0)
	}
	d.page = list.H
	entries := d.entries(list, a)
	room := list.H
	if len(d.listed) > len(a.Runs) {
		room = max(room-1, 1) // for the second heading
	}
	d.first = draw.InSight(d.first, max(d.at-questions, 0), room, len(d.listed))
	last := d.first
	for i := d.first; i < len(d.listed); i++ {
		headed, need := d.heads(i, a) && i > d.first, len(entries[i]) // at the top of the list the rule is its heading
		if headed {
			need++
		}
		if len(d.rows)+need > list.H {
			break
		}
		if headed {
			c.Text(list.X+1, list.Y+len(d.rows), list.W-2, d.unasked(a)+":", draw.Title)
			d.rows = append(d.rows, noRun)
		}
		for _, row := range entries[i] {
			if i == d.at-questions {
				row = row.Fitted(list.W, d.Theme.More).Selected(list.W)
			}
			c.Line(list.X, list.Y+len(d.rows), list.W, row)
			d.rows = append(d.rows, i)
		}
		last = i + 1
	}
	heading, place := " "+d.heading(a, last)+" ", ""
	if last-d.first < len(d.listed) {
		place = fmt.Sprintf(" %d-%d of %d ", d.first+1, last, len(d.listed))
	}
	r := l.rules[2]
	c.Text(r.X+1, r.Y, r.W-2, heading, draw.Title)
	if at := r.W - 1 - draw.Width(place); at > draw.Width(heading)+1 {
		c.Text(r.X+at, r.Y, draw.Width(place), place, draw.Strong)
	}
}

// entries are the runs of the list. Their reasons are whole where the list leaves rows to them.
func (d *Decide) entries(list draw.Rectangle, a *advice.Advice) [][]draw.Line {
	titles := d.titles(list.W)
	entries, spare := make([][]draw.Line, len(d.listed)), list.H-len(d.listed)
	if len(d.listed) > len(a.Runs) {
		spare--
	}
	for i := range d.listed {
		whole := d.entry(i, len(a.Runs), titles, list.W, true)
		if entries[i] = whole; len(whole) > 1+max(spare, 0) {
			entries[i] = d.entry(i, len(a.Runs), titles, list.W, false)
		}
		spare -= len(entries[i]) - 1
	}
	return entries
}

// frame are the columns of a row of the list beside the title and the reason.
const frame = 12

// titles is the width of the column of titles in a list so wide: that with which the fewest titles and reasons are cut
// where each run has a row, and of several such the greatest.
func (d *Decide) titles(width int) (best int) {
	most, fewest := width*2/5, 2*len(d.listed)+1
	for _, at := range d.listed {
		w := min(draw.Width(d.Library.Scenarios[d.Library.Named(at.Scenario)].Title), most)
		cut := 0
		for _, run := range d.listed {
			sc := d.Library.Scenarios[d.Library.Named(run.Scenario)]
			if draw.Width(sc.Title) > w {
				cut++
			}
			if frame+w+draw.Width(screen.Reason(sc, run.Strategy)) > width {
				cut++
			}
		}
		if cut < fewest || cut == fewest && w > best {
			best, fewest = w, cut
		}
	}
	return best
}

// entry is a run in the list: in one row, or in as many as the reason takes.
func (d *Decide) entry(i, deciding, titles, width int, whole bool) (rows []draw.Line) {
	run := &d.listed[i]
	sc := d.Library.Scenarios[d.Library.Named(run.Scenario)]
	mark := "  "
	if i == d.at-questions {
		mark = d.Theme.Pointer + " "
	}
	badge := d.badge(i, deciding)
	head := draw.Line{draw.Text(" "+mark, draw.Here), draw.Text(draw.Pad(badge.Text, 6), badge.Ink), draw.Text(draw.Pad(draw.Fit(sc.Title, titles, d.Theme.More), titles)+"  ", draw.Strong)}
	why := []string{screen.Reason(sc, run.Strategy)}
	if whole {
		why = draw.Wrap(why[0], width-head.Width()-1)
	}
	for _, s := range why {
		rows = append(rows, append(head, draw.Text(s, draw.Dim)))
		head = draw.Line{draw.Text(draw.Pad("", head.Width()), draw.Plain)}
	}
	return rows
}

// badge is the outcome of a run for these answers: what they don't forbid is no failure, and what they don't
// cover is not as loud as what decides.
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
		head += "; no question asks about it, and the recommendation doesn't cover it"
	} else if why := a.Allowed(run); why != "" {
		head += ". " + why
	}
	t.Add(draw.Strong, "", head)
	t.Add(draw.Plain, "", screen.Reason(sc, run.Strategy))
	return t.Lines
}
