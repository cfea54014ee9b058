package runs

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"

	"lockstep/scenarios"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/draw"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

// openRuns opens the matrix on a library.
func openRuns(t testing.TB, w, h int, th *draw.Theme, lib *screen.Library) (*tuitest.App, *Runs) {
	app := tuitest.HandmadeApp(lib, th)
	m := New(app, screen.RunsMsg{})
	return tuitest.Open(t, w, h, app, m, nil), m
}

func TestScreens(t *testing.T) {
	tuitest.EachFrame(t, "runs", func(t *testing.T, name string, w, h int, th *draw.Theme) {
		lib := tuitest.Shelf(varied)
		lib.Scenarios[2].Name = "late-release"
		a, _ := openRuns(t, w, h, th, lib)
		a.Press("right right right")
		tuitest.Golden(t, name, a.View())
	})
}

// varied are the handmade runs with all that a badge may say: a failure that is milder under fenced, one that
// is none, and one of those that a lock has to withstand under naive-del.
func varied(scenario, strategy string) (*trace.Trace, error) {
	t, err := tuitest.Handmade(scenario, strategy)
	switch {
	case scenario == "late-release":
		t.Violations = nil
		if strategy == "naive-del" {
			t.Violations = []trace.Violation{{Code: trace.FR}}
		}
	case scenario == "crowd" && strategy == "setnx":
		t.Violations = []trace.Violation{{Code: trace.BD}}
	case strategy == "fenced":
		t.Violations = slices.DeleteFunc(t.Violations, func(v trace.Violation) bool { return v.Code == trace.SW })
	}
	return t, err
}

// The rule below the matrix names the codes of failures, the worst first, as far as it has room, and then the key for the others.
func TestCodesAreExplained(t *testing.T) {
	for w, want := range map[int]string{80: " SW stale write  ? more ", 120: " DG double grant  OV overlapping critical sections  ? more ", 200: " FR foreign release "} {
		a, m := openRuns(t, w, 40, tuitest.PlainTheme(false), tuitest.Shelf(tuitest.Handmade))
		rule := strings.Split(a.View(), "\n")[m.plan.rules[1].Y]
		if !strings.Contains(rule, want) {
			t.Errorf("%d columns: %s", w, rule)
		}
	}
}

func TestMatrixFillsIn(t *testing.T) {
	app := tuitest.HandmadeApp(tuitest.Shelf(tuitest.Handmade), tuitest.PlainTheme(false))
	a := tuitest.Drive(t, screen.NewRouter(app, nil, New(app, screen.RunsMsg{})))
	a.Update(tea.WindowSizeMsg{Width: 120, Height: 24}) // wide enough for all columns
	if v := a.View(); !strings.Contains(v, "running 0 of 260") || !strings.Contains(v, "··") || strings.Contains(v, "✗SW") {
		t.Errorf("something is known before anything has run:\n%s", v)
	}
	first, rest := a.Init()(), tea.BatchMsg(nil)
	if several, is := first.(tea.BatchMsg); is {
		first, rest = several[0](), several[1:]
	}
	_, more := a.Update(first)
	if v := a.View(); !strings.Contains(v, "running 8 of 260") || strings.Count(v, "✗SW") < 8 {
		t.Errorf("eight cells are done, and not shown:\n%s", v)
	}
	a.Do(tea.Batch(append(rest, more)...))
	if v := a.View(); !strings.Contains(v, "260 runs") || strings.Contains(v, "not run yet") {
		t.Errorf("all is done, and not shown:\n%s", v)
	}
}

func TestRunsTellTheStoryOfACell(t *testing.T) {
	a, h := openRuns(t, 120, 40, tuitest.PlainTheme(false), tuitest.Only("setnx", "get-then-del", "setpx-lua", "setpx-delex"))
	for _, cell := range [][2]string{{"release-gap", "get-then-del"}, {"crash-holding", "setnx"}, {"release-gap", "setpx-lua"}, {"release-gap", "setpx-delex"}} {
		row, column := a.Library.Named(cell[0]), a.Library.Strategy(cell[1])
		h.show(row, column)
		sc, v := a.Library.Scenarios[row], tuitest.Unwrapped(a.View())
		if !strings.Contains(v, tuitest.Unwrapped(sc.Because(cell[1]))) {
			t.Errorf("%v: the reason is not told:\n%s", cell, a.View())
		}
		if like := sc.ExpectsLike(cell[1]); like != "" && !strings.Contains(v, "As "+like+": ") {
			t.Errorf("%v: the reason is not told as that of %s:\n%s", cell, like, a.View())
		}
		for _, code := range a.Grid.At(row, column).Verdict {
			if !strings.Contains(v, code.Name()) {
				t.Errorf("%v: %s is not named", cell, code)
			}
		}
	}
}

