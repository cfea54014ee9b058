// Package decide asks the questions that lead to a lock, and shows the runs behind the answer.
package decide

import (
	"fmt"
	"slices"
	"strings"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/scenarios/advice"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
)

// Decide has the questions at the top, and below them the lock that they lead to, with the
// runs that say so, once the reader has answered all. A run at the cursor can be played.
//
// Invariant: 0 <= at < number of questions + len(listed).
type Decide struct {
	*screen.App
	answers advice.Answers          // meaningful as far as given
	given   [questions]bool         // by question: the reader has answered it
	at      int                     // the row at the cursor: a question, or a run
	asked   int                     // the question at which the cursor was last
	again   bool                    // the reader has come back to it by an arrow, and is told what it means
	said    string                  // why the last key did nothing
	led     map[advice.Answers]lead // of those whose runs are all made: no frame has the time for all
	moved   bool                    // the last key was a number, and the cursor has gone on to another question
	above   int                     // the first line of text in sight, and how many more there are than have room
	beyond  int
	first   int          // the first run in sight
	listed  []advice.Run // of the last frame
	made    int          // the runs that no question is about, with those that aren't listed
	claims  []int        // about the lock in it, by their numbers
	plan    layout       // of the last frame: clicks refer to it
	page    int          // rows of the list of runs in the last frame
	lines   int          // of the recommendation, whether there is room for all of them or not
	room    int          // rows that the list of runs has while the reader is at the questions
	rows    []int        // the run in each of its rows, or noRun
}

// New has no question answered: an answer that nobody gave would be read as a recommendation for everybody.
func New(app *screen.App) *Decide { return &Decide{App: app, led: map[advice.Answers]lead{}} }

// Reopened puts the cursor on the first question, if the reader has answered none.
func (d *Decide) Reopened() {
	if d.given == ([questions]bool{}) {
		d.at = 0
	}
}

// Start has the runs made that the answers are about, before all others.
func (d *Decide) Start() tea.Cmd {
	wanted := map[int]bool{}
	for _, a := range advice.All() {
		for _, name := range a.Scenarios() {
			if at := d.Library.Named(name); at >= 0 {
				wanted[at] = true
			}
		}
	}
	return d.Grid.First(func(cell int) bool { return wanted[cell/len(d.Library.Strategies)] })
}

// advice is the recommendation; waiting is the number of runs that it still lacks.
func (d *Decide) advice() (a advice.Advice, waiting int) {
	a = advice.Decide(d.answers, d.Library.Strategies, func(scenario, strategy string) (trace.Verdict, bool) {
		v, known := d.outcome(scenario, strategy)
		if !known && d.Library.Named(scenario) >= 0 {
			waiting++
		}
		return v, known
	})
	return a, waiting
}

// outcome is the verdict of a run, as far as it is known.
func (d *Decide) outcome(scenario, strategy string) (trace.Verdict, bool) {
	sc := d.Library.Named(scenario)
	if sc < 0 {
		return nil, false
	}
	cell := d.Grid.At(sc, d.Library.Strategy(strategy))
	return cell.Verdict, cell.Known
}

// names are those of all scenarios.
func (d *Decide) names() (names []string) {
	for _, s := range d.Library.Scenarios {
		names = append(names, s.Name)
	}
	return names
}

// Update takes a key or a click.
func (d *Decide) Update(msg tea.Msg) (tea.Cmd, screen.Outcome) {
	switch msg := msg.(type) {
	case screen.Click:
		return d.clicked(msg)
	case tea.KeyMsg:
		return d.typed(msg)
	}
	return nil, screen.Outcome{}
}

const questions = len(advice.Questions)

// noRun stands for the run in a row of the list that is a heading.
const noRun = -1

