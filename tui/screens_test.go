package tui

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"lockstep/sim"
	"lockstep/tui/progress"
)

// looks are the themes, each with the characters that it draws with.
func looks() map[string]*theme {
	light := rendererOf(termenv.TrueColor)
	light.SetHasDarkBackground(false)
	mono := Options{NoColor: true}
	return map[string]*theme{
		"dark":  newTheme(rendererOf(termenv.TrueColor), false, false),
		"light": newTheme(light, false, false),
		"mono":  newTheme(newRenderer(mono, rendererOf(termenv.Ascii)), mono.mono(), false),
		"ascii": plainTheme(true),
	}
}

// screens are the ways to every screen, from the matrix.
var screens = map[string]string{
	"home":     "right right right",
	"course":   "tab",
	"lesson":   "tab right enter ! !",
	"player":   "right right right enter ! !",
	"compare":  "right right right c down down enter ! !",
	"picker":   "enter f",
	"helphome": "?",
	"search":   "right right right a down down down down down down down right",
	"found":    "right right right a enter down",
	"shown":    "right right right a enter enter ! !",
}

var sizes = [][2]int{{80, 24}, {120, 30}, {140, 40}, {200, 60}}

// eachFrame runs a test for all sizes in one look, which has no escape sequences, and
// for all looks in one size, in which every pane has its place.
func eachFrame(t *testing.T, screen string, test func(t *testing.T, name string, w, h int, th *theme)) {
	for look, th := range looks() {
		for _, size := range sizes {
			if look != "ascii" && size != sizes[len(sizes)-1] {
				continue
			}
			name := fmt.Sprintf("%s-%dx%d-%s", screen, size[0], size[1], look)
			t.Run(name, func(t *testing.T) { test(t, name, size[0], size[1], th) })
		}
	}
}

func TestScreens(t *testing.T) {
	for screen, keys := range screens {
		eachFrame(t, screen, func(t *testing.T, name string, w, h int, th *theme) {
			a := newHomeApp(t, w, h, th, handmade)
			a.press(keys)
			golden(t, name, a.View())
			if i := strings.IndexFunc(a.View(), func(r rune) bool { return r > 126 }); strings.HasSuffix(name, "ascii") && i >= 0 {
				t.Errorf("not only ASCII: %q", a.View()[i:i+10])
			}
		})
	}
}

// The sandbox goes on from real runs only; this one's scenario is not likely to change.
func TestSandboxScreens(t *testing.T) {
	eachFrame(t, "sandbox", func(t *testing.T, name string, w, h int, th *theme) {
		lib := newLibrary(Options{})
		a := openApp(t, w, h, lib, Options{Strategy: lib.strategies[lib.strategy("setnx")], Scenario: lib.scenarios[lib.named("crash-holding")], Seed: 1}, th)
		a.press("right right right b down enter down down enter")
		golden(t, name, a.View())
	})
}

// Whatever is said in colour is said without: the frames are the same text.
func TestColourIsNeverTheOnlySign(t *testing.T) {
	all := looks()
	for name, keys := range screens {
		want := ""
		for _, look := range []string{"dark", "light", "mono"} {
			a := newHomeApp(t, 120, 30, all[look], handmade)
			a.press(keys)
			got := strippedFrame(a)
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%s reads differently in %s:\n%s\nand in dark:\n%s", name, look, got, want)
			}
		}
		bare := all["mono"]
		for _, sign := range []string{bare.before[inkAlarm], bare.before[inkPick], bare.before[inkBreach]} {
			if sign == "" {
				t.Fatal("mono has no way to stress")
			}
		}
	}
}

func TestEveryScreenHasHelp(t *testing.T) {
	for name, keys := range screens {
		a := newHomeApp(t, 80, 24, plainTheme(false), handmade)
		a.press(strings.TrimSuffix(keys, "?"))
		depth := len(a.rooms)
		p := a.top().help()
		a.press("?")
		v := a.View()
		if !strings.Contains(v, p.title) || p.about == "" {
			t.Errorf("%s has no help:\n%s", name, v)
		}
		shown := map[string]bool{}
		for _, b := range p.keys {
			for _, k := range b.Keys() {
				shown[k] = true
			}
		}
		a.press("?")
		if len(a.rooms) != depth {
			t.Errorf("%s: ? does not close its help", name)
		}
		for _, b := range a.top().footerKeys() {
			for _, k := range b.Keys() {
				if !shown[k] {
					t.Errorf("%s: %q works, says the footer, but the help does not have it", name, k)
				}
			}
		}
	}
}

