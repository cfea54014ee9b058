package intern

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// Visited is the visited set: all packed states that a search has reached. It keeps them
// whole, so two states are taken for one only if they are equal, and not if their digests
// are. It is safe for concurrent use. Workers seldom contend for the lock of one of its
// shards, and a state that is in the set already is found without a lock.
type Visited struct {
	width  int // of a state, in ids
	shards [Shards]shard
}

const (
	// Shards is the number of parts into which the set is divided by the first ids of states.
	Shards = 1 << shardBits

	shardBits = 7

	page = 1 << 9 // states in a page
)

// shard is a part of the set. A state's slot holds its index plus 1.
//
// Invariant: states are only added, and none of them moves.
type shard struct {
	mu    sync.Mutex // held while a state is added
	n     uint32     // states
	pages atomic.Pointer[[][]uint32]
	slots slots
	_     [32]byte // fills the cache line, so that shards don't share one
}

// NewVisited returns an empty set of states that consist of width ids each.
func NewVisited(width int) *Visited {
	v := &Visited{width: width}
	for i := range v.shards {
		v.shards[i].slots.begin()
		v.shards[i].pages.Store(new([][]uint32))
	}
	return v
}

// digest spreads states over shards, by the bits from the 32nd on, and slots, by those below. States that
// begin with the same id, that of their first client, are in one shard. A search follows one shard
// after another, so it comes to them together, and to the parts that they share; and most of their
// successors are in that shard, too. All that is then in the processor's cache.
func digest(state []uint32) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, w := range state {
		hi, lo := bits.Mul64(h^uint64(w), 0xff51afd7ed558ccd)
		h = hi ^ lo ^ 0x2545f4914f6cdd1d
	}
	return uint64(uint32(h^h>>29)) | uint64(state[0]*0x9e3779b9>>(32-shardBits))<<32
}

// AddAll adds states, which are concatenated in one slice, and drops those that the set has
// already. It returns the digests slice for the next call to reuse. Nearly all its time is
// spent waiting for memory, so it prefetches the slots and states of all of them, for the
// processor to wait for many at once.
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

// touch prefetches the first slots for these digests, and then the states there. The sum
// has no meaning: it keeps the compiler from dropping the reads.
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

func (v *Visited) shard(digest uint64) *shard { return &v.shards[digest>>32] }

// add adds a state with its digest, unless the set has it.
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

// find returns the slot of a state, or the free slot for it if it is unknown.
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

// store appends a state, which can be found only once it has a slot.
func (s *shard) store(state []uint32) {
	if pages := *s.pages.Load(); int(s.n) == len(pages)*page {
		more := append(pages, make([]uint32, page*len(state)))
		s.pages.Store(&more)
	}
	copy(s.at(s.n, len(state)), state)
	s.n++
}

// Read copies the states of a shard from one index up to another, which is not included,
// into a slice that it reuses. They must all have been added before the reader began: see
// Sizes.
func (v *Visited) Read(shard int, from, to uint32, into []uint32) []uint32 {
	into = into[:0]
	for n := from; n < to; n++ {
		into = append(into, v.shards[shard].at(n, v.width)...)
	}
	return into
}

// State returns a state of a shard by its index, under the conditions of Read. It must not be
// changed.
func (v *Visited) State(shard int, n uint32) []uint32 { return v.shards[shard].at(n, v.width) }

// Clear takes all states out, and keeps the memory for others. Nobody may add or read states
// meanwhile.
func (v *Visited) Clear() {
	for i := range v.shards {
		s := &v.shards[i]
		s.mu.Lock()
		s.n = 0
		clear(*s.slots.table.Load())
		s.mu.Unlock()
	}
}

// Sizes returns the number of states in each shard, and in all of them.
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

// Bytes returns the memory that the states and their slots take, in bytes.
func (v *Visited) Bytes() (total int) {
	for i := range v.shards {
		s := &v.shards[i]
		total += len(*s.pages.Load())*page*v.width*4 + len(*s.slots.table.Load())*8
	}
	return total
}
