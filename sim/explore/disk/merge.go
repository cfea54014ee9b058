package disk

import (
	"cmp"
	"math/bits"
	"slices"

	"lockstep/sim/explore/intern"
)

// source gives states in ascending order.
type source interface {
	advance() bool     // goes on to the next state, and reports whether there is any
	current() []uint32 // that state; valid until advance
	failed() error     // after advance has reported false
}

func (c *cursor) current() []uint32 { return c.state }
func (c *cursor) failed() error     { return c.err }

// sorted gives the states of some shards of a set in memory.
type sorted struct {
	set   *intern.Visited
	order []place
	at    int // of the current state in order, plus 1
}

// place is where a state is, with as much of it as fits into the key.
type place struct {
	key   uint64
	n     uint32
	shard uint32
}

// sort sorts the states of a part from the given indices on.
func sort(set *intern.Visited, part, width int, from, to *[intern.Shards]uint32, buf []place) *sorted {
	buf = buf[:0]
	each := func(do func(shard int, n uint32, state []uint32)) {
		for shard := part * shardsEach; shard < (part+1)*shardsEach; shard++ {
			for n := from[shard]; n < to[shard]; n++ {
				do(shard, n, set.State(shard, n))
			}
		}
	}
	most := make([]uint32, width)
	each(func(_ int, _ uint32, state []uint32) {
		for i, id := range state {
			most[i] = max(most[i], id)
		}
	})
	each(func(shard int, n uint32, state []uint32) {
		buf = append(buf, place{keyOf(state, most), n, uint32(shard)})
	})
	slices.SortFunc(buf, func(a, b place) int {
		if a.key != b.key {
			return cmp.Compare(a.key, b.key)
		}
		return compare(set.State(int(a.shard), a.n), set.State(int(b.shard), b.n))
	})
	return &sorted{set: set, order: buf}
}

// shardsEach is the number of shards of a set in memory that make up a part of a run.
const shardsEach = intern.Shards / parts

// keyOf returns the first 64 bits of a state, each of whose ids takes as many bits as the
// greatest of its column.
func keyOf(state, most []uint32) (key uint64) {
	left := 64
	for i := len(state) - 1; i >= 0; i-- {
		size := bits.Len32(most[i])
		if size > left {
			return key<<left | uint64(state[i])>>(size-left)
		}
		key = key<<size | uint64(state[i])
		left -= size
	}
	return key
}

func (s *sorted) advance() bool {
	if s.at == len(s.order) {
		return false
	}
	s.at++
	return true
}

func (s *sorted) current() []uint32 {
	p := &s.order[s.at-1]
	return s.set.State(int(p.shard), p.n)
}

func (s *sorted) failed() error { return nil }

// merge gives all states of some sources in ascending order, each once, until do fails.
func merge(sources []source, do func(state []uint32) error) error {
	heap, err := heapOf(sources)
	if err != nil {
		return err
	}
	var last []uint32
	for len(heap) > 0 {
		s := heap[0].state
		if last == nil || compare(last, s) != 0 {
			if err := do(s); err != nil {
				return err
			}
			last = append(last[:0], s...)
		}
		if top := heap[0].source; top.advance() {
			heap[0].state = top.current()
		} else if err := top.failed(); err != nil {
			return err
		} else {
			heap[0] = heap[len(heap)-1]
			heap = heap[:len(heap)-1]
		}
		heap.down(0)
	}
	return nil
}

// heap has the sources of a merge, the one with the least state first.
type heap []head

// head is a source with its current state.
type head struct {
	source source
	state  []uint32
}

func heapOf(sources []source) (h heap, err error) {
	for _, s := range sources {
		if s.advance() {
			h = append(h, head{s, s.current()})
		} else if err := s.failed(); err != nil {
			return nil, err
		}
	}
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
	return h, nil
}

func (h heap) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if compare(h[child].state, h[least].state) < 0 {
				least = child
			}
		}
		if least == i {
			return
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// known is the states of some runs in a part, for states to be looked up in ascending order.
type known []*cursor

// knownIn returns those of some runs.
func knownIn(runs []*run, part int) (k known, err error) {
	for _, r := range runs {
		c := r.cursor(part)
		if c.advance() {
			k = append(k, c)
		} else if c.err != nil {
			return nil, c.err
		}
	}
	return k, nil
}

// has reports whether a state is there. States must be asked for in ascending order.
func (k *known) has(state []uint32) (bool, error) {
	for i := 0; i < len(*k); i++ {
		c := (*k)[i]
		switch {
		case !c.seek(state):
			if c.err != nil {
				return false, c.err
			}
			*k = slices.Delete(*k, i, i+1)
			i--
		case compare(c.state, state) == 0:
			return true, nil
		}
	}
	return false, nil
}
