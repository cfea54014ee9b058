package outside

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// value is the node of a value.
func (r *reader) value(p place) *node {
	if r.values[p] == nil {
		r.values[p] = newNode()
	}
	return r.values[p]
}

// A walker reads one function.
type walker struct {
	*reader
	fn    *ssa.Function
	level level
}

// value is the node of a value in the code that is read.
func (w *walker) value(v ssa.Value) *node {
	g, is := v.(*ssa.Global)
	n := w.reader.value(place{v, is || w.level == outer})
	if is && len(n.listeners)+len(n.has) == 0 && g.Pkg != nil && w.followed(g.Pkg.Pkg.Path()) != nil {
		w.put(n, thing{shared: g.Name()})
		w.set(g)
	}
	return n
}

// set follows the code that sets a package's variable, wherever that is.
func (w *walker) set(g *ssa.Global) {
	obj := g.Object()
	if obj == nil { // the compiler's
		return
	}
	from := []string{obj.Pkg().Path()}
	if obj.Exported() {
		from = append(from, w.importers(from[0])...)
	}
	for _, path := range from {
		if u := w.followed(path); u != nil {
			for _, by := range w.naming(u)[obj] {
				w.enter(by, outer)
				w.around(by)
			}
		}
	}
}

// remembered is the memory that a value leads to in the code that is read.
func (w *walker) remembered(v ssa.Value) *node {
	_, is := v.(*ssa.Global)
	return w.reader.remembered(place{v, is || w.level == outer})
}

func (w *walker) returned(of any, n int) *node {
	return w.reader.returned(place{result{of, n}, w.level == outer})
}

// contents is the memory that a field leads to, or the results of a function.
func (w *walker) contents(of any) *node {
	if v, is := of.(*types.Var); is {
		return w.reader.remembered(place{v.Origin(), true})
	}
	return w.reader.remembered(place{of, w.level == outer})
}

// follow follows the instructions of a function.
func (r *reader) follow(fn *ssa.Function, l level) {
	if !r.body(fn) {
		return
	}
	w := &walker{r, fn, l}
	for _, p := range fn.Params {
		w.looks(p)
	}
	for _, v := range fn.FreeVars {
		w.looks(v)
	}
	for _, b := range fn.Blocks {
		for _, i := range b.Instrs {
			w.instruction(i)
		}
	}
}

// looks notes that the lock's code has a value: if that comes from outside, that is a use.
func (w *walker) looks(v ssa.Value) {
	if w.level == outer {
		return
	}
	w.listen(w.value(v), func(t thing) {
		if t.taken != "" && !w.excusedAt(v.Pos(), t.taken) {
			w.use(t.at, t.taken, t.why)
		}
	})
}

func (w *walker) instruction(i ssa.Instruction) {
	w.operands(i)
	switch i := i.(type) {
	case ssa.CallInstruction:
		w.call(i)
	case *ssa.Store:
		w.store(i)
	case *ssa.MapUpdate:
		w.writes(i.Map, i.Pos(), i)
		for _, v := range []ssa.Value{i.Key, i.Value} {
			w.choosesChannel(v, i.Map, i)
			w.keep(v, i.Map)
		}
	case *ssa.Send:
		w.writes(i.Chan, i.Pos(), i)
		w.keep(i.X, i.Chan)
	case *ssa.Select:
		w.choice(i)
	case *ssa.Return:
		for n, v := range i.Results {
			w.copy(w.node(v, i), w.returned(w.fn, n), nil)
			if leads(v.Type()) {
				w.unite(w.remembered(v), w.contents(result{w.fn, n}))
			}
		}
	case ssa.Value:
		w.computed(i)
	}
	if v, is := i.(ssa.Value); is {
		w.looks(v)
	}
}

// node is that of an operand.
func (w *walker) node(v ssa.Value, by ssa.Instruction) *node {
	fn, is := v.(*ssa.Function)
	if !is {
		return w.value(v)
	}
	n := newNode()
	if path, _ := w.table(fn); path == "" {
		w.put(n, thing{fn: fn})
		return n
	}
	for _, at := range w.named(fn, by) {
		w.put(n, thing{fn: fn, at: at})
	}
	return n
}

