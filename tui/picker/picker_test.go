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

// Numbers that stand in the list can be typed, also those of two digits.
func TestNumbersCanBeTyped(t *testing.T) {
	app := tuitest.HandmadeApp(tuitest.Shelf(tuitest.Handmade), tuitest.PlainTheme(false))
	items := make([]Item, 14)
	for i := range items {
		items[i] = Item{Name: "level", Badge: func() draw.Span { return draw.Span{} }}
	}
	p := &Picker{App: app, Title: "Which?", Items: items, Current: -1, Numbered: true}
	a := tuitest.Open(t, 80, 24, app, p, nil)
	for _, step := range []struct {
		keys string
		want int
	}{{"3", 3}, {"home", 1}, {"1 2", 12}, {"9", 9}, {"home 1 7", 7}, {"home 0", 1}} {
		if a.Press(step.keys); p.At+1 != step.want {
			t.Errorf("%s leads to %d, want %d", step.keys, p.At+1, step.want)
		}
	}
}
