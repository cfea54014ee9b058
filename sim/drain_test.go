package sim

import (
	"testing"
	"time"

	"lockstep/sim/fault"
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
		inject(t, w, fault.Delay{Client: "A", By: 20 * time.Second})
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
		inject(t, w, fault.Cut{Client: "A", Node: "n4", Direction: fault.Both}, fault.Cut{Client: "A", Node: "n5", Direction: fault.Both})
		until(t, w, "A", trace.KindEnter)
		inject(t, w, fault.Crash{Client: "A"})
		crashed := w.Now()
		until(t, w, "B", trace.KindRefused)
		w.Wait(crashed + 5*time.Second - w.Now())
		for _, n := range tc.down {
			inject(t, w, fault.Down{Node: n})
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
	inject(t, w, fault.Hang{Client: "A"}, fault.Down{Node: "n1"})
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
	inject(t, w, fault.Hang{Client: "A"})
	if err := w.Drain(); err != nil || w.Err() != nil {
		t.Fatal(err, w.Err())
	}
	expectVerdict(t, w, "PD")
}

// TestProbeAfterALivelock: clients that have asked in vain over and over, and have come to their end, don't
// keep the probe from asking whether the lock can be had at all.
func TestProbeAfterALivelock(t *testing.T) {
	s := mustParse(t, "lockstep1,setnx,test,seed=1,key=lock,ttl=12s,timeout=3s,latency=0s,retry=3/200ms/0s,workload=counter,resource=plain,cold=false,replicas=0,lag=0s,draws=true,"+
		"A=3/0s/0s/0s/1/false/false/false/false/false,B=3/0s/0s/0s/1/false/false/false/false/false,n1=none/0s,--,"+
		"B:3,lose-reply/B,B:1,A:1,:3s,B:1,:11s,A:2,B:3,A:1,B:1,A:1,:200ms,B:4,A:4,:200ms,A:1,B:1,A:2,B:1,A:3,B:4,A:2,B:1,:200ms,B:1,A:2,B:2,A:2,B:1,:200ms,A:3,B:1,A:1,B:3,A:2,B:1,A:2,:200ms,A:4,:200ms,A:4,B:20,:200ms,B:20,:200ms,B:20,:200ms,B:20,aftermath")
	w := newWorld(t, s.Config)
	if err := w.Play(s.Moves, nil); err != nil {
		t.Fatal(err)
	}
	expectVerdict(t, w, "PD LV FN")
}
