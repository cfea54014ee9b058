package tui

import (
	"testing"
)

func TestPickerScreens(t *testing.T) {
	eachFrame(t, "picker", func(t *testing.T, name string, w, h int, th *theme) {
		s := handmadeStage(shelf(handmade), th)
		p := strategyList(s, "Which lock?  (the scenario stays, and the place in it)", 0, 0, nil)
		golden(t, name, open(t, w, h, s, p, nil).View())
	})
}
