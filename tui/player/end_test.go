package player

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/scenarios"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/draw"
	"lockstep/tui/layout"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
	"lockstep/tui/views"
)

// The end of a run says whether it is what the author of its script expects.
func TestEndSaysWhatWasExpected(t *testing.T) {
	for expected, want := range map[string]string{"DG": "✗ Not as expected: the file expects DG and no other code, and the verdict is SW OV.", "SW OV": "✓ As expected: SW OV.", "": ""} {
		a, _ := openPlayer(t, 80, 24, tuitest.PlainTheme(false), func(strategy, scenario string) (*trace.Trace, error) {
			tr, err := tuitest.Handmade(strategy, scenario)
			if err == nil {
				tr.Expected = expected
			}
			return tr, err
		})
		a.Press("G")
		if v := tuitest.Unwrapped(a.View()); !strings.Contains(v, tuitest.Unwrapped(want)) || want == "" && strings.Contains(v, "xpected") {
			t.Errorf("there is no %q in\n%s", want, v)
		}
	}
}

// The end of a run in which nothing broke says of a bad lock that it is one, and where it fails; of a good one, and where
// something did break, nothing.
func TestEndSaysThatALockIsBadAllTheSame(t *testing.T) {
	app := tuitest.RealApp(screen.NewLibrary(), tuitest.PlainTheme(false))
	for _, c := range []struct {
		lock, scenario string
		says           bool
	}{{"get-then-del", "late-release", true}, {"setpx-lua", "late-release", false}, {"get-then-del", "release-gap", false}} {
		p := New(app, app.Library.Strategy(c.lock), app.Library.Named(c.scenario))
		a := tuitest.Open(t, 120, 40, app, p, nil)
		a.Press("G")
		if v := tuitest.Unwrapped(a.View()); strings.Contains(v, "get-then-del is a bad lock all the same: it fails under release-gap.") != c.says {
			t.Errorf("%s under %s:\n%s", c.lock, c.scenario, a.View())
		}
	}
}

// What the filter says when it is set agrees with the list, which has the event at the cursor in any
// case, and neither counts events that are to come.
func TestFilterAgreesWithItsList(t *testing.T) {
	a, p := openPlayer(t, 80, 24, tuitest.PlainTheme(false), tuitest.Handmade)
	a.Press("right right right v v & p r o b e enter")
	v := a.View()
	for _, want := range []string{`esc lists all again. So far 0 events: "probe"`, `only with "probe": 0 of 3 events, and that at the cursor`} {
		if !strings.Contains(v, want) {
			t.Errorf("there is no %q in\n%s", want, v)
		}
	}
	a.Press("G")
	if v := a.View(); p.find.Keeps(p.Pos) == strings.Contains(v, "and that at the cursor") {
		t.Errorf("the last event has the text:\n%s", v)
	}
}

// Where the list is not in sight, a filter brings it; the key that leaves the screen leaves the filter first,
// and then the search. A violation is in the list only with the event that completes it.
func TestEscLeavesTheFilterFirst(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		a, p := openRun(t, size[0], size[1], "naive-del", "late-release")
		a.Press("! ! right right / D E L enter G & E X P I R E enter")
		v := a.View()
		if !p.sees(panelTrace) || !strings.Contains(v, `only with "EXPIRE"`) {
			t.Fatalf("%v: no list:\n%s", size, v)
		}
		if strings.Contains(v, "!! FR  A's DEL") {
			t.Errorf("%v: a violation stands below an event that is not its own:\n%s", size, v)
		}
		for _, want := range []string{"The trace lists all events.", "The search is over."} {
			if _, out := p.Update(tuitest.KeyMsg("esc")); out.Close || p.Notice != want {
				t.Errorf("%v: esc: %v, %q, want %q", size, out.Close, p.Notice, want)
			}
		}
		if listed := p.view == views.Trace; listed { // the filter has brought it where it has no pane of its own
			if _, out := p.Update(tuitest.KeyMsg("esc")); out.Close || p.view != views.Timeline {
				t.Errorf("%v: esc leads from the list to %q, and out: %v", size, p.View(), out.Close)
			}
		}
		if _, out := p.Update(tuitest.KeyMsg("esc")); !out.Close {
			t.Errorf("%v: esc does not leave the player", size)
		}
	}
}

