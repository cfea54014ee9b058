package timeline

import (
	"slices"
	"strings"
	"testing"

	"lockstep/sim/trace"
)

func tenures(tl *Timeline, pos int) (all []string) {
	for _, h := range tl.Tenures(pos) {
		all = append(all, tl.Clients[h.Client]+": "+tl.Describe(&h, pos))
	}
	return all
}

func checkTenures(t *testing.T, tl *Timeline, pos int, want ...string) {
	t.Helper()
	if got := tenures(tl, pos); !slices.Equal(got, want) {
		t.Errorf("at %d:\n%s\nwant:\n%s", pos, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestTenures(t *testing.T) {
	tl := New(&pausePastTTL().Trace)
	checkTenures(t, tl, 0)
	checkTenures(t, tl, 3, "A: record since 0s; not believed yet")
	checkTenures(t, tl, 6, "A: record since 0s; believed since 0s")
	checkTenures(t, tl, tl.Last(), "A: record 0s to 10s (expired); believed since 0s, its lease over from 10s", "B: record since 11s; believed since 11s")
}

// The event that ends a stay says how; a client that is refused had nothing, and a lease that is prolonged late isn't over.
func TestTenuresTellHowTheyEnded(t *testing.T) {
	r := newRun()
	lost := func(from string, to *trace.Record) func(*trace.Event) {
		return func(e *trace.Event) {
			e.Changes = []trace.Change{{Key: "lock", Before: &trace.Record{Value: from, Expires: trace.Never}, After: to}}
		}
	}
	r.add(0, trace.KindExecute, a, stores("A1", trace.Never))
	r.add(0, trace.KindGranted, a, until(2*second))
	r.add(second, trace.KindAcquire, b)
	r.add(second, trace.KindRefused, b)
	checkTenures(t, New(&r.Trace), 3, "A: record since 0s; believed since 0s", "B: hasn't had it yet")
	r.add(2*second, trace.KindLapse, a)
	r.add(3*second, trace.KindExtended, a, until(9*second), func(e *trace.Event) { e.By = 9 * second })
	r.add(4*second, trace.KindRelease, a)
	r.add(4*second, trace.KindExecute, a, lost("A1", nil), func(e *trace.Event) { e.Phase = trace.PhaseRelease })
	checkTenures(t, New(&r.Trace), 8, "A: record 0s to 4s (released by A); believed 0s to 4s (releasing)", "B: never had it")
	failed := *r
	failed.add(4*second, trace.KindReleaseFailed, a)
	checkTenures(t, New(&failed.Trace), 9, "A: record 0s to 4s (released by A); believed 0s to 4s (until its release, which failed)", "B: never had it")
	r.add(4*second, trace.KindReleased, a)
	checkTenures(t, New(&r.Trace), 9, "A: record 0s to 4s (released by A); believed 0s to 4s (until its release)", "B: never had it")
	r.add(5*second, trace.KindExecute, b, stores("B1", trace.Never))
	r.add(5*second, trace.KindGranted, b, until(trace.Never))
	r.add(6*second, trace.KindCrash, b)
	r.add(7*second, trace.KindDown, trace.None, drops)
	tl := New(&r.Trace)
	if got := tenures(tl, tl.Last())[1]; got != "B: record 5s to 7s (n1 down); believed 5s to 6s (crashed)" {
		t.Error(got)
	}
}

// A belief that ends in the instant in which it began has one instant.
func TestTenureOfAnInstant(t *testing.T) {
	const a = 0
	r := newRun()
	r.add(0, trace.KindAcquire, a)
	r.add(2*second, trace.KindGranted, a, until(trace.Never))
	r.add(2*second, trace.KindCrash, a)
	tl := New(&r.Trace)
	checkTenures(t, tl, tl.Last(), "A: no record; believed at 2s only (crashed)")
}

func TestPlainListsWhoHeldTheLock(t *testing.T) {
	var b strings.Builder
	if err := Plain(&b, &pausePastTTL().Trace); err != nil {
		t.Fatal(err)
	}
	if want := "\n  A: record 0s to 10s (expired); believed since 0s, its lease over from 10s\n  B: record since 11s; believed since 11s\nverdict"; !strings.Contains(b.String(), want) {
		t.Errorf("%s\nlacks %q", b.String(), want)
	}
}
