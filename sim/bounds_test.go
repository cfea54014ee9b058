package sim

import (
	"context"
	"math"
	"strings"
	"testing"
	"time"

	"lockstep/sim/fault"
	"lockstep/sim/process"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// A run that nothing would end is ended by a bound, and says so. Nothing in this
// file may hang.

func TestEventBound(t *testing.T) {
	s := toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		for {
			l.Clock.Monotonic() // for ever, at one instant
		}
	}, toyKeep)
	for _, record := range []bool{true, false} {
		w := newWorld(t, configOf(s, "A"))
		if err := w.Reset(w.cfgWithoutProbe(), record); err != nil {
			t.Fatal(err)
		}
		steps := 0
		for w.Step(SetOf(0)) {
			steps++
		}
		const want = "the run was stopped after 100000 events: nothing ends it"
		if w.Err() == nil || w.Err().Error() != want || w.events != MaxEvents+1 || steps > MaxEvents+2 {
			t.Errorf("after %d steps and %d events: %v", steps, w.events, w.Err())
		}
		expectStopped(t, w, want)
	}
}

// expectStopped: after a bound nothing goes on, and a reset makes all well.
func expectStopped(t *testing.T, w *World, want string) {
	t.Helper()
	events, now := w.events, w.Now()
	w.Wait(time.Second)
	_ = w.Drain()
	if w.Step(everybody(w)) || w.events > events+len(w.clients) || w.Now() != now || w.Err() == nil || w.Err().Error() != want {
		t.Errorf("after the bound it goes on, to %d events and %s, %v", w.events, w.Now(), w.Err())
	}
	cfg := w.cfgWithoutProbe()
	if err := w.Reset(cfg, true); err != nil || w.Err() != nil || w.Now() != 0 {
		t.Errorf("after a reset: %v, %v, %s", err, w.Err(), w.Now())
	}
}

func (w *World) cfgWithoutProbe() Config { return w.Schedule().Config }

func TestTimeBound(t *testing.T) {
	year := 365 * 24 * time.Hour
	w := newWorld(t, configOf(sleeper(20*year, 4*year, 2*year), "A"))
	for w.Step(SetOf(0)) {
	}
	const want = "the run was stopped at 8760 days: it would go on for more than 25 years of virtual time"
	if w.Err() == nil || w.Err().Error() != want || w.Now() != 24*year {
		t.Errorf("at %s: %v", w.Now(), w.Err())
	}
	expectStopped(t, w, want)
}

func TestTimeBoundOfWaits(t *testing.T) {
	for _, d := range []time.Duration{trace.MaxTime + 1, math.MaxInt64 - 1, math.MaxInt64} {
		w := newWorld(t, config(t, "setpx-lua", "A"))
		w.Wait(time.Hour)
		w.Wait(d)
		if w.Err() == nil || w.Now() != time.Hour {
			t.Errorf("after a wait of %s it is %s, %v", d, w.Now(), w.Err())
		}
	}
	w := newWorld(t, config(t, "setpx-lua", "A"))
	w.Wait(trace.MaxTime)
	if w.Err() != nil || w.Now() != trace.MaxTime {
		t.Errorf("just in time: it is %s, %v", w.Now(), w.Err())
	}
	w.Wait(1)
	if w.Err() == nil {
		t.Error("a nanosecond too many")
	}
	w = newWorld(t, config(t, "setpx-lua", "A"))
	w.Wait(-time.Second)
	w.Wait(0)
	if w.Err() != nil || w.Now() != 0 || len(w.Schedule().Moves) != 0 {
		t.Error("a wait of no time is something")
	}
}

// TestEndlessPatience: a client that polls for ever is stopped by the drain,
// not by the bound.
func TestEndlessPatience(t *testing.T) {
	w := newWorld(t, config(t, "setnx", "A", "B"))
	until(t, w, "A", trace.KindGranted)
	inject(t, w, fault.Crash{Client: "A"})
	for range 1000 {
		w.Step(SetOf(1))
	}
	if got := drained(t, w); got != "PD" {
		t.Error(got)
	}
	expectStory(t, w, "", trace.KindFailed)
	if count(w, trace.KindStop) != 1 {
		t.Errorf("%d clients are stopped", count(w, trace.KindStop))
	}
}