// named are the places of a function's code at which it names another without calling it.
func (w *walker) named(fn *ssa.Function, by ssa.Instruction) (all []token.Pos) {
	var within []ast.Node
	if s := w.fn.Syntax(); s != nil {
		within = append(within, s)
	} else if u := w.home(w.fn); u != nil && w.fn.Name() == "init" {
		for _, f := range u.files {
			for _, d := range f.Decls {
				if d, is := d.(*ast.GenDecl); is && d.Tok == token.VAR {
					within = append(within, d)
				}
			}
		}
	}
	for _, n := range within {
		all = append(all, w.mentions(n, fn)...)
	}
	if len(all) == 0 {
		if at := by.Pos(); at.IsValid() {
			return []token.Pos{at}
		}
		return []token.Pos{w.fn.Pos()}
	}
	return all
}

// names is the place at which a call names its function, which may be before it, as in now := time.Now.
func (w *walker) names(i ssa.CallInstruction, fn *ssa.Function) token.Pos {
	at := w.at(i)
	if s := w.fn.Syntax(); s != nil {
		if _, is := i.Common().Value.(*ssa.Function); is {
			if all := w.mentions(s, fn); len(all) > 0 && !w.mentioned(s, fn, at) {
				return all[0]
			}
		}
	}
	return at
}

// mentioned reports whether a function is named on the line of a place.
func (w *walker) mentioned(in ast.Node, fn *ssa.Function, at token.Pos) (is bool) {
	u := w.unit(in.Pos())
	ast.Inspect(in, func(n ast.Node) bool {
		if id, named := n.(*ast.Ident); named && u.info.Uses[id] == fn.Object() {
			is = is || w.fset.Position(id.Pos()).Line == w.fset.Position(at).Line
		}
		return true
	})
	return is
}

// mentions are the places at which code names a function without calling it.
func (w *walker) mentions(in ast.Node, fn *ssa.Function) (all []token.Pos) {
	u := w.unit(in.Pos())
	called := map[*ast.Ident]bool{}
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return n == in
		case *ast.CallExpr:
			switch f := ast.Unparen(n.Fun).(type) {
			case *ast.Ident:
				called[f] = true
			case *ast.SelectorExpr:
				called[f.Sel] = true
			}
		case *ast.Ident:
			if obj := u.info.Uses[n]; obj != nil && obj == fn.Object() && !called[n] {
				all = append(all, n.Pos())
			}
		}
		return true
	})
	return all
}

// operands notes the operands of later code: functions that it may call, variables, and the table's.
func (w *walker) operands(i ssa.Instruction) {
	var callee ssa.Value
	if c, is := i.(ssa.CallInstruction); is {
		callee = c.Common().Value
	}
	for _, op := range i.Operands(nil) {
		switch v := (*op).(type) {
		case *ssa.Global:
			w.global(v, i)
		case *ssa.Function:
			if w.level != late || v == callee {
				continue
			}
			if what, why := w.table(v); what != "" {
				for _, at := range w.named(v, i) {
					w.use(at, what, why)
				}
			} else if !w.excused(i, v) {
				w.enter(v, late)
			}
		}
	}
}

// global notes that code names a variable.
func (w *walker) global(g *ssa.Global, i ssa.Instruction) {
	w.value(g)
	if g.Pkg == nil {
		return
	}
	path := g.Pkg.Pkg.Path()
	if w.level == outer {
		if why := forbidden(path, g.Name()); why != "" && w.units[path] == nil && !isError(g.Type().(*types.Pointer).Elem()) { // such as rand.Reader
			w.put(w.remembered(g), thing{taken: path + "." + g.Name(), why: why, at: w.at(i)})
		}
		return
	}
	if w.followed(path) == nil {
		if why := forbidden(path, g.Name()); why != "" && !isError(g.Type().(*types.Pointer).Elem()) {
			w.use(w.at(i), path+"."+g.Name(), why)
		}
		return
	}
	if t := g.Type().(*types.Pointer).Elem(); server(t) {
		w.use(w.at(i), "the variable "+g.Name(), aServer)
	}
	if w.level == late {
		w.hide(g.Type())
	}
}

