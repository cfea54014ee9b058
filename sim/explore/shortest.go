package explore

import (
	"container/heap"
	"slices"

	"lockstep/sim/trace"
)

// cost orders schedules: fewest faults, then fewest switches from one client to another,
// then fewest choices. Time that passes from one instant to the next, and on, is one choice.
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

// pathNode is a node of the graph of schedules: a packed state with the client that acted
// last and with whether time passed last, because the next step's cost depends on both.
type pathNode struct {
	cost
	early  int32    // how often a client that was about to ask has asked later: it orders nodes of equal cost, as readers take it for a pause
	order  int      // of discovery: it orders all others, which makes the result deterministic
	parent int32    // the index of the node before, or -1
	by     choice   // that leads here from there
	last   int8     // the client that acted last, or -1
	state  []uint32 // packed; nil if the node is an end
	ends   codes    // of an end: the violations that the path to it has
}

// shortest is a search for the least schedules, by Dijkstra's algorithm. It is a heap of the
// nodes that are not expanded yet.
type shortest struct {
	x     *explorer
	nodes []pathNode              // all, by index
	queue []int32                 // the heap
	known map[string]bool         // nodes that have been expanded
	left  codes                   // violations that are still looked for
	got   map[trace.Code][]choice // the least path to each that was found
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
	if a.early != b.early {
		return a.early < b.early
	}
	return a.order < b.order
}

// findShortest finds the least schedule for each of the violations. It takes all schedules in the
// order of their cost, so the first with a violation is the least, and the violation needs
// each of its faults: otherwise there would be a schedule of fewer. It ends early, with what
// it has, when stop reports true.
func findShortest(m *model, wanted codes, stop func() bool) (map[trace.Code][]choice, error) {
	x := m.explorer()
	x.first()
	q := shortestFrom(x, wanted)
	err := q.run(stop)
	return q.got, err
}

// shortestFrom returns a search that begins in the explorer's state.
func shortestFrom(x *explorer, wanted codes) *shortest {
	q := &shortest{x: x, known: map[string]bool{}, left: wanted, got: map[trace.Code][]choice{}}
	q.add(pathNode{parent: -1, last: -1, state: x.stateID()})
	return q
}

// run goes on until all wanted violations are found, no node is left, or stop reports true.
// stop is called now and then only, as to measure memory costs more than to expand a node.
func (q *shortest) run(stop func() bool) error {
	for n := 0; len(q.queue) > 0 && q.left != 0 && (n%256 != 0 || !stop()); n++ {
		i := heap.Pop(q).(int32)
		p := q.nodes[i]
		if p.ends != 0 {
			q.reach(i, p.ends)
			continue
		}
		key := string(append(bytesOf(p.state), byte(p.last), byteOf(p.by.kind == passes)))
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

// add adds a node to the heap. A node at which time merely passes on has the place of the
// one before in the order: where time stops on its way doesn't decide which of two schedules
// is preferred.
func (q *shortest) add(p pathNode) {
	n := len(q.nodes)
	p.order = n
	if p.by.kind == passes && p.parent >= 0 && q.nodes[p.parent].by.kind == passes {
		p.order = q.nodes[p.parent].order
	}
	q.nodes = append(q.nodes, p)
	heap.Push(q, int32(n))
}

// reach keeps the path to a node for those of its violations that are still looked for.
func (q *shortest) reach(i int32, ends codes) {
	for _, c := range trace.Codes {
		if ends.has(c) && q.left.has(c) {
			q.left &^= setOf(c)
			q.got[c] = q.path(i)
		}
	}
}

// path returns the choices that lead to a node.
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
	x, p := q.x, q.nodes[i]
	x.visit(p.state)
	if x.over() && q.left.has(trace.PD) && x.deadlocked() {
		q.add(pathNode{cost: p.cost, parent: i, ends: setOf(trace.PD)})
		return
	}
	for _, c := range x.enabledHere() {
		x.back()
		next := pathNode{cost: q.price(&p, c), early: p.early, parent: i, by: c, last: p.last}
		if c.kind == passes && p.by.kind != passes {
			next.early += x.early()
		}
		if c.acts() {
			next.last = int8(c.who)
		}
		x.choose(c)
		if x.found&q.left != 0 {
			end := next
			end.ends = x.found & q.left
			q.add(end)
		}
		next.state = x.packed(p.state)
		q.add(next)
	}
}

// price returns the cost of a node's path with one more choice, which the explorer is about
// to make.
func (q *shortest) price(p *pathNode, c choice) cost {
	sum := p.cost
	if c.kind != passes || p.by.kind != passes {
		sum.steps++
	}
	switch {
	case c.kind == passes:
		_, n := q.x.idle()
		sum.faults += int32(n)
	case c.faulty():
		sum.faults++
	}
	if c.acts() && p.last >= 0 && int8(c.who) != p.last {
		sum.switches++
	}
	return sum
}

// lastOf returns the client that acted last in a path, or -1.
func lastOf(path []choice) int8 {
	for _, c := range slices.Backward(path) {
		if c.acts() {
			return int8(c.who)
		}
	}
	return -1
}

func byteOf(is bool) byte {
	if is {
		return 1
	}
	return 0
}

// bytesOf encodes a packed state, with room for two more bytes.
func bytesOf(state []uint32) []byte {
	b := make([]byte, 0, len(state)*4+2)
	for _, w := range state {
		b = append(b, byte(w), byte(w>>8), byte(w>>16), byte(w>>24))
	}
	return b
}

// costFromStart returns the cost of a path from the start.
func costFromStart(m *model, path []choice) (c cost) {
	x := m.explorer()
	x.first()
	return costOf(x, nil, path)
}

// costOf returns the cost of a path from the explorer's state, after another path, or with
// none. The explorer's state is that at the path's end afterwards.
func costOf(x *explorer, after, path []choice) cost {
	q := shortest{x: x}
	p := pathNode{last: lastOf(after)}
	if n := len(after); n > 0 {
		p.by = after[n-1]
	}
	for _, c := range path {
		p.cost = q.price(&p, c)
		p.by = c
		if c.acts() {
			p.last = int8(c.who)
		}
		x.choose(c)
	}
	return p.cost
}
