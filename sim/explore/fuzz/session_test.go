package fuzz

import (
	"context"
	"slices"
	"testing"
	"time"

	"lockstep/sim/explore"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// session is a lock whose record lives no longer than its client's session, which begins anew when it is over.
func session(span time.Duration) *subject {
	return custom("session-of-"+span.String(), "A has the lock a second before its session ends, and its record ends with that", steps{acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		token, sent := l.Token(), l.Clock.Monotonic()
		if l.until <= sent {
			l.until = sent + span
		}
		if err := l.setFor(ctx, l.key, token, min(l.TTL, l.until-sent)); err != nil {
			return nil, err
		}
		return l.lease(token, sent), nil
	}})
}

// TestSessionsEnd: what a lock does in the last TTL of a round span alone is found.
func TestSessionsEnd(t *testing.T) {
	testenv.Long(t)
	for _, span := range []time.Duration{10 * time.Minute, time.Hour} {
		of := session(span)
		t.Run(of.name, func(t *testing.T) {
			s := setting{clients: 2, cycles: 2, ttl: 12 * time.Second, seed: 1, tries: 1}
			p := &player{subject: of}
			defer p.Close() //nolint:errcheck // nothing is written
			if err := p.play(s, []op{{Who: 0, Count: 14}, {Wait: span - time.Second}, {Who: 0, Count: 6}, {Wait: 1001 * time.Millisecond}, {Who: 1, Count: 6}}); err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(p.Verdict(), trace.DG) {
				t.Errorf("the engine shows %s, and no DG", p.Verdict())
			}
			b := s.bounds(of)
			b.Faults, b.Codes = p.Cost().Faults, trace.Verdict{trace.DG}
			r, err := explore.Run(t.Context(), b, explore.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(r.Found, trace.DG) {
				t.Errorf("within %s the search says %s", b.Faults, r.Summary())
			}
		})
	}
}

// TestKeepsReadingsWhereCut: a lock that keeps a reading in a field, in a search that is cut off before it notices: the
// engine, whose clocks go on, isn't said to disagree.
func TestKeepsReadingsWhereCut(t *testing.T) {
	s := custom("breaker", "after an error it asks nobody for 5 s, and takes the lock", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			if now := l.Clock.Monotonic(); now < l.until {
				return &strategies.Lease{Token: "open", Deadline: now + time.Second}, nil
			}
			lease, err := take(ctx, l)
			if err != nil && !refused(err) {
				l.until = l.Clock.Monotonic() + 5*time.Second
			}
			return lease, err
		}})
	b := explore.Defaults(s.strategy)
	b.Clients, b.Cycles, b.TTL, b.Remembers, b.Codes = 3, 3, 3*time.Second, false, trace.Verdict{trace.DG}
	b.Faults = explore.Budget{explore.HoldRequest: 1}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, err := explore.Run(ctx, b, explore.Options{Progress: func(p explore.Progress) {
		if p.States > 100_000 {
			cancel()
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	if r.Complete {
		t.Error("it was complete")
	}
}
