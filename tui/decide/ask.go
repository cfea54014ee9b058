package decide

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/scenarios/advice"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
)

// lead is the lock to which answers lead.
type lead struct {
	lock   string
	enough bool
}

func (l lead) String() string {
	if l.enough {
		return l.lock
	}
	return nothing + " (nearest: " + l.lock + ")"
}

const nothing = "no lock is enough"

// leadOf is where one combination of answers leads. It is false until all of the runs are made that this takes.
func (d *Decide) leadOf(answers advice.Answers) (lead, bool) {
	if l, known := d.led[answers]; known {
		return l, true
	}
	was := d.answers
	defer func() { d.answers = was }()
	d.answers = answers
	a, waiting := d.advice()
	if waiting > 0 {
		return lead{}, false
	}
	d.led[answers] = lead{a.Lock.Name, a.Enough}
	return d.led[answers], true
}

// possible are the combinations with an answer to a question and, to the other ones, with those that were given.
func (d *Decide) possible(question, answer int) (all []advice.Answers) {
	for _, a := range advice.All() {
		fits := a[question] == answer
		for q := range a {
			fits = fits && (q == question || !d.given[q] || a[q] == d.answers[q])
		}
		if fits {
			all = append(all, a)
		}
	}
	return all
}

// leads names the locks to which an answer can still lead: "fenced, or no lock is enough". It is empty until that is known.
func (d *Decide) leads(question, answer int) string {
	var locks []string
	none := false
	for _, a := range d.possible(question, answer) {
		switch l, known := d.leadOf(a); {
		case !known:
			return ""
		case !l.enough:
			none = true
		case !slices.Contains(locks, l.lock):
			locks = append(locks, l.lock)
		}
	}
	switch last := len(locks) - 1; {
	case last < 0:
		return nothing
	case none:
		return strings.Join(locks, ", ") + ", or " + nothing
	case last > 0:
		return strings.Join(locks[:last], ", ") + " or " + locks[last]
	}
	return locks[0]
}

// table has a row for each combination of answers to the other open questions, with its lock. It is nil until that is known,
// and where there is just one.
func (d *Decide) table(question, answer int) (rows []draw.Line) {
	var widths [questions]int
	for i, q := range advice.Questions {
		widths[i] = max(draw.Width(q.Answers[0].Text), draw.Width(q.Answers[1].Text))
	}
	possible := d.possible(question, answer)
	for _, a := range possible {
		l, known := d.leadOf(a)
		if !known || len(possible) == 1 {
			return nil
		}
		text := "   "
		for i, q := range advice.Questions {
			if i != question && !d.given[i] {
				text += " " + draw.Pad(q.Answers[a[i]].Text, widths[i]+1)
			}
		}
		rows = append(rows, draw.Line{draw.Text(text, draw.Dim), draw.Text(" "+l.String(), draw.Plain)})
	}
	return rows
}

// detail is how much is told of the answers to an open question.
type detail int

const (
	examples detail = iota
	led             // and to which locks they lead
	required        // and what they ask of a lock
	tabled          // and which lock comes of each combination with the other answers
)

// wideEnough are the columns from which on the answers stand side by side, and have the locks beside them to which they lead.
const (
	wideEnough = 160
	wideGap    = 20 // columns by which the words of an answer are fewer than half of those beside the questions
)

// ask says what the answers to the question at the cursor are like, what they ask of a lock and where they lead: as much of
// that as so many rows have room for.
func (d *Decide) ask(t *draw.Paragraphs, asked, width, rows int) {
	for much := tabled; much >= examples; much-- {
		t.Lines = nil
		next := draw.Either(asked == 1, ", and a lock is named.", ", and go on to the next.")
		t.Add(draw.Strong, "", draw.Plural(asked, "question")+" to answer (?): press 1 or 2"+next)
		t.Gap()
		d.describe(t, much, width)
		t.Gap()
		t.Add(draw.Dim, "", advice.Whatever(d.titles))
		if len(t.Lines) <= rows {
			return
		}
	}
}

