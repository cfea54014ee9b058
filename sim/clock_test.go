package sim

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"lockstep/sim/fault"
	"lockstep/sim/process"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// rates are those of clocks that are right, wrong, and hardly wrong. Neither
// 1.001 nor 0.999 is a binary fraction.
var rates = []float64{1, 0.5, 2, 1.001, 0.999, 0.1, 10, 1.0 / 3}

// sleeper sleeps for each of the given times instead of acquiring anything, and
// reads both its clocks in between.
func sleeper(naps ...time.Duration) strategies.Strategy {
	return toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		for _, d := range naps {
			l.Clock.Monotonic()
			if err := l.Clock.Sleep(ctx, d); err != nil {
				return nil, err
			}
			l.Clock.Monotonic()
		}
		return nil, strategies.ErrNotAcquired
	}, toyKeep)
}

// TestSleepByOnesOwnClock: a sleep is over at the first instant at which the
// sleeper's own clock has counted it.
func TestSleepByOnesOwnClock(t *testing.T) {
	naps := []time.Duration{time.Nanosecond, 3, 7 * time.Microsecond, time.Millisecond, 1234567, time.Second, 10 * time.Second, 24 * time.Hour}
	for _, rate := range rates {
		cfg := configOf(sleeper(naps...), "A")
		cfg.Clients[0].Rate = rate
		w := newWorld(t, cfg)
		run(t, w)
		mono := w.clients[0].Mono
		var began time.Duration // on its own clock
		nap := 0
		for _, e := range w.trace.Events {
			switch e.Kind {
			case trace.KindSleep:
				began = mono.Read(e.At)
			case trace.KindWake:
				d := naps[nap]
				if mono.Read(e.At)-began < d || mono.Read(e.At-1)-began >= d {
					t.Errorf("at rate %g, a sleep of %s ends when the clock has counted %s; a nanosecond before, %s",
						rate, d, mono.Read(e.At)-began, mono.Read(e.At-1)-began)
				}
				nap++
			}
		}
		if nap != len(naps) {
			t.Errorf("at rate %g there were %d of %d naps", rate, nap, len(naps))
		}
	}
}

// TestFastAndSlowClocks is the same in round numbers.
func TestFastAndSlowClocks(t *testing.T) {
	cfg := configOf(sleeper(time.Second), "Right", "Slow", "Fast")
	cfg.Clients[1].Rate, cfg.Clients[2].Rate = 0.5, 2
	w := newWorld(t, cfg)
	run(t, w)
	expectStory(t, w, `
		0   Right reads its monotonic clock: 100.000000 since boot
		0   Slow  reads its monotonic clock: 200.000000 since boot
		0   Fast  reads its monotonic clock: 300.000000 since boot
		0.5 Fast  wakes up
		0.5 Fast  reads its monotonic clock: 301.000000 since boot
		1   Right wakes up
		1   Right reads its monotonic clock: 101.000000 since boot
		2   Slow  wakes up
		2   Slow  reads its monotonic clock: 201.000000 since boot`, trace.KindClock, trace.KindWake)
}

// TestSleepOfNoTime is no event and costs none; a sleep under a context that is
// over ends at once.
func TestSleepOfNoTime(t *testing.T) {
	over, cancel := context.WithCancel(context.Background())
	cancel()
	s := toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		if err := l.Clock.Sleep(ctx, 0); err != nil {
			return nil, err
		}
		if err := l.Clock.Sleep(ctx, -time.Second); err != nil {
			return nil, err
		}
		return nil, l.Clock.Sleep(over, time.Second)
	}, toyKeep)
	w := newWorld(t, configOf(s, "A"))
	run(t, w)
	expectStory(t, w, "0 A wants the lock\n0 A gives up: context canceled\n0 A has finished")
}

// TestClockInverse: when is the first instant at which a clock reads at least
// what is asked, at every rate, near and far.
func TestClockInverse(t *testing.T) {
	const seed = 1
	rng := rand.New(rand.NewPCG(seed, 0))
	for range 20_000 {
		c := process.MonoClock{Origin: 100 * time.Second, Rate: rates[rng.IntN(len(rates))]}
		d := time.Duration(rng.Int64N(int64(1) << (1 + rng.IntN(55)))) // up to a year
		at := c.When(c.Origin + d)
		if c.Read(at) < c.Origin+d || at > 0 && c.Read(at-1) >= c.Origin+d {
			t.Fatalf("seed %d: at rate %g the clock reads +%d at %d, and %d a nanosecond before; asked for +%d", seed, c.Rate, c.Read(at)-c.Origin, at, c.Read(at-1)-c.Origin, d)
		}
	}
}

