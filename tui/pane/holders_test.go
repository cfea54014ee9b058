package pane

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/scenarios"
	"lockstep/sim/testenv"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/draw"
	"lockstep/tui/tuitest"
)

// Two believers are no violation where the lease of one is over and only one is inside: nothing shouts then.
func TestTwoBelieversShoutOnlyWhereTheyClash(t *testing.T) {
	quiet := timeline.New(tuitest.RealRun(t, "setpx-lua", "late-release")) // nothing breaks
	two, saids := 0, map[int]string{
		80:  " A and B believe they hold it: no double grant, as A's lease is over.",
		120: " A and B believe they hold it: no double grant, as A's lease is over; B's is live.",
		140: " A and B believe they hold it: no violation yet, as A's lease is over; B's is live, and only B is in the critical section.",
	}
	for pos := range quiet.Last() + 1 {
		s := quiet.StateAt(pos)
		l, band := Holders(quiet, pos, s, 120)
		if s.Believers() > 1 {
			two++
			for width, want := range saids {
				if !quiet.Moments[pos].Clients[1].Inside {
					want = strings.Replace(want, "only B is in", "nobody is in", 1)
				}
				if l, _ := Holders(quiet, pos, s, width); tuitest.LineText(l) != want {
					t.Errorf("at %d: %q", pos, tuitest.LineText(l))
				}
			}
		}
		if strings.Contains(tuitest.LineText(l), "!!") || band != draw.Plain {
			t.Errorf("at %d: %q", pos, tuitest.LineText(l))
		}
	}
	loud := timeline.New(tuitest.RealRun(t, "naive-del", "late-release"))
	last := 1 + loud.Breaches[slices.IndexFunc(loud.Breaches, func(b timeline.Breach) bool { return b.Code == trace.OV })].Pos
	if l, band := Holders(loud, last, loud.StateAt(last), 120); !strings.Contains(tuitest.LineText(l), "!! STILL OVERLAPPING CRITICAL SECTIONS !!") || band != draw.Alarm {
		t.Errorf("two inside: %q", tuitest.LineText(l))
	}
	if two == 0 {
		t.Error("never do two believe")
	}
	gets := loud.Breaches[slices.IndexFunc(loud.Breaches, func(b timeline.Breach) bool { return b.Code == trace.DG })].Pos
	// two leases run, and only one client is inside
	if got := loud.Clash(gets); got != "DOUBLE GRANT" {
		t.Errorf("two leases: %q", got)
	}
}

// An alarm is whole in the least window: none of the catalogue is cut there.
func TestAlarmsAreWhole(t *testing.T) {
	n := -1
	for _, c := range scenarios.Part(1, func(s *scenarios.Scenario, _ strategies.Strategy) bool {
		n++
		return strings.HasPrefix(s.Name, "crash") || testenv.Some(n, 20)
	}) {
		if c.Err != nil {
			t.Fatal(c.Err)
		}
		r := timeline.New(c.Trace)
		for _, b := range r.Breaches {
			if l, _ := Holders(r, b.Pos, r.StateAt(b.Pos), 80); l.Width() > 80 {
				t.Errorf("%s under %s, event %d: %q", c.Strategy.Name, c.Scenario.Name, b.Pos, tuitest.LineText(l))
			}
		}
	}
}

