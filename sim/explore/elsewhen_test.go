package explore

import (
	"context"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"

	"lockstep/sim/explore/space"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// afternoons lets a record live for less time in the afternoon.
func afternoons(ctx context.Context, l *timedLock) error {
	ttl := l.TTL
	if l.Clock.Now().UTC().Hour() >= 12 {
		ttl /= 2
	}
	won, err := l.rdb.SetNX(ctx, l.key, l.Token(), ttl).Result()
	if err == nil && !won {
		err = strategies.ErrNotAcquired
	}
	return err
}

// TestElsewhen names the first of the other times at which a lock does otherwise, however many workers search, and
// finds nothing of a lock to which the time of day doesn't matter. Of a lock that may keep variables in
// closures the code never runs twice at once.
func TestElsewhen(t *testing.T) {
	for _, remembers := range []bool{false, true} {
		for workers := 1; workers <= 4; workers++ {
			if !testenv.Some(workers, 3) {
				continue
			}
			var running, twice atomic.Int64
			alone := func(ctx context.Context, l *timedLock) error {
				if running.Add(1) > 1 {
					twice.Add(1)
				}
				runtime.Gosched()
				running.Add(-1)
				return serverTime(ctx, l)
			}
			for _, of := range []struct {
				lock strategies.Strategy
				want string
			}{{timed(afternoons), "schedules that begin 13h31m0s later have other situations"}, {timed(alone), ""}} {
				if !testenv.CI() && remembers == (of.want != "") {
					continue // each lock in one of the two ways
				}
				b := Defaults(of.lock)
				b.Remembers = remembers
				m, err := space.NewModel(b, true)
				if err != nil {
					t.Fatal(err)
				}
				s := &search{Model: m, opt: Options{Workers: workers}}
				differs, err := s.elsewhen(t.Context(), m.Elsewhen(), workers, nil)
				if err != nil || !strings.HasSuffix(differs, of.want) || (differs == "") != (of.want == "") {
					t.Errorf("%d workers, remembers %t: %q, %v, and not %q", workers, remembers, differs, err, of.want)
				}
				cut, stop := context.WithCancel(t.Context())
				stop()
				if differs, err := s.elsewhen(cut, m.Elsewhen(), workers, nil); err != nil || !strings.HasSuffix(differs, "was cut off") {
					t.Errorf("a search that was cut off says %q, %v", differs, err)
				}
				if err := m.Close(); err != nil {
					t.Error(err)
				}
			}
			if n := twice.Load(); remembers && n > 0 {
				t.Errorf("%d workers have run the code at once %d times", workers, n)
			}
		}
	}
}

// TestLooksAhead: what was begun while it wasn't known whether a round is the last comes to the same as what begins later, and a
// lock has none of it whose code must not run twice at the same time, or that reads no true time.
func TestLooksAhead(t *testing.T) {
	for _, c := range []struct {
		lock             strategies.Strategy
		timed, remembers bool
		ahead            bool
		want             string
	}{
		{timed(afternoons), true, false, true, "schedules that begin 13h31m0s later have other situations"},
		{timed(serverTime), true, false, true, ""},
		{timed(serverTime), true, true, false, ""},
		{strategy(t, "setpx-lua"), false, false, false, ""},
	} {
		b := Defaults(c.lock)
		b.Remembers = c.remembers
		m, err := space.NewModel(b, c.timed)
		if err != nil {
			t.Fatal(err)
		}
		for _, givenUp := range []bool{false, true} {
			s := &search{Model: m, opt: Options{Workers: 2}, oneTime: c.timed}
			s.lookAhead(t.Context())
			if (s.ahead != nil) != c.ahead {
				t.Errorf("%s, remembers %t: begun before it must, %t", c.lock.Name, c.remembers, s.ahead != nil)
			}
			if givenUp {
				s.giveUp()
			}
			differs, done := s.elsewhenBeside(t.Context())
			if text, err := differs(); err != nil || !strings.HasSuffix(text, c.want) || (text == "") != (c.want == "") {
				t.Errorf("%s, given up %t: %q, %v, and not %q", c.lock.Name, givenUp, text, err, c.want)
			}
			done()
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestTouchingCutOff: if there is no time to search with longer leases, nothing that needs it is said to hold.
func TestTouchingCutOff(t *testing.T) {
	lock, _ := strategies.Get("setpx-lua")
	b := Defaults(lock)
	b.Codes, b.Faults, b.Cycles = trace.Verdict{trace.DG, trace.FR}, Budget{Pause: 1}, 1
	err := withModel(b, func(m *space.Model) error {
		s, err := rounds(t.Context(), m, Options{})
		if err != nil {
			return err
		}
		r := &Result{Bounds: m.Bounds, Complete: true, Vacuity: Vacuity{Granted: true, Reacquired: true}}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := s.touching(ctx, r); err != nil {
			return err
		}
		if r.Complete || r.Holds(trace.DG) || !strings.Contains(r.Why, "cut off") {
			t.Errorf("%t, %q", r.Complete, r.Why)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
