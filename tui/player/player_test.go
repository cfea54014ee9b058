package player

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim/testenv"
	"lockstep/sim/timeline"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"lockstep/scenarios"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/draw"
	"lockstep/tui/lesson"
	"lockstep/tui/pane"
	"lockstep/tui/screen"
	"lockstep/tui/told"
	"lockstep/tui/tuitest"
)

// openPlayer opens the player on the shelf's first scenario.
func openPlayer(t testing.TB, w, h int, th *draw.Theme, run func(string, string) (*trace.Trace, error)) (*tuitest.App, *Player) {
	app := tuitest.RealApp(tuitest.Shelf(run), th)
	p := New(app, app.Library.Strategy("setpx-lua"), 0)
	return tuitest.Open(t, w, h, app, p, nil), p
}

// openRun opens the player on a real run.
func openRun(t testing.TB, w, h int, strategy, scenario string) (*tuitest.App, *Player) {
	app := tuitest.RealApp(screen.NewLibrary(), tuitest.PlainTheme(false))
	p := New(app, app.Library.Strategy(strategy), app.Library.Named(scenario))
	return tuitest.Open(t, w, h, app, p, nil), p
}

func TestScreens(t *testing.T) {
	for screen, first := range map[string]func(*screen.App) screen.Screen{
		"player": func(app *screen.App) screen.Screen { return New(app, app.Library.Strategy("setpx-lua"), 0) },
		"lesson": func(app *screen.App) screen.Screen { return OpenLesson(app, screen.LessonMsg{Lesson: 0, Step: 1}) },
	} {
		tuitest.EachFrame(t, screen, func(t *testing.T, name string, w, h int, th *draw.Theme) {
			app := tuitest.HandmadeApp(tuitest.Shelf(tuitest.Handmade), th)
			a := tuitest.Open(t, w, h, app, first(app), nil)
			a.Press("! !")
			tuitest.Golden(t, name, a.View())
		})
	}
}

func TestOtherViews(t *testing.T) {
	for name, keys := range map[string]string{
		"start": "g", "ask": "]", "predicted": "] 2", "right": "] 2 enter", "wrong": "] 1 enter", "answer": "] enter", "end": "G", "holders": "! v", "ladder": "! v v", "trace": "! v v v", "state": "! v v v v",
		"source": "right right right s", "evidence": "! ! e", "search": "/ w r i t e enter", "typing": "/ w r", "filter": "! ! v v v & n 1 enter", "nothing-found": "/ z z enter",
		"help": "?", "strategies": "f", "scenarios": "o down", "notice": "! ! !", "many-nodes": "f down down enter o down enter ]" + strings.Repeat(" right", 9),
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := openPlayer(t, 80, 24, tuitest.PlainTheme(false), tuitest.Handmade)
			a.Press(keys)
			tuitest.Golden(t, "80x24-"+name, a.View())
		})
	}
}

func TestMonoKeepsBoldAndReverse(t *testing.T) {
	th := draw.NewTheme(draw.NewRenderer(tuitest.RendererOf(termenv.Ascii), "", true), true, false)
	a, _ := openPlayer(t, 80, 24, th, tuitest.Handmade)
	a.Press("!")
	if v := a.View(); !strings.Contains(v, "\x1b[1;7m !! ") {
		t.Errorf("the alarm is not bold and reversed:\n%q", v)
	} else if colour := regexp.MustCompile(`\x1b\[([0-9;]*;)?[34][0-8][;m]`).FindString(v); colour != "" {
		t.Errorf("there is a colour in it: %q", colour)
	}
}

func TestStepping(t *testing.T) {
	a, p := openPlayer(t, 80, 24, tuitest.PlainTheme(false), tuitest.Handmade)
	last := p.Run.Last()
	for _, step := range []struct {
		keys string
		want int
	}{
		{"left", 0}, {"right", 1}, {"l l", 3}, {"h", 2}, {"g", 0}, {"]", 7}, {"]", 10}, {"[", 7}, {"[", 0}, {"G", last}, {"right", last},
		{"g !", 16}, {"!", 19}, {"!", 16}, {"end", last}, {"home", 0},
	} {
		if a.Press(step.keys); p.Pos != step.want {
			t.Errorf("after %q the cursor is at %d, want %d", step.keys, p.Pos, step.want)
		}
	}
}