// The status line of an event that is evidence has the number under which it stands on the ruler, and a
// list of the evidence that lacks it has all the others.
func TestAllEvidenceIsNumbered(t *testing.T) {
	a, p := openRun(t, 80, 24, "naive-del", "late-release")
	for range p.Run.Breaches {
		a.Press("!")
		v := a.View()
		for i, seq := range p.Run.Breaches[p.picked].Events {
			inList := strings.Contains(v, fmt.Sprintf("\n   [%d] ", i+1))
			inStatus := strings.Contains(v, fmt.Sprintf("\n[%d] %s  #%d of", i+1, trace.Brief(p.Run.When(p.Pos)), seq))
			if !inList && !inStatus {
				t.Errorf("%d, event #%d, is not told:\n%s", i+1, seq, v)
			}
		}
	}
}

// Keys of which a run without chapters says where they lead, lead there.
func TestRunWithoutChaptersHasItsEnds(t *testing.T) {
	a, p := openPlayer(t, 100, 24, tuitest.PlainTheme(false), func(scenario, strategy string) (*trace.Trace, error) {
		tr, err := tuitest.Handmade(scenario, strategy)
		if err == nil {
			tr.Notes = nil
		}
		return tr, err
	})
	if v := tuitest.Unwrapped(a.View()); !strings.Contains(v, "G everything up to the end, and ! everything up to the next violation") || !strings.Contains(v, "gG ends") || strings.Contains(v, "[] ") {
		t.Errorf("the keys:\n%s", a.View())
	}
	if a.Press("]"); p.Pos != p.Run.Breaches[0].Pos {
		t.Errorf("] passes a violation: it leads to %d", p.Pos)
	}
}

// The views show nothing twice: where the list is the view there is no other list below it, and where the
// state has a pane it is no view.
func TestViewsShowNothingTwice(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		a, p := openRun(t, size[0], size[1], "naive-del", "late-release")
		a.Press("! right right right")
		for range int(views.State) + 1 {
			if a.Press("v"); p.view == views.Timeline {
				break
			}
			v := a.View()
			listed := fmt.Sprintf("%s #%d ", trace.Instant(p.Run.When(p.Pos)), p.Run.Event(p.Pos).Seq)
			if n := strings.Count(v, listed); p.view == views.Trace && n != 1 {
				t.Errorf("%v: an event is listed %d times:\n%s", size, n, v)
			}
			if n := strings.Count(v, "state at "); n != 1 && (p.view == views.State || size[0] >= layout.SideFrom) {
				t.Errorf("%v, %s: the state is there %d times:\n%s", size, p.View(), n, v)
			}
		}
	}
	a, p := openRun(t, 120, 40, "naive-del", "late-release") // few events stand below the heading of the ladder
	a.Press("right right v v")
	rows := strings.Split(a.View(), "\n")
	if !strings.Contains(rows[p.plan.Main.Y+1], "A wants the lock") {
		t.Errorf("the ladder does not begin below its heading:\n%s", a.View())
	}
}

// A run that plays by itself stops where the window is too small to show it.
func TestPlayingStopsWhereNobodySeesIt(t *testing.T) {
	a, p := openRun(t, 80, 24, "naive-del", "late-release")
	a.Press("space")
	if !p.playing {
		t.Fatal("it does not play")
	}
	if a.Send(tea.WindowSizeMsg{Width: 60, Height: 20}); p.playing {
		t.Error("it goes on unseen")
	}
}

// A step of the course goes on in the course, however its run was opened.
func TestCourseGoesOnFromItsRun(t *testing.T) {
	a, p := openRun(t, 80, 24, "naive-del", "late-release")
	if a.Press("r"); p.lesson == nil || !strings.Contains(p.lesson.String(), "step 2 of") || p.Run.Strategy == "naive-del" {
		t.Errorf("r leads to %s: %s", p.Run.Strategy, p.Notice)
	}
	a, p = openRun(t, 80, 24, "naive-del", "contention")
	if a.Press("r"); p.lesson != nil || !strings.Contains(p.Notice, "No lesson has this run.") {
		t.Errorf("r: %q", p.Notice)
	}
}

