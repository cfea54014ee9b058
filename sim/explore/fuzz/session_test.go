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
			defer p.close() //nolint:errcheck // nothing is written
			if err := p.play(s, []op{{who: 0, count: 14}, {wait: span - time.Second}, {who: 0, count: 6}, {wait: 1001 * time.Millisecond}, {who: 1, count: 6}}); err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(p.verdict(), trace.DG) {
				t.Errorf("the engine shows %s, and no DG", p.verdict())
			}
			b := s.bounds(of)
			b.Faults, b.Codes = p.spent().faults, trace.Verdict{trace.DG}
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
