package decide

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/sim/claims"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

// A breach's run opens at the violation that the claim is about, of which it says what would have stopped it: a lock
// that the resource can check, where that of the run is one.
func TestBreachOpensAtItsViolation(t *testing.T) {
	lib := screen.NewLibrary()
	p := &pages{App: tuitest.HandmadeApp(lib, tuitest.PlainTheme(false)), numbers: []int{1, 3, 4}, at: none}
	a := tuitest.Drive(t, screen.NewRouter(p.App, nil, p)) // not started: no run is needed
	a.Send(tea.WindowSizeMsg{Width: 200, Height: 60})
	_ = a.View() // lists the breaches
	later := 0
	for _, b := range p.breaches {
		msg := p.run(&b)
		run, err := lib.Run(lib.Scenarios[msg.Scenario], lib.Strategies[msg.Strategy], p.Seed)
		if err != nil {
			t.Fatal(err)
		}
		tl := timeline.New(run)
		if i := slices.IndexFunc(tl.Breaches, func(x timeline.Breach) bool { return x.Pos == msg.From }); i < 0 || !slices.Contains(b.never, tl.Breaches[i].Code.String()) {
			t.Errorf("%s under %s opens at %d, where nothing of %v is shown", b.Lock, b.Scenario, msg.From, b.never)
		} else if i > 0 {
			later++
		}
		if b.Lock != "fenced-late" {
			continue
		}
		if r, any := lib.Remedies(msg.Scenario, msg.Strategy, run, nil)[trace.SW]; !any || r.Name != "fenced" {
			t.Errorf("what would have stopped the SW of %s is said to be %s", b.Lock, r.Name)
		}
	}
	if later == 0 {
		t.Error("no run shows another violation first: the test needs one")
	}
}

// A claim that another one refers to is opened by its number, and esc comes back. One that is on the screen is scrolled to.
func TestClaimsAreOpenedByNumber(t *testing.T) {
	p := &pages{App: tuitest.HandmadeApp(screen.NewLibrary(), tuitest.PlainTheme(false)), numbers: []int{3, 4}, at: none}
	a := tuitest.Drive(t, screen.NewRouter(p.App, nil, p))
	a.Send(tea.WindowSizeMsg{Width: 80, Height: 24})
	if v := a.View(); strings.Contains(v, "For all schedules") || !strings.Contains(v, "tested, not proved") {
		t.Errorf("what was tried is called a proof:\n%s", v)
	}
	if v := a.View(); !strings.Contains(v, "of claim 1") || !strings.Contains(v, "1-6 claim") {
		t.Errorf("claim 3 doesn't refer to another by its number:\n%s", v)
	}
	for n := range claims.All {
		a.Press(fmt.Sprint(n + 1))
		v := a.View()
		if !strings.Contains(v, fmt.Sprintf("Claim %d: ", n+1)) {
			t.Errorf("%d doesn't lead to its claim:\n%s", n+1, v)
		}
		if n+1 != 3 && n+1 != 4 {
			a.Press("esc")
		}
	}
	a.Press("3 9")
	if v := a.View(); !strings.Contains(v, "Claim 3: ") {
		t.Errorf("a number without a claim leads to\n%s", v)
	}
}
