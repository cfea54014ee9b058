package tui

import (
	"bytes"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"lockstep/scenarios"
	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/strategies"
)

// openPlayer opens the player on the shelf's first scenario.
func openPlayer(t testing.TB, w, h int, th *theme, run func(string, string) (*sim.Trace, error)) (*tester, *player) {
	s := realStage(shelf(run), th)
	p := newPlayer(s, s.lib.strategy("setpx-lua"), 0)
	return open(t, w, h, s, p, nil), p
}

// openRun opens the player on a real run.
func openRun(t testing.TB, w, h int, strategy, scenario string) (*tester, *player) {
	s := realStage(newLibrary(), plainTheme(false))
	p := newPlayer(s, s.lib.strategy(strategy), s.lib.named(scenario))
	return open(t, w, h, s, p, nil), p
}

func TestScreens(t *testing.T) {
	for screen, first := range map[string]func(*stage) room{
		"player": func(s *stage) room { return newPlayer(s, 3, 0) },
		"lesson": func(s *stage) room { return newPupil(s, lessonMsg{lesson: 0, step: 1}) },
		"shown": func(s *stage) room {
			found, err := handmadeSearch(t.Context(), explore.Defaults(s.lib.strategies[3]), explore.Options{Progress: func(explore.Progress) {}})
			if err != nil {
				t.Fatal(err)
			}
			return newShown(s, findingMsg{strategy: 3, trace: found.Violated[0].Trace, sought: found.Violated[0].Code})
		},
	} {
		eachFrame(t, screen, func(t *testing.T, name string, w, h int, th *theme) {
			s := handmadeStage(shelf(handmade), th)
			a := open(t, w, h, s, first(s), nil)
			a.press("! !")
			golden(t, name, a.View())
		})
	}
}

func TestOtherViews(t *testing.T) {
	for name, keys := range map[string]string{
		"start": "g", "ask": "] ]", "right": "] ] 1", "wrong": "] ] 0", "answer": "] ] enter", "end": "G", "ladder": "! v", "trace": "! v v", "state": "! v v v",
		"source": "right right right s", "evidence": "! ! e", "search": "/ w r i t e enter", "typing": "/ w r", "filter": "! ! v v & n 1 enter", "nothing-found": "/ z z enter",
		"help": "?", "strategies": "f", "scenarios": "o down", "notice": "! ! !", "many-nodes": "o down enter ] right right right right",
	} {
		t.Run(name, func(t *testing.T) {
			a, _ := openPlayer(t, 80, 24, plainTheme(false), handmade)
			a.press(keys)
			golden(t, "80x24-"+name, a.View())
		})
	}
}

func TestMonoKeepsBoldAndReverse(t *testing.T) {
	th := newTheme(newRenderer(rendererOf(termenv.Ascii), "", true), true, false)
	a, _ := openPlayer(t, 80, 24, th, handmade)
	a.press("!")
	if v := a.View(); !strings.Contains(v, "\x1b[1;7m !! ") {
		t.Errorf("the alarm is not bold and reversed:\n%q", v)
	} else if colour := regexp.MustCompile(`\x1b\[([0-9;]*;)?[34][0-8][;m]`).FindString(v); colour != "" {
		t.Errorf("there is a colour in it: %q", colour)
	}
}

func TestStepping(t *testing.T) {
	a, p := openPlayer(t, 80, 24, plainTheme(false), handmade)
	last := p.reel.Last()
	for _, step := range []struct {
		keys string
		want int
	}{
		{"left", 0}, {"right", 1}, {"l l", 3}, {"h", 2}, {"g", 0}, {"]", 7}, {"]", 10}, {"[", 7}, {"[", 0}, {"G", last}, {"right", last},
		{"g !", 16}, {"!", 19}, {"!", 16}, {"end", last}, {"home", 0},
	} {
		if a.press(step.keys); p.pos != step.want {
			t.Errorf("after %q the cursor is at %d, want %d", step.keys, p.pos, step.want)
		}
	}
}

func TestKeysThatArriveTogetherAllCount(t *testing.T) {
	a, p := openPlayer(t, 80, 24, plainTheme(false), handmade)
	a.press("lllh")
	if got := p.pos; got != 2 {
		t.Errorf("after lllh the cursor is at %d, want 2", got)
	}
	a.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("G!q"), Paste: true})
	if got := p.pos; got != 2 {
		t.Errorf("pasted text has moved the cursor to %d", got)
	}
}

func TestViolationIsShouted(t *testing.T) {
	a, _ := openPlayer(t, 80, 24, plainTheme(false), handmade)
	if a.press("]"); strings.Contains(a.View(), "!!") {
		t.Errorf("shouts before anything is broken:\n%s", a.View())
	}
	a.press("!")
	for _, want := range []string{"!! OVERLAPPING CRITICAL SECTIONS !!", "A (lease over) and B believe", "!! OV", "1 2ms #6 A enters", "2 4.002s #16 B enters"} {
		if !strings.Contains(a.View(), want) {
			t.Errorf("no %q in\n%s", want, a.View())
		}
	}
}

