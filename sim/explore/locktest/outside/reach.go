package outside

import (
	"go/ast"
	"go/types"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
)

// A level is which kind of code a function is.
type level int

const (
	outer level = iota + 1 // it is around the constructor, or sets a package's variables at first
	early                  // the constructor calls it
	late                   // the lock does
)

// A reader follows code from function to function.
type reader struct {
	*program
	flow
	made     *graph
	uses     map[Use]bool
	kept     map[Use]bool
	levels   map[*ssa.Function]level // of the lock's code
	outside  map[*ssa.Function]bool  // the code around
	todo     []step
	live     []types.Type // that interfaces have in them in later code
	invoked  []invocation
	captures map[*ssa.Function]map[*ssa.Function]bool // closures, with the functions that make them
	keeps    map[*ssa.Function][]keep                 // the captured variables of closures that the constructor made
	lent     map[*ssa.Function][]keep                 // those of closures that were made around it
	bound    map[edge]bool
	methods  map[types.Object]bool // that a made lock has with their receivers
	named    []reflected

	constructors []*ssa.Function
	seen         []types.Type           // that a made lock has in it
	given        map[*ssa.Function]bool // functions that code which isn't known calls
	captured     map[*ssa.Function]bool // closures that live on from cycle to cycle
}

// An invocation is a call of an interface's method in later code.
type invocation struct {
	as    *types.Interface
	calls func(types.Type)
}

// edge is a call of one function.
type edge struct {
	call  ssa.CallInstruction
	fn    *ssa.Function
	outer bool
}

// step is a function that is to be read.
type step struct {
	fn *ssa.Function
	level
}

// keep is a variable that a closure has captured.
type keep struct {
	value, memory *node
	typ           types.Type
}

// reflected is a function of the table that a lock has in a field.
type reflected struct {
	what, why string
	field     *types.Var
}

func newReader(p *program, g *graph) *reader {
	return &reader{program: p, flow: newFlow(), made: g, uses: map[Use]bool{}, kept: map[Use]bool{}, given: map[*ssa.Function]bool{}, captured: map[*ssa.Function]bool{}, levels: map[*ssa.Function]level{}, outside: map[*ssa.Function]bool{},
		captures: map[*ssa.Function]map[*ssa.Function]bool{}, keeps: map[*ssa.Function][]keep{}, lent: map[*ssa.Function][]keep{}, bound: map[edge]bool{}, methods: map[types.Object]bool{}}
}

// roots begins with the content of the made lock.
func (r *reader) roots() error {
	constructors, err := r.functions(&r.made.constructor)
	if err != nil {
		return err
	}
	r.constructors = constructors
	for t := range r.made.types {
		all, err := r.typesOf(t)
		if err != nil {
			return err
		}
		for _, t := range all {
			r.has(t)
			r.seen = append(r.seen, t)
			if s, is := t.Underlying().(*types.Struct); is && (len(all) == 1 || generic(t)) {
				for v := range s.Fields() {
					r.real[v.Origin()] = true
				}
			}
		}
		if t.PkgPath() == simulator && t.Name() == "SystemClock" {
			r.named = append(r.named, reflected{what: "strategies.NewSystemClock", why: aClock})
		}
	}
	for _, c := range r.made.fields {
		if err := r.content(&c); err != nil {
			return err
		}
	}
	for _, fn := range constructors {
		r.enter(fn, early)
		r.receives(fn)
	}
	locks, err := r.lockTypes()
	for _, t := range locks {
		r.entries(t, constructors)
	}
	if len(locks) == 0 { // the simulator's, which may have others in it
		for _, t := range r.live {
			r.entries(types.NewPointer(t), constructors)
		}
	}
	if r.made.lock == nil {
		for _, fn := range constructors {
			r.listen(r.returned(place{of: result{fn, 0}}), func(t thing) {
				if t.typ != nil {
					r.has(t.typ)
					r.entries(t.typ, constructors)
				}
			})
		}
	}
	return err
}

// receives marks the receiver of a constructor that is a method as shared: all locks are made by it.
func (r *reader) receives(fn *ssa.Function) {
	if recv := fn.Signature.Recv(); recv != nil && len(fn.Params) > 0 && r.body(fn) {
		if t := (thing{shared: recv.Name()}); holds(recv.Type(), t) {
			r.put(r.value(place{of: fn.Params[0]}), t)
		}
	}
}

