package tui

import (
	"strings"
	"testing"

	"lockstep/sim/explore"
	"lockstep/tui/draw"
	"lockstep/tui/finding"
	"lockstep/tui/screen"
	"lockstep/tui/tuitest"
)

func TestFindingIsShown(t *testing.T) {
	tuitest.EachFrame(t, "finding", func(t *testing.T, name string, w, h int, th *draw.Theme) {
		app := tuitest.HandmadeApp(tuitest.Shelf(tuitest.Handmade), th)
		lock := app.Library.Strategy("setpx-lua")
		found, err := tuitest.HandmadeSearch(t.Context(), explore.Defaults(app.Library.Strategies[lock]), explore.Options{Progress: func(explore.Progress) {}})
		if err != nil {
			t.Fatal(err)
		}
		a := tuitest.Open(t, w, h, app, finding.Open(app, screen.FindingMsg{Strategy: lock, Trace: found.Violated[0].Trace, Sought: found.Violated[0].Code}), nil)
		a.Press("! !")
		tuitest.Golden(t, name, a.View())
	})
}

// The reader's own moves with another lock are not called the least schedule of a search.
func TestOwnMovesAreNoFinding(t *testing.T) {
	app := tuitest.HandmadeApp(tuitest.Shelf(tuitest.Handmade), tuitest.PlainTheme(false))
	for _, own := range []bool{false, true} {
		p := finding.Open(app, screen.FindingMsg{Strategy: 3, Trace: tuitest.PauseTrace(), Own: own}).Help()
		if searched := strings.Contains(p.About, "least schedule of a search"); searched == own || strings.Contains(p.Title, "found") == own {
			t.Errorf("own %v: %s: %s", own, p.Title, p.About)
		}
	}
}
