package screen

import (
	"slices"
	"strings"
	"testing"

	"lockstep/sim/trace"
	"lockstep/tui/draw"
)

// The glossary stands in the order of the alphabet, and is complete in one column as in two, of
// which there are two where a window is wide.
func TestGlossaryIsSorted(t *testing.T) {
	words := trace.TermsIn("lease token grant node probe PX NX DEL virtual time watchdog redis store majority broken")
	h := help{words: words}
	rows := map[int]int{}
	for _, width := range []int{78, 118, 198} {
		lines := h.glossary(width)
		rows[width] = len(lines)
		var firsts, all []string
		for _, l := range lines[2:] {
			row := ""
			for _, s := range l {
				if row += s.Text; draw.Width(row) > width {
					t.Errorf("%d columns: %q is wider", width, row)
				}
			}
			all = append(all, row)
			if name := l[0].Text; strings.TrimSpace(name) != "" {
				firsts = append(firsts, strings.ToLower(strings.TrimSpace(name)))
			}
		}
		if !slices.IsSorted(firsts) {
			t.Errorf("%d columns: %q", width, firsts)
		}
		text := strings.Join(strings.Fields(strings.Join(all, " ")), " ")
		for _, w := range words {
			if !strings.Contains(text, w.Name+" "+strings.Fields(w.Meaning)[0]) {
				t.Errorf("%d columns: %s isn't explained", width, w.Name)
			}
		}
	}
	if rows[198] > rows[118]*2/3 {
		t.Errorf("198 columns: %d rows, and %d in 118", rows[198], rows[118])
	}
}
