package docs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"lockstep/sim/claims"
	"lockstep/sim/monitor"
)

// claimsText prints the claims with the tests that prove them and break them.
func claimsText() string {
	var b strings.Builder
	for i, c := range claims.All {
		fmt.Fprintf(&b, "### Claim %d\n\n%s\n\n", i+1, c.Text)
		if c.Proof == "" {
			fmt.Fprintf(&b, "%s.\n\n", c.How)
			continue
		}
		fmt.Fprintf(&b, "Tried by `%s`: %s.", c.Proof, c.Means())
		if len(c.Never) > 0 {
			fmt.Fprintf(&b, " It never sees %s.", strings.Join(c.Never, " or "))
		}
		fmt.Fprintf(&b, "\n\n| it assumes that | `%sAssumptions` breaks that by |\n| --- | --- |\n", c.Proof)
		for _, a := range c.Assumptions {
			fmt.Fprintf(&b, "| %s | %s |\n", a.Text, a.BrokenBy())
		}
		b.WriteString("\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

var testName = regexp.MustCompile(`\bTest[A-Z][A-Za-z0-9]*\b`)

// Every test that a document names is in the sources.
func TestNamedTestsExist(t *testing.T) {
	var folders []string
	for _, p := range mustPackages(t) {
		folders = append(folders, filepath.Join("..", p.dir))
	}
	exists := tests(t, append(folders, example, libraries)...)
	for _, file := range documents(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range testName.FindAllString(string(data), -1) {
			// TestClaim stands for all of them, as a pattern of go test -run.
			if !exists[name] && name != "TestClaim" {
				t.Errorf("%s names %s, which does not exist", file, name)
			}
		}
	}
	for _, c := range claims.All {
		if c.Proof != "" && (!exists[c.Proof] || !exists[c.Proof+"Assumptions"]) {
			t.Errorf("there is no %s, or no %sAssumptions", c.Proof, c.Proof)
		}
	}
}

// placed is a list of tests with the package in which they are said to be.
var placed = regexp.MustCompile("((?:\\bTest[A-Z][A-Za-z0-9]*\\b(?:,| and)?\\s+)+)\\(`([a-z/]+)`\\)")

// A test is in the package that a document names beside it: elsewhere `go test` of that package would run nothing, and pass.
func TestNamedTestsAreInTheirPackage(t *testing.T) {
	n := 0
	for _, file := range documents(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range placed.FindAllStringSubmatch(string(data), -1) {
			there := tests(t, filepath.Join("..", m[2]))
			for _, name := range testName.FindAllString(m[1], -1) {
				if n++; !there[name] {
					t.Errorf("%s says that %s is in %s, and it isn't", file, name, m[2])
				}
			}
		}
	}
	if n < 10 {
		t.Errorf("only %d tests are named with their package", n)
	}
}

// tests are the names of the test functions in some folders.
func tests(t *testing.T, folders ...string) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				if fn, is := d.(*ast.FuncDecl); is && fn.Recv == nil {
					all[fn.Name.Name] = true
				}
			}
		}
	}
	return all
}

// Each rule says what it does not count, and which tests hold the engine to it.
func TestEveryMonitorIsDescribed(t *testing.T) {
	for i := range monitor.Rules {
		if r := &monitor.Rules[i]; !strings.Contains(r.Text, "ot counted:") || len(r.Tests) == 0 {
			t.Errorf("%s: its row of Rules, in sim/monitor/rules.go, lacks a Text with what is not counted, or its Tests", r.Code)
		}
	}
}

// Links within the documents lead somewhere.
func TestLinksLeadSomewhere(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)#:]+)\)`)
	for _, file := range documents(t) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(data), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(file), m[1])); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
}

// A path of the project in backquotes, such as `sim/doc.go`. A pattern for paths, such as
// `strategies/<lock>.go`, is not matched: there is nothing to find.
var quotedPath = regexp.MustCompile("`((?:[a-z_.-]+/)+[A-Za-z0-9_.-]*|[A-Za-z]+\\.(?:md|go))`")

// Every path that CONTRIBUTING.md names exists.
func TestNamedPathsExist(t *testing.T) {
	const file = "CONTRIBUTING.md"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	named := quotedPath.FindAllStringSubmatch(string(data), -1)
	if len(named) == 0 {
		t.Fatalf("%s names no path", file)
	}
	for _, m := range named {
		if _, err := os.Stat(filepath.Join("..", m[1])); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