func (r *reader) lockTypes() ([]types.Type, error) {
	t := r.made.lock
	if t == nil {
		return nil, nil
	}
	pointer := t.Kind() == reflect.Pointer && t.Name() == ""
	if pointer {
		t = t.Elem()
	}
	all, err := r.typesOf(t)
	for i := range all {
		if pointer {
			all[i] = types.NewPointer(all[i])
		}
	}
	return all, err
}

// entries are the methods that everybody calls of a lock.
func (r *reader) entries(t types.Type, constructors []*ssa.Function) {
	for _, name := range []string{"Acquire", "Release", "Extend"} {
		sel := r.ssa.MethodSets.MethodSet(t).Lookup(nil, name)
		if sel == nil {
			continue
		}
		fn := r.ssa.MethodValue(sel)
		if fn == nil || !r.body(fn) {
			continue
		}
		r.enter(fn, late)
		for _, made := range constructors {
			r.copy(r.returned(place{of: result{made, 0}}), r.value(place{of: fn.Params[0]}), fn.Params[0].Type())
		}
	}
}

// content notes the content of a lock's field.
func (r *reader) content(c *content) error {
	var v *types.Var
	if c.of != nil && c.of.Name() != "" {
		all, err := r.typesOf(c.of)
		if err != nil {
			return err
		}
		if len(all) == 1 || len(all) > 1 && generic(all[0]) {
			v = all[0].Underlying().(*types.Struct).Field(c.field).Origin()
		}
	}
	if c.typ != nil {
		return r.interfaced(c.typ, v)
	}
	name := strings.TrimSuffix(c.function.name(), "-fm")
	if why := forbidden(c.function.pkg(), strings.NewReplacer("(*", "", ")", "").Replace(name)); why != "" {
		r.named = append(r.named, reflected{c.function.pkg() + "." + name, why, v})
		return nil
	}
	fns, err := r.functions(&c.function)
	for _, fn := range fns {
		r.enter(fn, late)
		if strings.HasSuffix(c.function.function, "-fm") {
			r.methods[fn.Object()] = true
			r.around(fn)
		}
		if v != nil {
			r.put(r.field(v).later, thing{fn: fn})
		}
	}
	return err
}

func (r *reader) interfaced(t reflect.Type, v *types.Var) error {
	pointer := t.Kind() == reflect.Pointer && t.Name() == ""
	if pointer {
		t = t.Elem()
	}
	all, err := r.typesOf(t)
	for _, t := range all {
		if pointer {
			t = types.NewPointer(t)
		}
		if v != nil {
			r.put(r.field(v).later, thing{typ: t})
		}
	}
	return err
}

// typesOf finds the types that may be one of the program that runs; there may be several if some are declared in functions.
// There is none for types that aren't read.
func (r *reader) typesOf(t reflect.Type) ([]types.Type, error) {
	if t.Name() == "" || t.PkgPath() == "" {
		return nil, nil
	}
	u := r.followed(t.PkgPath())
	if u == nil {
		if first, _, _ := strings.Cut(t.PkgPath(), "/"); r.missing[t.PkgPath()] || ours(t.PkgPath()) || !strings.Contains(first, ".") {
			return nil, nil // of Go's own, or the simulator's
		}
		return nil, unreadable("the go command doesn't list the package %s", t.PkgPath())
	}
	name, arguments, instance := strings.Cut(t.Name(), "[")
	if instance {
		return u.instances(r.program, name, "["+arguments), nil
	}
	var all []types.Type
	for _, obj := range u.info.Defs {
		if obj, is := obj.(*types.TypeName); is && obj.Name() == name && !obj.IsAlias() && alike(obj.Type(), t) {
			all = append(all, obj.Type())
		}
	}
	return all, nil
}

// alike reports whether a type may be one of the program that runs: those that are declared in functions may
// have the name of another.
func alike(t types.Type, real reflect.Type) bool {
	s, is := t.Underlying().(*types.Struct)
	if !is || real.Kind() != reflect.Struct {
		return is == (real.Kind() == reflect.Struct)
	}
	if s.NumFields() != real.NumField() {
		return false
	}
	for i := range s.NumFields() {
		if s.Field(i).Name() != real.Field(i).Name {
			return false
		}
	}
	return true
}

// instances are those of a generic type.
func (u *unit) instances(p *program, name, arguments string) (all []types.Type) {
	var exact []types.Type
	for _, in := range p.units {
		for _, i := range in.info.Instances {
			named, is := i.Type.(*types.Named)
			if !is || named.Obj().Pkg() != u.pkg || named.Obj().Name() != name || parametric(named) {
				continue
			}
			all = append(all, named)
			if text := types.TypeString(named, nil); text[strings.IndexByte(text, '['):] == arguments {
				exact = append(exact, named)
			}
		}
	}
	if len(exact) > 0 {
		return exact
	}
	return all
}

