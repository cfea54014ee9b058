package scenarios_test

import (
	"reflect"
	"slices"
	"testing"

	"lockstep/scenarios"
	"lockstep/sim/monitor"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// TestEveryCodeHasARule: each once, worst first, with a condition, or with the place where
// it is decided.
func TestEveryCodeHasARule(t *testing.T) {
	var codes []trace.Code
	for i := range monitor.Rules {
		r := &monitor.Rules[i]
		codes = append(codes, r.Code)
		if rule := r.Broken != nil && len(r.On) > 0; rule == (r.Elsewhere != "") {
			t.Errorf("%s has a condition and events to look at: %t; is decided elsewhere: %q", r.Code, rule, r.Elsewhere)
		}
	}
	if !slices.Equal(codes, trace.Codes) {
		t.Errorf("there are rules for %v, and the codes are %v", codes, trace.Codes)
	}
}

// TestLocal: an event that a rule looks at is nobody's own business, unless the rule says
// under which condition it is; nor is a grant, which the servers are asked of.
func TestLocal(t *testing.T) {
	for kind := trace.KindWant; kind <= trace.KindLapse; kind++ {
		want, under := kind != trace.KindGranted, monitor.Condition(0)
		for i := range monitor.Rules {
			if r := &monitor.Rules[i]; slices.Contains(r.On, kind) {
				want, under = want && r.Spared != 0, under|r.Spared
			}
		}
		if got, local := monitor.Local(kind); local != want || local && got != under {
			t.Errorf("%s: local %t, under %b; expected %t, under %b", kind, local, got, want, under)
		}
	}
	for _, kind := range []trace.Kind{trace.KindGranted, trace.KindExtended} { // looked at by a double grant
		if _, local := monitor.Local(kind); local {
			t.Errorf("%s is taken for local", kind)
		}
	}
}

// TestJudgingAllocatesNothing: an event that breaks no rule stays on its maker's stack.
func TestJudgingAllocatesNothing(t *testing.T) {
	run := trace.Trace{Clients: []string{"A", "B"}, Nodes: []string{"n1"}, Masters: 1, Key: "lock", Need: 1}
	var m monitor.Monitor
	s := run.NewState()
	m.Reset(&run, s, nothing{})
	seq := 0
	n := testing.AllocsPerRun(100, func() {
		for _, kind := range []trace.Kind{trace.KindAcquire, trace.KindSend, trace.KindExecute, trace.KindReceive, trace.KindRefused} {
			seq++
			e := trace.Event{Seq: seq, Kind: kind, Client: 0, Node: trace.None, Acq: s.Clients[0].Acquired, Phase: trace.PhaseAcquire}
			m.Before(&e)
			s.Apply(&e)
			m.After(&e)
		}
	})
	if n != 0 {
		t.Errorf("five events that break nothing take %g allocations", n)
	}
}

// nothing is no future: a trace that has come to its end has none.
type nothing struct{}

func (nothing) Next(int) string  { return "" }
func (nothing) Timers() []string { return nil }

// TestJudgedByTheTraceAlone folds recorded runs once more. After every event the facts say
// what the trace's state says, whose own bookkeeping shares nothing with theirs; and the
// rules find the same violations, with the same proofs, as when the run was made.
func TestJudgedByTheTraceAlone(t *testing.T) {
	t.Parallel()
	found := 0
	for _, sc := range scenarios.All() {
		for i, st := range strategies.All() {
			if i%4 != len(sc.Name)%4 { // a quarter of the matrix, in which every strategy occurs
				continue
			}
			found += judge(t, scenarios.Ran(t, sc.Name, st.Name))
		}
	}
	if found < 100 {
		t.Errorf("there were only %d violations in all", found)
	}
}

func judge(t *testing.T, run *trace.Trace) (found int) {
	var m monitor.Monitor
	s := run.NewState()
	m.Reset(run, s, nothing{})
	for i := range run.Events {
		e := &run.Events[i]
		m.Before(e)
		s.Apply(e)
		m.After(e)
		if !agree(t, s, m.Clients(), m.Owners()) {
			t.Fatalf("%s under %s, after %s", run.Strategy, run.Scenario, run.Line(e))
		}
	}
	lasting := func(v trace.Violation) bool {
		return slices.Contains([]trace.Code{trace.PD, trace.LV, trace.UA, trace.DN}, v.Code)
	}
	got := slices.DeleteFunc(slices.Clone(m.Violations()), lasting)
	want := slices.DeleteFunc(slices.Clone(run.Violations), lasting)
	slices.SortStableFunc(got, func(a, b trace.Violation) int {
		if d := a.Last() - b.Last(); d != 0 {
			return d
		}
		return int(a.Code) - int(b.Code)
	})
	if len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
		t.Errorf("%s under %s: found\n%+v\nand in the run\n%+v", run.Strategy, run.Scenario, got, want)
	}
	return len(got)
}

// agree compares the facts with a state.
func agree(t *testing.T, s *trace.State, clients []monitor.Client, owners []monitor.Owner) bool {
	for i := range clients {
		f, c := &clients[i], &s.Clients[i]
		if f.Crashed && c.Crashed {
			continue
		}
		got := [...]any{f.Crashed, int(f.Acquired), f.Phase, f.Granted, f.Believes, f.Live, f.Inside, f.Granter != 0}
		want := [...]any{c.Crashed, c.Acquired, c.Phase, c.Lease.Granted != trace.None, c.Lease.Believed, c.Lease.Live, c.Lease.Inside, c.Lease.Granter != trace.None}
		if got != want {
			t.Errorf("the facts of client %d are %v, and its state %v", i, got, want)
			return false
		}
		for j := range i {
			if g, d := &clients[j], &s.Clients[j]; !d.Crashed && (f.Granter < g.Granter) != (c.Lease.Granter < d.Lease.Granter) {
				t.Errorf("clients %d and %d have grants %d and %d by the facts, and %d and %d by the state", j, i, g.Granter, f.Granter, d.Lease.Granter, c.Lease.Granter)
				return false
			}
		}
	}
	for addr, n := range s.Primary {
		want := monitor.Nobody
		if r := s.LockRecord(n); r != nil {
			want = monitor.OwnerOf(r.Owner)
		}
		if owners[addr] != want {
			t.Errorf("the record at %s is of %v by the facts, and of %v by the state", string(rune('0'+addr)), owners[addr], want)
			return false
		}
	}
	return true
}
