package tui

import "strings"

// longestLine is as wide as prose may be: the eye finds the next line no more
// beyond this.
const longestLine = 78

// teller sets paragraphs.
type teller struct {
	width int
	lines []line
}

// gap is an empty line between paragraphs.
func (t *teller) gap() {
	if len(t.lines) > 0 {
		t.lines = append(t.lines, nil)
	}
}

// add wraps a text; the lines after the first stand below the text, not the prefix.
func (t *teller) add(k ink, prefix, text string) {
	for i, s := range wrap(text, t.width-1-textWidth(prefix)) {
		if i > 0 {
			prefix = strings.Repeat(" ", textWidth(prefix))
		}
		t.lines = append(t.lines, line{{" ", inkPlain}, {prefix + s, k}})
	}
}
