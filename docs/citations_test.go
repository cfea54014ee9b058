package docs_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/docs/sources"
	"lockstep/scenarios"
	"lockstep/strategies"
)

// A citation is the name of a work. In documents it is a link, [redisson 5256], whose
// definition is generated at the end of the page. In the sources of scenarios and locks it is
// the plain name, possibly with a comma and the place in the work behind it; several are
// separated by semicolons.

// link is the work's URL from a document.
func link(w *sources.Work, file string) string {
	if strings.Contains(w.URL, "://") {
		return w.URL
	}
	rel, err := filepath.Rel(filepath.Dir(file), filepath.Join("sources", w.URL))
	if err != nil {
		panic(err) // both are relative to this folder
	}
	return filepath.ToSlash(rel)
}

var (
	code      = regexp.MustCompile("(?ms)^```.*?^```\n|`[^`\n]*`|^    [^\n]*\n|<!--.*?-->")
	reference = regexp.MustCompile(`\[([^\[\]]+)\](?:[^(:\[]|$)`)
	links     = regexp.MustCompile("(?ms)^<!-- begin links -->\n.*?^<!-- end -->\n")
)

// cited are the names that a document cites.
func cited(text string) []string {
	var names []string
	for _, m := range reference.FindAllStringSubmatch(code.ReplaceAllString(links.ReplaceAllString(text, ""), ""), -1) {
		names = append(names, strings.Join(strings.Fields(m[1]), " "))
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// linked puts the definitions of a document's citations into its part for them.
func linked(file, text string) (string, error) {
	all := sources.Works()
	var b strings.Builder
	for _, name := range cited(text) {
		at := slices.IndexFunc(all, func(w sources.Work) bool { return w.Name == name })
		if at < 0 {
			return "", fmt.Errorf("it cites [%s], which docs/sources/works.yaml doesn't have", name)
		}
		fmt.Fprintf(&b, "[%s]: %s\n", name, link(&all[at], file))
	}
	if b.Len() > 0 && !links.MatchString(text) {
		return "", fmt.Errorf("it has citations, and no <!-- begin links --> with <!-- end --> behind it at its end")
	}
	return links.ReplaceAllLiteralString(text, "<!-- begin links -->\n"+b.String()+"<!-- end -->\n"), nil
}

// linkSource makes links of the names in a source.
func linkSource(source string) (string, error) {
	pieces := strings.Split(source, "; ")
	for i, piece := range pieces {
		if w := sources.Find(piece); w != nil {
			pieces[i] = "[" + w.Name + "]" + strings.TrimPrefix(piece, w.Name)
		}
	}
	return strings.Join(pieces, "; "), nil
}

// workTable lists the works: works
func workTable() (string, error) {
	all := sources.Works()
	var b strings.Builder
	b.WriteString("| name | title, or the fact that it is cited for |\n| --- | --- |\n")
	for _, w := range all {
		fmt.Fprintf(&b, "| [%s](%s) | %s |\n", w.Name, link(&w, "sources/README.md"), cellText(w.Title))
	}
	return b.String(), nil
}

// uncited are the sources of locks that are nobody's in particular.
var uncited = []string{"a common mistake", "hand-written locks", "hand-written Redlocks"}

// TestSourcesNameWorks: the sources of scenarios and locks are names of works.
func TestSourcesNameWorks(t *testing.T) {
	named := map[string]string{}
	for _, s := range scenarios.All() {
		if s.Source != "" {
			named["the scenario "+s.Name] = s.Source
		}
	}
	for _, st := range strategies.All() {
		named["the lock "+st.Name] = st.Source
	}
	for of, source := range named {
		for _, piece := range strings.Split(source, "; ") {
			if sources.Find(piece) == nil && !slices.Contains(uncited, piece) {
				t.Errorf("%s: its source %q is no work of docs/sources/works.yaml: write a work's name, and after a comma the place in it; separate several by semicolons", of, piece)
			}
		}
	}
}

// TestWorksAreCited: no work is listed for nothing, or twice.
func TestWorksAreCited(t *testing.T) {
	all := sources.Works()
	used := map[string]bool{}
	for _, file := range documents(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range cited(string(data)) {
			used[name] = true
		}
	}
	for _, st := range strategies.All() {
		for _, piece := range strings.Split(st.Source, "; ") {
			if w := sources.Find(piece); w != nil {
				used[w.Name] = true
			}
		}
	}
	seen := map[string]bool{}
	for _, w := range all {
		if seen[w.Name] {
			t.Errorf("two works are called %q", w.Name)
		}
		seen[w.Name] = true
		if !used[w.Name] {
			t.Errorf("nothing cites %q", w.Name)
		}
	}
}

// TestFieldIsCited: a page's cases from the field have a source each.
func TestFieldIsCited(t *testing.T) {
	all, err := pages()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range all {
		data, err := os.ReadFile(p.file)
		if err != nil {
			t.Fatal(err)
		}
		_, field, _ := strings.Cut(string(data), "## In the field\n")
		field, _, _ = strings.Cut(field, "\n## ")
		for _, paragraph := range strings.Split(strings.TrimSpace(generated.ReplaceAllString(field, "")), "\n\n") {
			if len(cited(paragraph)) == 0 {
				t.Errorf("%s tells of the field without a citation: %q", p.file, paragraph)
			}
		}
	}
}

// TestCited: code, links with a target and definitions are no citations.
func TestCited(t *testing.T) {
	text := "A [b\nc], `[d]` and [e](f).\n\n    indented [g]\n\n```\n[h]\n```\n<!-- [i] -->\n[j]\n<!-- begin links -->\n[k]: l\n<!-- end -->\n"
	if got := cited(text); !slices.Equal(got, []string{"b c", "j"}) {
		t.Errorf("%q", got)
	}
}