// Where the code has the diagram's place, v gives it back: a key that changes nothing in sight is no key.
func TestViewClosesTheCode(t *testing.T) {
	a, _ := openPlayer(t, 80, 24, tuitest.PlainTheme(false), tuitest.Handmade)
	a.Press("! s")
	if v := a.View(); !strings.Contains(v, "source: strategies/") || strings.Contains(v, "believers") {
		t.Fatalf("s does not show the code:\n%s", v)
	}
	if v := a.View(); !strings.Contains(v, "s timeline") || !strings.Contains(v, "esc timeline") || strings.Contains(v, "v who held it when") {
		t.Errorf("the footer does not say what closes the code:\n%s", v)
	}
	if a.Press("v"); !strings.Contains(a.View(), "believers") {
		t.Errorf("v does not show the timeline:\n%s", a.View())
	}
	if a.Press("v v"); !strings.Contains(a.View(), "n1: whose record") || strings.Contains(a.View(), "source: strategies") {
		t.Errorf("v does not go on to the ladder:\n%s", a.View())
	}
}

func TestKeysThatArriveTogetherAllCount(t *testing.T) {
	a, p := openPlayer(t, 80, 24, tuitest.PlainTheme(false), tuitest.Handmade)
	a.Press("lllh")
	if got := p.Pos; got != 2 {
		t.Errorf("after lllh the cursor is at %d, want 2", got)
	}
	a.Send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("G!q"), Paste: true})
	if got := p.Pos; got != 2 {
		t.Errorf("pasted text has moved the cursor to %d", got)
	}
}

func TestViolationIsShouted(t *testing.T) {
	a, _ := openPlayer(t, 80, 24, tuitest.PlainTheme(false), tuitest.Handmade)
	if a.Press("]"); strings.Contains(a.View(), "!!") {
		t.Errorf("shouts before anything is broken:\n%s", a.View())
	}
	a.Press("!")
	for _, want := range []string{"!! OVERLAPPING CRITICAL SECTIONS !!", "A and B claim it; A's lease is over.", "!! OV", "[1] 2ms     #6   A enters", "[2] 4.002s  #16  B enters"} {
		if !strings.Contains(a.View(), want) {
			t.Errorf("no %q in\n%s", want, a.View())
		}
	}
}

func TestStrategyKeepsScenarioAndPlace(t *testing.T) {
	a, p := openPlayer(t, 80, 24, tuitest.PlainTheme(false), tuitest.Handmade)
	lib := p.Library
	above := lib.Strategies[lib.Strategy("setpx-lua")-1].Name
	a.Press("] ] f up enter")
	if p.Run.Strategy != above {
		t.Errorf("ran %s, want %s", p.Run.Strategy, above)
	}
	if p.Pos != 10 || p.Run.Chapter(p.Pos) != 3 {
		t.Errorf("the place in the story is lost: at %d", p.Pos)
	}
	a.Press("o down enter")
	if crowd := tuitest.Crowd(3, 5, 300); p.Pos != 0 || len(p.Run.Events) != len(crowd.Events) {
		t.Errorf("ran %s, at %d", p.Run.Title, p.Pos)
	}
}

func TestLateResultIsDropped(t *testing.T) {
	a, p := openPlayer(t, 80, 24, tuitest.PlainTheme(false), tuitest.Handmade)
	first := p.open(0, 0)
	second := p.open(1, 0)
	a.Send(second())
	a.Send(first())
	if got := p.Run.Trace.Strategy; got != p.Library.Strategies[1].Name {
		t.Errorf("shows %s", got)
	}
}

func TestFailedRunIsTold(t *testing.T) {
	a, _ := openPlayer(t, 80, 24, tuitest.PlainTheme(false), func(string, string) (*trace.Trace, error) { return nil, errors.New("no such luck") })
	if v := a.View(); !strings.Contains(v, "can't be run") || !strings.Contains(v, "no such luck") {
		t.Error(v)
	}
	a.Press("right ! v s G space tab up ? esc")
	a.CheckFrame("failed")
}

