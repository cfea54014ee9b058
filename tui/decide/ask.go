package decide

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/scenarios/advice"
	"lockstep/tui/draw"
)

// lead is the lock to which answers lead.
type lead struct {
	lock   string
	enough bool
	cured  string // the lock with the cure that makes it enough, if it isn't
}

func (l lead) String() string {
	switch {
	case l.enough:
		return l.lock
	case l.cured != "":
		return nothing + ": " + l.cured
	}
	return nothing + " (nearest: " + l.lock + ")"
}

const nothing = "no lock alone is enough"

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
	d.led[answers] = lead{a.Lock.Name, a.Enough, a.Cured()}
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

// leads are the locks to which an answer can still lead, and whether it can lead to none that is enough. It is empty until that
// is known.
type leads struct {
	locks []string
	none  bool
	cured []string // those with the cure that makes one enough, where none is
}

// leads is where an answer leads, by the answers to the other questions, as far as they are given.
func (d *Decide) leads(question, answer int) (all leads) {
	for _, a := range d.possible(question, answer) {
		switch l, known := d.leadOf(a); {
		case !known:
			return leads{}
		case !l.enough:
			all.none = true
			if !slices.Contains(all.cured, l.cured) {
				all.cured = append(all.cured, l.cured)
			}
		case !slices.Contains(all.locks, l.lock):
			all.locks = append(all.locks, l.lock)
		}
	}
	return all
}

func (l leads) known() bool { return l.none || l.locks != nil }

// settled reports whether the other answers have no say.
func (l leads) settled() bool { return !l.none && len(l.locks) == 1 || l.locks == nil }

// undecided is said of answers of which several things can come.
const undecided = "The other answers decide"

// short is where an answer leads in a few words: "leads to redlock or fenced".
func (l leads) short() string {
	switch {
	case l.locks == nil:
		return nothing
	case l.none:
		return lower(undecided)
	}
	return "leads to " + l.either()
}

// either has the locks as alternatives.
func (l leads) either() string {
	last := len(l.locks) - 1
	if last == 0 {
		return l.locks[0]
	}
	return strings.Join(l.locks[:last], ", ") + " or " + l.locks[last]
}

// sentence is where an answer leads, and whether other answers, which may be open, have a say in that. It has no full stop.
func (l leads) sentence(open bool) string {
	whatever := draw.Either(open, ", whatever else you answer", "")
	switch {
	case l.locks == nil:
		if !open && len(l.cured) == 1 && l.cured[0] != "" { // by that the answers to the last question differ
			return "None alone is enough then: " + l.cured[0]
		}
		return "N" + nothing[1:] + " then" + whatever
	case l.none:
		return undecided + ": with some, " + l.either() + " is enough; with others, no lock alone is"
	case !l.settled():
		return undecided + ": it is " + l.either()
	}
	return "The lock is " + l.locks[0] + " then" + whatever
}

// table has a row for each combination of answers to the other open questions, with its lock; and with the cure where
// none is enough alone, if so many columns have room for that. It is nil until that is known, and where there is just one.
func (d *Decide) table(question, answer, width int) (rows []draw.Line) {
	var widths [questions]int
	for i, q := range advice.Questions {
		for _, a := range q.Answers {
			widths[i] = max(widths[i], draw.Width(a.Text))
		}
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
		row := draw.Line{draw.Text(text, draw.Dim), draw.Text(" "+l.String(), draw.Plain)}
		if row.Width() > width {
			row[1] = draw.Text(" "+nothing, draw.Plain)
		}
		rows = append(rows, row)
	}
	return rows
}

// detail is how much is told of the answers to an open question.
type detail int

const (
	examples detail = iota
	led             // and to which locks they lead
	tabled          // and which lock comes of each combination with the other answers
)

// wideEnough are the columns from which on the answers stand side by side, and have the locks beside them to which they lead:
// three of them have room for that.
const wideEnough = 196

// ask says what the answers to the question at the cursor are like and where they lead, as much of that as so many rows have room for.
// The demands on a lock then help nobody to answer.
func (d *Decide) ask(t *draw.Paragraphs, asked, width, rows int) {
	for much := tabled; much >= examples; much-- {
		t.Lines = nil
		next := draw.Either(asked == 1, ", and a lock is named.", ", and the cursor goes on.")
		t.Add(draw.Strong, "", draw.Plural(asked, "question")+" to answer (?): press "+d.either()+next)
		for i, q := range advice.Questions {
			if q.Term && !d.given[i] && (i != d.at || d.said != "") { // at the cursor the rule has it, unless it has a message
				t.Add(draw.Dim, "", q.Hint)
			}
		}
		t.Gap()
		d.describe(t, much, width)
		if len(t.Lines) <= rows {
			return
		}
	}
}

