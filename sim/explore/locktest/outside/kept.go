package outside

import (
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// A search tells histories of a lock apart by the fields that the lock has where a cycle ends. The captured variables of
// a function value in such a field can't be seen there. So code that changes captured variables, or anything to which one
// leads, has a memory that a search doesn't know of, unless [explore.Bounds.Remembers] says so.
//
// Which functions live on from cycle to cycle? Those that the constructor's code makes and the lock's code calls; those
// that the lock's code puts into fields of values that a lock leads to; those that Go's own packages or go-redis are given,
// such as a hook's; and those that others of these have captured.

// aMemory says what to do about memory that a search doesn't see.
const aMemory = "a search doesn't see what that has from one cycle to the next: keep it in a field of the lock, or set Remembers"

// aChannel says what to do about a channel of all clients' that a lock puts into a field.
const aChannel = "a search doesn't see which of several channels that all clients share it is: make one for each lock, or set Remembers"

// A census has the allocations and assignments of the lock's code.
type census struct {
	allocs map[types.Type][]ssa.Instruction // by the type that is allocated
	fields map[*types.Var]bool              // that the lock's later code sets
	copies []types.Type                     // that the lock's later code sets elsewhere than in variables of its own
}

// memories finds the memory of the lock's closures.
func (r *reader) memories() {
	r.instances()
	c := r.census()
	r.own = r.visible(c)
	for more := true; more; {
		more = false
		lasts := r.lasting()
		for _, fn := range r.living(lasts) {
			if r.captured[fn] {
				continue
			}
			r.captured[fn], more = true, true
			for i, v := range fn.FreeVars {
				if t := (thing{kept: r.capturedName(fn, i)}); r.holds(v.Type(), t) {
					r.put(r.value(place{of: v}), t)
				}
			}
		}
		r.exhaust()
	}
	r.opaque()
}

// instances follows the closures that instances of generic functions make. The program that runs tells of them by the
// lines of their origins.
func (r *reader) instances() {
	for more := true; more; r.exhaust() {
		more = false
		known := map[token.Pos]bool{}
		for fn, l := range r.levels {
			if l == late && fn.Parent() != nil {
				known[fn.Pos()] = true
			}
		}
		for fn := range r.captures {
			if r.levels[fn] != late && fn.Pos().IsValid() && known[fn.Pos()] {
				r.enter(fn, late)
				more = true
			}
		}
	}
}

// living are the closures that live on from cycle to cycle, as far as is known.
func (r *reader) living(lasts map[*types.Var]bool) (all []*ssa.Function) {
	add := func(n *node, at func(*ssa.Function)) {
		for t := range n.root().has {
			if t.fn != nil && len(t.fn.FreeVars) > 0 {
				if all = append(all, t.fn); at != nil {
					at(t.fn)
				}
			}
		}
	}
	first := r.beginning()
	for fn, makers := range r.captures {
		for by := range makers {
			if first[by] && r.levels[fn] == late {
				all = append(all, fn)
			}
		}
	}
	for v := range lasts {
		f := r.field(v)
		add(f.later, r.madeLater)
		add(r.remembered(place{v, true}), r.madeLater)
	}
	for fn := range r.given {
		for n := range fn.Signature.Results().Len() {
			add(r.returned(place{of: result{fn, n}}), nil)
		}
	}
	for fn := range r.captured {
		for _, v := range fn.FreeVars {
			add(r.value(place{of: v}), nil)
			add(r.remembered(place{of: v}), nil)
		}
	}
	return all
}

// madeLater notes a closure that the lock's own code makes, and puts into a field: another has captured other things,
// and looks the same.
func (r *reader) madeLater(fn *ssa.Function) {
	for by := range r.captures[fn] {
		if n := slices.IndexFunc(fn.FreeVars, func(v *ssa.FreeVar) bool { return !r.owns(v.Type()) && !r.owns(pointed(v.Type())) }); n >= 0 && r.levels[by] == late {
			r.remember(r.closed(fn), "the variable "+r.capturedName(fn, n))
		}
	}
}

// closed is the place at which code makes a closure, the first of several.
func (r *reader) closed(fn *ssa.Function) (at token.Pos) {
	if fn.Parent() != nil {
		return fn.Pos()
	}
	for by := range r.captures[fn] {
		for _, b := range by.Blocks {
			for _, i := range b.Instrs {
				if m, is := i.(*ssa.MakeClosure); is && m.Fn == fn {
					if here := (&walker{r, by, late}).at(m); !at.IsValid() || here < at {
						at = here
					}
				}
			}
		}
	}
	return at
}

func pointed(t types.Type) types.Type {
	if p, is := t.Underlying().(*types.Pointer); is {
		return p.Elem()
	}
	return t
}

// ofContext begins the names of functions that end a context.
const ofContext = "a result of context.With"

// opaque notes functions that Go's own packages have returned, such as iter.Pull's, where closures have captured them,
// or they are in a field. The state of a context is in it, and not in the function that cancels it.
func (r *reader) opaque() {
	note := func(n *node, field bool) {
		for t := range n.root().has {
			if t.opaque != "" && !(field && strings.HasPrefix(t.opaque, ofContext)) {
				r.remember(t.at, t.opaque)
			}
		}
	}
	for v := range r.lasting() {
		note(r.field(v).later, true)
		note(r.remembered(place{v, true}), true)
	}
	for fn := range r.captured {
		for _, v := range fn.FreeVars {
			note(r.value(place{of: v}), false)
			note(r.remembered(place{of: v}), false)
		}
	}
}

// remember notes a line at which memory changes that a search doesn't see.
func (r *reader) remember(at token.Pos, what string) { r.notes(at, what, aMemory) }

// notes is remember, given the reason.
func (r *reader) notes(at token.Pos, what, why string) {
	if !r.excusedAt(at, what) {
		r.kept[Use{What: what, Why: why, Source: r.source(at)}] = true
	}
}

// beginning are the functions that are called when a lock is made.
func (r *reader) beginning() map[*ssa.Function]bool {
	all := map[*ssa.Function]bool{}
	calls := map[*ssa.Function][]*ssa.Function{}
	for e := range r.bound {
		if !e.outer {
			calls[e.call.Parent()] = append(calls[e.call.Parent()], e.fn)
		}
	}
	var add func(fn *ssa.Function)
	add = func(fn *ssa.Function) {
		if !all[fn] {
			all[fn] = true
			for _, to := range calls[fn] {
				add(to)
			}
		}
	}
	for _, fn := range r.constructors {
		add(fn)
	}
	return all
}

// lasting are the fields of all that a lock may lead to.
func (r *reader) lasting() map[*types.Var]bool {
	fields, seen := map[*types.Var]bool{}, map[types.Type]bool{}
	var add func(t types.Type)
	within := func(n *node) {
		for t := range n.root().has {
			if t.typ != nil {
				add(t.typ)
			}
		}
	}
	add = func(t types.Type) {
		if t == nil || seen[t] {
			return
		}
		seen[t] = true
		if named, is := t.(*types.Named); is {
			for a := range named.TypeArgs().Types() { // such as that of an atomic.Pointer
				add(a)
			}
			if !r.read(t) {
				return
			}
		}
		switch u := t.Underlying().(type) {
		case *types.Struct:
			for v := range u.Fields() {
				v = v.Origin()
				fields[v] = true
				add(v.Type())
				within(r.field(v).later)
				within(r.remembered(place{v, true}))
			}
		case *types.Map:
			add(u.Key())
			add(u.Elem())
		case interface{ Elem() types.Type }:
			add(u.Elem())
		}
	}
	for _, t := range r.seen {
		add(t)
	}
	for fn := range r.captured {
		for _, v := range fn.FreeVars {
			add(v.Type())
			within(r.value(place{of: v}))
			within(r.remembered(place{of: v}))
		}
	}
	if r.made.lock == nil {
		for _, t := range r.live {
			add(t)
		}
	}
	return fields
}

// census looks through the lock's code.
func (r *reader) census() *census {
	c := &census{allocs: map[types.Type][]ssa.Instruction{}, fields: map[*types.Var]bool{}}
	for fn, l := range r.levels {
		for _, b := range fn.Blocks {
			for _, i := range b.Instrs {
				switch i := i.(type) {
				case *ssa.Alloc:
					c.allocs[pointed(i.Type())] = append(c.allocs[pointed(i.Type())], i)
				case *ssa.MakeSlice:
					t := i.Type().Underlying().(*types.Slice).Elem()
					c.allocs[t] = append(c.allocs[t], i)
				case *ssa.Store:
					if l == late {
						c.stores(i)
					}
				}
			}
		}
	}
	return c
}

func (c *census) stores(i *ssa.Store) {
	switch to := i.Addr.(type) {
	case *ssa.Alloc:
		if _, is := to.Type().Underlying().(*types.Pointer).Elem().Underlying().(*types.Struct); !is {
			return
		}
	case *ssa.FieldAddr:
		c.fields[fieldOf(to.X.Type(), to.Field).Origin()] = true
	}
	c.copies = append(c.copies, i.Val.Type())
}

// visible are the types of which a lock has exactly one value, in the lock itself or behind a field that always leads
// to it: a captured value of such a type is seen there.
func (r *reader) visible(c *census) (own []types.Type) {
	locks, err := r.lockTypes()
	if err != nil || len(locks) != 1 {
		return nil
	}
	var add func(t types.Type)
	add = func(t types.Type) {
		named, is := t.(*types.Named)
		s, structure := t.Underlying().(*types.Struct)
		if !is || !structure || !r.read(t) || slices.ContainsFunc(own, func(o types.Type) bool { return types.Identical(o, t) }) {
			return
		}
		if named.TypeParams() == nil && r.single(c, t) {
			own = append(own, t)
		}
		if slices.ContainsFunc(c.copies, func(copied types.Type) bool { return contains(copied, t) }) {
			return
		}
		for v := range s.Fields() {
			if p, is := v.Type().(*types.Pointer); is && !c.fields[v.Origin()] {
				add(p.Elem())
			} else if !is {
				add(v.Type())
			}
		}
	}
	add(pointed(locks[0]))
	return own
}

// single reports whether there is one place at which a value of a type is made, and the constructor comes there once.
func (r *reader) single(c *census, t types.Type) bool {
	var at ssa.Instruction
	for of, all := range c.allocs {
		if !contains(of, t) {
			continue
		}
		if len(all) > 1 || at != nil {
			return false
		}
		at = all[0]
	}
	return at != nil && r.once(at, map[*ssa.Function]bool{})
}

// contains reports whether a value of a type has one of another in it.
func contains(of, t types.Type) bool {
	if types.Identical(of, t) {
		return true
	}
	switch u := of.Underlying().(type) {
	case *types.Struct:
		for v := range u.Fields() {
			if contains(v.Type(), t) {
				return true
			}
		}
	case *types.Array:
		return contains(u.Elem(), t)
	}
	return false
}

// once reports whether an instruction is executed at most once when a lock is made, and never later.
func (r *reader) once(i ssa.Instruction, seen map[*ssa.Function]bool) bool {
	fn := i.Parent()
	if reachable(i.Block())[i.Block()] || seen[fn] || r.levels[fn] != early {
		return false
	}
	seen[fn] = true
	var from []ssa.Instruction
	for e := range r.bound {
		if e.fn == fn && !e.outer {
			from = append(from, e.call)
		}
	}
	if slices.Contains(r.constructors, fn) {
		return len(from) == 0
	}
	return len(from) == 1 && r.once(from[0], seen)
}

// owns reports whether a type is a pointer to one of those of which a lock has one value, which is seen.
func (f *flow) owns(t types.Type) bool {
	p, is := t.(*types.Pointer)
	return is && slices.ContainsFunc(f.own, func(o types.Type) bool { return types.Identical(o, p.Elem()) })
}

// holds reports whether a value of a type may be a thing, or come from it.
func (f *flow) holds(as types.Type, t thing) bool {
	return holds(as, t) && !(t.kept != "" && f.owns(as))
}