func TestMouse(t *testing.T) {
	a, h := openRuns(t, 80, 24, tuitest.PlainTheme(false), tuitest.Shelf(tuitest.Handmade))
	if strings.Contains(a.View(), "select text") {
		t.Error("the footer speaks of a mouse that is off")
	}
	a.Press("m")
	if !strings.Contains(a.View(), "m mouse off") || !strings.Contains(a.View(), "q quit") {
		t.Errorf("the footer does not say that the mouse is on:\n%s", a.View())
	}
	place := screen.Click{X: h.plan.grid.X + 2*cellWidth, Y: h.plan.grid.Y + 3} // the scenario below the second title
	a.Click(place.X, place.Y)
	scenario, strategy, is := h.selected()
	if !is || a.Library.Scenarios[scenario].Name != "crowd" || strategy != h.order[2] {
		t.Errorf("the click went to scenario %d, lock %d", scenario, strategy)
	}
	_, out := h.Update(place)
	if want := (screen.PlayMsg{Strategy: strategy, Scenario: scenario}); out.To != want {
		t.Errorf("a second click asks for %v, want %v", out.To, want)
	}
	if a.Click(place.X, place.Y+1); len(h.lines) != 22 { // 2 titles, 20 scenarios
		t.Errorf("a click on what is folded leaves %d lines", len(h.lines))
	}
}

// openReal opens the matrix of all locks under the scenarios of a few lessons.
func openReal(t *testing.T, names ...string) (*tuitest.App, *Runs) {
	lib := screen.NewLibrary()
	all := lib.Scenarios
	lib.Scenarios = nil
	for _, s := range all {
		if slices.Contains(names, s.Name) {
			lib.Scenarios = append(lib.Scenarios, s)
		}
	}
	return openRuns(t, 120, 40, tuitest.PlainTheme(false), lib)
}

// Every scenario and every lock is there once, in the order of the lessons.
func TestGroups(t *testing.T) {
	lib := screen.NewLibrary()
	seen := map[int]int{}
	for _, g := range groupsOf(lib) {
		if len(g.taught) == 0 || g.title == "" {
			t.Errorf("%q has nothing that its lesson teaches", g.title)
		}
		for _, i := range append(slices.Clone(g.taught), g.more...) {
			seen[i]++
		}
	}
	for i, s := range lib.Scenarios {
		if seen[i] != 1 {
			t.Errorf("%s is there %d times", s.Name, seen[i])
		}
	}
	locks := slices.Sorted(slices.Values(locksOf(lib)))
	if len(locks) != len(lib.Strategies) || len(slices.Compact(locks)) != len(lib.Strategies) {
		t.Errorf("the columns are %v", locks)
	}
	if first := lib.Strategies[locksOf(lib)[0]].Name; first != lib.Lessons[0].Steps[0].Strategy {
		t.Errorf("the first column is %s", first)
	}
}

// An ok of a lock that is broken anyway must not read as a recommendation: SETNX has no expiry, so a
// pause does it no harm.
func TestAnOkThatSaysNothing(t *testing.T) {
	a, h := openReal(t, "crash-holding", "late-release", "pause-past-ttl")
	setnx, right := a.Library.Strategy("setnx"), a.Library.Strategy("setpx-lua")
	h.show(a.Library.Named("pause-past-ttl"), setnx)
	if v := tuitest.Unwrapped(a.View()); !strings.Contains(v, "but it is a bad lock: under crash-holding it shows PD") {
		t.Errorf("setnx under a pause is told as\n%s", a.View())
	}
	glyphs := &a.Theme.Glyphs
	if got := a.Grid.Badge(a.Library.Named("pause-past-ttl"), setnx, glyphs).Text; got != "(ok)" {
		t.Errorf("setnx under a pause is %q", got)
	}
	if got := a.Grid.Badge(a.Library.Named("late-release"), right, glyphs).Text; got != "✓ok" {
		t.Errorf("setpx-lua under a late release is %q", got)
	}
}

// The key for the next failure stays in its column, finds what is folded, and comes round.
func TestNextFailureStaysInItsColumn(t *testing.T) {
	a, h := openReal(t, "crash-holding", "late-release", "token-collision", "release-gap", "pause-past-ttl")
	naive := a.Library.Strategy("naive-del")
	a.Press("g")
	h.show(a.Library.Named("crash-holding"), naive)
	for _, want := range []string{"late-release", "release-gap", "pause-past-ttl", "late-release"} {
		a.Press("!")
		scenario, strategy, is := h.selected()
		if !is || strategy != naive || a.Library.Scenarios[scenario].Name != want {
			t.Fatalf("! leads to %s with %s, want %s", a.Library.Scenarios[scenario].Name, a.Library.Strategies[strategy].Name, want)
		}
	}
	redlock := a.Library.Strategy("redlock")
	h.show(a.Library.Named("late-release"), redlock)
	if a.Press("!"); a.Library.Scenarios[h.lines[h.at].scenario].Name != "token-collision" || !h.open[h.lines[h.at].group] {
		t.Errorf("! does not find token-collision, which is folded")
	}
}

func TestFilter(t *testing.T) {
	a, h := openReal(t, "crash-holding", "late-release", "token-collision", "release-gap", "pause-past-ttl")
	names := func() (rows, locks string) {
		for _, l := range h.lines {
			if l.kind == scenarioLine {
				rows += a.Library.Scenarios[l.scenario].Name + " "
			}
		}
		for _, i := range h.locks {
			locks += a.Library.Strategies[i].Name + " "
		}
		return rows, locks
	}
	all, locks := names()
	for _, tt := range []struct{ typed, rows, locks string }{
		{"release", "late-release release-gap ", locks},
		{"setpx-w", "crash-holding late-release token-collision release-gap pause-past-ttl ", "setpx-wait setpx-watch-bare setpx-watch "},
		// setpx-wait is in the course, and the others are not
		{"gap space redlock-w", "release-gap ", "redlock-wall-clock "},
		{"successor", "late-release ", locks}, // it deletes its successor's lock
		{"xyzzy", "", locks},
		{"collision", "token-collision ", locks},
	} {
		a.Press("/")
		for _, word := range strings.Fields(tt.typed) {
			if word == "space" {
				a.Press(word)
				continue
			}
			a.Press(strings.Join(strings.Split(word, ""), " "))
		}
		if rows, locks := names(); rows != tt.rows || locks != tt.locks {
			t.Errorf("%q keeps %q and %q, want %q and %q", tt.typed, rows, locks, tt.rows, tt.locks)
		}
		a.Press("enter")
		_ = a.View()
		if a.Press("esc"); h.filter != "" {
			t.Errorf("esc leaves the filter %q", h.filter)
		}
		if rows, _ := names(); rows != all {
			t.Errorf("without a filter there are %q, want %q", rows, all)
		}
	}
	if _, out := h.Update(tuitest.KeyMsg("esc")); !out.Close {
		t.Error("esc does not go back where there is no filter")
	}
}

// While a filter is typed the footer names no key that would be a letter of it; and where the lock has
// no other failure among the runs that are listed, the key for it says so.
func TestFilterNamesItsKeys(t *testing.T) {
	a, m := openReal(t, "late-release", "release-gap")
	m.show(a.Library.Named("late-release"), a.Library.Strategy("naive-del"))
	a.Press("/")
	for _, letter := range "late-rel" {
		a.Press(string(letter))
	}
	if v := a.View(); strings.Contains(v, "next failure") || !strings.Contains(v, "enter keep the filter") {
		t.Errorf("while the filter is typed:\n%s", v)
	}
	a.Press("enter !")
	if v := a.View(); !strings.Contains(v, "No other failure of naive-del within the filter.") {
		t.Errorf("there is no other failure, and nothing says so:\n%s", v)
	}
}

// The names of a few locks have the room that the others don't take, and a click finds their columns; many locks stand as
// close as they can.
func TestNamesOfFewLocksAreWhole(t *testing.T) {
	names := []string{"setpx-autoretry", "setpx-subscribe", "redlock-hyperf", "setpx-lua", "redlock"}
	a, h := openRuns(t, 80, 24, tuitest.PlainTheme(false), tuitest.Only(names...))
	v := a.View()
	for _, l := range h.locks {
		if name := a.Library.Strategies[l].Name; !strings.Contains(v, name) {
			t.Errorf("%s is cut:\n%s", name, v)
		}
	}
	row := slices.IndexFunc(h.lines, func(l line) bool { return l.kind == scenarioLine })
	a.Click(h.plan.grid.X+4*h.plan.cell, h.plan.grid.Y+row-h.top)
	if h.column != 4 {
		t.Errorf("a click at the fifth column goes to %d", h.column)
	}
	for strategies, want := range map[int]int{1: 8, 5: 8, 31: cellWidth} {
		if l := arrangeRuns(80, 24, 26, 21, 20, strategies, 0); l.cell != want || l.columns*l.cell > l.grid.W {
			t.Errorf("of %d locks each has %d columns, want %d, and there are %d", strategies, l.cell, want, l.grid.W)
		}
	}
}

