package export

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/scenarios"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

var update = flag.Bool("update", false, "write the golden files anew")

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if err := scenarios.Close(); err != nil {
		panic(err)
	}
	os.Exit(code)
}

// golden compares with testdata/name, or writes it with -update.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil { //nolint:gosec // a document is for everybody
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil { //nolint:gosec // a document is for everybody
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v (go test ./sim/export -update writes it)", err)
	}
	if got != string(want) {
		t.Errorf("%s is not what the run gives (go test ./sim/export -update writes it anew)", path)
	}
}

// some are every strategy under every scenario, as CI has them, or every eighth of these runs: each
// strategy and each scenario is among them.
var some = sync.OnceValue(func() []scenarios.Cell {
	i, locks := -1, len(strategies.All())
	return scenarios.Part(1, func(*scenarios.Scenario, strategies.Strategy) bool {
		i++
		return testenv.Sampled(i/locks+i%locks, 8)
	})
})

// eachRun calls test with some runs.
func eachRun(t *testing.T, test func(t *testing.T, trace *trace.Trace)) {
	t.Helper()
	for _, c := range some() {
		if c.Err != nil {
			t.Fatalf("%s under %s: %v", c.Strategy.Name, c.Scenario.Name, c.Err)
		}
		t.Run(c.Scenario.Name+"/"+c.Strategy.Name, func(t *testing.T) { test(t, c.Trace) })
	}
}

// record is one cell's run.
func record(t testing.TB, strategy, scenario string) *trace.Trace {
	t.Helper()
	st, err := scenarios.FindStrategy(strategy)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scenarios.Find(scenario)
	if err != nil {
		t.Fatal(err)
	}
	run, err := s.Run(st, 1)
	if err != nil {
		t.Fatal(err)
	}
	return run
}

// hostile is text that would break out of any of the forms, were it not escaped.
const hostile = "a;b #c: <b>&amp; \"q\" 'p' `x` %%{init: {}}%% {{y}} $z \\ </script><script>window.owned=1</script> ]]> <!-- \x1b\u2028\x00 end"

// spoilt is a short run in which everything that a user or a server can word is hostile. A client is called as Mermaid calls
// the end of a block.
func spoilt() *trace.Trace {
	record := trace.Record{Value: hostile, Expires: 10 * time.Second}
	return &trace.Trace{
		Strategy: "s" + hostile, Scenario: "c" + hostile, Title: "t" + hostile, Schedule: "lockstep1," + hostile,
		Clients: []string{"A", "end"}, Nodes: []string{"n1"}, Masters: 1, Need: 1, Key: "k" + hostile, TTL: 10 * time.Second,
		Events: []trace.Event{
			{Seq: 1, Kind: trace.KindSend, Client: 0, Node: 0, Ref: trace.None, Args: []string{"set", hostile, hostile}},
			{Seq: 2, Kind: trace.KindExecute, Client: 0, Node: 0, Ref: 1, Args: []string{"set", hostile}, Reply: hostile,
				Acq: 1, Changes: []trace.Change{{Key: "k" + hostile, After: &record}}},
			{Seq: 3, Kind: trace.KindReceive, Client: 0, Node: 0, Ref: 2, Reply: hostile},
			{Seq: 4, Kind: trace.KindFailed, Client: 1, Node: trace.None, Note: hostile},
		},
		Notes:      []trace.Note{{Kind: trace.NoteAsk, Text: hostile, Answer: hostile}},
		Violations: []trace.Violation{{Code: trace.FR, Events: []int{2, 4}, Text: hostile}},
	}
}

// The same trace gives the same bytes, whatever was exported in between.
func TestExportsAreDeterministic(t *testing.T) {
	for _, document := range []func(*trace.Trace) string{Mermaid, SVG, HTML} {
		first := document(record(t, "getset-expired", "takeover-race"))
		document(record(t, "redlock", "slow-node"))
		if again := document(record(t, "getset-expired", "takeover-race")); again != first {
			t.Error("the second export differs from the first")
		}
		if other := document(record(t, "getset-equal", "takeover-race")); other == first {
			t.Error("two different runs give the same export")
		}
	}
}

// Nothing happens in the empty run, and every form can say so.
func TestEmptyRun(t *testing.T) {
	empty := &trace.Trace{Strategy: "setnx", Scenario: "x.yaml", Clients: []string{"A"}, Nodes: []string{"n1"}, Masters: 1, TTL: time.Second}
	checkMermaid(t, Mermaid(empty))
	checkXML(t, SVG(empty))
	if page := HTML(empty); !strings.Contains(page, `max="0"`) {
		t.Error("the page of a run without events has something to scrub")
	}
}
