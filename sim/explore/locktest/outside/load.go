package outside

import (
	"errors"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"golang.org/x/tools/go/gcexportdata"
	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"

	"lockstep/sim/trace"
)

// A program is the test that runs, from its sources: the tested package with its tests, and of their
// imports those packages that somebody has asked for. Of all others there are declarations only.
type program struct {
	main      *packages.Package
	readable  map[string]bool // the paths of packages that are read from source, or could be; true for those that are
	missing   map[string]bool // those that should have been
	fset      *token.FileSet
	ssa       *ssa.Program
	units     map[string]*unit // by path, of those that are read from source
	builds    map[*ssa.Package]bool
	files     map[string]*unit    // by name
	unread    map[string]string   // files of all other packages, with these packages' paths
	importing map[string][]string // packages, by a package that they import
	sync.Mutex
}

// A unit is one package that is read from source.
type unit struct {
	path    string
	files   []*ast.File
	info    *types.Info
	pkg     *types.Package
	ssa     *ssa.Package
	reasons map[string]map[int]string        // the directives', by file and line
	naming  map[types.Object][]*ssa.Function // which functions name each
}

// external ends the names of packages that test another from outside.
const external = "_test"

// built says what the program that runs was built from.
var built = debug.ReadBuildInfo

// started is where the program was started.
var started, _ = os.Getwd()

// loaded are the programs so far, and why folders had none: sources don't change while a test runs.
var loaded = struct {
	sync.Mutex
	by     map[string]*program
	failed map[string]error
}{by: map[string]*program{}, failed: map[string]error{}}

// load reads the program that runs, as the go command finds it from some folder. wanted is one of the simulator's own
// packages that is read, too.
func load(dirs []string, wanted string) (*program, error) {
	loaded.Lock()
	defer loaded.Unlock()
	if p := loaded.by[wanted]; p != nil {
		return p, nil
	}
	key := wanted + "\n" + strings.Join(dirs, "\n")
	if err := loaded.failed[key]; err != nil {
		return nil, err
	}
	p, err := loadFrom(dirs, wanted)
	if err != nil {
		loaded.failed[key] = err
		return nil, err
	}
	loaded.by[wanted] = p
	return p, nil
}

// more reads the packages that are missing, too.
func (p *program) more(wanted string) (*program, error) {
	for path := range p.missing {
		p.readable[path] = true
	}
	more, err := read(p.main, p.readable)
	if err == nil {
		loaded.Lock()
		defer loaded.Unlock()
		loaded.by[wanted] = more
	}
	return more, err
}

func unreadable(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrNoSource, fmt.Errorf(format, args...))
}

func loadFrom(dirs []string, wanted string) (*program, error) {
	info, ok := built()
	if !ok {
		return nil, unreadable("the program doesn't say what it was built from")
	}
	path, tests := strings.CutSuffix(info.Path, ".test")
	switch {
	case !tests:
		return nil, unreadable("%s is no test that go test has built", info.Path)
	case path == "command-line-arguments":
		return nil, unreadable("the test was built from single files: run go test for its package")
	}
	flags, env, err := asBuilt(info)
	if err != nil {
		return nil, err
	}
	var failed error
	for _, dir := range dirs {
		main, err := list(dir, path, flags, env)
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		if err := sameVersions(info, main); err != nil {
			return nil, err
		}
		source := map[string]bool{}
		for _, p := range main.Imports {
			choose(source, p, wanted)
		}
		for of := range source {
			source[of] = of == path || of == path+external || of == wanted
		}
		return read(main, source)
	}
	if failed == nil {
		return nil, unreadable("no folder is known that it is in")
	}
	return nil, unreadable("%w", failed)
}

// asBuilt are the flags and the variables for the go command that the program was built with, as far as it says.
func asBuilt(info *debug.BuildInfo) (flags, env []string, err error) {
	env = os.Environ()
	for _, a := range append(strings.Fields(os.Getenv("GOFLAGS")), starter()...) {
		name, _, _ := strings.Cut(strings.TrimPrefix(a, "-"), "=")
		switch strings.TrimPrefix(name, "-") {
		case "overlay":
			return nil, nil, unreadable("the test was built with -overlay, so files aren't what was compiled: test without it")
		case "mod", "modfile":
			flags = append(flags, a)
		}
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "-tags", "-race", "-msan", "-asan", "-trimpath", "-gcflags":
			flags = append(flags, s.Key+"="+s.Value)
		case "GOOS", "GOARCH", "CGO_ENABLED", "GOEXPERIMENT":
			env = append(env, s.Key+"="+s.Value)
		}
	}
	return flags, env, nil
}

