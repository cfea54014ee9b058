package fuzz

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/explore/report"
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

// TestServersThatStayDown: a server that is down for two tries leaves a record behind, and one that is back at
// once doesn't. A search knows the latter alone, and its result says so.
func TestServersThatStayDown(t *testing.T) {
	s := strategies.Strategy{Name: "gives-up", Nodes: 3, NoTTL: true, Timeout: 500 * time.Millisecond, Retry: strategies.Retry{Tries: 1},
		New: func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
			return &givesUp{nodes, key, o}
		}}
	b := explore.Defaults(s)
	b.Clients, b.Cycles, b.Faults, b.Codes = 1, 1, explore.Budget{explore.Restart: 1}, trace.Verdict{trace.PD}
	r, err := explore.Run(t.Context(), b, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Find(trace.PD) != nil {
		t.Errorf("the search finds it now, so results need no longer name servers that stay down: %s", r.Summary())
	}
	outside := slices.ContainsFunc(report.Bounds(&b), func(i report.Item) bool {
		return i.Label == "not in it" && strings.Contains(i.Text, "servers that stay down")
	})
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
	a := sim.SetOf(0)
	for w.State().Clients[0].Phase != trace.PhaseHold && w.Step(a) {
	}
	if err := w.Inject(sim.Down{Node: "n1"}); err != nil {
		t.Fatal(err)
	}
	for w.Ready(a) && w.Step(a) {
	}
	if err := w.Inject(sim.Up{Node: "n1"}); err != nil {
		t.Fatal(err)
	}
	if err := w.Drain(); err != nil {
		t.Fatal(err)
	}
	if found := slices.Contains(w.Verdict(), trace.PD); !found || !outside {
		t.Errorf("the engine shows %s, want PD; results name it as left out: %t\n%s", w.Verdict(), outside, w.Schedule())
	}
}