// The sentence on a lease says in any window what that was counted from, if it is known: in as many words as there is room for.
func TestLeaseHasItsReason(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own.yaml")
	if err := os.WriteFile(path, []byte("title: Own\nsetup:\n  clients: {Alice: , Bob: }\n  ttl: 8s\nscript:\n  - run: Alice\n    to: release\n  - wait: 9s\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for lock, reasons := range map[string][]string{
		"naive-del": {"(8s since it asked).", "(8s since it asked; Redis counts from when it stored the record)."},
		"setpx-lua": {"(8s less 82ms drift).", "(8s less 82ms in case clocks drift apart, since it asked; Redis counts from when it stored the record)."},
	} {
		run := timeline.New(tuitest.RealRun(t, lock, path))
		late := slices.IndexFunc(run.Events, func(e trace.Event) bool { return e.Kind == trace.KindLapse }) + 1
		for i, width := range []int{80, 160} {
			if l, _ := Holders(run, late, run.StateAt(late), width); !strings.HasSuffix(tuitest.LineText(l), reasons[i]) || l.Width() > width {
				t.Errorf("%s, %d columns: %q", lock, width, tuitest.LineText(l))
			}
		}
	}
}

// Codes that do not count against a lock have a sign of their own, wherever they stand, and all are in one
// order.
func TestCodesHaveOneSignAndOneOrder(t *testing.T) {
	run := timeline.New(tuitest.RealRun(t, "redlock-strict-errors", "minority-down"))
	end := run.Last()
	all, _ := run.Breached(end)
	if got := CodesOf(all); got != "!! FN ~ UA BD" {
		t.Errorf("the title says %q", got)
	}
	l, _ := Holders(run, end, run.StateAt(end), 200)
	if got := tuitest.LineText(l); !strings.HasSuffix(got, "  !! broken: false refusal (FN)  ~ unavailability (UA), bounded blocking (BD)") {
		t.Errorf("the headline says %q", got)
	}
	if CodesOf(nil) != "" || SignOf(trace.BD) != "~" {
		t.Error("signs where there are none")
	}
}

// What has just gone wrong is told in whole words: without its reason where a row has no room for that.
func TestHeadlineIsNotCut(t *testing.T) {
	var run *timeline.Timeline
	i := -1
	for _, sc := range scenarios.All() { // one after which clients and servers agree
		run = timeline.New(tuitest.RealRun(t, "naive-del", sc.Name))
		if i = slices.IndexFunc(run.Breaches, func(b timeline.Breach) bool {
			_, fresh := run.Breached(b.Pos)
			return b.Code == trace.SW && len(fresh) == 1 && agreed(run, run.StateAt(b.Pos))
		}); i >= 0 {
			break
		}
	}
	if i < 0 {
		t.Fatal("no stale write")
	}
	b := *run.Breaches[i].Violation
	b.Text = "Ben overwrites what Anna wrote since Ben read: an update is lost"
	run.Breaches[i].Violation = &b
	for width, want := range map[int]string{80: " !! STALE WRITE !!  Ben overwrites what Anna wrote since Ben read.", 120: " !! STALE WRITE !!  " + b.Text + "."} {
		pos := run.Breaches[i].Pos
		if l, _ := Holders(run, pos, run.StateAt(pos), width); !strings.HasPrefix(tuitest.LineText(l), want) {
			t.Errorf("%d columns: %q, want %q", width, tuitest.LineText(l), want)
		}
	}
}

// A line is not cut in the midst of what a command has stored, nor before the end of a lease.
func TestEvidenceIsShortenedByWholeParts(t *testing.T) {
	const text = "n1 B: SET lock B1-a586 PX 10000 NX = OK  [lock = B1-a586 (10s left)]"
	for width, want := range map[int]string{
		68: text,
		67: "n1 B: SET lock B1-a586 PX 10000 NX = OK  [lock = B1-a586]",
		57: "n1 B: SET lock B1-a586 PX 10000 NX = OK  [lock = B1-a586]",
		56: "n1 B: SET lock B1-a586 PX 10000 NX = OK",
	} {
		if got := Shortened(text, width); got != want {
			t.Errorf("%d: %q, want %q", width, got, want)
		}
	}
	const forGood = "time to 1ms: n1 A: SETNX lock 1010 = 1  [lock = 1010 (no expiry)], A can go on"
	for width, want := range map[int]string{
		77: "time to 1ms: n1 A: SETNX lock 1010 = 1  [no expiry], A can go on",
		63: "time to 1ms: n1 A: SETNX lock 1010  [no expiry], A can go on",
		59: "time to 1ms: n1 A: SETNX  [no expiry], A can go on",
	} {
		if got := Shortened(forGood, width); got != want {
			t.Errorf("%d: %q, want %q", width, got, want)
		}
	}
	if got := Shortened("has the lock, token C1-337c, lease until 27.006s", 40); got != "has the lock, lease until 27.006s" {
		t.Errorf("a grant: %q", got)
	}
}

// The sentence on two believers is whole, however long their names are: a code has room for what the name of what breaks has not.
func TestBelieversAreAWholeSentence(t *testing.T) {
	run := timeline.New(tuitest.RealRun(t, "setpx-lua", "pause-past-ttl"))
	pos := run.Breaches[slices.IndexFunc(run.Breaches, func(b timeline.Breach) bool { return b.Code == trace.OV })].Pos
	for want, names := range map[string][2]string{
		" !! OVERLAPPING CRITICAL SECTIONS !!  A and B claim it; A's lease is over.":  {"A", "B"},
		" !! OV !!  nightly and rerun believe they hold it; nightly's lease is over.": {"nightly", "rerun"},
		" !! OVERLAPPING CRITICAL SECTIONS !!  2 believe they hold it.":               {"nightly-report", "rerun-of-report"},
	} {
		copy(run.Clients, names[:])
		l, _ := Holders(run, pos, run.StateAt(pos), 80)
		if got := tuitest.LineText(l); !strings.HasSuffix(got, want) || l.Width() > 80 {
			t.Errorf("%v: %q", names, got)
		}
	}
}

// What has just broken is told whole, in any window, in the course.
func TestWhatBreaksIsToldWhole(t *testing.T) {
	run := timeline.New(tuitest.RealRun(t, "setnx", "stampede-fallthrough"))
	pos := run.Breaches[slices.IndexFunc(run.Breaches, func(b timeline.Breach) bool { return b.Code == trace.OV })].Pos
	if l, _ := Holders(run, pos, run.StateAt(pos), 80); l.Width() > 80 || !strings.HasSuffix(tuitest.LineText(l), "enters the critical section while A is inside.") {
		t.Errorf("%q", tuitest.LineText(l))
	}
}
