package tui

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/scenarios"
	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/trace"
)

// handmadeSearch is a search whose numbers don't change when the engine gets better.
func handmadeSearch(_ context.Context, b explore.Bounds, opt explore.Options) (*explore.Result, error) {
	opt.Progress(explore.Progress{States: 12345, Transitions: 45678, Depth: 12, Frontier: 678, Bytes: 3 << 20})
	if b.Clients == 4 {
		return nil, errors.New("A does different things although it has seen the same: " + strings.Repeat("SETlockX", 40))
	}
	r := &explore.Result{Bounds: b, Complete: b.Clients < 3, States: 23456, Transitions: 78901, Commands: 12, Operations: 345,
		Vacuity: explore.Vacuity{Reacquired: b.Cycles > 1}, Near: explore.NearMisses{Refused: 1200, Compared: 34}}
	if !r.Complete {
		r.Why = "the memory limit was reached"
	}
	if b.Faults[explore.HoldRequest] > 0 {
		r.Vacuity.Unused = append(r.Vacuity.Unused, explore.HoldRequest)
	}
	r.Found = trace.Verdict{trace.SW, trace.DG, trace.OV} // for the least DG there was no time
	for i, c := range []trace.Code{trace.SW, trace.OV} {
		t := pauseTrace()
		cfg, err := b.Config()
		if err != nil {
			return nil, err
		}
		t.Strategy, t.Title = b.Strategy.Name, "The least schedule with a "+c.Name()
		r.Violated = append(r.Violated, &explore.Counterexample{Code: c, Faults: []explore.Fault{{Kind: explore.Pause, Text: "A is paused for 4.1s", Essential: true}}, Switches: 1 + i, Steps: 14 + i, Trace: t,
			Schedule: sim.Schedule{Config: cfg, Moves: []sim.Move{{Who: sim.SetOf(0), Count: 4}}}})
	}
	return r, nil
}

// searchApp is the room with a real search, of a lock by its name.
func searchApp(t testing.TB, strategy string) (*app, *searcher) {
	a := openApp(t, 120, 40, locksOnly(), Options{Seed: 1}, plainTheme(false))
	a.now = func() time.Time { return time.Time{} }
	a.top().(*home).column = a.lib.strategy(strategy)
	a.press("a")
	m, is := a.top().(*searcher)
	if !is {
		t.Fatalf("a leads to %T", a.top())
	}
	return a, m
}

// What was found within other bounds than those that stand there is said to be.
func TestSearchTellsOfOtherBounds(t *testing.T) {
	a, m := searchApp(t, "setpx-lua")
	const changed = "The bounds have changed"
	a.press("enter")
	if strings.Contains(a.View(), changed) {
		t.Errorf("nothing has changed:\n%s", a.View())
	}
	a.press("tab down right")
	if m.results || !strings.Contains(a.View(), changed) {
		t.Errorf("one client more, and nobody says that it is not searched:\n%s", a.View())
	}
	a.press("left")
	if strings.Contains(a.View(), changed) {
		t.Errorf("the bounds are what they were:\n%s", a.View())
	}
	a.press("tab f G enter")
	if m.results || !strings.Contains(a.View(), changed) || !strings.Contains(a.View(), "setpx-lua, 2 clients") {
		t.Errorf("another lock, and its findings are not said to be the first one's:\n%s", a.View())
	}
}

