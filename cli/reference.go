package cli

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"lockstep/docs"
	"lockstep/scenarios"
	"lockstep/scenarios/reference"
)

// references are the tables of the reference of scripts that have a name of their own.
var references = map[string][]int{
	"steps":     {docs.Steps},
	"settings":  {docs.Parts, docs.Setup, docs.Client},
	"positions": {docs.Positions},
	"scripting": {docs.Parts, docs.Setup, docs.Client, docs.Steps, docs.Positions},
}

// scriptWords are the names by which the reference of scripts can be asked.
func scriptWords() (names []string) {
	for name := range references {
		names = append(names, name)
	}
	for name := range scenarios.StepsFor {
		names = append(names, name)
	}
	for table := range docs.Tables {
		for _, r := range docs.Reference(table).Rows {
			names = append(names, r.Key)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// explainScript is the text of the reference of scripts on a name, or nothing.
func explainScript(name string) string {
	var b strings.Builder
	if list, is := references[name]; is {
		for i, table := range list {
			if i > 0 {
				b.WriteString("\n")
			}
			b.WriteString(explainTable(docs.Reference(table)))
		}
		b.WriteString("\nOne of them with an example: lockstep explain NAME, such as lockstep explain lose.\nA whole script: lockstep explain late-release --script, or lockstep new my.yaml.\n")
		return b.String()
	}
	for i, key := range append([]string{name}, scenarios.StepsFor[name]...) {
		text := explainKey(key)
		if b.Len() > 0 && text != "" && i > 0 {
			b.WriteString("\n")
		}
		b.WriteString(text)
	}
	return b.String()
}

func explainTable(t docs.Table) string {
	var b strings.Builder
	b.WriteString(t.Title + "\n")
	for _, r := range t.Rows {
		b.WriteString(wrap("  "+r.Use+"  ", 6, meaning(r)))
	}
	return b.String()
}

// ofPage replaces words that make sense on the page of scripts alone.
var ofPage = strings.NewReplacer("see below", "see docs/scenarios.md")

// link matches a link of the page's.
var link = regexp.MustCompile(`\[([^\]]+)\]\([^)]+\)`)

func meaning(r docs.Row) string {
	text := ofPage.Replace(link.ReplaceAllString(r.Meaning, "$1"))
	if r.Default == "" {
		return text
	}
	return fmt.Sprintf("%s (default: %s)", text, r.Default)
}

// explainKey is a step, a setting or a position: first an example from the first built-in script that has it, to copy, then its meaning.
func explainKey(key string) string {
	var b strings.Builder
	for table := range docs.Tables {
		t, first := docs.Reference(table), true
		for _, r := range t.Rows {
			if r.Key != key {
				continue
			}
			if first && b.Len() > 0 {
				b.WriteString("\n")
			}
			if first {
				fmt.Fprintf(&b, "%s: %s%s", key, t.Row, reference.Example(table, key))
			}
			first = false
			fmt.Fprintf(&b, "\n  %s\n", r.Use)
			for i, text := range reference.Paragraphs(meaning(r)) {
				b.WriteString(strings.Repeat("\n", min(i, 1)) + wrap("     ", 6, text))
			}
		}
	}
	return b.String()
}