// describe has the two answers to the question at the cursor, one below the other or, in a wide window, side by side.
func (d *Decide) describe(t *draw.Paragraphs, much detail, width int) {
	const between = 2
	q := min(d.at, questions-1)
	if width < wideEnough {
		for i := range advice.Questions[q].Answers {
			d.describeAnswer(t, q, i, much)
		}
		return
	}
	var sides [2]draw.Paragraphs
	for i := range sides {
		sides[i].Width = (width - between) / 2
		d.describeAnswer(&sides[i], q, i, much)
	}
	for n := range max(len(sides[0].Lines), len(sides[1].Lines)) {
		var row draw.Line
		for i := range sides {
			if n < len(sides[i].Lines) {
				row = append(row, draw.Text(draw.Pad("", i*(sides[0].Width+between)-row.Width()), draw.Plain))
				row = append(row, sides[i].Lines[n]...)
			}
		}
		t.Lines = append(t.Lines, row)
	}
}

func (d *Decide) describeAnswer(t *draw.Paragraphs, question, answer int, much detail) {
	q := &advice.Questions[question]
	a, number := &q.Answers[answer], fmt.Sprintf("%d  ", answer+1)
	t.Add(draw.Plain, number, a.Text+": "+a.Example+".")
	indent := draw.Pad("", draw.Width(number))
	if much >= required {
		t.Add(draw.Plain, indent, a.Requires(d.Library.Strategies, d.titles))
	}
	leads := d.leads(question, answer)
	if much < led || leads == "" {
		return
	}
	var rows []draw.Line
	if much >= tabled {
		rows = d.table(question, answer)
	}
	t.Add(draw.Plain, indent, draw.Either(leads == nothing, "Even so, "+nothing, "Leads to: "+leads)+draw.Either(rows != nil, ", by the other answers:", "."))
	t.Lines = append(t.Lines, rows...)
}

// titles are those of scenarios, as a list within a sentence.
func (d *Decide) titles(names []string) string {
	var titles []string
	for _, name := range names {
		if d.Library.Named(name) >= 0 {
			titles = append(titles, d.title(name))
		}
	}
	return trace.List(titles)
}

// drawQuestions draws each question with its answers, of which none has a mark before the reader has given it. In a wide
// window each answer has beside it where it leads.
func (d *Decide) drawQuestions(c *draw.Canvas, r draw.Rectangle) {
	words := func(q, i int) string {
		text := advice.Questions[q].Answers[i].Text
		if r.W >= wideEnough {
			if leads := d.leads(q, i); leads != "" {
				text += ": " + leads
			}
		}
		return text
	}
	text, first, second := 0, 0, 0
	for i, q := range advice.Questions {
		text, first, second = max(text, draw.Width(q.Text)), max(first, draw.Width(words(i, 0))), max(second, draw.Width(words(i, 1)))
	}
	if r.W >= wideEnough { // so that the second ones stay where they are when the first ones change
		first = max(first, (r.W-text)/2-wideGap)
	}
	const before, box = 5, 6 // columns before a question, and those of an answer before its words
	d.plan.answers[0] = draw.Rect(r.X+before+text+2, r.Y, first+box, r.H)
	d.plan.answers[1] = draw.Rect(d.plan.answers[0].X+first+box+2, r.Y, second+box, r.H)
	for i, q := range advice.Questions {
		mark, k := "  ", draw.Plain
		if i == d.at {
			mark, k = d.Theme.Pointer+" ", draw.Strong
		}
		l := draw.Line{draw.Text(" "+mark, draw.Here), draw.Text(draw.Either(d.given[i], "  ", "? "), draw.Strong), draw.Text(draw.Pad(q.Text, text), k)}
		c.Line(r.X, r.Y+i, r.W, l)
		for j, at := range d.plan.answers {
			mark, ink := "( )", draw.Dim
			if d.given[i] && d.answers[i] == j {
				mark, ink = "(x)", draw.Strong
			}
			c.Text(at.X, r.Y+i, r.X+r.W-at.X, fmt.Sprintf("%d %s %s", j+1, mark, words(i, j)), ink)
		}
	}
}
