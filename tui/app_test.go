package tui

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"lockstep/scenarios"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/present"
	"lockstep/tui/progress"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

// openApp opens the door of the shelf, with made-up searches.
func openApp(t testing.TB, w, h int, th *draw.Theme, run func(string, string) (*trace.Trace, error)) *tuitest.App {
	r := newRoot(tuitest.Shelf(run), &progress.Store{}, Options{Seed: 1, Exports: tuitest.Formats()}, th)
	tuitest.MakeUp(r.App)
	return tuitest.NewTester(t, w, h, r)
}

// openOn opens the player on the shelf's first scenario.
func openOn(t testing.TB, w, h int) *tuitest.App {
	lib := tuitest.Shelf(tuitest.Handmade)
	o := Options{Strategy: lib.Strategies[lib.Strategy("setpx-lua")], Scenario: lib.Scenarios[0], Seed: 1}
	return tuitest.NewTester(t, w, h, newRoot(lib, &progress.Store{}, o, tuitest.PlainTheme(false)))
}

// ways are the keys to every screen, from the door.
var ways = map[string]string{
	"door":     "down",
	"decide":   "4 down right",
	"runs":     "5 g right right right",
	"course":   "tab",
	"lesson":   "tab right enter ! !",
	"player":   "5 enter ! !",
	"watched":  "1",
	"compare":  "5 c down down enter ! !",
	"picker":   "5 enter f",
	"helpdoor": "?",
	"search":   "5 a down down down down down down down right",
	"found":    "5 a enter down",
	"shown":    "5 a enter enter ! !",
	"present":  "2 down p ! !",
	"levels":   "3 down",
	"level":    "3 enter down",
	"game":     "5 b down",
	"own":      "5 a enter b",
	"sandbox":  "5 enter right right b",
}

// The help is drawn by the router, over any screen.
func TestHelpScreens(t *testing.T) {
	tuitest.EachFrame(t, "helpdoor", func(t *testing.T, name string, w, h int, th *draw.Theme) {
		a := openApp(t, w, h, th, tuitest.Handmade)
		a.Press("?")
		tuitest.Golden(t, name, a.View())
	})
}

// Colour carries no information of its own: without it the frames are the same text.
func TestColourIsNeverTheOnlySign(t *testing.T) {
	testenv.LongRaced(t)
	all := tuitest.Looks()
	for name, keys := range ways {
		want := ""
		for _, look := range []string{"dark", "light", "mono"} {
			a := openApp(t, 120, 30, all[look], tuitest.Handmade)
			a.Press(keys)
			got := tuitest.Stripped(a.View())
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%s reads differently in %s:\n%s\nand in dark:\n%s", name, look, got, want)
			}
		}
	}
}

func TestEveryScreenHasHelp(t *testing.T) {
	for name, keys := range ways {
		a := openApp(t, 80, 24, tuitest.PlainTheme(false), tuitest.Handmade)
		a.Press(strings.TrimSuffix(keys, "?"))
		depth := a.Depth()
		p := a.Top().Help()
		a.Press("?")
		v := a.View()
		if !strings.Contains(v, p.Title) || p.About == "" {
			t.Errorf("%s has no help:\n%s", name, v)
		}
		shown := map[string]bool{}
		for _, b := range p.Keys {
			for _, k := range b.Keys() {
				shown[k] = true
			}
		}
		a.Press("?")
		if a.Depth() != depth {
			t.Errorf("%s: ? does not close its help", name)
		}
		for _, b := range a.Top().FooterKeys() {
			for _, k := range b.Keys() {
				if !shown[k] {
					t.Errorf("%s: %q works, says the footer, but the help does not have it", name, k)
				}
			}
		}
	}
}

// In ASCII no frame has any other character.
func TestASCIIIsNothingElse(t *testing.T) {
	for name, keys := range ways {
		a := openApp(t, 140, 40, tuitest.PlainTheme(true), tuitest.Handmade)
		a.Press(keys)
		if i := strings.IndexFunc(a.View(), func(r rune) bool { return r > 126 }); i >= 0 {
			t.Errorf("%s: not only ASCII: %q", name, a.View()[i:i+10])
		}
	}
}