// The key that presents a lesson does so from the step that is played; elsewhere it says where it does.
func TestStepOfALessonIsPresented(t *testing.T) {
	app := tuitest.RealApp(screen.NewLibrary(), tuitest.PlainTheme(false))
	p := OpenLesson(app, screen.LessonMsg{Lesson: 5, Step: 1})
	tuitest.Open(t, 80, 24, app, p, nil)
	_, out := p.Update(tuitest.KeyMsg("p"))
	msg, is := out.To.(screen.PresentMsg)
	l := &app.Library.Lessons[5]
	if !is || msg.Playlist.Title != l.Title || len(msg.Playlist.Showings) != len(l.Steps)-1 || msg.Playlist.Showings[0].Strategy.Name != l.Steps[1].Strategy {
		t.Errorf("p asks for %+v", out.To)
	}
	a, p := openRun(t, 80, 24, "naive-del", "contention")
	if a.Press("p"); !strings.Contains(a.View(), "p presents a lesson: in the course, and in the steps that it opens.") {
		t.Errorf("p: %q", p.Notice)
	}
}

// A run that breaks something, but not the data, ends with what the resource refused, beside the cross.
func TestFenceIsTold(t *testing.T) {
	file := filepath.Join(t.TempDir(), "own.yaml")
	if err := os.WriteFile(file, []byte("title: Own\nsetup:\n  clients: {Alice: , Bob: {work: 5s}}\nscript:\n  - run: Alice\n    to: read\n  - pause: Alice\n  - wait: 12s\n  - run: Bob\n    to: read\n  - run: Alice\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	own, err := scenarios.Load(file)
	if err != nil {
		t.Fatal(err)
	}
	app := tuitest.RealApp(screen.NewLibrary(), tuitest.PlainTheme(false))
	for lock, told := range map[string]bool{"fenced": true, "setpx-lua": false} {
		app.Library.Include(app.Library.Strategies[app.Library.Strategy(lock)], own)
		p := New(app, app.Library.Strategy(lock), app.Library.Scenario(own))
		a := tuitest.Open(t, 80, 24, app, p, nil)
		a.Press("G")
		if got := strings.Contains(tuitest.Unwrapped(a.View()), "Two clients overlapped, but the resource refused Alice's write at 12.004s: fence 1 is older than 2. No update that it took was lost."); got != told {
			t.Errorf("%s: told is %v:\n%s", lock, got, a.View())
		}
	}
}

// The instant of a cursor behind the last event has a column of its own: what happened at the last event is
// not dated later.
func TestPassedTimeHasItsColumn(t *testing.T) {
	a, p := openPlayer(t, 80, 24, tuitest.PlainTheme(false), tuitest.Handmade)
	a.Press("G")
	head := func() (labels, ruler string) {
		rows := strings.Split(a.View(), "\n")
		return rows[2], rows[3]
	}
	_, before := head()
	p.Now = p.Run.When(p.Run.Last()) + 3*time.Second
	labels, after := head()
	was, is := []rune(before), []rune(after)
	if at := slices.Index(was, '▼'); at < 0 || is[at] == '▼' || !strings.Contains(labels, trace.Brief(p.Now)) {
		t.Errorf("the cursor stands at\n%s\nand then at\n%s\n%s", before, labels, after)
	}
}

// Where there is no room for the meaning of every sign, it is said which key has the others.
func TestLegendSaysThatThereIsMore(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 30}, {120, 40}, {140, 40}, {200, 60}} {
		a, p := openRun(t, size[0], size[1], "naive-del", "late-release")
		for p.Pos < p.Run.Last() {
			a.Press("]")
			if v := a.View(); (len(p.unexplained) > 0 && !strings.Contains(v, "other signs")) != strings.Contains(v, "? more ") {
				t.Errorf("%v: %d signs are not explained:\n%s", size, len(p.unexplained), v)
			}
		}
	}
}

