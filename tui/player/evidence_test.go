package player

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/charmbracelet/bubbles/key"

	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

var moreEvidence = regexp.MustCompile(`\(e: (\d+)(?: more)? events?`)

// Each number on the axis is that of an event which is listed, or of the event at the cursor, or is counted among those
// that have no row. No number stands there of which the words tell nothing.
func numbersAreTold(t *testing.T, step, v string, p *Player) {
	_, ruler, _ := strings.Cut(v, "virtual t")
	ruler = strings.Split(ruler, "\n")[1]
	more := 0
	if m := moreEvidence.FindStringSubmatch(v); m != nil {
		more, _ = strconv.Atoi(m[1])
	}
	missing := []int(nil)
	for i, seq := range p.lit() {
		n := fmt.Sprint(i + 1)
		if !strings.Contains(strings.ReplaceAll(gapLength.ReplaceAllString(ruler, ""), "\n", ""), n) || len(p.lit()) > 9 {
			continue
		}
		if p.Run.After(seq) != p.Pos && !strings.Contains(v, "\n   ["+n+"] "+trace.Brief(p.Run.Event(p.Run.After(seq)).At)) && !strings.Contains(v, fmt.Sprintf("\n   [%s] ", n)) {
			missing = append(missing, i+1)
		}
	}
	if len(missing) > more {
		t.Errorf("%s at %dx%d, event %d: %v of the axis are nowhere, and %d are said to be missing:\n%s", step, p.plan.Header.W, p.plan.Footer.Y+1, p.Pos, missing, more, v)
	}
}

var gapLength = regexp.MustCompile(`[┄≈] [\d.a-z]+ [┄≈]`)

// Where evidence is listed, the footer has the key that goes round it: also in a step of a lesson, and where something is asked.
func evidenceHasItsKey(t *testing.T, step, v string, p *Player) {
	listed := strings.Contains(v, "\n   [1] ") && strings.Contains(v, "\n   [2] ")
	if listed && !slices.ContainsFunc(p.FooterKeys(), func(b key.Binding) bool { return b.Help().Key == p.Keys.Evidence.Help().Key }) {
		t.Errorf("%s, event %d: no key for the evidence:\n%s", step, p.Pos, v)
	}
}

// A client of whom a narrow window has one row for what it does and what it thinks, and that believes that it has the lock,
// is named below the diagram if what it does lies over that.
func foldedBeliefIsSaid(t *testing.T, step, v string, p *Player) {
	for i, name := range p.Run.Clients {
		c := &p.Run.Moments[p.Pos].Clients[i]
		if !c.Believed || !(c.Inside || c.Paused || c.Held || c.Hung) {
			continue
		}
		own := regexp.MustCompile(`(?m)^.?` + name + ` +does .*\n +thinks `).MatchString(v)
		if said := strings.Contains(v, "what "+name) || regexp.MustCompile(`what [\w, ]*`+name+`[\w, ]* think`).MatchString(v); !own && !said {
			t.Errorf("%s at %dx%d, event %d: nothing of what %s thinks:\n%s", step, p.plan.Header.W, p.plan.Footer.Y+1, p.Pos, name, v)
		}
	}
}

// In every frame of every run of the course, at three sizes, the numbers on the axis are told, and what clients believe is
// said.
func TestCourseTellsWhatItShows(t *testing.T) {
	eachFrame(t, func(step, v string, p *Player) {
		numbersAreTold(t, step, v, p)
		evidenceHasItsKey(t, step, v, p)
		foldedBeliefIsSaid(t, step, v, p)
	})
}

// eachFrame shows the events of every run of the course at the least size, and of some of them at two others, where its question is open and where it isn't.
func eachFrame(t *testing.T, check func(step, v string, p *Player)) {
	lib := screen.NewLibrary()
	for i, l := range lib.Lessons {
		for j, step := range l.Steps {
			for n, size := range [][2]int{{draw.MinWidth, draw.MinHeight}, {120, 40}, {200, 60}} {
				if n > 0 && !testenv.Some(i+j, 6) {
					continue
				}
				app := tuitest.HandmadeApp(lib, tuitest.PlainTheme(false))
				p := OpenLesson(app, screen.LessonMsg{Lesson: i, Step: j})
				a := tuitest.Open(t, size[0], size[1], app, p, nil)
				for pos := range p.Run.Last() + 1 {
					if !testenv.Some(i+j+pos, testenv.Quick(18, 9)) {
						continue
					}
					p.goTo(pos)
					check(step.ID(), a.View(), p)
					if p.question() != nil {
						p.quiz.Answer(p.Pos, 0)
						check(step.ID(), a.View(), p)
					}
				}
				if t.Failed() {
					return
				}
			}
		}
	}
}

