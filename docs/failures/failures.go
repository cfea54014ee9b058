// Package failures has the pages on the ways to fail, as data for the program: each page is read
// from its own text.
package failures

import (
	"embed"
	"regexp"
	"slices"
	"strings"
	"sync"
)

//go:embed *.md
var files embed.FS

// Page is a document about one mode of failure.
type Page struct {
	Name      string   // of the file, without its ending
	Text      string   // all of it, as it is written
	Title     string   // its heading
	Intro     string   // its first paragraph, as plain text
	Remedy    string   // what to do, as plain text
	Scenarios []string // those that its table of outcomes is about, without their variants
	Shows     []string // the codes that its traces show
	Sourced   bool     // it lists where the failure was met
}

var (
	title    = regexp.MustCompile(`(?m)^# (.*)$`)
	outcomes = regexp.MustCompile(`(?m)^<!-- outcomes (.*) -->$`)
	traces   = regexp.MustCompile(`(?m)^<!-- trace \S+ \S+ (\S+).* -->$`)
	link     = regexp.MustCompile(`\[([^]]*)\](?:\([^)]*\))?`)
)

// Pages returns the pages in the order of their names. The caller must not change them.
var Pages = sync.OnceValue(func() []Page {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	var all []Page
	for _, e := range entries {
		text, err := files.ReadFile(e.Name())
		if err != nil {
			panic(err)
		}
		all = append(all, read(strings.TrimSuffix(e.Name(), ".md"), string(text)))
	}
	return all
})

func read(name, text string) Page {
	p := Page{Name: name, Text: text}
	if m := title.FindStringSubmatch(text); m != nil {
		p.Title = m[1]
	}
	for _, m := range outcomes.FindAllStringSubmatch(text, -1) {
		p.Scenarios = append(p.Scenarios, strings.Fields(m[1])...)
	}
	for _, m := range traces.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(p.Shows, m[1]) {
			p.Shows = append(p.Shows, m[1])
		}
	}
	p.Sourced = strings.Contains(text, "<!-- field "+strings.Join(p.Scenarios, " ")+" -->")
	_, body, _ := strings.Cut(text, "\n")
	p.Intro = paragraph(body)
	if _, after, found := strings.Cut(text, "\n## What to do\n"); found {
		p.Remedy = paragraph(after)
	}
	return p
}

// paragraph is the first one of a document, without its markup and line breaks.
func paragraph(text string) string {
	text, _, _ = strings.Cut(strings.TrimLeft(text, "\n"), "\n\n")
	text = link.ReplaceAllString(text, "$1")
	return strings.Join(strings.Fields(strings.ReplaceAll(text, "`", "")), " ")
}

// IsAbout reports whether the page is about a code and nothing else, which its name tells.
func (p *Page) IsAbout(code string) bool { return p.Name == strings.ReplaceAll(code, " ", "-") }

// Showing returns the pages whose traces show a code, and first those about nothing else.
func Showing(code string) (pages []Page) {
	for _, p := range Pages() {
		if slices.Contains(p.Shows, code) {
			pages = append(pages, p)
		}
	}
	slices.SortStableFunc(pages, func(a, b Page) int { return len(a.Shows) - len(b.Shows) })
	return pages
}