// A pause that the window cuts off is as long as it is, not as long as what is in view.
func TestPauseIsWholeWhereTheWindowCutsIt(t *testing.T) {
	for _, zoom := range []string{"", " +", " + +", " + + +"} {
		a, _ := openRun(t, 200, 60, "naive-del", "late-release")
		a.Press("!" + zoom)
		for _, found := range regexp.MustCompile(`░ paused [0-9][0-9.]*s`).FindAllString(a.View(), -1) {
			if !strings.HasSuffix(found, " 13.998s") {
				t.Errorf("after %q: %q:\n%s", zoom, found, a.View())
			}
		}
	}
}

// Where the words name a key, the footer has it, in every window.
func TestFooterHasTheKeyOfTheRemedy(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		a, p := openRun(t, size[0], size[1], "naive-del", "late-release")
		for range p.Run.Breaches {
			a.Press("!")
			if v := a.View(); strings.Contains(v, "(c)") && !strings.Contains(v, "c compare") {
				t.Errorf("%v, at event %d:\n%s", size, p.Pos, v)
			}
		}
	}
}

// The key that goes on ends the playing: its timer would pass the violation that the key has come to.
func TestEnterEndsThePlaying(t *testing.T) {
	a, p := openRun(t, 120, 40, "naive-del", "late-release")
	a.Press("space")
	for n := 0; n < 20 && len(p.shown()) == 0; n++ {
		a.Press("enter")
	}
	at := p.Pos
	if a.Fire(); p.playing || p.Pos != at || len(p.shown()) == 0 {
		t.Errorf("after the key it plays on, from event %d to %d", at, p.Pos)
	}
}

// A run that plays by itself goes on at once by the key that goes on, plays on from there, and stops at a violation.
func TestEnterHurriesTheAutoplay(t *testing.T) {
	a, p := openRun(t, 120, 40, "naive-del", "late-release")
	a.Press("space")
	p.watched = true
	for n := 0; n < 20 && len(p.shown()) == 0; n++ {
		at := p.Pos
		if a.Press("enter"); p.Pos <= at && p.quiz.At(at) == nil || len(p.shown()) == 0 && (!p.playing || !strings.Contains(p.Notice, "plays by itself") && p.question() == nil) {
			t.Errorf("from event %d to %d; it plays: %v, and says %q", at, p.Pos, p.playing, p.Notice)
		}
	}
	if p.playing || !strings.Contains(p.Notice, "stops here") {
		t.Errorf("at the violation: it plays: %v, and says %q", p.playing, p.Notice)
	}
}