// TestSleepForEver: a span that no number holds is one that doesn't end within
// any run's bound, at any rate.
func TestSleepForEver(t *testing.T) {
	for _, rate := range rates {
		for _, d := range []time.Duration{math.MaxInt64, math.MaxInt64 - 1, 20 * 365 * 24 * time.Hour, 280 * 365 * 24 * time.Hour} {
			cfg := configOf(sleeper(time.Second, d), "A")
			cfg.Clients[0].Rate = rate
			w := newWorld(t, cfg)
			for w.Step(SetOf(0)) {
			}
			enough := float64(d)/rate < float64(trace.MaxTime)
			if woke := count(w, trace.KindWake) == 2; woke != enough || (w.Err() == nil) != enough {
				t.Errorf("at rate %g, a sleep of %s: woke up %v, at %s, error %v", rate, d, woke, w.Now(), w.Err())
			}
		}
	}
}

// TestPausedClocksGoOn: a pause stops a process, not its clocks.
func TestPausedClocksGoOn(t *testing.T) {
	s := toy(func(_ context.Context, l *toyLock) (*strategies.Lease, error) {
		for range 2 {
			l.Clock.Now()
			l.Clock.Monotonic()
		}
		return nil, strategies.ErrNotAcquired
	}, toyKeep)
	w := newWorld(t, configOf(s, "A"))
	for range 4 { // start, acquire, and the first two readings
		w.Step(SetOf(0))
	}
	inject(t, w, fault.Pause{Client: "A"})
	w.Wait(7 * time.Second)
	inject(t, w, fault.Resume{Client: "A"})
	run(t, w)
	expectStory(t, w, `
		0 A reads its wall clock: 1000.000000
		0 A reads its monotonic clock: 100.000000 since boot
		0 A is paused
		7 A goes on after 7s
		7 A reads its wall clock: 1007.000000
		7 A reads its monotonic clock: 107.000000 since boot`, trace.KindClock, trace.KindPause, trace.KindResume)
}

// TestResumeWhileAsleep: a client that is let go on in the midst of its work goes on with that at once,
// and not when it ends.
func TestResumeWhileAsleep(t *testing.T) {
	w := newWorld(t, configOf(sleeper(2*time.Second, time.Second), "A"))
	until(t, w, "A", trace.KindSleep)
	inject(t, w, fault.Pause{Client: "A"})
	w.Wait(500 * time.Millisecond)
	inject(t, w, fault.Resume{Client: "A"})
	run(t, w)
	expectStory(t, w, `
		0 A is paused
		0.5 A goes on after 500ms`, trace.KindPause, trace.KindResume)
}

// TestSleepThroughAPause: a sleep that ends during a pause is over when the pause is.
func TestSleepThroughAPause(t *testing.T) {
	w := newWorld(t, configOf(sleeper(2*time.Second, time.Second), "A"))
	until(t, w, "A", trace.KindSleep)
	inject(t, w, fault.Pause{Client: "A"})
	w.Wait(5 * time.Second)
	inject(t, w, fault.Resume{Client: "A"})
	run(t, w)
	expectStory(t, w, "0 A sleeps for 2s\n5 A wakes up\n5 A sleeps for 1s\n6 A wakes up", trace.KindSleep, trace.KindWake)
}

// TestWallStep moves what Now says, not what Monotonic says, and no sleep.
func TestWallStep(t *testing.T) {
	s := toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		for range 2 {
			l.Clock.Now()
			l.Clock.Monotonic()
			if err := l.Clock.Sleep(ctx, time.Second); err != nil {
				return nil, err
			}
		}
		return nil, strategies.ErrNotAcquired
	}, toyKeep)
	cfg := configOf(s, "A", "B")
	cfg.Clients[0].Offset = -500 * time.Millisecond
	w := newWorld(t, cfg)
	until(t, w, "A", trace.KindSleep)
	inject(t, w, fault.WallStep{Client: "A", By: -time.Hour})
	run(t, w, "A")
	expectStory(t, w, `
		0 A reads its wall clock: 999.500000
		0 A reads its monotonic clock: 100.000000 since boot
		0 A sleeps for 1s
		0 A wall clock jumps by -1h0m0s
		1 A wakes up
		1 A reads its wall clock: -2599.500000
		1 A reads its monotonic clock: 101.000000 since boot
		1 A sleeps for 1s
		2 A wakes up`, trace.KindClock, trace.KindSleep, trace.KindWake, trace.KindWallStep)
}

// TestWallStepSparesOthers: another client's clock is another clock.
func TestWallStepSparesOthers(t *testing.T) {
	w := newWorld(t, config(t, "getset-equal", "A", "B"))
	inject(t, w, fault.WallStep{Client: "A", By: time.Hour})
	w.Step(SetOf(1))
	until(t, w, "B", trace.KindClock)
	expectStory(t, w, "0 B reads its wall clock: 1000.000000", trace.KindClock)
}

