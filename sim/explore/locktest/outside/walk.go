package outside

import (
	"go/ast"
	"go/token"
	"go/types"
)

// A walker follows one body.
type walker struct {
	*reader
	body
	called map[ast.Expr]bool // the expressions that a call calls
	err    error
}

func (w *walker) visit(n ast.Node) bool {
	if w.err != nil {
		return false
	}
	switch n := n.(type) {
	case *ast.CallExpr:
		w.call(n)
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			for _, x := range n.Lhs {
				w.write(x)
			}
		}
	case *ast.IncDecStmt:
		w.write(n.X)
	case *ast.UnaryExpr:
		if n.Op == token.AND {
			w.write(n.X)
		}
	case *ast.SelectorExpr:
		if w.selector(n) {
			ast.Inspect(n.X, w.visit)
		}
		return false
	case *ast.Ident:
		w.ident(n)
	}
	return true
}

// selector follows x.f, and reports whether x is to be followed, too: it isn't if it is a package.
func (w *walker) selector(n *ast.SelectorExpr) bool {
	if id, is := n.X.(*ast.Ident); is {
		if p, is := w.u.info.Uses[id].(*types.PkgName); is {
			w.imported(n, p.Imported().Path())
			return false
		}
	}
	s := w.u.info.Selections[n]
	switch {
	case s == nil:
		w.unknown(n)
	case s.Kind() == types.FieldVal:
	case types.IsInterface(s.Recv()):
		w.unknown(n)
	default:
		f := s.Obj().(*types.Func)
		if types.IsInterface(f.Signature().Recv().Type()) { // of an interface that is embedded
			w.unknown(n)
		} else if w.runs(n) && !w.excused(n.Sel, f.Name()) {
			w.err = w.function(f, w.late)
		}
	}
	return true
}

// runs reports whether a function that is named here may be called from here. What a constructor
// only passes on, into a field for instance, isn't called yet: the value that was made tells whether it
// is kept.
func (w *walker) runs(n ast.Expr) bool { return w.late || w.captures || w.called[n] }

func (w *walker) unknown(n *ast.SelectorExpr) {
	if _, is := w.reason(w.u, n.Sel.Pos()); !is {
		w.err = w.calls(n.Sel.Name, w.late)
	}
}

// excused reports whether a line has a directive, and notes what that says.
func (w *walker) excused(at ast.Node, what string) bool {
	why, is := w.reason(w.u, at.Pos())
	if is && why == "" {
		w.uses[Use{What: what, Why: "the comment at its end gives no reason", Source: w.source(w.u, at.Pos())}] = true
	} else if is {
		w.uses[Use{What: what, Source: w.source(w.u, at.Pos()), Reason: why}] = true
	}
	return is
}

// use notes that the code uses something that a search doesn't have, unless its author excuses it.
func (w *walker) use(at ast.Node, what, why string) {
	if !w.excused(at, what) {
		w.uses[Use{What: what, Why: why, Source: w.source(w.u, at.Pos())}] = true
	}
}

// imported follows a name of another package.
func (w *walker) imported(n *ast.SelectorExpr, path string) {
	name := n.Sel.Name
	if why := forbidden(path, name); why != "" {
		if w.runs(n) && (w.late || path != simulator) { // a constructor may have such a clock where it is given none
			w.use(n.Sel, path+"."+name, why)
		}
		return
	}
	u, err := w.followed(path)
	if u == nil || err != nil {
		w.err = err
		return
	}
	switch {
	case u.decls[name] != nil:
		if u.decls[name].Body != nil && w.runs(n) && !w.excused(n.Sel, path+"."+name) {
			w.add(u, u.decls[name], w.late)
		}
	case u.specs[name] != nil:
		w.variable(n, u, name)
	default:
		w.err = w.names(path+"."+name, w.late || w.captures)
	}
}

// ident follows a name of the package itself.
func (w *walker) ident(id *ast.Ident) {
	switch obj := w.u.info.Uses[id].(type) {
	case *types.Func:
		if obj.Signature().Recv() == nil && w.runs(id) && !w.excused(id, obj.Name()) {
			w.err = w.function(obj, w.late)
		}
	case *types.TypeName:
		if obj.Pkg() != nil && obj.Parent() == obj.Pkg().Scope() {
			w.err = w.names(obj.Pkg().Path()+"."+obj.Name(), w.late || w.captures)
		}
	case *types.Var:
		if !global(obj) {
			w.captured(obj)
		} else if u, err := w.followed(obj.Pkg().Path()); err != nil {
			w.err = err
		} else if u != nil {
			w.variable(id, u, obj.Name())
		}
	}
}

