package report

import (
	_ "embed"
	"html/template"
	"io"
	"strings"

	"lockstep/sim/explore/report"
)

//go:embed report.html
var page string

var htmlTemplate = template.Must(template.New("report").Funcs(template.FuncMap{
	"summary": func(r *Report) string { return r.summary() },
	"lines":   func(c *Changes) []string { return c.lines() },
	"worse":   func(line string) bool { return strings.HasPrefix(line, "WORSE") },
	"grouped": report.Grouped,
	"class":   func(s Status) string { return strings.ReplaceAll(string(s), " ", "-") },
}).Parse(page))

// HTML writes the report as a page that needs nothing else.
func (r *Report) HTML(out io.Writer) error { return htmlTemplate.Execute(out, r) }
