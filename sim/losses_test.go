package sim

import (
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim/fault"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// proofOf is the proof of the newest violation of that kind: who did what, in the
// order of the events.
func proofOf(t *testing.T, w *World, code trace.Code) string {
	t.Helper()
	for _, v := range slices.Backward(w.monitor.Violations()) {
		if v.Code != code {
			continue
		}
		if v.Last() != w.trace.Events[len(w.trace.Events)-1].Seq {
			t.Errorf("the proof of %s doesn't end with the event that completes it: %v", code, v.Events)
		}
		var parts []string
		for _, seq := range v.Events {
			e := &w.trace.Events[seq-1]
			name := ""
			if e.Node != trace.None {
				name = w.nodes[e.Node].Name
			} else {
				name = w.clients[e.Client].Name
			}
			parts = append(parts, name+" "+e.Kind.String())
		}
		return strings.Join(parts, ", ")
	}
	t.Fatalf("no %s:\n\t%s", code, strings.Join(story(w), "\n\t"))
	return ""
}

func expectProof(t *testing.T, w *World, code trace.Code, want string) {
	t.Helper()
	if got := proofOf(t, w, code); got != want {
		t.Errorf("the proof is\n\t%s\nexpected\n\t%s\n\t%s", got, want, strings.Join(story(w), "\n\t"))
	}
}

// jumps makes the clock of n1 jump, and evicts drops the lock's record there.
func (h *hand) jumps(by time.Duration) *hand {
	ch := h.change("A1", max(0, h.w.State().LockRecord(0).Expires-by))
	return h.emit(trace.Event{Kind: trace.KindNodeStep, Client: trace.None, Node: 0, By: by, Changes: []trace.Change{ch}})
}

func (h *hand) evicts() *hand {
	return h.emit(trace.Event{Kind: trace.KindEvict, Client: trace.None, Node: 0, Changes: []trace.Change{h.change("", 0)}})
}

// TestProofOfADoubleGrant: between the two grants stands what the first holder's
// record was lost to, and what brought that about.
func TestProofOfADoubleGrant(t *testing.T) {
	kept := func(cfg *Config) { cfg.Nodes[0].Persistence = redis.PersistAlways }
	late := func(cfg *Config) { cfg.Replicas, cfg.Lag = 1, time.Minute }
	for name, tc := range map[string]struct {
		with func(*Config)
		do   func(*World)
		lost string
	}{
		"a jump that makes it due": {do: func(w *World) {
			inject(t, w, fault.NodeStep{Node: "n1", By: 11 * sec})
		}, lost: "n1 node-clock-step, n1 expire"},
		"a jump that makes it due sooner": {do: func(w *World) {
			inject(t, w, fault.NodeStep{Node: "n1", By: 3 * sec})
			w.Wait(8 * sec)
		}, lost: "n1 node-clock-step, n1 expire"},
		"two jumps": {do: func(w *World) {
			inject(t, w, fault.NodeStep{Node: "n1", By: 6 * sec}, fault.NodeStep{Node: "n1", By: 5 * sec})
		}, lost: "n1 node-clock-step, n1 node-clock-step, n1 expire"},
		"a jump that another took back in part": {do: func(w *World) {
			inject(t, w, fault.NodeStep{Node: "n1", By: 6 * sec}, fault.NodeStep{Node: "n1", By: -sec})
			w.Wait(6 * sec)
		}, lost: "n1 node-clock-step, n1 expire"},
		"a jump after two that made up for each other": {do: func(w *World) {
			inject(t, w, fault.NodeStep{Node: "n1", By: 3 * sec}, fault.NodeStep{Node: "n1", By: -3 * sec}, fault.NodeStep{Node: "n1", By: 11 * sec})
		}, lost: "n1 node-clock-step, n1 expire"},
		"an eviction": {do: func(w *World) {
			inject(t, w, fault.Evict{Node: "n1"})
		}, lost: "n1 evict"},
		"an eviction after a jump": {do: func(w *World) {
			inject(t, w, fault.NodeStep{Node: "n1", By: 3 * sec}, fault.Evict{Node: "n1"})
		}, lost: "n1 evict"},
		"a restart": {do: func(w *World) {
			inject(t, w, fault.Down{Node: "n1"}, fault.Up{Node: "n1"})
		}, lost: "n1 down, n1 up"},
		"the first of two restarts": {do: func(w *World) {
			inject(t, w, fault.Down{Node: "n1"}, fault.Up{Node: "n1"}, fault.Down{Node: "n1"}, fault.Up{Node: "n1"})
		}, lost: "n1 down, n1 up"},
		"an eviction after a restart that lost nothing": {with: kept, do: func(w *World) {
			inject(t, w, fault.Down{Node: "n1"}, fault.Up{Node: "n1"}, fault.Evict{Node: "n1"})
		}, lost: "n1 evict"},
		"a jump before a restart that lost nothing": {with: kept, do: func(w *World) {
			inject(t, w, fault.NodeStep{Node: "n1", By: 3 * sec}, fault.Down{Node: "n1"}, fault.Up{Node: "n1"})
			w.Wait(8 * sec)
		}, lost: "n1 node-clock-step, n1 expire"},
		"a promotion": {with: late, do: func(w *World) {
			inject(t, w, fault.Down{Node: "n1"}, fault.Failover{To: "n1r1"})
		}, lost: "n1 down, n1r1 failover"},
		"a promotion beside a master that lives": {with: late, do: func(w *World) {
			inject(t, w, fault.Failover{To: "n1r1", Stay: []string{"A"}})
		}, lost: "n1r1 failover"},
		"what came before the promotion": {with: late, do: func(w *World) {
			inject(t, w, fault.Evict{Node: "n1"}, fault.Down{Node: "n1"}, fault.Failover{To: "n1r1"})
		}, lost: "n1 evict"},
		"a restart before the promotion": {with: late, do: func(w *World) {
			inject(t, w, fault.Down{Node: "n1"}, fault.Up{Node: "n1"}, fault.Failover{To: "n1r1"})
		}, lost: "n1 down, n1 up"},
		"what came after a promotion that lost nothing": {with: replicated, do: func(w *World) {
			w.Wait(sec)
			inject(t, w, fault.Down{Node: "n1"}, fault.Failover{To: "n1r1"}, fault.Evict{Node: "n1r1"})
		}, lost: "n1r1 evict"},
		"what the replica had lost before": {with: replicated, do: func(w *World) {
			w.Wait(sec)
			inject(t, w, fault.NodeStep{Node: "n1r1", By: 11 * sec}, fault.Down{Node: "n1"}, fault.Failover{To: "n1r1"})
		}, lost: "n1r1 node-clock-step, n1r1 expire, n1 down, n1r1 failover"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t, "setpx-lua", "A", "B")
			if tc.with != nil {
				tc.with(&cfg)
			}
			w := newWorld(t, cfg)
			until(t, w, "A", trace.KindGranted)
			tc.do(w)
			until(t, w, "B", trace.KindGranted)
			expectProof(t, w, trace.DG, "A granted, "+tc.lost+", B granted")
		})
	}
}