// A script whose first version can't be run is told with one error, that of the version that is there, and without
// keys for which there is nothing; it is run as soon as it can be.
func TestScriptThatNeverRan(t *testing.T) {
	file := filepath.Join(t.TempDir(), "mine.yaml")
	write := func(version int, steps string) {
		t.Helper()
		if err := os.WriteFile(file, []byte("title: Mine\nscript:\n  - run: A\n"+steps), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(file, time.Unix(int64(version), 0), time.Unix(int64(version), 0)); err != nil {
			t.Fatal(err)
		}
	}
	write(1, "  - until: 1ms\n") // it is past that instant when it comes there
	sc, err := scenarios.Find(file)
	if err != nil {
		t.Fatal(err)
	}
	lib := screen.NewLibrary()
	lib.Include(strategies.Strategy{}, sc)
	app := tuitest.RealApp(lib, tuitest.PlainTheme(false))
	p := New(app, lib.Strategy("setpx-lua"), 0)
	a := tuitest.Open(t, 80, 24, app, p, nil)
	check := func(yes, no string) {
		t.Helper()
		v := tuitest.Unwrapped(a.View())
		if !strings.Contains(v, tuitest.Unwrapped(yes)) || no != "" && strings.Contains(v, tuitest.Unwrapped(no)) || strings.Contains(v, tuitest.Unwrapped("space play")) {
			t.Errorf("not %q, or also %q:\n%s", yes, no, a.View())
		}
	}
	check("mine.yaml:4: 1ms is past", "")
	check("It is run again as soon as", "")
	write(2, "  - rum: A\n")
	a.Fire()
	check(`mine.yaml:4: unknown step "rum"`, "is past")
	write(3, "  - until: 2ms\n")
	a.Fire()
	check("mine.yaml:4: 2ms is past", "rum")
	write(4, "")
	if a.Fire(); p.Run == nil {
		t.Errorf("it isn't run:\n%s", a.View())
	}
	for i, version := range []struct{ expect, want string }{ // what the new version comes to is said as at its end
		{"", "The file has changed: the verdict is ok; nothing is expected of setpx-lua."},
		{"expect:\n  - {verdict: ok, under: [setpx-lua], because: x}\n", "The file has changed: the verdict is ok, as expected."},
		{"expect:\n  - {verdict: [DG, FR], under: [setpx-lua], because: x}\n", "The file has changed: the verdict is ok, and not DG FR as expected."},
	} {
		write(5+i, version.expect)
		if a.Fire(); !strings.Contains(a.View(), version.want) {
			t.Errorf("not %q:\n%s", version.want, a.View())
		}
	}
}

// A file that is edited into an error while its run is shown: the error stays through keys and what they say, also when
// another lock is shown, until the file is good again.
func TestErrorOfAFileStays(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		file := filepath.Join(t.TempDir(), "pay.yaml")
		write := func(version int, steps string) {
			t.Helper()
			if err := os.WriteFile(file, []byte("title: Pay\nscript:\n  - run: A\n"+steps), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(file, time.Unix(int64(version), 0), time.Unix(int64(version), 0)); err != nil {
				t.Fatal(err)
			}
		}
		write(1, "")
		sc, err := scenarios.Find(file)
		if err != nil {
			t.Fatal(err)
		}
		lib := screen.NewLibrary()
		lib.Include(strategies.Strategy{}, sc)
		app := tuitest.RealApp(lib, tuitest.PlainTheme(false))
		p := New(app, lib.Strategy("setpx-lua"), 0)
		a := tuitest.Open(t, size[0], size[1], app, p, nil)
		for version, bad := range []struct{ steps, want string }{
			{"  - rum: A\n", `Out of date: pay.yaml:4: unknown step "rum"`},
			{"  - until: 1ms\n", "Out of date: pay.yaml:4: 1ms is past"},
			{"  - rum: A\n  - wiat: 1s\n  - wiat: 2s\n", `Out of date (and 2 more): pay.yaml:4: unknown step "rum"`},
		} {
			write(2+version, bad.steps)
			a.Fire()
			for _, key := range []string{"", "enter", "right", "s", "s"} {
				a.Press(key)
				if top := strings.Split(a.View(), "\n")[1]; !strings.Contains(top, bad.want) { // as the presenter has it
					t.Errorf("%v: after %q not %q:\n%s", size, key, bad.want, a.View())
				}
			}
			if a.Press("T"); !strings.Contains(a.View(), "For a class") || !strings.Contains(a.View(), bad.want[:strings.Index(bad.want, ":4")]) {
				t.Errorf("%v: not both:\n%s", size, a.View())
			}
			a.Press("T")
			timers := app.After
			again := New(app, lib.Strategy("naive-del"), 0) // another screen, with the version of before if that is all there is
			if v := tuitest.Open(t, size[0], size[1], app, again, nil).View(); version == 0 && !strings.Contains(v, bad.want) {
				t.Errorf("%v: another player doesn't say it:\n%s", size, v)
			}
			app.After = timers // of the first
		}
		write(9, "")
		if a.Fire(); strings.Contains(a.View(), "Out of date") || !strings.Contains(strings.Split(a.View(), "\n")[1], "The file has changed") {
			t.Errorf("%v: it is good again, said in the place of the error:\n%s", size, a.View())
		}
	}
}

// The list of locks to compare with opens on the one that the words will recommend, wherever the reader is by then; and the
// words name the keys that it takes.
func TestCompareOpensOnTheRemedy(t *testing.T) {
	_, p := openRun(t, 120, 40, "naive-del", "late-release")
	for _, pos := range []int{0, p.Run.Chapters[1], p.Run.Breaches[0].Pos, p.Run.Last()} {
		p.goTo(pos)
		if got := p.Library.Strategies[p.comparePicker().At].Name; got != "setpx-lua" {
			t.Errorf("at %d it opens on %s", pos, got)
		}
	}
	a, _ := openRun(t, 120, 40, "naive-del", "late-release")
	if a.Press("!"); !strings.Contains(a.View(), "Withstands this run: setpx-lua (compare: c, enter).") {
		t.Error(a.View())
	}
}

// A lock that fails here, too, gets no tick, and that it fails comes first.
func TestRemedyThatFailsTooHasNoTick(t *testing.T) {
	found := 0
	for _, size := range [][2]int{{80, 24}, {200, 60}} {
		a, p := openRun(t, size[0], size[1], "naive-del", "pause-past-ttl")
		for _, b := range p.Run.Breaches {
			if b.Code != trace.FR {
				continue
			}
			p.goTo(b.Pos)
			v := a.View()
			if !strings.Contains(v, " setpx-lua shows no FR here, but SW OV: see why (compare: c, enter).") || strings.Contains(v, "✓ setpx-lua") || strings.Contains(v, "ithstands this run") {
				t.Errorf("%v:\n%s", size, v)
			}
			found++
		}
	}
	if found == 0 {
		t.Error("the run has no FR")
	}
}

// At the end of a run of a file's script it is said whether its author expects something of the lock; and where the
// verdict is expected, no cross stands beside it.
func TestEndSaysWhatIsExpected(t *testing.T) {
	own := filepath.Join(t.TempDir(), "own.yaml")
	const text = "title: x\nscript:\n  - run: A\n    to: after work first\n  - wait: 12s\n  - {run: B, to: work}\n  - run: A\n"
	for more, want := range map[string]string{"": "The script doesn't say what it expects of naive-del.", "expect:\n  - {verdict: [OV, FR], under: [naive-del]}\n": "✓ As expected: OV FR."} {
		if err := os.WriteFile(own, []byte(text+more), 0o600); err != nil {
			t.Fatal(err)
		}
		sc, err := scenarios.Find(own)
		if err != nil {
			t.Fatal(err)
		}
		lib := screen.NewLibrary()
		lib.Include(strategies.Strategy{}, sc)
		app := tuitest.RealApp(lib, tuitest.PlainTheme(false))
		a := tuitest.Open(t, 120, 40, app, New(app, lib.Strategy("naive-del"), lib.Scenario(sc)), nil)
		a.Press("G")
		if v := a.View(); !strings.Contains(v, want) || more != "" && (strings.Contains(v, "✗ OV overlapping") || !strings.Contains(v, "verdict OV overlapping")) {
			t.Errorf("%q:\n%s", more, v)
		}
	}
}

// Rows for which a window has no room are said to be left out, not to be "no row".
func TestRowsThatAreLeftOutAreNamed(t *testing.T) {
	a, p := openRun(t, 80, 24, "naive-del", "late-release")
	named := 0
	for p.goTo(0); p.Pos < p.Run.Last(); a.Press("enter") {
		v := a.View()
		if strings.Contains(v, "no row for") {
			t.Fatalf("at %d:\n%s", p.Pos, v)
		}
		if strings.Contains(v, " row left out: resource ") {
			named++
		}
	}
	if named == 0 {
		t.Error("nothing is left out at the least size")
	}
}

// The key that leaves the screen leaves the evidence first, for the violation that it proves.
func TestEscLeavesTheEvidenceFirst(t *testing.T) {
	a, p := openRun(t, 80, 24, "naive-del", "late-release")
	a.Press("! e")
	if at := p.Run.Breaches[p.picked].Pos; p.Pos == at {
		t.Fatal("the evidence is where the violation is complete")
	} else if _, out := p.Update(tuitest.KeyMsg("esc")); out.Close || p.Pos != at {
		t.Errorf("esc: %v, at %d, and the violation is at %d", out.Close, p.Pos, at)
	}
	if _, out := p.Update(tuitest.KeyMsg("esc")); !out.Close {
		t.Error("esc does not leave the player")
	}
}

// The counter of chapters is there at every event, and in one form, however much else the heading has to say.
func TestChaptersAreCountedInOneForm(t *testing.T) {
	counter := regexp.MustCompile(`^.* chapter \d+/\d+ *\n`)
	for _, run := range [][2]string{{"naive-del", "late-release"}, {"timestamp-del", "takeover-race"}, {"setnx", "stampede-fallthrough"}} {
		for _, size := range [][2]int{{80, 24}, {200, 60}} {
			a, p := openRun(t, size[0], size[1], run[0], run[1])
			for p.goTo(0); p.Pos < p.Run.Last(); a.Press("right") {
				if v := a.View(); !counter.MatchString(v) {
					t.Fatalf("%v in %v at %d:\n%s", run, size, p.Pos, v)
				}
			}
		}
	}
}

// A key stands once in the footer, the last step of the course offers no next one, and where the run goes on behind the end of a
// step the key for it is named.
func TestFooterOfTheLastStep(t *testing.T) {
	lib := screen.NewLibrary()
	app := tuitest.HandmadeApp(lib, tuitest.PlainTheme(false))
	last := len(lib.Lessons) - 1
	for _, at := range [][2]int{{0, 0}, {last, len(lib.Lessons[last].Steps) - 1}} {
		p := OpenLesson(app, screen.LessonMsg{Lesson: at[0], Step: at[1]})
		a := tuitest.Open(t, 160, 40, app, p, nil)
		p.goTo(p.Run.Told())
		v := a.View()
		if end := at[0] == last; strings.Contains(v, "r continue") == end || p.Pos < p.Run.Last() && !strings.Contains(v, "enter go on") {
			t.Errorf("the keys of step %v:\n%s", at, v)
		}
		p.watched = true
		rows := strings.Split(a.View(), "\n")
		if foot := rows[len(rows)-1]; strings.Count(foot, "space ") > 1 {
			t.Errorf("a key stands twice: %s", foot)
		}
	}
}

// The key that leaves closes first the code in the place of the diagram.
func TestEscClosesTheCodeFirst(t *testing.T) {
	a, p := openRun(t, 80, 24, "naive-del", "late-release")
	a.Press("s")
	a.View()
	for _, leaves := range []bool{false, true} {
		if _, out := p.Update(tuitest.KeyMsg("esc")); out.Close != leaves {
			t.Errorf("esc leaves the run: %v, want %v", out.Close, leaves)
		}
		a.View()
	}
}

// At the end of a run each client has a row for what it believed in the least window, too; and the table of who held the lock stands below the
// words where a window has the rows for both.
func TestEndShowsBeliefsAndHolders(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		a, _ := openRun(t, size[0], size[1], "naive-del", "late-release")
		a.Press("G")
		v := a.View()
		if n := strings.Count(v, "     thinks "); n < 3 {
			t.Errorf("%v: %d rows for what clients believed:\n%s", size, n, v)
		}
		if listed := strings.Contains(v, "who held the lock, up to 21.008s, the end of the run"); listed != (size[1] >= 40) {
			t.Errorf("%v: the table is listed: %v\n%s", size, listed, v)
		}
	}
}