// TestPatienceAfterATimeout is the same for one whose last reply came too late: it
// must not be mistaken for one that is still under way.
func TestPatienceAfterATimeout(t *testing.T) {
	cfg := config(t, "redlock", "A", "B")
	cfg.Retry = strategies.Retry{Delay: 100 * time.Millisecond} // for ever
	w := newWorld(t, cfg)
	until(t, w, "A", trace.KindGranted)
	inject(t, w, fault.Pause{Client: "A"})
	until(t, w, "B", trace.KindExecute)
	inject(t, w, fault.Delay{Client: "B", Reply: true, By: time.Second}) // longer than it waits
	until(t, w, "B", trace.KindTimeout)
	w.Wait(2 * time.Second)
	before := w.events
	if got := drained(t, w); strings.Contains(got, "PD") || w.events > before+500 {
		t.Errorf("%s, after %d more events", got, w.events-before)
	}
}

// TestSpansBeyondAllBounds: whatever a schedule or a script asks for, a fault's span
// is one that a clock can be off by, or it is refused.
func TestSpansBeyondAllBounds(t *testing.T) {
	for _, d := range []time.Duration{math.MaxInt64, math.MinInt64, math.MaxInt64 / 2, 400 * 24 * time.Hour, -400 * 24 * time.Hour} {
		for _, f := range []fault.Fault{
			fault.WallStep{Client: "A", By: d}, fault.NodeStep{Node: "n1", By: d}, fault.Delay{Client: "A", Reply: false, By: d}, fault.Duplicate{Client: "A", After: d, N: 1}, fault.Slow{Client: "A", Node: "n1", Request: d, Reply: 0}, fault.Slow{Client: "A", Node: "n1", Request: 0, Reply: d}, fault.Lag{Replica: "n1r1", By: d},
		} {
			cfg := config(t, "setpx-lua", "A")
			cfg.Replicas = 1
			w := newWorld(t, cfg)
			until(t, w, "A", trace.KindGranted)
			until(t, w, "A", trace.KindRelease)
			until(t, w, "A", trace.KindSend)
			events := len(w.trace.Events)
			if err := w.Inject(f); err == nil || !strings.Contains(err.Error(), "8760h0m0s") {
				t.Errorf("%s: %v", f, err)
			}
			if len(w.trace.Events) != events || w.now > time.Hour {
				t.Errorf("%s was refused, and yet something has happened", f)
			}
			if _, err := fault.Parse(f.String()); err == nil {
				t.Errorf("%s can be parsed", f)
			}
		}
	}
}

// TestStepsAddUp: many steps of a clock that are allowed don't make one that isn't.
func TestStepsAddUp(t *testing.T) {
	w := newWorld(t, config(t, "setpx-lua", "A"))
	for _, f := range []fault.Fault{fault.WallStep{Client: "A", By: trace.MaxSpan}, fault.NodeStep{Node: "n1", By: -trace.MaxSpan}} {
		inject(t, w, f)
		if w.Inject(f) == nil {
			t.Errorf("%s is allowed twice", f)
		}
	}
	inject(t, w, fault.WallStep{Client: "A", By: -trace.MaxSpan}, fault.WallStep{Client: "A", By: -trace.MaxSpan}, fault.NodeStep{Node: "n1", By: trace.MaxSpan}, fault.NodeStep{Node: "n1", By: trace.MaxSpan})
	run(t, w)
	expectVerdict(t, w, "ok")
}

// TestLargestConfiguration: everything that Validate allows can be run.
func TestLargestConfiguration(t *testing.T) {
	cfg := config(t, "setpx-lua", "A", "B", "C", "D", "E", "F", "G", "H")
	cfg.TTL, cfg.Timeout, cfg.Latency = trace.MaxSpan, trace.MaxSpan, trace.MaxSpan
	for i := range cfg.Clients {
		c := &cfg.Clients[i]
		c.Cycles, c.Work, c.Insist, c.Offset = process.MaxCycles, trace.MaxSpan, trace.MaxSpan, trace.MaxSpan
		c.Rate = []float64{0.1, 10}[i%2]
	}
	cfg.Nodes[0].Offset = -trace.MaxSpan
	if err := cfg.Validate(); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, cfg)
	for w.Step(everybody(w)) {
	}
	if w.Err() == nil || w.Now() > trace.MaxTime {
		t.Errorf("at %s: %v", w.Now(), w.Err())
	}
	for i := range w.clients[:8] {
		c := w.clients[i]
		if got, before := c.Mono.Read(trace.MaxTime), c.Mono.Read(trace.MaxTime-time.Hour); got <= before {
			t.Errorf("%s's clock reads %s at the end of time, and %s an hour before", c.Name, got, before)
		}
	}
}
