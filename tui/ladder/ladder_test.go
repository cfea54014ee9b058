package ladder

import (
	"slices"
	"strings"
	"testing"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
	"lockstep/tui/pane"
	"lockstep/tui/tuitest"
)

// The ladder marks what a server does with the sign that a diagram has for a write: the help has both meanings.
func TestHelpExplainsTheLadder(t *testing.T) {
	th := tuitest.PlainTheme(false)
	r := timeline.New(tuitest.PauseTrace())
	c := draw.NewCanvas(80, 20, "~")
	pos := slices.IndexFunc(r.Events, func(e trace.Event) bool { return e.Kind == trace.KindExpire }) + 1
	Draw(c, draw.Rect(0, 0, 80, 20), r, pos, th)
	of := func(words string) bool {
		return slices.ContainsFunc(pane.Legend(&th.Glyphs, r), func(s draw.Sign) bool { return s[0] == th.Write && strings.Contains(s[1], words) })
	}
	if v := c.Render(th); !strings.Contains(v, th.Write) || !of("server") || !of("writes to the store") {
		t.Errorf("%s has not both meanings, or none is in\n%s", th.Write, v)
	}
}