// TestEvictionReachesReplicas: what a master drops, its replicas drop a lag later, and one that takes over then has no record.
func TestEvictionReachesReplicas(t *testing.T) {
	const lag = 5 * time.Millisecond
	for _, after := range []time.Duration{lag - 1, lag} {
		cfg := config(t, "setpx-lua", "A", "B")
		cfg.Replicas, cfg.Lag = 1, lag
		w := newWorld(t, cfg)
		for w.Position(0).Phase != trace.PhaseWork {
			w.Step(SetOf(0))
		}
		w.Wait(lag)
		inject(t, w, fault.Evict{Node: "n1"})
		w.Wait(after)
		inject(t, w, fault.Failover{To: "n1r1"})
		if has := w.State().LockRecord(1) != nil; has != (after < lag) {
			t.Errorf("%s after the eviction the replica has the record: %t\n\t%s", after, has, strings.Join(story(w), "\n\t"))
		}
	}
}

// TestProofNamesNoJumpThatMadeNoDifference: the record expires at the instant at
// which it was due when it was stored, or later.
func TestProofNamesNoJumpThatMadeNoDifference(t *testing.T) {
	for name, jumps := range map[string][]fault.Fault{
		"forward and back":         {fault.NodeStep{Node: "n1", By: 3 * sec}, fault.NodeStep{Node: "n1", By: -3 * sec}},
		"forward and further back": {fault.NodeStep{Node: "n1", By: 3 * sec}, fault.NodeStep{Node: "n1", By: -4 * sec}},
		"back and forward":         {fault.NodeStep{Node: "n1", By: -3 * sec}, fault.NodeStep{Node: "n1", By: 3 * sec}},
		"back, and less forward":   {fault.NodeStep{Node: "n1", By: -3 * sec}, fault.NodeStep{Node: "n1", By: 2 * sec}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, config(t, "setpx-lua", "A", "B"))
			until(t, w, "A", trace.KindEnter)
			inject(t, w, jumps...)
			w.Wait(12 * sec)
			until(t, w, "B", trace.KindEnter)
			expectProof(t, w, trace.OV, "A enter, n1 expire, B enter")
		})
	}

	// A jump before there was a record.
	w := newWorld(t, config(t, "setpx-lua", "A", "B"))
	inject(t, w, fault.NodeStep{Node: "n1", By: 11 * sec})
	until(t, w, "A", trace.KindEnter)
	w.Wait(12 * sec)
	until(t, w, "B", trace.KindEnter)
	expectProof(t, w, trace.OV, "A enter, n1 expire, B enter")

	// A jump at the very instant at which the record was due; and one that an
	// extension has made up for.
	h := newHand(t, "setpx-lua").holds("A", 10*sec).does("A", trace.KindEnter).at(10 * sec)
	h.jumps(11*sec).expires().does("A", trace.KindLapse).holds("B", 20*sec).does("B", trace.KindEnter)
	expectProof(t, h.w, trace.OV, "A enter, n1 expire, B enter")
	h = newHand(t, "setpx-lua").holds("A", 10*sec).does("A", trace.KindEnter)
	h.jumps(3*sec).sets("A", "A1", 12*sec).at(12*sec).expires().does("A", trace.KindLapse).holds("B", 20*sec).does("B", trace.KindEnter)
	expectProof(t, h.w, trace.OV, "A enter, n1 expire, B enter")
	h = newHand(t, "setpx-lua").holds("A", 10*sec).does("A", trace.KindEnter)
	h.jumps(3*sec).at(7*sec).expires().holds("B", 20*sec).does("B", trace.KindEnter)
	expectProof(t, h.w, trace.OV, "A enter, n1 node-clock-step, n1 expire, B enter") // by hand as well, where it did make a difference
}

