package outside

import (
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// call follows a call.
func (w *walker) call(i ssa.CallInstruction) {
	c := i.Common()
	if b, is := c.Value.(*ssa.Builtin); is {
		w.builtin(i, b.Name())
		return
	}
	if c.IsInvoke() {
		w.invoke(i)
		return
	}
	if fn := c.StaticCallee(); fn != nil {
		if fn.Name() == "init" && fn.Synthetic != "" { // another package's
			return
		}
		at := w.at(i)
		if what, _ := w.table(fn); what != "" {
			at = w.names(i, fn)
		}
		w.bind(i, fn, c.Args, at)
		return
	}
	w.escape(i, c.Args)
	w.listen(w.value(c.Value), func(t thing) {
		if t.fn != nil {
			at := t.at
			if !at.IsValid() {
				at = w.at(i)
			}
			w.bind(i, t.fn, c.Args, at)
		}
	})
}

// bind has arguments flow into a function, and its results out of it. at is where that is named.
func (w *walker) bind(i ssa.CallInstruction, fn *ssa.Function, args []ssa.Value, at token.Pos) {
	if w.skips(i, fn) {
		return
	}
	if !w.body(fn) || strings.HasPrefix(fn.Name(), "_Cfunc_") {
		w.external(i, fn, args, at)
		return
	}
	w.enter(fn, w.level)
	e := edge{i, fn, w.level == outer}
	if w.bound[e] {
		return
	}
	w.bound[e] = true
	for n, a := range args {
		if n < len(fn.Params) {
			w.same(a, fn.Params[n], i)
		}
	}
	if v := i.Value(); v != nil {
		w.results(v, fn)
	}
}

// results has those of a function flow to a call's.
func (w *walker) results(v *ssa.Call, fn *ssa.Function) {
	all := fn.Signature.Results()
	if all.Len() == 1 {
		w.copy(w.returned(fn, 0), w.value(v), v.Type())
		if leads(v.Type()) {
			w.unite(w.contents(result{fn, 0}), w.remembered(v))
		}
		w.spread(v)
		return
	}
	for n := range all.Len() {
		w.copy(w.returned(fn, n), w.returned(v, n), nil)
		if leads(all.At(n).Type()) {
			w.unite(w.contents(result{fn, n}), w.contents(result{v, n}))
		}
	}
}

// skips reports whether a call of a function isn't followed, because its line is excused. A function literal's
// lines speak for themselves.
func (w *walker) skips(i ssa.CallInstruction, fn *ssa.Function) bool {
	if what, _ := w.table(fn); what != "" || fn.Parent() != nil {
		return false
	}
	return w.excused(i, fn)
}

// excused reports whether an instruction's line has a directive, and notes its reason for a function.
func (w *walker) excused(i ssa.Instruction, fn *ssa.Function) bool {
	if fn.Parent() != nil || w.level == outer {
		return false
	}
	at := w.at(i)
	if w.home(fn) == nil {
		_, is := w.reason(at)
		return is
	}
	return w.excusedAt(at, path(fn))
}

// excusedAt reports whether a line has a directive, and notes its reason.
func (r *reader) excusedAt(at token.Pos, what string) bool {
	why, is := r.reason(at)
	if is && why == "" {
		r.uses[Use{What: what, Why: "the comment at its end gives no reason", Source: r.source(at)}] = true
	} else if is {
		r.uses[Use{What: what, Source: r.source(at), Reason: why}] = true
	}
	return is
}

// use notes that the code uses something that a search doesn't have, unless its author excuses it.
func (r *reader) use(at token.Pos, what, why string) {
	if !r.excusedAt(at, what) {
		r.uses[Use{What: what, Why: why, Source: r.source(at)}] = true
	}
}

// path is a function's name, with its package's path.
func path(fn *ssa.Function) string {
	if obj, is := fn.Object().(*types.Func); is && obj.Pkg() != nil {
		return obj.Pkg().Path() + "." + method(obj)
	}
	return fn.String()
}

// method is the name of a function in its package, with its receiver's type.
func method(obj *types.Func) string {
	recv := obj.Signature().Recv()
	if recv == nil {
		return obj.Name()
	}
	t := recv.Type()
	if p, is := t.(*types.Pointer); is {
		t = p.Elem()
	}
	if named, is := t.(*types.Named); is {
		return named.Obj().Name() + "." + obj.Name()
	}
	return obj.Name()
}

// table is a function's name and the reason against it, if it is one of those that a search doesn't have.
func (r *reader) table(fn *ssa.Function) (what, why string) {
	obj, is := fn.Object().(*types.Func)
	if !is || obj.Pkg() == nil || r.units[obj.Pkg().Path()] != nil && obj.Pkg().Path() != simulator {
		return "", ""
	}
	if why := forbidden(obj.Pkg().Path(), method(obj)); why != "" {
		return obj.Pkg().Path() + "." + method(obj), why
	}
	return "", ""
}

// external follows a call of a function whose code isn't known.
func (w *walker) external(i ssa.CallInstruction, fn *ssa.Function, args []ssa.Value, at token.Pos) {
	what, why := w.table(fn)
	switch {
	case what != "" && w.level == outer:
		if strings.HasPrefix(what, simulator+".") || why == aServer { // which show by their types
			break
		}
		t := thing{taken: what, why: why, at: at}
		if v := i.Value(); v != nil {
			w.put(w.value(v), t)
		}
		for _, a := range args { // such as the buffer that is read into
			if leads(a.Type()) {
				w.put(w.remembered(a), t)
			}
		}
	case what != "":
		if w.level == late || !strings.HasPrefix(what, simulator+".") { // a constructor may have such a clock where it is given none
			w.use(at, what, why)
		}
	case w.home(fn) != nil && w.level != outer:
		w.use(at, strings.Replace(path(fn), "_Cfunc_", "C.", 1), aForeign)
	}
	pkg := ""
	if obj := fn.Object(); obj != nil && obj.Pkg() != nil {
		pkg = obj.Pkg().Path()
	}
	if what == "" {
		name, _, _ := strings.Cut(fn.Name(), "[") // without the arguments of its types
		w.handed(i, pkg, name, args)
	}
}

// handed follows the arguments of code that isn't known.
func (w *walker) handed(i ssa.CallInstruction, pkg, name string, args []ssa.Value) {
	w.escape(i, args)
	if !reading(pkg, name) {
		w.filled(i, pkg, args)
	} else if n, writer, is := fills(pkg, name); is && (!writer || remembers(unwrapped(args[n]).Type())) {
		w.writes(args[n], w.at(i), i)
	}
	switch {
	case pkg == "errors" && name == "As": // the error, or one in it, is put where the other argument says
		w.copy(w.node(args[0], i), w.remembered(args[1]), nil)
	case pkg == "sync" && strings.HasPrefix(name, "OnceValue") && w.level == outer:
		w.once(i, args[0])
	}
	v := i.Value()
	if v != nil && w.level != outer {
		w.returns(v, pkg, name)
	}
	if w.level == outer {
		w.poured(i, args)
	}
	if v == nil && len(args) == 0 || ours(pkg) {
		return
	}
	var kept *node // the arguments that a receiver has been given
	if len(args) > 0 && leads(args[0].Type()) && (pkg == "context" || !reading(pkg, name)) {
		kept = w.remembered(args[0])
	}
	for n, a := range args {
		from := w.node(a, i)
		if v != nil {
			w.copy(from, w.value(v), v.Type())
			w.copy(w.remembered(a), w.value(v), v.Type())
		}
		if kept != nil && n > 0 && !asks(pkg, name, a.Type()) {
			w.copy(from, kept, nil)
		}
	}
	if v != nil && kept != nil && leads(v.Type()) {
		w.copy(kept, w.remembered(v), nil)
		w.copy(w.remembered(v), kept, nil)
		if w.level == late && !types.IsInterface(v.Type()) {
			w.hide(v.Type())
		}
	}
}

// poured has things from outside of the search in one argument flow to the memory behind each other, and to the result: a call that
// fills a buffer before the lock is made, such as io.ReadFull, takes it from there, and a call that is handed a function may call it.
func (w *walker) poured(i ssa.CallInstruction, args []ssa.Value) {
	var into []func(thing)
	for _, to := range args {
		if leads(to.Type()) {
			into = append(into, w.fill(to))
		}
	}
	if v := i.Value(); v != nil {
		into = append(into, func(t thing) { w.put(w.value(v), t) })
	}
	for _, from := range args {
		for _, n := range [...]*node{w.node(from, i), w.remembered(from)} {
			w.listen(n, func(t thing) {
				if t.fn != nil {
					t.taken, t.why = w.table(t.fn)
					t.fn = nil
				}
				if t.taken != "" {
					for _, fill := range into {
						fill(t)
					}
				}
			})
		}
	}
}

// fill puts things into the memory that a value leads to: into the fields of a struct, too.
func (w *walker) fill(to ssa.Value) func(thing) {
	memory, whole := w.remembered(to), unwrapped(to).Type().Underlying()
	if p, is := whole.(*types.Pointer); is {
		whole = p.Elem().Underlying()
	}
	return func(t thing) {
		w.put(memory, t)
		if s, is := whole.(*types.Struct); is {
			for f := range s.Fields() {
				w.put(w.field(f).every, t)
			}
		}
	}
}

// unwrapped is a value as it was before it became an interface's.
func unwrapped(v ssa.Value) ssa.Value {
	for {
		switch i := v.(type) {
		case *ssa.MakeInterface:
			v = i.X
		case *ssa.ChangeInterface:
			v = i.X
		default:
			return v
		}
	}
}

// asks reports whether a function only calls another that it is handed, before it returns: it doesn't keep that.
func asks(pkg, name string, t types.Type) bool {
	_, function := t.Underlying().(*types.Signature)
	return function && (pkg == "sort" || pkg == "slices" || pkg == "maps" || pkg == "sync" && (name == "Range" || name == "Do"))
}

// returns marks the results of code that isn't known, if they have a memory of their own: functions, such as those of
// iter.Pull, contexts that end, and the options that a client of go-redis goes on to have.
func (w *walker) returns(v *ssa.Call, pkg, name string) {
	switch {
	case pkg != goRedis:
	case name == "Options":
		w.put(w.value(v), thing{kept: "that Options returns"})
	case name == "PoolStats", name == "GetPushNotificationHandler":
		if w.level == late {
			w.remember(w.at(v), pkg+".Client."+name)
		}
	}
	if ours(pkg) {
		return
	}
	all := v.Call.Signature().Results()
	for n := range all.Len() {
		to := w.value(v)
		if all.Len() > 1 {
			to = w.returned(v, n)
		}
		t := all.At(n).Type()
		if _, is := t.Underlying().(*types.Signature); is || pkg == "context" && types.IsInterface(t) && strings.HasPrefix(name, "WithCancel") {
			w.put(to, thing{opaque: "a result of " + pkg + "." + name, at: w.at(v)})
		}
	}
}

// filled notes that code which isn't known changes memory that it is handed.
func (w *walker) filled(i ssa.CallInstruction, pkg string, args []ssa.Value) {
	for _, a := range args {
		switch t := a.Type().Underlying().(type) {
		case *types.Pointer, *types.Map, *types.Chan:
			w.writes(a, w.at(i), i)
		case *types.Slice:
			w.writes(a, w.at(i), i)
			if pkg == "fmt" { // the variables that Sscan reads into
				w.changes(w.remembered(a), w.at(i), nothing)
			}
		case *types.Interface:
			if strings.HasPrefix(pkg, "encoding/") { // such as the argument of Unmarshal
				w.writes(a, w.at(i), i)
			}
		case *types.Struct:
			if pkg == "reflect" && t.NumFields() > 0 { // a Value that is set
				w.writes(a, w.at(i), i)
			}
		}
	}
}

// once marks the results of a function as shared: sync.OnceValue keeps them for all who ask.
func (w *walker) once(i ssa.CallInstruction, f ssa.Value) {
	t := thing{shared: "that sync.OnceValue keeps"}
	if v := i.Value(); v != nil {
		for _, by := range *v.Referrers() {
			if s, is := by.(*ssa.Store); is {
				t.shared = s.Addr.Name()
			}
		}
	}
	w.listen(w.node(f, i), func(made thing) {
		if made.fn == nil {
			return
		}
		for n := range made.fn.Signature.Results().Len() {
			if holds(made.fn.Signature.Results().At(n).Type(), t) {
				w.put(w.reader.returned(place{result{made.fn, n}, false}), t)
			}
		}
	})
}

// escape has code that isn't known call all functions, and all methods of values, that it is handed.
func (w *walker) escape(i ssa.CallInstruction, args []ssa.Value) {
	l := w.level
	if l == early { // it may be called when the lock is used
		l = late
	}
	given := func(t thing) {
		switch {
		case t.fn != nil:
			if what, why := w.table(t.fn); what == "" {
				if !w.excused(i, t.fn) {
					w.given[t.fn] = w.given[t.fn] || l == late
					w.enter(t.fn, l)
				}
			} else if l == late {
				at := t.at
				if !at.IsValid() {
					at = w.at(i)
				}
				w.use(at, what, why)
			}
		case t.typ != nil:
			w.whole(i, t.typ, l)
		}
	}
	for _, a := range args {
		w.listen(w.node(a, i), given)
		if s, is := a.Type().Underlying().(*types.Slice); is { // such as the values that are printed
			switch s.Elem().Underlying().(type) {
			case *types.Interface, *types.Signature:
				w.listen(w.remembered(a), given)
			}
		}
	}
}

// whole follows all methods of a type.
func (w *walker) whole(i ssa.CallInstruction, t types.Type, l level) {
	if _, is := w.reason(w.at(i)); is && l != outer || !w.read(t) {
		return
	}
	set := w.ssa.MethodSets.MethodSet(t)
	for sel := range set.Methods() {
		if fn := w.ssa.MethodValue(sel); fn != nil && w.body(fn) {
			w.given[fn] = w.given[fn] || l == late
			w.enter(fn, l)
			for _, a := range i.Common().Args {
				if len(fn.Params) > 0 && types.IsInterface(a.Type()) {
					w.copy(w.value(a), w.value(fn.Params[0]), fn.Params[0].Type())
				}
			}
		}
	}
}

// invoke follows a call of an interface's method.
func (w *walker) invoke(i ssa.CallInstruction) {
	c := i.Common()
	iface, is := c.Value.Type().Underlying().(*types.Interface)
	if !is {
		return
	}
	args := append([]ssa.Value{c.Value}, c.Args...)
	calls := func(t types.Type) {
		if sel := w.ssa.MethodSets.MethodSet(t).Lookup(c.Method.Pkg(), c.Method.Name()); sel != nil && !types.IsInterface(t) {
			if fn := w.ssa.MethodValue(sel); fn != nil {
				w.bind(i, fn, args, w.at(i))
			}
		}
	}
	w.listen(w.value(c.Value), func(t thing) {
		if t.typ != nil {
			calls(t.typ)
		}
	})
	if w.level == late {
		call := invocation{as: iface, calls: calls}
		w.invoked = append(w.invoked, call)
		for _, t := range w.live {
			call.offer(t)
		}
	}
	pkg := ""
	if c.Method.Pkg() != nil {
		pkg = c.Method.Pkg().Path()
	}
	if w.followed(pkg) == nil {
		w.handed(i, pkg, c.Method.Name(), args[1:])
		if w.level == outer {
			w.poured(i, args)
		}
		if of := origin(c.Value.Type(), pkg); !reading(of, c.Method.Name()) {
			w.writes(c.Value, w.at(i), i)
		}
		if v := i.Value(); v != nil && !ours(pkg) {
			w.copy(w.value(c.Value), w.value(v), v.Type())
		}
	} else {
		w.escape(i, c.Args)
	}
}

// origin is the package that an interface is declared in, or else that of its method.
func origin(t types.Type, method string) string {
	if named, is := t.(*types.Named); is && named.Obj().Pkg() != nil {
		return named.Obj().Pkg().Path()
	}
	return method
}

// builtin follows a call of a function of the language.
func (w *walker) builtin(i ssa.CallInstruction, name string) {
	args := i.Common().Args
	switch name {
	case "delete", "clear", "close":
		w.writes(args[0], w.at(i), i)
	case "copy":
		w.writes(args[0], w.at(i), i)
		w.unite(w.remembered(args[0]), w.remembered(args[1]))
		w.copy(w.value(args[1]), w.remembered(args[0]), nil)
	case "StringData":
		if w.level != outer && !sliced(i.Value()) {
			w.use(w.at(i), "package unsafe", aRaw)
		}
	}
	if v := i.Value(); v != nil && name != "len" && name != "cap" {
		for _, a := range args {
			w.same(a, v, i)
		}
	}
}

// sliced reports whether a pointer to a text's bytes is only made a slice of, as by code that saves a copy: then where
// they lie decides nothing.
func sliced(v *ssa.Call) bool {
	for _, by := range *v.Referrers() {
		c, is := by.(*ssa.Call)
		if !is || c.Call.Value.Name() != "Slice" {
			return false
		}
	}
	return true
}

// writes notes that code changes memory, if that is shared.
func (w *walker) writes(to ssa.Value, at token.Pos, i ssa.Instruction) {
	if w.level == outer {
		return
	}
	if !at.IsValid() {
		at = w.at(i)
	}
	if g := w.theirs(to, i); g != nil {
		w.use(at, "the variable "+g.Pkg.Pkg.Path()+"."+g.Name(), aGlobal)
	}
	w.changes(w.value(to), at, spared(i))
}

// theirs is the variable of one of Go's own packages that a statement sets, or sets a part of.
func (w *walker) theirs(to ssa.Value, by ssa.Instruction) *ssa.Global {
	switch by.(type) {
	case *ssa.Store, *ssa.MapUpdate:
	default:
		return nil
	}
	for {
		switch v := to.(type) {
		case *ssa.Global:
			if v.Pkg != nil && w.followed(v.Pkg.Pkg.Path()) == nil {
				return v
			}
			return nil
		case *ssa.FieldAddr:
			to = v.X
		case *ssa.IndexAddr:
			to = v.X
		case *ssa.UnOp:
			to = v.X
		default:
			return nil
		}
	}
}

// sparing is the kind of memory for which a change doesn't count.
type sparing int

const (
	nothing  sparing = iota
	closures         // memory that a closure keeps
	clients          // memory that all clients share
)

// spared is the memory for which an instruction's change doesn't count. A mutex is unlocked whenever a cycle ends, or its
// next lock hangs; TryLock would tell, and isn't spared. A writer that all clients share may be a log.
func spared(i ssa.Instruction) sparing {
	c, is := i.(ssa.CallInstruction)
	if !is {
		return nothing
	}
	if c.Common().IsInvoke() {
		switch of := origin(c.Common().Value.Type(), ""); {
		case of == "io":
			return clients
		case of == "sync": // a Locker
			return closures
		}
		return nothing
	}
	if fn := c.Common().StaticCallee(); fn != nil {
		switch path(fn) {
		case "sync.Mutex.Lock", "sync.Mutex.Unlock", "sync.RWMutex.Lock", "sync.RWMutex.Unlock", "sync.RWMutex.RLock", "sync.RWMutex.RUnlock":
			return closures
		}
	}
	return nothing
}

// changes notes that code changes the memory behind the values at a node, if that is shared, or kept by a closure.
func (w *walker) changes(n *node, at token.Pos, but sparing) {
	if w.level == outer {
		return
	}
	if w.unit(at) == nil { // a method value of another package's
		at = w.closed(w.fn)
	}
	w.listen(n, func(t thing) {
		switch {
		case t.shared != "" && but != clients:
			w.use(at, "the variable "+t.shared, aGlobal)
		case t.kept != "" && w.level == late && but != closures:
			w.remember(at, "the variable "+t.kept)
		}
	})
}
