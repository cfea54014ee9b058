package intern

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// Visited is the set of all states that a search has come to. It keeps them
// whole: two states are one only if they are equal, and not if a digest of them
// is. It is divided into shards so that workers are seldom in each other's way, and
// most of what they ask is answered without a lock: a state that is known already
// stays where it is.
type Visited struct {
	width  int
	shards [Shards]shard
}

const (
	Shards = 32
	page   = 1 << 9 // states in a page
)

type shard struct {
	mu    sync.Mutex // of who adds
	n     uint32
	pages atomic.Pointer[[][]uint32]
	slots slots
	_     [32]byte // a cache line of its own
}

func NewVisited(width int) *Visited {
	v := &Visited{width: width}
	for i := range v.shards {
		v.shards[i].slots.begin()
		v.shards[i].pages.Store(new([][]uint32))
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

// AddAll adds states that stand one after the other. Nearly all the time that this
// takes is waiting for memory; so what will be needed is asked for before, for all of
// them, and the processor waits for many answers at once.
func (v *Visited) AddAll(states []uint32, digests []uint64) []uint64 {
	digests = digests[:0]
	for at := 0; at < len(states); at += v.width {
		digests = append(digests, digest(states[at:at+v.width]))
	}
	v.touch(digests)
	for i, h := range digests {
		v.add(states[i*v.width:(i+1)*v.width], h)
	}
	return digests
}

// touch reads the slots in which states of these digests may be, and then the states
// there.
func (v *Visited) touch(digests []uint64) (sum uint32) {
	var entries [64]uint64
	for len(digests) > 0 {
		n := min(len(digests), len(entries))
		for i, h := range digests[:n] {
			table := *v.shard(h).slots.table.Load()
			entries[i] = table[uint32(h)&uint32(len(table)-1)].Load()
		}
		for i, h := range digests[:n] {
			if e := entries[i]; e != 0 && uint32(e>>32) == uint32(h) {
				sum += v.shard(h).at(uint32(e)-1, v.width)[0]
			}
		}
		digests = digests[n:]
	}
	return sum
}

func (v *Visited) shard(digest uint64) *shard { return &v.shards[digest>>32%Shards] }

// add keeps a state of a digest, unless it is known.
func (v *Visited) add(state []uint32, digest uint64) {
	s, half := v.shard(digest), uint32(digest)
	if _, known := s.find(state, half); known {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	slot, known := s.find(state, half)
	if known {
		return
	}
	s.store(state)
	s.slots.store(slot, half, s.n)
}

// find is the slot in which a state is, or else the one in which it belongs.
func (s *shard) find(state []uint32, half uint32) (slot uint32, known bool) {
	table := *s.slots.table.Load()
	mask := uint32(len(table) - 1)
	for i := half & mask; ; i = (i + 1) & mask {
		switch entry := table[i].Load(); {
		case entry == 0:
			return i, false
		case uint32(entry>>32) == half && equal(s.at(uint32(entry)-1, len(state)), state):
			return i, true
		}
	}
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
	return (*s.pages.Load())[n/page][from : from+width]
}

// store keeps a state, which can be found once a slot has its number.
func (s *shard) store(state []uint32) {
	if pages := *s.pages.Load(); int(s.n) == len(pages)*page {
		more := append(pages, make([]uint32, page*len(state)))
		s.pages.Store(&more)
	}
	copy(s.at(s.n, len(state)), state)
	s.n++
}

// Read copies states from a shard, from one number to another. They were all there
// before the reader began.
func (v *Visited) Read(shard int, from, to uint32, into []uint32) []uint32 {
	into = into[:0]
	for n := from; n < to; n++ {
		into = append(into, v.shards[shard].at(n, v.width)...)
	}
	return into
}

// Sizes is how many states there are in each shard.
func (v *Visited) Sizes() (n [Shards]uint32, total int) {
	for i := range v.shards {
		s := &v.shards[i]
		s.mu.Lock()
		n[i] = s.n
		total += int(s.n)
		s.mu.Unlock()
	}
	return n, total
}

// Bytes is how much memory the set takes.
func (v *Visited) Bytes() (total int) {
	for i := range v.shards {
		s := &v.shards[i]
		total += len(*s.pages.Load())*page*v.width*4 + len(*s.slots.table.Load())*8
	}
	return total
}
