package player

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
)

// Predictions: a question is asked at a position before its answer is on the screen. The
// reader answers, or doesn't; then the run is played on to the event that decides it, and
// there the answer is judged and explained.

// guess is an answer that the reader has given: the choice, or none to be shown it.
type guess int

// askedAt is the question that is asked at a position, or nil.
func (p *Player) askedAt(pos int) *timeline.Question {
	i := slices.IndexFunc(p.questions, func(q timeline.Question) bool { return q.Pos == pos })
	if p.Run == nil || i < 0 {
		return nil
	}
	return &p.questions[i]
}

// askLittle leaves those questions of a run that plays by itself that the script asks, and the last one
// before the first violation: each takes some seconds to read.
func (p *Player) askLittle() {
	last := none
	for i, q := range p.questions {
		if len(p.Run.Breaches) > 0 && q.Until <= p.Run.Breaches[0].Pos {
			last = i
		}
	}
	var few []timeline.Question
	for i, q := range p.questions {
		if q.Script || i == last {
			few = append(few, q)
		}
	}
	p.questions = few
}

// question is the one at hand, as long as it is open.
func (p *Player) question() *timeline.Question {
	q := p.askedAt(p.Pos)
	if q == nil {
		return nil
	}
	if _, answered := p.guesses[q.Pos]; answered {
		return nil
	}
	return q
}

// guess takes a prediction, from 1. The first one counts for the score of the course.
func (p *Player) guess(choice int) {
	q := p.question()
	switch {
	case q == nil:
		p.Notice = "No question is open here."
		if past := p.passedBy(); past != nil {
			p.Notice = "That was asked at " + p.instantOf(past.Pos) + ": " + p.Keys.Previous.Help().Key + " and " + p.Keys.Back.Help().Key + " go back to it."
		}
	case choice < 1 || choice > len(q.Choices):
		p.Notice = fmt.Sprintf("The choices are 1 to %d.", len(q.Choices))
	default:
		p.guesses[q.Pos] = guess(choice - 1)
		if p.scores() {
			p.Progress.Guess(fmt.Sprintf("%s/%s/at-%d", p.Run.Scenario, p.Run.Strategy, q.Pos), choice-1 == q.Right)
		}
	}
}

// passedBy is the last question that was asked before the cursor and not answered, or nil.
func (p *Player) passedBy() *timeline.Question {
	for i := len(p.questions) - 1; i >= 0; i-- {
		q := &p.questions[i]
		if _, answered := p.guesses[q.Pos]; q.Pos < p.Pos && !answered {
			return q
		}
	}
	return nil
}

// playOn goes on from a question to the event that decides it, or less far. Without an answer of
// the reader's it shows the right one there.
func (p *Player) playOn(pos int) {
	if _, answered := p.guesses[p.askedAt(p.Pos).Pos]; !answered {
		p.guesses[p.askedAt(p.Pos).Pos] = none
	}
	p.goTo(pos)
}

// tellQuestion asks the question at hand.
func (p *Player) tellQuestion(t *draw.Paragraphs) {
	if q := p.askedAt(p.Pos); q != nil {
		g, answered := p.guesses[q.Pos]
		t.Gap()
		t.Add(draw.Strong, "? ", q.Text)
		t.Add(draw.Strong, "  ", p.choices(q, g, answered))
	}
}

// tellAnswers judges the answers that the event at the cursor decides. Those to the script's
// own questions are told in any case, as they are part of its story.
func (p *Player) tellAnswers(t *draw.Paragraphs) {
	for i := range p.questions {
		q := &p.questions[i]
		g, answered := p.guesses[q.Pos]
		if !answered {
			g = none
		}
		if q.Until == p.Pos && (answered || q.Script) {
			t.Gap()
			p.tellAnswer(t, q, g)
		}
	}
}

// choices are the answers to choose from, or the one that was chosen, with what to do next.
func (p *Player) choices(q *timeline.Question, g guess, answered bool) string {
	enter := p.Keys.Enter.Help().Key
	if answered && g != none {
		return "You say: " + q.Choices[g] + ". " + enter + " plays on to the proof."
	}
	var b strings.Builder
	for i, c := range q.Choices {
		if !p.Teaching {
			fmt.Fprintf(&b, "%d ", i+1)
		}
		b.WriteString(c + draw.Either(i+1 < len(q.Choices), "; ", ". "))
	}
	return b.String() + draw.Either(p.Teaching, enter+" shows it.", "Or "+enter+" shows it.")
}

// tellAnswer judges an answer, and explains the right one.
func (p *Player) tellAnswer(t *draw.Paragraphs, q *timeline.Question, g guess) {
	right := q.Choices[q.Right]
	switch {
	case g == none:
		t.Add(draw.Good, "", draw.Either(q.Then != "", q.Then, q.Text)+" "+sentence(right)+".")
	case int(g) == q.Right:
		t.Add(draw.Good, p.Theme.Granted+" ", "You said: "+right+". Right. "+p.score())
	default:
		t.Add(draw.Breach, p.Theme.Bad+" ", "You said: "+q.Choices[g]+". It is: "+right+". "+p.score())
	}
	if !slices.ContainsFunc(p.shown(), func(b timeline.Breach) bool { return p.Run.Cause(b) == q.Why }) {
		t.Add(draw.Plain, "  ", q.Why)
	}
}

func (p *Player) score() string {
	if !p.scores() {
		return ""
	}
	right, of := p.Progress.Score()
	return fmt.Sprintf("Predicted correctly so far: %d of %d.", right, of)
}

// sentence begins a sentence.
func sentence(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// instantOf is when a position was reached.
func (p *Player) instantOf(pos int) string { return trace.Brief(p.Run.When(pos)) }
