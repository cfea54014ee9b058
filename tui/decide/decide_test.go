package decide

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/scenarios"
	"lockstep/scenarios/advice"
	"lockstep/sim/claims"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

// runs are those that the screen has asked for, in any test: nobody changes a trace.
var runs sync.Map // func() (*trace.Trace, error), by scenario, lock and seed

func remembered(sc *scenarios.Scenario, st strategies.Strategy, seed uint64) (*trace.Trace, error) {
	once, _ := runs.LoadOrStore(fmt.Sprint(sc.Name, " ", st.Name, " ", seed), sync.OnceValues(func() (*trace.Trace, error) { return sc.Run(st, seed) }))
	return once.(func() (*trace.Trace, error))()
}

// open has the runs made that the answers cite, of all locks and scenarios that there are.
func open(t testing.TB, w, h int) (*tuitest.App, *Decide) {
	lib := screen.NewLibrary()
	lib.Scenarios = lib.Scenarios[:0:0]
	cited := map[string]bool{"clock-steps-back": true, "server-clock-jump": true} // and two that are not, of which one shows what is forbidden
	for _, a := range advice.All() {
		for _, name := range a.Scenarios() {
			cited[name] = true
		}
	}
	for _, s := range screen.NewLibrary().Scenarios {
		if cited[s.Name] {
			lib.Scenarios = append(lib.Scenarios, s)
		}
	}
	return openLibrary(t, w, h, lib)
}

func openLibrary(t testing.TB, w, h int, lib *screen.Library) (*tuitest.App, *Decide) {
	lib.Run = remembered
	app := tuitest.HandmadeApp(lib, tuitest.PlainTheme(false))
	d := New(app)
	for q := range questions { // as a reader who takes the first answers
		d.answer(q, 0)
	}
	return tuitest.Open(t, w, h, app, d, nil), d
}

func TestScreens(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		a, _ := open(t, size[0], size[1])
		a.Press("right enter")
		tuitest.Golden(t, fmt.Sprintf("decide-%dx%d", size[0], size[1]), a.View())
	}
}

// For each combination of answers the screen shows the recommendation of package advice, and plays
// the run at the cursor.
func TestEveryCombinationIsAnswered(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}}[:testenv.Quick(1, 2)] {
		everyCombination(t, size[0], size[1])
	}
}

// inParts reports whether a text that may be split between two pages is on these.
func inParts(v, s string) bool {
	words := strings.Fields(s)
	for i := range words {
		if strings.Contains(v, strings.Join(words[:i+1], " ")) && strings.Contains(v, strings.Join(words[i+1:], " ")) {
			return true
		}
	}
	return false
}

func paragraphs(sections []advice.Section) (all []string) {
	for _, s := range sections {
		all = append(all, s.Paragraphs...)
	}
	return all
}

// leastSeen are the rows of runs beside the longest answer in the least window: fewer look as if there were no others.
const leastSeen = 3

func everyCombination(t *testing.T, w, h int) {
	a, d := open(t, w, h)
	for _, want := range advice.All() {
		a.Press("home")
		for q := range want {
			a.Press(strconv.Itoa(want[q] + 1))
			if q < questions-1 {
				a.Press("down")
			}
		}
		got, waiting := d.advice()
		rest := got.Rest(d.names(), d.outcome)
		if waiting != 0 || d.answers != want {
			t.Fatalf("%v: the answers are %v, %d runs to come", want, d.answers, waiting)
		}
		v := tuitest.Unwrapped(a.View())
		for d.above < d.beyond { // the rest of the text comes by a key that the last row names
			if !strings.Contains(a.View(), "more lines: pgdn") {
				t.Errorf("%v: no key for the rest of the text:\n%s", want, a.View())
			}
			a.Press("pgdown")
			v += tuitest.Unwrapped(a.View())
		}
		from := brief
		if h > 24 {
			from = entire
		}
		var missing []string
		for b := from; b == from || b <= brief && len(missing) > 0; b++ {
			missing = slices.DeleteFunc(paragraphs(d.told(&got, &rest, b)), func(s string) bool {
				return strings.Contains(v, tuitest.Unwrapped(s)) || h == 24 && d.beyond > 0 && inParts(v, s)
			})
		}
		if len(missing) > 0 {
			t.Errorf("%v: %q is not on the screen:\n%s", want, missing, a.View())
		}
		if d.page < leastSeen {
			t.Errorf("%v: %d rows of runs beside the answer:\n%s", want, d.page, a.View())
		}
		if h > 24 && strings.Contains(v, "more line") {
			t.Errorf("%v: the answer is cut:\n%s", want, a.View())
		}
		a.Press("home down down down")
		for range d.listed { // and each run has its reason, whole
			if v := a.View(); strings.Contains(v, "more line") || strings.Contains(v, "lines above") {
				t.Errorf("%v: a reason is cut:\n%s", want, v)
			}
			a.Press("down")
		}
		a.Press("home down down down")
		first := d.listed[0]
		if broken := len(first.Broken) > 0; broken == got.Enough {
			t.Errorf("%v: the first run is %v, though the lock is enough: %v", want, first, got.Enough)
		}
		_, out := d.Update(tuitest.KeyMsg("enter"))
		if wanted := (screen.PlayMsg{Strategy: d.Library.Strategy(got.Lock.Name), Scenario: d.Library.Named(first.Scenario)}); out.To != wanted {
			t.Errorf("%v: enter asks for %v, want %v", want, out.To, wanted)
		}
	}
}

// The claims about the lock can be read where the program is all that there is: with their conditions, with
// what tries them and with what breaks them.
func TestClaimsCanBeRead(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		a, d := open(t, size[0], size[1])
		a.Press("right down right")
		if v := a.View(); !strings.Contains(v, "e claims") && !strings.Contains(v, "pgdn text") || !slices.Equal(d.claims, []int{3}) {
			t.Fatalf("the claims are %v:\n%s", d.claims, v)
		}
		a.Press("e")
		text := tuitest.Unwrapped(a.View())
		for range 40 {
			a.Press("down")
			text += tuitest.Unwrapped(a.View())
		}
		c := &claims.All[2]
		for _, want := range []string{c.Text, c.Means(), "lockstep explore fenced --codes SW", c.Assumptions[5].Text, c.Assumptions[5].Breaches[0].Text} {
			if !strings.Contains(text, tuitest.Unwrapped(want)) {
				t.Errorf("%v: there is no %q in the claim:\n%s", size, want, text)
			}
		}
		if a.Press("esc"); !strings.Contains(a.View(), "Which lock should I use?") {
			t.Errorf("esc leads to\n%s", a.View())
		}
	}
}