// generic reports whether a type is an instance of a generic one, whose fields are one for all.
func generic(t types.Type) bool {
	named, is := t.(*types.Named)
	return is && named.TypeArgs() != nil
}

// parametric reports whether a type's arguments are parameters of something around it.
func parametric(t *types.Named) bool {
	for a := range t.TypeArgs().Types() {
		if _, is := a.(*types.TypeParam); is {
			return true
		}
	}
	return false
}

// functions finds the functions that may be one of the program that runs. There are several if
// literals share a line.
func (r *reader) functions(e *entry) ([]*ssa.Function, error) {
	u := r.followed(e.pkg())
	if e.depth() > 0 { // it may be compiled into another package
		in, is := r.compiled(e.file)
		if is && in == nil {
			return nil, nil
		}
		u = in
	}
	if u == nil {
		if first, _, _ := strings.Cut(e.pkg(), "/"); r.missing[e.pkg()] || ours(e.pkg()) || !strings.Contains(first, ".") {
			return nil, nil
		}
		return nil, unreadable("the go command doesn't list the package of %s", e.function)
	}
	r.build(u.ssa)
	var all []*ssa.Function
	if e.depth() > 0 {
		all = r.literals(u, e)
	} else {
		name := strings.NewReplacer("(*", "", ")", "", "[...]", "").Replace(strings.TrimSuffix(e.name(), "-fm"))
		if fn := u.ssa.Func(name); fn != nil {
			all = append(all, fn)
		} else {
			all = r.methodsOf(u, name)
		}
	}
	switch {
	case len(all) > 0:
		return all, nil
	case e.depth() == 0 && u.ofInterface(e.name()):
		return nil, unreadable("%s is a method of an interface as a value, which doesn't show whose method it is: take that of a concrete type, or call it in a function literal",
			strings.TrimSuffix(e.function, "-fm"))
	}
	return nil, unreadable("%s isn't at %s:%d, where the program has it: run go test again", e.function, filepath.Base(e.file), e.line)
}

// ofInterface reports whether a function of the program is a method of an interface as a value. It has no line.
func (u *unit) ofInterface(name string) bool {
	typ, _, method := strings.Cut(strings.ReplaceAll(name, "[...]", ""), ".")
	obj, is := u.pkg.Scope().Lookup(typ).(*types.TypeName)
	return method && strings.HasSuffix(name, "-fm") && is && types.IsInterface(obj.Type())
}

// methodsOf finds a method by its name behind its type's.
func (r *reader) methodsOf(u *unit, name string) (all []*ssa.Function) {
	dot := strings.LastIndexByte(name, '.')
	if dot < 0 {
		return nil
	}
	typ, method := name[:dot], name[dot+1:]
	if _, after, local := strings.Cut(typ, "."); local { // declared in a function
		typ = after
	}
	for _, obj := range u.info.Defs {
		t, is := obj.(*types.TypeName)
		if !is || t.Name() != typ {
			continue
		}
		of := []types.Type{t.Type()}
		if named, is := t.Type().(*types.Named); is && named.TypeParams() != nil {
			of = u.instances(r.program, typ, "")
		}
		for _, t := range of {
			if types.IsInterface(t) {
				continue
			}
			if sel := r.ssa.MethodSets.MethodSet(types.NewPointer(t)).Lookup(u.pkg, method); sel != nil {
				all = append(all, r.ssa.MethodValue(sel))
			}
		}
	}
	return all
}

// literals finds the function literals that begin at a line, or that it is in.
func (r *reader) literals(u *unit, e *entry) (all []*ssa.Function) {
	file := e.file[strings.LastIndexByte(e.file, '/')+1:]
	var add func(fn *ssa.Function, depth int)
	add = func(fn *ssa.Function, depth int) {
		if s, is := fn.Syntax().(*ast.FuncLit); is && depth == e.depth() {
			from, to := r.fset.Position(s.Pos()), r.fset.Position(s.End())
			if filepath.Base(from.Filename) == file && from.Line <= e.line && e.line <= to.Line {
				all = append(all, fn)
			}
		}
		for _, f := range fn.AnonFuncs {
			add(f, depth+1)
		}
	}
	for _, fn := range r.declared(u) {
		add(fn, 0)
	}
	return all
}

