package space

import (
	"cmp"
	"context"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore/bounds"
	"lockstep/strategies"
)

// TestProbesAreNoReadings: the readings of a server's clock by which thresholds are explained are those of
// schedules, and not those at which the search for thresholds has tried a script.
func TestProbesAreNoReadings(t *testing.T) {
	script := redis.NewScript(`
		local now = tonumber(redis.call("TIME")[1])
		local was = redis.call("GET", KEYS[1])
		if was and now < tonumber(was) + 17 then return 0 end
		redis.call("SET", KEYS[1], now)
		return 1`)
	s := strategies.Strategy{Name: "stale by TIME", Nodes: 1, Timeout: time.Second, Scripts: []*redis.Script{script}, New: func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		return scripted{nodes[0], key, script}
	}}
	m, err := NewModel(bounds.Defaults(s), true)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close() //nolint:errcheck // nothing is written
	x := m.Explorer()
	states := [][]uint32{x.Begin()}
	for at := 0; at < len(states) && at < 200; at++ {
		x.View(states[at])
		x.Follow(states[at])
		for all := x.Followed(); len(all) > 0; all = all[x.Width:] {
			states = append(states, slices.Clone(all[:x.Width]))
		}
	}
	if x.Err != nil {
		t.Fatal(x.Err)
	}
	var read [2][]int64
	for i := range read {
		found, err := m.Clients.Thresholds(context.Background(), m.Servers, m.Reached(), m.snapshots())
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(found.Read)
		read[i] = slices.Compact(found.Read)
	}
	if t.Log(read[0]); len(read[0]) == 0 || !slices.Equal(read[0], read[1]) {
		t.Errorf("after it has been looked for thresholds, the readings are %d", read[1])
	}
}

// scripted is a lock that asks by a script, and isn't given back.
type scripted struct {
	rdb    *redis.Client
	key    string
	script *redis.Script
}

func (l scripted) Acquire(ctx context.Context) (*strategies.Lease, error) {
	if n, err := l.script.Run(ctx, l.rdb, []string{l.key}).Int(); err != nil || n == 0 {
		return nil, cmp.Or(err, strategies.ErrNotAcquired)
	}
	return &strategies.Lease{}, nil
}

func (l scripted) Release(context.Context, *strategies.Lease) error { return nil }
