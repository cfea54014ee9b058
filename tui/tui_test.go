package tui

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"lockstep/scenarios"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/progress"
)

func TestOtherViews(t *testing.T) {
	for name, keys := range map[string]string{
		"start": "g", "ask": "] ]", "right": "] ] 1", "wrong": "] ] 0", "answer": "] ] enter", "end": "G", "ladder": "! v", "trace": "! v v", "state": "! v v v",
		"source": "right right right s", "evidence": "! ! e", "search": "/ w r i t e enter", "typing": "/ w r", "filter": "! ! v v & n 1 enter", "nothing-found": "/ z z enter",
		"help": "?", "strategies": "f", "scenarios": "o down", "notice": "! ! !", "many-nodes": "o down enter ] right right right right",
	} {
		t.Run(name, func(t *testing.T) {
			a := newApp(t, 80, 24, plainTheme(false), handmade)
			a.press(keys)
			golden(t, "80x24-"+name, a.View())
		})
	}
}

func TestMonoKeepsBoldAndReverse(t *testing.T) {
	o := Options{NoColor: true}
	th := newTheme(newRenderer(o, rendererOf(termenv.Ascii)), o.mono(), false)
	a := newApp(t, 80, 24, th, handmade)
	a.press("!")
	if v := a.View(); !strings.Contains(v, "\x1b[1;7m !! ") {
		t.Errorf("the alarm is not bold and reversed:\n%q", v)
	} else if colour := regexp.MustCompile(`\x1b\[([0-9;]*;)?[34][0-8][;m]`).FindString(v); colour != "" {
		t.Errorf("there is a colour in it: %q", colour)
	}
}

func TestStepping(t *testing.T) {
	a := newApp(t, 80, 24, plainTheme(false), handmade)
	p := a.player()
	last := p.reel.last()
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
	a := newApp(t, 80, 24, plainTheme(false), handmade)
	a.press("lllh")
	if got := a.player().pos; got != 2 {
		t.Errorf("after lllh the cursor is at %d, want 2", got)
	}
	a.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("G!q"), Paste: true})
	if got := a.player().pos; got != 2 {
		t.Errorf("pasted text has moved the cursor to %d", got)
	}
}

func TestViolationIsShouted(t *testing.T) {
	a := newApp(t, 80, 24, plainTheme(false), handmade)
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
	a := newApp(t, 80, 24, plainTheme(false), func(scenario, strategy string) (*trace.Trace, error) {
		asked = strategy + " under " + scenario
		return handmade(scenario, strategy)
	})
	lib := a.player().lib
	above := lib.strategies[lib.strategy("setpx-lua")-1].Name
	a.press("] ] f up enter")
	if asked != above+" under pause-past-ttl" {
		t.Errorf("ran %s, want %s", asked, above)
	}
	if p := a.player(); p.pos != 10 || p.reel.chapter(p.pos) != 3 {
		t.Errorf("the place in the story is lost: at %d", p.pos)
	}
	a.press("o down enter")
	if p := a.player(); p.pos != 0 || !strings.HasSuffix(asked, "under crowd") {
		t.Errorf("ran %s, at %d", asked, p.pos)
	}
}

func TestLateResultIsDropped(t *testing.T) {
	a := newApp(t, 80, 24, plainTheme(false), handmade)
	p := a.player()
	first := p.open(0, 0)
	second := p.open(1, 0)
	a.send(second())
	a.send(first())
	if got := p.reel.trace.Strategy; got != p.lib.strategies[1].Name {
		t.Errorf("shows %s", got)
	}
}

func TestFailedRunIsTold(t *testing.T) {
	a := newApp(t, 80, 24, plainTheme(false), func(string, string) (*trace.Trace, error) { return nil, errors.New("no such luck") })
	if v := a.View(); !strings.Contains(v, "can't be run") || !strings.Contains(v, "no such luck") {
		t.Error(v)
	}
	a.press("right ! v s G space tab up ? esc")
	checkFrame(t, a, "failed")
}

func TestPlayingStopsWhereOneShouldLook(t *testing.T) {
	a := newApp(t, 80, 24, plainTheme(false), handmade)
	p := a.player()
	for _, want := range []int{10, 16, 19, p.reel.last()} {
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

func TestTooSmall(t *testing.T) {
	for w := 1; w < minWidth; w += 3 {
		for h := 1; h < minHeight; h += 2 {
			a := newApp(t, w, h, plainTheme(false), handmade)
			checkFrame(t, a, "small")
		}
	}
	if v := newApp(t, 60, 20, plainTheme(false), handmade).View(); !strings.Contains(v, "needs 80 x 24") {
		t.Error(v)
	}
}

// Every cell of the matrix can be looked at, at every chapter and violation.
func TestEveryRealRunCanBeDrawn(t *testing.T) {
	if testing.Short() {
		t.Skip("runs the whole matrix")
	}
	th := plainTheme(false)
	for i, sc := range scenarios.All() {
		for j, st := range strategies.All() {
			if os.Getenv("LOCKSTEP_WHOLE") == "" && (i+j)%6 > 1 { // a third of them, in both sizes; CI draws all
				continue
			}
			lib := &library{strategies: strategies.All(), scenarios: scenarios.All(), run: (*scenarios.Scenario).Run}
			a := &app{newRoot(lib, &progress.Diary{}, Options{Strategy: st, Scenario: sc, Seed: 1}, th), t}
			a.do(a.Init())
			p := a.player()
			if p.failed != nil {
				t.Errorf("%s under %s: %v", st.Name, sc.Name, p.failed)
				continue
			}
			for n, size := range [][2]int{{80, 24}, {140, 40}} {
				if n != (i+j)%2 { // every lock and every scenario in both, no cell in two
					continue
				}
				a.send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
				a.press("g")
				for range len(p.reel.chapters) + len(p.reel.breaches) {
					if strings.Contains(checkFrame(t, a, st.Name+" under "+sc.Name), "more rows:") {
						t.Fatalf("%s under %s hides rows at %dx%d", st.Name, sc.Name, size[0], size[1])
					}
					a.press("]")
				}
				for range p.reel.breaches {
					a.press("!")
					checkFrame(t, a, st.Name+" under "+sc.Name)
				}
			}
		}
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
