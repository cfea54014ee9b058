package player_test

import (
	"slices"
	"strings"
	"testing"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/ladder"
	"lockstep/tui/pane"
	"lockstep/tui/tuitest"
)

// The ladder marks what a server does with the sign that a diagram has for a write: the help has both meanings.
func TestHelpExplainsTheLadder(t *testing.T) {
	th := tuitest.PlainTheme(false)
	r := timeline.New(tuitest.PauseTrace())
	c := draw.NewCanvas(80, 20, "~")
	pos := slices.IndexFunc(r.Events, func(e trace.Event) bool { return e.Kind == trace.KindExpire }) + 1
	ladder.Draw(c, draw.Rect(0, 0, 80, 20), r, pos, th)
	of := func(words string) bool {
		return slices.ContainsFunc(pane.Legend(&th.Glyphs, r), func(s draw.Sign) bool { return s[0] == th.Write && strings.Contains(s[1], words) })
	}
	if v := c.Render(th); !strings.Contains(v, th.Write) || !of("server") || !of("writes: the resource") {
		t.Errorf("%s has not both meanings, or none is in\n%s", th.Write, v)
	}
}

// No text is cut beside free rows, and a click on any of an event's rows goes to it.
func TestLadderWraps(t *testing.T) {
	th := tuitest.PlainTheme(false)
	r := timeline.New(tuitest.RealRun(t, "naive-del", "late-release"))
	pos := slices.IndexFunc(r.Events, func(e trace.Event) bool { return e.Kind == trace.KindLapse }) + 1
	place := draw.Rect(0, 0, 80, 12)
	c := draw.NewCanvas(80, 12, "~")
	ladder.Draw(c, place, r, pos, th)
	var rows []string
	for row := range strings.Lines(c.Render(th)) {
		rows = append(rows, row)
	}
	if strings.Contains(strings.Join(rows, ""), "~") {
		t.Errorf("a text is cut:\n%s", strings.Join(rows, ""))
	}
	first := slices.IndexFunc(rows, func(row string) bool { return strings.Contains(row, "lease is over") })
	if first < 0 || !strings.Contains(rows[first+1], "0s") || !strings.Contains(rows[first], "A's lease is over") || strings.Contains(rows[first+1], "lease is over") {
		t.Fatalf("the lease's end has not two rows:\n%s", strings.Join(rows, ""))
	}
	for row, want := range map[int]int{first - 1: pos - 1, first: pos, first + 1: pos, 0: pos} {
		if got := ladder.At(place, r, pos, row, th); got != want {
			t.Errorf("row %d is event %d, not %d", row, got, want)
		}
	}
}
