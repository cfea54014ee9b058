package job

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"slices"
	"strings"

	"lockstep/sim/suggest"
	"lockstep/strategies"
)

// Lock is a lock that a program can search.
type Lock struct {
	strategies.Strategy
	// Code is the digest of its code: of all that may make it do something else.
	Code string
	// Remembers: its code may keep something in variables that a closure has captured. See
	// explore.Bounds.
	Remembers bool
}

// Locks are the locks that a program can search: it was built with them.
type Locks []Lock

// Find returns the lock with a name.
func (all Locks) Find(name string) (*Lock, error) {
	i := slices.IndexFunc(all, func(l Lock) bool { return l.Name == name })
	if i < 0 {
		return nil, suggest.Unknown("lock", name, all.Names())
	}
	return &all[i], nil
}

// Names lists the locks' names.
func (all Locks) Names() (names []string) {
	for _, l := range all {
		names = append(names, l.Name)
	}
	return names
}

// Module makes the locks of a module from their descriptions and the sources of the packages
// that they are in, as go:embed gives them. Their digest is that of all its Go files: it is
// for the module to give no sources but those that the locks depend on.
func Module(sources fs.FS, locks ...strategies.Strategy) (Locks, error) {
	var parts [][]byte
	err := fs.WalkDir(sources, ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(sources, path)
		parts = append(parts, []byte(path), text)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("the sources of the module's locks: %w", err)
	}
	if len(parts) == 0 {
		return nil, fmt.Errorf("the sources of the module's locks have no Go file: without them nobody can tell that a lock has changed")
	}
	var all Locks
	for _, s := range locks {
		all = append(all, Lock{Strategy: s, Code: digest(parts...)[:16], Remembers: true})
	}
	return all, nil
}

// Catalogue returns the locks of the catalogue. The digest of each is of its entry, of the
// declarations that the entry needs, of those that these need, and so on: so a change to one
// lock doesn't make others new. It fails if the sources are not those of the catalogue.
func Catalogue() (Locks, error) {
	src := newSources()
	for _, name := range strategies.Files() {
		text, _ := strategies.Text(name)
		if err := src.add(name, text); err != nil {
			return nil, err
		}
	}
	var all Locks
	for _, s := range strategies.All() {
		code, err := src.digest(s.Name)
		if err != nil {
			return nil, err
		}
		all = append(all, Lock{Strategy: s, Code: code})
	}
	return all, nil
}

// sources are the package-level declarations of a package, and the entries of its catalogue.
type sources struct {
	fset    *token.FileSet
	decls   map[string][]decl // by name; methods by their receiver's type
	entries map[string]decl   // of the catalogue, by the lock's name
}

// decl is one declaration.
type decl struct {
	place string // file:line, which traces name
	text  string
	needs []string // the names in it
}

func newSources() *sources {
	return &sources{token.NewFileSet(), map[string][]decl{}, map[string]decl{}}
}

// add reads a file.
func (s *sources) add(name, text string) error {
	f, err := parser.ParseFile(s.fset, name, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.Name == "All" && d.Recv == nil {
				s.catalogue(d, text)
				continue
			}
			at := d.Name.Name
			if d.Recv != nil {
				at = receiver(d.Recv.List[0].Type)
			}
			s.declare(at, d, text)
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					s.declare(spec.Name.Name, d, text)
				case *ast.ValueSpec:
					for _, n := range spec.Names {
						if len(d.Specs) > 1 && len(spec.Values) > 0 {
							s.declare(n.Name, spec, text) // one of a group, which stands for itself
						} else {
							s.declare(n.Name, d, text)
						}
					}
				}
			}
		}
	}
	return nil
}

// receiver is the name of a receiver's type.
func receiver(e ast.Expr) string {
	name := ""
	ast.Inspect(e, func(n ast.Node) bool {
		if id, is := n.(*ast.Ident); is && name == "" {
			name = id.Name
		}
		return name == ""
	})
	return name
}

func (s *sources) declare(name string, n ast.Node, text string) {
	s.decls[name] = append(s.decls[name], s.decl(n, text))
}

func (s *sources) decl(n ast.Node, text string) decl {
	from, to := s.fset.Position(n.Pos()), s.fset.Position(n.End())
	return decl{fmt.Sprintf("%s:%d", from.Filename, from.Line), text[from.Offset:to.Offset], names(n)}
}

// names are all identifiers in a part of a program.
func names(n ast.Node) (all []string) {
	ast.Inspect(n, func(n ast.Node) bool {
		if id, is := n.(*ast.Ident); is {
			all = append(all, id.Name)
		}
		return true
	})
	return all
}

// prose are the fields of an entry that nothing depends on.
var prose = []string{"Summary", "Source", "Like", "LikeBecause"}

// catalogue keeps the entries in a function that returns a list of them. Their place in the list
// is no part of them.
func (s *sources) catalogue(f *ast.FuncDecl, text string) {
	ast.Inspect(f.Body, func(n ast.Node) bool {
		lit, is := n.(*ast.CompositeLit)
		if !is || lit.Type != nil {
			return true
		}
		var entry decl
		name := ""
		for _, e := range lit.Elts {
			kv, is := e.(*ast.KeyValueExpr)
			if !is {
				return true
			}
			d := s.decl(kv, text)
			switch key := kv.Key.(*ast.Ident).Name; {
			case key == "Name":
				name = strings.Trim(strings.TrimSpace(strings.TrimPrefix(strings.ReplaceAll(d.text, " ", ""), "Name:")), `"`)
				entry.text += d.text + "\n"
			case !slices.Contains(prose, key):
				entry.text += d.text + "\n"
				entry.needs = append(entry.needs, names(kv.Value)...)
			}
		}
		if name != "" {
			s.entries[name] = entry
		}
		return false
	})
}

// digest is that of a lock's entry, and of all declarations that it needs.
func (s *sources) digest(lock string) (string, error) {
	entry, found := s.entries[lock]
	if !found {
		return "", fmt.Errorf("the catalogue's source has no entry of %s", lock)
	}
	parts := []string{entry.text}
	seen := map[string]bool{}
	for todo := entry.needs; len(todo) > 0; {
		name := todo[0]
		todo = todo[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		for _, d := range s.decls[name] {
			parts = append(parts, d.place+"\n"+d.text)
			todo = append(todo, d.needs...)
		}
	}
	slices.Sort(parts[1:])
	return digest([]byte(strings.Join(parts, "\x00")))[:16], nil
}