func TestWaysThroughTheRooms(t *testing.T) {
	a := openApp(t, 80, 24, tuitest.PlainTheme(false), tuitest.Handmade)
	for _, step := range []struct{ keys, want string }{
		{"esc", "*door.Door"}, {"tab", "*course.Course"}, {"esc", "*door.Door"}, {"tab", "*course.Course"}, {"p", "*present.Present"}, {"esc", "*course.Course"}, {"esc", "*door.Door"},
		{"4", "*decide.Decide"}, {"esc", "*door.Door"}, {"3", "*levels.List"}, {"3", "*game.Game"}, {"o", "*levels.List"}, {"esc", "*game.Game"}, {"esc", "*levels.List"}, {"esc", "*door.Door"},
		{"1", "*player.Player"}, {"?", "*screen.help"}, {"?", "*player.Player"}, {"esc", "*door.Door"},
		{"5", "*runs.Runs"}, {"tab", "*course.Course"}, {"tab", "*runs.Runs"}, {"enter", "*player.Player"}, {"f", "*picker.Picker"}, {"esc", "*player.Player"}, {"o", "*picker.Picker"},
		{"enter", "*player.Player"}, {"c", "*picker.Picker"}, {"down enter", "*compare.Compare"}, {"enter", "*player.Player"}, {"esc", "*compare.Compare"},
		{"?", "*screen.help"}, {"esc", "*compare.Compare"}, {"esc", "*player.Player"}, {"esc", "*runs.Runs"}, {"esc", "*door.Door"}, {"esc", "*door.Door"},
	} {
		a.Press(step.keys)
		if got := fmt.Sprintf("%T", a.Top()); got != step.want {
			t.Fatalf("%s leads to %s, want %s", step.keys, got, step.want)
		}
	}
}

// The advice that nobody has answered yet begins with its first question, however it was left; answers stay, and the cursor with them.
func TestAdviceBeginsAtItsFirstQuestion(t *testing.T) {
	a := openApp(t, 80, 24, tuitest.PlainTheme(false), tuitest.Handmade)
	for _, step := range []struct{ keys, want string }{{"4 down", "▸ ? What you protect"}, {"esc 4", "▸ ? Two holders"}, {"2", "▸ ? What you protect"}, {"esc 4", "▸ ? What you protect"}} {
		if a.Press(step.keys); !strings.Contains(a.View(), step.want) {
			t.Errorf("after %s there is no %q:\n%s", step.keys, step.want, a.View())
		}
	}
}

// The list of levels looks the same wherever it was opened, so its footer says where esc leads from a game.
func TestLevelsSayWhereEscLeads(t *testing.T) {
	a := openApp(t, 80, 24, tuitest.PlainTheme(false), tuitest.Handmade)
	for _, step := range []struct{ keys, want string }{{"3", "esc back"}, {"3", ""}, {"o", "esc level 3"}} {
		if a.Press(step.keys); !strings.Contains(a.View(), step.want) {
			t.Errorf("after %s there is no %q:\n%s", step.keys, step.want, a.View())
		}
	}
}

// Esc from a run that was named on the command line leads to its cell of the matrix, and from there to
// the door.
func TestEscFromTheCommandLine(t *testing.T) {
	testenv.LongRaced(t)
	own, err := scenarios.Load("../docs/example.yaml")
	if err != nil {
		t.Fatal(err)
	}
	lib := tuitest.Shelf(tuitest.Handmade)
	fenced := lib.Strategies[lib.Strategy("fenced")]
	a := tuitest.NewTester(t, 80, 24, newRoot(lib, &progress.Store{}, Options{Strategy: fenced, Scenario: own, Seed: 1}, tuitest.PlainTheme(false)))
	if head := tuitest.FirstLine(a.View()); !strings.Contains(head, own.Title) || !strings.Contains(head, "with fenced") {
		t.Errorf("opened is %q", head)
	}
	a.Press("esc")
	if v := a.View(); fmt.Sprintf("%T", a.Top()) != "*runs.Runs" || !strings.Contains(v, own.Title+": ") || !strings.Contains(v, "fenced: SET") {
		t.Errorf("esc leads to\n%s", v)
	}
	if a.Press("enter"); !strings.Contains(tuitest.FirstLine(a.View()), own.Title) {
		t.Errorf("enter does not open it again:\n%s", a.View())
	}
	if a.Press("esc esc"); fmt.Sprintf("%T", a.Top()) != "*door.Door" {
		t.Errorf("esc leads to %T", a.Top())
	}
	goal := trace.FR
	for _, tt := range []struct {
		o     Options
		stack []string
	}{
		{Options{Lesson: 2}, []string{"*player.Player", "*course.Course", "*door.Door", "*door.Door"}},
		{Options{Game: true, Level: 1}, []string{"*game.Game", "*levels.List", "*door.Door"}},
		{Options{Course: true}, []string{"*course.Course", "*door.Door"}},
		{Options{Game: true, Strategy: fenced, Goal: &goal}, []string{"*game.Game", "*runs.Runs", "*door.Door"}},
	} {
		tt.o.Seed = 1
		r := newRoot(tuitest.Shelf(tuitest.Handmade), &progress.Store{}, tt.o, tuitest.PlainTheme(false))
		tuitest.MakeUp(r.App)
		a := tuitest.NewTester(t, 80, 24, r)
		for _, want := range tt.stack {
			if got := fmt.Sprintf("%T", a.Top()); got != want {
				t.Errorf("%+v: esc leads to %s, want %s", tt.o, got, want)
			}
			a.Press("esc")
		}
	}
}

