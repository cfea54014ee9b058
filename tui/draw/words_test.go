package draw

import "testing"

// A text that is cut behind a word has no part of one, and no mark of punctuation, before the mark of the cut.
func TestFitWords(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  string
	}{
		{"SET NX PX; GET", 14, "SET NX PX; GET"}, {"SET NX PX; GET", 13, "SET NX PX~"}, {"SET NX PX, GET", 10, "SET NX PX~"}, {"SET NX PX", 8, "SET NX~"}, {"SET NX PX", 7, "SET NX~"}, {"unbreakable", 5, "unbr~"}, {"A late release", 5, "A la~"},
	} {
		if got := FitWords(c.text, c.width, "~"); got != c.want {
			t.Errorf("%q in %d columns: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}