// TestProofWithAQuorum: of several records the one is named that the holder could
// not do without.
func TestProofWithAQuorum(t *testing.T) {
	w := newWorld(t, config(t, "redlock", "A", "B"))
	until(t, w, "A", trace.KindGranted)
	inject(t, w, fault.NodeStep{Node: "n5", By: 11 * sec}, fault.Evict{Node: "n4"}, fault.Down{Node: "n3"}, fault.Up{Node: "n3"}, fault.Evict{Node: "n2"})
	until(t, w, "B", trace.KindGranted)
	expectProof(t, w, trace.DG, "A granted, n3 down, n3 up, B granted")
}

// TestProofOfALossBeforeTheGrant: A's record is gone before A is told that it has
// the lock.
func TestProofOfALossBeforeTheGrant(t *testing.T) {
	w := newWorld(t, config(t, "setpx-lua", "A", "B"))
	until(t, w, "A", trace.KindSend)
	w.Wait(time.Millisecond)
	inject(t, w, fault.NodeStep{Node: "n1", By: 11 * sec})
	until(t, w, "A", trace.KindGranted)
	until(t, w, "B", trace.KindGranted)
	expectProof(t, w, trace.DG, "n1 node-clock-step, n1 expire, A granted, B granted")
}

// TestProofKeepsAcquisitionsApart: how a client's earlier record was lost has
// nothing to do with the one that it lost last.
func TestProofKeepsAcquisitionsApart(t *testing.T) {
	over := []trace.Kind{trace.KindRelease, trace.KindReleased}

	// The second time Redis says yes and has stored nothing.
	h := newHand(t, "setpx-lua").holds("A", 10*sec).evicts().does("A", over...)
	h.does("A", trace.KindAcquire).granted("A", 20*sec).holds("B", 20*sec)
	expectProof(t, h.w, trace.DG, "A granted, B granted")

	// A duplicate of the first SET arrives after the second record is gone.
	h = newHand(t, "setpx-lua").holds("A", 10*sec).sets("A", "", 0).does("A", over...)
	h.holds("A", 10*sec).jumps(11 * sec).expires()
	h.w.emit(&trace.Event{Kind: trace.KindExecute, Copy: true, Client: 0, Node: 0, Ref: trace.None, Acq: 1, Args: []string{"SET"}, Changes: []trace.Change{h.change("A1", 10*sec)}})
	h.evicts().holds("B", 20*sec)
	expectProof(t, h.w, trace.DG, "A granted, n1 node-clock-step, n1 expire, B granted")
}

