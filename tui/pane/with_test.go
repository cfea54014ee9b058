package pane

import "testing"

// TestSignOfTwoDiagramsIsThereSinceTheEarlier: of the legend's signs those go first into rows that are there the longest.
func TestSignOfTwoDiagramsIsThereSinceTheEarlier(t *testing.T) {
	upper, lower := Drawn{since: map[string]int{"x": 0, "y": 7}}, Drawn{since: map[string]int{"x": 5, "y": 2, "z": 3}}
	both := upper.With(lower).since
	if both["x"] != 0 || both["y"] != 2 || both["z"] != 3 {
		t.Errorf("%v", both)
	}
}
