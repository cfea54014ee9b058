package sim

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim/fault"
	"lockstep/sim/process"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// cached is a configuration of clients that rebuild a cache entry.
func cached(t testing.TB, strategy string, clients ...string) Config {
	cfg := config(t, strategy, clients...)
	cfg.Workload = trace.Cache
	return cfg
}

// accessKinds are those of the events at the cache and the database.
var accessKinds = []trace.Kind{trace.KindWant, trace.KindRead, trace.KindQuery, trace.KindWrite, trace.KindUpdate, trace.KindReject, trace.KindRefused, trace.KindEnter, trace.KindDone}

// TestRebuild: who comes first misses, and rebuilds; who comes later is served, and
// never asks for the lock.
func TestRebuild(t *testing.T) {
	w := newWorld(t, cached(t, "setpx-lua", "A", "B"))
	run(t, w, "A")
	run(t, w, "B")
	expectStory(t, w, `
		0 A wants what is cached
		0 A reads the cache: nothing there
		0.002 A enters the critical section
		0.002 A queries the database: version 1
		1.002 A writes the cache: version 1
		1.004 A has finished
		1.004 B wants what is cached
		1.004 B reads the cache: version 1
		1.004 B has finished`, accessKinds...)
	if n := count(w, trace.KindAcquire); n != 1 {
		t.Errorf("%d clients asked for the lock", n)
	}
}

// TestQueryShowsTheDatabaseAsItWas: what is edited during the query is not in what
// it gives, and the cache is not told of it.
func TestQueryShowsTheDatabaseAsItWas(t *testing.T) {
	cfg := cached(t, "setpx-lua", "A")
	cfg.Clients[0].Cycles = 2
	w := newWorld(t, cfg)
	until(t, w, "A", trace.KindQuery)
	inject(t, w, fault.Update{}, fault.Update{})
	run(t, w)
	expectStory(t, w, `
		0 A wants what is cached
		0 A reads the cache: nothing there
		0.002 A queries the database: version 1
		0.002 resource the database has version 2 from now on
		0.002 resource the database has version 3 from now on
		1.002 A writes the cache: version 1
		1.004 A wants what is cached
		1.004 A reads the cache: version 1`, trace.KindQuery, trace.KindUpdate, trace.KindWrite, trace.KindWant, trace.KindRead)
	if s := w.State().Store; s.Database != 3 || s.Value != 1 || s.Version != 1 {
		t.Errorf("the resource is %+v", s)
	}
}

// TestRecheck: B has missed before A has even begun, and gets the lock when A is done.
func TestRecheck(t *testing.T) {
	for again, want := range map[bool]string{
		false: "1.006 B queries the database: version 1\n2.006 B writes the cache: version 1",
		true:  "1.006 B reads the cache: version 1",
	} {
		cfg := cached(t, "setpx-lua", "A", "B")
		cfg.Clients[1].Recheck = again
		w := newWorld(t, cfg)
		until(t, w, "B", trace.KindRead)
		run(t, w, "A")
		run(t, w, "B")
		expectStory(t, w, `
			0 B reads the cache: nothing there
			0 A reads the cache: nothing there
			0.002 A queries the database: version 1
			1.002 A writes the cache: version 1
			`+want, trace.KindRead, trace.KindQuery, trace.KindWrite)
	}
}

