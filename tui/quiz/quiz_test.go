package quiz

import (
	"strings"
	"testing"

	"lockstep/tui/draw"
	"lockstep/tui/tuitest"
)

// TestChoicesInColumns: short choices stand side by side, in as few rows as have room for them, and long ones below each other.
func TestChoicesInColumns(t *testing.T) {
	for _, c := range []struct {
		choices, want string
	}{
		{"A/B/C/D", "   1 A  2 B  3 C  4 D"},
		{"A's record/B's record/C's record/none", "   1 A's record  2 B's record|   3 C's record  4 none"},
		{"A has it, and B/nobody at all", "   1 A has it, and B|   2 nobody at all"},
	} {
		lines := draw.Paragraphs{Width: 33}
		list(&lines, strings.Split(c.choices, "/"), Columns)
		var got []string
		for _, l := range lines.Lines {
			got = append(got, tuitest.LineText(l))
		}
		if s := strings.Join(got, "|"); s != c.want {
			t.Errorf("%s: %q", c.choices, s)
		}
	}
}
