package fuzz

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// moody notes, in some form, that a request has taken 3 to 7 s, and seizes the record when it asks next. No schedule of
// a search has such a reading before the search has learnt of it, so nothing but a probe shows what it does then.
type moody struct {
	*lock
	code   int
	phase  string
	open   map[string]bool
	weight float64
	wait   time.Duration
	chats  int // commands that it sends after it has noted that
}

func (m *moody) Acquire(ctx context.Context) (*strategies.Lease, error) {
	if m.code == 503 || m.phase == "phase2" || m.open["breaker"] || m.weight == 0.5 || m.wait == 5*time.Second {
		return seize(ctx, m.lock)
	}
	token, sent := m.Token(), m.Clock.Monotonic()
	err := m.set(ctx, m.key, token)
	if took := m.Clock.Monotonic() - sent; took >= 3*time.Second && took < 7*time.Second {
		m.note()
	}
	for range m.chats {
		if err := m.rdb.Exists(ctx, m.key+":settings").Err(); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	return m.lease(token, sent), nil
}

// note changes the one thing that is set.
func (m *moody) note() {
	switch {
	case m.code != 0:
		m.code = 503
	case m.phase != "":
		m.phase = "phase2"
	case m.open != nil:
		m.open["breaker"] = true
	case m.weight != 0:
		m.weight = 0.5
	default:
		m.wait = 5 * time.Second
	}
}

// TestProbedStates: what a lock does in its next cycle, because of a reading that no schedule has had, is found in whatever
// form it keeps that: even if nothing tells the state from a number that was measured, and if the cycle goes on for long.
func TestProbedStates(t *testing.T) {
	forms := map[string]moody{
		"code":     {code: 200},
		"text":     {phase: "phase1"},
		"map":      {open: map[string]bool{}},
		"fraction": {weight: 1},
		"span":     {wait: 100 * time.Millisecond},
		"long":     {phase: "phase1", chats: 24},
	}
	for i, name := range slices.Sorted(maps.Keys(forms)) {
		if !testenv.Sampled(i, len(forms)) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s := custom(name, "", steps{}).strategy
			made := s.New
			s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
				m := forms[name]
				m.lock, m.open = made(nodes, key, o).(*lock), maps.Clone(m.open)
				return &m
			}
			b := explore.Defaults(s)
			b.Codes, b.Faults = trace.Verdict{trace.FR}, explore.Budget{explore.Pause: 1}
			r, err := explore.Run(t.Context(), b, explore.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Find(trace.FR) == nil {
				t.Error(r.Summary())
			}
		})
	}
}