func TestPlayingStopsWhereOneShouldLook(t *testing.T) {
	a, p := openPlayer(t, 80, 24, tuitest.PlainTheme(false), tuitest.Handmade)
	for _, want := range []int{7, 16, 18, 19, p.Run.Last()} { // a question, a violation, a question, a violation
		a.Press("space")
		for n := 0; p.playing && n < 1000; n++ {
			a.Send(tickMsg(p.tick - 1)) // an old timer counts for nothing
			at := p.Pos
			a.Send(tickMsg(p.tick))
			if p.Pos != at+1 {
				t.Fatalf("one tick went from %d to %d", at, p.Pos)
			}
		}
		if p.Pos != want {
			t.Errorf("stopped at %d, want %d", p.Pos, want)
		}
	}
	if a.Press("space left"); p.playing {
		t.Error("stepping by hand does not stop the playing")
	}
}

// Every cell of the matrix can be looked at, at every chapter and violation.
func TestEveryRealRunCanBeDrawn(t *testing.T) {
	for i, sc := range scenarios.All() {
		for j, st := range strategies.All() {
			if !testenv.Some((i+j)%64/2, testenv.Quick(32, 16)) { // two of 64, or four, in both sizes
				continue
			}
			size := [][2]int{{80, 24}, {140, 40}}[(i+j)%2] // every lock and every scenario in both, no cell in two
			drawRun(t, size[0], size[1], st.Name, sc.Name)
		}
	}
}

// drawRun draws a run at each chapter and at each violation.
func drawRun(t *testing.T, w, h int, strategy, scenario string) {
	t.Helper()
	what := strategy + " under " + scenario
	a, p := openRun(t, w, h, strategy, scenario)
	if p.failed != nil {
		t.Errorf("%s: %v", what, p.failed)
		return
	}
	for range len(p.Run.Chapters) + len(p.Run.Breaches) {
		if strings.Contains(a.CheckFrame(what), "more rows:") {
			t.Fatalf("%s hides rows at %dx%d", what, w, h)
		}
		a.Press("]")
	}
	for range p.Run.Breaches {
		a.Press("!")
		a.CheckFrame(what)
	}
}

// toQuestion goes on to the next question.
func toQuestion(t *testing.T, a *tuitest.App, p *Player) *timeline.Question {
	t.Helper()
	for range p.Run.Last() {
		if a.Press("]"); p.question() != nil {
			return p.question()
		}
	}
	t.Fatal("no question is asked")
	return nil
}

// A question is asked before its answer; the first answer is judged where the proof is.
func TestPredictionIsAskedThenProvenThenExplained(t *testing.T) {
	a, p := openPlayer(t, 140, 40, tuitest.PlainTheme(false), tuitest.Handmade)
	p.lesson = &lesson.Place{Library: p.Library} // else nothing is scored
	q := toQuestion(t, a, p)
	wrong := (q.Right + 1) % len(q.Choices)
	a.Press("8")
	if !strings.Contains(p.Notice, "The choices are 1 to") {
		t.Error(p.Notice)
	}
	a.Press(fmt.Sprint(wrong + 1))
	if v := tuitest.Unwrapped(a.View()); !strings.Contains(v, "You say: "+q.Choices[wrong]+".") || strings.Contains(v, "It is: ") || p.Pos != q.Pos {
		t.Errorf("it is judged before the proof:\n%s", a.View())
	}
	if a.Press(fmt.Sprint(q.Right + 1)); !strings.HasPrefix(p.Notice, "You have answered: the first answer counts.") {
		t.Errorf("of a second answer it says %q", p.Notice)
	}
	a.Press("enter")
	v := tuitest.Unwrapped(a.View())
	if p.Pos != q.Until || !strings.Contains(v, "You said: "+q.Choices[wrong]+". It is: "+q.Choices[q.Right]+".") {
		t.Errorf("the first answer isn't judged at %d:\n%s", q.Until, a.View())
	}
	if right, of := p.Progress.Score(); right != 0 || of != 1 {
		t.Errorf("the score is %d of %d", right, of)
	}
	if strings.Contains(v, "answered this one before") {
		t.Errorf("the first answer is said to be another:\n%s", a.View())
	}
	p.Display(p.Run, 0) // as when it is played again
	p.goTo(q.Pos)
	a.Press(fmt.Sprint(q.Right+1) + " enter")
	if v := tuitest.Unwrapped(a.View()); !strings.Contains(v, "0 of 1; you have answered") {
		t.Errorf("it doesn't say why the score stands still:\n%s", a.View())
	}
}