// TestLapse: a lease lapses at the first instant at which its holder's own clock
// reads the deadline. Its interval is half-open: at that instant it is over.
func TestLapse(t *testing.T) {
	for _, rate := range rates {
		cfg := config(t, "setpx-lua", "A")
		cfg.Clients[0].Rate, cfg.Clients[0].Work = rate, time.Hour
		w := newWorld(t, cfg)
		until(t, w, "A", trace.KindEnter)
		w.Wait(200 * time.Second)
		lapsed := -time.Second
		for _, e := range w.trace.Events {
			if e.Kind == trace.KindLapse {
				lapsed = e.At
			}
		}
		mono := w.clients[0].Mono
		deadline := mono.Origin + cfg.TTL - cfg.TTL/100 - 2*time.Millisecond // sent at 0
		if mono.Read(lapsed) < deadline || mono.Read(lapsed-1) >= deadline {
			t.Errorf("at rate %g, a lease until %s lapses when the clock reads %s, and %s a nanosecond before", rate, deadline, mono.Read(lapsed), mono.Read(lapsed-1))
		}
	}
}

// TestLapseOfAPausedHolder: the lease is over in time, whether its holder can
// look at its clock or not.
func TestLapseOfAPausedHolder(t *testing.T) {
	w := newWorld(t, config(t, "setpx-lua", "A"))
	until(t, w, "A", trace.KindGranted)
	inject(t, w, fault.Pause{Client: "A"})
	w.Wait(9896*time.Millisecond - time.Nanosecond)
	if now := w.Now() - 2*time.Millisecond; !w.State().Clients[0].Lease.Live {
		t.Fatalf("a nanosecond before its deadline the lease is over: it is %s", now)
	}
	w.Wait(time.Nanosecond)
	if l := w.State().Clients[0].Lease; l.Live || !l.Believed {
		t.Fatalf("at its deadline the lease is %+v", l)
	}
	expectStory(t, w, "9.898 A lease is over: 10s less 102ms in case clocks drift apart, since it asked at 0s", trace.KindLapse)
}

// TestDeadOnArrival: an Acquire that takes longer than the lease returns one that
// is over: it is never live, and doesn't lapse.
func TestDeadOnArrival(t *testing.T) {
	cfg := config(t, "setpx-lua", "A")
	cfg.Timeout = time.Hour
	w := newWorld(t, cfg)
	until(t, w, "A", trace.KindSend)
	inject(t, w, fault.Delay{Client: "A", Reply: false, By: 20 * time.Second})
	until(t, w, "A", trace.KindGranted)
	if l := w.State().Clients[0].Lease; l.Live || !l.Believed || l.Deadline != 9898*time.Millisecond {
		t.Errorf("the lease is %+v", l)
	}
	run(t, w)
	if count(w, trace.KindLapse) != 0 {
		t.Error("it lapses all the same")
	}
}

// TestGivenDeadline: a strategy that exposes no deadline is given one, from when it
// sent the command that stored its record; on its own clock.
func TestGivenDeadline(t *testing.T) {
	for _, tc := range []struct {
		strategy string
		rate     float64
		lapses   string
	}{
		{"naive-del", 1, "10"},
		{"naive-del", 2, "5"},
		{"getset-equal", 0.5, "20"},
		{"incr-expire", 1, "10"},
		{"setnx-expire", 1, "10"}, // from SETNX, though EXPIRE makes the record last longer
	} {
		cfg := config(t, tc.strategy, "A")
		cfg.Clients[0].Rate, cfg.Clients[0].Work = tc.rate, time.Hour
		w := newWorld(t, cfg)
		until(t, w, "A", trace.KindLapse)
		why := "its own clock reads the deadline" // which no other clock counts
		if tc.rate == 1 {
			why = "10s since it asked at 0s"
		}
		expectStory(t, w, tc.lapses+" A lease is over: "+why, trace.KindLapse)
	}
}

// TestNoDeadline: without an expiry and without a stamp a lease never ends by itself.
func TestNoDeadline(t *testing.T) {
	cfg := config(t, "setnx", "A")
	cfg.Clients[0].Work = 24 * time.Hour
	w := newWorld(t, cfg)
	until(t, w, "A", trace.KindWrite)
	if l := w.State().Clients[0].Lease; !l.Live || l.Deadline != trace.Never || count(w, trace.KindLapse) != 0 {
		t.Errorf("after a day the lease is %+v", l)
	}
}

