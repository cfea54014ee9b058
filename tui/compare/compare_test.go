package compare

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/scenarios"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/pane"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

// openCompare opens a scenario of the shelf under two locks.
func openCompare(t testing.TB, w, h int, th *draw.Theme, msg screen.CompareMsg) (*tuitest.App, *Compare) {
	app := tuitest.HandmadeApp(tuitest.Shelf(tuitest.Handmade), th)
	m := New(app, msg)
	return tuitest.Open(t, w, h, app, m, nil), m
}

func TestScreens(t *testing.T) {
	tuitest.EachFrame(t, "compare", func(t *testing.T, name string, w, h int, th *draw.Theme) {
		app := tuitest.HandmadeApp(tuitest.Shelf(fencedOff), th)
		m := New(app, screen.CompareMsg{Strategies: [2]int{app.Library.Strategy("setpx-lua"), app.Library.Strategy("fenced")}})
		a := tuitest.Open(t, w, h, app, m, nil)
		a.Press("g ! !")
		tuitest.Golden(t, name, a.View())
	})
}

// fencedOff is the handmade run, in which the resource refuses the late write if the lock gives fencing tokens.
func fencedOff(scenario, strategy string) (*trace.Trace, error) {
	t, err := tuitest.Handmade(scenario, strategy)
	for i := range t.Events {
		if e := &t.Events[i]; strategy == "fenced" && e.Kind == trace.KindWrite {
			e.Kind, e.Note = trace.KindReject, "fence 1 is older than 2"
			t.Violations = slices.DeleteFunc(t.Violations, func(v trace.Violation) bool { return v.Code == trace.SW })
		}
	}
	return t, err
}

func TestCompareScrubsBoth(t *testing.T) {
	_, m := openCompare(t, 120, 40, tuitest.PlainTheme(false), screen.CompareMsg{Strategies: [2]int{0, 2}})
	for i, s := range m.alignment.Steps {
		if s[0] != s[1] {
			t.Fatalf("step %d: the same run stands at %v in its two copies", i, s)
		}
		if m.differs[i] {
			t.Fatalf("step %d: a run differs from itself", i)
		}
	}
	for _, w := range []int{68, 188} {
		ax, _ := pane.AlignedAxes(m.alignment, w, 0)
		for side := range ax {
			for k := 1; k < len(ax[side].Cols); k++ {
				if ax[side].Cols[k] < ax[side].Cols[k-1] {
					t.Fatalf("width %d: side %d goes back at %d", w, side, k)
				}
			}
		}
	}
}

func comparePicture(w, h int, lanes [2]int) string {
	l := arrangeCompare(w, h, lanes, [2]int{pane.AxisRows, pane.AxisRows}, leastTold)
	return tuitest.Parts(w, h, []draw.Rectangle{l.titles[0], l.titles[1], l.differs}, map[string]draw.Rectangle{"h": l.header, "U": l.halves[0], "L": l.halves[1], "t": l.told, "f": draw.Rect(0, h-1, w, 1)})
}

func TestLayouts(t *testing.T) {
	var b strings.Builder
	for _, size := range tuitest.Sizes {
		w, h := size[0], size[1]
		fmt.Fprintf(&b, "compare, 7 and 12 lanes, %dx%d\n%s\n", w, h, tuitest.Thumbnail(comparePicture(w, h, [2]int{7, 12})))
	}
	tuitest.Golden(t, "layouts-compare", b.String())
	for _, n := range [][2]int{{1, 1}, {7, 12}, {45, 28}} {
		tuitest.FitsEveryWindow(t, func(w, h int) string { return comparePicture(w, h, n) })
	}
}

// The help explains every code that the titles of the runs show.
func TestHelpExplainsCodes(t *testing.T) {
	_, m := openCompare(t, 80, 24, tuitest.PlainTheme(false), screen.CompareMsg{})
	signs := m.Help().Signs
	for _, c := range trace.Codes {
		if !slices.ContainsFunc(signs, func(s draw.Sign) bool { return s[0] == c.String() && s[1] == c.Name() }) {
			t.Errorf("%s isn't explained", c)
		}
	}
}

