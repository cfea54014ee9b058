package sim

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockstep/sim/fault"
	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// config is a small configuration for tests: clients A, B, ... under a strategy.
func config(t testing.TB, strategy string, clients ...string) Config {
	t.Helper()
	return configOf(named(strategy), clients...)
}

// named is a strategy of the catalogue. One whose source tries once polls here, so that a test
// need not make its callers insist.
func named(name string) strategies.Strategy {
	s, found := strategies.Get(name)
	if !found {
		panic("no strategy " + name)
	}
	if s.Retry.Tries == 1 {
		s.Retry = strategies.Retry{Delay: 200 * time.Millisecond}
	}
	return s
}

// configOf is config for a strategy that isn't in the catalogue.
func configOf(s strategies.Strategy, clients ...string) Config {
	cfg := Config{Strategy: s, Scenario: "test", Key: "lock", TTL: 10 * time.Second, Retry: s.Retry, Timeout: s.Timeout,
		Latency: time.Millisecond, Seed: 1, Replicas: s.Replicas}
	for _, name := range clients {
		cfg.Clients = append(cfg.Clients, process.Config{Name: name, Rate: 1, Cycles: 1, Work: time.Second})
	}
	for range s.Nodes {
		cfg.Nodes = append(cfg.Nodes, redis.Config{})
	}
	return cfg
}

// newWorld makes a recorded world that is closed when the test ends.
func newWorld(t testing.TB, cfg Config) *World {
	t.Helper()
	w, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	reset(t, w, cfg)
	return w
}

func reset(t testing.TB, w *World, cfg Config) {
	t.Helper()
	if err := w.Reset(cfg, true); err != nil {
		t.Fatal(err)
	}
}

// who is the set of the named clients.
func who(t testing.TB, w *World, names ...string) Set {
	t.Helper()
	var set Set
	for _, name := range names {
		i, found := w.Client(name)
		if !found {
			t.Fatalf("no client %q", name)
		}
		set |= SetOf(i)
	}
	return set
}

// everybody is all clients but the probe.
func everybody(w *World) Set { return Set(1)<<w.Clients() - 1 }

// run lets the named clients act, or all if none is named, until nothing is due
// any more.
func run(t testing.TB, w *World, names ...string) {
	t.Helper()
	set := who(t, w, names...)
	if len(names) == 0 {
		set = everybody(w)
	}
	for w.Step(set) {
	}
	mustGoOn(t, w)
}

func mustGoOn(t testing.TB, w *World) {
	t.Helper()
	if err := w.Err(); err != nil {
		t.Fatal(err)
	}
}

// until lets one client act until it has caused an event of that kind.
func until(t testing.TB, w *World, name string, kind trace.Kind) {
	t.Helper()
	set := who(t, w, name)
	for {
		before := len(w.trace.Events)
		if !w.Step(set) {
			t.Fatalf("%s never gets to %s:\n%s", name, kind, strings.Join(story(w), "\n"))
		}
		for _, e := range w.trace.Events[before:] {
			if e.Kind == kind && set.Has(e.Client) {
				return
			}
		}
	}
}

func inject(t testing.TB, w *World, faults ...fault.Fault) {
	t.Helper()
	for _, f := range faults {
		if err := w.Inject(f); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
	}
}

// drained ends a run and returns what the monitors said of it.
func drained(t testing.TB, w *World) string {
	t.Helper()
	inject(t, w, fault.Drain{})
	mustGoOn(t, w)
	return w.Verdict().String()
}

func traceOf(t testing.TB, w *World) *trace.Trace {
	t.Helper()
	tr, err := w.Trace()
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

var (
	tokenTail  = regexp.MustCompile(`\b([A-Za-z]+\d+)-[0-9a-f]{4}\b`)
	scriptName = regexp.MustCompile(`EVALSHA [0-9a-f]{7}`)
)

// story tells the events of the given kinds, or all, one a line: at what second,
// who, what. Tokens are cut to their readable part, and so are digests.
func story(w *World, kinds ...trace.Kind) []string {
	var lines []string
	for i := range w.trace.Events {
		e := &w.trace.Events[i]
		if len(kinds) > 0 && !slices.Contains(kinds, e.Kind) {
			continue
		}
		at := strconv.FormatFloat(e.At.Seconds(), 'f', -1, 64)
		line := at + " " + w.trace.Actor(e) + " " + w.trace.Text(e)
		line = scriptName.ReplaceAllString(tokenTail.ReplaceAllString(line, "$1"), "EVALSHA script")
		lines = append(lines, line)
	}
	return lines
}

// expectStory compares the events of the given kinds, or all, with what is
// expected of them, one a line.
func expectStory(t testing.TB, w *World, want string, kinds ...trace.Kind) {
	t.Helper()
	got := story(w, kinds...)
	for i, g := range got {
		got[i] = strings.Join(strings.Fields(g), " ")
	}
	var lines []string
	for line := range strings.Lines(want) {
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			lines = append(lines, line)
		}
	}
	for i := range max(len(got), len(lines)) {
		switch {
		case i >= len(lines):
			t.Fatalf("there is more than expected:\n\t%s", strings.Join(got[i:], "\n\t"))
		case i >= len(got):
			t.Fatalf("this did not happen:\n\t%s\nall:\n\t%s", strings.Join(lines[i:], "\n\t"), strings.Join(story(w), "\n\t"))
		case got[i] != lines[i]:
			t.Fatalf("line %d:\n\tgot      %s\n\texpected %s\nall:\n\t%s", i+1, got[i], lines[i], strings.Join(story(w), "\n\t"))
		}
	}
}