// In front of a class no answer that is typed is scored.
func TestQuestionsForAClass(t *testing.T) {
	a, p := openPlayer(t, 140, 40, tuitest.PlainTheme(false), tuitest.Handmade)
	q := toQuestion(t, a, p)
	if a.Press("T"); !strings.Contains(tuitest.Unwrapped(a.View()), "1 "+q.Choices[0]) {
		t.Errorf("there are no digits to type:\n%s", a.View())
	}
	a.Press("1 enter")
	if _, of := p.Progress.Score(); of != 0 || p.Pos != q.Until || !strings.Contains(strings.ToLower(tuitest.Unwrapped(a.View())), strings.ToLower(q.Choices[q.Right])) {
		t.Errorf("%d are scored, or the answer isn't shown:\n%s", of, a.View())
	}
}

// Over the whole course, at each question: the frame has the question and all its choices,
// and nothing that only a later event can say: neither the answer's proof nor the cause of
// a violation to come.
func TestCourseNeverShowsAnAnswerAboveItsQuestion(t *testing.T) {
	for _, l := range scenarios.Course() {
		for _, step := range l.Steps {
			a, p := openRun(t, 80, 24, step.Strategy, step.Scenario)
			if len(p.quiz.All()) == 0 {
				t.Errorf("%s asks nothing", step.ID())
			}
			for _, q := range p.quiz.All() {
				p.goTo(q.Pos)
				v := tuitest.Unwrapped(a.CheckFrame(step.ID()))
				for _, want := range append([]string{q.Worded(q.Text, p.Run.Now(q.Pos))}, q.Choices...) {
					if !strings.Contains(v, want) {
						t.Errorf("%s doesn't say %q at its question:\n%s", step.ID(), want, a.View())
					}
				}
				if strings.Contains(v, q.Why) && p.Run.Holders(p.State) != q.Why {
					t.Errorf("%s answers %q where it is asked:\n%s", step.ID(), q.Text, a.View())
				}
			}
		}
	}
}

func TestMouse(t *testing.T) {
	a, p := openPlayer(t, 80, 24, tuitest.PlainTheme(false), tuitest.Handmade)
	a.Press("m G")
	a.View()
	col := p.axes.Axis.Cols[9]
	a.Click(p.plan.Main.X+pane.LabelWidth+col, p.plan.Main.Y+3)
	if p.axes.Axis.Cols[p.Pos] != col {
		t.Errorf("the click on event 9's column went to %d", p.Pos)
	}
	a.Send(tea.MouseMsg{Action: tea.MouseActionPress, Button: tea.MouseButtonWheelDown})
	if p.Pos != 10 {
		t.Errorf("the wheel went to %d", p.Pos)
	}
}

func TestExportWritesTheRun(t *testing.T) {
	t.Chdir(t.TempDir())
	a, p := openPlayer(t, 100, 30, tuitest.PlainTheme(false), tuitest.Handmade)
	var want bytes.Buffer
	if err := timeline.Plain(&want, p.Run.Trace); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"setpx-lua-pause-past-ttl.txt", "setpx-lua-pause-past-ttl-2.txt"} {
		a.Press("x enter")
		if got, err := os.ReadFile(file); err != nil || string(got) != want.String() {
			t.Errorf("%s: %v, %q", file, err, got)
		}
		if !strings.Contains(a.View(), "Written to ./"+file) {
			t.Errorf("nobody is told of %s:\n%s", file, a.View())
		}
	}
	a.Exports[0].Write = func(io.Writer, *trace.Trace) error { return errors.New("the disk is full") }
	a.Press("x enter")
	if _, err := os.Stat("setpx-lua-pause-past-ttl-3.txt"); err == nil || !strings.Contains(a.View(), "Not written: the disk is full") {
		t.Errorf("a failed export leaves a file, or says nothing: %v\n%s", err, a.View())
	}
}

