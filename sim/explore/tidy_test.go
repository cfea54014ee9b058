package explore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore/space"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// lateTransaction compares, and deletes in a transaction of its own that watches nothing: one that is held
// up deletes whatever it finds.
type lateTransaction struct{ tokenLock }

func (l *lateTransaction) Release(ctx context.Context, lease *strategies.Lease) error {
	holder, err := l.rdb.Get(ctx, l.key).Result()
	if err != nil && !errors.Is(err, redis.Nil) {
		return err
	}
	if holder != lease.Token {
		return strategies.ErrNotHeld
	}
	_, err = l.rdb.TxPipelined(ctx, func(multi redis.Pipeliner) error { return multi.Del(ctx, l.key).Err() })
	return err
}

// TestHeldRequestsAreTidied: what a search without bounds forgets of requests that are held up matters to
// nothing else. Clients and servers come to the same situations with and without, names aside.
func TestHeldRequestsAreTidied(t *testing.T) {
	testenv.Long(t)
	late := strategies.Strategy{Name: "late-transaction", Nodes: 1, Timeout: 3 * time.Second}
	late.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		return &lateTransaction{tokenLock{rdb: nodes[0], key: key, Options: o, script: compareDelete}}
	}
	locks := []strategies.Strategy{strategy(t, "naive-del")}
	if testenv.Whole() {
		locks = append(locks, late, strategy(t, "setpx-lua"), strategy(t, "setpx-watch")) // of the second, 12 million states without
	}
	for _, s := range locks {
		b := Defaults(s)
		b.Cycles, b.Codes, b.Faults = Any, trace.Verdict{trace.DG, trace.FR, trace.PD}, Budget{Crash: Any, Pause: Any, HoldRequest: 1}
		if s.Name == "late-transaction" || !testenv.Whole() {
			b.Faults[Crash] = 0
		}
		tidy, states, found := situations(t, b, false, situation)
		hoarded, more, also := situations(t, b, true, situation)
		t.Logf("%s: %d states, without tidying %d, of %d situations of clients and servers; %s", s.Name, states, more, len(tidy), found)
		if states >= more || len(tidy) < 100 {
			t.Errorf("%s: %d states, and without tidying %d, of %d situations", s.Name, states, more, len(tidy))
		}
		if found != also || !maps.Equal(tidy, hoarded) {
			t.Errorf("%s: %s and %d situations, and without tidying %s and %d", s.Name, found, len(tidy), also, len(hoarded))
		}
	}
}

// situations describes all states of a search without bounds, and returns how many there are, and the codes
// that it finds.
func situations(t *testing.T, b Bounds, hoards bool, describe func(*space.Explorer, []uint32) string) (set map[string]bool, states int, found space.Codes) {
	set = map[string]bool{}
	err := withModel(b, func(m *space.Model) error {
		m.KeepsRequests = hoards
		s, err := rounds(context.Background(), m, Options{})
		if err != nil || s.why != "" {
			return errors.Join(err, errors.New(s.why))
		}
		v, x := s.visited.(*inMemory), m.Explorer()
		for shard, n := range v.to {
			for at := range n {
				states++
				set[describe(x, v.State(shard, at))] = true
			}
		}
		found = space.Codes(s.found.Load())
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return set, states, found
}

// situation describes a state without names, and without what is under way.
func situation(x *space.Explorer, state []uint32) string {
	x.Visit(state)
	var parts []string
	for i := range x.Bounds.Clients {
		c, left, _ := x.Client(state, i)
		facts := *c
		facts.Acquired = 0
		kind, ready := x.NextKind(i)
		parts = append(parts, fmt.Sprintf("%+v %d %d %t %t", facts, left, kind, ready, int(x.Owner(state, 0).Client) == i))
	}
	slices.Sort(parts)
	_, records, _ := strings.Cut(x.Outline(), "n1\n")
	records, _, _ = strings.Cut(records, " of ")
	return strings.Join(append(parts, records), "; ")
}