// TestRefusedRebuilders: what a client does that is not to rebuild.
func TestRefusedRebuilders(t *testing.T) {
	for name, tc := range map[string]struct {
		set  func(*process.Config)
		want string
	}{
		"it gives up": {func(*process.Config) {}, `
			0.002 B reads the cache: nothing there
			0.004 B is refused
			0.004 B has finished`},
		"it looks again": {func(c *process.Config) { c.Insist = 600 * time.Millisecond }, `
			0.002 B reads the cache: nothing there
			0.004 B is refused
			0.604 B reads the cache: nothing there
			0.606 B is refused
			1.206 B reads the cache: version 1
			1.206 B has finished`},
		"it goes ahead": {func(c *process.Config) { c.FallThrough = true }, `
			0.002 B reads the cache: nothing there
			0.004 B is refused
			0.004 B enters the critical section
			0.004 B queries the database: version 1
			1.004 B writes the cache: version 1
			1.004 B has finished`},
		"it goes ahead if the service is broken": {func(c *process.Config) { c.FailOpen = true }, `
			0.002 B reads the cache: nothing there
			0.004 B is refused
			0.004 B has finished`},
	} {
		t.Run(name, func(t *testing.T) {
			cfg := cached(t, "setpx-lua", "A", "B")
			cfg.Retry.Tries = 1
			tc.set(&cfg.Clients[1])
			w := newWorld(t, cfg)
			until(t, w, "A", trace.KindQuery)
			run(t, w)
			var got []string
			for _, line := range story(w, accessKinds...) {
				if strings.Contains(line, " B ") && !strings.HasSuffix(line, "wants what is cached") {
					got = append(got, line)
				}
			}
			if want := strings.Join(strings.Fields(tc.want), " "); strings.Join(strings.Fields(strings.Join(got, " ")), " ") != want {
				t.Errorf("%s", strings.Join(got, "\n"))
			}
		})
	}
}

// TestFallThroughCounts: the setting is not only for caches.
func TestFallThroughCounts(t *testing.T) {
	cfg := config(t, "setpx-lua", "A", "B")
	cfg.Retry.Tries = 1
	cfg.Clients[1].FallThrough = true
	w := newWorld(t, cfg)
	until(t, w, "A", trace.KindRead)
	run(t, w)
	expectVerdict(t, w, "SW OV")
	if n := count(w, trace.KindRelease); n != 1 {
		t.Errorf("%d releases: B has nothing to release", n)
	}
}

// SW of a cache.

// rebuilders writes the events of clients at a cache by hand.
func rebuilders(t *testing.T) *hand {
	return &hand{t, newWorld(t, cached(t, "setpx-lua", "A", "B", "C"))}
}

// caches is a client's write, and queries its query, of a version.
func (h *hand) caches(name string, version int64) *hand {
	return h.version(name, trace.KindWrite, version)
}
func (h *hand) queries(name string, version int64) *hand {
	return h.version(name, trace.KindQuery, version)
}

func (h *hand) version(name string, kind trace.Kind, version int64) *hand {
	i, _ := h.w.Client(name)
	return h.emit(trace.Event{Kind: kind, Client: i, Node: trace.None, Value: version})
}

func TestCacheGoesBack(t *testing.T) {
	h := rebuilders(t).queries("A", 1).queries("B", 2).caches("B", 2).verdict("ok").caches("A", 1).verdict("SW")
	v := h.w.monitor.Violations()[0]
	if want := "A puts version 1 over version 2, which B cached: the cache goes back"; v.Text != want {
		t.Errorf("%s", v.Text)
	}
	if got := fmt.Sprint(v.Events); got != "[1 3 4]" {
		t.Errorf("the proof is %s: A's query, B's write, A's write", got)
	}
	rebuilders(t).queries("A", 1).queries("B", 2).caches("A", 1).caches("B", 2).verdict("ok") // forward
	rebuilders(t).queries("A", 1).queries("B", 1).caches("A", 1).caches("B", 1).verdict("ok") // the same again
	h = rebuilders(t).queries("A", 1).queries("B", 2).queries("C", 3).caches("C", 3).caches("B", 2).caches("A", 1)
	if n := len(h.w.monitor.Violations()); n != 2 {
		t.Errorf("back from 3 to 2 to 1 is %d violations", n)
	}
	// Back, forward again, and back.
	h = rebuilders(t).queries("A", 1).queries("B", 2).caches("B", 2).caches("A", 1).queries("C", 2).caches("C", 2)
	h.queries("A", 2).caches("A", 2).verdict("SW")
	if n := len(h.w.monitor.Violations()); n != 1 {
		t.Errorf("once back is %d violations", n)
	}

	// An older grant harms nobody as long as its version is not older.
	both := func() *hand {
		return rebuilders(t).holds("A", 10*sec).at(10*sec).expires().does("A", trace.KindLapse).holds("B", 20*sec)
	}
	both().queries("A", 1).queries("B", 1).caches("B", 1).caches("A", 1).verdict("ok")
	both().queries("A", 1).queries("B", 1).caches("A", 1).verdict("ok")
	both().queries("B", 1).queries("A", 2).caches("A", 2).caches("B", 1).verdict("SW") // the newer grant's query was the earlier
}

