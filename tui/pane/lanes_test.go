package pane

import (
	"fmt"
	"strings"
	"testing"

	"lockstep/sim/timeline"
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