// lower is a sentence's beginning within another sentence.
func lower(s string) string { return strings.ToLower(s[:1]) + s[1:] }

// describe has the answers to the question at the cursor, one below the other or, in a wide window, side by side.
func (d *Decide) describe(t *draw.Paragraphs, much detail, width int) {
	const between = 2
	q := min(d.at, questions-1)
	if width < wideEnough-1 { // one is the margin's
		for i := range advice.Questions[q].Answers {
			d.describeAnswer(t, q, i, much)
		}
		return
	}
	sides, rows := make([]draw.Paragraphs, len(advice.Questions[q].Answers)), 0
	for i := range sides {
		sides[i].Width = (width - between*(len(sides)-1)) / len(sides)
		d.describeAnswer(&sides[i], q, i, much)
		rows = max(rows, len(sides[i].Lines))
	}
	for n := range rows {
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
	leads := d.leads(question, answer)
	if much < led || !leads.known() {
		return
	}
	if much >= tabled && !leads.settled() {
		if rows := d.table(question, answer, t.Width); rows != nil {
			t.Add(draw.Plain, indent, undecided+":")
			t.Lines = append(t.Lines, rows...)
			return
		}
	}
	t.Add(draw.Plain, indent, leads.sentence(len(d.possible(question, answer)) > 1)+".")
}

// drawQuestions draws each question with its answers, of which none has a mark before the reader has given it. In a wide
// window each answer has beside it where it leads.
func (d *Decide) drawQuestions(c *draw.Canvas, r draw.Rectangle) {
	words := func(q, i int) string {
		text := advice.Questions[q].Answers[i].Text
		if r.W >= wideEnough {
			if leads := d.leads(q, i); leads.known() {
				text += " (" + leads.short() + ")"
			}
		}
		return text
	}
	columns := answerColumns(r.W)
	for i, q := range advice.Questions {
		mark, k := "  ", draw.Plain
		if i == d.at {
			mark, k = d.Theme.Pointer+" ", draw.Strong
		}
		l := draw.Line{draw.Text(" "+mark, draw.Here), draw.Text(draw.Either(d.given[i], "  ", "? "), draw.Strong), draw.Text(q.Text, k)}
		c.Line(r.X, r.Y+i, r.W, l)
		d.plan.answers[i] = d.plan.answers[i][:0]
		for j := range q.Answers {
			mark, ink := "( )", draw.Dim
			if d.given[i] && d.answers[i] == j {
				mark, ink = "(x)", draw.Strong
			}
			x, text := r.X+columns[i][j], fmt.Sprintf("%d %s %s", j+1, mark, words(i, j))
			c.Text(x, r.Y+i, r.X+r.W-x, text, ink)
			d.plan.answers[i] = append(d.plan.answers[i], draw.Rect(x, r.Y+i, draw.Width(text), 1))
		}
	}
}

// answerColumns are those in which the answers to each question begin. They are the same for all questions, but where three
// answers have no room in the row then, they begin further to the left. In a wide window a question's answers share its
// row evenly, so that they stay where they are when the locks beside them change.
func answerColumns(width int) (columns [questions][]int) {
	const before, box, gap = 5, 6, 2 // columns before a question, those of an answer before its words, and those between two
	text := 0
	var words []int // the most of each answer
	for _, q := range advice.Questions {
		text = max(text, draw.Width(q.Text))
		for j, a := range q.Answers {
			if j == len(words) {
				words = append(words, 0)
			}
			words[j] = max(words[j], box+draw.Width(a.Text)+gap)
		}
	}
	first := before + text + gap
	for i, q := range advice.Questions {
		at, packed := first, 0
		for j, a := range q.Answers {
			columns[i] = append(columns[i], at)
			at += words[j]
			if width >= wideEnough {
				at = first + (j+1)*(width-first)/len(q.Answers)
			}
			packed += box + draw.Width(a.Text) + gap
		}
		if at-gap <= width {
			continue
		}
		at = min(first, width+gap-1-packed)
		for j, a := range q.Answers {
			columns[i][j] = at
			at += box + draw.Width(a.Text) + gap
		}
	}
	return columns
}