func (d *Decide) typed(k tea.KeyMsg) (tea.Cmd, screen.Outcome) {
	moved, was := d.moved, d.at
	d.said, d.moved = "", false
	switch {
	case key.Matches(k, d.Keys.Close) && d.at >= questions:
		d.at = d.asked
	case key.Matches(k, d.Keys.Close):
		if d.toAsk() < questions { // for those who come back
			d.said = fmt.Sprintf("your answers of before are kept: %s clears them", d.clearing().Help().Key)
		}
		return nil, screen.Outcome{Close: true}
	case key.Matches(k, d.Keys.Down) && moved: // it would skip the question that the number has gone on to
		d.said = fmt.Sprintf("the cursor is at the next question already: %s again skips it", d.Keys.Down.Help().Key)
	case key.Matches(k, d.Keys.Back):
		d.choose(d.beside(-1))
	case key.Matches(k, d.Keys.Forward):
		d.choose(d.beside(1))
	case key.Matches(k, d.Keys.Guess):
		d.number(int(k.Runes[0] - '1'))
	case key.Matches(k, d.clearing()):
		d.clear()
	case key.Matches(k, d.Keys.Evidence):
		return nil, d.openClaims()
	case key.Matches(k, d.Keys.Enter):
		return nil, d.enter()
	default:
		d.move(k)
	}
	if d.at < questions {
		d.asked = d.at
	}
	if d.at != was {
		d.above = 0
	}
	return nil, screen.Outcome{}
}

// move takes the cursor to another row. Pages are those of the text while the reader is at the questions, and after its end those of
// the runs.
func (d *Decide) move(k tea.KeyMsg) {
	last, was := questions+len(d.listed)-1, d.at
	defer func() { d.again = d.again || d.at < questions && was < questions && d.at != was }()
	switch {
	case key.Matches(k, d.Keys.Up) && d.at == 0: // as a number goes on past the last question to one above that is open
		d.at = questions - 1
	case key.Matches(k, d.Keys.Up):
		d.at--
	case key.Matches(k, d.Keys.Down) && d.at == last && last < questions:
		d.said = draw.Either(d.toAsk() > 0, "the runs come below once all questions are answered", "the runs come below once they are made")
	case key.Matches(k, d.Keys.Down):
		d.at = min(d.at+1, last)
	case key.Matches(k, d.Keys.PageUp) && d.at < questions:
		d.above = max(d.above-draw.PageOf(d.plan.lock.H), 0)
	case key.Matches(k, d.Keys.PageDown) && d.at < questions && d.above >= d.beyond && len(d.listed) > 0:
		d.at = questions
	case key.Matches(k, d.Keys.PageDown) && d.at < questions:
		d.above = min(d.above+draw.PageOf(d.plan.lock.H), d.beyond)
	case key.Matches(k, d.Keys.PageUp):
		d.at = max(d.at-max(d.page, 1), questions)
	case key.Matches(k, d.Keys.PageDown):
		d.at = min(d.at+max(d.page, 1), last)
	case key.Matches(k, d.Keys.First):
		d.at, d.above = 0, 0
	case key.Matches(k, d.Keys.Last):
		d.at = last
	}
}

// clearing is the binding of the key that takes all answers back.
func (d *Decide) clearing() key.Binding { return screen.As(d.Keys.Undo, "clear the answers") }

func (d *Decide) clear() {
	d.given, d.answers, d.at, d.first = [questions]bool{}, advice.Answers{}, 0, 0
	d.said = "the answers are cleared"
}

// answer gives the answer to a question. The runs below become others.
func (d *Decide) answer(question, answer int) {
	d.answers[question], d.given[question] = answer, true
	d.first, d.above, d.again = 0, 0, false
}

// toAsk is the number of questions that the reader hasn't answered.
func (d *Decide) toAsk() (n int) {
	for _, given := range d.given {
		if !given {
			n++
		}
	}
	return n
}

// number answers the question at the cursor by the number of an answer, and goes on to the next open question, or where none is open
// to the next: numbers in a row answer the questions in a row, the second time, too. At the last answer the cursor stays, so
// that the reader looks at the lock; so it does at the question at which it was last, which a number answers from the runs. Where there
// was another answer it says so: it could be changed unnoticed otherwise.
func (d *Decide) number(answer int) {
	again := d.toAsk() == 0 && d.at < questions-1
	if d.at >= questions {
		d.at = d.asked
	}
	if answer >= len(advice.Questions[d.at].Answers) {
		d.choose(answer)
		return
	}
	at, changed := d.at, d.given[d.at] && d.answers[d.at] != answer
	d.choose(answer)
	if changed && d.said == "" {
		q := &advice.Questions[at]
		d.said = fmt.Sprintf("changed: %s: %s", q.Text, q.Answers[answer].Text)
	}
	if d.goOn(); again {
		d.at++
		d.again = true
	}
	d.moved = d.at != at
}

// beside is the answer to the left or right of the one that is given, or the outermost one on that side.
func (d *Decide) beside(by int) int {
	q := min(d.at, questions-1)
	last := len(advice.Questions[q].Answers) - 1
	if !d.given[q] {
		return max(by, 0) * last
	}
	return min(max(d.answers[q]+by, 0), last)
}

