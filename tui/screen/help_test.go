package screen

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"lockstep/sim/trace"
	"lockstep/tui/draw"
)

// The glossary stands in the order of the alphabet, and is complete in one column as in two, of
// which there are two where a window is wide.
func TestGlossaryIsSorted(t *testing.T) {
	words := trace.TermsIn("lease token grant node probe PX NX DEL virtual time watchdog redis resource majority broken")
	rows := map[int]int{}
	for _, width := range []int{78, 118, 198} {
		lines := glossary(words, width)
		rows[width] = len(lines)
		var firsts, all []string
		for _, l := range lines {
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

// Every line of a page is to be seen on one of its screens on the way down, and again on the way up.
func TestPagesOfHelpLeaveNothingOut(t *testing.T) {
	h := &help{App: NewApp(NewLibrary(), nil, draw.NewTheme(lipgloss.NewRenderer(io.Discard), false, true), 1, nil)}
	var want []string
	for i := range 100 {
		want = append(want, fmt.Sprintf("(%d)", i))
	}
	h.page.About = strings.Join(want, "\n")
	for _, rows := range []int{20, 21, 30} {
		for _, to := range []tea.KeyType{tea.KeyPgDown, tea.KeyPgUp} {
			seen := ""
			for range 10 {
				c := draw.NewCanvas(80, rows, "~")
				h.Draw(c, draw.Rect(0, 0, 80, rows))
				seen += c.Render(h.Theme)
				h.Update(tea.KeyMsg{Type: to})
			}
			for _, line := range want {
				if !strings.Contains(seen, line) {
					t.Errorf("%d rows: the line %s is on no page", rows, line)
				}
			}
		}
	}
}

// A sign with several meanings is explained once, and no explanation is cut.
func TestSignsAreWhole(t *testing.T) {
	signs := []draw.Sign{{"!", "a clock jumps"}, {"x", strings.Repeat("much is said ", 9) + "of it"}, {"!", "a server takes over"}}
	text := ""
	for _, l := range flow(signs, 78) {
		if l.Width() > 78 {
			t.Errorf("a line of %d columns", l.Width())
		}
		for _, s := range l {
			text += s.Text
		}
	}
	text = strings.Join(strings.Fields(text), " ")
	for _, want := range []string{"! a clock jumps; or a server takes over", "of it"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
}

// All words of the program and all codes are a key away from every page of help.
func TestAllWordsAreInTheHelp(t *testing.T) {
	h := &help{App: NewApp(NewLibrary(), nil, draw.NewTheme(lipgloss.NewRenderer(io.Discard), false, true), 1, nil)}
	h.Update(tea.KeyMsg{Type: tea.KeyTab})
	c := draw.NewCanvas(200, 400, "~")
	h.Draw(c, draw.Rect(0, 0, 200, 400))
	v := c.Render(h.Theme)
	for _, want := range []string{"fencing token", "majority", "PD ", "permanent deadlock: "} {
		if !strings.Contains(v, want) {
			t.Errorf("%q is not among all words", want)
		}
	}
}

// What is said of a key stays in its column.
func TestKeysStayInOneColumn(t *testing.T) {
	h := &help{}
	for i := range 7 {
		h.page.Keys = append(h.page.Keys, key.NewBinding(key.WithKeys("x"), key.WithHelp(fmt.Sprintf("k%d", i), strings.Repeat("several words of a key ", 1+i%3)+"end")))
	}
	for _, width := range []int{38, 78, 118, 198} {
		starts, ends := map[int]bool{}, 0
		for row, l := range h.columns(width) {
			for i := 0; i+1 < len(l); i++ {
				at := l[:i].Width() / 38
				switch text := l[i].Text; {
				case strings.HasPrefix(text, "k"):
					starts[at] = true
				case strings.TrimSpace(text) == "" && strings.TrimSpace(l[i+1].Text) != "" && !starts[at]:
					t.Errorf("%d columns: row %d of column %d, %q, has no key above it", width, row, at, l[i+1].Text)
				}
			}
			if l.Width() > max(width, 38) {
				t.Errorf("%d columns: row %d has %d", width, row, l.Width())
			}
			for _, span := range l {
				ends += strings.Count(span.Text, "end")
			}
		}
		if ends != len(h.page.Keys) {
			t.Errorf("%d columns: %d of %d keys are told to the end", width, ends, len(h.page.Keys))
		}
	}
}
