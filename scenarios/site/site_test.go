package site

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"lockstep/scenarios"
)

var link = regexp.MustCompile(`<a href="([^"]*)"`)

// The site has a page for each step of the course; all links lead to pages of the site, the chain of the next ones
// goes through all of them, and no page asks for anything else.
func TestSiteOfTheCourse(t *testing.T) {
	lessons := scenarios.Course()
	files, err := Course(lessons)
	if err != nil {
		t.Fatal(err)
	}
	pages, steps := map[string]string{}, 0
	for _, l := range lessons {
		steps += len(l.Steps)
	}
	for _, f := range files {
		if pages[f.Name] != "" {
			t.Errorf("there are two files %s", f.Name)
		}
		pages[f.Name] = string(f.Content)
	}
	if len(pages) != steps+1 || pages[Index] == "" {
		t.Fatalf("%d pages for %d steps", len(pages), steps)
	}
	for name, page := range pages {
		for _, m := range link.FindAllStringSubmatch(page, -1) {
			if pages[m[1]] == "" {
				t.Errorf("%s leads to %q", name, m[1])
			}
		}
		if !strings.Contains(page, "default-src &#39;none&#39;") && !strings.Contains(page, "default-src 'none'") {
			t.Errorf("%s has no policy", name)
		}
	}
	for _, want := range []string{`<span class="bad">!! PD</span>`, `no failure">~ BD</b>`, `no failure">~ UA</b>`} {
		if !strings.Contains(pages[Index], want) {
			t.Errorf("the contents have no %s", want)
		}
	}
	if strings.Contains(pages[Index], "!! BD") {
		t.Error("the contents call a reported wait a failure")
	}
	if n := len(link.FindAllString(pages[Index], -1)); n != steps {
		t.Errorf("the contents have %d links", n)
	}
	at, seen := name(lessons, 0, 0), 0
	for next := regexp.MustCompile(`<a href="([^"]*)">Next`); at != ""; seen++ {
		m := next.FindStringSubmatch(pages[at])
		if at = ""; m != nil {
			at = m[1]
		}
	}
	if seen != steps {
		t.Errorf("the next ones lead through %d of %d steps", seen, steps)
	}
	if !strings.Contains(pages["06-release-1.html"], "The same with") && !strings.Contains(pages["06-release-1.html"], `"other":`) {
		t.Error("the first step of the lesson on releases has no second run")
	}
	again, err := Course(lessons[:1])
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again[1].Content[:1000], files[1].Content[:1000]) {
		t.Error("the same lesson gives another page")
	}
}
