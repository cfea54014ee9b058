package tui

import (
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/tui/door"
	"lockstep/tui/draw"
	"lockstep/tui/progress"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

// monkeySteps is 100,000 in the larger run of continuous integration: so many take more than one likes to wait for after
// every change. A fifth of them gets everywhere.
var monkeySteps = flag.Int("monkey", keys(), "how many keys TestMonkey presses")

func keys() int {
	if !testenv.CI() {
		return 4_000
	}
	return testenv.Count(10_000, 100_000)
}

// Keys, clicks and sizes by the ten thousand, in any order, over traces of every
// kind: nothing panics, no frame is larger than its window, none loses its footer.
func TestMonkey(t *testing.T) {
	steps := *monkeySteps
	switch {
	case testenv.Raced:
		steps = 2_000 // with some twenty ways home
	case testing.Short():
		steps = 5_000
	}
	seed := testenv.Seed(t)
	t.Chdir(t.TempDir()) // where it exports to
	m := newMonkey(t, seed)
	for n := range steps {
		what := m.act()
		m.CheckFrame(fmt.Sprintf("seed %d, step %d, %s", seed, n, what))
	}
	if steps < 20_000 {
		return
	}
	for way, keys := range ways {
		a := openApp(t, 80, 24, tuitest.PlainTheme(false), tuitest.Handmade)
		a.Press(keys)
		if name := fmt.Sprintf("%T", a.Top()); m.seen[name] == 0 {
			t.Errorf("seed %d never got to %s, the screen of %s: %v", seed, name, way, m.seen)
		}
	}
}

// goHome leaves all screens but the first, and chooses one of its ways in. By keys at random alone, some seeds never
// come to a screen that only the first leads to.
func (m *monkey) goHome() string {
	for range 20 {
		if _, home := m.Top().(*door.Door); home {
			way := fmt.Sprint(1 + m.rnd.IntN(5))
			m.Press(way)
			return "home, " + way
		}
		m.Press("esc")
	}
	return "esc, twenty times"
}

type monkey struct {
	*tuitest.App
	rnd  *rand.Rand
	keys []string
	seen map[string]int
	real *trace.Trace // one that a game can go on from
}

func newMonkey(t *testing.T, seed uint64) *monkey {
	m := &monkey{rnd: rand.New(rand.NewPCG(seed, 0)), seen: map[string]int{}}
	lib := screen.NewLibrary()
	var err error
	if m.real, err = lib.Run(lib.Scenarios[lib.Named("release-gap")], lib.Strategies[lib.Strategy("get-then-del")], 1); err != nil {
		t.Fatal(err)
	}
	m.App = openApp(t, 80, 24, tuitest.PlainTheme(false), m.run)
	m.keys = append(slices.Clone(usualKeys), everyKey(&m.Keys)...)
	m.Router.Clipboard = func(string) {}
	m.Router.Progress = progress.Open(t.TempDir() + "/progress.json")
	return m
}

// run gives runs that fail, that are in wide characters, that are crowded, and ordinary ones.
func (m *monkey) run(scenario, strategy string) (*trace.Trace, error) {
	switch m.rnd.IntN(7) {
	case 6:
		return m.real, nil
	case 0:
		return nil, errors.New("失敗した: the run has failed, " + strings.Repeat("長い説明 ", 40))
	case 1:
		return tuitest.WideTrace(), nil
	case 2:
		return tuitest.Crowd(1+m.rnd.IntN(8), 1+m.rnd.IntN(9), m.rnd.IntN(120)), nil
	}
	return tuitest.Handmade(scenario, strategy)
}

// usualKeys come oftener than others, or have no meaning.
var usualKeys = strings.Fields(`right right ] ] ! ! up down up down enter enter esc esc 0 1 2 backspace 界 b u`)

// everyKey lists all keys that have a meaning, but for those of the terminal itself.
func everyKey(m *screen.KeyMap) (keys []string) {
	for all, i := reflect.ValueOf(m).Elem(), 0; i < all.NumField(); i++ {
		for _, k := range all.Field(i).Interface().(key.Binding).Keys() {
			if !strings.HasPrefix(k, "ctrl+") {
				keys = append(keys, draw.Either(k == " ", "space", k))
			}
		}
	}
	return keys
}

func (m *monkey) act() string {
	m.seen[fmt.Sprintf("%T", m.Top())]++
	if m.rnd.IntN(300) == 0 {
		return m.goHome()
	}
	switch m.rnd.IntN(24) {
	case 0:
		w, h := 1+m.rnd.IntN(220), 1+m.rnd.IntN(70)
		if m.rnd.IntN(4) > 0 {
			w, h = draw.MinWidth+m.rnd.IntN(60), draw.MinHeight+m.rnd.IntN(20)
		}
		m.Send(tea.WindowSizeMsg{Width: w, Height: h})
		return fmt.Sprintf("size %dx%d", w, h)
	case 1, 2:
		m.Fire()
		return "tick"
	case 3, 4:
		e := tea.MouseMsg{X: m.rnd.IntN(m.W + 3), Y: m.rnd.IntN(m.H + 3), Action: tea.MouseActionPress}
		e.Button = []tea.MouseButton{tea.MouseButtonLeft, tea.MouseButtonLeft, tea.MouseButtonWheelUp, tea.MouseButtonWheelDown, tea.MouseButtonRight}[m.rnd.IntN(5)]
		m.Send(e)
		return fmt.Sprintf("%v at %d, %d", e.Button, e.X, e.Y)
	}
	if m.rnd.IntN(100) == 0 {
		paste := tuitest.KeyMsg(m.real.Schedule[:m.rnd.IntN(len(m.real.Schedule)+1)])
		paste.Paste = true
		m.Send(paste)
		return "paste"
	}
	k := m.keys[m.rnd.IntN(len(m.keys))]
	m.Press(k)
	return k
}
