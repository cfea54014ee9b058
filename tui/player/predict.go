package player

import (
	"fmt"
	"strings"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
)

// question is one that the script asks the class, with the answers to choose
// from. Which of them is right is computed from the trace, like the answer itself.
type question struct {
	note    trace.Note
	choices []string // empty where there would be too many
	right   []bool
	answer  string
	state   bool // the screen shows the answer at this moment
}

// mostChoices is the number of digits.
const mostChoices = 10

// asked is the question that stands at exactly this position, or nil.
func asked(tl *timeline.Timeline, pos int) *question {
	for _, n := range tl.Notes {
		if n.Kind == trace.NoteAsk && tl.Before(n.Seq) == pos {
			return newQuestion(tl, n)
		}
	}
	return nil
}

// newQuestion tells the question from its answer's form: for a verdict, or for
// those who hold the lock or have its record.
func newQuestion(tl *timeline.Timeline, n trace.Note) *question {
	q := &question{note: n, answer: n.Answer}
	if n.Answer == tl.Verdict().String() {
		q.verdict(tl.Verdict())
		return q
	}
	q.state = true
	q.holders(tl, named(tl, n))
	return q
}

// verdict offers nothing and every violation, by its name: the reader may not
// have learned the codes yet. Any violation that the run shows is a right answer.
func (q *question) verdict(v trace.Verdict) {
	const nothing = "nothing breaks"
	q.choices, q.right = []string{nothing}, []bool{len(v) == 0}
	q.answer = nothing
	for i, c := range v {
		if i == 0 {
			q.answer = c.Name()
			continue
		}
		q.answer += ", " + c.Name()
	}
	for _, c := range trace.Codes {
		if len(q.choices) == mostChoices {
			return
		}
		has := false
		for _, have := range v {
			has = has || have == c
		}
		q.choices, q.right = append(q.choices, c.Name()), append(q.right, has)
	}
}

// named is the set of clients that an answer names, by bit: those that believe,
// or those whose record a node has.
func named(tl *timeline.Timeline, n trace.Note) int {
	set := 0
	s := tl.StateAt(tl.Before(n.Seq))
	record := strings.Contains(n.Answer, ": ")
	for i := range s.Clients {
		if !record && s.Clients[i].Lease.Believed {
			set |= 1 << i
		}
	}
	for i := range s.Nodes {
		if rec := s.LockRecord(i); record && rec != nil && rec.Owner != trace.Nobody {
			set |= 1 << rec.Owner.Client
		}
	}
	return set
}

// holders offers every set of clients, small ones first.
func (q *question) holders(tl *timeline.Timeline, truth int) {
	var names []string
	for i, name := range tl.Clients {
		if name != trace.Probe {
			names = append(names, tl.Clients[i])
		}
	}
	if 1<<len(names) > mostChoices {
		return
	}
	for size := range len(names) + 1 {
		for set := range 1 << len(names) {
			var in []string
			for i, name := range names {
				if set&(1<<i) != 0 {
					in = append(in, name)
				}
			}
			if len(in) != size {
				continue
			}
			text := strings.Join(in, "+")
			if size == 0 {
				text = "nobody"
			}
			q.choices, q.right = append(q.choices, text), append(q.right, set == truth)
		}
	}
}

// question is the one at hand, as long as it is open.
func (p *Player) question() *question {
	if p.Run == nil || p.revealed {
		return nil
	}
	q := asked(p.Run, p.Pos)
	if q == nil {
		return nil
	}
	if _, guessed := p.guesses[q.note.Index]; guessed {
		return nil
	}
	return q
}

// guess takes a prediction. The first one counts for the score.
func (p *Player) guess(choice int) {
	q := p.question()
	switch {
	case q == nil:
		p.Notice = "No question is open here."
		if n := p.unanswered(); n != nil {
			p.Notice = "That was asked at " + instantOf(p.Run, n) + ": " + p.Keys.Previous.Help().Key + " goes back to it."
		}
	case len(q.choices) == 0:
		p.Notice = "Too many answers are possible: " + p.Keys.Enter.Help().Key + " shows the right one."
	case choice >= len(q.choices):
		p.Notice = fmt.Sprintf("The choices are 0 to %d.", len(q.choices)-1)
	default:
		p.guesses[q.note.Index] = choice
		p.Progress.Guess(fmt.Sprintf("%s/%s/%d", p.Run.Scenario, p.Run.Strategy, q.note.Index), q.right[choice])
	}
}

// answer stands below a question: the choices, or the choice that was made and the
// right one.
func (p *Player) answer(n trace.Note) []draw.Span {
	q := newQuestion(p.Run, n)
	here := p.Run.Before(n.Seq) == p.Pos
	guess, guessed := p.guesses[n.Index]
	enter := p.Keys.Enter.Help().Key
	switch {
	case guessed && q.right[guess]:
		return []draw.Span{draw.Text(fmt.Sprintf("%s You said: %s. Right: %s.", p.Theme.Granted, q.choices[guess], q.answer), draw.Good), draw.Text(p.score(), draw.Dim)}
	case guessed:
		return []draw.Span{draw.Text(fmt.Sprintf("%s You said: %s. It is: %s.", p.Theme.Bad, q.choices[guess], q.answer), draw.Breach), draw.Text(p.score(), draw.Dim)}
	case p.revealed:
		return []draw.Span{draw.Text("Answer: "+q.answer, draw.Good)}
	case here && len(q.choices) > 0:
		var b strings.Builder
		for i, c := range q.choices {
			fmt.Fprintf(&b, "%d %s, ", i, c)
		}
		return []draw.Span{draw.Text(b.String()+"or "+enter+" for the answer", draw.Strong)}
	}
	return []draw.Span{draw.Text("("+enter+" shows the answer)", draw.Dim)}
}

func (p *Player) score() string {
	right, of := p.Progress.Score()
	return fmt.Sprintf("Predicted correctly so far: %d of %d.", right, of)
}

// unanswered is the question of the chapter at hand, if its moment has passed without
// a prediction.
func (p *Player) unanswered() *trace.Note {
	for _, n := range p.Run.Said(p.Pos) {
		if _, guessed := p.guesses[n.Index]; n.Kind == trace.NoteAsk && n.Answer != "" && !guessed && p.Run.Before(n.Seq) != p.Pos {
			return &n
		}
	}
	return nil
}

// instantOf is when something was said.
func instantOf(tl *timeline.Timeline, n *trace.Note) string {
	pos := tl.Before(n.Seq)
	if e := tl.Event(pos); e != nil {
		return trace.Brief(e.At)
	}
	return trace.Brief(0)
}

// veil is the position up to which beliefs and records are shown: all, unless a
// question about just that is open. Then it is the chapter before.
func (p *Player) veil() int {
	if q := p.question(); q == nil || !q.state {
		return p.Pos
	}
	return p.Run.PreviousChapter(p.Pos)
}