func TestCourseIsRemembered(t *testing.T) {
	path := t.TempDir() + "/state/progress.json"
	open := func() *tuitest.App {
		return tuitest.NewTester(t, 80, 24, newRoot(tuitest.Shelf(tuitest.Handmade), progress.Open(path), Options{Seed: 1}, tuitest.PlainTheme(false)))
	}
	a := open()
	a.Press("tab enter")
	if v := a.View(); !strings.Contains(v, "lesson 1, step 1 of 2") || !strings.Contains(v, "notices nothing of it") {
		t.Errorf("the step does not begin with its lesson:\n%s", v)
	}
	a.Press("] 2 enter") // A will believe: right
	if v := a.View(); !strings.Contains(v, "You said: A. Right.") || !strings.Contains(v, "1 of 1") {
		t.Errorf("the prediction is not judged:\n%s", v)
	}
	a.Press("G")
	if v := a.View(); !strings.Contains(v, "A sleeps past its lease.") || !strings.Contains(v, "continues with setpx-lua") {
		t.Errorf("the step does not end with its outcome:\n%s", v)
	}
	named := tuitest.NewTester(t, 80, 24, newRoot(tuitest.Shelf(tuitest.Handmade), progress.Open(path), Options{Lesson: 1, Seed: 1}, tuitest.PlainTheme(false)))
	if head := tuitest.FirstLine(named.View()); !strings.Contains(head, "lesson 1, step 1 of 2") {
		t.Errorf("a lesson that is named begins with %q", head)
	}
	a = open()
	a.Press("tab")
	if v := a.View(); !strings.Contains(v, "1 of 3 steps seen") || !strings.Contains(v, "1 of 1 predictions right") || !strings.Contains(v, "▸ 2 setpx-lua") {
		t.Errorf("progress is lost:\n%s", v)
	}
	a.Press("enter G r G r")
	if head := tuitest.FirstLine(a.View()); !strings.Contains(head, "with redlock") || !strings.Contains(head, "lesson 2, step 1 of 1") {
		t.Errorf("r leads to %q", head)
	}
	a.Press("r")
	if v := a.View(); !strings.Contains(v, "last step of the course") {
		t.Errorf("the course does not end:\n%s", v)
	}
}

// A step of the course counts as seen once its last violation or its end was reached, in the presenter, too; and not by being
// opened there, as the claims open a run.
func TestRunsCountAsSeenWhereverTheyAre(t *testing.T) {
	lib, p := tuitest.Shelf(tuitest.Handmade), &progress.Store{}
	l := &lib.Lessons[0]
	seen := func() (n int) { return p.Count(l.Name) }
	r := newRoot(lib, p, Options{Seed: 1}, tuitest.PlainTheme(false))
	tuitest.MakeUp(r.App)
	s, err := (&screens{App: r.App}).open(screen.PlayMsg{Strategy: lib.Strategy(l.Steps[0].Strategy), Scenario: lib.Named(l.Steps[0].Scenario), From: 1000})
	if err != nil {
		t.Fatal(err)
	}
	a := tuitest.NewTester(t, 80, 24, screen.NewRouter(r.App, nil, s))
	if v := a.View(); seen() > 0 {
		t.Errorf("a run that was opened at its end and not watched counts as %d:\n%s", seen(), v)
	}
	a.Press("left right")
	if seen() != 1 {
		t.Errorf("at its end it counts as %d", seen())
	}
	p = &progress.Store{}
	a = tuitest.NewTester(t, 80, 24, newRoot(lib, p, Options{Seed: 1}, tuitest.PlainTheme(false)))
	a.Press("tab p")
	for range 60 {
		a.Press("enter")
	}
	if seen() != len(l.Steps) {
		t.Errorf("%d of %d steps count after the presenter has shown them:\n%s", seen(), len(l.Steps), a.View())
	}
}

