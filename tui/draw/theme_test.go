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
