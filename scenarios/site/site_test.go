package site

import (
	"bytes"
	"html/template"
	"os"
	"path/filepath"
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

// A playlist's site has its runs in order, the words around them, and a page for each, which opens where something breaks;
// and the next lock under the same scenario below.
func TestPlaylist(t *testing.T) {
	file := filepath.Join(t.TempDir(), "talk.txt")
	if err := os.WriteFile(file, []byte("lesson release 1\nnaive-del pause-past-ttl\nfenced pause-past-ttl\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	all, err := scenarios.LoadPlaylist(file)
	if err != nil {
		t.Fatal(err)
	}
	files, err := Playlist("talk", all)
	if err != nil {
		t.Fatal(err)
	}
	pages := map[string]string{}
	for _, f := range files {
		pages[f.Name] = string(f.Content)
	}
	names := []string{"01-naive-del.html", "02-naive-del.html", "03-fenced.html"}
	at := 0
	for _, want := range append(names, all[0].Closing) {
		if !strings.Contains(pages[Index], template.HTMLEscapeString(want)) {
			t.Errorf("the contents have no %q:\n%s", want, pages[Index])
		}
	}
	for i, name := range names {
		next := strings.Index(pages[Index], name)
		if next < at || pages[name] == "" {
			t.Errorf("%s is not in its order, or not there", name)
		}
		at = next
		if strings.Contains(pages[name], `"poster":""`) || !strings.Contains(pages[name], `"questions":[{`) {
			t.Errorf("%s has no poster, or no questions", name)
		}
		if below := strings.Contains(pages[name], `"other":{`); below != (i == 1) {
			t.Errorf("%s has a run below: %v", name, below)
		}
		if next := strings.Contains(pages[name], ">Next</a>"); next != (i < 2) {
			t.Errorf("%s leads on: %v", name, next)
		}
	}
}
