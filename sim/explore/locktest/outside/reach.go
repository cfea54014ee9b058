package outside

import (
	"go/ast"
	"go/types"
	"strings"
)

// A reader follows code from function to function.
type reader struct {
	*loader
	uses     map[Use]bool
	values   map[string]bool // the types that the made lock has values of
	captures bool            // it has functions with variables of their own, which may be functions or interfaces

	todo     []body
	seen     map[body]bool
	live     map[named]bool // types that followed code names
	dynamics map[named]bool // methods that are called on a value of unknown type
	captives map[*types.Var]bool
	outer    []outer
}

// body is code to be followed.
type body struct {
	u    *unit
	node ast.Node
	late bool // it may run after the constructor
}

// named is a type, "shop.Lock", or the name of a method, reached before or after the constructor.
type named struct {
	name string
	late bool
}

// root adds a function that is called from outside.
func (r *reader) root(e entry) error {
	if e.ours() {
		return nil
	}
	if e.file == "" || strings.HasSuffix(e.function, "-fm") {
		return r.byName(e)
	}
	u, err := r.loader.root(e.file)
	if err != nil {
		return err
	}
	late := !e.constructs
	for _, f := range u.files {
		if r.fset.Position(f.Pos()).Filename != e.file {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.FuncDecl:
				if n.Body != nil && r.fset.Position(n.Pos()).Line == e.line {
					r.add(u, n, late)
				}
			case *ast.FuncLit:
				if r.fset.Position(n.Pos()).Line == e.line {
					r.add(u, n, late)
				}
			}
			return true
		})
	}
	return nil
}

// byName adds a method that the compiler has wrapped.
func (r *reader) byName(e entry) error {
	u, err := r.followed(e.pkg())
	if u == nil || err != nil {
		return err
	}
	name := strings.NewReplacer("(*", "", ")", "").Replace(strings.TrimSuffix(e.name(), "-fm"))
	if d := u.decls[name]; d != nil && d.Body != nil {
		r.add(u, d, true)
	}
	return nil
}

func (r *reader) add(u *unit, n ast.Node, late bool) {
	b := body{u, n, late}
	if r.seen[b] || r.seen[body{u, n, true}] {
		return
	}
	r.seen[b] = true
	r.todo = append(r.todo, b)
}

// follow reads all code that can be reached.
func (r *reader) follow() error {
	for t := range r.values {
		if err := r.names(t, true); err != nil {
			return err
		}
	}
	for len(r.todo) > 0 {
		b := r.todo[len(r.todo)-1]
		r.todo = r.todo[:len(r.todo)-1]
		w := walker{reader: r, body: b, called: map[ast.Expr]bool{}}
		ast.Inspect(b.node, w.visit)
		if w.err != nil {
			return w.err
		}
	}
	r.shared()
	return nil
}

// hooks are the methods that go-redis calls of a value that it is given.
var hooks = []string{"DialHook", "ProcessHook", "ProcessPipelineHook"}

// names notes that there may be a value of a type, whose methods unknown calls may mean.
func (r *reader) names(typ string, late bool) error {
	n := named{typ, late}
	if r.live[n] {
		return nil
	}
	r.live[n] = true
	for _, method := range hooks {
		if err := r.method(typ, method, true); err != nil {
			return err
		}
	}
	for m := range r.dynamics {
		if m.late && !late {
			continue
		}
		if err := r.method(typ, m.name, m.late); err != nil {
			return err
		}
	}
	return nil
}

// calls notes that a method is called on a value whose type isn't known.
func (r *reader) calls(method string, late bool) error {
	n := named{method, late}
	if r.dynamics[n] {
		return nil
	}
	r.dynamics[n] = true
	for t := range r.live {
		if late && !t.late {
			continue
		}
		if err := r.method(t.name, method, late); err != nil {
			return err
		}
	}
	return nil
}

// method adds a method of a type, which may be promoted from a field.
func (r *reader) method(typ, method string, late bool) error {
	dot := strings.LastIndexByte(typ, '.')
	u, err := r.followed(typ[:dot])
	if u == nil || err != nil {
		return err
	}
	if d := u.decls[typ[dot+1:]+"."+method]; d != nil && d.Body != nil {
		r.add(u, d, late)
	} else if t, is := u.pkg.Scope().Lookup(typ[dot+1:]).(*types.TypeName); is {
		obj, _, _ := types.LookupFieldOrMethod(types.NewPointer(t.Type()), true, u.pkg, method)
		if f, is := obj.(*types.Func); is {
			return r.function(f, late)
		}
	}
	return nil
}