// captured follows what a variable is set to that a function has from around it.
func (w *walker) captured(v *types.Var) {
	if v.IsField() || within(v.Pos(), w.node) || w.captives[v] {
		return
	}
	w.captives[v] = true
	switch v.Type().Underlying().(type) {
	case *types.Interface, *types.Signature: // a parameter perhaps, which is set where the function around is called
		w.again()
	}
	for _, f := range w.u.files {
		if !within(v.Pos(), f) {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.AssignStmt:
				for i, x := range n.Lhs {
					if id, is := x.(*ast.Ident); is && (w.u.info.Defs[id] == v || w.u.info.Uses[id] == v) {
						w.add(w.u, n.Rhs[min(i, len(n.Rhs)-1)], true)
					}
				}
			case *ast.ValueSpec:
				for i, id := range n.Names {
					if w.u.info.Defs[id] == v && len(n.Values) > 0 {
						w.add(w.u, n.Values[min(i, len(n.Values)-1)], true)
					}
				}
			}
			return true
		})
	}
}

// again reads the constructor as if all that it names were called later on.
func (r *reader) again() {
	if r.captures {
		return
	}
	r.captures = true
	for b := range r.seen {
		if !b.late {
			r.todo = append(r.todo, b)
		}
	}
}

func within(at token.Pos, n ast.Node) bool { return n.Pos() <= at && at < n.End() }

func global(v *types.Var) bool { return v.Pkg() != nil && v.Parent() == v.Pkg().Scope() }

// function follows a function or a method.
func (r *reader) function(f *types.Func, late bool) error {
	f = f.Origin()
	if f.Pkg() == nil {
		return nil
	}
	u, err := r.followed(f.Pkg().Path())
	if u == nil || err != nil {
		return err
	}
	name := f.Name()
	if recv := f.Signature().Recv(); recv != nil {
		t := recv.Type()
		if p, is := t.(*types.Pointer); is {
			t = p.Elem()
		}
		n, is := t.(*types.Named)
		if !is {
			return nil
		}
		name = n.Obj().Name() + "." + name
	}
	if d := u.decls[name]; d != nil && d.Body != nil {
		r.add(u, d, late)
	}
	return nil
}

// variable follows what a variable of a package is set to at first, and notes channels: whoever
// shares a variable can talk by those.
func (w *walker) variable(at ast.Expr, u *unit, name string) {
	spec := u.specs[name]
	if spec == nil {
		return
	}
	w.add(u, spec, w.late || w.captures)
	if v, is := u.pkg.Scope().Lookup(name).(*types.Var); is && u.main {
		if _, is := v.Type().Underlying().(*types.Chan); is {
			w.use(at, "the variable "+name, aGlobal)
		}
	}
}

// write notes that code changes what an expression names, if that is a variable of a package.
func (w *walker) write(x ast.Expr) {
	if u, name := w.rooted(x); u != nil && u.main {
		w.use(x, "the variable "+name, aGlobal)
	}
	if v := w.local(x); v != nil && !within(v.Pos(), w.node) && w.u.main {
		w.outer = append(w.outer, outer{v: v, u: w.u, at: x})
	}
}

// local returns the variable of a function that an expression is a part of, or nil.
func (w *walker) local(x ast.Expr) *types.Var {
	if id, is := stem(x).(*ast.Ident); is {
		if v, is := w.u.info.Uses[id].(*types.Var); is && !global(v) && !v.IsField() {
			return v
		}
	}
	return nil
}

// stem takes from an expression all that it picks out of another.
func stem(x ast.Expr) ast.Expr {
	for {
		switch e := x.(type) {
		case *ast.ParenExpr:
			x = e.X
		case *ast.StarExpr:
			x = e.X
		case *ast.IndexExpr:
			x = e.X
		case *ast.SliceExpr:
			x = e.X
		case *ast.SelectorExpr:
			x = e.X
		default:
			return x
		}
	}
}

// An outer is a variable that code changes which has it from around it.
type outer struct {
	v  *types.Var
	u  *unit
	at ast.Expr
}

