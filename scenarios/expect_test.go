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
		want, has := s.Expect(st.Name)
		trace := cell{s.Name, st.Name}.of(t)
		if !has {
			t.Fatalf("scenarios/%s: %s states no verdict for %s, and for no lock that it is like: the verdict is %s\n%s", s.file, s.Name, st.Name, trace.Verdict(), proofs(trace))
		}
		if got := trace.Verdict(); !slices.Equal(got, want) {
			e, of := s.expected(st.Name)
			t.Errorf("the verdict is %s, and scenarios/%s:%d expects %s of %s\n%s(go run . run %s %s --plain)",
				got, s.file, e.under.line(), want, of, proofs(trace), st.Name, s.Name)
		}
	})
}

// proofs lists a trace's violations with the events that prove them.
func proofs(trace *trace.Trace) string {
	var b strings.Builder
	for _, violation := range trace.Violations {
		b.WriteString(violation.Code.String() + "  " + violation.Text + "\n")
		for _, seq := range violation.Events {
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

// A scenario names a lock only if it fares otherwise than the one that it is like, or
// for another reason. A repeated entry would have to be kept in step by hand.
func TestNoExpectationIsImplied(t *testing.T) {
	for _, s := range All() {
		for _, told := range implied(s) {
			t.Error("scenarios/" + told)
		}
	}
	s := script(t, `title: x
script: [run: A]
expect:
  - verdict: ok
    under: [setpx-lua,
      setpx-delex, redlock]
    because: y
  - {verdict: ok, under: setpx-watch, because: it comes about otherwise}
  - {verdict: DG, under: [get-then-del, setpx-watch-bare], because: y}
`)
	s.builtin = true
	want := []string{
		"test.yaml:9: setpx-watch-bare is like get-then-del, of which the same is expected for the same reason: leave it out, or give a reason of its own",
		"test.yaml:6: setpx-delex is like setpx-lua, of which the same is expected for the same reason: leave it out, or give a reason of its own",
	}
	if got := implied(s); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// implied lists the expectations of a built-in scenario that follow from others.
func implied(s *Scenario) (out []string) {
	for _, st := range strategies.All() {
		own, stated := s.expect[st.Name]
		if !stated || st.Like == "" {
			continue
		}
		other, of := s.expected(st.Like)
		if of != "" && slices.Equal(own.verdict, other.verdict) && own.because == strategies.Reworded(st.Name, st.Like, other.because) {
			out = append(out, own.under.errorf("%s is like %s, of which the same is expected for the same reason: leave it out, or give a reason of its own",
				st.Name, st.Like).Error())
		}
	}
	return out
}

// A user's file expects the verdicts that it states, and nothing of other locks.
func TestExpectationsOfAFile(t *testing.T) {
	const text = "title: x\nscript: [run: A]\nexpect: [{verdict: DG, under: setpx-lua, because: y}]\nvariants: {v: {title: z, expect: [{verdict: ok, under: setpx-lua}]}}\n"
	s := script(t, text)
	for _, s := range []*Scenario{s, s.variants[0]} {
		if v, has := s.Expect("setpx-delex"); has || v != nil || s.Because("setpx-delex") != "" || s.ExpectsLike("setpx-delex") != "" {
			t.Errorf("%s expects %s of setpx-delex", s.Name, v)
		}
		if _, has := s.Expect("setpx-lua"); !has {
			t.Errorf("%s expects nothing of setpx-lua", s.Name)
		}
	}
	s.builtin = true
	if v, has := s.Expect("setpx-watch-bare"); !has || v.String() != "DG" || s.Because("setpx-watch-bare") != "y" || s.ExpectsLike("setpx-watch-bare") != "setpx-lua" {
		t.Errorf("built in, it expects %s of setpx-watch-bare, by way of get-then-del", v)
	}
	if s.ExpectsLike("setpx-lua") != "" || s.ExpectsLike("redlock") != "" {
		t.Error("setpx-lua and redlock are like no other lock here")
	}
}

// The order of teaching names scenarios, each once, which come first in it. Variants come
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
	bases = slices.DeleteFunc(bases, func(name string) bool { return !slices.Contains(order, name) })
	if !slices.Equal(bases, order) {
		t.Errorf("the order of teaching is\n%v\nand there are\n%v", order, bases)
	}
}

// Under the verdict of a script that states what it expects stands how many of its steps could do nothing: the run may be as
// expected because of that.
func TestStepsWithoutEffectAreCounted(t *testing.T) {
	for steps, want := range map[string]bool{
		"  - run: A\n  - delay: {request: A, by: 1s}\n": true,
		"  - run: A\n": false,
		"  - run: A\n  - ask: Well?\n    answer: verdict\n": false, // that is no step without effect
	} {
		run, err := script(t, "title: Mine\nsetup:\n  clients: {A: }\nscript:\n"+steps+"expect:\n  - verdict: ok\n    under: [naive-del]\n    because: x\n").Run(strategy(t, "naive-del"), 1)
		if err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		if err := run.Plain(&b); err != nil {
			t.Fatal(err)
		}
		if has := strings.Contains(b.String(), "missed    1 of the script's steps"); has != want {
			t.Errorf("%q: %v\n%s", steps, has, b.String())
		}
	}
}
