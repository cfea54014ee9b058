package explore

import (
	"container/heap"
	"slices"

	"lockstep/sim/explore/space"
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
	early  int32        // how often a client that was about to ask has asked later: it orders nodes of equal cost, as readers take it for a pause
	order  int          // of discovery: it orders all others, which makes the result deterministic
	parent int32        // the index of the node before, or -1
	by     space.Choice // that leads here from there
	last   int8         // the client that acted last, or -1
	state  []uint32     // packed; nil if the node is an end
	ends   space.Codes  // of an end: the violations that the path to it has
}

// shortest is a search for the least schedules, by Dijkstra's algorithm. It is a heap of the
// nodes that are not expanded yet.
type shortest struct {
	x     *space.Explorer
	nodes []pathNode                    // all, by index
	queue []int32                       // the heap
	known map[string]bool               // nodes that have been expanded
	left  space.Codes                   // violations that are still looked for
	got   map[trace.Code][]space.Choice // the least path to each that was found
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
func findShortest(m *space.Model, wanted space.Codes, stop func() bool) (map[trace.Code][]space.Choice, error) {
	x := m.Explorer()
	x.Begin()
	q := shortestFrom(x, wanted)
	err := q.run(stop)
	return q.got, err
}

// shortestFrom returns a search that begins in the explorer's state.
func shortestFrom(x *space.Explorer, wanted space.Codes) *shortest {
	q := &shortest{x: x, known: map[string]bool{}, left: wanted, got: map[trace.Code][]space.Choice{}}
	q.add(pathNode{parent: -1, last: -1, state: x.StateID()})
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
		key := string(append(bytesOf(p.state), byte(p.last), byteOf(p.by.Kind == space.Passes)))
		if q.known[key] {
			continue
		}
		q.known[key] = true
		q.expand(i)
		if q.x.Err != nil {
			return q.x.Err
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
	if p.by.Kind == space.Passes && p.parent >= 0 && q.nodes[p.parent].by.Kind == space.Passes {
		p.order = q.nodes[p.parent].order
	}
	q.nodes = append(q.nodes, p)
	heap.Push(q, int32(n))
}

// reach keeps the path to a node for those of its violations that are still looked for.
func (q *shortest) reach(i int32, ends space.Codes) {
	for _, c := range trace.Codes {
		if ends.Has(c) && q.left.Has(c) {
			q.left &^= trace.SetOf(c)
			q.got[c] = q.path(i)
		}
	}
}

// path returns the choices that lead to a node.
func (q *shortest) path(i int32) (choices []space.Choice) {
	for ; q.nodes[i].parent >= 0; i = q.nodes[i].parent {
		if q.nodes[i].ends != trace.SetOf(trace.PD) {
			choices = append(choices, q.nodes[i].by)
		}
	}
	slices.Reverse(choices)
	return choices
}

// expand adds the successors of a node.
func (q *shortest) expand(i int32) {
	x, p := q.x, q.nodes[i]
	x.Visit(p.state)
	if x.Over() && q.left.Has(trace.PD) && x.Deadlocked() {
		q.add(pathNode{cost: p.cost, parent: i, ends: trace.SetOf(trace.PD)})
		return
	}
	for _, c := range x.Enabled() {
		x.Back()
		next := pathNode{cost: q.price(&p, c), early: p.early, parent: i, by: c, last: p.last}
		if c.Kind == space.Passes && p.by.Kind != space.Passes {
			next.early += x.Early()
		}
		if c.Acts() {
			next.last = int8(c.Who)
		}
		x.Choose(c)
		if x.Found&q.left != 0 {
			end := next
			end.ends = x.Found & q.left
			q.add(end)
		}
		next.state = x.Packed(p.state)
		q.add(next)
	}
}

// price returns the cost of a node's path with one more choice, which the explorer is about
// to make.
func (q *shortest) price(p *pathNode, c space.Choice) cost {
	sum := p.cost
	if c.Kind != space.Passes || p.by.Kind != space.Passes {
		sum.steps++
	}
	switch {
	case c.Kind == space.Passes:
		_, n := q.x.Idle()
		sum.faults += int32(n)
	case c.Faulty():
		sum.faults++
	}
	if c.Acts() && p.last >= 0 && int8(c.Who) != p.last {
		sum.switches++
	}
	return sum
}

// lastOf returns the client that acted last in a path, or -1.
func lastOf(path []space.Choice) int8 {
	for _, c := range slices.Backward(path) {
		if c.Acts() {
			return int8(c.Who)
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
func costFromStart(m *space.Model, path []space.Choice) (c cost) {
	x := m.Explorer()
	x.Begin()
	return costOf(x, nil, path)
}

// costOf returns the cost of a path from the explorer's state, after another path, or with
// none. The explorer's state is that at the path's end afterwards.
func costOf(x *space.Explorer, after, path []space.Choice) cost {
	q := shortest{x: x}
	p := pathNode{last: lastOf(after)}
	if n := len(after); n > 0 {
		p.by = after[n-1]
	}
	for _, c := range path {
		p.cost = q.price(&p, c)
		p.by = c
		if c.Acts() {
			p.last = int8(c.Who)
		}
		x.Choose(c)
	}
	return p.cost
}
