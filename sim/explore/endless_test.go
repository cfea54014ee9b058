package explore

import (
	"context"
	"strings"
	"testing"

	"lockstep/sim/trace"
)

// closing are bounds without a bound on cycles, pauses, crashes and lost replies.
func closing(t testing.TB, name string) Bounds {
	b := Defaults(strategy(t, name))
	b.Cycles = Any
	b.Codes = trace.Verdict{trace.DG, trace.FR, trace.PD}
	b.Faults = Budget{Crash: Any, Pause: Any, ReplyLost: Any}
	return b
}

// TestCloses: without bounds on cycles, pauses, crashes and lost replies the search of a lock
// on one node that reads no clock but its own comes to an end. What it finds, the engine
// confirms.
func TestCloses(t *testing.T) {
	for name, want := range map[string]string{
		"setpx-lua": "ok", "setpx-delex": "ok", "setpx-autoretry": "ok", "setpx-watch": "ok", "setpx-wait": "ok",
		"setnx": "PD", "naive-del": "DG FR", "get-then-del": "DG FR",
	} {
		if raceDetector && name != "setpx-lua" {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r, err := Run(context.Background(), closing(t, name), Options{Memory: 4 << 30})
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d states", r.States)
			if !r.Closed || r.Found.String() != want {
				t.Errorf("closed %t (%s), found %v, expected %s", r.Closed, r.Why, r.Found, want)
			}
		})
	}
}

// TestDoesNotClose: a lock whose situations aren't finitely many is refused, with the reason.
func TestDoesNotClose(t *testing.T) {
	for name, why := range map[string]string{
		"fenced": "counts", "getset-equal": "reads a clock that shows true time", "redlock": "compares a clock",
	} {
		r, err := Run(context.Background(), closing(t, name), Options{})
		if err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%s: %+v, %v", name, r, err)
		}
	}
}