// The list keeps its rows while the cursor goes through it, and says of each part where in it the reader is.
func TestListKeepsItsRows(t *testing.T) {
	a, d := open(t, 80, 24)
	a.Press("right down right")
	_ = a.View() // lists the runs
	a.Press("down down")
	if v := tuitest.Unwrapped(a.View()); !strings.Contains(v, "overlapping critical sections. The two overlapped, and the resource refused the stale write: your answers don't forbid that.") {
		t.Errorf("it isn't said why an OV is no failure here:\n%s", a.View())
	}
	rows := d.page
	if rows < fewest {
		t.Errorf("the list has %d rows:\n%s", rows, a.View())
	}
	for range len(d.listed) - 1 {
		v := a.View()
		all := d.first == 0 && slices.Contains(d.rows, 11) // the twelve that decide are in sight
		if d.page != rows || !all && !strings.Contains(v, " of 12 ") && !strings.Contains(v, " of 5 ") {
			t.Errorf("%d rows, before %d:\n%s", d.page, rows, v)
		}
		a.Press("down")
	}
}

// Where the window is high enough, going to the runs leaves the list as it is, but for its end, which makes room for what is
// told of the run at the cursor.
func TestListDoesNotJump(t *testing.T) {
	for _, size := range [][2]int{{120, 40}, {200, 60}} {
		a, d := open(t, size[0], size[1])
		a.Press("right down right")
		_ = a.View()
		was := slices.Clone(d.rows)
		a.Press("enter")
		if _ = a.View(); d.at != questions || len(d.rows) < leastListed || len(was) < leastListed || !slices.Equal(d.rows[:leastListed], was[:leastListed]) {
			t.Errorf("%v: at %d the rows are %v, before %v", size, d.at, d.rows, was)
		}
	}
}

// The runs that decide nothing have a heading of their own wherever one of them is in sight, so that their red isn't
// taken for a contradiction to the recommendation.
func TestUnaskedRunsAreHeaded(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		a, d := open(t, size[0], size[1])
		a.Press("right")
		_ = a.View() // lists the runs
		adv, _ := d.advice()
		if len(d.listed) == len(adv.Runs) {
			t.Fatal("there is no run that decides nothing")
		}
		a.Press("home")
		for range questions + len(d.listed) {
			v := a.View()
			if !strings.Contains(v, d.Theme.Pointer+" ") {
				t.Errorf("%v: the cursor is out of sight:\n%s", size, v)
			}
			for _, p := range d.parts(&adv)[1:] {
				inSight := slices.ContainsFunc(d.rows, func(run int) bool { return run >= p.first && run < p.past })
				if headed := strings.Contains(v, p.heading); inSight != headed {
					t.Errorf("%v: a run of %q is in sight: %t, its heading %t:\n%s", size, p.heading, inSight, headed, v)
				}
			}
			last := d.rows[len(d.rows)-1]
			announced := strings.Contains(v, "; no other fails") || strings.Contains(v, " others fail ") || strings.Contains(v, "; 1 other fails") || strings.Contains(v, fmt.Sprintf(" below (%s): %s", d.down(), d.below(last+1, &adv)))
			if last < len(adv.Runs) && !announced || last == len(d.listed)-1 && announced {
				t.Errorf("%v: run %d is the last in sight, others are announced: %t:\n%s", size, last, announced, v)
			}
			if d.first >= len(adv.Runs) && strings.Contains(v, "Your answers:") {
				t.Errorf("%v: the heading is that of the runs that decide:\n%s", size, v)
			}
			a.Press("down")
		}
	}
}

// Nothing is recommended before the runs that it takes are made.
func TestNothingIsSaidTooEarly(t *testing.T) {
	app := tuitest.HandmadeApp(screen.NewLibrary(), tuitest.PlainTheme(false))
	d := New(app)
	a := tuitest.Drive(t, screen.NewRouter(app, nil, d))
	a.Router.View()
	if got, waiting := d.advice(); waiting == 0 || got.Enough && len(got.Runs) > 0 {
		t.Errorf("%s is recommended before anything has run", got.Lock.Name)
	}
}

func picture(w, h int) string {
	l := arrange(w, h, 9, leastRuns)
	return tuitest.Parts(w, h, l.rules, map[string]draw.Rectangle{"h": l.header, "q": l.questions, "l": l.lock, "r": l.runs, "f": draw.Rect(0, h-1, w, 1)})
}

func TestLayout(t *testing.T) { tuitest.FitsEveryWindow(t, picture) }

// As long as runs are still to be made, the screen counts those, and not the failures among the others,
// whose number would grow; then it gives the settled number.
func TestFailuresElsewhereAreCountedOnceSettled(t *testing.T) {
	a, d := open(t, 120, 40)
	a.Press("right")
	_ = a.View() // lists the runs
	settled := len(d.listed)
	adv, _ := d.advice()
	at := d.Library.Named("server-clock-jump")
	cell := &d.Grid.Cells[at*len(d.Library.Strategies)+d.Library.Strategy(adv.Lock.Name)]
	was := *cell
	*cell = screen.Cell{}
	if v := tuitest.Unwrapped(a.View()); !strings.Contains(v, "; 1 to come") || !strings.Contains(v, "Still computing 1 run, which can't change the lock") || strings.Contains(v, "fails then") || len(d.listed) != len(adv.Runs) {
		t.Errorf("with one run still to be made, %d are listed:\n%s", len(d.listed), v)
	}
	*cell = was
	if v := a.View(); strings.Contains(v, "to come") || len(d.listed) != settled {
		t.Errorf("%d are listed, want %d:\n%s", len(d.listed), settled, v)
	}
}

