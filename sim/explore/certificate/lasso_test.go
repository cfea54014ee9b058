package certificate

import (
	"errors"
	"strings"
	"testing"
	"time"

	"lockstep/sim"
	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// moves reads "A A T B": clients that step, and time that passes.
func movesOf(text string) (moves []Move) {
	for _, word := range strings.Fields(text) {
		m := Move{Kind: Ticks}
		if word != "T" {
			m = Move{Kind: Steps, Place: word[0] - 'A'}
		}
		moves = append(moves, m)
	}
	return moves
}

// TestLasso: the engine plays a livelock of split votes, and of other moves says why they are none.
func TestLasso(t *testing.T) {
	redlock, known := strategies.Get("redlock-no-elapsed")
	if !known {
		t.Fatal("there is no such strategy")
	}
	redlock.Nodes = 2
	cfg := sim.Config{Strategy: redlock, Scenario: "lasso", Key: "lock", TTL: time.Second, Timeout: redlock.Timeout, Retry: strategies.Retry{Tries: 2, Delay: 50 * time.Millisecond}, Seed: 1, Draws: true}
	for _, name := range []string{"A", "B"} {
		cfg.Clients = append(cfg.Clients, process.Config{Name: name, Rate: 1, Cycles: Cycles})
	}
	for range redlock.Nodes {
		cfg.Nodes = append(cfg.Nodes, redis.Config{})
	}
	// Each asks or wakes up, and sends and receives at one server after the other: first to lock, then to unlock.
	const try = "A A A B B B B A A A A A A B B B B B "
	for _, tc := range []struct{ name, prefix, turn, why string }{
		{"a livelock", "A B ", try + "T " + try, ""},
		{"a turn without its end", "A B ", try + "T ", "its moves lead to another situation"},
		{"nobody else", "A B ", strings.Repeat("A ", 15), "a client is granted the lock"},
		{"nobody at all", "A B ", "T", "its monitor finds no livelock"},
		{"a client that waits", "A B " + try, "A", "move 1 of its turn (A steps): it can't be made there"},
		{"a way that isn't", "A B " + try + "A", "T", "move 21 of 21 (A steps): it can't be made there"},
	} {
		l := &Lasso{Config: cfg, Places: 2, Grid: 50 * time.Millisecond, Prefix: movesOf(tc.prefix), Turn: movesOf(tc.turn)}
		schedule, why, err := l.Play()
		if err != nil || why != tc.why {
			t.Errorf("%s: %q, %v; expected %q", tc.name, why, err, tc.why)
		}
		if why != "" || err != nil {
			continue
		}
		w, err := sim.New(schedule.Config)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close() //nolint:errcheck // nothing is written
		if err := errors.Join(w.Reset(schedule.Config, false), w.Play(schedule.Moves, nil)); err != nil || w.Verdict().String() != trace.LV.String() {
			t.Errorf("%s: %s, %v", tc.name, w.Verdict(), err)
		}
	}
}