// shared notes those of them that are declared in no code that was followed: they were there before
// the constructor was called, so all locks have the same.
func (r *reader) shared() {
	for _, o := range r.outer {
		own := false
		for b := range r.seen {
			own = own || b.u == o.u && within(o.v.Pos(), b.node)
		}
		if !own {
			w := walker{reader: r, body: body{u: o.u}}
			w.use(o.at, "the variable "+o.v.Name(), aGlobal)
		}
	}
}

// rooted returns the variable of a package that an expression is a part of, or nil.
func (w *walker) rooted(x ast.Expr) (u *unit, name string) {
	id, is := stem(x).(*ast.Ident)
	if !is {
		return nil, ""
	}
	path := ""
	switch obj := w.u.info.Uses[id].(type) {
	case *types.PkgName:
		path, name = obj.Imported().Path(), w.selected(x, id)
	case *types.Var:
		if !global(obj) {
			return nil, ""
		}
		path, name = obj.Pkg().Path(), obj.Name()
	default:
		return nil, ""
	}
	u, err := w.followed(path)
	if err != nil || u == nil || u.specs[name] == nil {
		return nil, ""
	}
	return u, name
}

// selected returns the name that an expression takes from the package at its beginning.
func (w *walker) selected(x ast.Expr, pkg *ast.Ident) (name string) {
	ast.Inspect(x, func(n ast.Node) bool {
		if sel, is := n.(*ast.SelectorExpr); is && sel.X == ast.Expr(pkg) {
			name = sel.Sel.Name
		}
		return true
	})
	return name
}

// call notes calls that change a variable of a package: of delete and clear, of a method of package
// sync or of one that sets a field of its receiver.
func (w *walker) call(n *ast.CallExpr) {
	fun := ast.Unparen(n.Fun)
	w.called[fun] = true
	switch fun := fun.(type) {
	case *ast.Ident:
		if b, is := w.u.info.Uses[fun].(*types.Builtin); is && len(n.Args) > 0 && (b.Name() == "delete" || b.Name() == "clear" || b.Name() == "copy") {
			w.write(n.Args[0])
		}
	case *ast.SelectorExpr:
		u, name := w.rooted(fun.X)
		if u == nil || !u.main {
			return
		}
		s := w.u.info.Selections[fun]
		switch {
		case s == nil:
			if synchronizes(u, u.specs[name]) {
				w.use(fun.X, "the variable "+name, aGlobal)
			}
		case s.Kind() == types.MethodVal:
			if f, is := s.Obj().(*types.Func); is && w.changes(f) {
				w.use(fun.X, "the variable "+name, aGlobal)
			}
		}
	}
}

// synchronizes reports whether a variable's type has something of package sync or sync/atomic in it.
func synchronizes(u *unit, spec *ast.ValueSpec) (does bool) {
	ast.Inspect(spec, func(n ast.Node) bool {
		if sel, is := n.(*ast.SelectorExpr); is {
			if id, is := sel.X.(*ast.Ident); is {
				if p, is := u.info.Uses[id].(*types.PkgName); is {
					path := p.Imported().Path()
					does = does || path == "sync" || path == "sync/atomic"
				}
			}
		}
		return true
	})
	return does
}

// changes reports whether a method sets something in its receiver, or calls a method of something in it of a type that isn't known,
// such as a mutex.
func (r *reader) changes(f *types.Func) (does bool) {
	f = f.Origin()
	p, is := f.Signature().Recv().Type().(*types.Pointer)
	if !is {
		return false
	}
	named, is := p.Elem().(*types.Named)
	if !is {
		return false
	}
	u, err := r.followed(f.Pkg().Path())
	if err != nil || u == nil {
		return false
	}
	d := u.decls[named.Obj().Name()+"."+f.Name()]
	if d == nil || d.Body == nil {
		return false
	}
	of := func(x ast.Expr) bool {
		id, is := stem(x).(*ast.Ident)
		return is && u.info.Uses[id] == types.Object(f.Signature().Recv())
	}
	ast.Inspect(d.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.AssignStmt:
			for _, x := range n.Lhs {
				does = does || of(x)
			}
		case *ast.IncDecStmt:
			does = does || of(n.X)
		case *ast.CallExpr:
			if sel, is := ast.Unparen(n.Fun).(*ast.SelectorExpr); is && u.info.Selections[sel] == nil {
				does = does || of(sel.X)
			}
		}
		return true
	})
	return does
}