// starter is the command line of the process that has started this one, which go test's is if it has run the test.
func starter() []string {
	line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", os.Getppid()))
	if err == nil {
		return strings.Split(string(line), "\x00")
	}
	line, _ = exec.Command("ps", "-o", "args=", "-p", strconv.Itoa(os.Getppid())).Output() // none where there is neither
	return strings.Fields(string(line))
}

// list asks the go command for a test, and all that it is built from.
func list(dir, path string, flags, env []string) (*packages.Package, error) {
	all, err := packages.Load(&packages.Config{
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
			packages.NeedExportFile | packages.NeedModule | packages.NeedForTest,
		Dir: dir, Env: env, BuildFlags: flags, Tests: true,
	}, path)
	if err != nil {
		return nil, err
	}
	for _, p := range all {
		if p.ID == path+".test" {
			return p, nil
		}
	}
	for _, p := range all {
		for _, e := range p.Errors {
			return nil, e
		}
	}
	return nil, fmt.Errorf("the go command lists no tests of %s in %s", path, dir)
}

// sameVersions checks that the modules are those that the program was built with, as they aren't if
// that had another go.mod.
func sameVersions(info *debug.BuildInfo, main *packages.Package) error {
	built := map[string]*debug.Module{}
	for _, m := range info.Deps {
		built[m.Path] = m
	}
	var wrong error
	packages.Visit([]*packages.Package{main}, func(p *packages.Package) bool {
		if m := p.Module; m != nil && !m.Main && wrong == nil {
			if b := built[m.Path]; b != nil && b.Version != m.Version {
				wrong = unreadable("%s was built with %s, and the go command finds %s: test with the same flags as GOFLAGS has", m.Path, b.Version, m.Version)
			}
		}
		return true
	}, nil)
	return wrong
}

// standard reports whether a package is one of Go's own.
func standard(p *packages.Package) bool {
	first, _, _ := strings.Cut(p.PkgPath, "/")
	return p.Module == nil && !strings.Contains(first, ".")
}

// A checker finds the types of a program's packages.
type checker struct {
	*program
	types map[string]*types.Package
	built time.Time // when the program was
}

func read(main *packages.Package, source map[string]bool) (*program, error) {
	p := &program{main: main, readable: source, missing: map[string]bool{}, fset: token.NewFileSet(), units: map[string]*unit{},
		builds: map[*ssa.Package]bool{}, files: map[string]*unit{}, unread: map[string]string{}}
	c := &checker{program: p, types: map[string]*types.Package{"unsafe": types.Unsafe}}
	if exe, err := os.Executable(); err == nil {
		if stat, err := os.Stat(exe); err == nil {
			c.built = stat.ModTime()
		}
	}
	var all []*packages.Package
	packages.Visit([]*packages.Package{main}, nil, func(p *packages.Package) { // imported packages come first
		if c.readable[p.PkgPath] && p != main {
			all = append(all, p)
			return
		}
		for _, name := range p.GoFiles {
			c.unread[name] = p.PkgPath
		}
	})
	for _, p := range all {
		if err := c.check(p); err != nil {
			return nil, err
		}
	}
	p.ssa = ssa.NewProgram(p.fset, ssa.InstantiateGenerics)
	for path, t := range c.types {
		if u := p.units[path]; u != nil {
			u.ssa = p.ssa.CreatePackage(t, u.files, u.info, true)
		} else {
			p.ssa.CreatePackage(t, nil, nil, true)
		}
	}
	return p, nil
}

// choose notes the packages that can be read from source, from one on.
func choose(source map[string]bool, p *packages.Package, wanted string) {
	if _, is := source[p.PkgPath]; is || standard(p) || ours(p.PkgPath) && p.PkgPath != wanted {
		return
	}
	source[p.PkgPath] = false
	for _, imported := range p.Imports {
		choose(source, imported, wanted)
	}
}

// followed is the package of a path, nil if that isn't read. It notes those that should be.
func (p *program) followed(path string) *unit {
	u := p.units[path]
	if _, is := p.readable[path]; is && u == nil {
		p.missing[path] = true
	}
	return u
}

