package outside

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"lockstep/sim/trace"
)

// A loader reads packages, each when something of it is first needed.
type loader struct {
	fset  *token.FileSet
	dirs  map[string]where // by import path, of all packages that some root imports, but for Go's own
	roots map[string]bool  // directories: their tests are read, too
	units map[string]*unit // by path
}

// where tells where a package is.
type where struct {
	dir  string
	main bool // it is of the module that is tested
}

// A unit is the files of one package.
type unit struct {
	path       string // as it is imported; for the external test of a package, with "_test" behind it
	main       bool   // of the module that is tested
	files      []*ast.File
	info       *types.Info
	pkg        *types.Package
	checking   bool
	directives map[string]map[int]string // reasons by file and line
	decls      map[string]*ast.FuncDecl  // by receiver's type and name, "Lock.Acquire", or the name alone
	specs      map[string]*ast.ValueSpec // of the package's variables, by name
}

func newLoader() *loader {
	return &loader{fset: token.NewFileSet(), dirs: map[string]where{}, roots: map[string]bool{}, units: map[string]*unit{}}
}

// root reads the package that a file belongs to.
func (l *loader) root(file string) (*unit, error) {
	dir := filepath.Dir(file)
	if !l.roots[dir] {
		if _, err := os.Stat(file); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrNoSource, err)
		}
		l.roots[dir] = true
		if err := l.list(dir); err != nil {
			return nil, err
		}
	}
	parsed, err := parser.ParseFile(l.fset, file, nil, parser.PackageClauseOnly)
	if err != nil {
		return nil, err
	}
	for path, w := range l.dirs {
		if w.dir == dir {
			if strings.HasSuffix(parsed.Name.Name, external) {
				path += external
			}
			return l.unit(path, w)
		}
	}
	return nil, fmt.Errorf("%w: the go command doesn't list the package of %s", ErrNoSource, filepath.Base(file))
}

// external ends the names of packages that test another from outside.
const external = "_test"

// list finds the packages that the one in a directory and its tests import.
func (l *loader) list(dir string) error {
	listed.Lock()
	defer listed.Unlock()
	if listed.by[dir] == nil {
		dirs, err := list(dir)
		if err != nil {
			return err
		}
		listed.by[dir] = dirs
	}
	maps.Copy(l.dirs, listed.by[dir])
	return nil
}

// listed are the lists so far, by directory: they don't change while a test runs.
var listed = struct {
	sync.Mutex
	by map[string]map[string]where
}{by: map[string]map[string]where{}}

// list asks the go command.
func list(dir string) (map[string]where, error) {
	const format = "{{if not .Standard}}{{.ImportPath}}\t{{.Dir}}\t{{with .Module}}{{.Main}}{{end}}{{end}}"
	cmd := exec.Command("go", "list", "-e", "-deps", "-test", "-f", format, ".")
	cmd.Dir = dir
	var complaint bytes.Buffer
	cmd.Stderr = &complaint
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: go list: %w: %s", ErrNoSource, err, complaint.String())
	}
	dirs := map[string]where{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSpace(line), "\t")
		if len(fields) < 2 || strings.Contains(fields[0], " ") || strings.HasSuffix(fields[0], ".test") {
			continue // of Go's own, or a package as its tests see it
		}
		dirs[fields[0]] = where{dir: fields[1], main: len(fields) < 3 || fields[2] == "true"}
	}
	return dirs, nil
}

// followed reads a package by its path. It returns nil for those that aren't read.
func (l *loader) followed(path string) (*unit, error) {
	if u := l.units[path]; u != nil {
		return u, nil
	}
	w, known := l.dirs[strings.TrimSuffix(path, external)]
	if !known || ours(path) && !l.roots[w.dir] {
		return nil, nil
	}
	return l.unit(path, w)
}

// unit reads the package of a path. It returns nil if it has no files in Go.
func (l *loader) unit(path string, w where) (*unit, error) {
	if u := l.units[path]; u != nil {
		return u, nil
	}
	files, err := l.parse(w.dir, strings.HasSuffix(path, external))
	if err != nil || len(files) == 0 {
		return nil, err
	}
	u := &unit{path: path, main: w.main, files: files, directives: map[string]map[int]string{},
		decls: map[string]*ast.FuncDecl{}, specs: map[string]*ast.ValueSpec{}}
	l.units[path] = u
	l.index(u)
	l.check(u)
	return u, nil
}