// server reports whether a type is one of go-redis's clients.
func server(t types.Type) bool {
	if p, is := t.(*types.Pointer); is {
		return server(p.Elem())
	}
	named, is := t.(*types.Named)
	if !is || named.Obj().Pkg() == nil || named.Obj().Pkg().Path() != goRedis {
		return false
	}
	switch named.Obj().Name() {
	case "Client", "ClusterClient", "Ring", "SentinelClient", "UniversalClient", "Cmdable", "Pipeliner", "Conn":
		return true
	}
	return false
}

// at is the place of an instruction, or near it.
func (w *walker) at(i ssa.Instruction) token.Pos {
	if i.Pos().IsValid() {
		return i.Pos()
	}
	if v, is := i.(ssa.Value); is && v.Referrers() != nil {
		for _, by := range *v.Referrers() {
			if by.Pos().IsValid() {
				return by.Pos()
			}
		}
	}
	for _, op := range i.Operands(nil) {
		if v, is := (*op).(ssa.Instruction); is && v.Pos().IsValid() {
			return v.Pos()
		}
	}
	return w.fn.Pos()
}

// keep notes that a value is put into the memory that another leads to.
func (w *walker) keep(v, into ssa.Value) {
	w.copy(w.value(v), w.remembered(into), nil)
	if fn, is := v.(*ssa.Function); is {
		w.copy(w.node(fn, w.fn.Blocks[0].Instrs[0]), w.remembered(into), nil)
	}
	if leads(v.Type()) {
		w.unite(w.remembered(v), w.remembered(into))
	}
}

// leads reports whether there may be something in the memory that a value leads to.
func leads(t types.Type) bool { return refers(t, map[types.Type]bool{}) }

func (w *walker) store(i *ssa.Store) {
	if w.level != outer {
		w.writes(i.Addr, i.Pos(), i)
	}
	w.choosesChannel(i.Val, i.Addr, i)
	from := w.node(i.Val, i)
	if f, is := i.Addr.(*ssa.FieldAddr); is {
		v := fieldOf(f.X.Type(), f.Field)
		n := w.field(v)
		to := n.every
		if w.level == late {
			to = n.later
		}
		w.copy(from, to, v.Type())
		if leads(i.Val.Type()) {
			w.unite(w.remembered(i.Val), w.contents(v))
		}
		return
	}
	w.copy(from, w.remembered(i.Addr), nil)
	if leads(i.Val.Type()) {
		w.unite(w.remembered(i.Val), w.remembered(i.Addr))
	}
}

// choosesChannel notes that the lock's code puts a channel that all clients share where it may stay: which of several
// such channels it is can't be seen, as none is a part of the program that would have a place of its own.
func (w *walker) choosesChannel(v, into ssa.Value, by ssa.Instruction) {
	if _, local := into.(*ssa.Alloc); local || w.level != late || !hasChannel(v.Type()) {
		return
	}
	of := w.value(v)
	if load, is := v.(*ssa.UnOp); is {
		if g, is := load.X.(*ssa.Global); is { // the content of other variables is known of those
			of = w.value(g)
		}
	}
	w.listen(of, func(t thing) {
		if t.shared != "" {
			w.notes(w.at(by), "the variable "+t.shared, aChannel)
		}
	})
}

// hasChannel reports whether values of a type have a channel in them.
func hasChannel(t types.Type) bool {
	switch u := t.Underlying().(type) {
	case *types.Chan:
		return true
	case *types.Array:
		return hasChannel(u.Elem())
	case *types.Struct:
		for v := range u.Fields() {
			if hasChannel(v.Type()) {
				return true
			}
		}
	}
	return false
}

func fieldOf(t types.Type, i int) *types.Var {
	if p, is := t.Underlying().(*types.Pointer); is {
		t = p.Elem()
	}
	return t.Underlying().(*types.Struct).Field(i)
}

// load has the content of memory flow to a value.
func (w *walker) load(v *ssa.UnOp) {
	w.copy(w.value(v.X), w.value(v), v.Type()) // shared memory leads to shared memory
	if f, is := v.X.(*ssa.FieldAddr); is {
		w.reads(fieldOf(f.X.Type(), f.Field), v)
	} else {
		w.copy(w.remembered(v.X), w.value(v), v.Type())
		if leads(v.Type()) {
			w.unite(w.remembered(v), w.remembered(v.X))
		}
	}
	w.spread(v)
}

