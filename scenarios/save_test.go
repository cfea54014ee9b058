package scenarios

import (
	"context"
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

// searched are the least counterexamples of a search with these faults.
func searched(t *testing.T, strategy string, faults explore.Budget, change func(*explore.Bounds)) *explore.Result {
	t.Helper()
	st, err := FindStrategy(strategy)
	if err != nil {
		t.Fatal(err)
	}
	b := explore.Defaults(st)
	b.Faults = faults
	b.Cycles = 1
	if change != nil {
		change(&b)
	}
	r, err := explore.Run(context.Background(), b, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Violated) == 0 {
		t.Fatalf("%s: nothing is violated: %s", strategy, r.Why)
	}
	return r
}

func only(kinds ...explore.FaultKind) (b explore.Budget) {
	for _, k := range kinds {
		b[k]++
	}
	return b
}

// Each counterexample can be kept as a scenario, which shows the same violation by
// the same events.
func TestCounterexamplesAsScenarios(t *testing.T) {
	testenv.LongRaced(t)
	two := func(b *explore.Bounds) { b.Cycles = 2 }
	codes := func(list ...trace.Code) func(*explore.Bounds) { return func(b *explore.Bounds) { b.Codes = list } }
	for i, tt := range []struct {
		strategy string
		faults   explore.Budget
		change   func(*explore.Bounds)
		want     []trace.Code // among others
		says     []string     // in some of the files
	}{
		{"get-then-del", only(explore.Pause), two, []trace.Code{trace.SW, trace.DG, trace.OV, trace.FR}, []string{"  - wait: 12.001s\n", "A is paused. n1 drops A's record, whose time is up.", "removes B's record (DEL) on n1", "Here it breaks (DG, double grant):"}},
		{"setnx", only(explore.Crash), nil, []trace.Code{trace.PD}, []string{"  - crash: A\n", "Here it breaks (PD, permanent deadlock):"}},
		{"setnx-expire", only(explore.ReplyLost), nil, []trace.Code{trace.FN}, []string{"  - lose: {reply: A}\n", "The next reply to A will be lost."}},
		{"naive-del", only(explore.HoldRequest), codes(trace.FR), []trace.Code{trace.FR}, []string{"  - hold: A\n", "  - free: A\n", "What A sends next will be held up."}},
		{"naive-del", only(explore.Duplicate), codes(trace.DG, trace.FR), []trace.Code{trace.FR}, []string{"  - duplicate: {request: A, after: 0s}\n"}},
		{"setpx-lua", only(explore.Restart), nil, []trace.Code{trace.DG}, []string{"  - down: n1\n", "  - up: n1\n", "n1 goes down and loses A's record."}},
		{"setpx-lua", only(explore.Evict), nil, []trace.Code{trace.DG}, []string{"  - evict: n1\n"}},
		{"setpx-lua", only(explore.Failover), nil, []trace.Code{trace.DG}, []string{"  replicas: 1\n", "  - failover: {to: n1r1}\n", "n1r1 becomes the master"}},
		{"setpx-lua", only(explore.ServerClock), nil, []trace.Code{trace.DG}, []string{"  - clock: {node: n1, by: 14s}\n"}},
		{"getset-expired", only(explore.ClientClock), codes(trace.DG), []trace.Code{trace.DG}, []string{"  - clock: {client: "}},
		{"redlock", only(explore.Restart), codes(trace.DG), []trace.Code{trace.DG}, []string{"  nodes: 3\n", "on n1 and on n2"}},
		{"redlock-no-elapsed", only(explore.Pause), codes(trace.DG), []trace.Code{trace.DG}, []string{"  nodes: 3\n"}},
		{"redlock-strict-errors", only(explore.ReplyLost), codes(trace.FN), []trace.Code{trace.FN}, []string{"  - lose: {reply: A}\n"}},
		{"extend-unchecked", only(explore.Pause), func(b *explore.Bounds) { b.Extend = true }, []trace.Code{trace.DG, trace.GAP}, []string{"extend: true"}},
		{"fenced", only(explore.Pause), func(b *explore.Bounds) { b.Resource = sim.Plain }, []trace.Code{trace.SW}, []string{"  resource: plain\n"}},
		{"setpx-wait", only(explore.Restart), codes(trace.DG), []trace.Code{trace.DG}, nil},
		{"setpx-autoretry", only(explore.ReplyLost), nil, nil, nil},
		{"watchdog", only(explore.Restart), codes(trace.DG), []trace.Code{trace.DG}, nil},
		{"watchdog", only(explore.Pause), nil, []trace.Code{trace.SW, trace.OV}, []string{"  - pause: A\n  - wait: 12.001s\n", "  - resume: A\n"}},
	} {
		if !testenv.Some(i, 6) {
			continue
		}
		t.Run(tt.strategy, func(t *testing.T) {
			r := searched(t, tt.strategy, tt.faults, tt.change)
			for _, c := range tt.want {
				if r.Find(c) == nil {
					t.Errorf("no %s is found, but %s", c, r.Found)
				}
			}
			all := ""
			for _, v := range r.Violated {
				all += kept(t, v)
			}
			for _, want := range tt.says {
				if !strings.Contains(all, want) {
					t.Errorf("%q is nowhere in\n%s", want, all)
				}
			}
		})
	}
}

// kept writes a counterexample as a scenario, reads it, runs it, and compares.
func kept(t *testing.T, v *explore.Counterexample) string {
	t.Helper()
	data, err := FromSchedule("x", "y", "z", v.Code, v.Schedule)
	if err != nil {
		t.Fatalf("%s: %v\n%s", v.Code, err, v.Trace.Schedule)
	}
	s, err := read("kept.yaml", "kept.yaml", data)
	if err != nil {
		t.Fatalf("%v\n%s", err, data)
	}
	st, _ := strategies.Get(v.Trace.Strategy)
	tellsOfNoOther(t, s, st)
	tr, err := s.Run(st, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Contains(tr.Verdict(), v.Code) {
		t.Errorf("%s has become %s\n%s", v.Code, tr.Verdict(), data)
	}
	if want, stated := s.Expect(st.Name); !stated || !slices.Equal(want, tr.Verdict()) {
		t.Errorf("the file expects %s, and shows %s", want, tr.Verdict())
	}
	for _, n := range tr.Notes {
		if n.Kind == trace.NoteMissed {
			t.Errorf("the run says: %s", n.Text)
		}
	}
	var is, was []string
	for i := range v.Trace.Events {
		if e := &tr.Events[i]; e.Kind == trace.KindPause && e.Note == "" { // a step pauses whom the schedule doesn't let act
			e.Note = v.Trace.Events[i].Note
		}
		was = append(was, v.Trace.Line(&v.Trace.Events[i]))
		is = append(is, tr.Line(&tr.Events[i]))
	}
	equal(t, v.Code.String(), is, was...)
	for _, f := range v.Faults {
		if !f.Essential {
			t.Errorf("%s: %s is not essential\n%s", v.Code, f.Text, v.Trace.Schedule)
		}
	}
	return string(data)
}

// A move that the language of scenarios can't express is refused, not left out.
func TestFromScheduleRefuses(t *testing.T) {
	testenv.LongRaced(t)
	r := searched(t, "setpx-lua", only(explore.Restart), nil)
	for _, tt := range []struct {
		change func(*sim.Schedule)
		want   string
	}{
		{func(s *sim.Schedule) { s.Moves[0].Who = sim.SetOf(0, 1) }, "a scenario cannot count the steps of several clients at once, and this schedule does"},
		{func(s *sim.Schedule) { s.Moves[0] = sim.Move{Fault: fault.Evict{Node: "n1"}} }, "the schedule's evict/n1 doesn't fit: n1 has nothing to evict"},
		{func(s *sim.Schedule) { s.Moves = s.Moves[:1] }, "the schedule does not violate DG"},
		{func(s *sim.Schedule) { s.Config.Key = "key" }, "a scenario has no words for the schedule's configuration:"},
	} {
		s := r.Find(trace.DG).Schedule
		s.Moves = slices.Clone(s.Moves)
		tt.change(&s)
		if _, err := FromSchedule("x", "y", "z", trace.DG, s); err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("got %v\nwant %s", err, tt.want)
		}
	}
}

// tellsOfNoOther: another lock goes another way through the same script, and must not
// be told to have done what the schedule's did.
func tellsOfNoOther(t *testing.T, s *Scenario, st strategies.Strategy) {
	t.Helper()
	for _, other := range strategies.All() {
		if other.Name == st.Name || other.Nodes != st.Nodes {
			continue
		}
		tr, err := s.Run(other, 1)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range tr.Notes {
			if n.Kind == trace.NoteSay {
				t.Errorf("made of a schedule of %s, and said under %s: %s", st.Name, other.Name, n.Text)
			}
		}
		return
	}
}
