package draw

import "strings"

// LongestLine is the greatest width of prose, in columns: beyond it the eye no longer
// finds the next line.
const LongestLine = 78

// wideLine is the width of prose in short paragraphs where a pane has so many columns: there it takes fewer rows, and the space between
// paragraphs leads the eye.
const wideLine = 104

// Measure is the width of the prose beside a run in a pane of so many columns.
func Measure(columns int) int {
	if columns > wideLine {
		return wideLine
	}
	return min(columns, LongestLine)
}

// WidestLine is that of words which have the whole width of a window: rows are worth more there.
const WidestLine = 2 * LongestLine

// Paragraphs sets text in paragraphs, one after another.
type Paragraphs struct {
	Width int    // of the lines, in columns
	Lines []Line // set so far
}

// Gap is an empty line between paragraphs.
func (t *Paragraphs) Gap() {
	if len(t.Lines) > 0 {
		t.Lines = append(t.Lines, nil)
	}
}

// Add wraps a text; the lines after the first stand below the text, not the prefix.
func (t *Paragraphs) Add(k Ink, prefix, text string) {
	for i, s := range Wrap(text, t.Width-1-Width(prefix)) {
		if i > 0 {
			prefix = strings.Repeat(" ", Width(prefix))
		}
		t.Lines = append(t.Lines, Line{{" ", Plain}, {prefix + s, k}})
	}
}

// Words is the number of words in lines.
func Words(lines []Line) (n int) {
	for _, l := range lines {
		for _, s := range l {
			n += len(strings.Fields(s.Text))
		}
	}
	return n
}