// reads has the content of a field flow to a value.
func (w *walker) reads(f *types.Var, v ssa.Value) {
	n := w.field(f)
	from := n.every
	if w.level == late {
		from = n.later
	}
	w.copy(from, w.value(v), v.Type())
	if leads(v.Type()) {
		w.unite(w.remembered(v), w.contents(f))
	}
}

// spread marks the fields of a struct that is copied from shared memory: the memory that they lead to is shared, too.
func (w *walker) spread(v ssa.Value) {
	s, is := v.Type().Underlying().(*types.Struct)
	if !is || !leads(v.Type()) {
		return
	}
	w.listen(w.value(v), func(t thing) {
		if t.shared == "" && t.kept == "" {
			return
		}
		for f := range s.Fields() {
			if w.holds(f.Type(), t) {
				w.put(w.field(f).every, t)
			}
		}
	})
}

// same has everything flow from one value to another that is the same memory.
func (w *walker) same(from, to ssa.Value, by ssa.Instruction) {
	w.copy(w.node(from, by), w.value(to), to.Type())
	switch {
	case leads(from.Type()) && leads(to.Type()):
		w.unite(w.remembered(from), w.remembered(to))
	case leads(from.Type()): // a text that is made of bytes
		w.copy(w.remembered(from), w.value(to), to.Type())
	}
}

// computed follows the operands of a value.
func (w *walker) computed(i ssa.Value) {
	by := i.(ssa.Instruction)
	switch i := i.(type) {
	case *ssa.UnOp:
		w.unary(i)
	case *ssa.FieldAddr:
		w.copy(w.value(i.X), w.value(i), i.Type())
		n := w.field(fieldOf(i.X.Type(), i.Field))
		has := n.every
		if w.level == late {
			has = n.later
		}
		w.copy(w.remembered(i), has, nil)
		w.copy(has, w.remembered(i), nil)
	case *ssa.Field:
		w.copy(w.value(i.X), w.value(i), i.Type())
		w.reads(fieldOf(i.X.Type(), i.Field), i)
	case *ssa.Index:
		w.element(i.X, i)
	case *ssa.Lookup:
		w.element(i.X, i)
	case *ssa.Next:
		w.element(i.Iter, i)
		if !i.IsString && w.level != outer && w.acts(i) {
			w.use(w.at(i.Iter.(ssa.Instruction)), "range over a map", anOrder)
		}
	case *ssa.MakeInterface:
		w.same(i.X, i, by)
		w.put(w.value(i), thing{typ: i.X.Type()})
		if w.level == late {
			w.has(i.X.Type())
		}
	case *ssa.MakeClosure:
		w.closure(i)
	case *ssa.Extract:
		w.copy(w.value(i.Tuple), w.value(i), i.Type())
		w.copy(w.remembered(i.Tuple), w.remembered(i), nil)
		w.copy(w.returned(i.Tuple, i.Index), w.value(i), i.Type())
		if leads(i.Type()) {
			w.unite(w.contents(result{i.Tuple, i.Index}), w.remembered(i))
		}
		w.spread(i)
	case *ssa.TypeAssert:
		w.same(i.X, i, by)
		if w.level == late && called(i.X) {
			w.hide(i.AssertedType)
		}
	case *ssa.Convert:
		w.same(i.X, i, by)
		if w.level != outer && (isUnsafe(i.Type()) != isUnsafe(i.X.Type())) && pointers(i.Type(), i.X.Type()) {
			w.use(w.at(i), "package unsafe", aRaw)
		}
	default:
		for _, op := range by.Operands(nil) {
			if *op != nil {
				w.same(*op, i, by)
			}
		}
	}
}

// acts reports whether a loop calls something that gets a context, as all that sends commands does: then these are in
// the order that the runtime draws.
func (w *walker) acts(loop *ssa.Next) bool {
	for b := range reachable(loop.Block()) {
		if !reachable(b)[loop.Block()] {
			continue
		}
		for _, i := range b.Instrs {
			if c, is := i.(ssa.CallInstruction); is && slices.ContainsFunc(c.Common().Args, isContext) {
				return true
			}
		}
	}
	return false
}

func isContext(v ssa.Value) bool { return types.TypeString(v.Type(), nil) == "context.Context" }