// All screens get what comes of the background: a run that one of them has asked for is
// not another's, and least of all under another lock's name.
func TestEachScreenKeepsItsOwnRun(t *testing.T) {
	a := openOn(t, 120, 40)
	stands := func(lock, event string) bool {
		return strings.Contains(tuitest.FirstLine(a.View()), "with "+lock+" ") && strings.Contains(a.View(), " "+event+" of ")
	}
	a.Press("right right right c enter right right enter")
	if stands("setpx-lua", "#5") || !stands("fenced", "#5") {
		t.Errorf("the lower run is another, or elsewhere:\n%s", a.View())
	}
	a.Press("esc esc")
	if !stands("setpx-lua", "#3") {
		t.Errorf("the first run is another, or elsewhere:\n%s", a.View())
	}
}

func TestTooSmall(t *testing.T) {
	for w := 1; w < draw.MinWidth; w += 3 {
		for h := 1; h < draw.MinHeight; h += 2 {
			openOn(t, w, h).CheckFrame("small")
		}
	}
	if v := openOn(t, 60, 20).View(); !strings.Contains(v, "needs 80 x 24") {
		t.Error(v)
	}
}

// The order of initialisation that package quiet relies on.
func TestTerminalIsNotAskedAtStart(t *testing.T) {
	cmd := exec.Command(os.Args[0], "-test.run=^$")
	cmd.Env = append(os.Environ(), "GODEBUG=inittrace=1", "TERM=xterm-256color")
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Run(); err != nil {
		t.Fatal(err)
	}
	quiet := strings.Index(errs.String(), "init lockstep/tui/quiet ")
	asks := strings.Index(errs.String(), "init github.com/charmbracelet/bubbletea ")
	if quiet < 0 || asks < 0 || quiet > asks {
		t.Errorf("package quiet must be initialised before bubbletea:\n%s", errs.String())
	}
}

// openLocks opens the matrix of real locks and one scenario, on a lock.
func openLocks(t testing.TB, strategy string) *tuitest.App {
	lib := tuitest.LocksOnly()
	r := newRoot(lib, &progress.Store{}, Options{Seed: 1}, tuitest.PlainTheme(false))
	r.Now = func() time.Time { return time.Time{} }
	a := tuitest.NewTester(t, 120, 40, r)
	a.Press("5" + strings.Repeat(" left", len(lib.Strategies)) + strings.Repeat(" right", lib.Strategy(strategy)))
	return a
}

// A game that is reopened has its moves and hints again; a search that is reopened has its
// findings.
func TestWhatWasLeftStays(t *testing.T) {
	testenv.LongRaced(t)
	a := openLocks(t, "naive-del")
	a.Press("b 1 enter up up up")
	left := a.View()
	if !strings.Contains(left, "So far 2 moves.") || !strings.Contains(left, "i gives a hint") {
		t.Fatalf("no steps are made:\n%s", left)
	}
	if a.Press("esc b up"); a.View() != left {
		t.Errorf("back in the game it is elsewhere, or without a hint:\n%s\nand was\n%s", a.View(), left)
	}
	a.Press("esc a enter")
	search, found := a.Top(), a.View()
	if !strings.Contains(found, "covered: every schedule") {
		t.Fatalf("nothing is found:\n%s", found)
	}
	if a.Press("esc a"); a.Top() != search || a.View() != found {
		t.Fatalf("the search is forgotten:\n%s", a.View())
	}
	a.Press("enter")
	if got := fmt.Sprintf("%T", a.Top()); got != "*finding.Finding" {
		t.Fatalf("no finding is played, but %s:\n%s", got, a.View())
	}
	depth := a.Depth()
	if a.Press("a"); a.Top() != search || a.Depth() != depth-1 {
		t.Errorf("%d screens lead to the search, after %d", a.Depth(), depth)
	}
}

