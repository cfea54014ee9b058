package fuzz

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/explore/report"
	"lockstep/sim/fault"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// givesUp is a lock on three servers, without an expiry, whose release tries each server twice and ends at the
// first that fails both times.
type givesUp struct {
	nodes []*redis.Client
	key   string
	strategies.Options
}

func (l *givesUp) Acquire(ctx context.Context) (*strategies.Lease, error) {
	lease := &strategies.Lease{Token: l.Token()}
	votes := 0
	for _, rdb := range l.nodes {
		if won, err := rdb.SetNX(ctx, l.key, lease.Token, 0).Result(); err == nil && won {
			votes++
		}
	}
	if votes == len(l.nodes) {
		return lease, nil
	}
	_ = l.Release(ctx, lease)
	return nil, strategies.ErrNotAcquired
}

func (l *givesUp) Release(ctx context.Context, lease *strategies.Lease) error {
	for _, rdb := range l.nodes {
		err := compareDelete.Run(ctx, rdb, []string{l.key}, lease.Token).Err()
		if err != nil {
			err = compareDelete.Run(ctx, rdb, []string{l.key}, lease.Token).Err()
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// loadsOnce releases by EVALSHA alone, of a script that it loads once it has its record.
var loadsOnce = custom("loads-once", "a release whose script is gone leaves a record without an expiry behind", steps{
	acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		lease := &strategies.Lease{Token: l.Token()}
		won, err := l.rdb.SetNX(ctx, l.key, lease.Token, 0).Result()
		if err == nil && !won {
			err = strategies.ErrNotAcquired
		}
		if err == nil {
			err = compareDelete.Load(ctx, l.rdb).Err()
		}
		return lease, err
	},
	release: func(ctx context.Context, l *lock, lease *strategies.Lease) error {
		return compareDelete.EvalSha(ctx, l.rdb, []string{l.key}, lease.Token).Err()
	}}, forever)

// waitsForReplica keeps its record although no replica has it, and says that it hasn't got the lock.
var waitsForReplica = custom("waits-for-replica", "whoever is told that no replica has the record leaves it there", steps{
	acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		lease, err := take(ctx, l)
		if err != nil {
			return nil, err
		}
		if n, err := l.rdb.Wait(ctx, 1, time.Second).Result(); err != nil || n < 1 {
			return nil, errors.Join(err, strategies.ErrNotAcquired)
		}
		return lease, nil
	}}, func(s *subject) { s.strategy.Replicas = 1 })

// form is a fault in a form that no search makes.
type form struct {
	of     strategies.Strategy // a lock that it breaks
	code   trace.Code
	within explore.Budget // bounds that have the fault in another form
	before []fault.Fault  // before the client's first step
	held   []fault.Fault  // while it has the lock
	after  []fault.Fault  // after its last step
	words  string         // that name the form in results
}

var forms = []form{
	{of: strategies.Strategy{Name: "gives-up", Nodes: 3, NoTTL: true, Timeout: 500 * time.Millisecond, Retry: strategies.Retry{Tries: 1},
		New: func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
			return &givesUp{nodes, key, o}
		}},
		code: trace.PD, within: explore.Budget{explore.Restart: 1},
		held: []fault.Fault{fault.Down{Node: "n1"}}, after: []fault.Fault{fault.Up{Node: "n1"}}, words: "servers that stay down"},
	{of: loadsOnce.strategy, code: trace.PD, within: explore.Budget{explore.Restart: 1},
		held: []fault.Fault{fault.ForgetScripts{Node: "n1"}}, words: "emptied script caches"},
	{of: waitsForReplica.strategy, code: trace.FN,
		before: []fault.Fault{fault.Lag{Replica: "n1r1", By: time.Hour}}, words: "replicas that fall behind"},
}

// TestFormsOfFaults: the engine breaks these locks by faults in a form that no search makes. A search within bounds
// that have the fault in another form finds nothing, and its result names the form as left out.
func TestFormsOfFaults(t *testing.T) {
	for i := range forms {
		f := &forms[i]
		t.Run(f.of.Name, func(t *testing.T) {
			b := explore.Defaults(f.of)
			b.Clients, b.Cycles, b.Faults, b.Codes = 1, 1, f.within, trace.Verdict{f.code}
			r, err := explore.Run(t.Context(), b, explore.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Find(f.code) != nil || !r.Complete {
				t.Errorf("the search finds it now, so results need no longer name %s: %s", f.words, r.Summary())
			}
			if !slices.ContainsFunc(report.Bounds(&b), func(i report.Item) bool {
				return i.Label == "not in it" && strings.Contains(i.Text, f.words)
			}) {
				t.Errorf("the result doesn't name %s as left out", f.words)
			}
			if got := f.verdict(t, &b); !slices.Contains(got, f.code) {
				t.Errorf("the engine shows %s, want %s", got, f.code)
			}
		})
	}
}

// verdict returns what the engine makes of the form.
func (f *form) verdict(t *testing.T, b *explore.Bounds) trace.Verdict {
	t.Helper()
	cfg, err := b.Config()
	if err != nil {
		t.Fatal(err)
	}
	w, err := sim.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close() //nolint:errcheck // nothing is written
	if err := w.Reset(cfg, false); err != nil {
		t.Fatal(err)
	}
	a := &w.State().Clients[0]
	step := func() bool {
		if w.Step(sim.SetOf(0)) {
			return true
		}
		next, any := w.Next()
		w.Wait(next - w.Now())
		return any
	}
	inject := func(faults []fault.Fault) {
		for _, f := range faults {
			if err := w.Inject(f); err != nil {
				t.Fatal(err)
			}
		}
	}
	inject(f.before)
	for f.held != nil && a.Phase != trace.PhaseHold && step() {
	}
	inject(f.held)
	for step() {
	}
	inject(f.after)
	if err := w.Drain(); err != nil {
		t.Fatal(err)
	}
	return w.Verdict()
}
