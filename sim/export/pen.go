package export

import (
	"encoding/xml"
	"fmt"
	"strings"
	"unicode/utf8"
)

// pen writes SVG. Everything is measured in whole pixels, so that no rounding of
// a printed fraction can make two pictures differ.
type pen struct{ strings.Builder }

func (p *pen) printf(format string, args ...any) { fmt.Fprintf(p, format+"\n", args...) }

// rect draws a box; class names its look.
func (p *pen) rect(class string, x, y, w, h int, title string) {
	p.shape(title, `<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="2"`, class, x, y, max(w, 1), h)
}

func (p *pen) line(class string, x1, y1, x2, y2 int) {
	p.printf(`<line class="%s" x1="%d" y1="%d" x2="%d" y2="%d"/>`, class, x1, y1, x2, y2)
}

// text writes on the baseline y; class gives size, weight and ink.
func (p *pen) text(class string, x, y int, s string) {
	p.printf(`<text class="%s" x="%d" y="%d">%s</text>`, class, x, y, escape(s))
}

// glyph draws one of the marks around a point.
func (p *pen) glyph(name, class string, x, y int, title string) {
	p.shape(title, `<path class="%s" transform="translate(%d %d)" d="%s"`, class, x, y, glyphs[name])
}

// shape closes an element, with a title for those who point at it or have it read to them.
func (p *pen) shape(title, format string, args ...any) {
	fmt.Fprintf(p, format, args...)
	if title == "" {
		p.printf("/>")
		return
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(format, "<"), " ")
	p.printf("><title>%s</title></%s>", escape(title), name)
}

// chip writes on a patch of background, so that it can be read on any pattern.
func (p *pen) chip(class string, x, y, height int, s string) {
	w := textWidth(s, small)
	p.rect("ls-chip", x, y, w+8, height, "")
	p.text("ls-small "+class, x+4, y+height-4, s)
}

// escape makes text fit for XML; a character that XML cannot hold becomes U+FFFD.
func escape(s string) string {
	var b strings.Builder
	xml.EscapeText(&b, []byte(s)) //nolint:errcheck // a Builder takes everything
	return b.String()
}

// The sizes of letters, in pixels. All text is in the reader's monospaced font,
// so that its width is known without the font: about six tenths of its size a
// letter, and twice that for East Asian ones.
const (
	small  = 11
	normal = 13
	large  = 18
)

func textWidth(s string, size int) int { return (columns(s)*size*61 + 99) / 100 }

func columns(s string) int {
	n := utf8.RuneCountInString(s)
	for _, r := range s {
		if r >= 0x1100 {
			n++
		}
	}
	return n
}

// fold breaks text into lines of so many columns, between words where there
// are any.
func fold(s string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(s) {
		for columns(word) > width {
			if line != "" {
				lines, line = append(lines, line), ""
			}
			head := take(word, width)
			lines, word = append(lines, head), word[len(head):]
		}
		switch {
		case line == "":
			line = word
		case columns(line)+1+columns(word) > width:
			lines, line = append(lines, line), word
		default:
			line += " " + word
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// take is as much of a word as fits into so many columns, but at least a letter.
func take(word string, width int) string {
	used := 0
	for i, r := range word {
		if used += columns(string(r)); used > width && i > 0 {
			return word[:i]
		}
	}
	return word
}
