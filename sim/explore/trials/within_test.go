package trials

import (
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

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
	for n, name := range []string{"setpx-lua", "getset-expired", "watchdog", "redlock", "setpx-lua"} {
		s, _ := strategies.Get(name)
		b := bounds.Defaults(s)
		fails := n == 4 // over to a replica: no bounds have that and what happens to a master alone
		for k := range b.Faults {
			switch kind := bounds.FaultKind(k); {
			case kind == bounds.Failover:
				b.Faults[k] = 0
				if fails {
					b.Faults[k] = 1
				}
			case !fails || !kind.OnMaster():
				b.Faults[k] = uint8(rng.IntN(3))
			}
		}
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

// A claim is refuted by the same schedules however many play, with and without bounds, and with others than the clients that are counted.
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
			d, err := Refute(t.Context(), b, nil, trace.SetOf(trace.DG, trace.FR, trace.PD), n, workers)
			if err != nil || codesOf(d.Found).String() != "DG FR" || d.Failed != nil || d.Played != n {
				t.Fatalf("%+v, %v", d, err)
			}
			text := d.Found[0].Shrunk.String() + "\n" + d.Found[1].Shrunk.String()
			if first == "" {
				first = text
			} else if first != text {
				t.Errorf("%d play\n%s\nand one\n%s", workers, text, first)
			}
		}
		b.Strategy = right
		if d, err := Refute(t.Context(), b, nil, trace.SetOf(trace.DG, trace.FR, trace.PD), n, 2); err != nil || len(d.Found) > 0 || d.Failed != nil || d.Played != n {
			t.Errorf("of the right lock %+v, %v", d, err)
		}
	}
}

// PD alone is looked for, too.
func TestRefuteDeadlock(t *testing.T) {
	s, _ := strategies.Get("setnx")
	d, err := Refute(t.Context(), bounds.Defaults(s), nil, trace.SetOf(trace.PD), testenv.Count(500, 4000), 2)
	if err != nil || codesOf(d.Found).String() != "PD" {
		t.Errorf("%+v, %v", d, err)
	}
}

// Of code that panics in a schedule, or that goes another way next time, the first such schedule is
// told, and no more are played once nobody waits for them.
func TestRefuteFails(t *testing.T) {
	times := 0
	for want, acquire := range map[string]func(*lock) (*strategies.Lease, error){
		"out of order": func(*lock) (*strategies.Lease, error) { panic("out of order") },
		errUnsteady.Error(): func(l *lock) (*strategies.Lease, error) {
			if times++; times < 60 {
				return &strategies.Lease{}, nil
			}
			return nil, strategies.ErrNotAcquired
		},
	} {
		s := strategies.Strategy{Name: "odd", Nodes: 1, Timeout: time.Second, New: func(nodes []*redis.Client, _ string, o strategies.Options) strategies.Lock {
			return &lock{nodes[0], o, acquire, 0}
		}}
		d, err := Refute(t.Context(), bounds.Defaults(s), nil, trace.SetOf(trace.DG, trace.OV, trace.SW), 100, 1)
		if err != nil || d.Failed == nil || !strings.Contains(d.Failed.Error(), want) || d.Failed.Schedule == "" {
			t.Errorf("%s: %+v, %v", want, d, err)
		}
	}
	right, _ := strategies.Get("setpx-lua")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if d, err := Refute(ctx, bounds.Defaults(right), nil, trace.SetOf(trace.DG), 100, 2); err != nil || d.Played > 2 {
		t.Errorf("%+v, %v", d, err)
	}
}

// lock is a lock of one function.
type lock struct {
	rdb *redis.Client
	strategies.Options
	acquire func(*lock) (*strategies.Lease, error)
	cycles  int
}

func (l *lock) Acquire(context.Context) (*strategies.Lease, error) { return l.acquire(l) }

func (l *lock) Release(context.Context, *strategies.Lease) error { return nil }

// A lock that starts a thread in a later cycle alone has the same schedules in a world that has seen one and in one that hasn't.
func TestThreadsAreOfOneRun(t *testing.T) {
	acquired := func(l *lock) (*strategies.Lease, error) {
		if l.cycles++; l.cycles == 2 {
			l.Go(func() { l.rdb.Ping(context.Background()) }) //nolint:errcheck // it only goes on for a while
		}
		won, err := l.rdb.SetNX(context.Background(), "lock", l.Token(), l.TTL).Result()
		if err == nil && !won {
			err = strategies.ErrNotAcquired
		}
		return &strategies.Lease{}, err
	}
	s := strategies.Strategy{Name: "threads", Nodes: 1, Timeout: time.Second, New: func(nodes []*redis.Client, _ string, o strategies.Options) strategies.Lock {
		return &lock{nodes[0], o, acquired, 0}
	}}
	b := bounds.Defaults(s)
	r := &refuter{budget: b.Faults, codes: trace.SetOf(trace.DG)}
	var err error
	if r.cfg, err = b.Config(); err != nil {
		t.Fatal(err)
	}
	used := &Drawer{}
	defer used.Close() //nolint:errcheck // nothing is written
	with := 0
	for seed := range uint64(testenv.Count(200, 2000)) {
		fresh := &Drawer{}
		for _, d := range []*Drawer{used, fresh} {
			if _, err := d.try(r, seed); err != nil {
				t.Fatal(err)
			}
		}
		if used.Line() != fresh.Line() {
			t.Fatalf("seed %d:\n%s\n%s", seed, used.Line(), fresh.Line())
		}
		if used.threads {
			with++
		}
		fresh.Close() //nolint:errcheck // nothing is written
	}
	if with == 0 {
		t.Error("no thread was started")
	}
}