// TestTimeout: a client waits for exactly as long as it is configured to.
func TestTimeout(t *testing.T) {
	for _, timeout := range []time.Duration{1, 50 * time.Millisecond, 3 * time.Second} {
		cfg := config(t, "setpx-lua", "A")
		cfg.Timeout = timeout
		w := newWorld(t, cfg)
		inject(t, w, fault.Cut{Client: "A", Node: "n1", Direction: fault.Both})
		w.Wait(time.Second)
		run(t, w)
		at := time.Second + timeout
		expectStory(t, w, fmt.Sprintf("%[1]v A no reply from n1 in %[2]s: timeout\n%[1]v A gives up: timeout waiting for n1", at.Seconds(), trace.Duration(timeout)), trace.KindTimeout, trace.KindFailed)
	}
}

// TestReplyAtTheDeadline: within an instant the network comes before those who
// wake. So a reply that arrives at the very instant of the timeout is in time,
// and one that arrives a nanosecond later isn't.
func TestReplyAtTheDeadline(t *testing.T) {
	for late, want := range map[time.Duration]string{
		0:                "3 A <- n1 OK\n3 A has the lock, token A1, lease until 9.898s (10s less 102ms in case clocks drift apart)",
		time.Nanosecond:  "3 A no reply from n1 in 3s: timeout\n3 A gives up: timeout waiting for n1",
		-time.Nanosecond: "2.999999999 A <- n1 OK\n2.999999999 A has the lock, token A1, lease until 9.898s (10s less 102ms in case clocks drift apart)",
	} {
		w := newWorld(t, config(t, "setpx-lua", "A"))
		inject(t, w, fault.Slow{Client: "A", Node: "n1", Request: time.Second, Reply: 2*time.Second + late})
		for w.Position(0).Phase == trace.PhaseIdle || w.Position(0).Phase == trace.PhaseAcquire {
			if !w.Step(SetOf(0)) {
				break
			}
		}
		expectStory(t, w, want, trace.KindReceive, trace.KindTimeout, trace.KindGranted, trace.KindFailed)
	}
}

// TestPausedWhileWaiting: a process that wakes up after its timeout finds its
// patience over and a reply that has come meanwhile. It reads the reply: see
// performReceive.
func TestPausedWhileWaiting(t *testing.T) {
	for _, tc := range []struct {
		reply time.Duration // how late it is
		want  string
	}{
		{time.Second, "20 A goes on after 20s\n20 A <- n1 OK\n20 A has the lock, token A1, lease until 9.898s (10s less 102ms in case clocks drift apart)"},
		{10 * time.Second, "20 A goes on after 20s\n20 A <- n1 OK\n20 A has the lock, token A1, lease until 9.898s (10s less 102ms in case clocks drift apart)"},
		{time.Minute, "20 A goes on after 20s\n20 A no reply from n1 in 3s: timeout\n20 A gives up: timeout waiting for n1"},
	} {
		w := newWorld(t, config(t, "setpx-lua", "A"))
		until(t, w, "A", trace.KindSend)
		inject(t, w, fault.Delay{Client: "A", Reply: false, By: tc.reply}, fault.Pause{Client: "A"})
		w.Wait(20 * time.Second)
		inject(t, w, fault.Resume{Client: "A"})
		for w.Now() == 20*time.Second && w.Step(SetOf(0)) && w.Position(0).Phase == trace.PhaseAcquire {
		}
		expectStory(t, w, tc.want, trace.KindResume, trace.KindReceive, trace.KindTimeout, trace.KindGranted, trace.KindFailed)
	}
}

// TestCancelledSleepEnds: a thread that sleeps with a context wakes up as soon as another of its
// client's threads cancels that, after what this is about to do, and is told so.
func TestCancelledSleepEnds(t *testing.T) {
	var told error
	cfg := configOf(toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		alive, stop := context.WithCancel(ctx)
		defer stop()
		l.Go(func() { told = l.Clock.Sleep(alive, time.Hour) })
		if err := l.Clock.Sleep(ctx, time.Second); err != nil {
			return nil, err
		}
		stop()
		if err := l.Clock.Sleep(ctx, time.Second); err != nil {
			return nil, err
		}
		return nil, strategies.ErrNotAcquired
	}, toyKeep), "A")
	w := newWorld(t, cfg)
	run(t, w)
	var wakes []trace.Event
	for _, e := range w.trace.Events {
		if e.Kind == trace.KindWake && e.Client == 0 {
			wakes = append(wakes, e)
		}
	}
	if len(wakes) != 3 || wakes[1].Thread != 1 || wakes[1].At != time.Second {
		t.Errorf("%+v", wakes)
	}
	if !errors.Is(told, context.Canceled) {
		t.Errorf("the sleep returned %v", told)
	}
}