// A question that nobody has answered has no answer: it says so, no lock is named before all are answered, and what the
// answers to the one at the cursor are like stands below.
func TestNoAnswerIsTakenForGranted(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}} {
		a, d := open(t, size[0], size[1])
		d.given = [questions]bool{}
		v := tuitest.Unwrapped(a.View())
		if strings.Contains(v, "(x)") || !strings.Contains(v, "3 questions to answer") || d.listed != nil || d.claims != nil {
			t.Errorf("%v: before any answer:\n%s", size, a.View())
		}
		for i, q := range advice.Questions {
			v := tuitest.Unwrapped(a.View())
			if strings.Count(v, tuitest.Unwrapped(q.Text)) != 1 || !strings.Contains(v, tuitest.Unwrapped(q.Hint)) {
				t.Errorf("%v: the open question %q isn't there once, with its hint:\n%s", size, q.Text, a.View())
			}
			for _, answer := range q.Answers {
				example := answer.Example
				if size[0] >= wideEnough { // answers are wrapped side by side
					example = example[:min(len(example), 35)]
				}
				if !strings.Contains(v, tuitest.Unwrapped(example)) {
					t.Errorf("%v: question %d: there is no %q:\n%s", size, i, answer.Example, a.View())
				}
			}
			a.Press("down")
		}
		a.Press("home left left enter 1")
		if v := a.View(); strings.Count(v, "(x)") != 2 || !strings.Contains(v, "1 question to answer") || strings.Contains(v, "Use setpx-lua") || !strings.Contains(v, "? Redis has") {
			t.Errorf("%v: with one question to go:\n%s", size, v)
		}
		if d.at != 2 {
			t.Errorf("%v: the number goes on to %d", size, d.at)
		}
		if v := a.View(); !strings.Contains(v, "1, 2 or 3, and a lock is named") {
			t.Errorf("%v: at the last open question:\n%s", size, v)
		}
		if size[1] == 24 {
			lines := strings.Split(a.View(), "\n")
			if bottom := lines[len(lines)-2]; !strings.HasPrefix(bottom, d.Theme.Rule) {
				t.Errorf("%v: rows are blank below the last rule:\n%s", size, a.View())
			}
			tuitest.Golden(t, "unanswered-80x24", a.View())
		}
		a.Press("left")
		a.View()
		was := d.answers
		if v := a.View(); !strings.Contains(v, "enter see runs") {
			t.Errorf("%v: the footer doesn't say what enter does:\n%s", size, v)
		}
		if a.Press("enter"); d.answers != was || d.at != questions || !strings.Contains(a.View(), "enter play the run") {
			t.Errorf("%v: enter after the last answer: %v, at %d\n%s", size, d.answers, d.at, a.View())
		}
		a.Press("esc")
		if v := a.View(); !strings.Contains(v, "Use setpx-lua") || strings.Contains(v, "? Redis") || d.answers != (advice.Answers{}) {
			t.Errorf("%v: with all answers:\n%s", size, v)
		}
	}
}

// An arrow answers the question at the cursor and no other: the next one, which may be meant to correct it, finds the
// cursor where it was. Enter goes on, from open question to open question and then to the runs; esc comes back the same way.
func TestArrowsAnswerOneQuestion(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}} {
		a, d := open(t, size[0], size[1])
		d.given, d.answers = [questions]bool{}, advice.Answers{}
		a.Press("right left")
		if d.at != 0 || d.given != [questions]bool{true} || d.answers[0] != 0 {
			t.Errorf("%v: two arrows answer %v, %v, at %d", size, d.given, d.answers, d.at)
		}
		if v := a.View(); !strings.Contains(v, "enter next open question") {
			t.Errorf("%v: the footer doesn't name enter:\n%s", size, v)
		}
		a.Press("up down down right") // the last one before the second
		if a.Press("enter"); d.at != 1 {
			t.Errorf("%v: enter goes to %d, and 1 is open", size, d.at)
		}
		a.Press("right")
		if v := a.View(); !strings.Contains(v, "enter see runs") || d.at != 1 {
			t.Errorf("%v: with all answers, at %d:\n%s", size, d.at, v)
		}
		a.Press("enter")
		was := d.answers
		if a.Press("2"); d.at != 1 || d.answers[1] != 1 { // it answers the question at which the cursor was last
			t.Errorf("%v: a number at the runs answers %v, at %d", size, d.answers, d.at)
		}
		d.answers = was
		_ = a.View() // lists the runs
		a.Press("enter right")
		if v := a.View(); d.answers != was || d.at != questions || !strings.Contains(v, "esc goes back to them") || !strings.Contains(v, "esc the questions") {
			t.Errorf("%v: an arrow at the runs, at %d:\n%s", size, d.at, v)
		}
		if _, out := d.Update(tuitest.KeyMsg("esc")); out != (screen.Outcome{}) || d.at != 1 || strings.Contains(a.View(), "goes back to them") {
			t.Errorf("%v: esc at the runs: %v, at %d\n%s", size, out, d.at, a.View())
		}
		if _, out := d.Update(tuitest.KeyMsg("esc")); !out.Close {
			t.Errorf("%v: esc at the questions: %v", size, out)
		}
	}
}

// Enter alone answers nothing, however often it is pressed: it says which keys do. A number gives its answer, and one that
// there is no answer to says so.
func TestEnterTakesNoAnswer(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}} {
		a, d := open(t, size[0], size[1])
		d.given, d.answers = [questions]bool{}, advice.Answers{}
		for range 5 {
			a.Press("enter")
		}
		if v := a.View(); d.given != [questions]bool{} || d.at != 0 || strings.Contains(v, "(x)") || !strings.Contains(v, "nothing is chosen yet: ←→ 1-2 answer") || !strings.Contains(v, " ←→ 1-2 answer  ↑↓") {
			t.Errorf("%v: enter alone answers %v, at %d:\n%s", size, d.given, d.at, v)
		}
		if a.Press("3"); d.given[0] || !strings.Contains(a.View(), "no answer 3: press 1 or 2") {
			t.Errorf("%v: 3 answers %v:\n%s", size, d.given, a.View())
		}
		for i := range questions {
			if a.Press("2"); !d.given[i] || d.answers[i] != 1 || d.at != []int{1, 2, 2}[i] {
				t.Errorf("%v: 2 at question %d: %v, at %d", size, i, d.answers, d.at)
			}
		}
		_ = a.View() // lists the runs after the last answer
		a.Press("enter enter")
		if v := a.View(); !strings.Contains(v, "No lock alone is enough") || !strings.Contains(v, "enter play the run") {
			t.Errorf("%v: with all answers:\n%s", size, v)
		}
	}
}

