package pane

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/sim/testenv"
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/tuitest"
)

func TestLanesSaveRows(t *testing.T) {
	var b strings.Builder
	pause, crowded := timeline.New(tuitest.PauseTrace()), timeline.New(tuitest.Crowd(4, 5, 100))
	for _, p := range []struct {
		r         *timeline.Timeline
		pos, rows int
	}{{pause, 0, 20}, {pause, 0, 11}, {pause, pause.Last(), 11}, {pause, pause.Last(), 7}, {crowded, 50, 30}, {crowded, 50, 14}, {crowded, 50, 11}, {crowded, 50, 8}, {crowded, 50, 6}, {crowded, 50, 2}} {
		lanes := PlanLanes(p.r, p.pos, p.rows)
		if len(lanes) > p.rows {
			t.Errorf("%d lanes in %d rows", len(lanes), p.rows)
		}
		fmt.Fprintf(&b, "%d rows at %d:", p.rows, p.pos)
		for _, l := range lanes {
			name, what := l.label(p.r.Trace)
			if l.kind == laneHidden {
				name = fmt.Sprintf("(%s hidden)", strings.Join(l.hidden, " "))
			}
			fmt.Fprintf(&b, " |%s", strings.TrimSpace(name+" "+what))
		}
		b.WriteByte('\n')
	}
	tuitest.Golden(t, "lanes", b.String())
}

// The row of the probe says what that is, before its first deed, and not before it comes.
func TestProbeIsIntroduced(t *testing.T) {
	for _, run := range []*timeline.Timeline{timeline.New(tuitest.RealRun(t, "setpx-lua", "late-release")), timeline.New(tuitest.RealRun(t, "redlock", "pause-past-ttl"))} {
		for _, width := range []int{80, 200} {
			for _, pos := range []int{run.Begins[len(run.Clients)-1], run.Last()} {
				c, lanes := draw.NewCanvas(width, 40, "~"), FillLanes(run, pos, 30)
				a := newAxis(run, width-LabelWidth, 0)
				DrawTimeline(c, draw.Rect(0, 0, width, 40), Scene{Timeline: run, Pos: pos, Axis: a, Column: a.Cols[pos], All: a.Width(), Lanes: lanes, Theme: tuitest.PlainTheme(false)})
				if v := c.Render(tuitest.PlainTheme(false)); strings.Contains(v, " tests whether the lock can still be had ") != (pos == run.Last()) {
					t.Errorf("%s, %d columns, event %d:\n%s", run.Strategy, width, pos, v)
				}
			}
		}
	}
}

// No label in the row of what a client thinks says only that its lease is over, which would read as if the client knew, or
// only that something is unseen, which says nothing.
func TestLapsedLeaseIsNotNoticed(t *testing.T) {
	run, labels := timeline.New(tuitest.RealRun(t, "naive-del", "late-release")), map[string]bool{}
	row := regexp.MustCompile(`╌+([a-z, ]+)╌`)
	for width := 60; width <= 200; width += 4 {
		if !testenv.Some(width/4, 3) {
			continue
		}
		for pos := range run.Moments {
			c := draw.NewCanvas(width, 40, "~")
			a := newAxis(run, width-LabelWidth, 0)
			DrawTimeline(c, draw.Rect(0, 0, width, 40), Scene{Timeline: run, Pos: pos, Axis: a, Column: a.Cols[pos], All: a.Width(), Lanes: FillLanes(run, pos, 30), Theme: tuitest.PlainTheme(false)})
			for _, found := range row.FindAllStringSubmatch(c.Render(tuitest.PlainTheme(false)), -1) {
				labels[found[1]] = true
			}
		}
	}
	for label := range labels {
		if !strings.HasSuffix(label, "unseen") || !strings.Contains(label, "over") {
			t.Errorf("%q", label)
		}
	}
	if len(labels) < 2 {
		t.Error(labels)
	}
}

// Where there is room, the sentence on a lease that is over says why Redis's record has another end.
func TestEndsOfLeaseAndRecordAreExplained(t *testing.T) {
	run := timeline.New(tuitest.RealRun(t, "naive-del", "late-release"))
	pos := slices.IndexFunc(run.Events, func(e trace.Event) bool { return e.Kind == trace.KindExpire }) + 1
	for width, want := range map[int]string{120: "(10s since it asked; Redis counts from when it stored the record).", 80: "(10s since it asked)."} {
		if l, _ := Holders(run, pos, run.StateAt(pos), width); !strings.HasSuffix(tuitest.LineText(l), want) || l.Width() > width {
			t.Errorf("%d columns: %q", width, tuitest.LineText(l))
		}
	}
}

// Where one master is enough, no row speaks of a quorum.
func TestOneMasterIsNoQuorum(t *testing.T) {
	run := tuitest.RealRun(t, "setpx-lua", "failover-wait")
	for _, l := range timeline.New(run).Lanes() {
		if name, what := (Lane{Lane: l}).label(run); l.Kind == timeline.Majority && (name != "redis" || what != "") {
			t.Errorf("%q, %q", name, what)
		}
	}
	if texts := timeline.New(run).EnoughTexts(0); texts[0] != run.Key+"=A" {
		t.Errorf("%q", texts)
	}
}

// Where a property breaks, what those think of whom the evidence tells has its row before the accesses to the resource, which prove nothing
// there; where these prove it, it is the other way round.
func TestBeliefsInTheEvidenceHaveRows(t *testing.T) {
	run := timeline.New(tuitest.RealRun(t, "naive-del", "late-release"))
	has := func(pos, rows int, l timeline.Lane) bool {
		return slices.ContainsFunc(PlanLanes(run, pos, rows), func(o Lane) bool { return o.kind == laneOwn && o.Lane == l })
	}
	a, store := timeline.Lane{Kind: timeline.Belief}, timeline.Lane{Kind: timeline.Store}
	checked := map[trace.Code]bool{}
	for _, b := range run.Breaches {
		tells := slices.ContainsFunc(b.Events, func(seq int) bool { return run.Event(run.After(seq)).Client == 0 })
		rows := WholeRows(run, b.Pos) - AxisRows - 1 // one less than all need
		switch {
		case b.Code == trace.DG && !tells:
			t.Error("the evidence doesn't tell of A")
		case b.Code == trace.DG && (!has(b.Pos, rows, a) || has(b.Pos, rows, store)):
			t.Errorf("%s: what A thinks has a row: %v; the resource: %v", b.Code, has(b.Pos, rows, a), has(b.Pos, rows, store))
		case b.Code == trace.SW && (has(b.Pos, rows, a) || !has(b.Pos, rows, store)):
			t.Errorf("%s: what A thinks has a row: %v; the resource: %v", b.Code, has(b.Pos, rows, a), has(b.Pos, rows, store))
		}
		checked[b.Code] = true
	}
	if !checked[trace.DG] || !checked[trace.SW] {
		t.Error(checked)
	}
}
