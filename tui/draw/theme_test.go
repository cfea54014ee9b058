package draw

import (
	"io"
	"testing"

	"github.com/charmbracelet/lipgloss"
)

// Without colours there are other means of stressing what must not be missed.
func TestMonoStresses(t *testing.T) {
	bare := NewTheme(NewRenderer(lipgloss.NewRenderer(io.Discard), "", true), true, false)
	for _, k := range []Ink{Alarm, Pick, Breach} {
		if bare.before[k] == "" {
			t.Errorf("ink %d has no look of its own", k)
		}
	}
}

// The underline of a violation without colours is below its words, and the blanks between them: not below the
// blanks before and after.
func TestMonoUnderlinesNoMargins(t *testing.T) {
	bare := NewTheme(NewRenderer(lipgloss.NewRenderer(io.Discard), "", true), true, false)
	for _, tt := range []struct{ text, before, words, after string }{
		{"   !! SW  stale  ", "   ", "!! SW  stale", "  "}, {"1 ", "", "1", " "}, {"x", "", "x", ""}, {"  ", "  ", "", ""},
	} {
		c := NewCanvas(20, 1, "~")
		c.Line(0, 0, 20, Line{Text(tt.text, Breach), Text("|", Plain)})
		want := tt.before + tt.after + "|"
		if tt.words != "" {
			want = tt.before + bare.before[Breach] + tt.words + bare.after[Breach] + tt.after + "|"
		}
		if got := c.Render(bare); got != want {
			t.Errorf("%q: %q, want %q", tt.text, got, want)
		}
	}
}
