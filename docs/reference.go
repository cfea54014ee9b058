package docs

import (
	_ "embed"
	"regexp"
	"strings"
)

//go:embed scenarios.md
var scenariosPage string

// Model is the document on the rules, as it is written: the program prints it to those who have no sources.
//
//go:embed model.md
var Model string

// Row is a row of a table of scenarios.md: a setting, a step or a position of scripts. The
// program's reference, the schema for editors and the document itself have the same text.
type Row struct {
	Key     string // the word that it begins with
	Use     string // as it is written; a setting by its key alone
	Default string // of a setting, if the table has them
	Meaning string
}

// Table is a table of scenarios.md.
type Table struct {
	Heading string // the line above it
	Title   string // in words
	Row     string // what one of its rows is about
	Rows    []Row
}

// The tables of scenarios.md, in its order.
var tables = []Table{
	{Heading: "## The parts of the file", Title: "The parts of a scenario's file", Row: "a part of a scenario"},
	{Heading: "## setup", Title: "The settings of setup", Row: "a setting of setup"},
	{Heading: "A client's settings:", Title: "The settings of a client, in setup's clients", Row: "a setting of a client"},
	{Heading: "## Steps", Title: "The steps of a script", Row: "a step of a script"},
	{Heading: "## Positions", Title: "The positions that a client can be run to", Row: "a position that a client can be run to"},
}

// The numbers of the tables.
const (
	Parts = iota
	Setup
	Client
	Steps
	Positions
	Tables = iota
)

var (
	tableRow = regexp.MustCompile("(?m)^\\| `([a-z-]+)[^|]*\\|.*\\|$")
	codeMark = strings.NewReplacer("`", "")
)

// Reference returns a table of scenarios.md.
func Reference(table int) Table {
	t := tables[table]
	_, after, _ := strings.Cut(scenariosPage, t.Heading+"\n")
	_, text, _ := strings.Cut(after, "\n|")
	text, _, _ = strings.Cut("|"+text, "\n\n")
	for _, line := range tableRow.FindAllStringSubmatch(text, -1) {
		columns := strings.Split(strings.Trim(line[0], "| "), " | ")
		for i := range columns {
			columns[i] = strings.TrimSpace(codeMark.Replace(columns[i]))
		}
		r := Row{Key: line[1], Use: columns[0], Meaning: columns[len(columns)-1]}
		if len(columns) == 3 {
			r.Default = columns[1]
		}
		t.Rows = append(t.Rows, r)
	}
	return t
}
