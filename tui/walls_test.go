package tui

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// walls are the packages of the interface that each of them imports, in the code that
// is no test.
var walls = map[string]string{
	"background": "", "draw": "", "progress": "", "quiet": "",
	"screen": "draw progress", "adviser": "screen", "views": "screen",
	"code": "draw", "legend": "draw",
	"layout": "draw",
	"pane":   "draw legend", "quiz": "draw", "facts": "draw", "told": "draw screen",
	"ladder": "draw pane", "events": "draw pane", "find": "screen",
	"picker": "draw screen",
	"door":   "draw levels pane screen", "decide": "draw screen",
	"runs": "draw picker screen", "lesson": "screen", "course": "draw lesson screen", "search": "draw picker screen",
	"compare": "draw pane picker screen", "player": "code draw events facts find ladder layout lesson pane picker quiz screen told views",
	"finding": "player screen",
	"levels":  "draw picker screen",
	"deeds":   "tried",
	"debrief": "draw levels screen tried",
	"game":    "adviser code debrief deeds draw layout levels pane picker player progress screen tried views",
	"tried":   "draw",
	"live":    "draw pane",
	"present": "draw facts pane picker player quiz screen",
	"tuitest": "draw progress screen",
}

// No screen knows another one, but for those that embed or open it by their nature.
func TestWalls(t *testing.T) {
	const root = "lockstep/tui/"
	files, err := filepath.Glob("*/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	imported := map[string][]string{}
	for _, file := range files {
		dir := filepath.Dir(file)
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		imported[dir] = append(imported[dir], "")
		for _, spec := range f.Imports {
			path, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if name, is := strings.CutPrefix(path, root); is {
				imported[dir] = append(imported[dir], name)
			}
		}
	}
	for dir := range walls {
		if _, is := imported[dir]; !is {
			t.Errorf("there is no package %s: take out its row", dir)
		}
	}
	for dir, names := range imported {
		slices.Sort(names)
		got := strings.TrimSpace(strings.Join(slices.Compact(names), " "))
		switch want, known := walls[dir]; {
		case !known:
			t.Errorf("%s has no row in walls, in tui/walls_test.go: it imports %q", dir, got)
		case got != want:
			t.Errorf("%s imports %q, want %q", dir, got, want)
		}
	}
}