// TestFencedCache: a query shows the token, like any read of the resource; or else
// the last case of TestCacheGoesBack would get past the fence.
func TestFencedCache(t *testing.T) {
	for resource, want := range map[Resource]string{Fenced: "OV", FencedWrites: "SW OV", Plain: "SW OV"} {
		t.Run(resource.String(), func(t *testing.T) {
			cfg := cached(t, "fenced", "A", "B")
			cfg.Resource = resource
			cfg.Clients[1].Work = 5 * time.Second
			w := newWorld(t, cfg)
			until(t, w, "A", trace.KindEnter)
			w.Wait(11 * sec)
			until(t, w, "B", trace.KindQuery) // version 1, token 2
			inject(t, w, fault.Update{})
			run(t, w) // A queries version 2 with token 1, and writes it before B writes version 1
			expectVerdict(t, w, want)
			if n := count(w, trace.KindReject); (n == 1) != (resource == Fenced) {
				t.Errorf("%d rejections", n)
			}
		})
	}
}

// The number of rebuilds.

func TestRebuildsAreCounted(t *testing.T) {
	for _, tc := range []struct {
		name         string
		h            func() *hand
		made, needed int
	}{
		{"none", func() *hand { return rebuilders(t) }, 0, 0},
		{"one", func() *hand { return rebuilders(t).queries("A", 1).caches("A", 1) }, 1, 1},
		{"one after the other", func() *hand { return rebuilders(t).queries("A", 1).caches("A", 1).queries("B", 1) }, 2, 1},
		{"though the entry is old", func() *hand { return rebuilders(t).queries("A", 1).caches("A", 1).queries("B", 2) }, 2, 1},
		{"two at once", func() *hand { return rebuilders(t).queries("A", 1).queries("B", 1) }, 2, 1},
		{"three at once", func() *hand { return rebuilders(t).queries("A", 1).queries("B", 1).queries("C", 2) }, 3, 1},
		{"after a crash", func() *hand { return rebuilders(t).queries("A", 1).does("A", trace.KindCrash).queries("B", 1) }, 2, 2},
		{"beside one that hangs", func() *hand { return rebuilders(t).queries("A", 1).does("A", trace.KindHang).queries("B", 1) }, 2, 2},
		{"beside one that is paused", func() *hand { return rebuilders(t).queries("A", 1).does("A", trace.KindPause).queries("B", 1) }, 2, 1},
		{"after one that left without writing", func() *hand { return rebuilders(t).queries("A", 1).does("A", trace.KindLeave).queries("B", 1) }, 2, 2},
		{"after one that was stopped", func() *hand { return rebuilders(t).queries("A", 1).does("A", trace.KindStop).queries("B", 1) }, 2, 2},
		{"by the same once more", func() *hand { return rebuilders(t).queries("A", 1).does("A", trace.KindLeave).queries("A", 1) }, 2, 2},
	} {
		trace := traceOf(t, tc.h().w)
		if made, needed := trace.Rebuilds(); made != tc.made || needed != tc.needed {
			t.Errorf("%s: %d rebuilds, %d needed; expected %d and %d", tc.name, made, needed, tc.made, tc.needed)
		}
	}
}

// TestRebuildsAreShown: in text and in JSON, and only where there is a cache.
func TestRebuildsAreShown(t *testing.T) {
	for workload, shown := range map[trace.Workload]bool{trace.Cache: true, trace.Counter: false} {
		cfg := config(t, "setpx-lua", "A", "B")
		cfg.Workload = workload
		w := newWorld(t, cfg)
		until(t, w, "A", trace.KindAcquire)
		until(t, w, "B", trace.KindAcquire)
		run(t, w)
		trace := traceOf(t, w)
		var plain strings.Builder
		if err := trace.Plain(&plain); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(plain.String(), "\nrebuilds  2, needed 1\n") != shown {
			t.Errorf("%s:\n%s", workload, plain.String())
		}
		data, err := json.Marshal(trace)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(data), `"rebuilds":{"made":2,"needed":1}`) != shown || strings.Contains(string(data), "rebuilds") != shown {
			t.Errorf("%s:\n%s", workload, data)
		}
	}
}