// Numbers in a row answer the questions in a row, and after the last the cursor stays; one that changes an answer says so.
func TestNumbersAnswerInARow(t *testing.T) {
	a, d := open(t, 80, 24)
	d.given, d.answers = [questions]bool{}, advice.Answers{}
	if a.Press("2 2 1"); d.given != [questions]bool{true, true, true} || d.answers != (advice.Answers{1, 1, 0}) {
		t.Errorf("2 2 1 answer %v: %v", d.given, d.answers)
	}
	if v := a.View(); strings.Contains(v, "changed") {
		t.Errorf("a first answer is called a change:\n%s", v)
	}
	if d.at != 2 || d.above != 0 {
		t.Errorf("after the last answer the cursor is at %d", d.at)
	}
	if a.Press("2 3"); d.answers != (advice.Answers{1, 1, 2}) || d.at != 2 { // the same question's
		t.Errorf("numbers after the last answer give %v, and the cursor is at %d", d.answers, d.at)
	}
	if a.Press("home 2 down 2 down 1"); d.answers != (advice.Answers{1, 1, 0}) || d.at != 2 {
		t.Errorf("with arrows between, numbers answer %v, and the cursor is at %d", d.answers, d.at)
	}
	if a.Press("home 1 2 2"); d.answers != (advice.Answers{0, 1, 1}) || d.at != 2 { // all have answers: each number is for the next
		t.Errorf("the second time, numbers in a row answer %v, and the cursor is at %d", d.answers, d.at)
	}
	if a.Press("home 2 2 1"); d.answers != (advice.Answers{1, 1, 0}) || d.at != 2 {
		t.Errorf("the third time, numbers in a row answer %v, and the cursor is at %d", d.answers, d.at)
	}
	if a.Press("up up up"); d.at != questions-1 {
		t.Errorf("above the first question is the last: the cursor is at %d", d.at)
	}
	d.at = 1
	if a.Press("3"); d.at != 1 || d.answers != (advice.Answers{1, 1, 0}) {
		t.Errorf("a number without an answer leads to %d", d.at)
	}
	d.given, d.answers, d.at = [questions]bool{}, advice.Answers{}, 0
	if a.Press("2 down"); d.at != 1 || !strings.Contains(a.View(), "at the next question already: ↓ again skips it") { // the number has gone on
		t.Errorf("an arrow after a number skips a question: at %d\n%s", d.at, a.View())
	}
	if a.Press("down"); d.at != 2 || strings.Contains(a.View(), "skips it") {
		t.Errorf("a second arrow leads to %d\n%s", d.at, a.View())
	}
	d.given, d.at = [questions]bool{true, true, true}, 2
	if a.Press("2"); !strings.Contains(a.View(), "replicas: same advice as before; a failover is now a reason, too") {
		t.Errorf("an answer is changed unnoticed:\n%s", a.View())
	}
}

// While the reader is at the questions, pages are those of the text: the cursor stays there, and the list of runs below, to which the page
// after the last one leads. What to do comes first, and what the chosen answer is like last.
func TestPagesAreOfTheText(t *testing.T) {
	a, d := open(t, 80, 24)
	a.Press("2 down 2 down 2")
	v := a.View()
	if !strings.HasPrefix(strings.Split(v, "\n")[d.plan.lock.Y], " No lock alone is enough") || d.beyond == 0 {
		t.Fatalf("the headline doesn't come first, or all has room:\n%s", v)
	}
	rows := slices.Clone(d.rows)
	for d.at < questions {
		a.Press("pgdown")
		v = a.View()
	}
	if d.at != questions || strings.Contains(v, "more lines") {
		t.Errorf("after the end of the text, at %d:\n%s", d.at, v)
	}
	a.Press("esc")
	_ = a.View() // has the text again
	for d.above < d.beyond {
		a.Press("pgdown")
		v = a.View()
	}
	explained := "Redis has replicas: " + advice.Questions[2].Answers[1].Example
	if a.Press("up down"); strings.Contains(v, "Redis has replicas: ") {
		t.Errorf("what is answered is explained unasked:\n%s", v)
	}
	for d.above < d.beyond { // once more, for one who has come back to the question
		a.Press("pgdown")
		v = a.View()
	}
	if d.at != 2 || !slices.Equal(d.rows, rows) || strings.Contains(v, "more lines") || !strings.Contains(tuitest.Unwrapped(v), tuitest.Unwrapped("does not hold here")) || !strings.Contains(tuitest.Unwrapped(v), tuitest.Unwrapped(explained)) {
		t.Errorf("at the end of the text, at %d:\n%s", d.at, v)
	}
	if !strings.Contains(v, "lines above: pgup") {
		t.Errorf("no key for the text above:\n%s", v)
	}
	if a.Press("pgup pgup pgup pgup"); d.at != 2 || !strings.Contains(a.View(), "No lock alone is enough") {
		t.Errorf("back at its beginning, at %d:\n%s", d.at, a.View())
	}
	a.Press("pgdown left")
	if v := a.View(); d.above != 0 || !strings.Contains(v, "Use fenced, but only if its token is checked") {
		t.Errorf("another answer begins with line %d:\n%s", d.above, v)
	}
	a.Press("enter")
	if v := a.View(); !strings.Contains(v, "at the runs: enter plays the one at ▸, esc goes back to the questions") {
		t.Errorf("it isn't said where the reader is:\n%s", v)
	}
	if a.Press("pgdown"); d.at <= questions {
		t.Errorf("a page of the runs leads to %d", d.at)
	}
	if a.Press("pgup pgup"); d.at != questions {
		t.Errorf("a page back leads to %d", d.at)
	}
}

// All that must be known is in the first window of the least size, below the questions: the last line of it isn't covered by the one that
// says by which key the rest comes.
func TestWhatMustBeKnownIsInTheFirstWindow(t *testing.T) {
	lib := screen.NewLibrary() // with all scenarios: those that no question is about are conditions
	lib.Strategies = slices.DeleteFunc(slices.Clone(lib.Strategies), func(s strategies.Strategy) bool {
		return !slices.Contains([]string{"setpx-lua", "fenced", "redlock"}, s.Name)
	})
	a, d := openLibrary(t, 80, 24, lib)
	for _, answers := range advice.All() {
		d.answers, d.given, d.at, d.above = answers, [questions]bool{true, true, true}, questions-1, 0
		v := tuitest.Unwrapped(a.View())
		adv, _ := d.advice()
		rest := adv.Rest(d.names(), d.outcome)
		for _, s := range d.told(&adv, &rest, brief)[0].Paragraphs {
			if !strings.Contains(v, tuitest.Unwrapped(s)) {
				t.Errorf("%v: %q isn't in the first window:\n%s", answers, s, a.View())
			}
		}
		if rows := strings.Split(a.View(), "\n"); strings.HasPrefix(rows[d.plan.lock.Y+d.plan.lock.H-2], " Another way") || strings.HasPrefix(rows[d.plan.lock.Y+d.plan.lock.H-2], " More on this") {
			t.Errorf("%v: a heading stands alone:\n%s", answers, a.View())
		}
		if !strings.Contains(v, "more lines: pgdn") {
			t.Errorf("%v: there is no sign that there is more:\n%s", answers, a.View())
		}
		for d.at < questions+len(d.listed)-1 { // and what is told of each run is whole: no key scrolls it
			if a.Press("down"); strings.Contains(a.View(), "more line") && d.at >= questions {
				t.Errorf("%v: a reason is cut:\n%s", answers, a.View())
			}
		}
	}
}

