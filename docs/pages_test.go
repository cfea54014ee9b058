package docs_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"lockstep/docs/failures"
	"lockstep/scenarios"
	"lockstep/sim/trace"
)

// page is a document about one mode of failure.
type page struct {
	file      string // from this folder
	title     string
	scenarios []string // without their variants
	shows     []trace.Code
	sourced   bool // it lists their sources
}

// pages are in the order of teaching of their first scenarios.
func pages() ([]page, error) {
	var all []page
	for _, f := range failures.Pages() {
		p := page{file: "failures/" + f.Name + ".md", title: f.Title, scenarios: f.Scenarios, sourced: f.Sourced}
		for _, name := range f.Shows {
			c, is := trace.ParseCode(name)
			if !is {
				return nil, fmt.Errorf("%s: unknown code %s", p.file, name)
			}
			p.shows = append(p.shows, c)
		}
		all = append(all, p)
	}
	slices.SortStableFunc(all, func(a, b page) int { return cmp.Compare(a.place(), b.place()) })
	return all, nil
}

// place is the page's place in the order of teaching.
func (p *page) place() int {
	for i, s := range scenarios.All() {
		base, _, _ := strings.Cut(s.Name, ".")
		if slices.Contains(p.scenarios, base) {
			return i
		}
	}
	return len(scenarios.All())
}

// rows are all rows of the matrix that belong to the page.
func (p *page) rows() ([]row, error) {
	var all []row
	for _, name := range p.scenarios {
		rows, err := rowsOf(name)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

// outcomes makes the table of a page: outcomes SCENARIO ... It lists the locks that the
// scenario names; a page doesn't change for a lock that is like one of them.
func outcomes(spec string) (string, error) {
	var b strings.Builder
	b.WriteString("| scenario | verdict | under, and under [locks like them](../matrix.md#locks-that-are-like-another) | because |\n| --- | --- | --- | --- |\n")
	p := page{scenarios: strings.Fields(spec)}
	rows, err := p.rows()
	if err != nil {
		return "", err
	}
	for _, r := range rows {
		name := "`" + r.scenario.Name + "`"
		for _, o := range r.outcomes() {
			fmt.Fprintf(&b, "| %s | %s | %s | %s |\n", name, o.verdict, strings.Join(o.stated, ", "), cellText(o.reason()))
			name = ""
		}
	}
	return b.String(), nil
}

// rebuilds tells of scenarios with a cache how often its entry was rebuilt, and how
// often that was needed: rebuilds SCENARIO ... A lock is named if it is like no
// other, or if the one that it is like comes to other numbers.
func rebuilds(spec string) (string, error) {
	var b strings.Builder
	b.WriteString("| scenario | rebuilds | needed | under, and under locks like them |\n| --- | --- | --- | --- |\n")
	p := page{scenarios: strings.Fields(spec)}
	rows, err := p.rows()
	if err != nil {
		return "", err
	}
	for _, r := range rows {
		name := "`" + r.scenario.Name + "`"
		for _, n := range r.rebuilds() {
			fmt.Fprintf(&b, "| %s | %d | %d | %s |\n", name, n.made, n.needed, n.under)
			name = ""
		}
	}
	return b.String(), nil
}

// rebuilt is how often a cache's entry was rebuilt under some strategies.
type rebuilt struct {
	made, needed int
	under        string
}

func (r *row) rebuilds() []rebuilt {
	counts := map[string]rebuilt{}
	for _, c := range r.cells {
		made, needed := c.trace.Rebuilds()
		counts[c.strategy.Name] = rebuilt{made: made, needed: needed}
	}
	var all []rebuilt
	for _, c := range r.cells {
		n := counts[c.strategy.Name]
		at := slices.IndexFunc(all, func(o rebuilt) bool { return o.made == n.made && o.needed == n.needed })
		if at < 0 {
			at, all = len(all), append(all, n)
		}
		if like, is := counts[c.strategy.Like]; is && like == n {
			continue
		}
		all[at].under = strings.TrimPrefix(all[at].under+", "+c.strategy.Name, ", ")
	}
	if len(all) == 1 {
		all[0].under = "all"
	}
	return all
}

// field makes the list of where the field met a page's scenarios: field SCENARIO ...
// It is empty where none of them names a source.
func field(spec string) (string, error) {
	var b strings.Builder
	for _, name := range strings.Fields(spec) {
		rows, err := rowsOf(name)
		if err != nil {
			return "", err
		}
		for _, r := range rows {
			source, err := linkSource(cellText(r.scenario.Source))
			if err != nil {
				return "", err
			}
			line := fmt.Sprintf("- `%s`: %s\n", name, source)
			if r.scenario.Source != "" && !strings.HasSuffix(b.String(), line) {
				b.WriteString(line)
			}
		}
	}
	return b.String(), nil
}

// index lists the pages.
func index() (string, error) {
	all, err := pages()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	b.WriteString("| page | shows | scenarios |\n| --- | --- | --- |\n")
	for _, p := range all {
		fmt.Fprintf(&b, "| [%s](%s) | %s | %s |\n", p.title, p.file, trace.Verdict(p.shows).Sorted(), strings.Join(p.scenarios, ", "))
	}
	return b.String(), nil
}

// Every code is shown by a trace on some page, and every scenario has its page:
// one, so that the matrix can be divided by them.
func TestPagesAreComplete(t *testing.T) {
	all, err := pages()
	if err != nil {
		t.Fatal(err)
	}
	shown := map[trace.Code]bool{}
	on := map[string]string{}
	for _, p := range all {
		if p.title == "" || len(p.scenarios) == 0 {
			t.Errorf("%s has no title, or no table of outcomes", p.file)
		}
		if !p.sourced {
			t.Errorf("%s does not list the sources of its scenarios: <!-- field %s -->", p.file, strings.Join(p.scenarios, " "))
		}
		for _, c := range p.shows {
			shown[c] = true
		}
		for _, s := range p.scenarios {
			if on[s] != "" {
				t.Errorf("%s is on %s and on %s", s, on[s], p.file)
			}
			on[s] = p.file
		}
	}
	for _, c := range trace.Codes {
		if !shown[c] {
			t.Errorf("no page of docs/failures shows a trace with %s", c)
		}
	}
	for _, s := range scenarios.All() {
		if base, _, _ := strings.Cut(s.Name, "."); on[base] == "" {
			t.Errorf("the scenario %s is on no page: name it in the <!-- outcomes ... --> of that page of docs/failures which it belongs to", base)
		}
	}
}

// A page is read in one sitting.
func TestPagesAreShort(t *testing.T) {
	all, err := pages()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		data, err := os.ReadFile(p.file)
		if err != nil {
			t.Fatal(err)
		}
		prose := generated.ReplaceAllString(string(data), "")
		if lines := strings.Count(prose, "\n"); lines < 12 || lines > 60 {
			t.Errorf("%s has %d lines besides what is generated", p.file, lines)
		}
		for _, heading := range []string{"## The least trace", "## Which locks fall and which stand", "## In the field", "## What to do"} {
			if !strings.Contains(prose, heading+"\n") {
				t.Errorf("%s has no %q", p.file, heading)
			}
		}
	}
}
