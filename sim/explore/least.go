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

// way is a state on the way to a violation: with the client that acted last,
// because the next change depends on it.
type way struct {
	cost
	order  int // of discovery: the first of equals goes first, so that the result is always the same
	parent int32
	by     move
	last   int8
	state  []uint32
	ends   codes // it is not a state but what was violated on the way there
}

// quest looks for the least schedules.
type quest struct {
	x     *explorer
	ways  []way
	queue []int32
	known map[string]bool
	left  codes
	got   map[trace.Code][]move
}

func (q *quest) Len() int           { return len(q.queue) }
func (q *quest) Less(i, j int) bool { return q.before(q.queue[i], q.queue[j]) }
func (q *quest) Swap(i, j int)      { q.queue[i], q.queue[j] = q.queue[j], q.queue[i] }
func (q *quest) Push(v any)         { q.queue = append(q.queue, v.(int32)) }
func (q *quest) Pop() any {
	last := q.queue[len(q.queue)-1]
	q.queue = q.queue[:len(q.queue)-1]
	return last
}

func (q *quest) before(i, j int32) bool {
	a, b := &q.ways[i], &q.ways[j]
	if a.cost != b.cost {
		return a.cost.less(b.cost)
	}
	return a.order < b.order
}

// least finds the least schedule for each of the violations. It goes through all
// schedules in the order of their cost (Dijkstra's algorithm), so that the first
// that violates is the least, and none of its faults is needless: without it there
// would be a schedule of fewer. It ends early when stop says so, with what it has.
func (m *model) least(wanted codes, stop func() bool) (map[trace.Code][]move, error) {
	x := m.explorer()
	x.first()
	q := m.quest(x, wanted)
	err := q.run(stop)
	return q.got, err
}

// quest begins where an explorer stands.
func (m *model) quest(x *explorer, wanted codes) *quest {
	q := &quest{x: x, known: map[string]bool{}, left: wanted, got: map[trace.Code][]move{}}
	q.add(way{parent: -1, last: -1, state: x.number()})
	return q
}

// run goes on until all that is wanted was found, nothing is left, or stop says so,
// which is asked now and then: to look at the memory costs more than to follow a way.
func (q *quest) run(stop func() bool) error {
	for n := 0; len(q.queue) > 0 && q.left != 0 && (n%256 != 0 || !stop()); n++ {
		i := heap.Pop(q).(int32)
		w := q.ways[i]
		if w.ends != 0 {
			q.reach(i, w.ends)
			continue
		}
		key := string(append(bytesOf(w.state), byte(w.last)))
		if q.known[key] {
			continue
		}
		q.known[key] = true
		q.follow(i)
		if q.x.err != nil {
			return q.x.err
		}
	}
	return nil
}

func (q *quest) add(w way) {
	w.order = len(q.ways)
	q.ways = append(q.ways, w)
	heap.Push(q, int32(w.order))
}

// reach notes the way to violations that were not known yet.
func (q *quest) reach(i int32, ends codes) {
	for _, c := range trace.Codes {
		if ends.has(c) && q.left.has(c) {
			q.left &^= setOf(c)
			q.got[c] = q.trail(i)
		}
	}
}

func (q *quest) trail(i int32) (moves []move) {
	for ; q.ways[i].parent >= 0; i = q.ways[i].parent {
		if q.ways[i].ends != setOf(trace.PD) {
			moves = append(moves, q.ways[i].by)
		}
	}
	slices.Reverse(moves)
	return moves
}

// follow adds what comes after a way.
func (q *quest) follow(i int32) {
	x, w := q.x, q.ways[i]
	x.unpack(w.state, &x.from)
	x.s.copyFrom(&x.from)
	x.view(w.state)
	x.choices = x.moves(x.choices)
	if len(x.choices) == 0 && x.over() && q.left.has(trace.PD) && x.deadlocked() {
		q.add(way{cost: w.cost, parent: i, ends: setOf(trace.PD)})
		return
	}
	for n, m := range x.choices {
		if n > 0 {
			x.s.copyFrom(&x.from)
		}
		next := way{cost: q.price(&w, m), parent: i, by: m, last: w.last}
		if m.acts() {
			next.last = int8(m.who)
		}
		x.follow(m)
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

func (m move) acts() bool { return m.kind <= actsAndIsHeldUp }

// faulty: something goes wrong by it, other than that somebody may be paused.
func (m move) faulty() bool {
	return m.kind != acts && m.kind != passes && m.kind != frees && m.kind != takesOver
}

// price is a way's cost after one more choice.
func (q *quest) price(w *way, m move) cost {
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

// costOf is the cost of a trail, whoever has found it.
func (m *model) costOf(trail []move) (c cost) {
	x := m.explorer()
	x.first()
	return x.costOf(-1, trail)
}

// costOf is the cost of a trail from where the explorer stands, after a step of
// the client that acted last.
func (x *explorer) costOf(last int8, trail []move) cost {
	q := quest{x: x}
	w := way{last: last}
	for _, v := range trail {
		w.cost = q.price(&w, v)
		if v.acts() {
			w.last = int8(v.who)
		}
		x.follow(v)
	}
	return w.cost
}
