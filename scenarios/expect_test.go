package scenarios

import (
	"slices"
	"strings"
	"testing"

	"lockstep/sim"
	"lockstep/strategies"
)

// Every scenario says what it expects of every strategy, and that is what comes
// of the run. Where it isn't, the trace shows which of the two is wrong.
func TestExpectations(t *testing.T) {
	eachCell(t, func(t *testing.T, s *Scenario, st strategies.Strategy) {
		want, stated := s.Expect(st.Name)
		if !stated {
			t.Fatalf("scenarios/%s.yaml states no verdict for %s", s.Name, st.Name)
		}
		trace, err := s.Run(st, 1)
		if err != nil {
			t.Fatal(err)
		}
		if got := trace.Verdict(); !slices.Equal(got, want) {
			t.Errorf("the verdict is %s, and scenarios/%s.yaml expects %s\n%s(lockstep run %s %s --plain)",
				got, s.Name, want, proofs(trace), st.Name, s.Name)
		}
	})
}

// proofs lists a trace's violations with the events that prove them.
func proofs(trace *sim.Trace) string {
	var b strings.Builder
	for _, v := range trace.Violations {
		b.WriteString(v.Code.String() + "  " + v.Text + "\n")
		for _, seq := range v.Events {
			b.WriteString("    " + trace.Line(&trace.Events[seq-1]) + "\n")
		}
	}
	return b.String()
}

// A verdict without a reason teaches nothing.
func TestEveryVerdictHasAReason(t *testing.T) {
	for _, s := range All() {
		for _, st := range strategies.All() {
			if s.Because(st.Name) == "" {
				t.Errorf("scenarios/%s.yaml does not say why %s fares as it does", s.Name, st.Name)
			}
		}
		for _, text := range []string{s.Title, s.Shows} {
			if text == "" || strings.Contains(text, "\n") {
				t.Errorf("scenarios/%s.yaml: title and shows are one line each, not %q", s.Name, text)
			}
		}
	}
}

// The order of teaching names every scenario, and each once.
func TestOrderOfTeaching(t *testing.T) {
	if names := Names(); !slices.Equal(names, order) {
		t.Errorf("the order of teaching is\n%v\nand there are\n%v", order, names)
	}
}
