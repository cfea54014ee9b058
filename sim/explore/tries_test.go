package explore

import (
	"context"
	"strings"
	"testing"
	"time"

	"lockstep/sim/explore/space"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// retrying is the correct lock, which asks as often as it is told. Its second try in a cycle
// does something before.
func retrying(second func(context.Context, *mutant) error) strategies.Strategy {
	m := rightMutant()
	m.acquire = func(ctx context.Context, m *mutant) (*strategies.Lease, error) {
		for n := 1; ; n++ {
			if n == 2 {
				if err := second(ctx, m); err != nil {
					return nil, err
				}
			}
			l, err := rightAcquire(ctx, m)
			if err != strategies.ErrNotAcquired || n == m.Retry.Tries { //nolint:errorlint // it is never wrapped here
				return l, err
			}
			if err := m.Clock.Sleep(ctx, m.Retry.Delay+m.jitter()); err != nil {
				return nil, err
			}
		}
	}
	s := mutantStrategy(m, 1)
	s.Retry = strategies.Retry{Delay: 200 * time.Millisecond, Jitter: 100 * time.Millisecond}
	return s
}

// jitter draws what a delay is longer. A lock that tries once has none.
func (m *mutant) jitter() time.Duration {
	if m.Retry.Jitter == 0 {
		return 0
	}
	return m.Random(m.Retry.Jitter)
}

// TestTries: a lock whose second try steals is found with two tries, and not with one; and a
// schedule that shows it replays with its retries.
func TestTries(t *testing.T) {
	s := retrying(func(ctx context.Context, m *mutant) error { return m.nodes[0].Del(ctx, m.key).Err() })
	for tries := range 3 {
		r, err := searchDefaults(t, s, func(b *Bounds) { b.Cycles, b.Tries, b.Codes = 1, tries, trace.Verdict{trace.DG, trace.FR} })
		if err != nil || !r.Complete {
			t.Fatalf("%d tries: %+v, %v", tries, r, err)
		}
		v, steals := r.Find(trace.DG), tries == 2
		if (v != nil) != steals || r.Holds(trace.DG) == steals {
			t.Errorf("%d tries: found %s", tries, r.Found)
		}
		if !steals {
			continue
		}
		again(t, s, v)
		// A could go on while B waits for its second try: that is a pause.
		if text := v.Trace.Schedule; !strings.Contains(text, ",retry=2/200ms/100ms,") || len(v.Faults) != 1 || v.Faults[0].Kind != Pause {
			t.Errorf("faults %+v: %s", v.Faults, text)
		}
	}
}

// TestTriesOfTheRightLock: to ask again breaks nothing in a lock that is right.
func TestTriesOfTheRightLock(t *testing.T) {
	testenv.Long(t)
	b := Defaults(strategy(t, "setpx-lua"))
	b.Cycles, b.Tries, b.Codes = 1, 3, trace.Verdict{trace.DG, trace.FR, trace.PD}
	r, err := Run(context.Background(), b, Options{})
	if err != nil || !r.Complete || len(r.Found) > 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	t.Logf("%d states", r.States)
}

// TestFaithfulRetrying: the search agrees with the engine on locks that ask again, with jitter
// and without.
func TestFaithfulRetrying(t *testing.T) {
	for _, name := range []string{"setpx-lua", "extend-unchecked", "fenced", "redlock"} {
		b := Defaults(strategy(t, name))
		b.Tries, b.Faults = 3, Budget{1, 3, 1, 1, 1, 1, 1, 1, Evict: 1}
		expectAgreement(t, b, 200)
	}
}

// No caller ends a call by its context, neither in a search nor in the engine, and the bounds say so: a lock that
// deletes the record, whoever's that is, once its context has ended holds otherwise, and nothing tells why.
func TestEndedContextsAreStated(t *testing.T) {
	b := Defaults(retrying(nil))
	if !strings.Contains(space.Outside(&b), ", callers that end a call by its context") {
		t.Error(space.Outside(&b))
	}
}

// The bounds name those who try more often as left out.
func TestTriesAreStated(t *testing.T) {
	b := Defaults(retrying(nil))
	if !strings.HasSuffix(space.Outside(&b), ", callers that ask again when they are refused") {
		t.Error(space.Outside(&b))
	}
	b.Tries = 2
	if !strings.HasSuffix(space.Outside(&b), ", callers that ask again when they were refused 2 times") {
		t.Error(space.Outside(&b))
	}
}
