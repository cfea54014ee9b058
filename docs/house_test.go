package docs_test

import (
	"go/ast"
	"go/doc"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"lockstep/sim/testenv"
)

// floors are the packages from top to bottom. Arrows point down: a package imports
// only packages of lower floors. All of tui stands on one floor; its own packages
// import each other as tui/walls_test.go says.
var floors = []string{
	".",
	"cli",
	"cli/module cli/tryout",
	"tui",
	"sim/campaign", // a module of its own, which nothing imports
	"sim/campaign/command",
	"sim/campaign/queue sim/campaign/report",
	"sim/campaign/plan sim/campaign/store",
	"sim/campaign/job sim/campaign/hush",
	"scenarios/advice scenarios/site scenarios/reference scenarios/sample scenarios/echo",
	"scenarios sim/explore/locktest",
	"sim/explore/report sim/explore/fuzz",
	"sim/explore",
	"sim/explore/agree sim/explore/trials",
	"sim/explore/offers",
	"sim/explore/space sim/explore/liveness",
	"sim/explore/counts",
	"sim/explore/bounds sim/explore/spent sim/explore/orbit",
	"sim/explore/instants",
	"sim/explore/behaviour sim/explore/disk",
	"sim/explore/driver sim/explore/certificate sim/explore/alike sim/explore/places sim/explore/readings sim/explore/picture sim/explore/flight sim/explore/naming sim/explore/unfit sim/explore/madeup sim/explore/locktest/outside",
	"sim/explore/intern",
	"sim/solo sim/verify sim/serve sim/bubble",
	"sim sim/export sim/audit sim/adapter",
	"sim/fault sim/monitor sim/process sim/redis sim/timeline",
	"sim/resp sim/claims sim/redis/luareply scenarios/text",
	"sim/trace",
	"strategies sim/parse sim/redis/spelling sim/redis/lua51 sim/suggest sim/spawn sim/redis/redistest cli/starter",
	"sim/testenv",
	"docs docs/failures docs/sources", // its tests may import everything
}

// floorOf is the floor of a package, by folder: 0 at the top, -1 if it has none.
func floorOf(dir string) int {
	if strings.HasPrefix(dir, "tui/") {
		dir = "tui"
	}
	return slices.IndexFunc(floors, func(f string) bool { return slices.Contains(strings.Fields(f), dir) })
}

func TestArrowsPointDown(t *testing.T) {
	for _, p := range mustPackages(t) {
		from := p.floor()
		if from < 0 {
			t.Errorf("%s stands on no floor: give it one in docs/house_test.go", p.dir)
		}
		for _, dir := range p.imports {
			if strings.HasPrefix(p.dir, "tui") && strings.HasPrefix(dir, "tui/") {
				continue
			}
			if floorOf(dir) <= from {
				t.Errorf("%s imports %s, which is not on a lower floor", p.dir, dir)
			}
		}
	}
}

// The most that is still readable.
const (
	linesOfAPackage  = 4500
	linesOfAScreen   = 2000
	linesOfAFunction = 60
	bytesOfGoldens   = 2_500_000
)

func TestPackagesAreSmall(t *testing.T) {
	for _, p := range mustPackages(t) {
		most := linesOfAPackage
		if strings.HasPrefix(p.dir, "tui/") {
			most = linesOfAScreen
		}
		if p.lines > most {
			t.Errorf("%s has %d lines, more than %d", p.dir, p.lines, most)
		}
	}
}

// TestPackagesCompileSmall: what a package is compiled to holds the code of every generic type and
// the wrappers of every embedded struct that it sees, through the fields and signatures of all that
// it imports. So one exported name can cost each package above it seconds and 10 MB, as a method
// whose parameter was a search's model did, and go-redis 9.23.
func TestPackagesCompileSmall(t *testing.T) {
	testenv.Long(t) // the go command looks at every package
	list := exec.Command("go", "list", "-export", "-f", "{{.ImportPath}} {{.Export}}", "./...")
	list.Dir = ".."
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	const most, mostOfSearch = 7, 15 // in megabytes, when 5.5 and 12.4 were the largest
	for line := range strings.Lines(string(out)) {
		name, file, compiled := strings.Cut(strings.TrimSpace(line), " ")
		if !compiled {
			continue // nothing but tests
		}
		info, err := os.Stat(file)
		if err != nil {
			t.Fatal(err)
		}
		limit := int64(most)
		switch strings.TrimPrefix(name, "lockstep/sim/explore") {
		case "", "/space", "/behaviour": // where the generic tables are
			limit = mostOfSearch
		}
		if mb := info.Size() >> 20; mb > limit {
			t.Errorf("%s is compiled to %d MB, more than %d: go tool nm -size %s | sort -k 4 tells what of", name, mb, limit, file)
		}
	}
}