// choose gives the question at the cursor an answer. The cursor stays: an arrow, meant to correct it, must not
// answer a question that is unread.
func (d *Decide) choose(answer int) {
	switch k := &d.Keys; {
	case d.at >= questions:
		d.said = fmt.Sprintf("%s answer a question: %s goes back to them", d.answering().Help().Key, k.Close.Help().Key)
	case answer >= len(advice.Questions[d.at].Answers):
		d.said = fmt.Sprintf("this question has no answer %d: press %s", answer+1, d.either())
	default:
		asked, changed, was := d.toAsk(), d.answers[d.at] != answer, d.answers
		d.answer(d.at, answer)
		if asked == 0 && changed {
			d.said = d.changed(was)
		}
	}
}

// changed says what it has changed that the question at the cursor has another answer now: two recommendations that are nearly the same
// would be compared line by line. As long as runs are to come it says no more than which answer that is.
func (d *Decide) changed(was advice.Answers) string {
	q := &advice.Questions[d.at]
	now, waiting := d.advice()
	given := d.answers
	d.answers = was
	before, lacking := d.advice()
	d.answers = given
	if waiting+lacking > 0 {
		return fmt.Sprintf("changed: %s: %s", q.Text, q.Answers[d.answers[d.at]].Text)
	}
	return q.Answers[d.answers[d.at]].Text + ": " + now.Since(&before)
}

// answering is the binding of the keys that answer the question at the cursor: no other key does.
func (d *Decide) answering() key.Binding {
	k := &d.Keys
	arrows, numbers := screen.Pair(k.Back, k.Forward, ""), d.numbers()
	return screen.Bind(fmt.Sprintf("%s 1-%d", arrows.Help().Key, len(numbers)), "answer", append(arrows.Keys(), numbers...)...)
}

// numbers are the keys of the numbers of the answers to the question at the cursor.
func (d *Decide) numbers() []string {
	return d.Keys.Guess.Keys()[:len(advice.Questions[min(d.at, questions-1)].Answers)]
}

// either has the numbers of the answers to the question at the cursor in words: "1, 2 or 3".
func (d *Decide) either() string {
	numbers := d.numbers()
	last := len(numbers) - 1
	return strings.Join(numbers[:last], ", ") + " or " + numbers[last]
}

// goOn takes the cursor to the next question that is open, if there is one.
func (d *Decide) goOn() {
	for i := range questions {
		if next := (d.at + 1 + i) % questions; !d.given[next] {
			d.at = next
			return
		}
	}
}

// enter goes on from a question that is answered: to the next open one, or to the runs once all are answered; and it plays
// the run at the cursor. It answers no question: a reader who only means to read on would be taken at a word not given.
func (d *Decide) enter() screen.Outcome {
	switch {
	case d.at >= questions+len(d.listed):
	case d.at >= questions:
		r := d.listed[d.at-questions]
		return screen.Outcome{To: screen.PlayMsg{Strategy: d.Library.Strategy(r.Strategy), Scenario: d.Library.Named(r.Scenario)}}
	case !d.given[d.at]:
		d.said = fmt.Sprintf("nothing is chosen yet: %s answer, and %s goes on then", d.answering().Help().Key, d.Keys.Enter.Help().Key)
	case d.toAsk() > 0:
		d.goOn()
	default:
		if _, waiting := d.advice(); waiting > 0 {
			d.said = fmt.Sprintf("still computing the runs: %s goes to them once they are made", d.Keys.Enter.Help().Key)
			break
		}
		d.at = min(questions, questions+len(d.listed)-1)
	}
	return screen.Outcome{}
}

func (d *Decide) clicked(c screen.Click) (tea.Cmd, screen.Outcome) {
	row, was := c.Y-d.plan.questions.Y, d.at
	d.said = ""
	switch {
	case c.Wheel != 0 && c.In(d.plan.lock):
		d.above = min(max(d.above+c.Wheel, 0), d.beyond)
	case c.Wheel != 0:
		d.at = min(max(d.at+c.Wheel, 0), questions+len(d.listed)-1)
	case c.In(d.plan.questions) && row < questions:
		d.at, d.asked = row, row
		if answer := slices.IndexFunc(d.plan.answers[row], func(r draw.Rectangle) bool { return c.In(r) }); answer >= 0 {
			d.choose(answer)
		} else {
			d.again = true
		}
	case c.In(d.plan.runs) && c.Y-d.plan.runs.Y < len(d.rows) && d.rows[c.Y-d.plan.runs.Y] != noRun:
		if d.at = questions + d.rows[c.Y-d.plan.runs.Y]; d.at == was {
			return nil, d.enter()
		}
	}
	return nil, screen.Outcome{}
}

