package fuzz

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/explore"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// leftBelow reports whether the record has less than a span to live.
func leftBelow(ctx context.Context, l *lock, span time.Duration) (bool, error) {
	left, err := l.rdb.PTTL(ctx, l.key).Result()
	return left >= 0 && left < span, err
}

var endsSoon = redis.NewScript(`local left = redis.call("PTTL", KEYS[1]) if left >= 0 and left < 1500 then return 1 end return 0`)

// windows are locks that change their minds where few schedules come: late, or for a short
// span, or by a number that could be one of seconds.
var windows = []*subject{
	custom("third-try-looks", "each third cycle looks how long the record lives, and takes over what has less than 2 s", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			l.count = (l.count + 1) % 3
			return takesOver(func(ctx context.Context, l *lock) (bool, error) {
				if l.count != 0 {
					return false, nil
				}
				return leftBelow(ctx, l, 2*time.Second)
			})(ctx, l)
		}}),
	custom("looks-after-two-losses", "it looks how long the record lives after two lost replies, and takes over what has less than 2 s", steps{
		acquire: takesOver(func(ctx context.Context, l *lock) (bool, error) {
			for range 2 {
				if l.rdb.Ping(ctx).Err() == nil {
					return false, nil
				}
			}
			return leftBelow(ctx, l, 2*time.Second)
		})}),
	custom("patient-takeover", "it waits for 1.5 s when it is refused, and takes over what has less than 1 s left then", steps{
		acquire: takesOver(func(ctx context.Context, l *lock) (bool, error) {
			if err := l.Clock.Sleep(ctx, 1500*time.Millisecond); err != nil {
				return false, err
			}
			return leftBelow(ctx, l, time.Second)
		})}),
	custom("window-by-clock", "it takes over if a question took between 0.3 and 0.9 s", steps{
		acquire: takesOver(func(ctx context.Context, l *lock) (bool, error) {
			before := l.Clock.Monotonic()
			err := l.rdb.Ping(ctx).Err()
			took := l.Clock.Monotonic() - before
			return took >= 300*time.Millisecond && took <= 900*time.Millisecond, err
		})}),
	custom("script-says-soon", "a script answers 1 if less than 1.5 s are left, and it takes over", steps{
		acquire: takesOver(func(ctx context.Context, l *lock) (bool, error) {
			return endsSoon.Run(ctx, l.rdb, []string{l.key}).Bool()
		})}),
	custom("expires-in-0-seconds", "the rest of the lease is rounded down to 0 seconds, and EXPIRE deletes the record", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			lease, err := take(ctx, l)
			if err != nil {
				return nil, err
			}
			left := max(0, lease.Deadline-l.Clock.Monotonic())
			return lease, l.rdb.Do(ctx, "EXPIRE", l.key, int64(left/time.Second)).Err()
		}}),
}

// TestWindowsAreFound: within bounds that contain them the search finds what these locks do.
func TestWindowsAreFound(t *testing.T) {
	for i, s := range windows {
		if s.name == "looks-after-two-losses" || !testenv.Some(i+10, 12) { // its instant is two waits before an expiry, which reports say is left out
			continue
		}
		b := explore.Defaults(s.strategy)
		if b.Cycles = 1; s.name == "third-try-looks" {
			b.Cycles, b.Remembers = 3, false
		}
		b.Codes = trace.Verdict{trace.DG}
		b.Faults = explore.Budget{explore.Pause: 2}
		r, err := explore.Run(context.Background(), b, explore.Options{})
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if r.Find(trace.DG) == nil {
			t.Errorf("%s: %s", s.name, r.Summary())
		}
	}
}

// TestKeptWindows: what a reading does a cycle later is found by probes, too, if a lock keeps it in a field, or
// something that it has concluded from it, which matters after other readings alone.
func TestKeptWindows(t *testing.T) {
	testenv.Long(t)
	locks := []*subject{
		custom("slow-last-time", "whose last question took between 3 and 10 s asks no more, and takes the lock", steps{
			acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
				if took := l.until; took > 3*time.Second && took < 10*time.Second {
					l.until = 0
					return seize(ctx, l)
				}
				began := l.Clock.Monotonic()
				lease, err := take(ctx, l)
				l.until = l.Clock.Monotonic() - began
				return lease, err
			}}),
		custom("left-twice", "takes over if 2 to 4 s are left, and 6.5 to 8.5 s were at the refusal before", steps{
			acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
				token := l.Token()
				if won, err := l.rdb.SetNX(ctx, l.key, token, l.TTL).Result(); won || err != nil {
					return &strategies.Lease{Token: token}, err
				}
				left, err := l.rdb.PTTL(ctx, l.key).Result()
				if err == nil && l.pending && left > 2*time.Second && left < 4*time.Second {
					return seize(ctx, l)
				}
				l.pending = left > 6500*time.Millisecond && left < 8500*time.Millisecond
				return nil, strategies.ErrNotAcquired
			}}),
	}
	for _, s := range locks {
		for _, remembers := range []bool{false, true} {
			if remembers && !testenv.Whole() {
				continue
			}
			b := explore.Defaults(s.strategy)
			b.Remembers, b.Codes, b.Faults = remembers, trace.Verdict{trace.FR}, explore.Budget{explore.Pause: 1}
			r, err := explore.Run(t.Context(), b, explore.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if r.Find(trace.FR) == nil {
				t.Errorf("%s, remembers %t: %s", s.name, remembers, r.Summary())
			}
		}
	}
}