// declared are the functions and methods of a package, and the code that sets its variables at first.
func (p *program) declared(u *unit) (all []*ssa.Function) {
	p.build(u.ssa)
	for _, f := range u.files {
		for _, d := range f.Decls {
			if d, is := d.(*ast.FuncDecl); is {
				if obj, is := u.info.Defs[d.Name].(*types.Func); is {
					if fn := p.ssa.FuncValue(obj); fn != nil {
						all = append(all, fn)
					}
				}
			}
		}
	}
	for _, m := range u.ssa.Members {
		if fn, is := m.(*ssa.Function); is && strings.HasPrefix(fn.Name(), "init") && !slices.Contains(all, fn) {
			all = append(all, fn)
		}
	}
	return all
}

// build has the code of a package.
func (p *program) build(pkg *ssa.Package) {
	if !p.builds[pkg] {
		p.builds[pkg] = true
		pkg.Build()
	}
}

// body reports whether a function's code is known.
func (r *reader) body(fn *ssa.Function) bool {
	if u := r.home(fn); u != nil {
		r.build(u.ssa)
	}
	return len(fn.Blocks) > 0
}

// home is the package that a function is declared in, nil if that isn't read.
func (r *reader) home(fn *ssa.Function) *unit {
	if fn.Pkg != nil {
		return r.followed(fn.Pkg.Pkg.Path())
	}
	if o := fn.Origin(); o != nil && o.Pkg != nil {
		return r.followed(o.Pkg.Pkg.Path())
	}
	if obj := fn.Object(); obj != nil && obj.Pkg() != nil {
		return r.followed(obj.Pkg().Path())
	}
	return nil
}

// enter notes that a function is called.
func (r *reader) enter(fn *ssa.Function, l level) {
	if l == outer && r.outside[fn] || l != outer && r.levels[fn] >= l {
		return
	}
	first := r.levels[fn] == 0 && !r.outside[fn]
	r.todo = append(r.todo, step{fn, l})
	if l == outer {
		r.outside[fn] = true
	} else {
		r.levels[fn] = l
	}
	if p := fn.Parent(); first && p != nil && r.body(p) && len(fn.FreeVars) > 0 { // which may name fn again
		r.enter(p, outer)
		r.around(p)
	}
	if l == late {
		for _, k := range r.keeps[fn] {
			r.unseen(k)
		}
	}
}

// around follows the code that names a function which has a constructor in it, or a part of the lock, or which
// makes one of such functions: its arguments may be in the variables that these have captured.
func (r *reader) around(fn *ssa.Function) {
	u := r.home(fn)
	if u == nil {
		return
	}
	for _, path := range append(r.importers(u.path), u.path) {
		in := r.followed(path)
		if in == nil {
			continue
		}
		for _, by := range r.naming(in)[fn.Object()] {
			if !r.outside[by] {
				r.enter(by, outer)
				r.around(by)
			}
		}
	}
}

// importers are the packages that import one and can be read.
func (p *program) importers(of string) []string {
	if p.importing == nil {
		p.importing = map[string][]string{}
		packages.Visit([]*packages.Package{p.main}, nil, func(by *packages.Package) {
			if _, is := p.readable[by.PkgPath]; is && by != p.main {
				for _, imported := range by.Imports {
					p.importing[imported.PkgPath] = append(p.importing[imported.PkgPath], by.PkgPath)
				}
			}
		})
	}
	return p.importing[of]
}

// naming are the functions of a package that name each function, to call it or for something else, and those that do
// more with each variable than look at it.
func (p *program) naming(u *unit) map[types.Object][]*ssa.Function {
	if u.naming != nil {
		return u.naming
	}
	u.naming = map[types.Object][]*ssa.Function{}
	var add func(fn *ssa.Function)
	add = func(fn *ssa.Function) {
		for _, b := range fn.Blocks {
			for _, i := range b.Instrs {
				for _, op := range i.Operands(nil) {
					if obj := named(*op, i); obj != nil {
						u.naming[obj] = append(u.naming[obj], fn)
					}
				}
			}
		}
		for _, inner := range fn.AnonFuncs {
			add(inner)
		}
	}
	for _, fn := range p.declared(u) {
		add(fn)
	}
	return u.naming
}

func named(v ssa.Value, by ssa.Instruction) types.Object {
	switch v := v.(type) {
	case *ssa.Function:
		return v.Object()
	case *ssa.Global:
		if _, is := by.(*ssa.UnOp); !is {
			return v.Object()
		}
	}
	return nil
}