// At a violation the screen says which lock broke what and how, and none of the words are cut.
func TestCauseIsTold(t *testing.T) {
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		lib := screen.NewLibrary()
		app := tuitest.RealApp(lib, tuitest.PlainTheme(false))
		m := New(app, screen.CompareMsg{Scenario: lib.Named("late-release"), Strategies: [2]int{lib.Strategy("naive-del"), lib.Strategy("setpx-lua")}})
		a := tuitest.Open(t, size[0], size[1], app, m, nil)
		if at := m.alignment.Steps[m.at]; at[0] != m.alignment.Runs[0].Breaches[0].Pos {
			t.Errorf("%v: it stands at %v, and not at the DEL with which the runs part", size, at)
		}
		a.Press("g")
		for i := range m.alignment.Runs[0].Breaches {
			a.Press("!")
			v := tuitest.Unwrapped(a.View())
			if b := m.alignment.Runs[0].Breaches[i]; !strings.Contains(v, fmt.Sprintf("naive-del, %s (%s): ", b.Code.Name(), b.Code)) || !strings.Contains(v, b.Text) {
				t.Errorf("%v: nothing of %s, %s:\n%s", size, b.Code, b.Text, a.View())
			}
			if strings.Contains(v, "more line") {
				t.Errorf("%v: cut:\n%s", size, a.View())
			}
		}
	}
}

// opened is a comparison of two locks under a built-in scenario, which really run.
func opened(t *testing.T, w, h int, scenario, upper, lower string) (*Compare, *tuitest.App) {
	t.Helper()
	lib := screen.NewLibrary()
	app := tuitest.RealApp(lib, tuitest.PlainTheme(false))
	m := New(app, screen.CompareMsg{Scenario: lib.Named(scenario), Strategies: [2]int{lib.Strategy(upper), lib.Strategy(lower)}})
	return m, tuitest.Open(t, w, h, app, m, nil)
}

// Where a lease is over in one run and not in the other because one lock takes something off it for drift, that is said.
func TestMarginOfALeaseIsToldWhereItDiffers(t *testing.T) {
	m, a := opened(t, 80, 24, "pause-past-ttl", "naive-del", "redlock")
	told := 0
	for i := range m.alignment.Steps {
		words := strings.Join(m.alignment.Differences(i), "; ")
		if !strings.Contains(words, "has a live lease above, and has not below") {
			continue
		}
		m.at = i
		if want := "(the lock below takes 102ms off its 10s, as clocks may drift)"; !strings.Contains(words, want) || !strings.Contains(tuitest.Unwrapped(a.View()), tuitest.Unwrapped(want)) {
			t.Errorf("step %d: %s\n%s", i, words, a.View())
		}
		told++
	}
	if told == 0 {
		t.Error("no lease is over earlier below")
	}
	m.at = len(m.alignment.Steps) - 1 // where nothing else says it
	if rows := strings.Split(a.View(), "\n"); strings.Contains(rows[m.plan.titles[0].Y], "lease:") || !strings.Contains(rows[m.plan.titles[1].Y], "lease: 10s less 102ms for clock drift") {
		t.Errorf("the title below doesn't say why its bars are shorter, or that above does:\n%s", a.View())
	}
}

// The key for the next difference goes round them, and says what differs at each; where there is one
// difference or none, it says that.
func TestDifferencesAreToldInTurn(t *testing.T) {
	lib := screen.NewLibrary()
	app := tuitest.RealApp(lib, tuitest.PlainTheme(false))
	for _, tt := range []struct {
		scenario string
		locks    [2]string
	}{{"late-release", [2]string{"naive-del", "get-then-del"}}, {"late-release", [2]string{"naive-del", "naive-del"}}, {"pause-past-ttl", [2]string{"redlock-hyperf", "redlock"}},
		{"pause-past-ttl", [2]string{"setpx-lua", "fenced"}}} {
		m := New(app, screen.CompareMsg{Scenario: lib.Named(tt.scenario), Strategies: [2]int{lib.Strategy(tt.locks[0]), lib.Strategy(tt.locks[1])}})
		a := tuitest.Open(t, 120, 40, app, m, nil)
		begins := 0
		for i := range m.differs {
			if m.differs[i] && (i == 0 || !m.differs[i-1] || !slices.Equal(m.alignment.Differences(i), m.alignment.Differences(i-1))) {
				begins++
			}
			if words := m.alignment.Differences(i); m.differs[i] != (len(words) > 0) {
				t.Errorf("%v, step %d: it differs: %v, in %q", tt, i, m.differs[i], words)
			}
		}
		a.Press("g")
		for range begins {
			a.Press("n")
			if words := m.alignment.Differences(m.at); m.notice != "" || len(words) == 0 || !strings.Contains(strings.ToLower(tuitest.Unwrapped(a.View())), strings.ToLower(words[0])) {
				t.Errorf("%v, step %d: %q, and not a word of %q:\n%s", tt, m.at, m.notice, words, a.View())
			}
		}
		a.Press("n")
		want := map[int]string{0: draw.Either(m.alignment.Same(), "They do not differ at all.", "They differ in commands alone, "), 1: "There is no other difference: this one "}[begins]
		if want == "" {
			want = map[bool]string{false: "That was the last difference; this is the first again.", true: "That was the last difference, which stays; this is the first again."}[m.differs[m.alignment.Last()]]
		}
		if !strings.HasPrefix(m.notice, want) {
			t.Errorf("%v: after %d differences it says %q", tt, begins, m.notice)
		}
		a.Press("x")
		if !strings.Contains(a.View(), "x does nothing here") {
			t.Errorf("nothing is said of a key that does nothing:\n%s", a.View())
		}
	}
}

