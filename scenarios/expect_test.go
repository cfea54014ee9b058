package scenarios

import (
	"slices"
	"strings"
	"testing"

	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Every scenario says what it expects of every strategy, and that is what comes
// of the run. Where it isn't, the trace shows which of the two is wrong.
func TestExpectations(t *testing.T) {
	eachCell(t, 1, func(t *testing.T, s *Scenario, st strategies.Strategy) {
		want, stated := s.Expect(st.Name)
		if !stated {
			t.Fatalf("scenarios/%s: %s states no verdict for %s", s.file, s.Name, st.Name)
		}
		trace := cell{s.Name, st.Name}.of(t)
		if got := trace.Verdict(); !slices.Equal(got, want) {
			t.Errorf("the verdict is %s, and scenarios/%s expects %s\n%s(lockstep run %s %s --plain)",
				got, s.file, want, proofs(trace), st.Name, s.Name)
		}
	})
}

// proofs lists a trace's violations with the events that prove them.
func proofs(trace *trace.Trace) string {
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
				t.Errorf("scenarios/%s: %s does not say why %s fares as it does", s.file, s.Name, st.Name)
			}
		}
		for _, text := range []string{s.Title, s.Shows} {
			if text == "" || strings.Contains(text, "\n") {
				t.Errorf("scenarios/%s: title and shows of %s are one line each, not %q", s.file, s.Name, text)
			}
		}
	}
}

// The order of teaching names every scenario, and each once. Variants come
// right after what they vary.
func TestOrderOfTeaching(t *testing.T) {
	var bases []string
	for _, s := range All() {
		if s.Name == s.base() {
			bases = append(bases, s.Name)
		} else if len(bases) == 0 || bases[len(bases)-1] != s.base() {
			t.Errorf("%s does not follow %s", s.Name, s.base())
		}
	}
	if !slices.Equal(bases, order) {
		t.Errorf("the order of teaching is\n%v\nand there are\n%v", order, bases)
	}
}
