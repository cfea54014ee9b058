package docs_test

import (
	"fmt"
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// module is the path of the project's module, with which every import of its own
// packages begins.
const module = "lockstep/"

// libraries is the folder of a module of its own, which has the dependencies that it takes to
// try lock libraries.
const libraries = "libraries"

// pkg is one package of the project, without its tests.
type pkg struct {
	dir     string // from the project's root, with slashes; "." is the root
	fset    *token.FileSet
	files   []*ast.File
	imports []string // the project's own packages that it imports, by folder, sorted
	lines   int
}

// packages reads all packages of the module, sorted by folder.
func packages() (all []*pkg, err error) {
	err = filepath.WalkDir("..", func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && file != ".." && (d.Name() == "testdata" || d.Name() == example || d.Name() == libraries || strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(file, ".go") || strings.HasSuffix(file, "_test.go"):
			return nil
		}
		dir, err := filepath.Rel("..", filepath.Dir(file))
		if err != nil {
			return err
		}
		dir = filepath.ToSlash(dir)
		i := slices.IndexFunc(all, func(p *pkg) bool { return p.dir == dir })
		if i < 0 {
			i, all = len(all), append(all, &pkg{dir: dir, fset: token.NewFileSet()})
		}
		return all[i].read(file)
	})
	slices.SortFunc(all, func(a, b *pkg) int { return strings.Compare(a.dir, b.dir) })
	return all, err
}

// read adds a file to the package.
func (p *pkg) read(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	f, err := parser.ParseFile(p.fset, file, text, parser.ParseComments)
	if err != nil {
		return err
	}
	p.files = append(p.files, f)
	p.lines += strings.Count(string(text), "\n")
	for _, i := range f.Imports {
		dir, ours := strings.CutPrefix(strings.Trim(i.Path.Value, `"`), module)
		if ours && !slices.Contains(p.imports, dir) {
			p.imports = append(p.imports, dir)
		}
	}
	slices.Sort(p.imports)
	return nil
}

// doc is the package's documentation, as go doc prints it.
func (p *pkg) doc() (*doc.Package, error) {
	return doc.NewFromFiles(p.fset, slices.Clone(p.files), module+p.dir, doc.PreserveAST)
}

// floor is a package's place in floors, 0 at the top; -1 if it has none.
func (p *pkg) floor() int { return floorOf(p.dir) }

// packageTable lists the packages from the top floor to the lowest, each with the
// first sentence of its comment. The root of the project is at the path up.
func packageTable(up string) (string, error) {
	all, err := packages()
	if err != nil {
		return "", err
	}
	slices.SortStableFunc(all, func(a, b *pkg) int { return a.floor() - b.floor() })
	var b strings.Builder
	b.WriteString("| package | |\n| --- | --- |\n")
	for _, p := range all {
		d, err := p.doc()
		if err != nil {
			return "", err
		}
		name := p.dir
		if p.dir == "." {
			name = "main.go"
		}
		fmt.Fprintf(&b, "| [%s](%s) | %s |\n", name, path.Join(up, name), cellText(subjectless(d)))
	}
	return b.String(), nil
}

// subjectless is the first sentence of a package's comment without the words that
// every such comment begins with: "Package cli is".
func subjectless(d *doc.Package) string {
	text := strings.TrimSuffix(d.Synopsis(d.Doc), ".")
	text = strings.TrimPrefix(text, "Package "+d.Name+" ")
	return strings.TrimPrefix(text, "is ")
}

func mustPackages(t *testing.T) []*pkg {
	t.Helper()
	all, err := packages()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) == 0 {
		t.Fatal("found no packages")
	}
	return all
}

// TestOverviewsNameTheirPackages: the comments that tell how the engine and the search are divided
// name each of the packages below them.
func TestOverviewsNameTheirPackages(t *testing.T) {
	all := mustPackages(t)
	for _, above := range []string{"sim", "sim/explore"} {
		i := slices.IndexFunc(all, func(p *pkg) bool { return p.dir == above })
		d, err := all[i].doc()
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(d.Doc), " ")
		for _, p := range all {
			name, below := strings.CutPrefix(p.dir, above+"/")
			subject := regexp.MustCompile(`(Package|and|[-.,;:]) ` + name + `(:|,| [a-z]+s) `)
			if below && !strings.Contains(name, "/") && !subject.MatchString(text) {
				t.Errorf("%s/doc.go doesn't say what the package %s is for", above, name)
			}
		}
	}
}
