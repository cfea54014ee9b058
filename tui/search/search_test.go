package search

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"lockstep/scenarios"
	"lockstep/sim/explore"
	"lockstep/sim/explore/report"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/finding"
	"lockstep/tui/pane"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

// openSearch opens the search of a lock by its name, as it really is.
func openSearch(t testing.TB, strategy string) (*tuitest.App, *Search) {
	app := tuitest.RealApp(tuitest.LocksOnly(), tuitest.PlainTheme(false))
	app.Now = func() time.Time { return time.Time{} }
	m := New(app, app.Library.Strategy(strategy))
	return tuitest.Open(t, 120, 40, app, m, play(app)), m
}

// openMadeUp opens the search of one of the shelf's locks, whose results are made up.
func openMadeUp(t testing.TB, w, h int, th *draw.Theme, lock string) (*tuitest.App, *Search) {
	app := tuitest.HandmadeApp(tuitest.Shelf(tuitest.Handmade), th)
	m := New(app, app.Library.Strategy(lock))
	return tuitest.Open(t, w, h, app, m, play(app)), m
}

// play makes the one screen that a search leads to in these tests.
func play(app *screen.App) func(screen.OpenMsg) (screen.Screen, error) {
	return func(msg screen.OpenMsg) (screen.Screen, error) {
		found, is := msg.(screen.FindingMsg)
		if !is {
			return nil, fmt.Errorf("asks for %T", msg)
		}
		return finding.Open(app, found), nil
	}
}

func TestScreens(t *testing.T) {
	for screen, keys := range map[string]string{"search": "down down down down down down down right", "found": "enter down"} {
		tuitest.EachFrame(t, screen, func(t *testing.T, name string, w, h int, th *draw.Theme) {
			a, _ := openMadeUp(t, w, h, th, "setpx-lua")
			a.Press(keys)
			tuitest.Golden(t, name, a.View())
		})
	}
}

// The footer names no key that does nothing: there are findings to go to and to write once a search has some, and
// lines to scroll where not all have room.
func TestFooterNamesKeysThatWork(t *testing.T) {
	const findings, export, scroll = "tab findings", "x write to a file", "pgup/pgdn scroll"
	for _, tt := range []struct {
		rows   int
		keys   string
		with   []string
		absent []string
	}{
		{70, "", nil, []string{findings, export, scroll}},
		{70, "enter tab", []string{findings, export}, []string{scroll}},
		{24, "enter tab", []string{findings, export, scroll}, nil},
		{70, "enter", []string{"tab bounds", export}, []string{"pgdn more", scroll}},
		{24, "enter", []string{"tab bounds", export, "pgdn more"}, nil},
	} {
		a, _ := openMadeUp(t, 200, tt.rows, tuitest.PlainTheme(false), "setpx-lua")
		a.Press(tt.keys)
		_ = a.View() // which knows then what has room
		lines := strings.Split(a.View(), "\n")
		footer := lines[len(lines)-1]
		for _, key := range tt.with {
			if !strings.Contains(footer, key) {
				t.Errorf("%d rows, after %q: no %s in %s", tt.rows, tt.keys, key, footer)
			}
		}
		for _, key := range tt.absent {
			if strings.Contains(footer, key) {
				t.Errorf("%d rows, after %q: %s in %s", tt.rows, tt.keys, key, footer)
			}
		}
	}
}

// Findings within bounds other than those on the screen are marked as such.
func TestSearchTellsOfOtherBounds(t *testing.T) {
	a, m := openSearch(t, "setpx-lua")
	const changed = "The bounds have changed"
	a.Press("enter")
	if strings.Contains(a.View(), changed) {
		t.Errorf("nothing has changed:\n%s", a.View())
	}
	a.Press("tab down right")
	if m.results || !strings.Contains(a.View(), changed) {
		t.Errorf("one client more, and the screen doesn't say that it is not searched:\n%s", a.View())
	}
	a.Press("left")
	if strings.Contains(a.View(), changed) {
		t.Errorf("the bounds are as they were:\n%s", a.View())
	}
	a.Press("tab f G enter")
	if m.results || !strings.Contains(a.View(), changed) || !strings.Contains(a.View(), "setpx-lua, 2 clients") {
		t.Errorf("another lock, and its findings are not said to be the first one's:\n%s", a.View())
	}
}

// told is all that the screen says of the result, seen or scrolled out of sight.
func told(m *Search) string {
	var words []string
	for _, line := range m.resultLines(78) {
		for _, span := range line {
			words = append(words, strings.Fields(span.Text)...)
		}
	}
	return strings.Join(words, " ")
}

// The screen tells the search's findings, and opens the schedule that
// the whole engine has run.
func TestSearchTellsWhatItHasFound(t *testing.T) {
	a, m := openSearch(t, "setpx-lua")
	a.Press("enter")
	want, err := explore.Run(context.Background(), m.bounds, explore.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	v := told(m)
	says := []string{"2 clients, 2 cycles each", "Violated: "}
	for _, f := range want.Findings() { // in this order, each below its answer
		if !f.Answer.Holds() && f.Answer != explore.Violated {
			t.Errorf("%s is %s", f.Code, f)
		}
		says = append(says, f.Code.Name())
	}
	says = append(says, "covered: every schedule within these bounds", report.Grouped(want.States)+" situations", "not idle: ")
	if at := strings.Index(v, "Holds within these bounds:"); at < 0 || at < strings.Index(v, "OV overlapping") || at > strings.Index(v, "DG double grant") {
		t.Errorf("OV is violated, and DG holds:\n%s", a.View())
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
			a.Press("up")
		}
		for range i {
			a.Press("down")
		}
		a.Press("enter G")
		p, is := a.Top().(*finding.Finding)
		if !is {
			t.Fatalf("enter leads to %T", a.Top())
		}
		if p.Run.Hash != x.Trace.Hash {
			t.Errorf("%s: another run is opened", x.Code)
		}
		if !strings.Contains(a.View(), "!! ") || !strings.Contains(pane.CodesOf(p.Run.Breaches), x.Code.String()) {
			t.Errorf("%s does not happen in its own counterexample:\n%s", x.Code, a.View())
		}
		a.Press("f c o r")
		if a.Top() != screen.Screen(p) || p.Notice == "" {
			t.Errorf("a schedule of its own is played with another lock, or the screen doesn't say why not")
		}
		a.Press("esc")
	}
}

// A finding is saved as a scenario, which plays as any other does.
func TestSearchSavesItsFinding(t *testing.T) {
	t.Chdir(t.TempDir())
	a, m := openSearch(t, "setpx-lua")
	a.Press("enter w")
	sc, err := scenarios.Load("setpx-lua-least-SW.yaml")
	if err != nil {
		t.Fatal(err, m.notice)
	}
	run, err := sc.Run(m.bounds.Strategy, 1)
	if err != nil || !strings.Contains(run.Verdict().String(), "SW") {
		t.Errorf("it gives %v, %v", run.Verdict(), err)
	}
	if a.Press("w"); !strings.Contains(m.notice, "setpx-lua-least-SW-2.yaml") {
		t.Errorf("the second goes where the first is: %s", m.notice)
	}
}

func TestSearchWritesItsFinding(t *testing.T) {
	t.Chdir(t.TempDir())
	a, m := openSearch(t, "setpx-lua")
	a.Press("enter x enter")
	text, err := os.ReadFile("setpx-lua-least-SW.txt")
	if err != nil || !strings.Contains(string(text), m.result.Violated[0].Trace.Schedule) {
		t.Errorf("%v: %s", err, text)
	}
	if rows := strings.Split(a.View(), "\n"); !strings.Contains(rows[len(rows)-2], "Written to ./setpx-lua-least-SW.txt") { // above the footer
		t.Errorf("the screen doesn't say so:\n%s", a.View())
	}
}

// apart runs a search beside the test, and hands its messages to the screen when the
// test asks for them.
func apart(cmd tea.Cmd) (end <-chan tea.Msg, words tea.Cmd) {
	batch := cmd().(tea.BatchMsg)
	c := make(chan tea.Msg, 1)
	go func() { c <- batch[0]() }()
	return c, batch[1]
}

// The first esc stops the search and keeps its findings; the second leaves.
func TestSearchIsStopped(t *testing.T) {
	a, m := openSearch(t, "setpx-lua")
	m.bounds.Clients, m.bounds.Cycles, m.bounds.Codes = 3, 3, trace.Verdict{trace.DG} // there is no least schedule to look for when it stops
	m.bounds.Faults = explore.Budget{explore.Crash: 2, explore.Pause: 2, explore.ReplyLost: 2}
	cmd, _ := m.typed(tuitest.KeyMsg("enter"))
	end, words := apart(cmd)
	a.Update(words()) // the search is well under way
	if v := a.View(); !m.running || m.progress.of.States == 0 || !strings.Contains(v, report.Grouped(m.progress.of.States)) {
		t.Errorf("no progress is shown:\n%s", v)
	}
	a.Press("left") // changes nothing while it runs
	a.Press("esc")
	if !m.stopping || a.Top() != screen.Screen(m) {
		t.Fatal("esc does not stop the search, or does not stay")
	}
	a.Send(<-end)
	if m.failed != nil {
		t.Fatal(m.failed)
	}
	if v := tuitest.Unwrapped(a.View()); m.running || !strings.Contains(v, "Not decided, because the search did not come to its end: it was stopped: ") || strings.Contains(v, "Holds") {
		t.Errorf("the findings so far are not told as such:\n%s", a.View())
	}
	if out := m.leave(); !out.Close {
		t.Error("the second esc does not leave")
	}
}