func TestStrategyKeepsScenarioAndPlace(t *testing.T) {
	asked := ""
	a, p := openPlayer(t, 80, 24, plainTheme(false), func(scenario, strategy string) (*sim.Trace, error) {
		asked = strategy + " under " + scenario
		return handmade(scenario, strategy)
	})
	lib := p.lib
	above := lib.strategies[lib.strategy("setpx-lua")-1].Name
	a.press("] ] f up enter")
	if asked != above+" under pause-past-ttl" {
		t.Errorf("ran %s, want %s", asked, above)
	}
	if p.pos != 10 || p.reel.Chapter(p.pos) != 3 {
		t.Errorf("the place in the story is lost: at %d", p.pos)
	}
	a.press("o down enter")
	if p.pos != 0 || !strings.HasSuffix(asked, "under crowd") {
		t.Errorf("ran %s, at %d", asked, p.pos)
	}
}

func TestLateResultIsDropped(t *testing.T) {
	a, p := openPlayer(t, 80, 24, plainTheme(false), handmade)
	first := p.open(0, 0)
	second := p.open(1, 0)
	a.send(second())
	a.send(first())
	if got := p.reel.Trace.Strategy; got != p.lib.strategies[1].Name {
		t.Errorf("shows %s", got)
	}
}

func TestFailedRunIsTold(t *testing.T) {
	a, _ := openPlayer(t, 80, 24, plainTheme(false), func(string, string) (*sim.Trace, error) { return nil, errors.New("no such luck") })
	if v := a.View(); !strings.Contains(v, "can't be run") || !strings.Contains(v, "no such luck") {
		t.Error(v)
	}
	a.press("right ! v s G space tab up ? esc")
	a.checkFrame("failed")
}

func TestPlayingStopsWhereOneShouldLook(t *testing.T) {
	a, p := openPlayer(t, 80, 24, plainTheme(false), handmade)
	for _, want := range []int{10, 16, 19, p.reel.Last()} {
		a.press("space")
		for n := 0; p.playing && n < 1000; n++ {
			a.send(ticked(p.tick - 1)) // an old timer counts for nothing
			at := p.pos
			a.send(ticked(p.tick))
			if p.pos != at+1 {
				t.Fatalf("one tick went from %d to %d", at, p.pos)
			}
		}
		if p.pos != want {
			t.Errorf("stopped at %d, want %d", p.pos, want)
		}
	}
	if a.press("space left"); p.playing {
		t.Error("stepping by hand does not stop the playing")
	}
}

// Every cell of the matrix can be looked at, at every chapter and violation.
func TestEveryRealRunCanBeDrawn(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the whole matrix")
	}
	for i, sc := range scenarios.All() {
		for j, st := range strategies.All() {
			if os.Getenv("LOCKSTEP_WHOLE") == "" && (i+j)%6 > 1 { // a third of them, in both sizes; CI draws all
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
	for range len(p.reel.Chapters) + len(p.reel.Breaches) {
		if strings.Contains(a.checkFrame(what), "more rows:") {
			t.Fatalf("%s hides rows at %dx%d", what, w, h)
		}
		a.press("]")
	}
	for range p.reel.Breaches {
		a.press("!")
		a.checkFrame(what)
	}
}

func TestVeilHidesWhatIsAsked(t *testing.T) {
	a, _ := openPlayer(t, 140, 40, plainTheme(false), handmade)
	a.press("] ]")
	open := a.View()
	if !strings.Contains(open, "?????") || !strings.Contains(open, "not before the question is answered") {
		t.Errorf("the answer can be read off the screen:\n%s", open)
	}
	a.press("0")
	if v := a.View(); strings.Contains(v, "?????") || !strings.Contains(v, "You said: nobody. It is: A.") {
		t.Errorf("nothing is revealed:\n%s", v)
	}
	a.press("1")
	if v := a.View(); !strings.Contains(v, "You said: nobody") {
		t.Errorf("a second guess is taken:\n%s", v)
	}
}

func TestMouse(t *testing.T) {
	a, p := openPlayer(t, 80, 24, plainTheme(false), handmade)
	a.press("m G")
	a.View()
	col := p.axes.axis.cols[9]
	a.click(p.plan.main.x+labelWidth+col, p.plan.main.y+3)
	if p.axes.axis.cols[p.pos] != col {
		t.Errorf("the click on event 9's column went to %d", p.pos)
	}
	a.send(tea.MouseMsg{Action: tea.MouseActionPress, Button: tea.MouseButtonWheelDown})
	if p.pos != 10 {
		t.Errorf("the wheel went to %d", p.pos)
	}
}

func TestExportWritesTheRun(t *testing.T) {
	t.Chdir(t.TempDir())
	a, p := openPlayer(t, 100, 30, plainTheme(false), handmade)
	var want bytes.Buffer
	if err := p.reel.Trace.Plain(&want); err != nil {
		t.Fatal(err)
	}
	for _, file := range []string{"setpx-lua-pause-past-ttl.txt", "setpx-lua-pause-past-ttl-2.txt"} {
		a.press("x enter")
		if got, err := os.ReadFile(file); err != nil || string(got) != want.String() {
			t.Errorf("%s: %v, %q", file, err, got)
		}
		if !strings.Contains(a.View(), "Written to ./"+file) {
			t.Errorf("nobody is told of %s:\n%s", file, a.View())
		}
	}
	a.exports[0].Write = func(io.Writer, *sim.Trace) error { return errors.New("the disk is full") }
	a.press("x enter")
	if _, err := os.Stat("setpx-lua-pause-past-ttl-3.txt"); err == nil || !strings.Contains(a.View(), "Not written: the disk is full") {
		t.Errorf("a failed export leaves a file, or says nothing: %v\n%s", err, a.View())
	}
}
