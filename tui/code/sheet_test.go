package code

import (
	"fmt"
	"strings"
	"testing"

	"lockstep/tui/draw"
	"lockstep/tui/tuitest"
)

// Code begins with a declaration or a comment, or with the first line of the declaration that has more lines than the pane, and a mark for
// those that are left out; the line in focus is in sight.
func TestSheetBeginsAtADeclaration(t *testing.T) {
	var v Standing
	add := func(texts ...string) {
		for _, text := range texts {
			v.Texts, v.Lines, v.Rows = append(v.Texts, text), append(v.Lines, len(v.Lines)+1), append(v.Rows, draw.Line{draw.Text(text, draw.Plain)})
		}
	}
	add("type T struct {", "  a, b, c, d int", "}", "", "// F does it.", "func (l *T) F(", "  a int,", ") {")
	for i := range 30 {
		add(fmt.Sprintf("  line%d()", i))
	}
	add("}", "", "func G() {", "  g()", "}")
	th := tuitest.PlainTheme(false)
	for _, height := range []int{8, 13, 20} {
		for focus := range v.Rows {
			sheet, c := v, draw.NewCanvas(40, height, th.More)
			sheet.Focus = focus
			sheet.Draw(c, draw.Rect(0, 0, 40, height), "f.go", v.Texts, th, func(_, base int) int { return base })
			rows := strings.Split(tuitest.Stripped(c.Render(th)), "\n")
			text := strings.Join(rows, "\n")
			whole := strings.HasPrefix(rows[1], " type") || strings.HasPrefix(rows[1], " func") || strings.HasPrefix(rows[1], " //")
			if !whole || !strings.Contains(text, strings.TrimRight(v.Texts[focus], " ")) {
				t.Errorf("%d rows, focus %d:\n%s", height, focus, text)
			}
		}
	}
}
