package space

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/flight"
	"lockstep/sim/fault"
	"lockstep/strategies"
)

// setpxLua is the lock of these tests.
func setpxLua(t testing.TB) strategies.Strategy {
	t.Helper()
	s, known := strategies.Get("setpx-lua")
	if !known {
		t.Fatal("there is no setpx-lua")
	}
	return s
}

// Each kind of choice is known to the budget, to results, to the engine that plays it, to the
// guide that reads it back, and to the menu of a game.
func TestEveryKindOfChoice(t *testing.T) {
	m, err := NewModel(bounds.Defaults(setpxLua(t)), true)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close() //nolint:errcheck // of nothing that matters here
	x := m.Explorer()
	x.Begin()
	x.s.clients[0].sentBefore, _ = x.ids.sents.Put([]flight.Request{{}}) // A has sent something that can arrive twice
	x.s.nodes[0].behind = replica{snapshot: 1}                           // and there is a replica to take over
	var costs []FaultKind
	for kind := range ChoiceKinds {
		row := &choiceRows[kind]
		if row.apply == nil || row.play == nil || row.list == nil && row.of != OfStep {
			t.Errorf("choice %d lacks what it does, its moves, or when there is one", kind)
			continue
		}
		c := Choice{Kind: kind, By: 13_000, N: 1}
		if row.wrong != nil != c.Faulty() {
			t.Errorf("choice %d costs a fault, or says what goes wrong, but not both", kind)
		}
		if row.fault != bounds.NoFault && (row.fault.String() == "" || row.fault.Words(1) == "" || row.fault.Words(2) == "" || slices.Contains(costs, row.fault) && kind != FreesAndLosesReply) {
			t.Errorf("choice %d lacks words for its budget, or another one has the same fault", kind)
		}
		costs = append(costs, row.fault)
		moves := m.Play(c)
		f := moves[0].Fault
		if f == nil {
			continue
		}
		switch read, n, err := Read(x, moves); {
		case err != nil || read.Kind != kind || read.Who != c.Who:
			t.Errorf("choice %d is played as %s, which is read as choice %d: %v", kind, f, read.Kind, err)
		case n+count(c.Acts(), 1) != len(moves):
			t.Errorf("choice %d is played as %d moves, of which %d are read", kind, len(moves), n)
		}
		if len(kind.Menu()) == 0 {
			t.Errorf("choice %d is played as %s, which no menu offers", kind, f)
		}
	}
}

// Each kind of the engine's faults is in schedules of searches, or results name it as left out.
func TestEveryFaultIsSearchedOrNamed(t *testing.T) {
	b := bounds.Defaults(setpxLua(t))
	outside, covered := Outside(&b), []string(nil)
	for k := range ChoiceKinds {
		for _, f := range k.Makes() {
			covered = append(covered, fault.SpecOf(f).Word)
		}
	}
	for _, s := range fault.Kinds() {
		if named := s.Many != "" && strings.Contains(outside, s.Many); s.Many != "" && !named && !slices.Contains(covered, s.Word) {
			t.Errorf("%s is in no schedule of a search, and results don't say so: %s", s.Word, outside)
		}
	}
}

// What the engine can do of a fault that searches make in another form, no search reads, and results name it.
func TestEveryFormIsSearchedOrNamed(t *testing.T) {
	b := bounds.Defaults(setpxLua(t))
	for k := range b.Faults {
		b.Faults[k] = 1
	}
	x := &Explorer{}
	for _, form := range []struct {
		faults []fault.Fault
		words  string
	}{
		{[]fault.Fault{fault.Drop{Client: "A"}}, "requests that never arrive"},
		{[]fault.Fault{fault.Delay{Client: "A", Reply: true, By: time.Second}}, "late replies without a pause of their client"},
		{[]fault.Fault{fault.Down{Node: "n1"}}, "servers that stay down"},
		{[]fault.Fault{fault.ForgetScripts{Node: "n1"}}, "emptied script caches"},
		{[]fault.Fault{fault.Lag{Replica: "n1r1"}, fault.Down{Node: "n1"}}, "replicas that catch up again"},
		{[]fault.Fault{fault.Failover{To: "n1r1", Stay: []string{"A"}}}, "clients that a failover leaves with the old master"},
	} {
		if c, n, err := Read(x, sim.MovesOf(form.faults...)); err == nil {
			t.Errorf("%s is read as choice %d of %d moves; leave it out of what results name", form.faults[0], c.Kind, n)
		}
		if outside := Outside(&b); !strings.Contains(outside, form.words) {
			t.Errorf("%s is in no schedule of a search, and results don't say so: %s", form.faults[0], outside)
		}
	}
}