// The table of who held the lock is one key away as soon as anybody has had it, the bar names the key at a violation, and esc closes a
// view before it leaves the run.
func TestHoldersAreOneKeyAway(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		soFar := "v " + draw.Either(size[0] < layout.SideFrom, "holders so far", "who held it so far")
		a, p := openRun(t, size[0], size[1], "naive-del", "late-release")
		if v := a.View(); !strings.Contains(v, soFar) {
			t.Errorf("%v: it isn't offered at the start:\n%s", size, v)
		}
		if a.Press("v"); !strings.Contains(a.View(), "nobody has held the lock yet") || !strings.Contains(a.View(), "v next view"+draw.Either(size[0] < layout.SideFrom, " ", ": who sends to whom")) {
			t.Errorf("%v: the key leads elsewhere before anybody has had the lock:\n%s", size, a.View())
		}
		a.Press("esc space")
		if v := a.View(); !p.playing || !strings.Contains(v, soFar) {
			t.Errorf("%v: it isn't offered while the run plays:\n%s", size, v)
		}
		if a.Press("space"); p.playing || !strings.Contains(a.View(), soFar) {
			t.Errorf("%v: it isn't offered when the run is stopped:\n%s", size, a.View())
		}
		for range p.Run.Breaches {
			if a.Press("!"); !strings.Contains(a.View(), soFar) {
				t.Errorf("%v: it isn't offered at a violation:\n%s", size, a.View())
			}
		}
		a.Press("v")
		if v := a.View(); strings.Count(v, "who held the lock so far, up to") != 1 || !strings.Contains(v, " G to the end ") || !strings.Contains(v, "B  record 12.001s to 15.001s (deleted by A)") {
			t.Errorf("%v: the key leads to\n%s", size, v)
		}
		if _, out := p.Update(tuitest.KeyMsg("esc")); out.Close || p.view != views.Timeline {
			t.Errorf("%v: esc leads out of the run, from %q: %v", size, p.View(), out.Close)
		}
		a.Press("G v")
		if v := a.View(); strings.Count(v, "who held the lock, up to") != 1 {
			t.Errorf("%v: at the end the list is there twice, or not at all:\n%s", size, v)
		}
		if v := a.View(); !strings.Contains(v, "virtual t") && !strings.Contains(v, " esc shows the timeline ") {
			t.Errorf("%v: at the end the timeline is gone without a word:\n%s", size, v)
		}
	}
}