// Where there is no claim, the key for it says why.
func TestClaimsThatAreMissing(t *testing.T) {
	lib := screen.NewLibrary()
	lib.Strategies = slices.DeleteFunc(slices.Clone(lib.Strategies), func(s strategies.Strategy) bool { return s.Name != "setpx-wait" })
	lib.Scenarios = slices.DeleteFunc(slices.Clone(lib.Scenarios), func(s *scenarios.Scenario) bool {
		return !slices.Contains(advice.Answers{1, 0, 1}.Scenarios(), s.Name)
	})
	a, d := openLibrary(t, 80, 24, lib)
	a.Press("2 down 1 down 2")
	if v := a.View(); strings.Contains(v, "e claims") || d.claims != nil {
		t.Fatalf("there are claims:\n%s", v)
	}
	if a.Press("e"); !strings.Contains(a.View(), "there is no claim about setpx-wait") {
		t.Errorf("e says nothing:\n%s", a.View())
	}
	a.Press("u e")
	if v := a.View(); !strings.Contains(v, "claims come with a lock: once the questions are answered") {
		t.Errorf("before the answers e says nothing:\n%s", v)
	}
}

// Answers are kept for those who come back, who are told of the key that clears them.
func TestAnswersAreCleared(t *testing.T) {
	a, d := open(t, 120, 40)
	if v := a.View(); !strings.Contains(v, "u clear") {
		t.Errorf("the key isn't shown:\n%s", v)
	}
	if _, out := d.Update(tuitest.KeyMsg("esc")); !out.Close {
		t.Fatalf("esc: %v", out)
	}
	if v := a.View(); !strings.Contains(v, "your answers of before are kept: u clears them") || d.toAsk() != 0 {
		t.Errorf("coming back, %d questions are open:\n%s", d.toAsk(), v)
	}
	if a.Press("u"); d.toAsk() != questions || d.at != 0 || !strings.Contains(a.View(), "3 questions to answer") || strings.Contains(a.View(), "u clear") {
		t.Errorf("after u, %d questions are open, at %d:\n%s", d.toAsk(), d.at, a.View())
	}
}

// A click on an answer gives it; one on the question or beyond the answers only goes there.
func TestClicksOnAnswersGiveThem(t *testing.T) {
	a, d := open(t, 120, 40)
	d.given, d.answers = [questions]bool{}, advice.Answers{}
	lines := strings.Split(a.View(), "\n")
	for i, q := range advice.Questions {
		row := d.plan.questions.Y + i
		for j, answer := range q.Answers {
			was := d.given[i]
			if a.Click(5, row); d.given[i] != was || d.at != i {
				t.Errorf("a click on question %d: %v, at %d", i, d.given, d.at)
			}
			before, _, _ := strings.Cut(lines[row], answer.Text)
			if a.Click(draw.Width(before)+1, row); !d.given[i] || d.answers[i] != j {
				t.Errorf("a click on %q: %v %v", answer.Text, d.given, d.answers)
			}
		}
		was := d.answers
		if a.Click(118, row); d.answers != was {
			t.Errorf("a click beyond the answers to question %d: %v", i, d.answers)
		}
	}
}

// No row is blank below a list that has more to show, and while the reader is at the questions no reason is cut beside one.
func TestNoRowIsBlankBelowTheList(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		a, d := open(t, size[0], size[1])
		presses := append(strings.Fields("home right down right down right enter"), slices.Repeat([]string{"down"}, 12)...)
		for _, press := range presses { // at the questions, and then at each run
			a.Press(press)
			v := a.View()
			lines := strings.Split(v, "\n")
			blank, cut := 0, false
			fits := map[int]int{80: 1, 120: 2, 200: 2}[size[0]] // rows that the next run, with its reason or its heading, has no room in
			for _, l := range lines[d.plan.runs.Y : d.plan.runs.Y+d.plan.runs.H] {
				cut = cut || strings.Contains(l, d.Theme.More)
				if strings.TrimSpace(l) == "" {
					blank++
				}
			}
			if shown := len(d.rows) > 0 && d.rows[len(d.rows)-1] == len(d.listed)-1; !shown && blank > fits || cut && blank > 1 && d.at < questions {
				t.Errorf("%v: %d blank rows, the last run is shown: %t, a reason is cut: %t:\n%s", size, blank, shown, cut, v)
			}
		}
	}
}

// A list that goes on below its last row says by how many runs, and where the window leaves no room for the whole recommendation it is
// never a name without conditions.
func TestWhatHasNoRoomIsAnnounced(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 26}, {200, 60}} {
		marked, cut := 0, 0
		for _, answers := range []string{"2 1 1", "1 2 2", "2 1 3"}[:testenv.Quick(2, 3)] {
			a, d := open(t, size[0], size[1])
			a.Press("home " + answers)
			_ = a.View() // lists the runs
			a.Press("enter")
			for range d.listed {
				v := a.View()
				if below := len(d.listed) - 1 - d.rows[len(d.rows)-1]; below > 0 {
					marked++
					adv, _ := d.advice()
					asked, failed := max(len(adv.Runs)-1-d.rows[len(d.rows)-1], 0), 0
					for _, r := range d.listed[len(d.listed)-below+asked:] {
						failed += min(len(r.Broken), 1)
					}
					counted, said := countedBelow(v)
					if counted != [3]int{asked, below - asked, failed} || !said {
						t.Errorf("%v: %d runs below the list aren't announced:\n%s", size, below, v)
					}
				} else if strings.Contains(v, "\n   … ") {
					t.Errorf("%v: nothing is below the list:\n%s", size, v)
				}
				cut += strings.Count(v, "to the rest of this.")
				if !strings.Contains(v, "protect") && !strings.Contains(v, "It only saves work: ") {
					t.Errorf("%v: there is a name without conditions:\n%s", size, v)
				}
				a.Press("down")
			}
		}
		if low := size[1] < 40; (marked == 0 || cut == 0) == low {
			t.Errorf("%v: %d lists are cut, and %d recommendations", size, marked, cut)
		}
	}
}

// countedBelow are the numbers in the row below a list: of runs of the answers, of others, and of those of the others that fail.
func countedBelow(v string) (counted [3]int, said bool) {
	m := regexp.MustCompile(`\n   … below \((?:enter )?↓\): (?:(\d+) more runs? of your answers)?(?:; )?(?:(\d+)(?: (?:more )?failing runs?| more)?(?: of \d+ others)?(?:, (?:(\d+) fail|(only) work lost))?)?\n`).FindStringSubmatch(v)
	if m == nil {
		return counted, false
	}
	if m[2] != "" && m[3] == "" && m[4] == "" { // all of them fail
		m[3] = m[2]
	}
	for i := range counted {
		counted[i], _ = strconv.Atoi(m[i+1])
	}
	return counted, true
}