// What the screen says is what the search has found, and what it opens is what
// the whole engine has run.
func TestSearchTellsWhatItHasFound(t *testing.T) {
	a, m := searchApp(t, "setpx-lua")
	a.press("enter")
	want, err := explore.Run(context.Background(), m.bounds, explore.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	v := unwrapped(a.View())
	says := []string{"Complete: every schedule", count3(want.States) + " states, " + count3(want.Transitions) + " choices", "2 clients, 2 cycles each", "Not vacuous"}
	for _, c := range searchable() {
		if x := want.Find(c); x == nil {
			says = append(says, c.Name()+": never")
		} else if strings.Contains(v, c.Name()+": never") {
			t.Errorf("%s is found, and the screen says never", c)
		}
	}
	for _, s := range says {
		if !strings.Contains(v, s) {
			t.Errorf("no %q in\n%s", s, a.View())
		}
	}
	if len(want.Violated) == 0 {
		t.Fatal("a pause past the lease overlaps, whatever the lock")
	}
	for i, x := range want.Violated {
		for m.finding > 0 {
			a.press("up")
		}
		for range i {
			a.press("down")
		}
		a.press("enter G")
		p, is := a.top().(*shown)
		if !is {
			t.Fatalf("enter leads to %T", a.top())
		}
		if p.reel.trace.Hash != x.Trace.Hash {
			t.Errorf("%s: another run is opened", x.Code)
		}
		if !strings.Contains(a.View(), "!! ") || !strings.Contains(codesOf(p.reel.breaches), x.Code.String()) {
			t.Errorf("%s does not happen in its own counterexample:\n%s", x.Code, a.View())
		}
		a.press("f c o r")
		if a.top() != room(p) || p.notice == "" {
			t.Errorf("a schedule of its own is played with another lock, or nobody is told why not")
		}
		a.press("esc")
	}
}

// A finding is saved as a scenario, which plays as any other does.
func TestSearchSavesItsFinding(t *testing.T) {
	t.Chdir(t.TempDir())
	a, m := searchApp(t, "setpx-lua")
	a.press("enter w")
	sc, err := scenarios.Load("setpx-lua-least-SW.yaml")
	if err != nil {
		t.Fatal(err, m.notice)
	}
	run, err := sc.Run(m.bounds.Strategy, 1)
	if err != nil || !strings.Contains(run.Verdict().String(), "SW") {
		t.Errorf("it gives %v, %v", run.Verdict(), err)
	}
	if a.press("w"); !strings.Contains(m.notice, "setpx-lua-least-SW-2.yaml") {
		t.Errorf("the second goes where the first is: %s", m.notice)
	}
}

func TestSearchWritesItsFinding(t *testing.T) {
	t.Chdir(t.TempDir())
	a, m := searchApp(t, "setpx-lua")
	a.press("enter x enter")
	text, err := os.ReadFile("setpx-lua-least-SW.txt")
	if err != nil || !strings.Contains(string(text), m.result.Violated[0].Trace.Schedule) {
		t.Errorf("%v: %s", err, text)
	}
	if !strings.Contains(a.View(), "Written to ./setpx-lua-least-SW.txt") {
		t.Errorf("nobody is told:\n%s", a.View())
	}
}

// apart runs a search beside the test, and hands its messages to the room when the
// test asks for them.
func apart(cmd tea.Cmd) (end <-chan tea.Msg, words tea.Cmd) {
	batch := cmd().(tea.BatchMsg)
	c := make(chan tea.Msg, 1)
	go func() { c <- batch[0]() }()
	return c, batch[1]
}

// The first esc stops the search and keeps what it has found; the second leaves.
func TestSearchIsStopped(t *testing.T) {
	a, m := searchApp(t, "getset-expired")
	m.bounds.Clients, m.bounds.Cycles = 3, 3
	for i := range m.bounds.Faults {
		m.bounds.Faults[i] = 2
	}
	m.bounds.Faults[explore.Failover] = 0
	cmd, _ := m.typed(keyMsg("enter"))
	end, words := apart(cmd)
	a.Update(words()) // the search is well under way
	if v := a.View(); !m.running || m.progress.of.States == 0 || !strings.Contains(v, count3(m.progress.of.States)) {
		t.Errorf("no progress is shown:\n%s", v)
	}
	a.press("left") // changes nothing while it runs
	a.press("esc")
	if !m.stopping || a.top() != room(m) {
		t.Fatal("esc does not stop the search, or does not stay")
	}
	a.send(<-end)
	if m.failed != nil {
		t.Fatal(m.failed)
	}
	if v := unwrapped(a.View()); m.running || !strings.Contains(v, "Not complete: "+m.result.Why) || !strings.Contains(m.result.Why, "stopped") || strings.Contains(v, ": never") {
		t.Errorf("what was found so far is not told as such:\n%s", a.View())
	}
	if a.press("esc"); a.top() == room(m) {
		t.Error("the second esc does not leave")
	}
}

// Leaving a search while it stops cancels it; its result is nobody's then, and
// that of an earlier search is not taken for a later one's.
func TestSearchResultsOfOthersAreDropped(t *testing.T) {
	a := newHomeApp(t, 80, 24, plainTheme(false), handmade)
	a.press("a")
	m := a.top().(*searcher)
	cmd, _ := m.typed(keyMsg("enter"))
	end, _ := apart(cmd)
	first := <-end
	m.running = false
	m.begin()
	a.Update(first)
	if !m.running || m.result != nil {
		t.Error("the first search's end is taken for the second's")
	}
	a.press("esc esc")
	if _, home := a.top().(*home); !home {
		t.Errorf("two esc lead to %T", a.top())
	}
}

// An error is shown whole, whatever its length; bounds that make no sense are
// refused before anything is searched.
func TestSearchErrors(t *testing.T) {
	a := newHomeApp(t, 80, 24, plainTheme(false), handmade)
	a.press("a down right right enter")
	if v := a.View(); !strings.Contains(v, "ended with an error") || strings.Count(unblanked(v), "SETlockX") != 40 {
		t.Errorf("the error is cut:\n%s", v)
	}
	m := a.top().(*searcher)
	for m.settings[m.row].name != "failover" {
		a.press("down")
	}
	number := m.number
	if a.press("right right enter"); m.number != number {
		t.Error("two failovers are searched")
	}
	m.failed = nil
	if v := a.View(); !strings.Contains(unwrapped(v), "one failover, not more") {
		t.Errorf("the refusal is not told:\n%s", v)
	}
}

// unblanked is the right pane's text without anything that wrapping has put in.
func unblanked(v string) string {
	text := ""
	for _, l := range strings.Split(v, "\n") {
		if _, right, any := strings.Cut(l, "│"); any {
			text += strings.TrimSpace(right)
		}
	}
	return text
}

func TestSearchUnderWayIsDrawn(t *testing.T) {
	for look, th := range looks() {
		for _, size := range sizes {
			a := newHomeApp(t, size[0], size[1], th, handmade)
			a.press("right right right a")
			m := a.top().(*searcher)
			m.begin()
			a.Update(heard{progressed: progressed{m.number, explore.Progress{States: 1234567, Transitions: 7654321, Depth: 31, Frontier: 45678, Bytes: 99 << 20}, 2500 * time.Millisecond}})
			golden(t, fmt.Sprintf("searching-%dx%d-%s", size[0], size[1], look), a.View())
		}
	}
}

// Every setting can be gone through without an end, and no lock's bounds panic.
func TestSearchSettings(t *testing.T) {
	a := newHomeApp(t, 80, 24, plainTheme(false), handmade)
	a.press("a")
	m := a.top().(*searcher)
	for range 30 {
		for i := 0; i < len(m.settings); i++ { // a lock on several servers has one more
			m.row = i
			name, was := m.settings[i].name, m.settings[i].value()
			a.press("right")
			checkFrame(t, a, name)
			if name == "look for" && was == m.settings[i].value() {
				t.Error("what to look for does not change")
			}
		}
		a.press("left")
	}
}