// Watched from the door, a run plays by itself, slowly enough to read, and stops where a property breaks
// until a key is pressed: with the time to read those, in about a minute and a half. Stopped
// and started again it stops where the reader should think, too.
func TestWatchedRunTakesItsTime(t *testing.T) {
	app := tuitest.RealApp(screen.NewLibrary(), tuitest.PlainTheme(false))
	p := Open(app, screen.PlayMsg{Strategy: app.Library.Strategy("naive-del"), Scenario: app.Library.Named("late-release"), Playing: true})
	a := tuitest.Open(t, 80, 24, app, p, nil)
	took, first, stops := p.pace(), time.Duration(0), 0
	for p.Pos < p.Run.Last() {
		was := p.Pos
		a.Fire()
		_, fresh := p.Run.Breached(p.Pos)
		if len(fresh) > 0 && first == 0 {
			first = took
		}
		if p.Pos != was && p.Pos < p.Run.Last() { // else a second of the clock at a question has gone by
			took += p.pace()
		}
		if ends := p.Pos == p.Run.Last() || len(fresh) > 0; ends == p.playing {
			t.Fatalf("at event %d it plays on: %v", p.Pos, p.playing)
		}
		if p.playing {
			continue
		}
		v := a.View()
		if strings.Contains(v, "stops it") || !strings.Contains(v, "space plays") {
			t.Errorf("at event %d it doesn't say how to go on:\n%s", p.Pos, v)
		}
		if p.Pos < p.Run.Last() {
			stops++
			if !strings.Contains(v, "space play on") {
				t.Errorf("at event %d the footer doesn't:\n%s", p.Pos, v)
			}
			a.Press("space")
		}
	}
	if stops != len(p.Run.Breaches) || took < 70*time.Second || took > 100*time.Second || first > time.Minute {
		t.Errorf("it takes %s, with %d stops, the first after %s", took, stops, first)
	}
	a.Press("g space space space")
	for p.playing {
		a.Fire()
	}
	if _, fresh := p.Run.Breached(p.Pos); len(fresh) == 0 && p.question() == nil {
		t.Errorf("played by the reader it stops at event %d", p.Pos)
	}
}

// The key for the next chapter goes to a chapter, a violation or the end, and to nothing else: a question
// on the way stops it in lessons alone, which says so.
func TestNextChapterIsOne(t *testing.T) {
	a, p := openRun(t, 80, 24, "get-then-del", "release-gap")
	for p.Pos < p.Run.Last() {
		a.Press("]")
		broken := slices.ContainsFunc(p.Run.Breaches, func(b timeline.Breach) bool { return b.Pos == p.Pos })
		if !broken && !slices.Contains(p.Run.Chapters, p.Pos) && p.Pos < p.Run.Last() {
			t.Errorf("] stops at %d, where no chapter begins and nothing breaks", p.Pos)
		}
	}
	a, p = openRun(t, 80, 24, "get-then-del", "release-gap")
	p.lesson = &lesson.Place{Library: p.Library}
	asked := 0
	for p.Pos < p.Run.Last() {
		a.Press("]")
		if p.question() != nil && strings.Contains(a.View(), "A question first") {
			asked++
		}
	}
	if asked == 0 {
		t.Error("no question of a lesson has stopped ]")
	}
	lib := screen.NewLibrary()
	passed := 0
	for i := range lib.Lessons { // what the notice says of the second ] is true
		app := tuitest.RealApp(lib, tuitest.PlainTheme(false))
		p := OpenLesson(app, screen.LessonMsg{Lesson: i})
		a := tuitest.Open(t, 80, 24, app, p, nil)
		for was := -1; p.Pos != was; {
			was = p.Pos
			a.Press("]")
			if !strings.HasPrefix(p.Notice, "A question first") {
				continue
			}
			to := p.quiz.ToViolation(p.Pos, p.Run.NextChapter(p.Pos))
			for _, q := range p.quiz.All() {
				if q.Pos > p.Pos && q.Pos < to {
					passed++
				}
			}
			if a.Press("]"); p.Pos != to || strings.HasPrefix(p.Notice, "A question first") {
				t.Errorf("%s: a second ] leads to %d, not %d: %q", lib.Lessons[i].Name, p.Pos, to, p.Notice)
			}
		}
	}
	if passed == 0 {
		t.Error("in no lesson two questions are asked before the next chapter")
	}
}

// From a question enter goes to the violation before which it was asked, whatever it was about.
func TestEnterPassesNoViolation(t *testing.T) {
	a, p := openRun(t, 80, 24, "naive-del", "late-release")
	for n := 0; len(p.shown()) == 0; n++ {
		if a.Press("enter"); n > 20 {
			t.Fatal("no violation is shown")
		}
	}
	if first := p.Run.Breaches[0]; p.Pos != first.Pos || !strings.Contains(a.View(), "!! FOREIGN RELEASE !!") {
		t.Errorf("enter comes to event %d, and %s is complete at %d:\n%s", p.Pos, first.Code, first.Pos, a.View())
	}
	if !strings.Contains(a.View(), "No client's record.") { // which the violation shows
		t.Errorf("event %d doesn't tell the answer:\n%s", p.Pos, a.View())
	}
}

