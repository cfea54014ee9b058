package tui

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/trace"
	"lockstep/tui/progress"
)

// checkFrame holds a frame to the window: so many lines, none wider, the footer
// at the bottom, with the way out in it. It returns the frame.
func checkFrame(t testing.TB, a *app, context string) string {
	t.Helper()
	v := a.View()
	lines := strings.Split(v, "\n")
	if len(lines) != a.h {
		t.Fatalf("%s: %d lines in a window of %dx%d", context, len(lines), a.w, a.h)
	}
	for i, l := range lines {
		if len(l) <= a.w { // no more bytes than columns
			continue
		}
		if w := lipgloss.Width(l); w > a.w {
			t.Fatalf("%s: line %d is %d wide in a window of %dx%d: %q", context, i, w, a.w, a.h, l)
		}
	}
	if !a.tooSmall() && !strings.Contains(lines[a.h-1], " quit") {
		t.Fatalf("%s: no footer in a window of %dx%d: %q", context, a.w, a.h, lines[a.h-1])
	}
	return v
}

// monkeySteps is 100,000 in .ci/run. So many take more than one likes to wait for
// after every change, and a tenth of them gets nearly everywhere.
var monkeySteps = flag.Int("monkey", 10_000, "how many keys TestMonkey presses")

// Keys, clicks and sizes by the ten thousand, in any order, over traces of every
// kind: nothing panics, no frame is larger than its window, none loses its footer.
func TestMonkey(t *testing.T) {
	steps := *monkeySteps
	if testing.Short() || raceDetector {
		steps = 5_000
	}
	seed := rand.Uint64()
	if s := os.Getenv("MONKEY"); s != "" {
		if _, err := fmt.Sscan(s, &seed); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("MONKEY=%d go test ./tui -run Monkey", seed)
	t.Chdir(t.TempDir()) // where it exports to
	m := newMonkey(t, seed)
	for n := range steps {
		what := m.act()
		checkFrame(t, m.app, fmt.Sprintf("MONKEY=%d, step %d, %s", seed, n, what))
	}
	if steps < 20_000 {
		return
	}
	for _, room := range []string{"*tui.home", "*tui.course", "*tui.player", "*tui.compare", "*tui.picker", "*tui.help", "*tui.sandbox", "*tui.searcher", "*tui.shown"} {
		if m.seen[room] == 0 {
			t.Errorf("MONKEY=%d never got to %s: %v", seed, room, m.seen)
		}
	}
}

type monkey struct {
	*app
	rnd  *rand.Rand
	seen map[string]int
	real *trace.Trace // one that the sandbox can go on from
}

func newMonkey(t *testing.T, seed uint64) *monkey {
	m := &monkey{rnd: rand.New(rand.NewPCG(seed, 0)), seen: map[string]int{}}
	lib := newLibrary(Options{})
	var err error
	if m.real, err = lib.run(lib.scenarios[lib.named("release-gap")], lib.strategies[lib.strategy("get-then-del")], 1); err != nil {
		t.Fatal(err)
	}
	m.app = newHomeApp(t, 80, 24, plainTheme(false), m.run)
	m.root.clipboard = func(string) {}
	m.root.diary = progress.Open(t.TempDir() + "/progress.json")
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
		return wideTrace(), nil
	case 2:
		return crowd(1+m.rnd.IntN(8), 1+m.rnd.IntN(9), m.rnd.IntN(120)), nil
	}
	return handmade(scenario, strategy)
}

// parrot gives hints without thinking: far ones, near ones, none.
type parrot struct{}

func (parrot) From(_ context.Context, moves []sim.Move) (explore.Hint, error) {
	h := explore.Hint{Reachable: true, Cost: explore.Cost{Faults: 1, Steps: 5}, Due: 12001 * time.Millisecond, Next: []sim.Move{{Who: 1, Count: 1}}}
	switch len(moves) % 7 {
	case 2:
		h.Next = []sim.Move{{Fault: sim.Evict{Node: "n1"}}}
	case 3:
		h.Reachable = false
	case 5:
		return explore.Hint{}, errors.New(strings.Repeat("長い説明 ", 30))
	case 6:
		h.Reached = true
	}
	return h, nil
}

func (parrot) Close() error { return nil }

// wideTrace has names and words of two columns a character, and what may not
// reach a terminal.
func wideTrace() *trace.Trace {
	t := pauseTrace()
	t.Clients = []string{"顧客一", "客二二二二", "probe"}
	t.Notes[0].Text = strings.Repeat("租約到期之後，甲還以為自己持有鎖。", 20) + "\x1b[2J\tend"
	return t
}

var monkeyKeys = strings.Fields(`left right right h l [ ] ] ! ! g G space + - v s f o c e r tab up down up down k j enter enter ? esc esc
	< > home end x n N / & 0 1 2 m pgup pgdown backspace 界 q b b u u U y x a i w`)

func (m *monkey) act() string {
	m.seen[fmt.Sprintf("%T", m.top())]++
	switch m.rnd.IntN(24) {
	case 0:
		w, h := 1+m.rnd.IntN(220), 1+m.rnd.IntN(70)
		if m.rnd.IntN(4) > 0 {
			w, h = minWidth+m.rnd.IntN(60), minHeight+m.rnd.IntN(20)
		}
		m.send(tea.WindowSizeMsg{Width: w, Height: h})
		return fmt.Sprintf("size %dx%d", w, h)
	case 1, 2:
		if p := m.player(); p != nil {
			m.send(ticked(p.tick))
		}
		if c, is := m.top().(*compare); is {
			m.send(pulsed(c.tick))
		}
		return "tick"
	case 3, 4:
		e := tea.MouseMsg{X: m.rnd.IntN(m.w + 3), Y: m.rnd.IntN(m.h + 3), Action: tea.MouseActionPress}
		e.Button = []tea.MouseButton{tea.MouseButtonLeft, tea.MouseButtonLeft, tea.MouseButtonWheelUp, tea.MouseButtonWheelDown, tea.MouseButtonRight}[m.rnd.IntN(5)]
		m.send(e)
		return fmt.Sprintf("%v at %d, %d", e.Button, e.X, e.Y)
	}
	if m.rnd.IntN(100) == 0 {
		paste := keyMsg(m.real.Schedule[:m.rnd.IntN(len(m.real.Schedule)+1)])
		paste.Paste = true
		m.send(paste)
		return "paste"
	}
	k := monkeyKeys[m.rnd.IntN(len(monkeyKeys))]
	m.press(k)
	return k
}
