package verify_test

import (
	"context"
	"runtime"
	"slices"
	"testing"
	"time"

	"lockstep/scenarios"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/sim/verify"
)

// needsServers skips a test where there is no redis-server whose clock could be set.
func needsServers(t *testing.T) {
	t.Helper()
	testenv.Need(t, verify.Tools())
}

// run is one cell of the matrix, as a run to be replayed.
func run(t *testing.T, strategy, scenario string) verify.Run {
	t.Helper()
	st, err := scenarios.FindStrategy(strategy)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenarios.Find(scenario)
	if err != nil {
		t.Fatal(err)
	}
	recorded, err := s.Run(st, 1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := verify.RunOf(recorded, scenarios.FindStrategy)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func exact(t *testing.T) *verify.Exact {
	t.Helper()
	needsServers(t)
	x, err := verify.NewExact()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x
}

// A run of each kind: the whole matrix is replayed for docs/fidelity.md.
func TestReplay(t *testing.T) {
	x := exact(t)
	seen := map[trace.Kind]int{}
	for _, cell := range [][2]string{
		{"setpx-lua", "pause-past-ttl"},
		{"getset-expired", "takeover-race"},
		{"setnx-expire", "expire-lost"},
		{"incr-expire", "ttl-seconds"},
		{"setpx-subscribe", "contention"},
		{"setpx-lua", "eviction"},
		{"setpx-lua", "server-clock-jump"},
		{"setpx-lua", "script-flush"},
		{"setpx-lua", "wrong-type"},
		{"redlock", "restart-no-fsync"},
		{"setpx-lua", "restart-no-fsync.always"},
		{"setpx-lua", "restart-no-fsync.everysec"},
		{"setpx-lua", "power-cut"},
		{"setpx-lua", "power-cut.late"},
		{"setpx-wait", "pause-past-ttl"},
		{"setpx-lua", "failover"},
		{"setpx-wait", "failover-wait.acked"},
		{"setpx-wait", "split-brain"},
	} {
		r := run(t, cell[0], cell[1])
		got, err := x.Replay(r)
		if err != nil {
			t.Fatal(err)
		}
		happens := map[trace.Kind]int{}
		for _, e := range r.Trace.Events {
			happens[e.Kind]++
			seen[e.Kind]++
		}
		if want := happens[trace.KindExecute] + happens[trace.KindPush]; got.Replies != want || got.Lacks != "" || got.Stopped != "" {
			t.Errorf("%s: %d replies, want %d: %+v", r.Name(), got.Replies, want, got)
		}
		if got.Restarts != happens[trace.KindUp] || got.Promotions != happens[trace.KindFailover] || got.Writes != happens[trace.KindReplicate] {
			t.Errorf("%s: %d restarts, %d promotions, %d writes to replicas", r.Name(), got.Restarts, got.Promotions, got.Writes)
		}
		for _, d := range got.Differences {
			t.Errorf("%s: %s", r.Name(), d)
		}
	}
	for _, k := range []trace.Kind{trace.KindExecute, trace.KindPush, trace.KindExpire, trace.KindEvict, trace.KindFlush, trace.KindStray, trace.KindNodeStep,
		trace.KindDown, trace.KindUp, trace.KindReplicate, trace.KindFailover, trace.KindSync} {
		if seen[k] == 0 {
			t.Errorf("%s happens in none of the runs", k)
		}
	}
}

// plant makes a copy of a run in which one event is wrong.
func plant(r verify.Run, i int, wrong func(e *trace.Event)) verify.Run {
	planted := *r.Trace
	planted.Events = slices.Clone(r.Trace.Events)
	e := &planted.Events[i]
	e.Changes = slices.Clone(e.Changes)
	for j := range e.Changes {
		if after := e.Changes[j].After; after != nil {
			record := *after
			e.Changes[j].After = &record
		}
	}
	wrong(e)
	return verify.Run{Trace: &planted, Config: r.Config}
}

// Whatever a node does wrong shows in its events. Each of these is found where it happens.
func TestPlantedMistakesAreFound(t *testing.T) {
	x := exact(t)
	found := func(r verify.Run, what string, seq int) {
		t.Helper()
		got, err := x.Replay(r)
		if err != nil {
			t.Fatalf("%s at #%d: %s", what, seq, err)
		}
		if len(got.Differences) == 0 || got.Differences[0].Event != seq {
			t.Errorf("%s: %s at #%d is not found there: %v", r.Name(), what, seq, got.Differences)
		}
	}
	planted := 0
	for _, cell := range [][2]string{{"setpx-lua", "release-gap"}, {"setpx-wait", "failover-wait"}, {"setpx-lua", "restart-no-fsync.always"}} {
		r := run(t, cell[0], cell[1])
		for i := range r.Trace.Events {
			if !testenv.Sampled(i, 2) {
				continue
			}
			e := &r.Trace.Events[i]
			if e.Kind == trace.KindExecute {
				planted++
				found(plant(r, i, func(e *trace.Event) { e.Reply = "wrong" }), "a wrong reply", e.Seq)
			}
			for j, ch := range e.Changes {
				if e.Node == trace.None || ch.After == nil {
					continue
				}
				planted += 2
				found(plant(r, i, func(e *trace.Event) { e.Changes[j].After.Value += "x" }), "a wrong value", e.Seq)
				found(plant(r, i, func(e *trace.Event) { e.Changes[j].After = nil }), "a key too few", e.Seq)
				if ch.After.Expires != trace.Never {
					planted++
					found(plant(r, i, func(e *trace.Event) { e.Changes[j].After.Expires += time.Millisecond }), "an expiry a millisecond late", e.Seq)
				}
			}
			if e.Kind == trace.KindExpire {
				planted++
				found(plant(r, i, func(e *trace.Event) { e.Changes = nil }), "a key that outlives its expiry", e.Seq)
			}
		}
	}
	if planted < testenv.Quick(15, 40) {
		t.Errorf("only %d mistakes were planted", planted)
	}
}

func TestAllStopsWhenItIsTold(t *testing.T) {
	x := exact(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := verify.All(ctx, []verify.Run{run(t, "setnx", "crash-holding")}, []verify.Replayer{keep{x}}, nil); err == nil {
		t.Error("a replay that is stopped claims to be whole")
	}
}

// keep is a replayer that somebody else closes.
type keep struct{ verify.Replayer }

func (keep) Close() error { return nil }

func TestReportSaysWhatWasNotCompared(t *testing.T) {
	needsServers(t)
	replayers, version, err := verify.NewExacts(min(2, runtime.GOMAXPROCS(0)))
	if err != nil {
		t.Fatal(err)
	}
	runs := []verify.Run{run(t, "setpx-delex", "late-release"), run(t, "setpx-wait", "restart-no-fsync"), run(t, "setpx-lua", "late-release")}
	runs = append(runs, plant(runs[2], firstReply(runs[2]), func(e *trace.Event) { e.Reply = "wrong" }))
	r, err := verify.All(context.Background(), runs, replayers, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Found) != 1 || r.Found[0].Run != "setpx-lua under late-release" {
		t.Errorf("%s: %s", version, r)
	}
	if partly := len(r.Stopped[verify.Resync]) + len(r.Lacks["DELEX"]); r.Whole+partly+len(r.Found) != len(runs) || len(r.Stopped[verify.Resync]) != 1 {
		t.Errorf("%s: %s", version, r)
	}
}

func firstReply(r verify.Run) int {
	return slices.IndexFunc(r.Trace.Events, func(e trace.Event) bool { return e.Kind == trace.KindExecute })
}