// Where nothing is asked, enter goes on as in the presenter: to the next words, question or violation.
func TestEnterGoesOn(t *testing.T) {
	a, p := openPlayer(t, 80, 24, tuitest.PlainTheme(false), tuitest.Handmade)
	want := p.quiz.Next(0)
	if a.Press("enter"); p.Pos != want || p.Pos == 0 {
		t.Errorf("enter goes from the beginning to %d, want %d", p.Pos, want)
	}
	for range 2 * p.Run.Last() {
		a.Press("enter")
	}
	if p.Pos != p.Run.Last() || p.Notice != "The run ends here." {
		t.Errorf("at %d of %d: %q", p.Pos, p.Run.Last(), p.Notice)
	}
}

// An event of which a row has no room is told in two where there are rows, and the state is not cut.
func TestLongEventIsToldWhole(t *testing.T) {
	a, p := openPlayer(t, 120, 40, tuitest.PlainTheme(false), tuitest.Handmade)
	for i := range p.Run.Events {
		a.Press("right")
		e := &p.Run.Events[i]
		if want := tuitest.Unwrapped(p.Run.Text(e)); !strings.Contains(statusOf(a, p), want) {
			t.Errorf("at %d the status has no %q:\n%s", p.Pos, want, a.View())
		}
	}
}

// statusOf is the text of the rows of the event and the holders.
func statusOf(a *tuitest.App, p *Player) string {
	rows := strings.Split(tuitest.Stripped(a.View()), "\n")
	text := ""
	for _, row := range rows[p.plan.Status.Y : p.plan.Status.Y+p.plan.Status.H] {
		text += string([]rune(row)[:p.plan.Status.W]) + " "
	}
	return tuitest.Unwrapped(text)
}

// A run that plays by itself stays at a question for as long as it takes to read it, whoever asks.
func TestWatchedQuestionsCanBeRead(t *testing.T) {
	app := tuitest.RealApp(screen.NewLibrary(), tuitest.PlainTheme(false))
	p := Open(app, screen.PlayMsg{Strategy: app.Library.Strategy("naive-del"), Scenario: app.Library.Named("late-release"), Playing: true})
	tuitest.Open(t, 120, 40, app, p, nil)
	derived := 0
	for pos := range p.Run.Last() + 1 {
		stay := p.Watch(pos)
		q := p.quiz.At(pos)
		if q == nil {
			continue
		}
		if !q.Script {
			derived++
		}
		if words := len(strings.Fields(q.Text + " " + strings.Join(q.Choices, " "))); stay < time.Duration(words)*told.PerWord {
			t.Errorf("%q stays for %v", q.Text, stay)
		}
	}
	if derived != 1 {
		t.Errorf("%d questions that the script doesn't ask", derived)
	}
}

// A question of a run that plays by itself says how long it stays, and that any key stops its clock; an answer has the run play on.
func TestWatchedQuestionsHaveAClock(t *testing.T) {
	app := tuitest.RealApp(screen.NewLibrary(), tuitest.PlainTheme(false))
	p := Open(app, screen.PlayMsg{Strategy: app.Library.Strategy("naive-del"), Scenario: app.Library.Named("late-release"), Playing: true})
	a := tuitest.Open(t, 80, 24, app, p, nil)
	toQuestion := func() {
		for p.playing && p.question() == nil {
			a.Fire()
		}
	}
	left := func() (seconds int) {
		if _, err := fmt.Sscanf(p.Notice, "Goes on in %d s: 1-", &seconds); err != nil || !strings.Contains(a.View(), " answers, enter passes, any key stops the clock.") {
			t.Errorf("no clock: %v\n%s", err, a.View())
		}
		return seconds
	}
	toQuestion()
	at, seconds := p.Pos, left()
	if a.Fire(); p.Pos != at || left() != seconds-1 {
		t.Errorf("a second after %d s at event %d it is %q, at event %d", seconds, at, p.Notice, p.Pos)
	}
	a.Press("v")
	for range seconds {
		a.Fire()
	}
	if p.Pos != at || p.playing || p.question() == nil || strings.Contains(a.View(), "Goes on in") {
		t.Errorf("the clock goes on:\n%s", a.View())
	}
	a.Press("esc space")
	if left() != seconds {
		t.Errorf("the clock begins again with %q", p.Notice)
	}
	var stays time.Duration
	after := p.After
	p.App.After = func(d time.Duration, msg tea.Msg) tea.Cmd {
		stays = d
		return after(d, msg)
	}
	if a.Press("3"); !p.playing || !strings.Contains(a.View(), "The run plays by itself") || !strings.Contains(a.View(), "You say: yes, while") {
		t.Errorf("answered, it doesn't play on:\n%s", a.View())
	}
	if stays == 0 || stays > 2*time.Second {
		t.Errorf("answered, it does not move for %v", stays)
	}
	if a.Press("enter"); p.Pos != at+1 || !p.playing || !strings.Contains(a.View(), "The run plays by itself") {
		t.Fatalf("a key goes on from an answer to event %d of %d:\n%s", p.Pos, at, a.View())
	}
	if toQuestion(); left() < 10 {
		t.Errorf("there is no time to think: %q", p.Notice)
	}
	at = p.Pos
	if a.Press("enter"); p.Pos != at+1 || !p.playing {
		t.Fatalf("a question that is passed stops the run:\n%s", a.View())
	}
	for p.question() != nil {
		a.Fire()
	}
	if !strings.Contains(a.View(), "The run plays by itself") {
		t.Errorf("the clock stays on the screen:\n%s", a.View())
	}
}

