package screen

import (
	"fmt"

	"lockstep/tui/draw"
)

// DrawAwaited says in the place of a run that it is being made, or why it can't be.
func (a *App) DrawAwaited(c *draw.Canvas, r draw.Rectangle, strategy, scenario int, failed error) {
	st, sc := a.Library.Strategies[strategy].Name, a.Library.Scenarios[scenario]
	if failed == nil {
		c.Text(r.X+1, r.Y, r.W-2, fmt.Sprintf("running %s under %s", st, sc.Name), draw.Dim)
		return
	}
	c.Text(r.X+1, r.Y, r.W-2, fmt.Sprintf("%s under %s can't be run:", st, sc.Name), draw.Breach)
	t := draw.Paragraphs{Width: r.W - 2}
	t.Add(draw.Plain, "  ", failed.Error())
	if sc.Path() != "" {
		t.Gap()
		t.Add(draw.Dim, "", "It is run again as soon as another version of its file is saved.")
	}
	c.Lines(draw.Rect(r.X, r.Y+1, r.W, r.H-1), t.Lines, 0)
}