// Before the questions are answered, each answer to the one at the cursor says to which locks it leads, as the recommendations
// do, with what it asks of a lock and a table of the other answers where there is room. In a wide window that of all questions
// stands beside the answers, also once all are given.
func TestAnswersSayWhereTheyLead(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		a, d := open(t, size[0], size[1])
		for _, given := range [][questions]bool{{}, {true}, {true, true}, {true, true, true}} {
			d.given, d.answers = given, advice.Answers{1}
			for d.at = range questions {
				v := a.View()
				for q := range questions {
					for i := range advice.Questions[q].Answers {
						leads := d.leads(q, i)
						if beside := strings.Contains(v, advice.Questions[q].Answers[i].Text+" ("+leads.short()+")"); !leads.known() || beside != (size[0] >= wideEnough) {
							t.Errorf("%v, %v: answer %d to question %d leads to %q, which is beside it: %t\n%s", size, given, i, q, leads.short(), beside, v)
						}
						sentence := leads.sentence(len(d.possible(q, i)) > 1)
						table := !leads.settled() && strings.Contains(v, undecided+":")
						if told := strings.Contains(tuitest.Unwrapped(v), tuitest.Unwrapped(sentence)) || table; q == d.at && d.toAsk() > 0 && !told {
							t.Errorf("%v, %v: of answer %d to question %d it isn't told: %s\n%s", size, given, i, q, sentence, v)
						}
					}
				}
			}
		}
	}
	a, d := open(t, 120, 40)
	d.given, d.answers, d.at = [questions]bool{true}, advice.Answers{1}, 1
	v := tuitest.Unwrapped(a.View())
	for _, want := range []string{"one server        fenced", "separate servers  fenced", "No lock alone is enough then, whatever else you answer.", "The other answers decide:"} {
		if !strings.Contains(v, tuitest.Unwrapped(want)) {
			t.Errorf("there is no %q:\n%s", want, a.View())
		}
	}
	if d.answers != (advice.Answers{1}) {
		t.Errorf("the answers have become %v", d.answers)
	}
}

// What answers lead to isn't said before the runs are made that it takes.
func TestNoAnswerLeadsAnywhereTooEarly(t *testing.T) {
	app := tuitest.HandmadeApp(screen.NewLibrary(), tuitest.PlainTheme(false))
	d := New(app)
	a := tuitest.Drive(t, screen.NewRouter(app, nil, d))
	a.Send(tea.WindowSizeMsg{Width: 200, Height: 60})
	if v := a.View(); strings.Contains(v, "The lock is") || strings.Contains(v, undecided) || strings.Contains(v, nothing) || !strings.Contains(v, advice.Questions[0].Answers[1].Example[:35]) {
		t.Errorf("before anything has run:\n%s", v)
	}
}

// Before the runs are made that a lock takes, the screen says that it computes, no key is offered that leads to runs, and enter says why.
func TestEnterSaysThatRunsAreToCome(t *testing.T) {
	app := tuitest.HandmadeApp(screen.NewLibrary(), tuitest.PlainTheme(false))
	d := New(app)
	d.given = [questions]bool{true, true, true}
	c := draw.NewCanvas(80, 24, app.Theme.More)
	d.Draw(c, draw.Rect(0, 0, 80, 23))
	if v := c.Render(app.Theme); !strings.Contains(v, "Still computing: ") {
		t.Errorf("while runs are made:\n%s", v)
	}
	for _, k := range d.FooterKeys() {
		if k.Help().Desc == "the runs" {
			t.Error("enter is offered before there are runs")
		}
	}
	if d.Update(tuitest.KeyMsg("enter")); d.at >= questions || !strings.Contains(d.said, "still computing the runs") {
		t.Errorf("after enter: at %d, %q", d.at, d.said)
	}
}

// Every breach of a claim that names a run can be played, with enter, and comes into sight by the arrow alone.
func TestBreachesCanBePlayed(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {200, 60}}[:testenv.Quick(1, 2)] {
		lib := screen.NewLibrary()
		p := &pages{App: tuitest.HandmadeApp(lib, tuitest.PlainTheme(false)), numbers: []int{1, 3, 4}, at: none}
		a := tuitest.Drive(t, screen.NewRouter(p.App, nil, p)) // not started: no run is needed
		a.Send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		want := 0
		for _, n := range p.numbers {
			for _, as := range claims.All[n-1].Assumptions {
				for _, b := range as.Breaches {
					if b.Scenario != "" {
						want++
					}
				}
			}
		}
		played := map[screen.OpenMsg]bool{}
		for range 200 {
			v := a.View()
			if p.at != none {
				b := p.breaches[p.at]
				if !strings.Contains(v, p.Theme.Pointer+" "+b.Text) || !strings.Contains(v, "enter play from the violation") {
					t.Fatalf("%v: %q is at the cursor, and not on the screen:\n%s", size, b.Text, v)
				}
				_, out := p.Update(tuitest.KeyMsg("enter"))
				if msg := out.To.(screen.PlayMsg); lib.Strategies[msg.Strategy].Name != b.Lock || lib.Scenarios[msg.Scenario].Name != b.Scenario {
					t.Errorf("%v: enter on %v asks for %v", size, b, msg)
				}
				played[out.To] = true
			}
			a.Press("down")
		}
		if len(played) != want {
			t.Errorf("%v: %d runs can be played, of %d:\n%s", size, len(played), want, a.View())
		}
		for range 200 {
			a.Press("up")
		}
		if v := a.View(); !strings.Contains(v, "Claim 1: ") {
			t.Errorf("%v: going up doesn't lead to the beginning:\n%s", size, v)
		}
	}
}

// No title and no reason in the list is cut, and in a wide window all runs have reasons.
func TestNothingInTheListIsCut(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		a, d := open(t, size[0], size[1])
		a.Press("right down right enter")
		lines := strings.Split(a.View(), "\n")
		for i, run := range d.rows {
			if run == noRun || i > 0 && d.rows[i-1] == run {
				continue
			}
			row, r := lines[d.plan.runs.Y+i], &d.listed[run]
			sc := d.Library.Scenarios[d.Library.Named(r.Scenario)]
			reason, _, _ := strings.Cut(sc.Because(r.Strategy), " ")
			if !strings.Contains(row, sc.Title+"  ") || strings.Contains(row, d.Theme.More) || size[0] >= wideEnough && !strings.Contains(row, "  "+reason) {
				t.Errorf("%v: of %s there is %q", size, r.Scenario, row)
			}
		}
	}
}

