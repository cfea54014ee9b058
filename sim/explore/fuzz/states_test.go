package fuzz

import (
	"context"
	"errors"
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

// slowed is a right lock except for what it does after a request that has taken 4.2 to 5.9 s.
type slowed struct {
	*lock
	code   int
	holder string
	now    *int
	asks   func(ctx context.Context, l *slowed, took time.Duration, err error) (seizes bool)
}

// poisoned is a variable of the package, which nobody changes.
var poisoned int

func (l *slowed) Acquire(ctx context.Context) (*strategies.Lease, error) {
	if l.code == 504 || l.now == &poisoned {
		return seize(ctx, l.lock)
	}
	token, sent := l.Token(), l.Clock.Monotonic()
	err := l.set(ctx, l.key, token)
	if l.asks(ctx, l, l.Clock.Monotonic()-sent, err) {
		return seize(ctx, l.lock)
	}
	if err != nil {
		return nil, err
	}
	return l.lease(token, sent), nil
}

// notes reports whether a request was slow, and has a status code for that.
func (l *slowed) notes(took time.Duration) bool {
	slow := took >= 4200*time.Millisecond && took < 5900*time.Millisecond
	if slow && l.code == 200 {
		l.code = 503
	}
	return slow
}

// TestProbedStatesLater: nor is it missed if the next cycle has to go another way than the first that there is: with a
// reading below the probe, with another's token, through another grant; or if one variable of the package takes the place of
// another that is like it.
func TestProbedStatesLater(t *testing.T) {
	refused := func(err error) bool { return errors.Is(err, strategies.ErrNotAcquired) }
	forms := map[string]func(ctx context.Context, l *slowed, took time.Duration, err error) bool{
		"quick again": func(_ context.Context, l *slowed, took time.Duration, err error) bool {
			seizes := l.code == 503 && took < time.Second && refused(err)
			if l.notes(took); seizes {
				l.code = 200
			}
			return seizes
		},
		"another's token": func(ctx context.Context, l *slowed, took time.Duration, err error) bool {
			if !refused(err) {
				return false
			}
			holder, gone := l.rdb.Get(ctx, l.key).Result()
			seizes := gone == nil && l.code == 503 && holder != l.holder
			if gone == nil && l.notes(took) {
				l.holder = holder
			}
			return seizes
		},
		"another grant": func(_ context.Context, l *slowed, took time.Duration, err error) bool {
			if l.code == 503 && err == nil {
				l.code = 504
			}
			l.notes(took)
			return false
		},
		"the package's": func(_ context.Context, l *slowed, took time.Duration, _ error) bool {
			if l.notes(took) {
				l.now = &poisoned
			}
			l.code = 200
			return false
		},
	}
	for i, name := range slices.Sorted(maps.Keys(forms)) {
		if !testenv.Sampled(i, len(forms)) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			s := custom(name, "", steps{}).strategy
			made := s.New
			s.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
				return &slowed{lock: made(nodes, key, o).(*lock), code: 200, now: new(int), asks: forms[name]}
			}
			b := explore.Defaults(s)
			b.Codes, b.Faults = trace.Verdict{trace.FR}, explore.Budget{explore.Pause: 1}
			if name == "another grant" { // within bounds it is seen
				b.Cycles, b.Faults = explore.Any, explore.Budget{explore.Pause: explore.Any}
			}
			r, err := explore.Run(t.Context(), b, explore.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Holds(trace.FR) || b.Cycles != explore.Any && r.Find(trace.FR) == nil {
				t.Error(r.Summary())
			}
		})
	}
}
