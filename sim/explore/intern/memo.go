package intern

import (
	"hash/maphash"
	"math/bits"
	"sync"
	"sync/atomic"
)

// Memo keeps a value for each key, and gives keys ids from 1. It is safe for concurrent
// use, and finds a key that it has without a lock. A value is never replaced.
type Memo[K comparable, V any] struct {
	mu      sync.Mutex // held while a key is added
	seed    maphash.Seed
	Entries Chunks[entry[K, V]] // by id
	slots   slots
	Added   func(*K) // if set, it is called with each new key before that can be found
}

// entry is a key with its value.
type entry[K comparable, V any] struct {
	Key   K
	Value V
}

// NewMemo returns an empty memo.
func NewMemo[K comparable, V any]() *Memo[K, V] {
	m := new(Memo[K, V])
	m.Begin()
	return m
}

// Begin makes the zero Memo ready for use. It must be called once, before all other
// methods.
func (m *Memo[K, V]) Begin() {
	m.seed = maphash.MakeSeed()
	m.Entries.Add(entry[K, V]{}) // id 0 means none
	m.slots.begin()
}

// Get returns the value of a key, if it is known. The value must not be changed.
func (m *Memo[K, V]) Get(k K) (v *V, known bool) {
	_, e := m.find(&k, m.Digest(k))
	if e == nil {
		return nil, false
	}
	return &e.Value, true
}

// Put keeps a value, unless the key has one already, and returns the key's id.
func (m *Memo[K, V]) Put(k K, v V) uint32 {
	return m.Add(&k, m.Digest(k), v)
}

// Of returns the value of a memo's key, which it makes if it isn't known: twice at times, by workers that
// ask at the same time. As a method it would be compiled for every memo that a package sees.
func Of[K comparable, V any](m *Memo[K, V], k K, of func(K) V) V {
	half := m.Digest(k)
	if _, e := m.find(&k, half); e != nil {
		return e.Value
	}
	v := of(k)
	m.Add(&k, half, v)
	return v
}

// Add is Put with the key's digest, for callers that have computed it already. The memo
// keeps a copy of the key.
func (m *Memo[K, V]) Add(k *K, half uint32, v V) uint32 {
	if n, e := m.find(k, half); e != nil {
		return n
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	slot, e := m.find(k, half)
	if e != nil {
		return slot
	}
	n := m.Entries.Add(entry[K, V]{*k, v})
	if m.Added != nil {
		m.Added(&m.Entries.At(n).Key)
	}
	m.slots.store(slot, half, n)
	return n
}

// Len returns the number of keys.
func (m *Memo[K, V]) Len() int { return int(m.Entries.Count.Load()) - 1 }

// Digest returns the digest of a key, which differs from memo to memo and from run to run.
func (m *Memo[K, V]) Digest(k K) uint32 { return uint32(maphash.Comparable(m.seed, k)) }

// find returns the id of a key and its entry; or, if the key is unknown, the free slot for
// its id and nil.
func (m *Memo[K, V]) find(k *K, half uint32) (uint32, *entry[K, V]) {
	table := *m.slots.table.Load()
	mask := uint32(len(table) - 1)
	for i := half & mask; ; i = (i + 1) & mask {
		s := table[i].Load()
		if s == 0 {
			return i, nil
		}
		if uint32(s>>32) == half {
			if e := m.Entries.At(uint32(s)); e.Key == *k {
				return uint32(s), e
			}
		}
	}
}

// Likely returns the id that the key with this digest most likely has, or 0. It reads no
// key, and is meant for prefetching: the answer may be wrong.
func (m *Memo[K, V]) Likely(half uint32) uint32 {
	table := *m.slots.table.Load()
	if s := table[half&uint32(len(table)-1)].Load(); uint32(s>>32) == half {
		return uint32(s)
	}
	return 0
}

// slots is a hash table of ids with open addressing. The upper half of a slot is a part of
// the key's digest, so that few keys are compared in vain. One goroutine adds at a time.
// A reader that still has a table which has been replaced misses newer ids, and so an
// adder has to look again under the lock.
//
// Invariant: a slot is 0, or it never changes again.
// Invariant: at most three quarters of the slots are in use.
type slots struct {
	table atomic.Pointer[[]atomic.Uint64]
}

func (s *slots) begin() {
	table := make([]atomic.Uint64, 64)
	s.table.Store(&table)
}

// store puts an id, the highest so far, into a free slot, and doubles the table when it
// gets too full.
func (s *slots) store(slot, half, n uint32) {
	old := *s.table.Load()
	old[slot].Store(uint64(half)<<32 | uint64(n))
	if int(n)*4 <= len(old)*3 {
		return
	}
	table := make([]atomic.Uint64, 2*len(old))
	mask := uint32(len(table) - 1)
	for i := range old {
		s := old[i].Load()
		if s == 0 {
			continue
		}
		at := uint32(s>>32) & mask
		for table[at].Load() != 0 {
			at = (at + 1) & mask
		}
		table[at].Store(s)
	}
	s.table.Store(&table)
}

// Table interns values: equal values have equal ids, from 1. A packed state consists of
// such ids, which makes it small and quick to compare.
type Table[K comparable] struct{ Memo[K, struct{}] }

// NewTable returns an empty table.
func NewTable[K comparable]() *Table[K] {
	t := new(Table[K])
	t.Begin()
	return t
}

// ID returns the id of a value, which is new if the table doesn't have it yet.
func (t *Table[K]) ID(k K) uint32 { return t.Put(k, struct{}{}) }

// Value returns the value with an id. It must not be changed.
func (t *Table[K]) Value(id uint32) *K { return &t.Entries.At(id).Key }

// Chunks is a list whose elements never move. One goroutine adds at a time; elements that
// were added are read without a lock. It holds up to 2^26 elements, in pieces each of which is as
// long as all before it, so that a list of a few takes little room.
//
// Invariant: a piece is made before its elements are counted, and never again.
type Chunks[V any] struct {
	Count  atomic.Uint32 // of elements
	pieces [27 - firstBits][]V
}

// The first piece has 2^firstBits elements.
const firstBits = 5

// pieceOf returns the piece that has an index.
func pieceOf(i uint32) int { return bits.Len32(i >> firstBits) }

// before returns the number of elements before a piece.
func before(piece int) uint32 { return 1 << (piece + firstBits - 1) &^ (1<<firstBits - 1) }

// Add appends an element, and returns its index. The caller makes sure that only one
// goroutine does so at a time.
func (c *Chunks[V]) Add(v V) uint32 {
	n := c.Count.Load()
	piece := pieceOf(n)
	p := &c.pieces[piece]
	if *p == nil {
		*p = make([]V, max(1<<firstBits, before(piece)))
	}
	(*p)[n-before(piece)] = v
	c.Count.Store(n + 1)
	return n
}

// At returns the element with an index that Add has returned.
func (c *Chunks[V]) At(i uint32) *V {
	piece := pieceOf(i)
	return &c.pieces[piece][i-before(piece)]
}
