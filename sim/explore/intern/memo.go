package intern

import (
	"hash/maphash"
	"sync"
	"sync/atomic"
)

// Memo remembers a value for each key, and numbers the keys from 1. Workers share
// it: what is known is found without a lock, and no worker has to learn again what
// another one has.
type Memo[K comparable, V any] struct {
	mu      sync.Mutex // of who adds
	seed    maphash.Seed
	Entries Chunks[entry[K, V]]
	slots   slots
	Added   func(*K) // hears of every new key, before it can be found
}

type entry[K comparable, V any] struct {
	Key   K
	Value V
}

func NewMemo[K comparable, V any]() *Memo[K, V] {
	m := new(Memo[K, V])
	m.Begin()
	return m
}

func (m *Memo[K, V]) Begin() {
	m.seed = maphash.MakeSeed()
	m.Entries.Add(entry[K, V]{}) // number 0 is nobody's
	m.slots.begin()
}

// Get is what is remembered for a key.
func (m *Memo[K, V]) Get(k K) (v *V, known bool) {
	_, e := m.find(&k, m.Digest(k))
	if e == nil {
		return nil, false
	}
	return &e.Value, true
}

// Put remembers a value, unless there is one for this key already, and returns the
// key's number.
func (m *Memo[K, V]) Put(k K, v V) uint32 {
	return m.Add(&k, m.Digest(k), v)
}

// Add is put for who knows the digest.
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

func (m *Memo[K, V]) Len() int { return int(m.Entries.Count.Load()) - 1 }

func (m *Memo[K, V]) Digest(k K) uint32 { return uint32(maphash.Comparable(m.seed, k)) }

// find is the number of a key and what belongs to it, or else the slot in which its
// number would be.
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

// Likely is the number of the key that has this digest, for all that can be told
// without a look at it; or 0.
func (m *Memo[K, V]) Likely(half uint32) uint32 {
	table := *m.slots.table.Load()
	if s := table[half&uint32(len(table)-1)].Load(); uint32(s>>32) == half {
		return uint32(s)
	}
	return 0
}

// slots are an open addressing table of numbers. Above each stands half of a digest,
// so that few are compared in vain. One adds at a time. Who looks into a table that
// has been replaced misses what is new, and has to look again before adding it.
type slots struct {
	table atomic.Pointer[[]atomic.Uint64]
}

func (s *slots) begin() {
	table := make([]atomic.Uint64, 64)
	s.table.Store(&table)
}

// store puts a number, the highest so far, into a slot that is free.
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

// Table gives equal values equal numbers, from 1, and finds the value of a
// number. States are made of such numbers: that is what makes them small, and quick
// to compare.
type Table[K comparable] struct{ Memo[K, struct{}] }

func NewTable[K comparable]() *Table[K] {
	t := new(Table[K])
	t.Begin()
	return t
}

func (t *Table[K]) ID(k K) uint32 { return t.Put(k, struct{}{}) }

func (t *Table[K]) Value(id uint32) *K { return &t.Entries.At(id).Key }

// Chunks is a list that grows without moving what is in it. One writes at a time;
// whoever has been given an index can read it without a lock.
type Chunks[V any] struct {
	Count atomic.Uint32
	list  [1 << 14]atomic.Pointer[[chunk]V]
}

const chunk = 1 << 12

func (c *Chunks[V]) Add(v V) uint32 {
	n := c.Count.Load()
	p := c.list[n/chunk].Load()
	if p == nil {
		p = new([chunk]V)
		c.list[n/chunk].Store(p)
	}
	p[n%chunk] = v
	c.Count.Store(n + 1)
	return n
}

func (c *Chunks[V]) At(i uint32) *V { return &c.list[i/chunk].Load()[i%chunk] }