func runsPicture(w, h, scenarios, strategies int) string {
	l := arrangeRuns(w, h, 26, 21, scenarios, strategies, 0)
	return tuitest.Parts(w, h, l.rules, map[string]draw.Rectangle{"h": l.header, "s": l.heads, "n": l.names, "M": l.grid, "t": l.story, "f": draw.Rect(0, h-1, w, 1)})
}

func TestLayouts(t *testing.T) {
	var b strings.Builder
	for _, size := range tuitest.Sizes {
		w, h := size[0], size[1]
		fmt.Fprintf(&b, "matrix of 45 by 28, %dx%d\n%s\n", w, h, tuitest.Thumbnail(runsPicture(w, h, 45, 28)))
	}
	tuitest.Golden(t, "layouts-runs", b.String())
}

func TestLayoutFitsEveryWindow(t *testing.T) {
	for _, n := range [][2]int{{1, 1}, {7, 12}, {45, 28}} {
		tuitest.FitsEveryWindow(t, func(w, h int) string { return runsPicture(w, h, n[0], n[1]) })
	}
}

// A frame of the matrix.
func BenchmarkMatrixFrame(b *testing.B) {
	a, _ := openRuns(b, 200, 60, draw.NewTheme(tuitest.RendererOf(termenv.TrueColor), false, false), tuitest.Shelf(tuitest.Handmade))
	for b.Loop() {
		_ = a.View()
	}
}

// What is wholly in sight is said so, without a number of rows among which headings count.
func TestSightIsNamed(t *testing.T) {
	if got, want := stretch("scenarios", 0, 9, 2), "all scenarios"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	a, m := openUnknown(t, 80, 24, screen.RunsMsg{})
	folded := 0
	for _, g := range m.groups {
		folded += len(g.more)
	}
	rows := len(scenarios.Names()) - folded
	if folded < 30 || rows < 30 {
		t.Errorf("%d scenarios have rows, and %d are folded", rows, folded)
	}
	for _, step := range []struct{ keys, want string }{{"g", fmt.Sprintf("scenarios 1-5 of %d + %d folded, locks 1-8 of %d", rows, folded, len(strategies.All()))}, {"G", fmt.Sprintf("-%d of %[1]d + %d folded", rows, folded)}, {"/ e v i c t i o n enter", "all scenarios, "}} {
		if a.Press(step.keys); !strings.Contains(sight(a.View()), step.want) {
			t.Errorf("%s: in sight is %q, want %q", step.keys, sight(a.View()), step.want)
		}
	}
	if got, want := stretch("locks", 3, 9, 31), "locks 4-12 of 31"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// openUnknown opens the matrix of all locks under all scenarios, of whose runs none is made.
func openUnknown(t testing.TB, w, h int, at screen.RunsMsg) (*tuitest.App, *Runs) {
	app := tuitest.HandmadeApp(screen.NewLibrary(), tuitest.PlainTheme(false))
	m := New(app, at)
	a := tuitest.Drive(t, screen.NewRouter(app, nil, m))
	a.Update(tea.WindowSizeMsg{Width: w, Height: h})
	return a, m
}

// sight is the row of the frame that says what is in sight.
func sight(v string) string {
	for _, l := range strings.Split(v, "\n") {
		if strings.Contains(l, ", locks ") || strings.Contains(l, ", all locks") {
			return strings.Trim(l, "─ ")
		}
	}
	return ""
}

// The story of a cell is whole in the least window, at every cell, with what the scenario shows and what the lock is, and so is the name
// of its lock above it.
func TestNothingIsCutAtTheCursor(t *testing.T) {
	a, m := openUnknown(t, 80, 24, screen.RunsMsg{})
	lib := a.Library
	for i := range m.Grid.Cells {
		want, _ := lib.Scenarios[i/len(lib.Strategies)].Expect(lib.Strategies[i%len(lib.Strategies)].Name)
		m.Grid.Cells[i] = screen.Cell{Known: true, Verdict: want}
	}
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		a.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		for sc := range lib.Scenarios {
			st := sc % len(lib.Strategies)
			m.show(sc, st)
			v := a.View()
			if strings.Contains(v, " more lines") {
				t.Errorf("%v: the story of %s with %s is cut:\n%s", size, lib.Scenarios[sc].Name, lib.Strategies[st].Name, v)
			}
			story := tuitest.Unwrapped(v[strings.LastIndex(v, "───"):])
			for _, text := range []string{lib.Scenarios[sc].Title + ": " + lib.Scenarios[sc].Shows, lib.Strategies[st].Name + ": " + lib.Strategies[st].Summary} {
				if !strings.Contains(story, tuitest.Unwrapped(text)) {
					t.Errorf("%v: there is no %q:\n%s", size, text, v)
				}
			}
			heads := strings.Join(strings.Split(v, "\n")[m.plan.heads.Y:m.plan.heads.Y+m.plan.heads.H], "\n")
			if !strings.Contains(heads, lib.Strategies[st].Name) {
				t.Errorf("%v: %s is cut above its column:\n%s", size, lib.Strategies[st].Name, v)
			}
			if name := lib.Scenarios[sc].Name; size[0] >= wideNames && !strings.Contains(v, name+" ") {
				t.Errorf("%v: %s is cut:\n%s", size, name, v)
			}
			if !m.plan.grid.Holds(m.plan.grid.X, m.plan.grid.Y+m.at-m.top) {
				t.Errorf("%v: the cursor is below the matrix", size)
			}
		}
	}
}

