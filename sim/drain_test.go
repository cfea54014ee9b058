package sim

import (
	"testing"
	"time"

	"lockstep/sim/trace"
	"lockstep/strategies"
)

// TestLateOrphan: a request that was still in flight when the script ended blocks
// the lock when it arrives, although the probe has had it before.
func TestLateOrphan(t *testing.T) {
	for strategy, want := range map[string]string{"setnx": "PD", "setpx-lua": "BD"} {
		cfg := config(t, strategy, "A")
		cfg.Retry.Tries = 1
		w := newWorld(t, cfg)
		until(t, w, "A", trace.KindSend)
		inject(t, w, Delay{Client: "A", By: 20 * time.Second})
		for w.Step(SetOf(0)) && count(w, trace.KindFailed) == 0 {
		}
		if err := w.Drain(); err != nil {
			t.Fatal(err)
		}
		expectVerdict(t, w, want)
	}
}

// TestDownIsNoRelief: what is left on the nodes that are up still keeps others
// out; where too few are up for anybody, no record is to blame.
func TestDownIsNoRelief(t *testing.T) {
	for _, tc := range []struct {
		down    []string
		want    time.Duration // how long it lasts
		verdict string
	}{
		{[]string{"n3"}, 10 * time.Second, "BD"},               // n4 and n5 aren't enough: until n1's and n2's records expire
		{[]string{"n2", "n3"}, 10 * time.Second, "BD"},         // as above, n1's
		{[]string{"n1", "n2", "n3"}, 5 * time.Second, "BD DN"}, // and then it is for the nodes that are down
	} {
		cfg := config(t, "redlock", "A", "B")
		cfg.Retry = strategies.Retry{Tries: 1}
		w := newWorld(t, cfg)
		inject(t, w, Cut{"A", "n4", Both}, Cut{"A", "n5", Both})
		until(t, w, "A", trace.KindEnter)
		inject(t, w, Crash{"A"})
		crashed := w.Now()
		until(t, w, "B", trace.KindRefused)
		w.Wait(crashed + 5*time.Second - w.Now())
		for _, n := range tc.down {
			inject(t, w, Down{n})
		}
		if err := w.Drain(); err != nil {
			t.Fatal(err)
		}
		expectVerdict(t, w, tc.verdict)
		if took := w.monitor.Violations()[0].At - crashed; took < tc.want-time.Second || took > tc.want+time.Second {
			t.Errorf("%v: the spell ends after %s, want about %s", tc.down, took, tc.want)
		}
	}
}

// TestHungWithoutServer: a hung client goes on renewing, and the server is down
// for good. That record has no owner, and the run ends.
func TestHungWithoutServer(t *testing.T) {
	w := newWorld(t, config(t, "watchdog", "A", "B"))
	until(t, w, "A", trace.KindRead)
	inject(t, w, Hang{"A"}, Down{"n1"})
	if err := w.Drain(); err != nil || w.Err() != nil {
		t.Fatal(err, w.Err())
	}
	expectVerdict(t, w, "DN")
}

// TestHungWithAClockOfItsOwn: the renewals of a client whose clock is off never
// fall on the same nanosecond twice, and yet go on for ever.
func TestHungWithAClockOfItsOwn(t *testing.T) {
	cfg := config(t, "watchdog", "A", "B")
	cfg.Clients[0].Rate = 1.0001
	w := newWorld(t, cfg)
	until(t, w, "A", trace.KindRead)
	inject(t, w, Hang{"A"})
	if err := w.Drain(); err != nil || w.Err() != nil {
		t.Fatal(err, w.Err())
	}
	expectVerdict(t, w, "PD")
}
