package explore

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/trace"
	"lockstep/strategies"
)

// watcher asks in a transaction, and leaves a WATCH of the record on its connection where it is refused for the nth time.
// The transaction of the next cycle fails on that connection if the record has changed since, and it takes the lock then.
type watcher struct {
	mutant
	refused, nth int
}

func (w *watcher) Acquire(ctx context.Context) (*strategies.Lease, error) {
	token, rdb := w.Token(), w.nodes[0]
	var won *redis.BoolCmd
	_, err := rdb.TxPipelined(ctx, func(p redis.Pipeliner) error {
		won = p.SetNX(ctx, w.key, token, w.TTL)
		return nil
	})
	switch {
	case errors.Is(err, redis.TxFailedErr):
		return &strategies.Lease{Token: token}, rdb.Set(ctx, w.key, token, w.TTL).Err()
	case err != nil:
		return nil, err
	case won.Val():
		return &strategies.Lease{Token: token}, nil
	}
	if w.refused = min(w.refused+1, w.nth); w.refused == w.nth {
		rdb.Do(ctx, "watch", w.key)
	}
	return nil, strategies.ErrNotAcquired
}

// TestOpenConnections: what a connection has open when a cycle ends is there in the next cycle. A search within bounds
// follows that, whether or not it was told that the lock remembers anything; one without a bound on cycles decides
// nothing, and names the line if its small searches didn't come to it.
func TestOpenConnections(t *testing.T) {
	for nth, refusal := range map[int]string{
		1: "such as a WATCH or MULTI that is still open on a connection",
		4: "the search can't follow a watch that is open when its cycle is over of A at LINE: without a bound on cycles a client has new connections in each; end it by EXEC, DISCARD, UNWATCH or Close, or search within a bound on cycles",
	} {
		s := strategies.Strategy{Name: "watcher", Nodes: 1, Timeout: 3 * time.Second, New: func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
			return &watcher{mutant: mutant{nodes: nodes, key: key, Options: o, release: rightRelease}, nth: nth}
		}}
		b := Bounds{Strategy: s, Clients: 2, Cycles: 2, TTL: 12 * time.Second, Codes: trace.Verdict{trace.DG}}
		if nth == 1 {
			if r, err := Run(t.Context(), b, Options{}); err != nil {
				t.Error(err)
			} else if r.Find(trace.DG) == nil {
				t.Errorf("within bounds: %s", r.Summary())
			}
		}
		b.Cycles, b.Faults = Any, Budget{Crash: Any, Pause: Any}
		if r, err := Run(t.Context(), b, Options{}); err == nil {
			t.Errorf("without bounds, refused for the %d. time: %s", nth, r.Summary())
		} else if text := strings.Replace(line.ReplaceAllString(err.Error(), "LINE"), "of B", "of A", 1); !strings.Contains(text, refusal) {
			t.Error(text)
		}
	}
}

// pinger has one connection of its own for as long as it lives, on which it asks whether the server is there.
type pinger struct {
	mutant
	conn *redis.Conn
}

func (p *pinger) Acquire(ctx context.Context) (*strategies.Lease, error) {
	if err := p.conn.Ping(ctx).Err(); err != nil {
		return nil, err
	}
	token := p.Token()
	won, err := p.nodes[0].SetNX(ctx, p.key, token, p.TTL).Result()
	if err == nil && !won {
		err = strategies.ErrNotAcquired
	}
	return &strategies.Lease{Token: token}, err
}

// TestKeptConnections: a connection of the lock's own that a lost reply has broken is broken in the next cycle, too. A search
// within bounds follows that, as one in which a client had new connections would come to something else than the engine;
// one without a bound on cycles decides nothing.
func TestKeptConnections(t *testing.T) {
	s := strategies.Strategy{Name: "pinger", Nodes: 1, Timeout: 3 * time.Second, New: func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		return &pinger{mutant: mutant{nodes: nodes, key: key, Options: o, release: rightRelease}, conn: nodes[0].Conn()}
	}}
	b := Bounds{Strategy: s, Clients: 2, Cycles: 2, TTL: 12 * time.Second, Codes: trace.Verdict{trace.FR}, Faults: Budget{ReplyLost: 1}}
	if r, err := Run(t.Context(), b, Options{}); err != nil {
		t.Error(err)
	} else if !r.Bounds.Remembers || !r.Holds(trace.FR) {
		t.Errorf("with memory %t: %s", r.Bounds.Remembers, r.Summary())
	}
	b.Cycles, b.Faults = Any, Budget{ReplyLost: Any}
	const refusal = "that is still open on a connection, a connection of its own, or a variable in a closure"
	if r, err := Run(t.Context(), b, Options{}); err == nil {
		t.Errorf("without bounds: %s", r.Summary())
	} else if !strings.Contains(err.Error(), refusal) {
		t.Error(err)
	}
}
