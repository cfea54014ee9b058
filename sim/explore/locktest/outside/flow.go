package outside

import (
	"go/token"
	"go/types"

	"golang.org/x/tools/go/ssa"
)

// A thing is something that a value may be, or come from.
type thing struct {
	fn     *ssa.Function // a function
	typ    types.Type    // the type that an interface has in it
	shared string        // the name of a variable whose memory the value leads to, and which all clients share
	kept   string        // the same of a variable that a closure has captured, which lives on from cycle to cycle
	opaque string        // the call that has made a function, or a context, that has a memory of its own
	taken  string        // the function or variable outside of the search that the value comes from
	why    string        // what to say of that
	at     token.Pos     // where the code names a function of the table, or calls it
}

// A node is a place that values flow through: a variable, a field, or an instruction's result.
// Invariant: each listener has heard of each thing once.
type node struct {
	same      *node // the node that this one has been united with
	has       map[thing]bool
	listeners []func(thing)
	to        map[*node]bool
}

func (n *node) root() *node {
	for n.same != nil {
		n = n.same
	}
	return n
}

// A place is a value, a variable or a function, as the lock's code has it or as the code around has it: calls that the
// latter makes for itself, such as another test's of the same lock, have nothing to do with the lock that is read.
type place struct {
	of    any
	outer bool
}

// A result is one of those that a function or a call has.
type result struct {
	of any
	n  int
}

// A flow is all nodes.
type flow struct {
	values map[place]*node       // the things that a value may be
	memory map[place]*node       // the content of the memory that a value leads to, by value or variable
	fields map[*types.Var]*field // by the generic type's
	result map[place]*node       // the results of a function
	queue  []func()              // calls of listeners that are still to be made
	hidden map[types.Type]bool   // types of which there are values that reflection hasn't seen
	real   map[*types.Var]bool   // fields whose values reflection has seen
	own    []types.Type          // of which a lock has one value, which is seen: see memories
}

// A field is the content of a field of a struct, whichever value it is in. The code around the constructor
// gives it defaults; its content in a lock just made is seen by reflection, and only that counts later on.
type field struct {
	every *node // all that it is set to
	later *node // its content in a lock that was made, and all that it is set to later on
}

func newFlow() flow {
	return flow{values: map[place]*node{}, memory: map[place]*node{}, fields: map[*types.Var]*field{}, result: map[place]*node{},
		hidden: map[types.Type]bool{}, real: map[*types.Var]bool{}}
}

func newNode() *node { return &node{has: map[thing]bool{}, to: map[*node]bool{}} }

// put notes that a thing may be at a node.
func (f *flow) put(n *node, t thing) {
	n = n.root()
	if n.has[t] {
		return
	}
	n.has[t] = true
	f.tell(n.listeners, t)
}

func (f *flow) tell(listeners []func(thing), t thing) {
	for _, l := range listeners {
		f.queue = append(f.queue, func() { l(t) })
	}
}

// listen has a function called for each thing at a node, now and later.
func (f *flow) listen(n *node, l func(thing)) {
	n = n.root()
	n.listeners = append(n.listeners, l)
	for t := range n.has {
		f.queue = append(f.queue, func() { l(t) })
	}
}

// copy has everything at a node flow to another whose values are of a type; a nil type takes all.
func (f *flow) copy(from, to *node, as types.Type) {
	from, to = from.root(), to.root()
	if from == to || from.to[to] {
		return
	}
	from.to[to] = true
	f.listen(from, func(t thing) {
		if as == nil || f.holds(as, t) {
			f.put(to, t)
		}
	})
}

// unite makes one node of two.
func (f *flow) unite(a, b *node) {
	a, b = a.root(), b.root()
	if a == b {
		return
	}
	if len(a.has)*len(b.listeners) > len(b.has)*len(a.listeners) { // the fewer are told
		a, b = b, a
	}
	for t := range a.has {
		if !b.has[t] {
			f.tell(b.listeners, t)
		}
	}
	b.same = a
	for t := range b.has {
		f.put(a, t)
	}
	a.listeners = append(a.listeners, b.listeners...)
	for to := range b.to {
		a.to[to] = true
	}
	b.has, b.listeners, b.to = nil, nil, nil
}

// run tells all listeners what they don't know yet.
func (f *flow) run() {
	for len(f.queue) > 0 {
		next := f.queue[len(f.queue)-1]
		f.queue = f.queue[:len(f.queue)-1]
		next()
	}
}

// remembered is the memory that a value, a global variable or a field leads to.
func (f *flow) remembered(p place) *node {
	if f.memory[p] == nil {
		f.memory[p] = newNode()
	}
	return f.memory[p].root()
}

func (f *flow) returned(p place) *node {
	if f.result[p] == nil {
		f.result[p] = newNode()
	}
	return f.result[p]
}

func (f *flow) field(v *types.Var) *field {
	v = v.Origin()
	if f.fields[v] == nil {
		n := &field{newNode(), newNode()}
		f.fields[v] = n
		f.copy(n.later, n.every, nil)
		f.listen(n.every, func(t thing) {
			if t.fn == nil && t.typ == nil || !f.real[v] {
				f.put(n.later, t) // reflection sees no such thing
			}
		})
	}
	return f.fields[v]
}

// reveal counts all that a field is set to, because there may be values that reflection doesn't see.
func (f *flow) reveal(v *types.Var) {
	n := f.field(v)
	f.copy(n.every, n.later, nil)
}

// holds reports whether a value of a type may be a thing, or come from it.
func holds(as types.Type, t thing) bool {
	switch {
	case t.shared != "" || t.kept != "":
		return refers(as, map[types.Type]bool{})
	case t.taken != "":
		return !isError(as)
	case t.opaque != "":
		_, function := as.Underlying().(*types.Signature)
		_, tuple := as.Underlying().(*types.Tuple)
		return function || tuple || types.IsInterface(as)
	}
	switch u := as.Underlying().(type) {
	case *types.Signature:
		return t.fn != nil
	case *types.Interface:
		if _, parameter := as.(*types.TypeParam); t.typ == nil || parameter {
			return true
		}
		return types.Implements(t.typ, u)
	case *types.Tuple:
		return true
	}
	return false
}

func isError(t types.Type) bool { return types.Identical(t, types.Universe.Lookup("error").Type()) }

// refers reports whether a value of a type leads to memory that a copy of it leads to as well.
func refers(t types.Type, seen map[types.Type]bool) bool {
	if seen[t] {
		return false
	}
	seen[t] = true
	switch u := t.Underlying().(type) {
	case *types.Basic:
		return u.Kind() == types.UnsafePointer
	case *types.Struct:
		for v := range u.Fields() {
			if refers(v.Type(), seen) {
				return true
			}
		}
		return false
	case *types.Array:
		return refers(u.Elem(), seen)
	case *types.Tuple:
		for v := range u.Variables() {
			if refers(v.Type(), seen) {
				return true
			}
		}
		return false
	}
	return true
}
