// Package code shows a lock's source text beside its clients: the lines around the one that a client has
// reached, with short blocks joined into one line, so that a small window shows more of a function.
package code

import (
	"slices"
	"strings"

	"lockstep/strategies"
)

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

// Of is a file of package strategies, line by line, or why there is none: the lock of a process or of a library has no
// name of a file.
func Of(file string) []string {
	if text, found := strategies.Text(file); found {
		return Lines(text)
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

// Lines splits a source text; tabs become two columns, as panes are narrow.
func Lines(code string) []string {
	return strings.Split(strings.TrimRight(strings.ReplaceAll(code, "\t", "  "), "\n"), "\n")
}

// Joined is code in which each if with a single line stands in one line, so that a small window
// shows more of a function; and the places of lines in it, from 1. The blocks of these lines stay as
// they are. A comment stands behind the block, so that it hides nothing.
func Joined(code []string, lines ...int) (short []string, at []int) {
	at = make([]int, len(lines))
	for i := 0; i < len(code); i++ {
		text, joins, last := code[i], false, i
		if !slices.Contains(lines, i+2) {
			if text, joins = join(code[i:]); joins {
				last = i + 2
			} else {
				text = code[i]
			}
		}
		short = append(short, text)
		for k, line := range lines {
			if i < line && line <= last+1 {
				at[k] = len(short)
			}
		}
		i = last
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
