package pane

import (
	"strings"
	"testing"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/facts"
	"lockstep/tui/tuitest"
)

// The update has no actor, and stands on the resource's row.
func TestUpdateIsTheStores(t *testing.T) {
	r := timeline.New(tuitest.CacheTrace())
	if e := r.Event(3); r.Doer(e) != trace.None || r.Actor(e) != "resource" {
		t.Errorf("%s did it", r.Actor(e))
	}
	g := &tuitest.PlainTheme(false).Glyphs
	for pos, glyph := range map[int]string{2: g.Read, 3: g.Fault, 4: g.Read, 5: g.Write} {
		if got, _, rank := MarkOf(r, r.Event(pos), g); got != glyph || rank == 0 {
			t.Errorf("position %d is marked %q, not %q", pos, got, glyph)
		}
	}
}

// Where clients and servers agree on the holder, the band says what has gone wrong, and then who that is,
// if there is room; else the disagreement says it all.
func TestBandSaysWhatHappened(t *testing.T) {
	s := &tuitest.Script{Trace: trace.Trace{Key: "lock", Clients: []string{"A", "B"}, Nodes: []string{"n1"}, Need: 1, Masters: 1}}
	grant := func(client int) {
		s.Add(trace.KindAcquire, client, trace.None)
		s.Add(trace.KindExecute, client, 0, func(e *trace.Event) {
			e.Acq, e.Phase = 1, trace.PhaseAcquire
			e.Changes = []trace.Change{{Key: "lock", After: &trace.Record{Value: "A1", Expires: trace.Never}}}
		})
		s.Add(trace.KindGranted, client, trace.None, func(e *trace.Event) { e.By = trace.Never })
	}
	grant(0)
	write := s.Add(trace.KindWrite, 1, trace.None)
	s.Violations = append(s.Violations, trace.Violation{Code: trace.SW, Events: []int{write}, Text: "B writes although A holds the lock"})
	r := timeline.New(&s.Trace)
	for width, want := range map[int]string{
		120: " !! STALE WRITE !!  B writes although A holds the lock. A holds the lock, without a deadline.",
		80:  " !! STALE WRITE !!  B writes although A holds the lock.",
	} {
		l, _ := Holders(r, write, r.StateAt(write), width)
		if text := tuitest.LineText(l); text != want {
			t.Errorf("%d columns: %q, want %q", width, text, want)
		}
	}
}

// One event is no events.
func TestStatusCountsWhatIsToCome(t *testing.T) {
	for n, want := range map[int]string{0: "nothing has happened yet", 1: "1 event is to come", 2: "2 events are to come"} {
		if l := tuitest.LineText(StatusLine(timeline.New(tuitest.Crowd(2, 1, n)), 0, true)); !strings.HasSuffix(l, want) {
			t.Errorf("before %d events: %s", n, l)
		}
	}
}

// Where words are told after a time in which nothing happens, state and diagram count up to that
// instant, and the one clock says which it is.
func TestDurationsCountToTheCursor(t *testing.T) {
	run := timeline.New(tuitest.RealRun(t, "naive-del", "late-release"))
	th := tuitest.PlainTheme(false)
	seen := 0
	for pos := 1; pos <= run.Last(); pos++ {
		if trace.Brief(run.Now(pos)) != "15s" || run.When(pos) == run.Now(pos) {
			continue
		}
		seen++
		var state strings.Builder
		for _, l := range facts.Lines(run, pos, run.StateAt(pos-1), run.StateAt(pos)) {
			state.WriteString(tuitest.LineText(l) + "\n")
		}
		for _, want := range []string{"state at 15s\n", "lease over for 5s, since 10s\n", "lease for 7s more\n", ", 7.001s left by PTTL, gone at 22.002s\n"} {
			if !strings.Contains(state.String(), want) {
				t.Errorf("no %q in\n%s", want, state.String())
			}
		}
		c := draw.NewCanvas(160, 20, th.More)
		a := newAxis(run, 160-LabelWidth, 0)
		DrawTimeline(c, draw.Rect(0, 0, 160, 20), Scene{Timeline: run, Pos: pos, Axis: a, Column: a.Cols[pos], All: a.Width(), Lanes: FillLanes(run, pos, 18), Theme: th})
		if v := c.Render(th); !strings.Contains(v, " paused for 13.998s ") {
			t.Errorf("A is not paused for 13.998s in\n%s", v)
		}
	}
	if seen == 0 {
		t.Error("no words at 15s")
	}
}