// TestWindowsInClosures: so is what it does if a closure keeps it, where no field shows that.
func TestWindowsInClosures(t *testing.T) {
	testenv.Long(t)
	s := custom("slow-last-time-captured", "whose last question took between 3 and 10 s asks no more, and takes the lock", steps{})
	make := s.strategy.New
	s.strategy.New = func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		last := time.Duration(0)
		l := make(nodes, key, o).(*lock)
		l.acquire = func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			if last > 3*time.Second && last < 10*time.Second {
				last = 0
				return seize(ctx, l)
			}
			began := l.Clock.Monotonic()
			lease, err := take(ctx, l)
			last = l.Clock.Monotonic() - began
			return lease, err
		}
		return l
	}
	b := explore.Defaults(s.strategy)
	b.Remembers, b.Codes, b.Faults = true, trace.Verdict{trace.FR}, explore.Budget{explore.Pause: 1}
	r, err := explore.Run(t.Context(), b, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Find(trace.FR) == nil {
		t.Error(r.Summary())
	}
}

// TestWindowsDontClose: a search without bounds doesn't claim of such a lock what small schedules
// show, nor what the spans do that its schedules have.
func TestWindowsDontClose(t *testing.T) {
	for i, s := range windows {
		if !testenv.Some(i+10, 12) { // the quickest
			continue
		}
		b := explore.Defaults(s.strategy)
		b.Cycles, b.Remembers, b.Codes = explore.Any, false, trace.Verdict{trace.DG, trace.FR}
		b.TTL, b.Faults = 3*time.Second, explore.Budget{explore.Pause: explore.Any, explore.ReplyLost: explore.Any}
		doesntClose(t, s, b)
	}
}

// doesntClose fails if a search without bounds says that a lock holds, or if it is refused for something else than that it
// needs a bound on cycles.
func doesntClose(t *testing.T, s *subject, b explore.Bounds) {
	t.Helper()
	r, err := explore.Run(t.Context(), b, explore.Options{Memory: 2 << 30})
	switch {
	case err != nil && !strings.Contains(err.Error(), "needs a bound on cycles"):
		t.Errorf("%s: %v", s.name, err)
	case err == nil && r.Answer() == explore.HoldsAlways:
		t.Errorf("%s: %s", s.name, r.Summary())
	}
}

// findsForeignRelease fails unless a search finds FR within bounds, and unless one of the same lock without bounds, in which
// clients crash and pause, says of nothing that it holds.
func findsForeignRelease(t *testing.T, s *subject, b explore.Bounds) {
	t.Helper()
	r, err := explore.Run(t.Context(), b, explore.Options{})
	if err != nil {
		t.Fatalf("%s: %v", s.name, err)
	}
	if r.Find(trace.FR) == nil {
		t.Errorf("%s: %s", s.name, r.Summary())
	}
	b.Cycles, b.Remembers = explore.Any, false
	b.Faults = explore.Budget{explore.Pause: explore.Any, explore.Crash: explore.Any}
	doesntClose(t, s, b)
}

// TestRestlessIsNotDecided: a lock that changes its mind every few seconds, for as long as clocks
// run, has more instants than a search can stop at. The violation is 5 s after the grant.
func TestRestlessIsNotDecided(t *testing.T) {
	s := custom("takes-over-at-4-to-7", "from 4 to 7 s after each tenth second it takes over", steps{
		acquire: takesOver(func(_ context.Context, l *lock) (bool, error) {
			ms := l.Clock.Now().UnixMilli() % 10_000
			return ms >= 4000 && ms < 7000, nil
		})})
	b := explore.Defaults(s.strategy)
	b.Cycles, b.Codes, b.Faults = 1, trace.Verdict{trace.DG}, explore.Budget{explore.Pause: 1}
	r, err := explore.Run(context.Background(), b, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Find(trace.DG) == nil && (r.Finding(trace.DG).Answer != explore.NotDecided || !strings.Contains(r.Why, "than a search can stop at")) {
		t.Errorf("%s: %s", r.Finding(trace.DG).Answer, r.Why)
	}
}

// TestStampsInOtherDigits: a stamp that is written in base 36 is another text at each millisecond, in no way that the
// search understands. That is said at once, and what is violated all the same is looked for.
func TestStampsInOtherDigits(t *testing.T) {
	s := custom("base-36", "stamps its record in base 36, and takes over what is 5 to 8 s old", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			token := l.Token() + "|" + strconv.FormatInt(l.Clock.Now().UnixMilli(), 36)
			if won, err := l.rdb.SetNX(ctx, l.key, token, l.TTL).Result(); won || err != nil {
				return &strategies.Lease{Token: token}, err
			}
			_, stamp, _ := strings.Cut(l.rdb.Get(ctx, l.key).Val(), "|")
			at, err := strconv.ParseInt(stamp, 36, 64)
			if age := l.Clock.Now().Sub(time.UnixMilli(at)); err != nil || age < 5*time.Second || age > 8*time.Second {
				return nil, strategies.ErrNotAcquired
			}
			return &strategies.Lease{Token: token}, l.rdb.Set(ctx, l.key, token, l.TTL).Err()
		}})
	b := explore.Defaults(s.strategy)
	b.Cycles, b.Codes, b.Faults = 1, trace.Verdict{trace.FR}, explore.Budget{}
	r, err := explore.Run(t.Context(), b, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	const most = 100_000 // of operations: to bisect to each value takes far more
	if r.Find(trace.FR) == nil && (r.Finding(trace.FR).Answer != explore.NotDecided || !strings.Contains(r.Why, "windows_test.go:") || !strings.Contains(r.Why, "than a search can stop at")) || r.Operations > most {
		t.Errorf("%s: %s; %d operations", r.Finding(trace.FR).Answer, r.Why, r.Operations)
	}
	t.Log(r.Finding(trace.FR).Answer, r.Why)
}

