package scenarios

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// When all tests are over and the worlds are closed, no goroutine is left: no
// client's coroutine, no connection of go-redis, no server of miniredis.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if err := Close(); err != nil {
		fmt.Fprintln(os.Stderr, "closing the worlds:", err)
		code = 1
	}
	if fuzzing := flag.Lookup("test.fuzz").Value.String() != ""; code == 0 && !fuzzing {
		if err := goleak.Find(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// script reads a scenario that stands in a test.
func script(t testing.TB, yaml string) *Scenario {
	t.Helper()
	s, err := read("test.yaml", "test.yaml", []byte(yaml))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func strategy(t testing.TB, name string) strategies.Strategy {
	t.Helper()
	st, err := FindStrategy(name)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// mustRun runs a scenario under a strategy, by name.
func mustRun(t testing.TB, s *Scenario, name string) *trace.Trace {
	t.Helper()
	trace, err := s.Run(strategy(t, name), 1)
	if err != nil {
		t.Fatal(err)
	}
	return trace
}

// plain is the trace as text.
func plain(t testing.TB, trace *trace.Trace) string {
	t.Helper()
	var b strings.Builder
	if err := trace.Plain(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// matrix is run once for all tests that look at what the catalogue gives. That it
// gives the same again is TestDeterminism's and TestReplay's affair. Where only races are looked for,
// it has one cell of eight: of each strategy and each scenario some, beside each other as all are.
var matrix = sync.OnceValue(func() map[cell]*Cell {
	wanted := map[cell]bool{}
	for i, s := range All() {
		for j, st := range strategies.All() {
			wanted[cell{s.Name, st.Name}] = (i+j)%8 == 0 || !testenv.Raced || !testing.Short()
		}
	}
	cells := map[cell]*Cell{}
	for _, c := range Part(1, func(s *Scenario, st strategies.Strategy) bool { return wanted[cell{s.Name, st.Name}] }) {
		cells[cell{c.Scenario.Name, c.Strategy.Name}] = &c
	}
	return cells
})

// cell is the names of a scenario and a strategy.
type cell struct{ scenario, strategy string }

// of is the matrix's trace of a cell.
func (c cell) of(t testing.TB) *trace.Trace {
	t.Helper()
	ran := matrix()[c]
	if ran == nil { // it isn't one of eight
		return mustRun(t, found(t, c.scenario), c.strategy)
	}
	if ran.Err != nil {
		t.Fatalf("%s under %s: %v", c.strategy, c.scenario, ran.Err)
	}
	return ran.Trace
}

// eachCell calls a function for one of every so many cells, of each strategy and each
// scenario, as a subtest; under the race detector for one of eight.
func eachCell(t *testing.T, every int, test func(t *testing.T, s *Scenario, st strategies.Strategy)) {
	t.Helper()
	if testenv.Raced {
		every = 8
	}
	for i, s := range All() {
		for j, st := range strategies.All() {
			if (i+j)%every != 0 {
				continue
			}
			t.Run(s.Name+"/"+st.Name, func(t *testing.T) {
				t.Parallel()
				test(t, s, st)
			})
		}
	}
}

// differ fails the test if two texts differ, and shows the first difference
// with what precedes it.
func differ(t testing.TB, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n%s", what, firstDifference(got, want))
	}
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	n := 0
	for n < len(g) && n < len(w) && g[n] == w[n] {
		n++
	}
	var b strings.Builder
	for i := max(0, n-3); i < n; i++ {
		fmt.Fprintf(&b, "  %5d    %s\n", i+1, g[i])
	}
	side := func(mark string, lines []string) {
		if n == len(lines) {
			fmt.Fprintf(&b, "  %5d %s  (ends here)\n", n+1, mark)
		}
		for i := n; i < min(n+3, len(lines)); i++ {
			fmt.Fprintf(&b, "  %5d %s  %s\n", i+1, mark, lines[i])
		}
	}
	side("-", w)
	side("+", g)
	return b.String() + "  (- as it should be, + as it is)"
}

func TestFirstDifference(t *testing.T) {
	got := firstDifference("a\nb\nc\nd\nx\nf\n", "a\nb\nc\nd\ne\nf\n")
	want := `      2    b
      3    c
      4    d
      5 -  e
      6 -  f
      7 -  
      5 +  x
      6 +  f
      7 +  
  (- as it should be, + as it is)`
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if got := firstDifference("a", "a\nb"); !strings.Contains(got, "2 +  (ends here)") {
		t.Errorf("a text that is too short:\n%s", got)
	}
}