// all reads all code that can be reached.
func (r *reader) all() {
	r.exhaust()
	for r.lends() {
		r.exhaust()
	}
	for fn := range r.captures {
		if r.foreign(fn) { // otherwise each lock has its own
			r.shared(fn)
		}
	}
	r.exhaust()
	r.memories()
	for _, n := range r.named {
		r.reflected(n)
	}
}

// lends notes the captured variables of the lock's closures that were made around its constructor, by code that it doesn't run itself.
func (r *reader) lends() (more bool) {
	for fn, all := range r.lent {
		if r.levels[fn] == late && r.foreign(fn) {
			for _, k := range all {
				r.unseen(k)
			}
			delete(r.lent, fn)
			more = true
		}
	}
	return more
}

// foreign reports whether code makes a closure that isn't the lock's.
func (r *reader) foreign(fn *ssa.Function) bool {
	for by := range r.captures[fn] {
		if r.levels[by] == 0 {
			return true
		}
	}
	return false
}

// shared marks a closure's captured variables as shared by all clients.
func (r *reader) shared(fn *ssa.Function) {
	for i, v := range fn.FreeVars {
		if p, is := v.Type().(*types.Pointer); is && server(p.Elem()) && r.levels[fn] != 0 {
			r.use(fn.Pos(), "the variable "+v.Name(), aServer)
		}
		if t := (thing{shared: r.capturedName(fn, i)}); t.shared != "" && holds(v.Type(), t) {
			r.put(r.value(place{of: v}), t)
		}
	}
}

func (r *reader) exhaust() {
	for len(r.todo)+len(r.queue) > 0 {
		r.run()
		if n := len(r.todo) - 1; n >= 0 {
			s := r.todo[n]
			r.todo = r.todo[:n]
			r.follow(s.fn, s.level)
		}
	}
}

// reflected notes a function of the table that a lock has in it: where the code puts it there, if that is seen.
func (r *reader) reflected(n reflected) {
	seen := false
	if n.field != nil {
		for t := range r.field(n.field).every.root().has {
			if t.fn != nil && t.at.IsValid() && path(t.fn) == n.what {
				r.use(t.at, n.what, n.why)
				seen = true
			}
		}
	}
	if !seen {
		r.uses[Use{What: n.what, Why: n.why, Source: r.made.constructor.source()}] = true
	}
}

// read reports whether a type has methods that are read.
func (r *reader) read(t types.Type) bool {
	if p, is := t.(*types.Pointer); is {
		return r.read(p.Elem())
	}
	named, is := t.(*types.Named)
	return !is || named.Obj().Pkg() != nil && r.followed(named.Obj().Pkg().Path()) != nil
}

// has notes that there is a value of a type, whose methods calls of an interface's may mean.
func (r *reader) has(t types.Type) {
	if !r.read(t) {
		return
	}
	if slices.ContainsFunc(r.live, func(l types.Type) bool { return types.Identical(l, t) }) {
		return
	}
	r.live = append(r.live, t)
	for _, i := range r.invoked {
		i.offer(t)
	}
}

// offer calls the method of a type, and that of its pointer.
func (i *invocation) offer(t types.Type) {
	for _, t := range []types.Type{t, types.NewPointer(t)} {
		if types.Implements(t, i.as) {
			i.calls(t)
		}
	}
}

// unseen notes that later code has a value which reflection hasn't seen: the content of its fields isn't known
// but for the values that they are set to.
func (r *reader) unseen(k keep) {
	hide := func(t thing) {
		if t.typ != nil {
			r.hide(t.typ)
		}
	}
	r.listen(k.value, hide)
	r.listen(k.memory, hide)
	r.hide(k.typ)
}

// hide reveals all fields that a value of a type leads to.
func (r *reader) hide(t types.Type) {
	if r.hidden[t] {
		return
	}
	r.hidden[t] = true
	if named, is := t.(*types.Named); is && named.Obj().Pkg() != nil && r.followed(named.Obj().Pkg().Path()) == nil {
		return
	}
	switch u := t.Underlying().(type) {
	case *types.Struct:
		for v := range u.Fields() {
			r.reveal(v)
			r.hide(v.Type())
			r.listen(r.field(v).every, func(t thing) {
				if t.typ != nil {
					r.hide(t.typ)
				}
			})
		}
	case interface{ Elem() types.Type }:
		r.hide(u.Elem())
		if m, is := u.(*types.Map); is {
			r.hide(m.Key())
		}
	}
}
