package trace

import (
	"slices"
	"testing"
	"time"
)

func TestBrief(t *testing.T) {
	for d, want := range map[time.Duration]string{
		Never: "for ever", 0: "0s", 250 * time.Microsecond: "250us", 1500 * time.Microsecond: "2ms", time.Second: "1s",
		1004 * time.Millisecond: "1.004s", 2571 * time.Millisecond: "2.571s", -3 * time.Second: "-3s", time.Hour: "1h", 90 * time.Minute: "1h30m", 3601 * time.Second: "3601s", 3 * time.Hour: "3h", 9999 * time.Second: "2h46m",
		72 * time.Hour: "3d", 800 * 24 * time.Hour: "2y",
	} {
		if got := Brief(d); got != want {
			t.Errorf("Brief(%s) = %q, want %q", d, got, want)
		}
	}
}

func TestProse(t *testing.T) {
	n := Note{Text: "One line\nof many.\n\nA paragraph.\n  GET k\n  DEL k\n"}
	if got, want := n.Prose(), "One line of many.\n\nA paragraph.\n  GET k\n  DEL k"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// holdersOf is what is said of a state with these clients and these owners of
// the lock's record, by node; None is a node without one.
func holdersOf(need int, clients []ClientState, owners ...int) string {
	t := &Trace{Clients: []string{"A", "B"}, Key: "k", Need: need}
	s := &State{Key: "k", Clients: clients}
	for i, owner := range owners {
		n := NodeState{Up: true}
		if owner != None {
			n.Records = []HeldRecord{{Key: "k", Record: Record{Expires: Never}, Owner: Acquisition{Client: owner}}}
		}
		s.Nodes, s.Primary = append(s.Nodes, n), append(s.Primary, i)
	}
	return t.Holders(s)
}

// expiringOf is what is said of a client in a state whose record expires.
func expiringOf(a ClientState) string {
	r := HeldRecord{Key: "k", Record: Record{Expires: 10002 * time.Millisecond}}
	return (&Trace{Clients: []string{"A"}, Key: "k", Need: 1}).Holders(&State{Key: "k", Clients: []ClientState{a}, Nodes: []NodeState{{Up: true, Records: []HeldRecord{r}}}, Primary: []int{0}})
}

// What a client believes and what the nodes hold are two things, and the sentence
// says so where they differ.
func TestHolders(t *testing.T) {
	idle := ClientState{}
	believes := ClientState{Lease: LeaseState{Believed: true, Live: true, Deadline: 2 * time.Second}}
	over := ClientState{Lease: LeaseState{Believed: true, Deadline: 2 * time.Second}}
	endless := ClientState{Lease: LeaseState{Believed: true, Live: true, Deadline: Never}}
	for _, tt := range []struct {
		got, want string
	}{
		{holdersOf(1, []ClientState{idle, idle}, None), "No client holds the lock."},
		{holdersOf(1, []ClientState{idle, idle}, 0), "No client thinks it has the lock; Redis keeps A's record, which has no expiry."},
		{holdersOf(1, []ClientState{idle, idle}, 0, 0), "No client thinks it has the lock; Redis keeps A's record."},
		{expiringOf(idle), "No client thinks it has the lock; Redis keeps A's record until 10.002s."},
		{holdersOf(1, []ClientState{{Crashed: true}, idle}, 0), "No live client thinks it has the lock; Redis keeps dead A's record."},
		{holdersOf(1, []ClientState{{Phase: PhaseAcquire}, idle}, 0), "No client thinks it has the lock; Redis has A's record."},
		{holdersOf(1, []ClientState{{Phase: PhaseRelease}, idle}, 0), "No client thinks it has the lock; A is releasing its record."},
		{holdersOf(1, []ClientState{believes, idle}, 0), "A holds the lock; its lease ends at 2s."},
		{holdersOf(1, []ClientState{endless, idle}, 0), "A holds the lock, without a deadline."},
		{holdersOf(1, []ClientState{believes, idle}, None), "A thinks it has the lock; Redis has no record of it."},
		{holdersOf(1, []ClientState{believes, idle}, 1), "A thinks it has the lock; Redis has B's record."},
		{holdersOf(2, []ClientState{believes, idle}, 0, None, 1), "A thinks it has the lock; it has too few nodes."},
		{holdersOf(2, []ClientState{believes, idle}, 0, 1, 0), "A holds the lock; its lease ends at 2s."},
		{holdersOf(1, []ClientState{over, idle}, 0), "A thinks it has the lock; its lease ended at 2s."},
		{holdersOf(1, []ClientState{over, believes}, 1), "A and B believe they hold it; A's lease is over."},
		{holdersOf(1, []ClientState{over, over}, 1), "A and B believe they hold it; the leases of A and B are over."},
	} {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

// A replica's copy makes nobody a holder, and neither does a server that is down.
func TestQuorumCountsMastersThatAreUp(t *testing.T) {
	held := func() []HeldRecord { return []HeldRecord{{Key: "k", Owner: Acquisition{Client: 0}}} }
	s := &State{Key: "k", Clients: make([]ClientState, 1), Primary: []int{0},
		Nodes: []NodeState{{Up: true}, {Up: true, Records: held()}}}
	if owner, split := s.Quorum(1); owner != None || split {
		t.Errorf("a replica's copy: %d, %t", owner, split)
	}
	s.Primary[0] = 1
	if owner, _ := s.Quorum(1); owner != 0 {
		t.Errorf("promoted: %d", owner)
	}
	s.Nodes[1].Up = false
	if owner, split := s.Quorum(1); owner != None || split {
		t.Errorf("down: %d, %t", owner, split)
	}
}

// A client that begins a call stands on no line until the call's first command: not on one of the
// call before.
func TestSourceIsOfThisCall(t *testing.T) {
	tr := &Trace{Clients: []string{"A"}, Nodes: []string{"n1"}, Key: "lock", Need: 1, Masters: 1}
	s := tr.NewState()
	at := func(line int) Source { return Source{File: "strategies/lock.go", Line: line} }
	for i, step := range []struct {
		kind      Kind
		line, now int
	}{
		{KindAcquire, 0, 0}, {KindSend, 37, 37}, {KindReceive, 0, 37}, {KindGranted, 0, 37}, {KindRelease, 0, 0}, {KindSend, 46, 46}, {KindReleased, 0, 46}, {KindAcquire, 0, 0},
	} {
		e := Event{Seq: i + 1, Kind: step.kind, Client: 0, Node: None}
		if step.line > 0 {
			e.Source = at(step.line)
		}
		if s.Apply(&e); s.Clients[0].Source.Line != step.now {
			t.Errorf("after %s, event %d, it stands on line %d, not %d", step.kind, i+1, s.Clients[0].Source.Line, step.now)
		}
	}
}

// Words that stand on screens without an explanation are in the help of those screens.
func TestWordsOfStatusAndFooterAreTerms(t *testing.T) {
	for text, want := range map[string]string{
		" 2ms  #6   A has the lock, lease until 9.898s (10s less 102ms in case clocks drift apart)": "drift",
		" 2ms  #10 of 49  n1 evicts  [lock gone]":                                                   "lock gone",
		" enter go on  v who sends to whom  ? help":                                                 "who sends to whom",
	} {
		if words := TermsIn(text); !slices.ContainsFunc(words, func(w Word) bool { return w.Name == want }) {
			t.Errorf("%q: %v", text, words)
		}
	}
}