// A run that plays by itself tells the answer of what it asks, and stays there for as long as it takes to
// read it.
func TestWatchedQuestionsAreAnswered(t *testing.T) {
	app := tuitest.RealApp(screen.NewLibrary(), tuitest.PlainTheme(false))
	p := Open(app, screen.PlayMsg{Strategy: app.Library.Strategy("naive-del"), Scenario: app.Library.Named("late-release"), Playing: true})
	a := tuitest.Open(t, 80, 24, app, p, nil)
	answers := 0
	for p.Pos < p.Run.Last() {
		a.Fire()
		for _, q := range p.quiz.All() {
			if q.Until != p.Pos || q.Script {
				continue
			}
			answers++
			answer := q.Text + " " + trace.Capital(q.Choices[q.Right]) + "."
			if v := tuitest.Unwrapped(a.View()); !strings.Contains(v, tuitest.Unwrapped(answer)) {
				t.Errorf("%q is not told:\n%s", answer, a.View())
			}
			if words := len(strings.Fields(answer)); p.pace() < time.Duration(words)*told.PerWord {
				t.Errorf("%q stays for %v", answer, p.pace())
			}
		}
		if !p.playing && p.Pos < p.Run.Last() { // at a violation
			a.Press("space")
		}
	}
	if answers != 1 {
		t.Errorf("%d answers were due", answers)
	}
}

// A notice or a prompt hides neither the event at the cursor nor the holders of the lock.
func TestNoticesHideNothing(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		for _, keys := range []string{"G !", "! e e", "! v", "! / D E L", "right right v"} {
			a, p := openRun(t, size[0], size[1], "naive-del", "late-release")
			a.Press(keys)
			v := tuitest.Unwrapped(a.View())
			holders, _ := pane.Holders(p.Run, p.Pos, p.State, size[0])
			for _, want := range []string{tuitest.LineText(pane.StatusLine(p.Run, p.Pos, true)), tuitest.LineText(holders), p.Notice} {
				if !strings.Contains(v, tuitest.Unwrapped(want)) {
					t.Errorf("%v, after %q there is no %q:\n%s", size, keys, want, a.View())
				}
			}
			if p.Notice == "" && !p.Typing() {
				t.Errorf("%q leads to no notice", keys)
			}
		}
	}
}

