package player

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"

	"lockstep/sim/timeline"
	"lockstep/tui/draw"
	"lockstep/tui/quiz"
	"lockstep/tui/screen"
)

// Advance goes on by one key: to the next thing that is said, asked, answered or broken. A question on
// which it is pressed is given up; from evidence it goes back to where that was called for. It reports whether there was anything left.
func (p *Player) Advance() bool {
	if p.Run == nil || p.Pos == p.Run.Last() {
		return false
	}
	if p.LeaveEvidence() { // else it would walk once more through events that have been seen
		return true
	}
	if !p.quiz.GoOn(p.Pos) {
		p.goTo(p.quiz.NextTold(p.Pos, p.forClass()))
	}
	return true
}

// question is the one at hand, as long as it is open.
func (p *Player) question() *timeline.Question { return p.quiz.Open(p.Pos) }

// GuessKeys are the keys that answer the question at hand, if it is open.
func (p *Player) GuessKeys() []key.Binding {
	if p.Run == nil || p.quiz.Takes(p.Pos) == nil {
		return nil
	}
	return []key.Binding{screen.Bind(p.choices(), "predict", p.Keys.Guess.Keys()...)}
}

// choices are the keys that answer the question at hand, as they are written.
func (p *Player) choices() string { return fmt.Sprintf("1-%d", len(p.quiz.Takes(p.Pos).Choices)) }

// guess takes a prediction, from 1. The first one counts for the score of the course.
func (p *Player) guess(choice int) {
	q, on := p.quiz.At(p.Pos), p.Keys.Enter.Help().Key+" goes on."
	switch {
	case q == nil || p.quiz.GivenUp(p.Pos) && p.quiz.Recalls(p.Pos):
		p.Notice = draw.Either(q == nil, "No question is open here.", "It takes no answer here.")
		if p.quiz.Passed(p.Pos) != nil {
			p.Notice += draw.Either(q == nil, " The last", " Its place") + " is further back" + draw.Either(p.OwnQuestions, ": "+p.Keys.PageUp.Help().Key+" leads there.", ".")
		}
	case choice < 1 || choice > len(q.Choices):
		p.Notice = fmt.Sprintf("The choices are 1 to %d.", len(q.Choices))
	case p.quiz.Takes(p.Pos) == nil && p.quiz.GivenUp(p.Pos):
		p.Notice = "The answer to this question has been on the screen, so none is taken any more. " + on
	case p.quiz.Takes(p.Pos) == nil:
		p.Notice = "You have answered: the first answer counts. " + on
	default:
		p.quiz.Answer(p.Pos, choice-1)
		p.scroll[panelTold] = math.MaxInt // its outcome stands below all words
		if p.scores() {
			p.again[q.Pos] = !p.Progress.Guess(fmt.Sprintf("%s/%s/at-%d", p.Run.Scenario, p.Run.Strategy, q.Pos), choice-1 == q.Right)
		}
	}
}

// teller is how questions and answers are told here.
func (p *Player) teller(form quiz.Form, whole bool) *quiz.Teller {
	return &quiz.Teller{Form: form, Author: p.Rehearsing, Glyphs: &p.Theme.Glyphs, Enter: p.Keys.Enter.Help().Key, Score: p.score, Known: func(why string) bool {
		return !whole && len(p.shown()) > 0 || why == p.Run.Holders(p.State) || why == timeline.Unbroken && p.lesson == nil || p.Run.Refusal(p.Pos) != "" && strings.HasSuffix(why, p.Run.Text(p.Run.Event(p.Pos))) || slices.ContainsFunc(p.shown(), func(b timeline.Breach) bool { return p.Run.Cause(b) == why })
	}}
}

func (p *Player) score(q *timeline.Question) string {
	if !p.scores() {
		return ""
	}
	right, of := p.Progress.Score()
	text := fmt.Sprintf("Predicted correctly so far: %d of %d", right, of)
	if p.again[q.Pos] {
		return text + "; you have answered this one before, and the first answer counts."
	}
	return text + "."
}