// TestProofOfAGap: the extension has stored the record anew, and the proof knows
// how it was lost all the same.
func TestProofOfAGap(t *testing.T) {
	for name, tc := range map[string]struct {
		faults []fault.Fault
		lost   string
	}{
		"a restart": {[]fault.Fault{fault.Down{Node: "n1"}, fault.Up{Node: "n1"}}, "n1 down, n1 up"},
		"a jump":    {[]fault.Fault{fault.NodeStep{Node: "n1", By: time.Hour}}, "n1 node-clock-step, n1 expire"},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := config(t, "extend-recreate", "A")
			cfg.Clients[0].Extend = true
			w := newWorld(t, cfg)
			until(t, w, "A", trace.KindEnter)
			inject(t, w, tc.faults...)
			until(t, w, "A", trace.KindExtended)
			expectProof(t, w, trace.GAP, tc.lost+", A extended")
		})
	}
}

// TestNoGapWhereNothingWasLost: a server that comes back with the record on its disk
// has kept everybody else out all along.
func TestNoGapWhereNothingWasLost(t *testing.T) {
	for persistence, gap := range map[redis.Persistence]bool{redis.PersistNone: true, redis.PersistAlways: false} {
		cfg := config(t, "extend-recreate", "A")
		cfg.Clients[0].Extend = true
		cfg.Nodes[0].Persistence = persistence
		w := newWorld(t, cfg)
		until(t, w, "A", trace.KindEnter)
		inject(t, w, fault.Down{Node: "n1"}, fault.Up{Node: "n1"})
		until(t, w, "A", trace.KindExtended)
		if got := slices.Contains(w.Verdict(), trace.GAP); got != gap {
			t.Errorf("persistence %s: GAP %t, want %t", persistence, got, gap)
		}
	}
}

// A replica that takes over with the holder's record has lost nothing, and the holder
// extends without a gap; one that had fallen behind before it got the record has.
func TestTakeOverWithTheRecord(t *testing.T) {
	const before, after = "B:6,:1s,lag/n1r1/1000h0m0s,down/n1,failover/n1r1/-,B:40", "lag/n1r1/1000h0m0s,B:6,:1s,down/n1,failover/n1r1/-,B:40"
	for moves, want := range map[string]string{before: "ok", after: "GAP"} {
		s := mustParse(t, "lockstep1,extend-recreate,test,seed=1,key=lock,ttl=12s,timeout=3s,latency=0s,retry=1/0s/0s,workload=counter,resource=plain,"+
			"cold=false,replicas=1,lag=0s,B=1/0s/0s/0s/1/true/false/false/false/false,n1=none/0s,--,"+moves)
		w := newWorld(t, s.Config)
		reset(t, w, s.Config)
		if err := w.Play(s.Moves, nil); err != nil {
			t.Fatal(err)
		}
		tr := traceOf(t, w)
		var b strings.Builder
		if err := tr.Plain(&b); err != nil {
			t.Fatal(err)
		}
		extended := func(e trace.Event) bool { return e.Kind == trace.KindExtended }
		if got := tr.Verdict().String(); got != want || !slices.ContainsFunc(tr.Events, extended) {
			t.Errorf("%s: %s, expected %s after an extension\n%s", moves, got, want, b.String())
		}
	}
}
