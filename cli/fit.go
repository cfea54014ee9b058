package cli

import (
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/charmbracelet/x/term"

	"lockstep/sim/explore/report"
	"lockstep/tui/draw"
)

// leastWidth is that of the narrowest terminal for which lines are broken: columns of text need some room.
const leastWidth = 40

// pipedWidth is the width of words that go into a file or to another program, unless COLUMNS is set.
const pipedWidth = 80

// widthOf is the width of a terminal, or 0 for anything else.
func widthOf(stream any) int {
	if !terminal(stream) {
		return 0
	}
	w, _, err := term.GetSize(stream.(*os.File).Fd())
	if err != nil || w <= 0 {
		return 0
	}
	return max(w, leastWidth)
}

// pageOf is the width of the page for words: of a terminal its own, and of a file or a pipe the one that its reader is
// likely to have. It is 0 for a stream inside the program, whose reader sets them itself.
func pageOf(stream any) int {
	if w := widthOf(stream); w > 0 {
		return w
	}
	if _, is := stream.(*os.File); !is {
		return 0
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		return max(n, leastWidth)
	}
	return pipedWidth
}

// fitPage has paragraphs set for a page that is narrower than usual.
func fitPage(out any) {
	if w := pageOf(out); w > 0 {
		report.Page = min(report.Page, w)
	}
}

// prose is a stream for words: the commands that they suggest begin as the reader called the program, and lines that are
// too long for the page are broken between words.
func prose(w io.Writer) io.Writer { return fitting{w, pageOf(w)} }

// unbroken is a stream for traces and errors: as prose, but off a terminal its lines stay whole, because
// another program may read them.
func unbroken(w io.Writer) io.Writer { return fitting{w, widthOf(w)} }

// wrap sets a paragraph, as [report.Wrap] does. Its commands get the reader's name for the program before it is broken into
// lines, within which they could not be told any more.
func wrap(label string, indent int, text string) string {
	return report.Wrap(label, indent, asCalled(text))
}

// reset sets paragraphs for the page, whose lines end in the source where its editor had them. Lines that are indented are
// examples, and stay as they are.
func reset(text string) string {
	var lines []string
	within := false // a paragraph
	for line := range strings.SplitSeq(asCalled(text), "\n") {
		if line == "" || line[0] == ' ' {
			lines, within = append(lines, line), false
			continue
		}
		for _, word := range strings.Fields(line) {
			if last := len(lines) - 1; within && draw.Width(lines[last]+" "+word) <= report.Page {
				lines[last] += " " + word
			} else {
				lines, within = append(lines, word), true
			}
		}
	}
	return strings.Join(lines, "\n")
}

// fitting changes the lines that are written to it, each by itself. Writers hand it whole lines.
type fitting struct {
	w     io.Writer
	width int // 0 if lines may have any
}

func (f fitting) Write(p []byte) (int, error) {
	text := strings.Split(asCalled(string(p)), "\n")
	for i, l := range text {
		if f.width > 0 {
			text[i] = fitLine(l, f.width)
		}
	}
	if _, err := io.WriteString(f.w, strings.Join(text, "\n")); err != nil {
		return 0, err
	}
	return len(p), nil
}

// fitLine breaks a line between words. The rest of it stands below the text of the last column, if the line has
// columns and they leave half of the width to it, and else a little further in than the line. A word that
// is longer than a line stays whole: it is a schedule or a path, which is there to be copied.
func fitLine(s string, width int) string {
	if draw.Width(s) <= width || strings.ContainsAny(s, "\r\x1b\t") {
		return s
	}
	indent := len(s) - len(strings.TrimLeft(s, " "))
	hang, line := min(indent+2, width/2), s[:indent]
	if at := strings.LastIndex(s[:min(len(s), width*2/3)], "  "); at >= indent {
		text := len(s) - len(strings.TrimLeft(s[at:], " ")) // where the last column begins
		if line = s[:text]; text <= width*2/3 {
			hang = text
		}
	}
	var b strings.Builder
	empty := true
	for _, word := range strings.Fields(s[len(line):]) {
		gap := " "
		if empty {
			gap = ""
		}
		if !empty && draw.Width(line+gap+word) > width && draw.Width(word) <= width-hang {
			b.WriteString(line + "\n")
			line, gap = strings.Repeat(" ", hang), ""
		}
		line, empty = line+gap+word, false
	}
	return b.String() + line
}