// The key that goes back from the evidence leads to where it was called for, and says so.
func TestEvidenceIsLeftToWhereItWasCalledFor(t *testing.T) {
	a, p := openRun(t, 120, 40, "naive-del", "late-release")
	for _, k := range []string{"!", "right", "right"} {
		a.Press(k)
	}
	at, picked := p.Pos, p.picked
	a.Press("e")
	if v := tuitest.Unwrapped(a.View()); !strings.Contains(v, "!! evidence for FR, which comes at 15.001s: ") {
		t.Errorf("what the evidence is for is not said:\n%s", v)
	}
	a.Press("e")
	a.Press("esc")
	if p.Pos != at || p.picked != picked || !strings.Contains(a.View(), " Back at 15.002s, from the evidence. ") {
		t.Errorf("from event %d it went back to %d:\n%s", at, p.Pos, a.View())
	}
}

// The key that goes on leads back from the evidence, too, as what lies between has been seen.
func TestEvidenceIsLeftByGoingOn(t *testing.T) {
	a, p := openRun(t, 120, 40, "naive-del", "late-release")
	a.Press("!")
	at := p.Pos
	a.Press("e")
	if p.Pos == at || !strings.Contains(a.View(), "enter back") {
		t.Errorf("the key that goes back is not told:\n%s", a.View())
	}
	if a.Press("enter"); p.Pos != at {
		t.Errorf("from event %d it went back to %d", at, p.Pos)
	}
	if a.Press("enter"); p.Pos <= at {
		t.Errorf("from event %d it went on to %d", at, p.Pos)
	}
}

// A question whose answer was shown is none that was answered, a digit beyond its choices is told as that, and an answer comes with its
// question to those who have not seen it asked.
func TestGivenUpQuestionsAreNotAnswered(t *testing.T) {
	a, p := openRun(t, 120, 40, "naive-del", "late-release")
	for p.question() == nil {
		a.Press("right")
	}
	asked := p.Pos
	a.Press("enter")
	for p.Pos > asked {
		a.Press("left")
	}
	if a.Press("1"); !strings.Contains(a.View(), "The answer to this question has been on the screen, so none is taken any more.") {
		t.Errorf("the answer was shown:\n%s", a.View())
	}
	if a.Press("9"); !strings.Contains(a.View(), "The choices are 1 to ") {
		t.Errorf("there are no nine choices:\n%s", a.View())
	}
	a, _ = openRun(t, 120, 40, "naive-del", "late-release")
	a.Press("!")
	if a.Press("enter"); !strings.Contains(a.View(), "Question passed: At 15.001s, after A's DEL: Whose record does Redis hold? ") || !strings.Contains(a.View(), " Answer: No client's record.") {
		t.Errorf("an answer without its question:\n%s", a.View())
	}
}

// A question that was passed takes an answer as long as its own has not been on the screen.
func TestPassedQuestionsTakeAnAnswer(t *testing.T) {
	a, p := openRun(t, 120, 40, "setpx-lua", "stampede-slow")
	for p.question() == nil {
		a.Press("right")
	}
	asked := p.Pos
	a.Press("enter")
	if q := p.quiz.All()[0]; q.Pos != asked || p.Pos <= asked || p.Pos >= q.Until {
		t.Fatalf("from the question at %d, answered at %d, enter goes to %d", asked, q.Until, p.Pos)
	}
	for p.Pos > asked {
		a.Press("left")
	}
	if v := a.View(); !strings.Contains(v, " 1-4 predict") {
		t.Errorf("no keys answer it:\n%s", v)
	}
	if a.Press("2"); !strings.Contains(a.View(), "You say: ") || strings.Contains(a.View(), "predict") {
		t.Errorf("it takes no answer:\n%s", a.View())
	}
}