func TestMatrixFillsIn(t *testing.T) {
	lib := shelf(handmade)
	m := newRoot(lib, &progress.Diary{}, Options{Seed: 1}, plainTheme(false))
	a := &app{m, t}
	a.Update(tea.WindowSizeMsg{Width: 80, Height: 24})
	if v := a.View(); !strings.Contains(v, "running 0 of 260") || !strings.Contains(v, "··") || strings.Contains(v, "✗SW") {
		t.Errorf("something is known before anything has run:\n%s", v)
	}
	_, more := a.Update(compute(lib, 1, []int{0, 1}))
	if v := a.View(); !strings.Contains(v, "running 2 of 260") || strings.Count(v, "✗SW") < 2 {
		t.Errorf("two cells are done, and not shown:\n%s", v)
	}
	a.do(more)
	if v := a.View(); !strings.Contains(v, "260 runs") || strings.Contains(v, "not run yet") {
		t.Errorf("all is done, and not shown:\n%s", v)
	}
}

func TestHomeTellsTheStoryOfACell(t *testing.T) {
	a := openApp(t, 120, 40, newLibrary(Options{}), Options{Seed: 1}, plainTheme(false))
	h := a.top().(*home)
	for _, cell := range [][2]string{{"release-gap", "get-then-del"}, {"crash-holding", "setnx"}, {"release-gap", "setpx-lua"}} {
		h.row, h.column = a.lib.named(cell[0]), a.lib.strategy(cell[1])
		sc, v := a.lib.scenarios[h.row], unwrapped(a.View())
		if !strings.Contains(v, unwrapped(sc.Because(cell[1]))) {
			t.Errorf("%v: the reason is not told:\n%s", cell, a.View())
		}
		for _, code := range a.board.at(h.row, h.column).verdict {
			if !strings.Contains(v, code.Name()) {
				t.Errorf("%v: %s is not named", cell, code)
			}
		}
	}
}

// unwrapped is text without its line breaks.
func unwrapped(s string) string { return strings.Join(strings.Fields(s), " ") }

func TestWaysThroughTheRooms(t *testing.T) {
	a := newHomeApp(t, 80, 24, plainTheme(false), handmade)
	for _, step := range []struct{ keys, want string }{
		{"tab", "*tui.course"}, {"tab", "*tui.home"}, {"enter", "*tui.player"}, {"f", "*tui.picker"}, {"esc", "*tui.player"}, {"o", "*tui.picker"},
		{"enter", "*tui.player"}, {"c", "*tui.picker"}, {"down enter", "*tui.compare"}, {"enter", "*tui.player"}, {"esc", "*tui.compare"},
		{"?", "*tui.help"}, {"esc", "*tui.compare"}, {"esc", "*tui.player"}, {"esc", "*tui.home"}, {"esc", "*tui.home"},
	} {
		a.press(step.keys)
		if got := fmt.Sprintf("%T", a.top()); got != step.want {
			t.Fatalf("%s leads to %s, want %s", step.keys, got, step.want)
		}
	}
	a = newApp(t, 80, 24, plainTheme(false), handmade)
	if a.press("esc"); fmt.Sprintf("%T", a.top()) != "*tui.home" {
		t.Errorf("esc in a player that was opened first leads to %T", a.top())
	}
}

func TestCourseIsRemembered(t *testing.T) {
	path := t.TempDir() + "/state/progress.json"
	open := func() *app {
		a := &app{newRoot(shelf(handmade), progress.Open(path), Options{Seed: 1}, plainTheme(false)), t}
		a.do(a.Init())
		a.send(tea.WindowSizeMsg{Width: 80, Height: 24})
		return a
	}
	a := open()
	a.press("tab enter")
	if v := a.View(); !strings.Contains(v, "lesson 1, rung 1 of 2") || !strings.Contains(v, "notices nothing of it") {
		t.Errorf("the rung does not begin with its lesson:\n%s", v)
	}
	a.press("] ] 1") // A believes: right
	if v := a.View(); !strings.Contains(v, "Right: A.") || !strings.Contains(v, "1 of 1") {
		t.Errorf("the prediction is not judged:\n%s", v)
	}
	a.press("G")
	if v := a.View(); !strings.Contains(v, "A sleeps past its lease.") || !strings.Contains(v, "goes on with setpx-lua") {
		t.Errorf("the rung does not end with what it came to:\n%s", v)
	}
	a = open()
	a.press("tab")
	if v := a.View(); !strings.Contains(v, "1 of 3 rungs played") || !strings.Contains(v, "1 of 1 predictions right") || !strings.Contains(v, "▸ 2 setpx-lua") {
		t.Errorf("progress is lost:\n%s", v)
	}
	a.press("enter G r G r")
	if p := a.player(); p.reel.trace.Strategy != "redlock" && p.pupil.lesson != 1 {
		t.Errorf("r leads to %s", p.pupil.place())
	}
	a.press("r")
	if v := a.View(); !strings.Contains(v, "last rung of the course") {
		t.Errorf("the course does not end:\n%s", v)
	}
}