// The words of what differs stay in the least window, too, beside those that there is no other difference after it.
func TestNoticeLeavesWhatDiffers(t *testing.T) {
	m, a := opened(t, draw.MinWidth, draw.MinHeight, "late-release", "naive-del", "setpx-lua")
	a.Press("G n")
	if v := a.View(); m.notice == "" || !strings.Contains(v, m.notice) || !strings.Contains(tuitest.Unwrapped(v), tuitest.Unwrapped(m.alignment.Differences(m.at)[0])) {
		t.Errorf("it says %q, and not a word of %q:\n%s", m.notice, m.alignment.Differences(m.at), v)
	}
}

// Runs that differ for a moment are not said to go the same way.
func TestMomentsAreDifferences(t *testing.T) {
	m, a := opened(t, 120, 40, "pause-past-ttl", "redlock-hyperf", "redlock")
	if m.alignment.Parting() >= 0 || !slices.Contains(m.differs, true) {
		t.Fatal("the test needs other locks")
	}
	if v := a.View(); !strings.Contains(v, "The two runs go the same way. They differ for ") {
		t.Errorf("of runs that differ in passing it says\n%s", v)
	}
	m, a = opened(t, 80, 24, "power-cut", "setpx-lua", "watchdog") // which extends its lease
	const commands = "Beliefs, record owners and resource are alike throughout; commands differ."
	if v := a.View(); slices.Contains(m.differs, true) || !strings.Contains(v, commands) {
		t.Errorf("of runs with other commands it says\n%s", v)
	}
	if a.Press("n"); !strings.Contains(a.View(), "They differ in commands alone") {
		t.Errorf("of runs with other commands it says\n%s", a.View())
	}
	_, same := opened(t, 120, 40, "pause-past-ttl", "redlock", "redlock")
	if v := same.View(); !strings.Contains(v, "are alike in both from beginning to end") {
		t.Errorf("of one run twice it says\n%s", v)
	}
}

// The caption of the row of differences stands apart from its rule.
func TestCaptionStandsApart(t *testing.T) {
	a, _ := openCompare(t, 120, 40, tuitest.PlainTheme(false), screen.CompareMsg{Strategies: [2]int{3, 6}})
	if v := a.View(); !strings.Contains(v, "─ differs ─") {
		t.Error(v)
	}
}

// No line of the events is cut before the end of a lease, or in the midst of a record, and the footer names the key that
// opens the lower run.
func TestEventsAreNotCutInTheMidst(t *testing.T) {
	m, a := opened(t, 80, 24, "late-release", "naive-del", "get-then-del")
	a.Press("g")
	grants := 0
	for range m.alignment.Steps {
		v := a.View()
		for line := range strings.Lines(v) {
			if cut := strings.HasSuffix(strings.TrimRight(line, " \n"), "…"); cut && (strings.Contains(line, "has the lock") || strings.Contains(line, "[")) {
				t.Errorf("cut: %s", line)
			}
		}
		if strings.Contains(v, "lease until") {
			grants++
		}
		if !strings.Contains(v, "enter lower run") {
			t.Fatalf("the footer doesn't name enter:\n%s", v)
		}
		a.Press("l")
	}
	if grants == 0 {
		t.Error("nobody gets the lock")
	}
}

// No difference is cut at the least size: it is told in as many rows as it takes, or there are fewer of them.
func TestDifferencesAreNotCut(t *testing.T) {
	m, a := opened(t, 80, 24, "late-release", "naive-del", "get-then-del")
	told := 0
	for ; m.at < m.alignment.Last(); a.Press("right") {
		for _, l := range strings.Split(a.View(), "\n") {
			if strings.HasPrefix(l, m.Theme.Differs+" ") {
				told++
				if strings.Contains(l, m.Theme.More) {
					t.Errorf("at %d: %s", m.at, l)
				}
			}
		}
	}
	if told == 0 {
		t.Error("no difference is told")
	}
}