// FooterKeys are the keys that work here, the most useful first. The mouse's is on the help screen, as there is not
// always room for it.
func (d *Decide) FooterKeys() []key.Binding {
	k := &d.Keys
	back := k.Close
	keys := []key.Binding{d.answering(), screen.Pair(k.Up, k.Down, "question")}
	switch asked := d.toAsk(); {
	case d.at >= questions:
		keys, back = []key.Binding{screen.As(k.Enter, "play the run"), screen.Pair(k.Up, k.Down, "run")}, screen.As(back, "the questions")
	case asked == 0 && len(d.listed) > 0:
		keys = append(keys, screen.As(k.Enter, "see runs"))
	case asked > 0 && d.given[d.at]:
		keys = append(keys, screen.As(k.Enter, "next open question"))
	}
	if n := len(d.rows); d.at >= questions && n > 0 && (d.first > 0 || d.rows[n-1] < len(d.listed)-1) {
		keys = append(keys, screen.Pair(k.PageUp, k.PageDown, "page"))
	}
	if d.at < questions && d.beyond > 0 { // before the claims, which are for specialists
		keys = append(keys, screen.As(k.PageDown, "text"))
	}
	if len(d.claims) > 0 {
		keys = append(keys, screen.As(k.Evidence, "claims"))
	}
	if d.toAsk() < questions {
		keys = append(keys, screen.As(d.clearing(), "clear"))
	}
	return append(keys, k.Help, back, k.Quit)
}

// words are those that the recommendation may use, with all locks.
func (d *Decide) words() []trace.Word {
	words := []trace.Word{{Name: "claim", Meaning: "a sentence on what a kind of lock never shows while its conditions hold: tested, not proved"}}
	for _, name := range []string{"idempotency key", "failover", "eviction", "Sentinel", "Cluster", "UPDATE", "compare-and-delete", "misfortune"} {
		if w, known := trace.Lookup(name); known {
			words = append(words, w)
		}
	}
	for _, s := range d.Library.Strategies {
		words = append(words, trace.Word{Name: s.Name, Meaning: "a lock: " + s.Summary})
	}
	return words
}

// Help explains the screen and its keys.
func (d *Decide) Help() screen.Page {
	k, g := &d.Keys, &d.Theme.Glyphs
	return screen.Page{
		Title: "which lock should I use?",
		About: "A question with a ? before it is still to be answered: no answer is taken until you give it, by an arrow, which stays there, or by its number, which goes on to the next open question or, once all are answered, to the next, and stays at the last. Enter gives none: it goes on once there is one. The answers say which violations your use forbids, and what can happen to it. Every lock of the catalogue is run through just that; " +
			"of those that do no harm then, the simplest is recommended. If there is none, the screen says so, and shows what is missing. " +
			"Below are its runs, each of one mishap: first those that your answers call for, with the failures on top; then others in which it fails, too, or in which two are at work and that only costs work. Each kind of these has a heading, which says what follows for you. Each run can be played.",
		Keys: append([]key.Binding{screen.As(k.Up, "row above"), screen.As(k.Down, "row below"), screen.As(k.Back, "answer to the left"), screen.As(k.Forward, "answer to the right"), screen.Bind("1-3", "that answer, and on", k.Guess.Keys()[:3]...),
			k.PageUp, k.PageDown, screen.As(k.First, "first question"), screen.As(k.Last, "last run"), screen.As(k.Enter, "next question; then the runs; or play"), screen.As(k.Evidence, "the claims about it"), d.clearing()}, k.Always()...),
		Words: d.words(), Prose: true,
		Signs: append([]draw.Sign{{g.Granted + "ok", "nothing broke"}, {g.Mild + "OV", "something broke that your answers don't forbid, as two that overlapped where the resource refused the stale write: the list of all runs, which knows no answers, may have " + g.Bad + "OV"}, {g.Bad + "SW", "something broke that your answers forbid, as long as there is no idempotency key; in red only where that decides"}, {"?", "a question that isn't answered yet"}}, screen.CodeSigns()...),
	}
}