// TestImportsAreGrouped: the standard library, other modules, and this one, with a line between.
func TestImportsAreGrouped(t *testing.T) {
	kind := func(path string) string {
		first, _, _ := strings.Cut(path, "/")
		switch {
		case first == "lockstep":
			return "this module's"
		case strings.Contains(first, "."):
			return "another module's"
		}
		return "the standard library's"
	}
	for _, p := range mustPackages(t) {
		for _, f := range p.files {
			for i, spec := range f.Imports[min(1, len(f.Imports)):] {
				before := f.Imports[i]
				a, b := kind(strings.Trim(before.Path.Value, `"`)), kind(strings.Trim(spec.Path.Value, `"`))
				if at := p.fset.Position(spec.Pos()); a != b && p.fset.Position(before.End()).Line+1 == at.Line {
					t.Errorf("%s: %s package follows %s without an empty line between", at, b, a)
				}
			}
		}
	}
}

func TestFunctionsAreShort(t *testing.T) {
	for _, p := range mustPackages(t) {
		for _, f := range p.files {
			for _, d := range f.Decls {
				fn, is := d.(*ast.FuncDecl)
				if !is || isTable(fn) {
					continue
				}
				from, to := p.fset.Position(fn.Pos()), p.fset.Position(fn.End())
				if n := to.Line - from.Line + 1; n > linesOfAFunction {
					t.Errorf("%s:%d: %s has %d lines, more than %d", strings.TrimPrefix(from.Filename, "../"), from.Line, fn.Name.Name, n, linesOfAFunction)
				}
			}
		}
	}
}

// isTable reports whether a function does nothing but return a composite literal.
func isTable(fn *ast.FuncDecl) bool {
	if fn.Body == nil || len(fn.Body.List) != 1 {
		return false
	}
	ret, is := fn.Body.List[0].(*ast.ReturnStmt)
	if !is || len(ret.Results) != 1 {
		return false
	}
	_, is = ret.Results[0].(*ast.CompositeLit)
	return is
}

// Every package and every exported name has a comment.
func TestExportedNamesAreDocumented(t *testing.T) {
	for _, p := range mustPackages(t) {
		d, err := p.doc()
		if err != nil {
			t.Fatal(err)
		}
		if d.Doc == "" {
			t.Errorf("package %s has no comment", p.dir)
		}
		if d.Name == "main" {
			continue
		}
		for _, name := range undocumented(d) {
			t.Errorf("%s: %s has no comment", p.dir, name)
		}
	}
}

// undocumented are the exported names of a package that have no comment.
func undocumented(d *doc.Package) (names []string) {
	check := func(name, text string) {
		if text == "" {
			names = append(names, name)
		}
	}
	functions := func(all []*doc.Func) {
		for _, f := range all {
			check(f.Name, f.Doc)
		}
	}
	values := func(all []*doc.Value) {
		for _, v := range all {
			if v.Doc != "" {
				continue // one comment for a group of constants
			}
			for _, s := range v.Decl.Specs {
				s := s.(*ast.ValueSpec)
				if ast.IsExported(s.Names[0].Name) {
					check(s.Names[0].Name, s.Doc.Text()+s.Comment.Text())
				}
			}
		}
	}
	functions(d.Funcs)
	values(slices.Concat(d.Consts, d.Vars))
	for _, typ := range d.Types {
		check(typ.Name, typ.Doc)
		functions(typ.Funcs)
		for _, m := range typ.Methods {
			check(typ.Name+"."+m.Name, m.Doc)
		}
		values(slices.Concat(typ.Consts, typ.Vars))
	}
	return names
}

// Golden files are small enough that a person can review a change to them.
func TestGoldensCanBeReviewed(t *testing.T) {
	total := int64(0)
	err := filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.Contains(filepath.ToSlash(file), "/testdata/") {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		total += info.Size()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if total == 0 {
		t.Fatal("found no golden files")
	}
	if total > bytesOfGoldens {
		t.Errorf("golden files have %d bytes, more than %d", total, bytesOfGoldens)
	}
}