// A page of locks to the right and one to the left lead back to the same locks and to the same one of them.
func TestPagesOfLocksLeadBack(t *testing.T) {
	a, m := openUnknown(t, 80, 24, screen.RunsMsg{Strategy: locksOf(screen.NewLibrary())[3]})
	var seen []string
	for range 4 {
		seen = append(seen, fmt.Sprint(m.column, sight(a.View())))
		a.Press("]")
	}
	for i := len(seen) - 2; i >= 0; i-- {
		_ = a.View()
		if a.Press("["); fmt.Sprint(m.column, sight(a.View())) != seen[i] {
			t.Errorf("back at page %d it is %d, %q, and was %q", i+1, m.column, sight(a.View()), seen[i])
		}
	}
}

// The footer names the keys that lead to other locks where some are out of sight, and only there.
func TestFooterNamesPagesOfLocks(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {260, 60}} {
		a, m := openUnknown(t, size[0], size[1], screen.RunsMsg{})
		v := a.View()
		if named, hidden := strings.Contains(v, "[] locks"), m.plan.columns < len(m.locks); named != hidden || hidden != (size[0] == 80) {
			t.Errorf("%v: locks are out of sight: %v, and the keys are named: %v:\n%s", size, hidden, named, v)
		}
	}
}

// Home shows the title above the first scenario as well.
func TestFirstTitleIsInSight(t *testing.T) {
	a, m := openUnknown(t, 80, 24, screen.RunsMsg{})
	a.Press("G")
	_ = a.View()
	if a.Press("g"); !strings.Contains(a.View(), m.groups[0].title) {
		t.Errorf("the first title has scrolled away:\n%s", a.View())
	}
}

// A word that is in the names of locks keeps those; the header counts the runs that are left. Without the filter the
// cursor is back where it was, unless it was moved. Where nothing is left, nothing else is drawn.
func TestFilterOfLocks(t *testing.T) {
	a, m := openUnknown(t, 80, 24, screen.RunsMsg{})
	lib := a.Library
	m.Grid.Known = len(m.Grid.Cells) // or the header counts those that are made
	late, naive := lib.Named("late-release"), lib.Strategy("naive-del")
	m.show(late, naive)
	a.Press("/ f e n c e d enter")
	if v := a.View(); len(m.locks) != 2 || !strings.Contains(v, fmt.Sprintf(" %d of %d runs", m.count(), len(m.Grid.Cells))) {
		t.Errorf("%d locks are left:\n%s", len(m.locks), v)
	}
	a.Press("esc")
	if sc, st, is := m.selected(); !is || sc != late || st != naive {
		t.Errorf("without the filter the cursor is on %s", lib.Scenarios[sc].Name)
	}
	a.Press("/ r e l e a s e enter down")
	want, _, _ := m.selected()
	a.Press("esc")
	if sc, _, _ := m.selected(); sc != want || want == late {
		t.Errorf("a cursor that was moved to %s is on %s", lib.Scenarios[want].Name, lib.Scenarios[sc].Name)
	}
	a.Press("/ x y z z y enter")
	if v := a.View(); !strings.Contains(v, `Nothing has "xyzzy" in its name`) || strings.Contains(v, "enter play") || strings.Contains(v, "all scenarios") || strings.Contains(v, ": SET") {
		t.Errorf("nothing is left:\n%s", v)
	}
}