func expectVerdict(t testing.TB, w *World, want string) {
	t.Helper()
	if got := w.Verdict().String(); got != want {
		t.Fatalf("the verdict is %s, expected %s:\n\t%s", got, want, strings.Join(story(w), "\n\t"))
	}
}

// count is how many events of that kind there are.
func count(w *World, kind trace.Kind) int {
	n := 0
	for i := range w.trace.Events {
		if w.trace.Events[i].Kind == kind {
			n++
		}
	}
	return n
}

// TestProtocol is one client's whole life, with no other client: every point
// at which it observes or affects the world is an event of its own.
func TestProtocol(t *testing.T) {
	w := newWorld(t, config(t, "setpx-lua", "A"))
	run(t, w)
	expectStory(t, w, `
		0      A   wants the lock
		0      A   reads its monotonic clock: 100.000000 since boot
		0      A   -> n1 SET lock A1 PX 10000 NX
		0.001  n1  A: SET lock A1 PX 10000 NX = OK [lock = A1 (10s left)]
		0.002  A   <- n1 OK
		0.002  A   has the lock, token A1, lease until 9.898s (10s less 102ms in case clocks drift apart)
		0.002  A   enters the critical section
		0.002  A   reads the resource: 0
		0.002  A   works for 1s
		1.002  A   has done its work
		1.002  A   writes the resource: 1
		1.002  A   leaves the critical section
		1.002  A   releases
		1.002  A   -> n1 EVALSHA script 1 lock A1
		1.003  n1  A: EVALSHA script 1 lock A1 = 1 [lock gone]
		1.004  A   <- n1 1
		1.004  A   is done releasing
		1.004  A   has finished`)
	expectVerdict(t, w, "ok")
	if got := drained(t, w); got != "ok" {
		t.Errorf("after the probe the verdict is %s", got)
	}
}

// TestEventsAreOrdered: Seq counts from 1 without gaps, and never contradicts At.
func TestEventsAreOrdered(t *testing.T) {
	for _, s := range strategies.All() {
		w := newWorld(t, config(t, s.Name, "A", "B"))
		run(t, w)
		drained(t, w)
		var last time.Duration
		for i, e := range w.trace.Events {
			if e.Seq != i+1 || e.At < last {
				t.Fatalf("%s: event %d has Seq %d, at %s after %s", s.Name, i+1, e.Seq, e.At, last)
			}
			if e.Ref >= e.Seq {
				t.Fatalf("%s: event #%d answers #%d", s.Name, e.Seq, e.Ref)
			}
			last = e.At
		}
	}
}

// TestEventsNameTheirSource: what a strategy does points at the line that does it.
func TestEventsNameTheirSource(t *testing.T) {
	w := newWorld(t, config(t, "setpx-lua", "A"))
	run(t, w)
	for i := range w.trace.Events {
		e := &w.trace.Events[i]
		switch e.Kind {
		case trace.KindSend, trace.KindExecute, trace.KindReceive, trace.KindClock:
			if e.Source.File != "strategies/setpx_lua.go" || e.Source.Line == 0 {
				t.Errorf("%s comes from %+v", w.trace.Line(e), e.Source)
			}
		}
	}
}

// TestFoldedStateIsTheWorldsState: a reader of the trace can know all that the
// world knew.
func TestFoldedStateIsTheWorldsState(t *testing.T) {
	w := newWorld(t, config(t, "redlock", "A", "B"))
	run(t, w)
	tr := traceOf(t, w)
	state := tr.StateAt(len(tr.Events))
	if got, want := describe(state), describe(w.State()); got != want {
		t.Errorf("folded from the trace:\n%s\nin the world:\n%s", got, want)
	}
}
