package pane

import (
	"fmt"
	"strings"
	"testing"

	"lockstep/sim/timeline"
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
				name = fmt.Sprintf("(%d hidden)", l.hidden)
			}
			fmt.Fprintf(&b, " |%s", strings.TrimSpace(name+" "+what))
		}
		b.WriteByte('\n')
	}
	tuitest.Golden(t, "lanes", b.String())
}

// The row of the probe says what that is, before its first deed, and not before it comes.
func TestProbeIsIntroduced(t *testing.T) {
	for _, run := range []*timeline.Timeline{realRun(t, "setpx-lua", "late-release"), realRun(t, "redlock", "pause-past-ttl")} {
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
