package sim

import (
	"testing"

	"lockstep/sim/process"
)

func TestCaller(t *testing.T) {
	for _, tc := range []struct {
		strategy string
		change   func(*Config)
		want     string
	}{
		{"setpx-lua", func(*Config) {}, "enters without checking"},
		{"setpx-lua", func(c *Config) { c.Resource = Fenced }, "enters without checking"}, // it has no token to send
		{"setpx-lua", func(c *Config) { c.Clients[0].Extend = true }, "enters without checking"},
		{"setpx-lua", func(c *Config) { c.Clients[0].Checks = true }, "A checks its lease before each access; B enters without checking"},
		{"extend-unchecked", func(c *Config) { c.Clients[0].Extend, c.Clients[1].FailOpen = true, true }, "A extends its lease before it writes; B fails open"},
		{"fenced", func(c *Config) { c.Resource = Fenced }, "uses the fence"},
		{"fenced", func(c *Config) { c.Resource = FencedWrites }, "uses the fence, which heeds writes only"},
		{"setpx-lua", func(c *Config) { c.Tokens = process.MangledTokens }, "mangles its token"},
		{"setpx-lua", func(c *Config) { c.Clients[0].FallThrough, c.Clients[1].Recheck = true, true },
			"A goes ahead when it is refused; B looks into the cache again once it has the lock"},
		{"setpx-lua", func(c *Config) { c.Clients[1].CommitLast = true }, "A enters without checking; B commits after it has released"},
		{"fenced", func(*Config) {}, "enters without checking"},
	} {
		cfg := config(t, tc.strategy, "A", "B")
		cfg.Resource = Plain
		tc.change(&cfg)
		if got := cfg.Caller(); got != tc.want {
			t.Errorf("%s, %s resource: %q, expected %q", tc.strategy, cfg.Resource, got, tc.want)
		}
	}
}