// betweenReadings is a lock that reads true time before and after it has asked, as Redlock does in
// Node, and is sure of the lock unless it took so long that the lease is over. What it makes of that
// is up to late.
func betweenReadings(name string, late func(ctx context.Context, l *lock, lease *strategies.Lease) (*strategies.Lease, error)) *subject {
	return custom(name, "it compares two readings of its wall clock", steps{
		acquire: func(ctx context.Context, l *lock) (*strategies.Lease, error) {
			start, lease := l.Clock.Now(), &strategies.Lease{Token: l.Token()}
			if err := l.set(ctx, l.key, lease.Token); err != nil || l.Clock.Now().Sub(start) < l.TTL*99/100 {
				return lease, err
			}
			return late(ctx, l, lease)
		}})
}

// TestSpanBetweenReadings: a threshold of a reading that is one because of a later reading is the span
// between them. Taken for instants, there was one more so long before each of these, and nothing was
// decided.
func TestSpanBetweenReadings(t *testing.T) {
	for _, tc := range []struct {
		*subject
		found trace.Verdict
	}{
		{betweenReadings("gives-up-late", func(context.Context, *lock, *strategies.Lease) (*strategies.Lease, error) {
			return nil, strategies.ErrNotAcquired
		}), nil},
		{betweenReadings("takes-over-late", func(ctx context.Context, l *lock, lease *strategies.Lease) (*strategies.Lease, error) {
			return lease, l.rdb.Set(ctx, l.key, lease.Token, l.TTL).Err()
		}), trace.Verdict{trace.DG, trace.FR}},
	} {
		if tc.found == nil && !testenv.CI() {
			continue // for time: the other one has the same spans
		}
		b := explore.Defaults(tc.strategy)
		b.Cycles, b.Codes, b.Faults = 1, trace.Verdict{trace.DG, trace.FR}, explore.Budget{explore.Pause: 1}
		r, err := explore.Run(t.Context(), b, explore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !r.Complete || !slices.Equal(r.Found, tc.found) {
			t.Errorf("%s shows %s, and was to show %s: %s", tc.name, r.Found, tc.found, r.Summary())
		}
	}
}

// TestLongTTLsAreProbed: a reply to TTL is tried at each of the first seconds, also of a TTL of more than
// a hundred. No other instant is so near to the end that such a lock takes over.
func TestLongTTLsAreProbed(t *testing.T) {
	s := custom("takeover-at-ttl-2", "B takes over what has 2 s left, as TTL rounds it", steps{
		acquire: takesOver(func(ctx context.Context, l *lock) (bool, error) {
			left, err := l.rdb.TTL(ctx, l.key).Result()
			return left == 2*time.Second, err
		})}).strategy
	b := explore.Defaults(s)
	b.Cycles, b.TTL = 1, 2*time.Minute
	b.Codes, b.Faults = trace.Verdict{trace.DG}, explore.Budget{explore.Pause: 1}
	r, err := explore.Run(t.Context(), b, explore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Find(trace.DG) == nil {
		t.Error(r.Summary())
	}
}

// TestShortTTLsAreProbed: with a TTL of a second, no reply to TTL is but 0 or 1. The search stops where one turns
// into the other, half a second before the end.
func TestShortTTLsAreProbed(t *testing.T) {
	i := slices.IndexFunc(waits, func(s *subject) bool { return s.name == "takeover-at-ttl-0" })
	for _, ttl := range []time.Duration{900 * time.Millisecond, 1500 * time.Millisecond} {
		b := explore.Defaults(waits[i].strategy)
		b.Cycles, b.TTL = 1, ttl
		b.Codes, b.Faults = trace.Verdict{trace.DG, trace.FR}, explore.Budget{explore.Pause: 1}
		r, err := explore.Run(t.Context(), b, explore.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(r.Found, b.Codes) {
			t.Errorf("%s: %s", ttl, r.Summary())
		}
	}
}