// A reason that is said of another lock says so behind it, and why it holds for this one.
func TestReasonNamesItsLockLast(t *testing.T) {
	a, d := open(t, 120, 40)
	a.Press("right down right")
	_ = a.View()
	i := slices.IndexFunc(d.listed, func(r advice.Run) bool { return r.Scenario == "crash-holding" })
	for range 2 + i {
		a.Press("down")
	}
	if v := tuitest.Unwrapped(a.View()); strings.Contains(v, "As setpx-lua") || !strings.Contains(v, "(So it is with setpx-lua, which fenced is like: the same lock; the resource checks its tokens.)") {
		t.Errorf("the reason of crash-holding:\n%s", a.View())
	}
}

// In the least window there is room below the list for all that is told of any run of a lock that is recommended: no key
// scrolls there.
func TestEveryReasonHasRoom(t *testing.T) {
	d := New(tuitest.HandmadeApp(screen.NewLibrary(), tuitest.PlainTheme(false)))
	l := arrange(80, 24, 10, leastListed+leastDetail)
	for _, lock := range []string{"setpx-lua", "fenced", "redlock"} { // as TestRecommendations of package advice has them
		a := advice.Advice{Lock: d.Library.Strategies[d.Library.Strategy(lock)]}
		for _, sc := range d.Library.Scenarios {
			v, _ := sc.Expect(lock)
			d.listed = []advice.Run{{Scenario: sc.Name, Strategy: lock, Verdict: v, Broken: v}}
			d.at, d.rows = questions, nil
			c := draw.NewCanvas(80, 24, d.Theme.More)
			d.drawDetail(c, l.runs, &a)
			if v := c.Render(d.Theme); strings.Contains(v, "more line") {
				t.Errorf("what is told of %s under %s is cut:\n%s", lock, sc.Name, v)
			}
		}
	}
}

// However many runs are listed, no reason is cut; each has its own where the window is wide, and elsewhere as many as the rows have room
// for. A sentence that several reasons have is left out.
func TestListHasItsReasons(t *testing.T) {
	d := New(tuitest.HandmadeApp(screen.NewLibrary(), tuitest.PlainTheme(false)))
	for _, lock := range []string{"setpx-lua", "fenced", "redlock"} {
		a := advice.Advice{Lock: d.Library.Strategies[d.Library.Strategy(lock)]}
		for _, runs := range []int{15, 30} {
			d.listed = nil
			for _, sc := range d.Library.Scenarios[len(d.Library.Scenarios)-runs:] {
				v, _ := sc.Expect(lock)
				d.listed = append(d.listed, advice.Run{Scenario: sc.Name, Strategy: lock, Verdict: v})
			}
			for _, size := range [][2]int{{120, 22}, {200, 40}} {
				total, wholes, cut, repeated := 0, 0, false, 0
				for i, rows := range d.entries(draw.Rect(0, 0, size[0], size[1]), &a, 1) {
					sc := d.Library.Scenarios[d.Library.Named(d.listed[i].Scenario)]
					text := ""
					for _, row := range rows {
						for _, span := range row[1:] {
							text += span.Text
						}
					}
					if begin := sc.Because(lock)[:20]; size[0] >= wideEnough && !strings.Contains(text, begin) {
						t.Errorf("%v: %s under %s: no %q in %q", size, lock, sc.Name, begin, text)
					}
					if strings.Contains(text, "leaves it alone") {
						repeated++
					}
					if total += len(rows); len(rows) > 1 {
						wholes++
					}
					cut = cut || strings.Contains(text, d.Theme.More)
				}
				if wide := size[0] >= wideEnough; cut || repeated > 2 || !wide && total > max(size[1], runs) || wholes == 0 && runs+8 < size[1] {
					t.Errorf("%v: %d runs of %s take %d rows, and %d more than one; one is cut: %t; %d reasons end alike", size, runs, lock, total, wholes, cut, repeated)
				}
			}
		}
	}
}

// A title that is longer than its column is folded, or cut where rows are few: all reasons begin in the same column of the list.
func TestReasonsBeginInOneColumn(t *testing.T) {
	d := New(tuitest.HandmadeApp(screen.NewLibrary(), tuitest.PlainTheme(false)))
	a := advice.Advice{Lock: d.Library.Strategies[d.Library.Strategy("fenced")]}
	for _, sc := range d.Library.Scenarios {
		v, _ := sc.Expect("fenced")
		d.listed = append(d.listed, advice.Run{Scenario: sc.Name, Strategy: "fenced", Verdict: v})
	}
	for _, height := range []int{22, 300} { // with a row of each reason, and with all of them
		column := map[int]bool{}
		for i, rows := range d.entries(draw.Rect(0, 0, 120, height), &a, 1) {
			title := ""
			for _, row := range rows {
				for n, span := range row {
					if span.Ink == draw.Strong {
						title = strings.TrimSpace(title + " " + strings.TrimSpace(span.Text))
					}
					if n == len(row)-1 && n >= 2 && span.Ink == draw.Plain {
						column[row[:n].Width()] = true
					}
				}
			}
			if want := d.Library.Scenarios[i].Title; title != want && height == 300 {
				t.Errorf("of %q there is %q", want, title)
			}
		}
		if len(column) != 1 {
			t.Errorf("in %d rows reasons begin in the columns %v", height, column)
		}
	}
}

// The least window has room for what the signs of the runs mean: where a key makes the lock enough, what they mean without it.
func TestSignsAreExplained(t *testing.T) {
	for keys, whose := range map[string]string{"home 1 down 1 down 1": "by your answers: ✓ ok  ~ tolerable  ✗ forbidden", "home 2 down 1 down 1": "✓ ok  ~ tolerable  ✗ the lock alone fails"} {
		a, _ := open(t, 80, 24)
		a.Press(keys)
		if v := a.View(); !strings.Contains(v, whose) || strings.Contains(v, "Your answers: nothing forbidden in ") != strings.HasPrefix(keys, "home 1") {
			t.Errorf("%s: the signs aren't explained:\n%s", keys, v)
		}
	}
}

// Where the answers make a failure harmless, the words on it have the sign that it has in the list of all runs, which knows no answers.
func TestOtherSignIsSaid(t *testing.T) {
	a, _ := open(t, 80, 24)
	a.Press("home 2 down 2 down 1")
	_ = a.View() // lists the runs
	const elsewhere = "In the list of all runs it is ✗OV, whatever your answers."
	a.Press("enter")
	if v := a.View(); !strings.Contains(v, "▸ ~OV   A pause outlives the lease") || !strings.Contains(tuitest.Unwrapped(v), tuitest.Unwrapped(elsewhere)) {
		t.Errorf("of ~OV:\n%s", v)
	}
	a.Press("down down")
	if v := a.View(); strings.Contains(tuitest.Unwrapped(v), tuitest.Unwrapped("In the list of all runs")) {
		t.Errorf("of ok:\n%s", v)
	}
}

