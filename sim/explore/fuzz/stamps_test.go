package fuzz

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore"
	"lockstep/sim/testenv"
	"lockstep/strategies"
)

// oddity is what is drawn of a lock whose record has a stamp, as those of GETSET have. The stamp says
// when it falls due, by its author's clock.
type oddity struct {
	unit    time.Duration // in which stamps and clocks are compared
	due     time.Duration // how long after the clock was read the stamp falls due
	or      bool          // and not only after that
	expires bool          // the record also has an expiry
	swaps   uint8         // how it takes over: by GETSET; by GETSET, and looks at what it got; by comparing and swapping in a script
	gives   uint8         // how it releases: whatever there is; unless its own stamp is due; unless TTL, or PTTL, says so
	below   time.Duration // what they say, then
	bounded bool          // the lease ends when the stamp falls due
}

func drawOddity(r *rand.Rand) oddity {
	one := func(list ...time.Duration) time.Duration { return list[r.IntN(len(list))] }
	return oddity{unit: one(time.Millisecond, time.Second, time.Second), or: r.IntN(2) == 0, expires: r.IntN(3) == 0, swaps: uint8(r.IntN(3)), gives: uint8(r.IntN(4)), bounded: r.IntN(2) == 0,
		due:   one(700*time.Millisecond, 5*time.Second, 7*time.Second, 11999*time.Millisecond, 12*time.Second, 13*time.Second, 14500*time.Millisecond, 17*time.Second, 28*time.Second, 61*time.Second, 20*time.Minute, 25*time.Hour),
		below: one(0, time.Second, 2*time.Second, 3*time.Second, 5*time.Second)}
}

func (o oddity) String() string {
	return fmt.Sprintf("unit=%s due=%s or=%t expires=%t swaps=%d gives=%d below=%s bounded=%t", o.unit, o.due, o.or, o.expires, o.swaps, o.gives, o.below, o.bounded)
}

func (o oddity) now(l *lock) int64 { return l.Clock.Now().UnixMilli() / o.unit.Milliseconds() }

func (o oddity) over(stamp, now int64) bool { return stamp < now || o.or && stamp == now }

// overAt reports whether the stamp in a reply is due, and what it is. None is due.
func (o oddity) overAt(l *lock, reply *redis.StringCmd) (bool, string, error) {
	text, err := reply.Result()
	if errors.Is(err, redis.Nil) {
		return true, "", nil
	}
	if err != nil {
		return false, "", err
	}
	stamp, err := strconv.ParseInt(text, 10, 64)
	return o.over(stamp, o.now(l)), text, err
}

func (o oddity) acquire(ctx context.Context, l *lock) (*strategies.Lease, error) {
	sent := l.Clock.Monotonic()
	stamp := strconv.FormatInt(l.Clock.Now().Add(o.due).UnixMilli()/o.unit.Milliseconds(), 10)
	lease := &strategies.Lease{Token: stamp}
	if o.bounded {
		lease.Deadline = sent + o.due
	}
	won, err := l.rdb.SetNX(ctx, l.key, stamp, 0).Result()
	if err != nil {
		return nil, err
	}
	if !won {
		if won, err = o.takeOver(ctx, l, stamp); err != nil {
			return nil, err
		}
		if !won {
			return nil, strategies.ErrNotAcquired
		}
	}
	if o.expires {
		return lease, l.rdb.Expire(ctx, l.key, 12*time.Second).Err()
	}
	return lease, nil
}

func (o oddity) takeOver(ctx context.Context, l *lock, stamp string) (bool, error) {
	due, read, err := o.overAt(l, l.rdb.Get(ctx, l.key))
	if err != nil || !due {
		return false, err
	}
	switch o.swaps {
	case 0:
		err := l.rdb.Do(ctx, "GETSET", l.key, stamp).Err()
		if errors.Is(err, redis.Nil) {
			err = nil
		}
		return true, err
	case 1:
		//lint:ignore SA1019 GETSET, deprecated or not, is what these locks are about
		due, _, err := o.overAt(l, l.rdb.GetSet(ctx, l.key, stamp))
		return due, err
	}
	n, err := compareSwap.Run(ctx, l.rdb, []string{l.key}, read, stamp).Int()
	return n == 1, err
}

func (o oddity) release(ctx context.Context, l *lock, lease *strategies.Lease) error {
	left := time.Duration(-1)
	var err error
	switch o.gives {
	case 1:
		stamp, _ := strconv.ParseInt(lease.Token, 10, 64)
		if o.over(stamp, o.now(l)) {
			return strategies.ErrNotHeld
		}
	case 2:
		left, err = l.rdb.TTL(ctx, l.key).Result()
	case 3:
		left, err = l.rdb.PTTL(ctx, l.key).Result()
	}
	if err != nil {
		return err
	}
	if left >= 0 && left <= o.below {
		return strategies.ErrNotHeld
	}
	return del(ctx, l, lease)
}

// TestOddStamps: random schedules of locks that take over at odd ages of a stamp show nothing that
// the search doesn't find.
func TestOddStamps(t *testing.T) {
	testenv.LongRaced(t)
	t.Logf("-seed %d", *seed)
	for i := range testenv.Count(1, 60) {
		number := *seed*100_000 + uint64(i)
		odd := drawOddity(rand.New(rand.NewPCG(number, 27)))
		s := custom(fmt.Sprintf("odd-%d", number), odd.String(), steps{acquire: odd.acquire, release: odd.release})
		s.spans = []time.Duration{odd.due, odd.due + time.Second, odd.due - time.Second, 12 * time.Second, 12*time.Second - odd.below, time.Millisecond}
		t.Run(s.name, func(t *testing.T) {
			f := newFuzzer(s, number)
			f.Kinds = &explore.Budget{explore.Crash: 1}
			defer f.Close() //nolint:errcheck // nothing is written
			for range 20 * max(1, min(*runs, 30)) {
				if err := f.run(); err != nil {
					t.Fatal(err)
				}
			}
			t.Logf("%s: %d runs, %d violations, %d searches, %d too big", odd, f.counts.runs, f.counts.violations, len(f.answers), f.counts.tooBig)
			f.report(t)
		})
	}
}

// TestOddStampsAreFound: what a search of such locks finds within small bounds, and whether it decides
// the rest. The first three change their minds at a fraction of a second by their stamps, and grant
// twice if schedules begin at another: a search that doesn't stop where a stamp falls due says of
// them that they don't. Of the last two nothing was decided as long as each second at which they
// change their minds was an instant.
func TestOddStampsAreFound(t *testing.T) {
	testenv.Long(t)
	for _, tc := range []struct {
		number uint64
		found  string
		all    bool // that there is
	}{
		{770013, "SW OV FR", false}, {770016, "SW OV FR", false}, {770035, "SW OV FR", false},
		{770021, "SW OV FR", true}, {770031, "SW DG OV FR", true},
	} {
		if n := tc.number; !testenv.Whole() && n != 770035 && n != 770021 {
			continue // for time: 770035 is like the others that leave something open, 770021 like the other
		}
		odd := drawOddity(rand.New(rand.NewPCG(tc.number, 27)))
		b := explore.Defaults(custom("odd", odd.String(), steps{acquire: odd.acquire, release: odd.release}).strategy)
		b.Cycles = 1
		r, err := explore.Run(t.Context(), b, explore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.Complete != tc.all || r.Found.String() != tc.found {
			t.Errorf("%s: %s, complete %t (%s), and was to show %s", odd, r.Found, r.Complete, r.Why, tc.found)
		}
	}
}