// TestUpdateNeedsADatabase: where there is none, nothing happens.
func TestUpdateNeedsADatabase(t *testing.T) {
	w := newWorld(t, config(t, "setpx-lua", "A"))
	if err := w.Inject(fault.Update{}); err == nil || err.Error() != "there is no database: the workload is counter" {
		t.Errorf("%v", err)
	}
	if len(w.trace.Events) > 0 || len(w.moves.list) > 0 {
		t.Error("it has left something all the same")
	}
}

// TestPositionAtACache follows a client that rebuilds and looks twice.
func TestPositionAtACache(t *testing.T) {
	cfg := cached(t, "setpx-lua", "A")
	cfg.Clients[0].Recheck = true
	w := newWorld(t, cfg)
	want := []string{
		"idle, cycle 0, 0 sent",
		"idle, cycle 0, 0 sent, about to want",
		"idle, cycle 1, 0 sent, sending",
		"idle, cycle 1, 1 sent, about to acquire",
		"work, cycle 1, 0 sent, sending", // the second look
		"work, cycle 1, 1 sent, sending", // the query
		"work, cycle 1, 2 sent",          // asleep
		"work, cycle 1, 2 sent, sending", // the write
		"work, cycle 1, 3 sent, about to leave",
	}
	var got []string
	add := func() {
		at := w.Position(0)
		if now := at.text(); (at.Phase == trace.PhaseIdle || at.Phase == trace.PhaseWork) && !at.Over && (len(got) == 0 || now != got[len(got)-1]) {
			got = append(got, now)
		}
	}
	for add(); w.Step(SetOf(0)); add() {
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
}

// TestCheckGoesByTheRenewal: a caller whose lease a second thread renews has it for
// as long as that goes on, and no longer.
func TestCheckGoesByTheRenewal(t *testing.T) {
	for _, dies := range []bool{false, true} {
		cfg := config(t, "watchdog", "A")
		cfg.Clients[0].Work, cfg.Clients[0].Checks = 15*sec, true
		w := newWorld(t, cfg)
		until(t, w, "A", trace.KindRead)
		if dies {
			inject(t, w, fault.EndThread{Client: "A"})
		}
		run(t, w)
		if wrote := count(w, trace.KindWrite) == 1; wrote == dies {
			t.Errorf("the renewal dies: %t, A writes: %t\n%s", dies, wrote, strings.Join(story(w), "\n"))
		}
	}
}

// TestEndedThreadTakesItsReplyAlong: a thread ends that waits for a reply, and its client's next commands don't get that
// for their own: a refused A had the lock.
func TestEndedThreadTakesItsReplyAlong(t *testing.T) {
	const text = "lockstep1,watchdog,test,seed=1,key=lock,ttl=1s,timeout=3s,latency=1ms,retry=1/200ms/0s,workload=counter,resource=plain,cold=false,replicas=0,lag=0s," +
		"A=2/500ms/0s/0s/1/false/false/false/false/false,B=1/5s/0s/0s/1/false/false/false/false/false,n1=none/0s,--,A:12,end-thread/A,A:8,B:2,A+B:16,aftermath"
	s, err := ParseSchedule(text, catalogue)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, s.Config)
	if err := w.Play(s.Moves, nil); err != nil {
		t.Fatal(err)
	}
	if v := w.Verdict(); slices.Contains(v, trace.DG) || slices.Contains(v, trace.OV) {
		t.Errorf("%s\n%s", v, strings.Join(story(w), "\n"))
	}
}