// Each heading of the list leaves room in the least window for which of its runs are in sight.
func TestHeadingsHaveTheirPlace(t *testing.T) {
	d := New(tuitest.HandmadeApp(screen.NewLibrary(), tuitest.PlainTheme(false)))
	others, longest := slices.Repeat([]advice.Run{{Broken: trace.Verdict{trace.SW}}}, 20), ""
	for class := advice.Overrun; class <= advice.Unclassed; class++ {
		for to := advice.Decisive; to <= advice.Refused; to++ {
			if text := (advice.Kind{Class: class, To: to}).Text(); len(text) > len(longest) {
				longest = text
			}
		}
	}
	for _, lock := range []string{"setpx-lua", "fenced", "redlock"} {
		for _, enough := range []bool{true, false} {
			a := advice.Advice{Lock: d.Library.Strategies[d.Library.Strategy(lock)], Runs: make([]advice.Run, 11), Enough: enough}
			for text, what := range map[string]string{" " + heading(&a, 0, others) + " ": "", " " + heading(&a, 20, nil) + " ": "", " " + longest + " ": " others", longest: " others"} {
				c := draw.NewCanvas(80, 1, d.Theme.More)
				d.drawHeading(c, draw.Rect(0, 0, 80, 1), text, inSight{10, 18, 20, what})
				if v := c.Render(d.Theme); !strings.Contains(v, text) || !strings.Contains(v, " 11-18 of 20"+what+" ") {
					t.Errorf("no place beside %q", text)
				}
			}
		}
	}
}

// Whatever the answers, the numbers of the headings are those of the list and of the text: of the runs that decide, and of all that no
// question is about, in which part of the list the reader may be.
func TestNumbersAgree(t *testing.T) {
	place := regexp.MustCompile(` (?:(\d+)-)?(\d+) of (\d+) (others )? *\n`)
	a, d := open(t, 80, 24)
	parts := 0
	for _, answers := range advice.All() {
		d.answers, d.given, d.at, d.first = answers, [questions]bool{true, true, true}, 0, 0
		_ = a.View() // lists the runs
		adv, _ := d.advice()
		rest := adv.Rest(d.names(), d.outcome)
		sections := d.told(&adv, &rest, entire)
		at := slices.IndexFunc(sections, func(s advice.Section) bool { return s.Heading == "The runs behind it" })
		counted := sections[at].Paragraphs[0]
		failed, own := 0, 0
		for i := range rest.Shown {
			failed += min(len(rest.Shown[i].Broken), 1)
		}
		for i := range adv.Runs {
			own += min(len(adv.Runs[i].Broken), 1)
		}
		all, others := len(adv.Runs), len(d.listed)-len(adv.Runs)
		want := draw.Either(adv.Enough, fmt.Sprintf("It fails in %s: rule", draw.Plural(failed, "other")), fmt.Sprintf("fails in %d of the %d scenarios that apply (of %d): in %d of the %d that your answers call for, ", own+failed, all+rest.Made, len(d.Library.Scenarios), own, all))
		if failed > 0 && !strings.Contains(counted, want) || others != len(rest.Shown) {
			t.Errorf("%v: %d others are listed, and %d fail: %s", answers, others, failed, counted)
		}
		for range d.listed {
			a.Press("down")
			v := a.View()
			for _, m := range place.FindAllStringSubmatch(v, -1) {
				past, of := must(m[2]), must(m[3])
				first := must(draw.Either(m[1] == "", m[2], m[1])) - 1
				before, want := 0, all
				if m[4] != "" {
					parts++
					before, want = all, others
				}
				if of != want || !slices.Contains(d.rows, before+first) || !slices.Contains(d.rows, before+past-1) {
					t.Errorf("%v: the heading has%q, of %d runs and %d others:\n%s", answers, m[0], all, others, v)
				}
			}
			if strings.Contains(v, "Your answers: ") && !strings.Contains(v, fmt.Sprintf(" nothing forbidden in %d runs", all)) && !strings.Contains(v, fmt.Sprintf(" alone fails in %d of %d", own, all)) {
				t.Errorf("%v: the heading isn't about %d runs:\n%s", answers, all, v)
			}
		}
	}
	if parts == 0 {
		t.Error("no heading says which of the others are in sight")
	}
}

func must(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		panic(err)
	}
	return n
}

// The answers to every question have room in their row at any width, none over another, and begin in the same column where they can.
func TestAnswersHaveRoom(t *testing.T) {
	for width := 80; width <= 220; width++ {
		columns := answerColumns(width)
		for q, question := range advice.Questions {
			end := 5 + draw.Width(question.Text)
			for i, a := range question.Answers {
				if at := columns[q][i]; at <= end || at != columns[0][0] && i == 0 && (len(question.Answers) < 3 || width >= 90) {
					t.Errorf("%d columns: answer %d to question %d begins at %d, after %d", width, i, q, at, end)
				}
				end = columns[q][i] + 6 + draw.Width(a.Text)
			}
			if end > width {
				t.Errorf("%d columns: the answers to question %d end at %d", width, q, end)
			}
		}
	}
}

// What a fencing token is stands on the screen as long as the question about it is open, wherever the cursor is.
func TestOpenQuestionsHaveTheirTerms(t *testing.T) {
	a, d := open(t, 80, 24)
	a.Press("u")
	for d.at = range questions {
		if v := tuitest.Unwrapped(a.View()); !strings.Contains(v, tuitest.Unwrapped("number that grows with each grant, to refuse late writes.")) {
			t.Errorf("at question %d it isn't said what a token is:\n%s", d.at, a.View())
		}
	}
	d.given[1], d.at = true, 0
	if v := a.View(); strings.Contains(v, "number that grows") {
		t.Errorf("it is said again once that is answered:\n%s", v)
	}
}

// The help explains the words of the recommendation that stand on the screen, its lock among them, and none as a row of a diagram,
// which this screen doesn't have.
func TestHelpHasTheWordsOfTheAdvice(t *testing.T) {
	a, _ := open(t, 120, 40)
	a.Press("home 2 down 1 down 2 ?")
	text := ""
	for range 60 {
		text += tuitest.Unwrapped(a.View()) + " "
		a.Press("down")
	}
	for _, want := range []string{"idempotency key a name that", "setpx-lua a lock: ", "failover a replica becomes", "claim a sentence on"} {
		if !strings.Contains(text, want) {
			t.Errorf("the help doesn't explain %q", want)
		}
	}
	if strings.Contains(text, "in the diagram") || strings.Contains(text, "redlock a lock") {
		t.Errorf("the help explains what isn't on the screen:\n%s", text)
	}
}
