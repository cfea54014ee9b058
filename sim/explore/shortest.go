package explore

import (
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

// place is the place of a node in the order in which nodes are expanded.
type place struct {
	cost
	early int32 // how often a client that was about to ask has asked later: it orders nodes of equal cost, as readers take it for a pause
	order int32 // of discovery: it orders all others, which makes the result deterministic
}

func (a *place) before(b *place) bool {
	if a.cost != b.cost {
		return a.cost.less(b.cost)
	}
	if a.early != b.early {
		return a.early < b.early
	}
	return a.order < b.order
}

// pathNode is a node of the graph of schedules: a packed state with the client that acted
// last and with whether time passed last, because the next step's cost depends on both.
type pathNode struct {
	place
	parent int32        // the index of the node before, or -1
	by     space.Choice // that leads here from there
	last   int8         // the client that acted last, or -1
	stale  bool         // another path to its state has turned out to come first
	ends   space.Codes  // of an end, which has no state: the violations that the path to it has
}

// passed reports whether time passed last.
func (p *pathNode) passed() bool { return p.by.Kind == space.Passes }

// shortest is a search for the least schedules, by Dijkstra's algorithm.
type shortest struct {
	x     *space.Explorer
	alike bool                          // the clients are interchangeable: see outOfTurn
	nodes statedNodes                   // all
	queue []waiting                     // the heap of those that are not expanded yet
	left  space.Codes                   // violations that are still looked for
	got   map[trace.Code][]space.Choice // the least path to each that was found
}

// waiting is a node in the heap.
type waiting struct {
	place
	node int32
}

// push puts a node into the heap.
func (q *shortest) push(e waiting) {
	at := len(q.queue)
	q.queue = append(q.queue, e)
	for at > 0 {
		up := (at - 1) / 2
		if !e.before(&q.queue[up].place) {
			break
		}
		q.queue[at] = q.queue[up]
		at = up
	}
	q.queue[at] = e
}

// pop takes the first node out of the heap.
func (q *shortest) pop() (node int32) {
	node, end := q.queue[0].node, len(q.queue)-1
	e := q.queue[end]
	q.queue = q.queue[:end]
	at := 0
	for down := 1; down < end; down = 2*at + 1 {
		if down+1 < end && q.queue[down+1].before(&q.queue[down].place) {
			down++
		}
		if !q.queue[down].before(&e.place) {
			break
		}
		q.queue[at] = q.queue[down]
		at = down
	}
	if end > 0 {
		q.queue[at] = e
	}
	return node
}

// findShortest finds the least schedule for each of the violations. It takes all schedules in the
// order of their cost, so the first with a violation is the least, and the violation needs
// each of its faults: otherwise there would be a schedule of fewer. Of schedules that differ in clients' names
// alone it takes one if alike is set. It ends early, with the schedules found so far, when stop reports true.
func findShortest(m *space.Model, wanted space.Codes, alike bool, stop func() bool) (map[trace.Code][]space.Choice, error) {
	x := m.Explorer()
	x.Begin()
	q := shortestFrom(x, wanted, nil)
	q.alike = alike
	err := q.run(stop)
	return q.got, err
}

// shortestFrom returns a search that begins in the explorer's state, to which a path has led.
func shortestFrom(x *space.Explorer, wanted space.Codes, path []space.Choice) *shortest {
	q := &shortest{x: x, nodes: statedNodes{width: x.Width}, left: wanted, got: map[trace.Code][]space.Choice{}}
	begin := pathNode{parent: -1, last: lastOf(path)} // to go on with the same client is no switch
	if n := len(path); n > 0 {
		begin.by = path[n-1] // and to wait once more is no step
	}
	q.add(begin, x.StateID())
	return q
}

// run goes on until all wanted violations are found, no node is left, or stop reports true.
// stop is called now and then only, as to measure memory costs more than to expand a node.
func (q *shortest) run(stop func() bool) error {
	for n := 0; len(q.queue) > 0 && q.left != 0 && (n%256 != 0 || !stop()); n++ {
		i := q.pop()
		switch p := q.node(i); {
		case p.ends != 0:
			q.reach(i, p.ends)
			continue
		case p.stale:
			continue
		}
		q.expand(i)
		if q.x.Err != nil {
			return q.x.Err
		}
	}
	return nil
}

// add adds a node to the heap, unless its packed state is there, or was expanded, with a lesser place. A
// node at which time merely passes on has the place of the one before in the order: where time stops on
// its way doesn't decide which of two schedules is preferred.
func (q *shortest) add(p pathNode, state []uint32) {
	p.order = q.nodes.count()
	if p.passed() && p.parent >= 0 && q.node(p.parent).passed() {
		p.order = q.node(p.parent).order
	}
	if n, added := q.nodes.add(p, state); added {
		q.push(waiting{p.place, n})
	}
}

func (q *shortest) node(i int32) *pathNode { return q.nodes.at(i) }

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
	for p := q.node(i); p.parent >= 0; p = q.node(p.parent) {
		if p.ends != trace.SetOf(trace.PD) {
			choices = append(choices, p.by)
		}
	}
	slices.Reverse(choices)
	return choices
}

// expand adds the successors of a node.
func (q *shortest) expand(i int32) {
	x, p, state := q.x, q.node(i), q.nodes.state(i)
	x.Visit(state)
	if (x.Over() || x.Asleep()) && q.left.Has(trace.PD) && x.Deadlocked() {
		q.add(pathNode{place: place{cost: p.cost}, parent: i, ends: trace.SetOf(trace.PD)}, nil)
		return
	}
	for _, c := range x.Enabled() {
		x.Back()
		next := pathNode{place: place{cost: q.price(p, c), early: p.early}, parent: i, by: c, last: p.last}
		if next.passed() && !p.passed() {
			next.early += x.Early()
		}
		if c.Acts() {
			next.last = int8(c.Who)
		}
		x.Choose(c)
		found, after := x.Found&q.left, x.Packed(state)
		if q.outOfTurn(c, state, after) {
			continue
		}
		if found != 0 {
			end := next
			end.ends = found
			q.add(end, nil)
		}
		q.add(next, after)
	}
}

// outOfTurn reports whether by a choice a client asks for the lock for the first time while the one before it hasn't asked.
// Of the paths that differ in the names of interchangeable clients alone, on one they first ask in the order of their
// names, and it comes before the others.
func (q *shortest) outOfTurn(c space.Choice, before, after []uint32) bool {
	asked := func(state []uint32, i uint8) bool {
		is, _, _ := q.x.Client(state, int(i))
		return is.Acquired > 0 || is.Crashed
	}
	return q.alike && c.Acts() && c.Who > 0 && !asked(before, c.Who-1) && !asked(before, c.Who) && asked(after, c.Who)
}

// price returns the cost of a node's path with one more choice, which the explorer is about
// to make.
func (q *shortest) price(p *pathNode, c space.Choice) cost {
	sum := p.cost
	if c.Kind != space.Passes || !p.passed() {
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
