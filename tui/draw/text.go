package draw

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// NextGlyph takes the first character, as a person counts them, off s, and
// gives its width in columns: 0 for characters that must not reach a terminal (controls,
// escapes) or take no room.
func NextGlyph(s string) (glyph, rest string, width int) {
	if s[0] < utf8.RuneSelf {
		if len(s) == 1 || s[1] < utf8.RuneSelf {
			if s[0] == '\t' {
				return " ", s[1:], 1
			}
			if s[0] < ' ' || s[0] == 0x7f {
				return "", s[1:], 0
			}
			return s[:1], s[1:], 1
		}
	}
	g, w := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	rest = s[len(g):]
	r, _ := utf8.DecodeRuneInString(g)
	switch {
	case r == utf8.RuneError:
		return "?", rest, 1
	case unicode.IsControl(r), w == 0:
		return "", rest, 0
	}
	return g, rest, min(w, 2)
}

// Width is the number of columns that text takes on a canvas.
func Width(s string) int {
	n := 0
	for len(s) > 0 {
		var w int
		_, s, w = NextGlyph(s)
		n += w
	}
	return n
}

// Fit cuts s to a width and ends it with the mark where it cut.
func Fit(s string, width int, more string) string {
	if width <= 0 {
		return ""
	}
	if Width(s) <= width {
		return s
	}
	used, end := 0, 0
	for rest := s; len(rest) > 0; {
		_, next, w := NextGlyph(rest)
		if used+w > width-1 {
			break
		}
		used += w
		end = len(s) - len(next)
		rest = next
	}
	return s[:end] + more
}

// FitWords cuts s to a width behind a word, and ends it with the mark where it cut. A word that takes more room than
// those before it together is cut itself.
func FitWords(s string, width int, more string) string {
	cut := Fit(s, width, more)
	if cut == s {
		return s
	}
	kept := strings.TrimSuffix(cut, more)
	if last := strings.LastIndexByte(kept, ' '); 2*last >= len(kept) && !strings.ContainsRune(" ,;:", rune(s[len(kept)])) {
		kept = kept[:last]
	}
	return strings.TrimRight(kept, " ,;:") + more
}

// FitEnds cuts s in the middle: names that begin alike are told apart by their ends.
func FitEnds(s string, width int, more string) string {
	if Width(s) <= width || width < 3 {
		return Fit(s, width, more)
	}
	end := s
	for Width(end) > width/2 {
		_, end, _ = NextGlyph(end)
	}
	return Fit(s, width-Width(end), more) + end
}

// Wrap breaks text into lines of at most width columns, between words where it
// can. A newline in the text begins a new line; an empty line stays one.
func Wrap(s string, width int) []string {
	if width <= 0 {
		return nil
	}
	var lines []string
	for _, para := range strings.Split(strings.TrimRight(s, "\n"), "\n") {
		lines = append(lines, wrapLine(para, width)...)
	}
	return lines
}

func wrapLine(s string, width int) []string {
	var lines []string
	row, used := "", 0
	for _, word := range words(s) {
		n := Width(word)
		if used > 0 && used+1+n <= width {
			row, used = row+" "+word, used+1+n
			continue
		}
		if used > 0 {
			lines = append(lines, row)
		}
		for n > width {
			var head string
			head, word = splitAt(word, width)
			lines = append(lines, head)
			n = Width(word)
		}
		row, used = word, n
	}
	return append(lines, row)
}

// words splits at blanks; leading ones stay with the first word, so that an
// indented line keeps its place.
func words(s string) []string {
	trimmed := strings.TrimLeft(s, " ")
	list := strings.Fields(trimmed)
	if len(list) > 0 {
		list[0] = s[:len(s)-len(trimmed)] + list[0]
	}
	return list
}

// splitAt takes at least one character, and as many as fit in width, off s. A mark
// that closes a phrase begins no line: the character before it goes with it.
func splitAt(s string, width int) (head, tail string) {
	used, before, rest := 0, s, s
	for len(rest) > 0 {
		g, next, w := NextGlyph(rest)
		if used > 0 && used+w > width {
			if strings.Contains(closing, g) && len(before) < len(s) {
				rest = before
			}
			break
		}
		used += w
		before, rest = rest, next
	}
	return s[:len(s)-len(rest)], rest
}

// closing are the marks that end phrases in scripts which put no blanks between words.
const closing = "，。、；：！？）」』】》"

// Pad is s with blanks up to a width; it stays as it is if it is wider.
func Pad(s string, width int) string {
	for n := Width(s); n < width; n++ {
		s += " "
	}
	return s
}

// Sentence ends a text with a full stop.
func Sentence(s string) string { return strings.TrimRight(s, ".") + "." }

// Plural is a number of things, in words.
func Plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// PluralES is the same for words that take -es.
func PluralES(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ses", n, what)
}

// Times is how often something is done, in words.
func Times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return Plural(n, "time")
}

// Either is one of two values.
func Either[T any](cond bool, yes, no T) T {
	if cond {
		return yes
	}
	return no
}

// ShortNames are the shortest beginnings of the clients' names that tell them apart.
func ShortNames(names []string) []string {
	short := make([]string, len(names))
	for i, name := range names {
		short[i] = name
		for end := range name {
			if end > 0 && !slices.ContainsFunc(names, func(o string) bool { return o != name && strings.HasPrefix(o, name[:end]) }) {
				short[i] = name[:end]
				break
			}
		}
	}
	return short
}