func TestVeilHidesWhatIsAsked(t *testing.T) {
	a := newApp(t, 140, 40, plainTheme(false), handmade)
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

func TestCompareScrubsBoth(t *testing.T) {
	a := newHomeApp(t, 120, 40, plainTheme(false), handmade)
	a.press("c down enter")
	m := a.top().(*compare)
	for i, s := range m.joint.steps {
		if s[0] != s[1] {
			t.Fatalf("step %d: the same run stands at %v in its two copies", i, s)
		}
		if m.differs[i] {
			t.Fatalf("step %d: a run differs from itself", i)
		}
	}
	for _, w := range []int{68, 188} {
		ax, _ := m.joint.axes(w, 0)
		for side := range ax {
			for k := 1; k < len(ax[side].cols); k++ {
				if ax[side].cols[k] < ax[side].cols[k-1] {
					t.Fatalf("width %d: side %d goes back at %d", w, side, k)
				}
			}
		}
	}
}

func TestJointKeepsTheStoryTogether(t *testing.T) {
	late := pauseTrace()
	for i := range late.Events { // the same story, but A took longer to get the lock
		if i > 2 {
			late.Events[i].At += 7e8
		}
	}
	j := newJoint(newReel(pauseTrace()), newReel(late))
	at := func(pos int) step { return j.steps[j.arrives(0, pos)] }
	for _, chapter := range j.reels[0].chapters {
		if s := at(chapter); s[0] != chapter || s[1] != chapter {
			t.Errorf("where the one is told what stands at %d, they are at %v", chapter, s)
		}
	}
	if last := j.steps[j.last()]; last != (step{j.reels[0].last(), j.reels[1].last()}) {
		t.Errorf("they end at %v", last)
	}
	for i := 1; i < len(j.steps); i++ {
		for side := range 2 {
			if d := j.steps[i][side] - j.steps[i-1][side]; d < 0 || d > 1 {
				t.Fatalf("step %d moves one of them by %d", i, d)
			}
		}
	}
}

func TestMouse(t *testing.T) {
	a := newHomeApp(t, 80, 24, plainTheme(false), handmade)
	h := a.top().(*home)
	press := func(x, y int) tea.MouseMsg {
		return tea.MouseMsg{X: x, Y: y, Action: tea.MouseActionPress, Button: tea.MouseButtonLeft}
	}
	if strings.Contains(a.View(), "gives it back") {
		t.Error("the footer speaks of a mouse that is off")
	}
	a.press("m")
	if !strings.Contains(a.View(), "mouse: m gives it back") || !strings.Contains(a.View(), "q quit") {
		t.Errorf("the footer does not say that the mouse is on:\n%s", a.View())
	}
	a.send(press(h.plan.grid.x+2*cellWidth, h.plan.grid.y+4))
	if h.row != 4 || h.column != 2 {
		t.Errorf("the click went to %d, %d", h.row, h.column)
	}
	a.send(press(h.plan.grid.x+2*cellWidth, h.plan.grid.y+4))
	p := a.player()
	if p == nil {
		t.Fatal("a second click does not open the run")
	}
	a.press("G")
	a.View()
	col := p.axes.axis.cols[9]
	a.send(press(p.plan.main.x+labelWidth+col, p.plan.main.y+3))
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
	a := newApp(t, 100, 30, plainTheme(false), handmade)
	var want bytes.Buffer
	if err := a.player().reel.trace.Plain(&want); err != nil {
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

// All rooms get what comes of the background: a run that one of them has asked for is
// not another's, and least of all under another lock's name.
func TestEachRoomKeepsItsOwnRun(t *testing.T) {
	a := newApp(t, 120, 40, plainTheme(false), handmade)
	a.press("right right right c enter right right enter")
	lower := a.player()
	if name := lower.reel.trace.Strategy; name == "setpx-lua" || lower.pos != 5 {
		t.Errorf("the lower run is opened with %s at %d", name, lower.pos)
	}
	a.press("esc esc")
	if p := a.player(); p == lower || p.reel.trace.Strategy != "setpx-lua" || p.pos != 3 {
		t.Errorf("back in the first run, it is of %s at %d", p.reel.trace.Strategy, p.pos)
	}
}