// A run that plays stops while a page covers it, whichever, and says so when that is closed; while it plays, the first key of the footer stops it.
func TestPlayStopsUnderAPage(t *testing.T) {
	run := tuitest.RealRun(t, "naive-del", "late-release")
	app := tuitest.RealApp(tuitest.Shelf(func(string, string) (*trace.Trace, error) { return run, nil }), tuitest.PlainTheme(false))
	for _, page := range []string{"?", "f", "x"} {
		p := Open(app, screen.PlayMsg{Strategy: app.Library.Strategy("naive-del"), Scenario: app.Library.Named("crowd"), Playing: true})
		a := tuitest.Open(t, 80, 24, app, p, nil)
		a.Fire()
		if first := p.FooterKeys()[0].Help(); !p.playing || first.Key != "space" || first.Desc != "stop" {
			t.Fatalf("plays: %v; the footer begins with %v", p.playing, first)
		}
		at := p.Pos
		if a.Press(page); p.playing {
			t.Errorf("it plays below the page of %s", page)
		}
		a.Fire()
		a.Press("esc")
		if v := a.View(); p.Pos != at || !strings.Contains(v, "The run stops here: space plays on.") {
			t.Errorf("%s: event %d, and then %d:\n%s", page, at, p.Pos, v)
		}
		if a.Press("space"); !p.playing {
			t.Errorf("%s: it does not play on", page)
		}
	}
}

