package explore

import (
	"math/bits"
	"sync"
)

// visited is the set of all states that a search has come to. It keeps them
// whole: two states are one only if they are equal, and not if a digest of them
// is. It is divided into shards so that workers are seldom in each other's way.
type visited struct {
	width  int
	shards [shards]shard
}

const (
	shards = 256
	page   = 1 << 12 // states in a page
)

type shard struct {
	mu    sync.Mutex
	pages [][]uint32
	n     uint32
	table []uint32 // open addressing: a state's number plus one
	_     [40]byte // a cache line of its own
}

func newVisited(width int) *visited {
	v := &visited{width: width}
	for i := range v.shards {
		v.shards[i].table = make([]uint32, 64)
	}
	return v
}

// digest spreads states over shards and slots.
func digest(state []uint32) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, w := range state {
		hi, lo := bits.Mul64(h^uint64(w), 0xff51afd7ed558ccd)
		h = hi ^ lo ^ 0x2545f4914f6cdd1d
	}
	return h ^ h>>29
}

// add reports whether the state is new.
func (v *visited) add(state []uint32) bool {
	h := digest(state)
	s := &v.shards[h%shards]
	h /= shards
	s.mu.Lock()
	defer s.mu.Unlock()
	mask := uint64(len(s.table) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		slot := s.table[i]
		if slot == 0 {
			s.table[i] = s.store(state, v.width) + 1
			break
		}
		if equal(s.at(slot-1, v.width), state) {
			return false
		}
	}
	if int(s.n)*4 > len(s.table)*3 {
		s.grow(v.width)
	}
	return true
}

func equal(a, b []uint32) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func (s *shard) at(n uint32, width int) []uint32 {
	from := int(n%page) * width
	return s.pages[n/page][from : from+width]
}

func (s *shard) store(state []uint32, width int) uint32 {
	if int(s.n/page) == len(s.pages) {
		s.pages = append(s.pages, make([]uint32, page*width))
	}
	copy(s.at(s.n, width), state)
	s.n++
	return s.n - 1
}

func (s *shard) grow(width int) {
	old := s.table
	s.table = make([]uint32, 2*len(old))
	mask := uint64(len(s.table) - 1)
	for n := range s.n {
		h := digest(s.at(n, width)) / shards
		i := h & mask
		for s.table[i] != 0 {
			i = (i + 1) & mask
		}
		s.table[i] = n + 1
	}
}

// read copies states from a shard, from one number to another.
func (v *visited) read(shard int, from, to uint32, into []uint32) []uint32 {
	s := &v.shards[shard]
	s.mu.Lock()
	defer s.mu.Unlock()
	into = into[:0]
	for n := from; n < to; n++ {
		into = append(into, s.at(n, v.width)...)
	}
	return into
}

// sizes is how many states there are in each shard.
func (v *visited) sizes() (n [shards]uint32, total int) {
	for i := range v.shards {
		s := &v.shards[i]
		s.mu.Lock()
		n[i] = s.n
		total += int(s.n)
		s.mu.Unlock()
	}
	return n, total
}

// bytes is how much memory the set takes.
func (v *visited) bytes() (total int) {
	for i := range v.shards {
		s := &v.shards[i]
		s.mu.Lock()
		total += len(s.pages)*page*v.width*4 + len(s.table)*4
		s.mu.Unlock()
	}
	return total
}