// A step of the course counts however its run was opened, and predictions count in the course alone; a script of the
// reader's own is no part of the course.
func TestCourseCountsItsRuns(t *testing.T) {
	own := filepath.Join(t.TempDir(), "late-release.yaml")
	text := "title: Mine\nscript:\n  - run: A\n    to: work\n  - ask: Who has it?\n    answer: holders\n  - run: A\n    to: done\n"
	if err := os.WriteFile(own, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	mine, err := scenarios.Find(own)
	if err != nil {
		t.Fatal(err)
	}
	for _, way := range []string{"course", "all runs", "own script"} {
		opened := way == "own script" // by its author
		lib := screen.NewLibrary()
		at := lib.Named("late-release")
		if opened {
			lib.Include(strategies.Strategy{}, mine)
			at = lib.Scenario(mine)
		}
		app := tuitest.RealApp(lib, tuitest.PlainTheme(false))
		p := Open(app, screen.PlayMsg{Strategy: lib.Strategy("naive-del"), Scenario: at})
		if way == "course" {
			lesson := slices.IndexFunc(lib.Lessons, func(l scenarios.Lesson) bool { return l.Name == "release" })
			p = OpenLesson(app, screen.LessonMsg{Lesson: lesson})
		}
		a := tuitest.Open(t, 120, 40, app, p, nil)
		if len(p.quiz.All()) == 0 {
			t.Fatalf("%s asks nothing", lib.Scenarios[at].Name)
		}
		p.goTo(p.quiz.All()[0].Pos)
		a.Press("1 enter")
		if scored := strings.Contains(tuitest.LinesText(p.Narration(1000, 40)), "Predicted correctly so far"); scored != (way == "course") {
			t.Errorf("%s: says of a score: %v\n%s", way, scored, a.View())
		}
		a.Press("G")
		_, of := app.Progress.Score()
		if played := app.Progress.Count("release") > 0; played == opened || (of > 0) != (way == "course") {
			t.Errorf("%s: counts as a step: %v, and %d predictions", way, played, of)
		}
	}
}

// What the reader has seen is known to every list of outcomes, and counted once.
func TestShownRunIsKnown(t *testing.T) {
	lib := screen.NewLibrary()
	app := tuitest.RealApp(lib, tuitest.PlainTheme(false))
	p := Open(app, screen.PlayMsg{Strategy: lib.Strategy("naive-del"), Scenario: lib.Named("late-release")})
	a := tuitest.Open(t, 80, 24, app, p, nil)
	c := app.Grid.At(lib.Named("late-release"), lib.Strategy("naive-del"))
	if !c.Known || !slices.Equal(c.Verdict, p.Run.Verdict()) || app.Grid.Known != 1 {
		t.Errorf("%+v, and %d are known", c, app.Grid.Known)
	}
	if !testenv.CI() {
		return // the list has the rest of the runs run
	}
	if a.Press("c"); !strings.Contains(a.View(), "naive-del") || strings.Contains(a.View(), "naive-del              ··") {
		t.Errorf("the list doesn't know it:\n%s", a.View())
	}
}

// A run that plays by itself begins to move soon: the words that open it stay while its first events happen.
func TestWatchedRunBeginsSoon(t *testing.T) {
	app := tuitest.RealApp(screen.NewLibrary(), tuitest.PlainTheme(false))
	p := Open(app, screen.PlayMsg{Strategy: app.Library.Strategy("naive-del"), Scenario: app.Library.Named("late-release"), Playing: true})
	tuitest.Open(t, 120, 40, app, p, nil)
	if stay := p.Watch(0); stay > 500*time.Millisecond {
		t.Errorf("nothing moves for %v", stay)
	}
	opening := time.Duration(0)
	for pos := range p.Run.NextChapter(0) {
		opening += p.Watch(pos)
	}
	if words := len(strings.Fields(p.Run.Notes[0].Text)); opening < time.Duration(words)*told.PerWord*2/3 {
		t.Errorf("%d words stay for %v", words, opening)
	}
}

// The mode for a class lasts from run to run, so each of them says so; and whoever presents it can type the class's answers.
func TestClassModeIsMarked(t *testing.T) {
	a, p := openRun(t, 80, 24, "naive-del", "late-release")
	const mark = "for a class: questions wait, nothing is scored; T ends it"
	if v := a.View(); strings.Contains(v, mark) {
		t.Fatal(v)
	}
	a.Press("T ] enter")
	for range 3 {
		if v := a.View(); !strings.Contains(v, mark) {
			t.Errorf("event %d is not marked:\n%s", p.Pos, v)
		}
		if p.question() != nil && !strings.Contains(a.View(), "predict") {
			t.Errorf("no keys for the choices:\n%s", a.View())
		}
		a.Press("enter")
	}
	app := p.App
	next := New(app, p.Strategy, p.scenario)
	if v := tuitest.Open(t, 80, 24, app, next, nil).View(); !strings.Contains(v, mark) {
		t.Errorf("the next run is not marked:\n%s", v)
	}
}
