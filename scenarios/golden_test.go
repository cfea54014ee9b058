package scenarios

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"lockstep/sim/testenv"
	"lockstep/strategies"
)

var update = flag.Bool("update", false, "rewrite testdata: golden.sum and the traces")

const anew = "go test ./scenarios -run Golden -update"

// TestGoldenSum compares every run of the matrix with its line in testdata: what the
// monitors said of it, and the hash of its events. A rewording of events changes no
// line; a change of behaviour changes as many as it reaches.
func TestGoldenSum(t *testing.T) {
	testenv.LongRaced(t)
	const file = "testdata/golden.sum"
	got := goldenSum(t)
	if *update {
		write(t, file, got)
		return
	}
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v\n%s", err, anew)
	}
	for _, d := range differences(string(data), got) {
		t.Error(d)
	}
	if t.Failed() {
		t.Logf("if that is meant: %s", anew)
	}
}

// goldenSum has a line for each run, in the order of the names: a new lock or
// scenario adds lines and moves none.
func goldenSum(t *testing.T) string {
	t.Helper()
	var lines []string
	for _, s := range All() {
		for _, st := range strategies.All() {
			trace := cell{s.Name, st.Name}.of(t)
			lines = append(lines, fmt.Sprintf("%-27s %-22s %-20s %s\n", s.Name, st.Name, trace.Verdict(), trace.Hash))
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// differences says of each run whose line changed how to see it as it was and as it is.
func differences(want, got string) (out []string) {
	is := map[string]string{} // by the names of scenario and strategy
	for line := range strings.Lines(got) {
		f := strings.Fields(line)
		is[f[0]+" "+f[1]] = strings.Join(f[2:], " ")
	}
	for line := range strings.Lines(want) {
		f := strings.Fields(line)
		if len(f) < 4 {
			out = append(out, fmt.Sprintf("golden.sum has a line that is none: %q", line))
			continue
		}
		name, was := f[0]+" "+f[1], strings.Join(f[2:], " ")
		now, found := is[name]
		delete(is, name)
		switch {
		case !found:
			out = append(out, fmt.Sprintf("%s under %s: golden.sum has it, and there is no such run", f[1], f[0]))
		case now != was:
			out = append(out, fmt.Sprintf("%s under %s: was %s, is %s\n  to see it, here and at the commit before: go run . run %s %s --plain", f[1], f[0], was, now, f[1], f[0]))
		}
	}
	for _, name := range sortedKeys(is) {
		scenario, strategy, _ := strings.Cut(name, " ")
		out = append(out, fmt.Sprintf("%s under %s: is %s, and golden.sum lacks it", strategy, scenario, is[name]))
	}
	return out
}

func TestDifferences(t *testing.T) {
	const was = "crash  setnx    PD     0123\nlate   redlock  SW OV  4567\nold    setnx    ok     89ab\n"
	const is = "crash  setnx    PD     0123\nlate   redlock  ok     cdef\nnew    setnx    ok     89ab\n"
	want := []string{
		"redlock under late: was SW OV 4567, is ok cdef\n  to see it, here and at the commit before: go run . run redlock late --plain",
		"setnx under old: golden.sum has it, and there is no such run",
		"setnx under new: is ok 89ab, and golden.sum lacks it",
	}
	if got := differences(was, is); !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if got := differences(was, was); got != nil {
		t.Errorf("nothing differs, and it says\n%s", strings.Join(got, "\n"))
	}
}

// TestGoldenTraces keeps in full those runs that a person reads elsewhere: those of
// the course, lesson by lesson, and those that only documents show. They are in two
// files, so that a reworded event is a change of two files, and not of one a run.
func TestGoldenTraces(t *testing.T) {
	testenv.LongRaced(t)
	course := courseRuns()
	compareTraces(t, "testdata/course.trace", course)
	compareTraces(t, "testdata/documents.trace", slices.DeleteFunc(documentRuns(t), func(c cell) bool { return slices.Contains(course, c) }))
}

func compareTraces(t *testing.T, file string, runs []cell) {
	t.Helper()
	if len(runs) == 0 {
		t.Fatalf("no run for %s", file)
	}
	var contents, traces strings.Builder
	for _, c := range runs {
		trace := c.of(t)
		fmt.Fprintf(&contents, "%-27s %-22s %s\n", c.scenario, c.strategy, trace.Verdict())
		traces.WriteString(divider + picture(trace) + "\n" + plain(t, trace))
	}
	got := contents.String() + "\n" + legend + traces.String()
	if *update {
		write(t, file, got)
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatalf("%v\n%s", err, anew)
	}
	differ(t, fmt.Sprintf("scenarios/%s is not what its runs give (%s)", file, anew), got, string(want))
}

// divider stands between two runs.
var divider = "\n" + strings.Repeat("=", pictureWidth) + "\n\n"

// courseRuns are the runs of the course in its order, each where it comes first.
func courseRuns() (runs []cell) {
	for _, l := range Course() {
		for _, s := range l.Steps {
			if c := (cell{s.Scenario, s.Strategy}); !slices.Contains(runs, c) {
				runs = append(runs, c)
			}
		}
	}
	return runs
}

// shown matches a run in a document: a generated part, or a command.
var shown = regexp.MustCompile(`(?:<!-- (?:trace|player)|lockstep run|lockstep export|go run \. run|go run \. export) ([a-z0-9-]+) ([a-z0-9.-]+)`)

// documentRuns are the runs that the documents show, in the order of their names.
func documentRuns(t *testing.T) (runs []cell) {
	t.Helper()
	files := []string{"../README.md"}
	for _, pattern := range []string{"../docs/*.md", "../docs/failures/*.md"} {
		more, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, more...)
	}
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range shown.FindAllStringSubmatch(string(data), -1) {
			if c := (cell{m[2], m[1]}); matrix()[c] != nil { // else it is of somebody's own file
				runs = append(runs, c)
			}
		}
	}
	slices.SortFunc(runs, func(a, b cell) int {
		return cmp.Or(strings.Compare(a.scenario, b.scenario), strings.Compare(a.strategy, b.strategy))
	})
	return slices.Compact(runs)
}

func write(t *testing.T, file, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil { //nolint:gosec // a document is for everybody
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil { //nolint:gosec // the same
		t.Fatal(err)
	}
}
