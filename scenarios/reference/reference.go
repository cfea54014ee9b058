// Package reference finds examples for the reference of scripts: the first of the program's own scripts that has
// a step, a setting or a position.
package reference

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"lockstep/docs"
	"lockstep/scenarios"
)

// uses match the line of a script with a key of each table.
var uses = [docs.Tables]string{
	docs.Parts:     `^%s:`,
	docs.Setup:     `^  %s:`,
	docs.Client:    `[{ ]%s:`,
	docs.Steps:     `^  - {?%s:`,
	docs.Positions: `to: "?%s\b`,
}

// parts are where the keys of each table stand in a file, if it is not at its margin.
var parts = [docs.Tables][]string{docs.Setup: {"setup"}, docs.Client: {"setup", "variants"}, docs.Steps: {"script"}, docs.Positions: {"script"}}

// Example is a part of the first built-in script that has a key, or the key as it can be
// written, in lines that go on from a heading. They are none but the heading's end if there is neither. The table is one of package docs.
func Example(table int, key string) string {
	use := regexp.MustCompile(fmt.Sprintf(uses[table], key))
	for _, s := range scenarios.All() {
		part, lines := "", strings.Split(s.Text(), "\n")
		for i, line := range lines {
			if line != "" && line[0] != ' ' {
				part, _, _ = strings.Cut(line, ":")
			}
			if in := parts[table]; in != nil && !slices.Contains(in, part) || !use.MatchString(line) {
				continue
			}
			from := i
			if table == docs.Positions { // with the run that it belongs to
				for from > 0 && !strings.HasPrefix(lines[from], "  - ") {
					from--
				}
			}
			return fmt.Sprintf(", such as in %s:\n\n%s", s.Name, excerpt(lines[from:], i-from+1))
		}
	}
	var b strings.Builder
	for _, text := range scenarios.Examples(key) {
		if table == docs.Steps { // an entry of a list
			text = "- " + text
		}
		fmt.Fprintf(&b, "    %s\n", text)
	}
	if b.Len() == 0 {
		return "\n"
	}
	return ", such as:\n\n" + b.String()
}

// Step reports whether a key is a step's.
func Step(key string) bool {
	return slices.ContainsFunc(docs.Reference(docs.Steps).Rows, func(r docs.Row) bool { return r.Key == key })
}

// Paragraphs parts the meaning of a key: its first sentence, if more follow than fit into a short paragraph, and short ones of the others.
func Paragraphs(meaning string) (all []string) {
	const short = 230
	if len(meaning) <= short {
		return []string{meaning}
	}
	for i, sentence := range sentences(meaning) {
		if last := len(all) - 1; i > 1 && len(all[last])+len(sentence) < short {
			all[last] += " " + sentence
		} else {
			all = append(all, sentence)
		}
	}
	if last := &all[len(all)-1]; !strings.HasSuffix(*last, ".") && !strings.HasSuffix(*last, `"`) {
		*last += "."
	}
	return all
}

// end matches a sentence's end, before another one.
var end = regexp.MustCompile(`\."?\)? [A-Z]`)

func sentences(text string) (all []string) {
	for {
		at := end.FindStringIndex(text)
		if at == nil {
			return append(all, text)
		}
		all, text = append(all, text[:at[1]-2]), text[at[1]-1:]
	}
}

// longest is the length of an example, in lines.
const longest = 5

// excerpt is the beginning of some lines: the first few, and those that are indented below the first.
func excerpt(lines []string, least int) string {
	indent := func(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }
	n := 1
	for n < len(lines) && n < max(least, longest) && lines[n] != "" && (n < least || indent(lines[n]) > indent(lines[0])) {
		n++
	}
	var b strings.Builder
	for _, line := range lines[:n] {
		b.WriteString("    " + line[indent(lines[0]):] + "\n")
	}
	return b.String()
}