// Where not every client has a row, those that take part in the violation at the cursor and believe that they have the lock
// keep theirs, in the least window, too; the others are named.
func TestClientsOfTheViolationAreShown(t *testing.T) {
	for _, other := range []string{"setpx-lua", "get-then-del"} {
		app := tuitest.RealApp(screen.NewLibrary(), tuitest.PlainTheme(false))
		lib := app.Library
		m := New(app, screen.CompareMsg{Scenario: lib.Named("late-release"), Strategies: [2]int{lib.Strategy("naive-del"), lib.Strategy(other)}})
		a := tuitest.Open(t, draw.MinWidth, draw.MinHeight, app, m, nil)
		for range m.alignment.Runs[0].Breaches {
			a.Press("!")
			v := a.View()
			upper, _, _ := strings.Cut(v[strings.Index(v, "naive-del"):], " "+other+" ")
			_, fresh := m.alignment.Runs[0].Breached(m.alignment.Steps[m.at][0])
			for _, b := range fresh {
				for _, seq := range b.Events {
					e := &m.alignment.Runs[0].Events[seq-1]
					if e.Client < 0 {
						continue
					}
					name, now := m.alignment.Runs[0].Clients[e.Client], &m.alignment.Runs[0].Moments[m.alignment.Steps[m.at][0]].Clients[e.Client]
					if !strings.Contains(upper, name+"     does") && (now.Believed || !strings.Contains(upper, name+", resource")) {
						t.Errorf("%s against %s: %s has no row:\n%s", b.Code, other, name, v)
					}
				}
			}
		}
	}
}

// Both runs show the same rows at every step, and the screen names those of clients and of the resource that have none; in the least window
// and in a larger one. Where the first lock breaks, the rows of what A and B think tell the story of it, and at the end no client is left out.
func TestBothShowTheSameRows(t *testing.T) {
	probe := regexp.MustCompile(`;probe does(;thinks)?`)
	label := regexp.MustCompile(`^.(\S+)? +(does|thinks)|^.resource`)
	for _, size := range [][2]int{{80, 24}, {80, 30}, {120, 40}} {
		app := tuitest.RealApp(screen.NewLibrary(), tuitest.PlainTheme(false))
		lib := app.Library
		m := New(app, screen.CompareMsg{Scenario: lib.Named("late-release"), Strategies: [2]int{lib.Strategy("naive-del"), lib.Strategy("setpx-lua")}})
		a := tuitest.Open(t, size[0], size[1], app, m, nil)
		if v := a.View(); strings.Count(v, "over, unseen") < 2 || strings.Contains(tuitest.FirstLine(v), "what") || !strings.Contains(tuitest.Unwrapped(v), "From here on they differ in more than a lease's end. g goes to the beginning.") {
			t.Errorf("%v: not the whole story of the first violation:\n%s", size, v)
		}
		for a.Press("g"); ; a.Press("right") {
			v := a.View()
			upper, lower, _ := strings.Cut(v[strings.Index(v, " naive-del "):], " setpx-lua ")
			lower, _, _ = strings.Cut(lower, " differs ")
			named, shown := strings.SplitN(v, "\n", 2)[0], [2]string{}
			for i, half := range []string{upper, lower} {
				for line := range strings.Lines(half) {
					shown[i] += strings.Join(strings.Fields(strings.Trim(label.FindString(strings.TrimRight(line, "\n")), m.Theme.Pointer)), " ") + ";"
				}
				shown[i] = probe.ReplaceAllString(strings.ReplaceAll(strings.Trim(shown[i], ";"), ";;", ""), "") // which has begun in one run only
			}
			if shown[0] != shown[1] {
				t.Fatalf("%v, step %d: %q above, and %q below:\n%s", size, m.at, shown[0], shown[1], v)
			}
			for client, name := range m.clients() {
				if !m.begun(client) || m.clients()[client] == trace.Probe {
					continue
				}
				if !strings.Contains(shown[0], name+" does") && !strings.Contains(named, name) {
					t.Fatalf("%v, step %d: %s has no row, and nothing says so:\n%s", size, m.at, name, v)
				}
			}
			if m.at == m.alignment.Last() {
				if !strings.Contains(shown[0], "A does;") || !strings.Contains(shown[0], "B does;") || !strings.Contains(shown[0], "C does") {
					t.Errorf("%v: at the end %q are shown:\n%s", size, shown[0], v)
				}
				break
			}
		}
	}
}

// The lower run has times of its own as soon as the upper run's are not true of it, in the least window, too.
func TestLowerRunIsDated(t *testing.T) {
	for _, tt := range []struct {
		scenario string
		locks    [2]string
		apart    bool
	}{{"late-release", [2]string{"naive-del", "setpx-lua"}, false}, {"reply-lost", [2]string{"redlock", "setnx"}, true}} {
		app := tuitest.RealApp(screen.NewLibrary(), tuitest.PlainTheme(false))
		lib := app.Library
		m := New(app, screen.CompareMsg{Scenario: lib.Named(tt.scenario), Strategies: [2]int{lib.Strategy(tt.locks[0]), lib.Strategy(tt.locks[1])}})
		a := tuitest.Open(t, draw.MinWidth, draw.MinHeight, app, m, nil)
		dated := 0
		for at := range m.alignment.Steps {
			m.goTo(at)
			step := m.alignment.Steps[at]
			two := strings.Count(a.View(), " virtual t ") == 2
			if two {
				dated++
			}
			upper, lower := m.alignment.Runs[0].Now(step[0]), m.alignment.Runs[1].When(step[1])
			if ended := step[0] == m.alignment.Runs[0].Last(); !two && ended && lower > upper+m.alignment.Runs[0].TTL/10 {
				t.Fatalf("step %d: %v stands below %v:\n%s", at, lower, upper, a.View())
			}
		}
		if tt.apart != (dated > 0) {
			t.Errorf("%s: %d of %d steps have two axes", tt.scenario, dated, len(m.alignment.Steps))
		}
	}
}

// Where a property breaks, no client that takes part in it is without a row, in the smallest window; and of the rows that are left
// out the screen says how many.
func TestPartiesKeepTheirRows(t *testing.T) {
	const w, h = 80, 24
	lib := screen.NewLibrary()
	left := 0
	for sc, s := range scenarios.All() {
		if !testenv.Some(sc, 2) {
			continue
		}
		for _, locks := range [][2]string{{"naive-del", "setpx-lua"}, {"redlock", "setpx-lua"}, {"setpx-lua", "redlock"}, {"setnx", "watchdog"}} {
			m := New(tuitest.RealApp(lib, tuitest.PlainTheme(false)), screen.CompareMsg{Strategies: [2]int{lib.Strategy(locks[0]), lib.Strategy(locks[1])}, Scenario: sc})
			a := tuitest.Open(t, w, h, m.App, m, nil)
			for side := 0; m.alignment != nil && side < 2; side++ {
				r := m.alignment.Runs[side]
				for _, b := range r.Breaches {
					m.goTo(m.alignment.Reached(side, b.Pos))
					n, rows := m.divide(w, h).missing.Text()
					for _, party := range r.Parties(b) {
						if slices.Contains(strings.Split(rows, ", "), r.Clients[party]) && r.Clients[party] != trace.Probe {
							t.Errorf("%s, %v, run %d at %d: left out: %s:\n%s", s.Name, locks, side, b.Pos, rows, a.View())
						}
					}
					if n > 0 && !strings.Contains(a.View(), " no room for: ") {
						t.Errorf("%s, %v, run %d at %d: nothing says that %s is left out:\n%s", s.Name, locks, side, b.Pos, rows, a.View())
					}
					left += n
				}
			}
		}
	}
	if left == 0 {
		t.Error("no row is ever left out")
	}
}

// Opened at the end of a run, where all is over in both, it stands at the first failure that one of them doesn't show.
func TestOpenedAtTheEndItShowsWhy(t *testing.T) {
	lib := screen.NewLibrary()
	app := tuitest.RealApp(lib, tuitest.PlainTheme(false))
	for from, want := range map[int]bool{0: false, 66: true} {
		m := New(app, screen.CompareMsg{Scenario: lib.Named("late-release"), Strategies: [2]int{lib.Strategy("naive-del"), lib.Strategy("setpx-lua")}, From: from})
		a := tuitest.Open(t, 80, 24, app, m, nil)
		const said = "Only the run above shows this: foreign release (FR). G goes to the end."
		_, fresh := m.alignment.Runs[0].Breached(m.alignment.Steps[m.at][0])
		if v := a.View(); strings.Contains(v, said) != want || want && len(fresh) == 0 || want && from != m.alignment.Runs[0].Last() {
			t.Errorf("from %d it stands at step %d of %d:\n%s", from, m.at, m.alignment.Last(), v)
		}
	}
}
