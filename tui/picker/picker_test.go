package picker

import (
	"testing"

	"lockstep/tui/draw"
	"lockstep/tui/tuitest"
)

func TestScreens(t *testing.T) {
	tuitest.EachFrame(t, "picker", func(t *testing.T, name string, w, h int, th *draw.Theme) {
		app := tuitest.HandmadeApp(tuitest.Shelf(tuitest.Handmade), th)
		p := Strategies(app, "Which lock?  (the scenario stays, and the place in it)", 0, 0, nil)
		tuitest.Golden(t, name, tuitest.Open(t, w, h, app, p, nil).View())
	})
}