// check reads one package from source.
func (c *checker) check(p *packages.Package) error {
	for _, e := range p.Errors {
		return unreadable("%w", e)
	}
	u := &unit{path: p.PkgPath, reasons: map[string]map[int]string{}, info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{}, Implicits: map[ast.Node]types.Object{},
		Instances: map[*ast.Ident]types.Instance{}, Scopes: map[ast.Node]*types.Scope{}, Selections: map[*ast.SelectorExpr]*types.Selection{}, FileVersions: map[*ast.File]string{},
	}}
	for _, name := range p.CompiledGoFiles {
		if !strings.HasSuffix(name, ".go") && filepath.Ext(name) != "" {
			continue // in assembly: its functions have no bodies
		}
		if stat, err := os.Stat(name); err == nil && !c.built.IsZero() && stat.ModTime().After(c.built) && p.Module != nil && p.Module.Main {
			return unreadable("%s has changed since the test was built: run go test again", name)
		}
		f, err := parser.ParseFile(c.fset, name, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return unreadable("%w", err)
		}
		u.files = append(u.files, f)
		u.directives(c.fset, f)
		c.files[name] = u
	}
	conf := types.Config{Sizes: types.SizesFor("gc", build.Default.GOARCH), Importer: importer(func(path string) (*types.Package, error) { return c.imported(p, path) })}
	if p.Module != nil && p.Module.GoVersion != "" {
		conf.GoVersion = "go" + p.Module.GoVersion
	}
	var err error
	if u.pkg, err = conf.Check(p.PkgPath, c.fset, u.files, u.info); err != nil {
		return unreadable("%w", err)
	}
	c.units[p.PkgPath], c.types[p.PkgPath] = u, u.pkg
	return nil
}

// directives notes those of a file.
func (u *unit) directives(fset *token.FileSet, f *ast.File) {
	for _, group := range f.Comments {
		for _, c := range group.List {
			if reason, is := strings.CutPrefix(c.Text, Directive); is {
				at := fset.Position(c.Pos())
				if u.reasons[at.Filename] == nil {
					u.reasons[at.Filename] = map[int]string{}
				}
				u.reasons[at.Filename][at.Line] = strings.TrimSpace(reason)
			}
		}
	}
}

type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }

// imported is a package as another imports it.
func (c *checker) imported(by *packages.Package, path string) (*types.Package, error) {
	if path == "unsafe" {
		return types.Unsafe, nil
	}
	p := by.Imports[path]
	if p == nil {
		return nil, fmt.Errorf("the go command doesn't list %s", path)
	}
	if t := c.types[p.PkgPath]; t != nil && t.Complete() {
		return t, nil
	}
	if p.ExportFile == "" {
		for _, e := range p.Errors {
			return nil, e
		}
		return nil, fmt.Errorf("the go command hasn't compiled %s", path)
	}
	f, err := os.Open(p.ExportFile)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it is only read
	//lint:ignore SA1019 until Go 1.28 the go command's export data are in archives, which it alone reads
	r, err := gcexportdata.NewReader(f)
	if err != nil {
		return nil, err
	}
	return gcexportdata.Read(r, c.fset, c.types, p.PkgPath)
}

// unit is the one that a place is in.
func (p *program) unit(at token.Pos) *unit {
	if f := p.fset.File(at); f != nil {
		return p.files[f.Name()]
	}
	return nil
}

// source names a place as runs do: by package and file.
func (p *program) source(at token.Pos) trace.Source {
	pos := p.fset.Position(at)
	path := ""
	if u := p.unit(at); u != nil {
		path = u.path
	}
	return trace.Source{File: strings.TrimPrefix(strings.TrimSuffix(path, external), "lockstep/") + "/" + filepath.Base(pos.Filename), Line: pos.Line}
}

// reason returns the directive at a place's line.
func (p *program) reason(at token.Pos) (string, bool) {
	pos := p.fset.Position(at)
	if u := p.unit(at); u != nil {
		why, is := u.reasons[pos.Filename][pos.Line]
		return why, is
	}
	return "", false
}

// compiled is the package of a file as the program that runs names it, which is by the package's path if it was built
// with -trimpath. It reports whether there is such a file.
func (p *program) compiled(file string) (*unit, bool) {
	if u := p.files[file]; u != nil {
		return u, true
	}
	if path, is := p.unread[file]; is || filepath.IsAbs(file) {
		return p.followed(path), is
	}
	slash := strings.LastIndexByte(file, '/')
	if slash < 0 {
		return nil, false
	}
	path := version.ReplaceAllString(file[:slash], "")
	for name, u := range p.files {
		if filepath.Base(name) == file[slash+1:] && (u.path == path || u.path == path+external) {
			return u, true
		}
	}
	p.followed(path)
	return nil, p.missing[path] || ours(path) || !strings.Contains(strings.SplitN(path, "/", 2)[0], ".")
}

// version is a module's in the name of a file.
var version = regexp.MustCompile(`@[^/]+`)
