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

// The rows of the list of runs that are never given up: while the reader is at the questions, and
// while at the runs, of which one is told in full.
const (
	leastRuns   = 2
	leastListed = 5 + detailRows
)

// arrange is a pure function of the window and of the rows that the recommendation takes; listing
// is for a reader who is at the runs.
func arrange(w, h, lock int, listing bool) layout {
	l := layout{header: draw.Rect(0, 0, w, 1), questions: draw.Rect(0, 2, w, questions)}
	y := 2 + questions
	l.rules = []draw.Rectangle{draw.Rect(0, 1, w, 1), draw.Rect(0, y, w, 1)}
	least := leastRuns
	if listing {
		least = leastListed
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
	if d.listed = nil; waiting == 0 {
		d.listed = listed(a.Runs)
		if d.pending(a.Lock.Name) == 0 { // a list that grows would be read as a number of failures
			d.listed = append(d.listed, a.Elsewhere(d.names(), d.outcome)...)
		}
		d.tell(&told, &a, room, r.H)
	} else {
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
	if waiting == 0 {
		d.at = min(d.at, questions+len(d.listed)-1)
		d.drawRuns(c, l, &a)
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
		l := draw.Line{draw.Text(" "+mark, draw.Here), draw.Text(draw.Pad(q.Text, text)+"  ", k)}
		for j, answer := range q.Answers {
			box, ink := "( ) ", draw.Dim
			if d.answers[i] == j {
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

// tell puts the recommendation into words: its first paragraphs, as many as fit into some rows. Claims
// have all their conditions where that leaves half of the window to the rest.
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
	keep := ends[0]
	for _, end := range ends[1:] {
		if end <= rows {
			keep = end
		}
	}
	t.Lines = t.Lines[:keep]
	if keep < rows {
		t.Add(draw.Dim, "", d.Theme.More+" "+d.Keys.First.Help().Key+" goes back to the questions, and to the rest of this.")
	}
}

// told is the recommendation, the claims behind it with all of their conditions or the first ones, and why
// the runs below don't contradict them.
func (d *Decide) told(a *advice.Advice, whole bool) []string {
	all := a.Text(d.title)
	for _, n := range a.Claims() {
		all = append(all, advice.ClaimText(n, whole))
	}
	if beyond := a.Beyond(d.listed); beyond != "" {
		all = append(all, beyond)
	}
	return all
}

// title is a scenario's, by which the list of runs has it.
func (d *Decide) title(scenario string) string {
	return "\"" + d.Library.Scenarios[d.Library.Named(scenario)].Title + "\""
}

func (d *Decide) drawRuns(c *draw.Canvas, l layout, a *advice.Advice) {
	heading := fmt.Sprintf(" %s of %s decide", draw.Plural(len(a.Runs), "run"), a.Lock.Name)
	if n := d.pending(a.Lock.Name); n > 0 {
		heading += "; " + draw.Plural(n, "other") + " still to be made: which of them show what you forbid is said then"
	} else if others := len(d.listed) - len(a.Runs); others > 0 {
		heading += "; " + draw.Plural(others, "other") + " " + draw.Either(others == 1, "shows", "show") + " what you forbid"
	}
	heading += " "
	c.Text(l.rules[2].X+1, l.rules[2].Y, l.rules[2].W-2, heading, draw.Dim)
	at := max(d.at-questions, 0)
	list := l.runs
	if d.at >= questions {
		detail := d.detail(list.W)
		rows := max(min(len(detail), list.H-leastRuns), detailRows) // the list yields to the words
		list.H -= rows
		c.Lines(draw.Rect(list.X, list.Y+list.H, list.W, rows), detail, 0)
	}
	d.page = list.H
	titles := 0
	for _, run := range d.listed {
		titles = max(titles, draw.Width(d.Library.Scenarios[d.Library.Named(run.Scenario)].Title))
	}
	titles = min(titles, l.runs.W*2/5)
	d.first = draw.InSight(d.first, at, list.H, len(d.listed))
	for i := d.first; i < len(d.listed) && i-d.first < list.H; i++ {
		run := &d.listed[i]
		sc := d.Library.Scenarios[d.Library.Named(run.Scenario)]
		mark := "  "
		if i == d.at-questions {
			mark = d.Theme.Pointer + " "
		}
		badge := d.badge(run)
		why := screen.Reason(sc, run.Strategy)
		row := draw.Line{draw.Text(" "+mark, draw.Here), draw.Text(draw.Pad(badge.Text, 6), badge.Ink), draw.Text(draw.Pad(draw.Fit(sc.Title, titles, d.Theme.More), titles)+"  ", draw.Strong), draw.Text(why, draw.Dim)}
		if i == d.at-questions {
			row = row.Fitted(list.W, d.Theme.More).Selected(list.W)
		}
		c.Line(list.X, list.Y+i-d.first, list.W, row)
	}
}

// badge is the outcome of a run for these answers: what they don't forbid is no failure.
func (d *Decide) badge(r *advice.Run) draw.Span {
	switch {
	case len(r.Broken) > 0:
		return draw.Text(d.Theme.Bad+r.Broken.Worst(), draw.Breach)
	case len(r.Verdict) > 0:
		return draw.Text(d.Theme.Mild+r.Verdict.Worst(), draw.Plain)
	}
	return draw.Text(d.Theme.Granted+"ok", draw.Good)
}

// detailRows are the least rows that tell of the run at the cursor.
const detailRows = 3

// detail tells of the run at the cursor: its whole verdict, and the reason.
func (d *Decide) detail(width int) []draw.Line {
	run := &d.listed[d.at-questions]
	sc := d.Library.Scenarios[d.Library.Named(run.Scenario)]
	t := draw.Paragraphs{Width: min(width-1, draw.WidestLine)}
	cell := screen.Cell{Known: true, Verdict: run.Verdict}
	t.Add(draw.Strong, "", sc.Title+" ("+run.Scenario+"): "+cell.Text())
	t.Add(draw.Plain, "", screen.Reason(sc, run.Strategy))
	return t.Lines
}