// Leaving a search while it stops cancels it; its result is dropped then, and
// that of an earlier search is not taken for a later one's.
func TestSearchResultsOfOthersAreDropped(t *testing.T) {
	a, m := openMadeUp(t, 80, 24, tuitest.PlainTheme(false), "setnx")
	cmd, _ := m.typed(tuitest.KeyMsg("enter"))
	end, _ := apart(cmd)
	first := <-end
	m.running = false
	m.begin()
	a.Update(first)
	if !m.running || m.result != nil {
		t.Error("the first search's end is taken for the second's")
	}
	if a.Press("esc"); !m.stopping {
		t.Error("the first esc does not stop it")
	}
	if out := m.leave(); !out.Close {
		t.Error("the second esc does not leave")
	}
}

// An error is shown whole, however long; bounds that make no sense are
// refused before anything is searched.
func TestSearchErrors(t *testing.T) {
	a, m := openMadeUp(t, 80, 24, tuitest.PlainTheme(false), "setnx")
	a.Press("down right right enter")
	if v := a.View(); !strings.Contains(v, "ended with an error") || strings.Count(unblanked(v), "SETlockX") != 40 {
		t.Errorf("the error is cut:\n%s", v)
	}
	for m.settings[m.row].name != "failover" {
		a.Press("down")
	}
	number := m.number
	if a.Press("right right enter"); m.number != number {
		t.Error("two failovers are searched")
	}
	m.failed = nil
	if v := a.View(); !strings.Contains(tuitest.Unwrapped(v), "one failover, not more") {
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
	tuitest.EachFrame(t, "searching", func(t *testing.T, name string, w, h int, th *draw.Theme) {
		a, m := openMadeUp(t, w, h, th, "setpx-lua")
		m.begin()
		a.Update(progressMsg{progress: progress{m.number, explore.Progress{States: 1234567, Transitions: 7654321, Depth: 31, Frontier: 45678, Bytes: 99 << 20}, 2500 * time.Millisecond}})
		tuitest.Golden(t, name, a.View())
	})
}

// Every setting can be gone through without an end, and no lock's bounds panic.
func TestSearchSettings(t *testing.T) {
	a, m := openMadeUp(t, 80, 24, tuitest.PlainTheme(false), "setnx")
	for range 30 {
		for i := 0; i < len(m.settings); i++ { // a lock on several servers has one more
			m.row = i
			name, was := m.settings[i].name, m.settings[i].value()
			a.Press("right")
			a.CheckFrame(name)
			if name == "look for" && was == m.settings[i].value() {
				t.Error("what to look for does not change")
			}
		}
		a.Press("left")
	}
}

// However far the findings were scrolled, the one that the cursor comes to is in sight, with its sign before it.
func TestFindingAtTheCursorIsInSight(t *testing.T) {
	a, m := openMadeUp(t, 80, 24, tuitest.PlainTheme(false), "setpx-lua")
	a.Press("enter")
	_ = a.View()
	for _, keys := range []string{"pgdown down", "pgdown pgdown up", "pgdown down down", "up up up", "down"} {
		for _, k := range strings.Fields(keys) {
			a.Press(k)
			_ = a.View()
		}
		if v := a.View(); !strings.Contains(v, "│ ▸✗ "+m.picked().Code.String()) {
			t.Errorf("after %s the finding %s is out of sight:\n%s", keys, m.picked().Code, v)
		}
	}
}

// What everything leaves out is said.
func TestCodesThatNoSearchLooksForAreNamed(t *testing.T) {
	a, m := openMadeUp(t, 80, 24, tuitest.PlainTheme(false), "setpx-lua")
	a.Press("enter")
	v := told(m)
	for _, c := range trace.Codes {
		if !strings.Contains(v, c.Name()) {
			t.Errorf("%s is neither looked for nor left out: %s", c, v)
		}
	}
}
