package fuzz

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"lockstep/sim/explore"
	"lockstep/sim/fault"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// looksThen is a lock's step that looks whether the record is its own, and then sets its life
// whoever's it is.
func looksThen(life time.Duration) release {
	return func(ctx context.Context, l *lock, lease *strategies.Lease) error {
		holder, err := l.rdb.Get(ctx, l.key).Result()
		if err != nil || holder != lease.Token {
			return errors.Join(err, strategies.ErrNotHeld)
		}
		return l.rdb.PExpire(ctx, l.key, life).Err()
	}
}

// Copies of a request arrive after the process that sent it has crashed, or has done all that it
// had to do. Without a pause nobody else is in their way: time passes while no other client acts.
func TestCopiesOutliveClients(t *testing.T) {
	for _, c := range []struct {
		lock   *subject
		faults explore.Budget
		extend bool
		begin  []op
	}{
		{custom("copy-after-crash", "A's PEXPIRE comes again when A has crashed, its record is gone, and B has the lock", steps{
			extend: looksThen(24 * time.Second),
			release: func(ctx context.Context, l *lock, lease *strategies.Lease) error {
				for range 5 { // of one that lives, no more than the last four requests come again
					if err := l.rdb.Ping(ctx).Err(); err != nil {
						return err
					}
				}
				return give(ctx, l, lease)
			}}),
			explore.Budget{explore.Crash: 1, explore.Duplicate: 1}, true, []op{{Who: 0, Count: 13}, {Faults: []fault.Fault{fault.Crash{Client: "A"}}}}},
		{custom("copy-after-end", "the last command of A's last cycle comes again when its record is gone, and B has the lock", steps{
			release: looksThen(time.Second)}),
			explore.Budget{explore.Duplicate: 1}, false, []op{{Who: 0, Count: 30}}},
	} {
		at := setting{clients: 2, cycles: 1, ttl: 12 * time.Second, seed: 1, tries: 1, extend: c.extend}
		p := &player{subject: c.lock}
		ops := append(c.begin, op{Wait: 30 * time.Second}, op{Who: 1, Count: 5}, op{Faults: []fault.Fault{fault.Duplicate{Client: "A"}}})
		shows, cost := p.shows(at, ops, trace.FR), p.Cost()
		if !shows || cost.Faults != c.faults {
			t.Errorf("%s: the engine shows %s by %s", c.lock.name, p.Verdict(), p.Line())
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		if a := (&searcher{answers: map[string]answer{}, limit: 400_000}).covers(c.lock, at, &cost); a.err != nil || !slices.Contains(a.found, trace.FR) {
			t.Errorf("%s: the search finds %s within %s, %v", c.lock.name, a.found, &cost, a.err)
		}
	}
}
