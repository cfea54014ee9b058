package report

import (
	"fmt"
	"strconv"
	"strings"

	"lockstep/sim/explore"
)

// Page is the greatest width of a printed line, in columns. A program that prints to a narrower terminal
// says so here before it prints anything.
var Page = 110

// Wrap sets a text behind a label, in lines that fit a page. All lines but the first are
// indented by indent columns. The result ends with a newline.
func Wrap(label string, indent int, text string) string {
	var b strings.Builder
	line := label
	for _, word := range strings.Fields(text) {
		if len(line)+1+len(word) > Page {
			b.WriteString(line + "\n")
			line = strings.Repeat(" ", indent-1)
		}
		line += " " + word
	}
	return b.String() + line + "\n"
}

// Count words a number of things: "no fault", "1 switch", "2,000 accesses".
func Count(n int, what string) string {
	switch n {
	case 0:
		return "no " + what
	case 1:
		return "1 " + what
	}
	if strings.HasSuffix(what, "s") || strings.HasSuffix(what, "ch") {
		what += "e"
	}
	return Grouped(int64(n)) + " " + what + "s"
}

// Grouped formats a number with commas between thousands.
func Grouped(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Live is the text that puts a line on a terminal in the place of the last one; the empty line erases that one. It is cut
// where the terminal ends, because the rest, in the next row, couldn't be overwritten.
func Live(line string) string {
	const begin, uncut, cut = "\r\x1b[K", "\x1b[?7h", "\x1b[?7l"
	if line == "" {
		return begin
	}
	return begin + cut + line + uncut
}

// times words how often something happens.
func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	if n == explore.Any {
		return "any number of times"
	}
	return fmt.Sprintf("%d times", n)
}