// What the end of a run and the event at the cursor say is whole, also beside a wall of code or of facts.
func TestEndAndEventAreWhole(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		a, p := openRun(t, size[0], size[1], "naive-del", "late-release")
		a.Press("G")
		width := min(size[0], 79)
		for _, l := range p.Narration(width, size[1]) {
			if l.Width() > width {
				t.Errorf("%v: %v is cut", size, l)
			}
		}
		for pos := range p.Run.Last() {
			p.goTo(pos)
			c := draw.NewCanvas(size[0], size[1], p.Theme.More)
			p.DrawStatus(c, draw.Rect(0, 0, width, 4))
			if v := c.Render(p.Theme); strings.Contains(v, p.Theme.More) {
				t.Errorf("%v, event %d:\n%s", size, pos, v)
			}
		}
	}
}

// The key for violations is offered until it is known that there is none: its absence would tell what is to come. At each but
// the last it is said that more follow.
func TestViolationsAreOffered(t *testing.T) {
	for lock, breaks := range map[string]bool{"naive-del": true, "setpx-lua": false} {
		for _, size := range [][2]int{{80, 24}, {200, 60}} {
			a, p := openRun(t, size[0], size[1], lock, "late-release")
			offered := func() bool {
				return strings.Contains(a.View(), "! violation") || strings.Contains(a.View(), "! to violation")
			}
			if !offered() || len(p.Run.Breaches) > 0 != breaks {
				t.Errorf("%s at %v: there are %d\n%s", lock, size, len(p.Run.Breaches), a.View())
			}
			for i := range p.Run.Breaches {
				a.Press("!")
				if last, v := i+1 == len(p.Run.Breaches), a.View(); !strings.Contains(v, p.Notice) || strings.Contains(p.Notice, "; ! for the next") == last {
					t.Errorf("%v, violation %d: %q\n%s", size, i+1, p.Notice, v)
				}
			}
			if a.Press("G"); !breaks && offered() {
				t.Errorf("%s at %v, at its end:\n%s", lock, size, a.View())
			}
		}
	}
}
