package docs_test

import (
	"slices"
	"strings"
	"testing"

	"lockstep/docs/failures"
	"lockstep/scenarios"
	"lockstep/sim/trace"
)

// Everything that the program says of a page is in the page, and names things that exist.
func TestPagesAreRead(t *testing.T) {
	pages := failures.Pages()
	if len(pages) == 0 {
		t.Fatal("there are no pages")
	}
	for _, p := range pages {
		if p.Title == "" || len(p.Intro) < 40 || len(p.Remedy) < 40 || len(p.Scenarios) == 0 || len(p.Shows) == 0 {
			t.Errorf("%s lacks a part: %+v", p.Name, p)
		}
		if strings.ContainsAny(p.Intro+p.Remedy, "[]`|") {
			t.Errorf("%s has markup in its text: %q %q", p.Name, p.Intro, p.Remedy)
		}
		for _, name := range p.Scenarios {
			if !slices.Contains(scenarios.Names(), name) {
				t.Errorf("%s is about %s, which is no scenario", p.Name, name)
			}
		}
		for _, code := range p.Shows {
			if _, is := trace.ParseCode(code); !is {
				t.Errorf("%s shows %s, which is no code", p.Name, code)
			}
		}
	}
}

func TestShowing(t *testing.T) {
	for _, c := range trace.Codes {
		if c.Failure() && len(failures.Showing(c.String())) == 0 {
			t.Errorf("no page shows %s", c)
		}
	}
	if first := failures.Showing("FR")[0]; !slices.Contains(first.Shows, "FR") || len(first.Shows) > 1 {
		t.Errorf("the first page for FR shows %v", first.Shows)
	}
}