// A window that was smaller for a time shows again what it did before.
func TestSmallerWindowAndBack(t *testing.T) {
	a, _ := openUnknown(t, 120, 40, screen.RunsMsg{})
	a.Press("g" + strings.Repeat(" down", 15)) // further down than a smaller window has rows
	before := a.View()
	for _, size := range [][2]int{{80, 24}, {120, 40}} {
		a.Update(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		_ = a.View()
	}
	if after := a.View(); after != before {
		t.Errorf("after a smaller window:\n%s\nand before it:\n%s", after, before)
	}
}

// A word counts as a whole name, then as a word of one, then as a part; in each case of scenarios before locks, and
// never of both. The header says what was filtered.
func TestFilterPutsWholeWordsFirst(t *testing.T) {
	a, m := openUnknown(t, 120, 40, screen.RunsMsg{})
	lib := a.Library
	m.Grid.Known = len(m.Grid.Cells)
	for _, tt := range []struct{ typed, header, scenario, lock string }{
		{"del", "filter: locks del ", "", "naive-del"},                   // and not the scenario restart-delayed, nor the lock setpx-delex
		{"late", "filter: scenarios late ", "late-release", ""},          // and not the lock fenced-late
		{"fenced", "filter: locks fenced ", "", "fenced-late"},           // though scenarios have the word, too
		{"redl", "filter: locks redl ", "", "redlock-hyperf"},            // a part
		{"late fenced", "late; locks fenced ", "late-release", "fenced"}, // one of each
	} {
		a.Press("/")
		for _, r := range tt.typed {
			a.Press(map[bool]string{true: "space", false: string(r)}[r == ' '])
		}
		a.Press("enter")
		k := m.filtered()
		for _, l := range m.lines {
			if name := lib.Scenarios[l.scenario].Name; l.kind == scenarioLine && tt.scenario != "" && !hasWord(name, "late") {
				t.Errorf("%s keeps the scenario %s", tt.typed, name)
			}
		}
		if rows := 0; tt.scenario == "" {
			for _, l := range m.lines {
				if l.kind == scenarioLine {
					rows++
				}
			}
			if rows != len(lib.Scenarios) {
				t.Errorf("%s keeps %d scenarios of %d", tt.typed, rows, len(lib.Scenarios))
			}
		} else if len(k.locks) == 0 && len(m.locks) != len(lib.Strategies) {
			t.Errorf("%s keeps %d locks of %d", tt.typed, len(m.locks), len(lib.Strategies))
		}
		if tt.lock != "" && (!slices.Contains(m.locks, lib.Strategy(tt.lock)) || slices.Contains(m.locks, lib.Strategy("setpx-delex"))) {
			t.Errorf("%s keeps the locks %v", tt.typed, m.locks)
		}
		if v := a.View(); !strings.Contains(v, tt.header) {
			t.Errorf("there is no %q in\n%s", tt.header, v)
		}
		a.Press("esc")
	}
}

// What the badges mean is on the screen, and at the right edge of a wide window names stand further left where there is
// room for them, and are not cut.
func TestLegendAndHeadsAtTheEdge(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		lib := screen.NewLibrary()
		app := tuitest.HandmadeApp(lib, tuitest.PlainTheme(false))
		a := tuitest.Drive(t, screen.NewRouter(app, nil, New(app, screen.RunsMsg{}))) // not started: the heads need no run
		a.Send(tea.WindowSizeMsg{Width: size[0], Height: size[1]})
		v := a.View()
		if !strings.Contains(v, "✓ok nothing broke  (ok) but a bad lock  ~BD a wait  ✗DG broken  ·· to come") {
			t.Errorf("%v: no legend:\n%s", size, v)
		}
		if heads := strings.Join(strings.Split(v, "\n")[2:7], "\n"); size[0] == 200 && strings.Contains(heads, app.Theme.More) {
			t.Errorf("%v: a name is cut:\n%s", size, heads)
		}
	}
}