// At the end of a run the key for the view leads to those who held the lock first, and the footer says so.
func TestHoldersComeFirstAtTheEnd(t *testing.T) {
	a, _ := openRun(t, 80, 24, "naive-del", "late-release")
	if a.Press("G"); !strings.Contains(a.View(), "v who held it when") {
		t.Errorf("the key is not told:\n%s", a.View())
	}
	if a.Press("v"); !strings.Contains(a.View(), "who held the lock, up to ") || strings.Contains(a.View(), "the whole run") {
		t.Errorf("the key leads elsewhere, or to a part of the run:\n%s", a.View())
	}
	a.Press("g")
	if a.Press("right"); !strings.Contains(a.View(), "who held the lock so far, up to 0s, where the cursor is") || !strings.Contains(a.View(), "G to the end") || !strings.Contains(a.View(), "A  hasn't had it yet") {
		t.Errorf("a part of the run is told as the whole:\n%s", a.View())
	}
}

// At the evidence, to which the cursor goes back, the table of the holders still has all that was seen when that was called for, and says
// where the cursor is.
func TestHoldersStayWholeAtTheEvidence(t *testing.T) {
	a, p := openRun(t, 80, 24, "setpx-lua", "failover")
	a.Press("! e v")
	if v := a.View(); p.Pos >= p.Run.Breaches[0].Pos || !strings.Contains(v, "so far, up to 4ms (the cursor is at 2ms)") || !strings.Contains(v, "B  record since 3ms") {
		t.Errorf("at %d:\n%s", p.Pos, v)
	}
	a.Press("left")
	if v := a.View(); !strings.Contains(v, ", where the cursor is") || strings.Contains(v, "B  record") {
		t.Errorf("what is to come is told:\n%s", v)
	}
}

// With the table of the holders the diagram keeps a row for what each client thinks, in all windows.
func TestHoldersLeaveBeliefsTheirRows(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		a, _ := openRun(t, size[0], size[1], "setpx-lua", "failover")
		a.Press("! v")
		if v := a.View(); strings.Count(v, "     thinks  ") != 2 || !strings.Contains(v, "A held it") && !strings.Contains(v, "━A━") {
			t.Errorf("%v:\n%s", size, v)
		}
	}
}

// The end of a lease that a lock cuts short for drifting clocks is explained where it is first told, and not for ever.
func TestDriftIsExplained(t *testing.T) {
	a, p := openRun(t, 80, 24, "redlock", "failover")
	a.Press("enter")
	if v := tuitest.Unwrapped(a.View()); !strings.Contains(v, "redlock counts the lock's 10s from A's request, and subtracts 102ms in case the clocks of client and server run at different rates (drift).") {
		t.Errorf("it is not explained:\n%s", a.View())
	}
	p.goTo(p.Run.Last() - 1)
	if v := a.View(); strings.Contains(v, "(drift)") {
		t.Errorf("it is explained again:\n%s", v)
	}
}

// Before any violation is shown the key for the evidence says so, and what to do first.
func TestEvidenceKeyAnswersWithoutViolation(t *testing.T) {
	a, _ := openRun(t, 80, 24, "naive-del", "late-release")
	if a.Press("e"); !strings.Contains(tuitest.Unwrapped(a.View()), "First ! goes to a violation; then e goes round its evidence.") {
		t.Errorf("it is not said:\n%s", a.View())
	}
}

// The key that goes on stops at every question that lies ahead, wherever it is pressed: also after a jump past it and back.
func TestGoingOnPassesNoQuestion(t *testing.T) {
	for _, jumps := range []bool{false, true} {
		_, p := openRun(t, 120, 40, "naive-del", "late-release")
		for _, q := range p.quiz.All() {
			for from := range q.Pos {
				if jumps {
					p.toViolation()
				}
				p.goTo(from)
				for p.Pos < q.Pos {
					p.Advance()
				}
				if p.Pos != q.Pos {
					t.Errorf("from event %d it goes past the question at %d to %d", from, q.Pos, p.Pos)
				}
			}
		}
	}
}

// In the evidence, esc leads back to where that was called for, whichever view is chosen there, and nothing says otherwise. The event at the cursor has
// its row, so what is left out is more of the evidence, and not all.
func TestNoticeInTheEvidence(t *testing.T) {
	a, p := openRun(t, 80, 24, "naive-del", "late-release")
	a.Press("! e v")
	v := a.View()
	if !p.InEvidence() || !strings.Contains(v, "who held the lock so far") || strings.Contains(v, "goes back to the timeline") || strings.Contains(v, "1 event of evidence") {
		t.Errorf("in the evidence:\n%s", v)
	}
	a.Press("esc")
	if v := a.View(); p.InEvidence() || !strings.Contains(v, "who held") {
		t.Errorf("after esc:\n%s", v)
	}
}
