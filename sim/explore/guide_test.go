package explore

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"lockstep/sim"
	"lockstep/sim/fault"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

func newGuide(t *testing.T, strategy string, goal trace.Code) *Guide {
	t.Helper()
	s, _ := strategies.Get(strategy)
	g, err := NewGuide(Defaults(s), goal)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := g.Close(); err != nil {
			t.Error(err)
		}
	})
	return g
}

// TestGuideLeadsThere: to follow the hints leads to the violation in as many steps as the
// first hint says, and in the engine, too.
func TestGuideLeadsThere(t *testing.T) {
	for i, c := range []struct {
		strategy string
		goal     trace.Code
	}{{"naive-del", trace.DG}, {"setpx-lua", trace.OV}, {"setnx", trace.PD}, {"timestamp-del", trace.FR}} {
		if !testenv.Some(i, 4) {
			continue
		}
		t.Run(c.strategy, func(t *testing.T) {
			g := newGuide(t, c.strategy, c.goal)
			var moves []sim.Move
			var par Cost
			for left := -1; ; left-- {
				h, err := g.From(context.Background(), moves)
				if err != nil {
					t.Fatal(err)
				}
				if left < 0 {
					left = h.Steps
					least, err := Run(context.Background(), g.guide.(*guide).m.Bounds, Options{})
					if err != nil {
						t.Fatal(err)
					}
					v := least.Find(c.goal)
					par = Cost{len(v.Faults), v.Switches, v.Steps}
				}
				if !h.Reachable || h.Steps != left {
					t.Fatalf("after %d moves: %+v, expected %d steps", len(moves), h, left)
				}
				if h.Steps == 0 {
					break
				}
				moves = append(moves, h.Next...)
			}
			h, err := g.From(context.Background(), moves)
			if err != nil || h.Taken != par {
				t.Errorf("going there took %+v, and was to take %+v: %v", h.Taken, par, err)
			}
			w, err := sim.New(g.Config())
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close() //nolint:errcheck // nothing is written
			if err := w.Reset(g.Config(), false); err != nil {
				t.Fatal(err)
			}
			if c.goal == trace.PD {
				moves = append(moves, sim.Move{Fault: fault.Drain{}})
			}
			if err := w.Play(moves, nil); err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(w.Verdict().String(), c.goal.String()) {
				t.Errorf("the guide has led to %s", w.Verdict())
			}
		})
	}
}

// TestGuideSaysNoLonger: once the only pause is wasted, the goal can't be reached.
func TestGuideSaysNoLonger(t *testing.T) {
	g := newGuide(t, "setpx-lua", trace.OV)
	step := func(n int) sim.Move { return sim.Move{Who: sim.SetOf(0), Count: n} }
	if h, err := g.From(context.Background(), []sim.Move{step(4)}); err != nil || !h.Reachable || h.Faults != 1 {
		t.Errorf("%+v, %v", h, err)
	}
	done := []sim.Move{step(2), {Wait: 12001 * time.Millisecond}, step(1), {Fault: fault.Crash{Client: "A"}}}
	if h, err := g.From(context.Background(), done); err != nil || h.Reachable {
		t.Errorf("%+v, %v", h, err)
	}
	g = newGuide(t, "setpx-lua", trace.DG)
	if h, err := g.From(context.Background(), nil); err != nil || h.Reachable {
		t.Errorf("%+v, %v", h, err)
	}
}

func TestGuideRefuses(t *testing.T) {
	g := newGuide(t, "setpx-lua", trace.OV)
	for want, moves := range map[string][]sim.Move{
		`"hang/A" is nothing that a search does`: {{Fault: fault.Hang{Client: "A"}}},
		`more faults of the kind "evict"`:        {{Fault: fault.Evict{Node: "n1"}}},
		`more faults of the kind "crash"`:        {{Fault: fault.Crash{Client: "A"}}, {Fault: fault.Crash{Client: "B"}}},
		`more faults of the kind "restart"`:      {{Fault: fault.Down{Node: "n1"}}, {Fault: fault.Up{Node: "n1"}}},
		`down and stays down`:                    {{Fault: fault.Down{Node: "n1"}}},
		`whole milliseconds`:                     {{Wait: 1}},
		`more pauses than the bounds have`:       {{Who: sim.SetOf(0), Count: 2}, {Who: sim.SetOf(1), Count: 2}, {Wait: time.Second}},
	} {
		if _, err := g.From(context.Background(), moves); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, expected %q", err, want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := g.From(ctx, nil); err == nil {
		t.Error("a hint after the question was taken back")
	}
}

// TestGuideThatLacksRoom says so, and has no hint.
func TestGuideThatLacksRoom(t *testing.T) {
	g := newGuide(t, "setpx-lua", trace.DG) // which no schedule does: the guide looks at all of them
	g.Memory = 1
	if _, err := g.From(context.Background(), nil); !errors.Is(err, ErrMemory) {
		t.Errorf("%v", err)
	}
}
