package explore

import (
	"sync"
	"sync/atomic"
)

// interned gives equal values equal numbers, from 1, and finds the value of a
// number without a lock. States are made of such numbers: that is what makes
// them small, and quick to compare.
type interned[K comparable] struct {
	mu     sync.Mutex
	ids    map[K]uint32
	values chunks[K]
}

func newInterned[K comparable]() *interned[K] {
	t := &interned[K]{ids: map[K]uint32{}}
	var zero K
	t.values.add(zero) // number 0 is no value
	return t
}

func (t *interned[K]) id(k K) uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	id, known := t.ids[k]
	if !known {
		id = t.values.add(k)
		t.ids[k] = id
	}
	return id
}

func (t *interned[K]) value(id uint32) *K { return t.values.at(id) }

// cache is one worker's view of a table: what it has asked for once it needn't
// wait for again.
type cache[K comparable] struct {
	ids   map[K]uint32
	table *interned[K]
}

func (c *cache[K]) id(k K) uint32 {
	if id, known := c.ids[k]; known {
		return id
	}
	id := c.table.id(k)
	c.ids[k] = id
	return id
}

func (t *interned[K]) cached() cache[K] { return cache[K]{ids: map[K]uint32{}, table: t} }

// chunks is a list that grows without moving what is in it. One writes at a time;
// whoever has been given an index can read it without a lock.
type chunks[V any] struct {
	n    atomic.Uint32
	list [1 << 14]atomic.Pointer[[chunk]V]
}

const chunk = 1 << 12

func (c *chunks[V]) add(v V) uint32 {
	n := c.n.Load()
	p := c.list[n/chunk].Load()
	if p == nil {
		p = new([chunk]V)
		c.list[n/chunk].Store(p)
	}
	p[n%chunk] = v
	c.n.Store(n + 1)
	return n
}

func (c *chunks[V]) at(i uint32) *V { return &c.list[i/chunk].Load()[i%chunk] }