// reachable are the blocks that control may get to after one.
func reachable(from *ssa.BasicBlock) map[*ssa.BasicBlock]bool {
	all := map[*ssa.BasicBlock]bool{}
	var add func(b *ssa.BasicBlock)
	add = func(b *ssa.BasicBlock) {
		for _, next := range b.Succs {
			if !all[next] {
				all[next] = true
				add(next)
			}
		}
	}
	add(from)
	return all
}

// called reports whether a value is a result of a call, such as that of (*sync.Map).Load.
func called(v ssa.Value) bool {
	if e, is := v.(*ssa.Extract); is {
		v = e.Tuple
	}
	_, is := v.(*ssa.Call)
	return is
}

func isUnsafe(t types.Type) bool {
	b, is := t.Underlying().(*types.Basic)
	return is && b.Kind() == types.UnsafePointer
}

// pointers reports whether both of two types are pointers: a number that is made from one isn't.
func pointers(all ...types.Type) bool {
	for _, t := range all {
		if _, is := t.Underlying().(*types.Pointer); !is && !isUnsafe(t) {
			return false
		}
	}
	return true
}

func (w *walker) unary(i *ssa.UnOp) {
	switch i.Op {
	case token.MUL:
		w.load(i)
	case token.ARROW:
		w.writes(i.X, i.Pos(), i)
		w.element(i.X, i)
		if w.level == late {
			w.hide(i.Type())
		}
	default:
		w.same(i.X, i, i)
	}
}

// element has the content of a slice, a map or a channel flow to a value.
func (w *walker) element(of, v ssa.Value) {
	w.copy(w.value(of), w.value(v), v.Type())
	w.copy(w.remembered(of), w.value(v), v.Type())
	if leads(v.Type()) {
		w.unite(w.remembered(of), w.remembered(v))
	}
	w.spread(v)
}

func (w *walker) choice(i *ssa.Select) {
	ready := 0
	for _, s := range i.States {
		w.writes(s.Chan, s.Pos, i)
		if s.Dir == types.SendOnly {
			w.keep(s.Send, s.Chan)
		} else {
			w.element(s.Chan, i)
		}
		if !done(s.Chan) {
			ready++
		}
	}
	if ready > 1 && w.level != outer {
		w.use(w.at(i), "select", aChoice)
	}
}

// done reports whether a channel is one that says that a context has ended.
func done(v ssa.Value) bool {
	c, is := v.(*ssa.Call)
	return is && c.Call.IsInvoke() && c.Call.Method.FullName() == "(context.Context).Done"
}

// closure has the variables that a function literal captures flow into it.
func (w *walker) closure(i *ssa.MakeClosure) {
	fn := i.Fn.(*ssa.Function)
	w.put(w.value(i), thing{fn: fn})
	around := w.level == outer
	for n, b := range i.Bindings {
		places := []place{{of: fn.FreeVars[n]}}
		if around { // it may be called there, or by the lock
			places = append(places, place{fn.FreeVars[n], true})
		}
		for _, p := range places {
			w.copy(w.value(b), w.reader.value(p), b.Type())
			if leads(b.Type()) {
				w.unite(w.remembered(b), w.reader.remembered(p))
			}
		}
		if k := (keep{w.value(b), w.remembered(b), b.Type()}); around {
			w.lent[fn] = append(w.lent[fn], k)
		} else if w.level == early {
			w.keeps[fn] = append(w.keeps[fn], k)
			if w.levels[fn] == late {
				w.unseen(k)
			}
		}
	}
	if w.captures[fn] == nil {
		w.captures[fn] = map[*ssa.Function]bool{}
	}
	w.captures[fn][w.fn] = true
	if fn.Parent() == nil { // a method with its receiver
		w.enter(fn, outer)
		if w.methods[fn.Object()] {
			w.enter(fn, late)
		}
	}
}

// capturedName is the name of a variable that a closure has captured.
func (r *reader) capturedName(fn *ssa.Function, i int) string {
	if fn.Parent() != nil {
		return fn.FreeVars[i].Name()
	}
	obj, is := fn.Object().(*types.Func)
	if !is {
		return "that the method " + fn.Name() + " is of"
	}
	if recv := obj.Signature().Recv(); recv != nil && recv.Name() != "" && r.home(fn) != nil { // a method with its receiver
		return recv.Name()
	}
	return "that the method " + obj.Name() + " is of"
}
