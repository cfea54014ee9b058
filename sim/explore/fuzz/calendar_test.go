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

// untilEnd is a lock whose record lives for a TTL, or until the end of the hour or the day. The lease knows nothing of that.
func untilEnd(unit time.Duration) *subject {
	return custom("until-the-end-of-"+unit.String(), "A has the lock a second before the end, and B after it", steps{acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		token, sent, now := l.Token(), l.Clock.Monotonic(), l.Clock.Now()
		left := now.Truncate(unit).Add(unit).Sub(now)
		if err := l.setFor(ctx, l.key, token, min(l.TTL, left)); err != nil {
			return nil, err
		}
		return l.lease(token, sent), nil
	}})
}

// ofAnother is a lock whose record has the month or the year in it: one of another is taken for left behind.
func ofAnother(layout string) *subject {
	return custom("of-another-"+layout, "A has the lock a second before the end, and B takes it over after that", steps{acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
		token, sent := l.Token(), l.Clock.Monotonic()
		part := l.Clock.Now().UTC().Format(layout)
		lease := l.lease(part+" "+token, sent)
		err := l.set(ctx, l.key, lease.Token)
		if !refused(err) {
			return lease, err
		}
		if v, err := l.rdb.Get(ctx, l.key).Result(); err != nil || v[:len(part)] == part {
			return nil, strategies.ErrNotAcquired
		}
		return lease, l.rdb.Set(ctx, l.key, lease.Token, l.TTL).Err()
	}})
}

// TestCalendar: a lock that does otherwise around the end of an hour, a day, a month or a year alone isn't said to hold,
// as the engine shows two leases there.
func TestCalendar(t *testing.T) {
	for _, c := range []struct {
		of  *subject
		end time.Time
	}{
		{untilEnd(time.Hour), time.Date(1970, 1, 1, 1, 0, 0, 0, time.UTC)},
		{untilEnd(24 * time.Hour), time.Date(1970, 1, 2, 0, 0, 0, 0, time.UTC)},
		{ofAnother("2006-01"), time.Date(1970, 2, 1, 0, 0, 0, 0, time.UTC)},
		{ofAnother("2006"), time.Date(1971, 1, 1, 0, 0, 0, 0, time.UTC)},
	}[:testenv.Quick(1, 4)] {
		t.Run(c.of.name, func(t *testing.T) {
			s := setting{clients: 2, cycles: 1, ttl: 12 * time.Second, seed: 1, tries: 1}
			p := &player{subject: c.of}
			defer p.Close() //nolint:errcheck // nothing is written
			soon := c.end.Sub(trace.Epoch) - time.Second
			if err := p.play(s, []op{{Wait: soon}, {Who: 0, Count: 6}, {Wait: 2 * time.Second}, {Who: 1, Count: 12}}); err != nil {
				t.Fatal(err)
			}
			if !slices.Contains(p.Verdict(), trace.DG) {
				t.Errorf("the engine shows %s, and no DG", p.Verdict())
			}
			b := s.bounds(c.of)
			b.Faults, b.Codes = p.Cost().Faults, trace.Verdict{trace.DG}
			r, err := explore.Run(t.Context(), b, explore.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Holds(trace.DG) {
				t.Errorf("the search says %s", r.Summary())
			}
		})
	}
}
