package sim

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lockstep/sim/claims"
	"lockstep/sim/fault"
	"lockstep/sim/trace"
)

// someArgs are words for parameters of each type, the first of them as short as can be.
var someArgs = map[fault.ParamType][]string{
	fault.ParamClient: {"A", "B"}, fault.ParamClients: {"-", "A", "A+B"}, fault.ParamNode: {"n1"}, fault.ParamReplica: {"n1r1"}, fault.ParamHalf: {"request", "reply"},
	fault.ParamDirection: {"both", "requests", "replies"}, fault.ParamSpan: {"0s", "1h2m3.5s"}, fault.ParamJump: {"1s", "-1h0m0s"}, fault.ParamCount: {"1", "2"},
}

// Every kind of fault survives its text, whatever its parameters are.
func TestFaultsAsText(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range fault.Kinds() {
		if seen[s.Word] {
			t.Errorf("two kinds are called %q", s.Word)
		}
		seen[s.Word] = true
		for try := range 3 {
			var args []string
			for _, p := range s.Params() {
				words := someArgs[p.Type]
				if words == nil {
					t.Fatalf("%s: this test knows no words for a parameter of type %d", s.Word, p.Type)
				}
				args = append(args, words[try%len(words)])
			}
			f, err := s.Make(args...)
			if err != nil {
				t.Fatalf("%s of %q: %v", s.Word, args, err)
			}
			if got := fault.Args(f); !slices.Equal(got, args) {
				t.Errorf("%s: the parameters %q are read as %q", s.Word, args, got)
			}
			again, err := fault.Parse(f.String())
			if err != nil || !reflect.DeepEqual(again, f) {
				t.Errorf("%s is read as %#v: %v", f, again, err)
			}
			if is := fault.SpecOf(f); is.Word != s.Word {
				t.Errorf("%s is of the kind %q", f, is.Word)
			}
		}
		if _, err := s.Make(make([]string, len(s.Params())+1)...); err == nil {
			t.Errorf("%s can have a parameter too many", s.Word)
		}
	}
}

// Every kind of fault has its effect.
func TestEveryFaultHasAnEffect(t *testing.T) {
	for _, s := range fault.Kinds() {
		args := make([]string, len(s.Params()))
		for i, p := range s.Params() {
			args[i] = someArgs[p.Type][0]
		}
		f, err := s.Make(args...)
		if err != nil {
			t.Fatal(err)
		}
		if _, has := enablings[reflect.TypeOf(f)]; !has {
			t.Errorf("%s has no entry in enablings, in sim/fault_effects.go", s.Word)
		}
	}
}

// Every kind of fault can happen in some state of some run, leaves the event of its
// row then, and can fail to be enabled or have no effect only without leaving any.
func TestFaultsLeaveTheirEvents(t *testing.T) {
	cfg := wild(config(t, "watchdog", "A", "B"))
	cfg.Workload = trace.Cache
	w := newWorld(t, cfg)
	happened := map[string]bool{}
	try := func(w *World, rng *rand.Rand) fault.Fault {
		f := anyFault(w, rng)
		s, before := fault.SpecOf(f), len(w.trace.Events)
		enabled := w.Enabled(f)
		if len(w.trace.Events) != before {
			t.Fatalf("asking whether %s is enabled has made it happen", f)
		}
		err := w.Inject(f)
		switch _, idle := enabled.(NoEffect); {
		case enabled == nil:
			w.Step(1<<w.Clients() - 1) // at which a client goes on after a pause
			left := slices.ContainsFunc(w.trace.Events[before:], func(e trace.Event) bool { return e.Kind == s.Event })
			happened[s.Word] = happened[s.Word] || left || s.Event == trace.KindNone && err == nil
		case idle != (err == nil), len(w.trace.Events) != before:
			t.Errorf("%s is not enabled (%v), but injecting it gives %v and %d events", f, enabled, err, len(w.trace.Events)-before)
		}
		return nil
	}
	every := func() bool {
		return !slices.ContainsFunc(fault.Kinds(), func(s fault.Spec) bool { return s.Step != "" && !happened[s.Word] })
	}
	for seed := range uint64(10_000) { // one more fault makes the others rarer
		if seed >= 400 && every() {
			break
		}
		reset(t, w, cfg)
		chaos(w, rand.New(rand.NewPCG(seed, 6)), 80, try)
	}
	for _, s := range fault.Kinds() {
		if s.Step != "" && !happened[s.Word] {
			t.Errorf("%s never happened, or never left the event %q", s.Word, s.Event)
		}
	}
}

// What results say of a search's schedules has words for every kind of fault, and so has the
// reference of scripts; and the sandbox offers it or leaves it to scripts deliberately.
func TestFaultsHaveWords(t *testing.T) {
	for _, s := range fault.Kinds() {
		key, _, _ := strings.Cut(s.Step, ": ")
		if s.Step != "" && (!strings.HasPrefix(s.Example, key+": ") || s.Means == "") {
			t.Errorf("%s: its row in sim/fault/fault.go doesn't say how scripts have it and what it does: give it an Example, which begins with \"%s: \" (it has %q), and Means (it has %q); "+
				"docs/scenarios.md has them then by go test ./docs -update", s.Word, key, s.Example, s.Means)
		}
		if s.Step != "" && s.Menu == nil {
			t.Errorf("%s: its row doesn't say if the sandbox offers it: give it a Menu, or scriptsOnly", s.Word)
		}
		if named := s.Many != ""; s.Step != "" && named == (s.Ends || s.Cache) {
			t.Errorf("%s: something goes wrong by it: %t, and several of them are called %q", s.Word, !s.Ends && !s.Cache, s.Many)
		}
		assumed := slices.ContainsFunc(claims.All[0].Assumptions, func(a claims.Assumption) bool { return a.Text == s.Breaks })
		if s.Breaks != "" && !assumed {
			t.Errorf("%s breaks an assumption that claim 1 doesn't have: %q", s.Word, s.Breaks)
		}
	}
}

// A kind of event is known to be a fault's if a fault emits it.
func TestFaultsEventsAreKnown(t *testing.T) {
	begins := map[trace.Kind]bool{}
	for _, s := range fault.Kinds() {
		begins[s.Event] = begins[s.Event] || !s.Ends && !s.Cache && s.Event != trace.KindNone
	}
	for k := range trace.Kind(trace.Kinds) {
		if k.Fault() != begins[k] {
			t.Errorf("trace says of the event %q that something goes wrong by it: %t; that a kind of fault emits it: %t", k, k.Fault(), begins[k])
		}
	}
}