// parse reads the files of a directory that are built on this machine: those of the package, or those of its external tests.
func (l *loader) parse(dir string, tests bool) ([]*ast.File, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNoSource, err)
	}
	var files []*ast.File
	for _, e := range entries {
		name := e.Name()
		test := strings.HasSuffix(name, "_test.go")
		if !strings.HasSuffix(name, ".go") || tests && !test || test && !l.roots[dir] {
			continue
		}
		if match, err := build.Default.MatchFile(dir, name); err != nil || !match {
			continue
		}
		f, err := parser.ParseFile(l.fset, filepath.Join(dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		if strings.HasSuffix(f.Name.Name, external) == tests {
			files = append(files, f)
		}
	}
	return files, nil
}

// index finds the functions, the variables and the directives of a package.
func (l *loader) index(u *unit) {
	for _, f := range u.files {
		reasons := map[int]string{}
		for _, group := range f.Comments {
			for _, c := range group.List {
				if reason, is := strings.CutPrefix(c.Text, Directive); is {
					reasons[l.fset.Position(c.Pos()).Line] = strings.TrimSpace(reason)
				}
			}
		}
		u.directives[l.fset.Position(f.Pos()).Filename] = reasons
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				u.decls[declared(d)] = d
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if v, is := s.(*ast.ValueSpec); is && d.Tok == token.VAR {
						for _, name := range v.Names {
							u.specs[name.Name] = v
						}
					}
				}
			}
		}
	}
}

// declared is the name of a function as unit.decls has it.
func declared(d *ast.FuncDecl) string {
	if d.Recv == nil || len(d.Recv.List) == 0 {
		return d.Name.Name
	}
	t := d.Recv.List[0].Type
	for {
		switch x := t.(type) {
		case *ast.StarExpr:
			t = x.X
		case *ast.ParenExpr:
			t = x.X
		case *ast.IndexExpr:
			t = x.X
		case *ast.IndexListExpr:
			t = x.X
		case *ast.Ident:
			return x.Name + "." + d.Name.Name
		default:
			return d.Name.Name
		}
	}
}

// check finds the types of a package, as far as they follow from the packages that are read. What is of
// others is unknown, which isn't an error here.
func (l *loader) check(u *unit) {
	u.info = &types.Info{Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{}, Selections: map[*ast.SelectorExpr]*types.Selection{}}
	conf := types.Config{Importer: importer{l, u}, Error: func(error) {}, FakeImportC: true, DisableUnusedImportCheck: true}
	u.checking = true
	u.pkg, _ = conf.Check(u.path, l.fset, u.files, u.info) // errors are of what is unknown
	u.checking = false
}

// importer gives packages of the tested module as they are, and empty ones for all others.
type importer struct {
	l *loader
	u *unit
}

func (i importer) Import(p string) (*types.Package, error) {
	if w, known := i.l.dirs[p]; known && w.main {
		u, err := i.l.followed(p)
		if err != nil {
			return nil, err
		}
		if u != nil && u != i.u && !u.checking && u.pkg != nil {
			return u.pkg, nil
		}
	}
	name := path.Base(p)
	if version.MatchString(name) {
		name = path.Base(path.Dir(p))
	}
	pkg := types.NewPackage(p, strings.NewReplacer("-", "_").Replace(strings.TrimPrefix(dotted.ReplaceAllString(name, ""), "go-")))
	pkg.MarkComplete()
	return pkg, nil
}

var (
	version = regexp.MustCompile(`^v[0-9]+$`)
	dotted  = regexp.MustCompile(`\.v[0-9]+$`)
)

// source names a place as runs do: by package and file.
func (l *loader) source(u *unit, at token.Pos) trace.Source {
	p := l.fset.Position(at)
	return trace.Source{File: strings.TrimPrefix(strings.TrimSuffix(u.path, external), "lockstep/") + "/" + filepath.Base(p.Filename), Line: p.Line}
}

// reason returns the directive at a place's line.
func (l *loader) reason(u *unit, at token.Pos) (string, bool) {
	p := l.fset.Position(at)
	why, is := u.directives[p.Filename][p.Line]
	return why, is
}