// TestCachesReplay: under every strategy, whatever goes wrong, a run of a cache
// plays again from its schedule, and its state is a fold over its events.
func TestCachesReplay(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, s strategies.Strategy) {
		cfg := wild(configOf(s, "A", "B"))
		cfg.Workload = trace.Cache
		cfg.Clients[0].Recheck, cfg.Clients[1].FallThrough = true, true
		cfg.Clients[0].Cycles, cfg.Clients[1].Insist = 2, 50*time.Millisecond
		w := newWorld(t, cfg)
		updates := 0
		for seed := range uint64(5) {
			cfg.Seed = seed
			reset(t, w, cfg)
			chaos(w, rand.New(rand.NewPCG(seed, 3)), 80, anyFault)
			tr := traceOf(t, w)
			updates += count(w, trace.KindUpdate)
			if got, want := describe(tr.StateAt(len(tr.Events))), describe(w.State()); got != want {
				t.Fatalf("seed %d: the fold is\n%s\nand the world's state\n%s\n%s", seed, got, want, tr.Schedule)
			}
			schedule, err := ParseSchedule(tr.Schedule, func(string) (strategies.Strategy, error) { return s, nil })
			if err != nil {
				t.Fatal(err)
			}
			if got := schedule.String(); got != tr.Schedule {
				t.Fatalf("%s\nprints as\n%s", tr.Schedule, got)
			}
			reset(t, w, schedule.Config)
			if err := w.Play(schedule.Moves, nil); err != nil {
				t.Fatal(err)
			}
			if got := traceOf(t, w).Hash; got != tr.Hash {
				t.Fatalf("seed %d: the hash is %s, and was %s\n%s", seed, got, tr.Hash, tr.Schedule)
			}
		}
		if updates == 0 {
			t.Error("nobody has changed the database in any run")
		}
	})
}

// TestWorkloadAfterAnother: a world that had a cache, and then has none, is like
// one that never had.
func TestWorkloadAfterAnother(t *testing.T) {
	for _, last := range []trace.Workload{trace.Cache, trace.Counter} {
		cfg := config(t, "setpx-lua", "A", "B")
		cfg.Workload = last
		w := newWorld(t, cfg)
		run(t, w)
		cfg.Workload = 1 - last
		reset(t, w, cfg)
		fresh := newWorld(t, cfg)
		if got, want := describe(w.State()), describe(fresh.State()); got != want {
			t.Errorf("after %s it begins with\n%s\nand a new world with\n%s", last, got, want)
		}
		for _, w := range []*World{w, fresh} {
			until(t, w, "A", trace.KindEnter)
			w.Wait(11 * sec)
			until(t, w, "B", trace.KindRead)
			run(t, w)
		}
		if got, want := w.Verdict().String(), fresh.Verdict().String(); got != want {
			t.Errorf("after %s its verdict is %s, and a new world's %s", last, got, want)
		}
	}
}

// TestCommitLast: a transaction that is committed after the release writes then, with the
// token of the lease that is over.
func TestCommitLast(t *testing.T) {
	cfg := config(t, "fenced", "A", "B")
	cfg.Clients[0].CommitLast = true
	cfg.Resource = Plain
	w := newWorld(t, cfg)
	run(t, w, "A")
	var after []trace.Kind
	for i := range w.trace.Events {
		if e := &w.trace.Events[i]; e.Client == 0 && (e.Kind == trace.KindReleased || e.Kind == trace.KindWrite) {
			after = append(after, e.Kind)
			if e.Kind == trace.KindWrite && (e.Fence != 1 || e.Phase != trace.PhaseIdle) {
				t.Errorf("the write has fence %d, in phase %v", e.Fence, e.Phase)
			}
		}
	}
	if !slices.Equal(after, []trace.Kind{trace.KindReleased, trace.KindWrite}) {
		t.Errorf("A's release and its write: %v", after)
	}
}

// TestExit: the hook of a shutdown releases the lock that a client holds, in another thread,
// and the client's own release finds that it is gone. Without the lock there is nothing to
// release.
func TestExit(t *testing.T) {
	w := newWorld(t, config(t, "setpx-lua", "A", "B"))
	if err := w.Enabled(fault.Exit{Client: "A"}); err == nil || err.Error() != "A does not hold the lock" {
		t.Errorf("before it has the lock: %v", err)
	}
	until(t, w, "A", trace.KindRead)
	inject(t, w, fault.Exit{Client: "A"})
	until(t, w, "A", trace.KindReleased)
	if s := &w.state.Clients[0].Lease; !s.Inside || s.Believed || s.Live || w.state.LockRecord(0) != nil {
		t.Errorf("after the hook: %+v", s)
	}
	until(t, w, "A", trace.KindReleaseFailed)
}
