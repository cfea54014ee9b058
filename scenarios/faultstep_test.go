package scenarios

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/fault"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// someArgs are words for parameters of each type.
var someArgs = map[fault.ParamType][]string{
	fault.ParamClient: {"A", "B"}, fault.ParamClients: {"-", "B", "A+B"}, fault.ParamNode: {"n1"}, fault.ParamReplica: {"n1r1"}, fault.ParamHalf: {"request", "reply"},
	fault.ParamDirection: {"both", "replies"}, fault.ParamSpan: {"0s", "1h2m3.5s"}, fault.ParamJump: {"12s", "-3s"}, fault.ParamCount: {"1", "2"},
}

// variations of a kind of fault, together with all words of each parameter.
func variations(t *testing.T, s fault.Spec) (all []fault.Fault) {
	t.Helper()
	for n := range 3 {
		var args []string
		for _, param := range s.Params() {
			words := someArgs[param.Type]
			if words == nil {
				t.Fatalf("%s: this test knows no words for a parameter of type %d", s.Word, param.Type)
			}
			args = append(args, words[n%len(words)])
		}
		f, err := s.Make(args...)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, f)
	}
	return all
}

// Every fault can be said by a script, which makes the very same fault of it. Only the
// end of a run is said by none.
func TestFaultsAsSteps(t *testing.T) {
	for _, s := range fault.Kinds() {
		for _, f := range variations(t, s) {
			text, err := faultStep(f)
			if end := f == (fault.Drain{}); end || err != nil {
				if !end || err == nil {
					t.Errorf("%s is the step %q: %v", f, text, err)
				}
				break
			}
			loaded, err := read("x.yaml", "x.yaml", []byte("title: x\nsetup: {workload: cache, replicas: 1}\nscript:\n  - "+text+"\n"))
			if err != nil {
				t.Errorf("%s: %v", f, err)
				continue
			}
			w, err := worlds.take(loaded.Config(strategy(t, "setpx-lua"), 1), true)
			if err != nil {
				t.Fatal(err)
			}
			made, missing, err := loaded.script[0].action.(faultAction).faults(&runner{s: loaded, w: w})
			worlds.give(w)
			if err != nil || missing != nil || !reflect.DeepEqual(made, []fault.Fault{f}) {
				t.Errorf("%s is the step %q, which makes %v: %v, %v", f, text, made, missing, err)
			}
		}
	}
}

// The example that the reference of scripts has of each kind of fault is a step, and makes such a fault.
func TestFaultsHaveExamples(t *testing.T) {
	for _, s := range fault.Kinds() {
		if s.Example == "" {
			continue // TestFaultsHaveWords asks for it
		}
		loaded, err := read("x.yaml", "x.yaml", []byte("title: x\nsetup: {workload: cache, replicas: 1, nodes: 5}\nscript:\n  - "+s.Example+"\n"))
		if err != nil {
			t.Errorf("%s: its Example in sim/fault/fault.go, %q, is no step: %v", s.Word, s.Example, err)
			continue
		}
		if made, is := loaded.script[0].action.(faultAction); !is || made.step.Spec.Word != s.Word {
			t.Errorf("%s: its Example in sim/fault/fault.go, %q, is a step of another kind", s.Word, s.Example)
		}
	}
}

// Every kind of fault can be saved: in a built-in scenario's own run, which is written
// and read again, or else where it can happen in a schedule that a search has found.
func TestFaultsAreSaved(t *testing.T) {
	testenv.Long(t) // TestCounterexamplesAsScenarios is short
	saved := map[string]bool{}
	for _, s := range All() {
		for _, lock := range []string{"naive-del", "getset-expired", "setpx-lua", "setpx-wait", "redlock", "watchdog"} {
			resaved(t, s, strategy(t, lock), saved)
		}
	}
	rare, err := read("rare.yaml", "rare.yaml", []byte(rarelySaved))
	if err != nil {
		t.Fatal(err)
	}
	resaved(t, rare, strategy(t, "setpx-lua"), saved)
	schedules := []sim.Schedule{
		searched(t, "setpx-lua", only(explore.Failover), nil).Find(trace.DG).Schedule,
		searched(t, "watchdog", only(explore.Restart), func(b *explore.Bounds) { b.Codes = trace.Verdict{trace.DG} }).Find(trace.DG).Schedule,
	}
	for _, s := range fault.Kinds() {
		for _, f := range variations(t, s) {
			for _, schedule := range schedules {
				saved[s.Word] = saved[s.Word] || savedSomewhere(t, schedule, f)
			}
		}
		if s.Step != "" && !saved[s.Word] {
			t.Errorf("%s: no schedule with such a fault could be saved", s.Word)
		}
	}
}

// rarelySaved has the kinds that built-in scenarios have only behind what can't be
// saved. B is granted the lock while A has it, because the server's clock jumps.
const rarelySaved = `title: x
setup: {workload: cache, replicas: 1}
script:
  - {run: A, to: work}
  - clock: {node: n1, by: 12s}
  - hold: B
  - {run: B, to: acquire}
  - {run: B, steps: 3}
  - update: database
  - free: B
  - delay: {reply: B, by: 5ms}
  - {run: B, to: work}
  - hold: A
  - {run: A, for: 1s}
  - lose-held: A
  - free: A
  - failover: {to: n1r1}
  - rejoin: n1
  - throw: B
  - {run: A}
`

