package trials

import (
	"context"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore/bounds"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Random schedules within bounds cost no more than these have, and over time have every kind of fault in them.
func TestWithin(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	rng := rand.New(rand.NewPCG(seed, 1))
	for _, name := range []string{"setpx-lua", "getset-expired", "watchdog", "redlock"} {
		s, _ := strategies.Get(name)
		b := bounds.Defaults(s)
		for k := range b.Faults {
			b.Faults[k] = uint8(rng.IntN(3))
		}
		b.Faults[bounds.Failover] = 0
		cfg, err := b.Config()
		if err != nil {
			t.Fatal(err)
		}
		d := &Drawer{Rand: rng}
		defer d.Close() //nolint:errcheck // nothing is written
		had := bounds.Budget{}
		for range testenv.Count(500, 5000) {
			if err := d.Within(cfg, &b.Faults); err != nil {
				t.Fatal(err)
			}
			cost := d.Cost()
			for k, n := range cost.Faults {
				had[k] = max(had[k], n)
				if n > b.Faults[k] {
					t.Fatalf("%s: a schedule costs %s, and the bounds have %s\n%s", name, &cost, b.Faults, d.Line())
				}
			}
		}
		for k, n := range b.Faults {
			if kind := bounds.FaultKind(k); n > 0 && had[k] == 0 && kind != bounds.Restart { // it must be there twice in the engine
				t.Errorf("%s: no schedule has had a %s", name, kind.Words(1))
			}
		}
	}
}

// A claim is refuted by the same schedule however many play, with and without bounds, and with others than the clients that are counted.
func TestRefute(t *testing.T) {
	naive, _ := strategies.Get("naive-del")
	right, _ := strategies.Get("setpx-lua")
	any := bounds.Bounds{Clients: 2, Cycles: bounds.Any, Others: true, TTL: bounds.Defaults(naive).TTL}
	any.Faults[bounds.Crash], any.Faults[bounds.Pause], any.Faults[bounds.HoldRequest] = bounds.Any, bounds.Any, 1
	n := testenv.Count(1000, 8000)
	for _, b := range []bounds.Bounds{bounds.Defaults(naive), any} {
		b.Strategy = naive
		var first string
		for _, workers := range []int{1, 3} {
			f, _, err := Refute(t.Context(), b, nil, trace.SetOf(trace.DG, trace.PD), n, workers)
			if err != nil || f == nil || f.Code != trace.DG {
				t.Fatalf("%+v, %v", f, err)
			}
			if first == "" {
				first = f.Shrunk.String()
			} else if first != f.Shrunk.String() {
				t.Errorf("%d play\n%s\nand one\n%s", workers, &f.Shrunk, first)
			}
		}
		b.Strategy = right
		if f, played, err := Refute(t.Context(), b, nil, trace.SetOf(trace.DG, trace.FR, trace.PD), n, 2); err != nil || f != nil || played != n {
			t.Errorf("of the right lock %d schedules show %+v, %v", played, f, err)
		}
	}
}

// PD alone is looked for, too.
func TestRefuteDeadlock(t *testing.T) {
	s, _ := strategies.Get("setnx")
	f, _, err := Refute(t.Context(), bounds.Defaults(s), nil, trace.SetOf(trace.PD), testenv.Count(500, 4000), 2)
	if err != nil || f == nil || f.Code != trace.PD {
		t.Errorf("%+v, %v", f, err)
	}
}

// Code that panics in a schedule ends it with an error, and no more are played once nobody waits for them.
func TestRefuteEnds(t *testing.T) {
	s := strategies.Strategy{Name: "panics", Nodes: 1, Timeout: bounds.Defaults(strategies.Strategy{}).TTL,
		New: func([]*redis.Client, string, strategies.Options) strategies.Lock { return broken{} }}
	if _, _, err := Refute(t.Context(), bounds.Defaults(s), nil, trace.SetOf(trace.DG), 100, 2); err == nil || !strings.Contains(err.Error(), "out of order") {
		t.Errorf("the error is %v", err)
	}
	right, _ := strategies.Get("setpx-lua")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if f, played, err := Refute(ctx, bounds.Defaults(right), nil, trace.SetOf(trace.DG), 100, 2); f != nil || played > 2 || err != nil {
		t.Errorf("%d were played, %v", played, err)
	}
}

// broken is a lock whose code panics.
type broken struct{}

func (broken) Acquire(context.Context) (*strategies.Lease, error) { panic("out of order") }

func (broken) Release(context.Context, *strategies.Lease) error { return errors.ErrUnsupported }
