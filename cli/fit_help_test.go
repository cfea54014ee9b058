package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"lockstep/sim/explore/report"
	"lockstep/tui/draw"
)

// TestHelpIsSetForThePage: no line of a command's help is too long for a narrow page, none but the last of a paragraph is
// shorter than it need be, and no word is lost.
func TestHelpIsSetForThePage(t *testing.T) {
	was := report.Page
	t.Cleanup(func() { report.Page = was })
	report.Page = 60
	var each func(c *cobra.Command)
	each = func(c *cobra.Command) {
		lines := strings.Split(reset(c.Long), "\n")
		if !slices.Equal(strings.Fields(strings.Join(lines, "\n")), strings.Fields(asCalled(c.Long))) {
			t.Errorf("%s: other words", c.Name())
		}
		for i, l := range lines {
			if l == "" || l[0] == ' ' {
				continue
			}
			if draw.Width(l) > report.Page && strings.Contains(l, " ") {
				t.Errorf("%s: too long: %s", c.Name(), l)
			}
			if i+1 < len(lines) && lines[i+1] != "" && lines[i+1][0] != ' ' {
				if next, _, _ := strings.Cut(lines[i+1], " "); draw.Width(l+" "+next) <= report.Page {
					t.Errorf("%s: %q has room for %q", c.Name(), l, next)
				}
			}
		}
		for _, sub := range c.Commands() {
			each(sub)
		}
	}
	each(newRoot())
}
