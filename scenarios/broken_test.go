package scenarios

import (
	"strings"
	"testing"
	"testing/fstest"
)

// TestBrokenScripts: what is wrong with scripts that are built in is told with its file and line, of all of them at once.
func TestBrokenScripts(t *testing.T) {
	whole, err := builtin.ReadFile("scripts/contention.yaml")
	if err != nil {
		t.Fatal(err)
	}
	from := fstest.MapFS{
		"scripts/a.yaml": {Data: []byte(strings.Replace(string(whole), "title:", "titel:", 1))},
		"scripts/b.yaml": {Data: whole},
		"scripts/c.yaml": {Data: []byte(strings.Replace(string(whole), "script:", "scrpt:", 1))},
	}
	_, err = readScripts(from)
	if err == nil {
		t.Fatal("nothing is wrong with them")
	}
	got := strings.Split(Broken{err}.Error(), "\n")
	if len(got) != 2 || !strings.HasPrefix(got[0], "what is built in is broken: scripts/a.yaml:1: ") || !strings.Contains(got[0], `did you mean "title"?`) ||
		!strings.HasPrefix(got[1], "scripts/c.yaml:") || !strings.Contains(got[1], `did you mean "script"?`) {
		t.Errorf("%q", got)
	}
}