// The answers that lead to a lock are there again when the questions are opened again.
func TestAnswersAreKept(t *testing.T) {
	a := openApp(t, 80, 24, tuitest.PlainTheme(false), tuitest.Handmade)
	a.Press("4 right")
	chosen := a.View()
	if a.Press("esc 4"); !strings.Contains(a.View(), "your answers of before are kept: u clears them") {
		t.Errorf("it isn't said that answers are kept:\n%s", a.View())
	}
	if a.Press("home"); a.View() != chosen || !strings.Contains(chosen, "(x) destroy something") {
		t.Errorf("the answers were\n%s\nand are\n%s", chosen, a.View())
	}
}

// Without a lock to break, the game begins with the list of levels, with the cursor on the one to go on with, as it does
// from the door. A number that can be no longer plays that level, and esc leads from there to the list, at that level, and to the door. A level in
// which nothing was tried is not the one to go on with.
func TestPlayOpensTheLevels(t *testing.T) {
	lib := tuitest.LocksOnly()
	a := tuitest.NewTester(t, 120, 40, newRoot(lib, &progress.Store{}, Options{Game: true, Seed: 1}, tuitest.PlainTheme(false)))
	for _, step := range []struct {
		keys  string
		depth int
		want  string
	}{{"", 2, "Which lock do you want to break?  row 1 of "}, {"3", 3, "Level 3 of "}, {"esc", 2, "row 3 of "}, {"esc", 1, "Break it yourself"}, {"3", 2, "row 1 of "},
		{"3", 3, "Level 3 of "}, {"1 esc esc 3", 2, "row 3 of "}, {"enter", 3, "Level 3 of "}} {
		if a.Press(step.keys); a.Depth() != step.depth || !strings.Contains(a.View(), step.want) {
			t.Errorf("%q leads %d deep to\n%s", step.keys, a.Depth(), a.View())
		}
	}
}

// Where several levels are about a lock and a goal, the game says which, and how to open the others.
func TestOtherLevelsAreNamed(t *testing.T) {
	lib := tuitest.LocksOnly()
	goal := trace.PD
	for lock, want := range map[string]string{"setnx-expire": "Levels 2 and 3 fit: o lists them, and lockstep play 3 opens level 3.", "setnx": ""} {
		o := Options{Game: true, Seed: 1, Strategy: lib.Strategies[lib.Strategy(lock)], Goal: &goal}
		v := tuitest.NewTester(t, 80, 24, newRoot(lib, &progress.Store{}, o, tuitest.PlainTheme(false))).View()
		if !strings.Contains(v, want) || want == "" && strings.Contains(v, "lockstep play") {
			t.Errorf("%s: there is no %q in\n%s", lock, want, v)
		}
	}
}

// A playlist that was named on the command line is the only screen: esc leads to the shell.
func TestPlaylistFromTheShell(t *testing.T) {
	lib := screen.NewLibrary()
	shown := &scenarios.Playlist{Showings: []scenarios.Showing{{Strategy: lib.Strategies[0], Scenario: lib.Scenarios[0]}}}
	r := newRoot(lib, &progress.Store{}, Options{Present: shown, Seed: 1}, tuitest.PlainTheme(false))
	if _, is := r.Top().(*present.Present); !is || r.Depth() != 1 {
		t.Errorf("below %T there are %d screens", r.Top(), r.Depth()-1)
	}
}

// A run opens at its beginning, and waits, wherever it is opened from; but at the instant that a message names. Only the door
// asks for one that plays.
func TestRunsOpenAtTheirBeginning(t *testing.T) {
	for _, c := range []struct {
		way    string
		begins bool
	}{{"player", true}, {"lesson", true}, {"shown", true}, {"compare", false}} {
		a := openApp(t, 80, 24, tuitest.PlainTheme(false), tuitest.Handmade)
		keys := strings.TrimSuffix(ways[c.way], " ! !")
		if c.way == "compare" {
			keys += " right right enter"
		}
		a.Press(keys)
		if begins := strings.Contains(a.View(), "nothing has happened yet"); begins != c.begins {
			t.Errorf("%s opens a run at its beginning: %v\n%s", keys, begins, a.View())
		}
		if v := a.View(); strings.Contains(v, "plays by itself") {
			t.Errorf("%s has the run play:\n%s", keys, v)
		}
	}
}