// resaved saves the run of a scenario, up to where several clients act at once, if it
// has shown something by then, and notes its faults.
func resaved(t *testing.T, s *Scenario, st strategies.Strategy, saved map[string]bool) {
	t.Helper()
	tr, err := s.Run(st, 1)
	if err != nil {
		t.Fatal(err)
	}
	schedule, err := sim.ParseSchedule(tr.Schedule, FindStrategy)
	if err != nil {
		t.Fatal(err)
	}
	several := func(m sim.Move) bool { return m.Who&(m.Who-1) != 0 }
	if n := slices.IndexFunc(schedule.Moves, several); n >= 0 {
		schedule.Moves = schedule.Moves[:n]
	}
	if tr, err = s.play(schedule); err != nil || len(tr.Verdict()) == 0 {
		return
	}
	if _, err := FromSchedule("x", "y", "z", tr.Verdict()[0], schedule); err != nil {
		t.Errorf("%s under %s: %v", s.Name, st.Name, err)
		return
	}
	for _, m := range schedule.Moves {
		if m.Fault != nil {
			saved[fault.SpecOf(m.Fault).Word] = true
		}
	}
}

// savedSomewhere puts a fault where it is enabled into a schedule that shows DG, as
// late as possible, and saves that.
func savedSomewhere(t *testing.T, schedule sim.Schedule, f fault.Fault) bool {
	t.Helper()
	for n := len(schedule.Moves); n > 0; n-- {
		with := schedule
		with.Moves = slices.Insert(slices.Clone(schedule.Moves), n, sim.Move{Fault: f})
		w, err := worlds.take(with.Config, true)
		if err != nil {
			t.Fatal(err)
		}
		enabled := w.Play(with.Moves[:n], nil) == nil && w.Enabled(f) == nil
		worlds.give(w)
		if !enabled {
			continue
		}
		_, err = FromSchedule("x", "y", "z", trace.DG, with)
		if err == nil {
			return true
		}
		if !strings.Contains(err.Error(), "does not violate") && !strings.Contains(err.Error(), "doesn't fit") {
			t.Errorf("%s at move %d: %v", f, n, err)
			return false
		}
	}
	return false
}

// A saved scenario tells of every fault: by a sentence of its own, or of its event.
func TestFaultsAreNarrated(t *testing.T) {
	for _, s := range fault.Kinds() {
		n := narration{t: &trace.Trace{Clients: []string{"A", "probe"}, Nodes: []string{"n1"}, Key: "lock", Events: []trace.Event{{Seq: 1, Kind: s.Event, Client: 0, Node: 0}}}}
		if s.Step != "" && s.Says == "" && n.clause(0).what == "" {
			t.Errorf("nothing is told of %s", s.Word)
		}
	}
}

// TestShortHoldUpsAreNoMisfortune: who stands still while another client is refused a few times does the same a moment later.
func TestShortHoldUpsAreNoMisfortune(t *testing.T) {
	for tries, noted := range map[int]bool{3: false, 300: true} { // in a minute A's record expires
		text := fmt.Sprintf("title: x\nsetup: {clients: {A: {work: 2s}, B: {work: 5s}}, retry: {tries: %d}}\nscript:\n  - {run: A, to: work}\n  - {run: B, to: read}\n", tries)
		run := mustRun(t, script(t, text), "setpx-wait")
		held := slices.ContainsFunc(run.Events, func(e trace.Event) bool { return e.Kind == trace.KindSleep && e.Client == 1 }) &&
			slices.ContainsFunc(run.Events, func(e trace.Event) bool { return e.Kind == trace.KindPause && e.Client == 0 })
		if told := strings.Contains(strings.Join(missed(run), "\n"), "this step kept A from acting"); told != noted || !held {
			t.Errorf("%d tries: A is held up: %t, and its author told: %t\n%q", tries, held, told, missed(run))
		}
	}
}

// TestAuthorIsToldWhatTheLockDoes has a lock that waits keep another client waiting, and one that refuses keep a client from the place of
// a step: the first is told, with what to write, and the second is no step without effect.
func TestAuthorIsToldWhatTheLockDoes(t *testing.T) {
	text := "title: x\nsetup: {clients: {A: {work: 2s}, B: {work: 5s}}, replicas: 1}\nscript:\n  - {run: A, to: work}\n  - {run: B, to: read}\n  - crash: B\n"
	for lock, tt := range map[string]struct{ note, about, not string }{
		"setpx-lua":  {`B was refused, and never came to "read".`, "refused", "missed "},
		"setpx-wait": {"this step kept A from acting for 10.104s while B tried again to get the lock", "wait", "paused"},
	} {
		file := filepath.Join(t.TempDir(), "own.yaml")
		if err := os.WriteFile(file, []byte(text+"expect: [{verdict: ok, under: ["+lock+"]}]\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := Load(file)
		if err != nil {
			t.Fatal(err)
		}
		st, err := FindStrategy(lock)
		if err != nil {
			t.Fatal(err)
		}
		run, err := s.Run(st, 1)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(run.Notes, func(n trace.Note) bool { return strings.Contains(n.Text, tt.note) && n.About == tt.about }) {
			t.Errorf("%s: the notes lack %q: %+v", lock, tt.note, run.Notes)
		}
		if got := plain(t, run); strings.Contains(got, tt.not) {
			t.Errorf("%s: %q is in:\n%s", lock, tt.not, got)
		}
	}
}
