package sim

import (
	"os"
	"testing"
	"time"

	"lockstep/strategies"
)

// config is a small configuration for tests: clients A, B, ... under a strategy.
func config(t testing.TB, strategy string, clients ...string) Config {
	t.Helper()
	s, found := strategies.Get(strategy)
	if !found {
		t.Fatalf("no strategy %q", strategy)
	}
	cfg := Config{Strategy: s, Scenario: "test", Key: "lock", TTL: 10 * time.Second, Retry: s.Retry, Timeout: s.Timeout,
		Latency: time.Millisecond, Seed: 1}
	for _, name := range clients {
		cfg.Clients = append(cfg.Clients, ClientConfig{Name: name, Rate: 1, Cycles: 1, Work: time.Second})
	}
	for range s.Nodes {
		cfg.Nodes = append(cfg.Nodes, NodeConfig{})
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
	if err := w.Reset(cfg, true); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestSmoke(t *testing.T) {
	w := newWorld(t, config(t, "setpx-lua", "A", "B"))
	for w.Step(SetOf(0, 1)) {
	}
	if err := w.Aftermath(); err != nil {
		t.Fatal(err)
	}
	tr, err := w.Trace()
	if err != nil {
		t.Fatal(err)
	}
	tr.Plain(os.Stdout)
}
