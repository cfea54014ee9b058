package pane

import (
	"slices"
	"strings"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
	"lockstep/strategies"
	"lockstep/tui/draw"
)

// SourceFile is the file of package strategies in which the last command so far
// was sent: usually the strategy's own, sometimes one that it shares with others.
func SourceFile(r *timeline.Timeline, pos int, own string) string {
	for p := pos; p > 0; p-- {
		if file, is := strings.CutPrefix(r.Event(p).Source.File, "strategies/"); is {
			if _, found := strategies.Text(file); found {
				return file
			}
		}
	}
	return own
}

// SourceLines is a strategy's code, with the names of the clients beside the
// line on which each of them stands, and the line of the cursor's event lit.
// The second result is the line to keep in sight, from 0.
func SourceLines(r *timeline.Timeline, pos int, s *trace.State, file string, code []string, width int) ([]draw.Line, int) {
	standing := map[int][]int{} // by line, from 1
	lit, focus := 0, 0
	for i := range s.Clients {
		if c := &s.Clients[i]; c.Source.File == "strategies/"+file && c.InStrategy() {
			standing[c.Source.Line] = append(standing[c.Source.Line], i)
			focus = c.Source.Line
		}
	}
	if e := r.Event(pos); e != nil && e.Source.File == "strategies/"+file {
		lit, focus = e.Source.Line, e.Source.Line
	}
	for p := pos; p > 0 && focus == 0; p-- { // no client is in this file: stay where the last one was
		if e := r.Event(p); e.Source.File == "strategies/"+file {
			focus = e.Source.Line
		}
	}
	if focus == 0 {
		focus = LineOf(code, ") Acquire(") // and not at the imports
	}
	const gutter = 3
	names := shortNames(r.Clients)
	lines := make([]draw.Line, 0, len(code))
	for i, text := range code {
		l := draw.Line{}
		used := 0
		for _, client := range standing[i+1] {
			name := names[client]
			l = append(l, draw.Text(name, draw.ClientInk(client)))
			used += draw.Width(name)
		}
		l = append(l, draw.Text(strings.Repeat(" ", max(gutter-used, 1)), draw.Plain))
		k := draw.Dim
		switch {
		case i+1 == lit:
			k = draw.Pick
			text += strings.Repeat(" ", max(width-l.Width()-draw.Width(text), 0))
		case standing[i+1] != nil:
			k = draw.Strong
		case !strings.HasPrefix(strings.TrimSpace(text), "//"):
			k = draw.Plain
		}
		lines = append(lines, append(l, draw.Text(text, k)))
	}
	return lines, max(focus-1, 0)
}

// WholeComment is the first line of code to show, from 0: the given one, or the beginning of the comment in
// whose middle it is, as far as the line to keep in sight stays among so many rows.
func WholeComment(code []string, first, focus, rows int) int {
	comment := func(i int) bool { return strings.HasPrefix(strings.TrimSpace(code[i]), "//") }
	for at := first; at > 0 && at < len(code) && comment(at) && focus-at < rows; at-- {
		if !comment(at - 1) {
			return at
		}
	}
	return first
}

// Code is a file of package strategies, line by line, or why there is none: the lock of a process or of a library has no
// name of a file.
func Code(file string) []string {
	if text, found := strategies.Text(file); found {
		return CodeLines(text)
	}
	return slices.Clone(unknownCode)
}

var unknownCode = []string{
	"// A lock outside of Lockstep:",
	"// its code isn't known here.",
	"// What it sends is in the",
	"// list of events.",
}

// LineOf is the first line of code, from 1, that contains a text; 0 if none does.
func LineOf(code []string, text string) int {
	return slices.IndexFunc(code, func(l string) bool { return strings.Contains(l, text) }) + 1
}

// CodeLines splits a source text; tabs become two columns, as the pane is narrow.
func CodeLines(code string) []string {
	return strings.Split(strings.TrimRight(strings.ReplaceAll(code, "\t", "  "), "\n"), "\n")
}

// Joined is code in which each if with a single line stands in one line, so that a small window
// shows more of a function; and the place of a line in it, from 1. The block of that line stays as
// it is. A comment stands behind the block, so that it hides nothing.
func Joined(code []string, line int) (short []string, at int) {
	for i := 0; i < len(code); i++ {
		if text, joins := join(code[i:]); joins && line != i+2 {
			short = append(short, text)
			if line == i+1 || line == i+3 {
				at = len(short)
			}
			i += 2
			continue
		}
		short = append(short, code[i])
		if i+1 == line {
			at = len(short)
		}
	}
	return short, at
}

// join is an if with a single statement, and its comments, in one line.
func join(code []string) (string, bool) {
	if len(code) < 3 || strings.TrimSpace(code[2]) != "}" || depth(code[0]) != depth(code[2]) {
		return "", false
	}
	head, about, _ := strings.Cut(code[0], " // ")
	inner, more, _ := strings.Cut(strings.TrimSpace(code[1]), " // ")
	if !strings.HasPrefix(strings.TrimSpace(head), "if ") || !strings.HasSuffix(head, "{") || strings.HasPrefix(inner, "//") {
		return "", false
	}
	text := head + " " + inner + " }"
	for _, comment := range []string{about, more} {
		if comment != "" {
			text += " // " + comment
		}
	}
	return text, true
}

// depth is how far a line of code is indented.
func depth(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }
