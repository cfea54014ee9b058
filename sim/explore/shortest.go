package explore

import (
	"container/heap"
	"slices"

	"lockstep/sim/trace"
)

// cost orders schedules: fewest faults, then fewest changes from one client to
// another, then fewest choices.
type cost struct{ faults, switches, steps int32 }

func (a cost) less(b cost) bool {
	if a.faults != b.faults {
		return a.faults < b.faults
	}
	if a.switches != b.switches {
		return a.switches < b.switches
	}
	return a.steps < b.steps
}

// pathNode is a state on a path to a violation: with the client that acted last,
// because the next change depends on it.
type pathNode struct {
	cost
	order  int // of discovery: the first of equals goes first, so that the result is always the same
	parent int32
	by     choice
	last   int8
	state  []uint32
	ends   codes // it is not a state but what was violated on the path to it
}

// shortest looks for the least schedules, by Dijkstra's algorithm.
type shortest struct {
	x     *explorer
	nodes []pathNode
	queue []int32
	known map[string]bool
	left  codes
	got   map[trace.Code][]choice
}

func (q *shortest) Len() int           { return len(q.queue) }
func (q *shortest) Less(i, j int) bool { return q.before(q.queue[i], q.queue[j]) }
func (q *shortest) Swap(i, j int)      { q.queue[i], q.queue[j] = q.queue[j], q.queue[i] }
func (q *shortest) Push(v any)         { q.queue = append(q.queue, v.(int32)) }
func (q *shortest) Pop() any {
	last := q.queue[len(q.queue)-1]
	q.queue = q.queue[:len(q.queue)-1]
	return last
}

func (q *shortest) before(i, j int32) bool {
	a, b := &q.nodes[i], &q.nodes[j]
	if a.cost != b.cost {
		return a.cost.less(b.cost)
	}
	return a.order < b.order
}

// shortest finds the least schedule for each of the violations. It goes through all
// schedules in the order of their cost (Dijkstra's algorithm), so that the first
// that violates is the least, and none of its faults is needless: without it there
// would be a schedule of fewer. It ends early when stop says so, with what it has.
func (m *model) shortest(wanted codes, stop func() bool) (map[trace.Code][]choice, error) {
	x := m.explorer()
	x.first()
	q := m.shortestFrom(x, wanted)
	err := q.run(stop)
	return q.got, err
}

// shortestFrom begins where an explorer stands.
func (m *model) shortestFrom(x *explorer, wanted codes) *shortest {
	q := &shortest{x: x, known: map[string]bool{}, left: wanted, got: map[trace.Code][]choice{}}
	q.add(pathNode{parent: -1, last: -1, state: x.stateID()})
	return q
}

// run goes on until all that is wanted was found, nothing is left, or stop says so,
// which is asked now and then: to look at the memory costs more than to expand a node.
func (q *shortest) run(stop func() bool) error {
	for n := 0; len(q.queue) > 0 && q.left != 0 && (n%256 != 0 || !stop()); n++ {
		i := heap.Pop(q).(int32)
		w := q.nodes[i]
		if w.ends != 0 {
			q.reach(i, w.ends)
			continue
		}
		key := string(append(bytesOf(w.state), byte(w.last)))
		if q.known[key] {
			continue
		}
		q.known[key] = true
		q.expand(i)
		if q.x.err != nil {
			return q.x.err
		}
	}
	return nil
}

func (q *shortest) add(w pathNode) {
	w.order = len(q.nodes)
	q.nodes = append(q.nodes, w)
	heap.Push(q, int32(w.order))
}

// reach notes the path to violations that were not known yet.
func (q *shortest) reach(i int32, ends codes) {
	for _, c := range trace.Codes {
		if ends.has(c) && q.left.has(c) {
			q.left &^= setOf(c)
			q.got[c] = q.path(i)
		}
	}
}

func (q *shortest) path(i int32) (choices []choice) {
	for ; q.nodes[i].parent >= 0; i = q.nodes[i].parent {
		if q.nodes[i].ends != setOf(trace.PD) {
			choices = append(choices, q.nodes[i].by)
		}
	}
	slices.Reverse(choices)
	return choices
}

// expand adds the successors of a node.
func (q *shortest) expand(i int32) {
	x, w := q.x, q.nodes[i]
	x.unpack(w.state, &x.from)
	x.s.copyFrom(&x.from)
	x.view(w.state)
	x.choices = x.enabled(x.choices)
	if len(x.choices) == 0 && x.over() && q.left.has(trace.PD) && x.deadlocked() {
		q.add(pathNode{cost: w.cost, parent: i, ends: setOf(trace.PD)})
		return
	}
	for n, m := range x.choices {
		if n > 0 {
			x.s.copyFrom(&x.from)
		}
		next := pathNode{cost: q.price(&w, m), parent: i, by: m, last: w.last}
		if m.acts() {
			next.last = int8(m.who)
		}
		x.choose(m)
		if x.found&q.left != 0 {
			end := next
			end.ends = x.found & q.left
			q.add(end)
		}
		x.successors = x.successors[:0]
		x.pack(w.state)
		x.resolve()
		next.state = slices.Clone(x.successors)
		q.add(next)
	}
}

// price is a node's cost after one more choice.
func (q *shortest) price(w *pathNode, m choice) cost {
	c := w.cost
	c.steps++
	switch {
	case m.kind == passes:
		_, n := q.x.idle()
		c.faults += int32(n)
	case m.faulty():
		c.faults++
	}
	if m.acts() && w.last >= 0 && int8(m.who) != w.last {
		c.switches++
	}
	return c
}

func bytesOf(state []uint32) []byte {
	b := make([]byte, 0, len(state)*4+1)
	for _, w := range state {
		b = append(b, byte(w), byte(w>>8), byte(w>>16), byte(w>>24))
	}
	return b
}

// costOf is the cost of a path.
func (m *model) costOf(path []choice) (c cost) {
	x := m.explorer()
	x.first()
	return x.costOf(-1, path)
}

// costOf is the cost of a path from where the explorer stands, after a step of
// the client that acted last.
func (x *explorer) costOf(last int8, path []choice) cost {
	q := shortest{x: x}
	w := pathNode{last: last}
	for _, v := range path {
		w.cost = q.price(&w, v)
		if v.acts() {
			w.last = int8(v.who)
		}
		x.choose(v)
	}
	return w.cost
}
