// Package naming gives clients, and the series of tokens that they draw, other names: situations that differ in
// names alone are the same in a search without bounds. It knows nothing of states.
package naming

import (
	"cmp"
	"math/bits"
	"slices"
)

// Series are the tokens that a client draws in one cycle. A search without a bound on cycles
// gives each cycle the first series of which nothing is left anywhere, so that situations
// which differ in the names of tokens alone are equal: a token that occurs nowhere is as good
// as new. This rests on the lock's comparing tokens for nothing but equality, which
// a search checks.
type Series uint8

const (
	// SeriesEach is the number of series that each client has.
	SeriesEach = 16
	// SeriesClients is the number of clients that have series.
	SeriesClients = 4
	// AllSeries is the number of series of all clients.
	AllSeries = SeriesClients * SeriesEach
)

// SeriesSet is a set of the series of all clients, a bit each: that of a client's nth series
// is the client's index times SeriesEach, plus n.
type SeriesSet uint64

// Free returns the first series of a client that is not in the set, or false if all are.
func (s SeriesSet) Free(client int) (Series, bool) {
	used := uint16(s >> (client * SeriesEach))
	n := bits.TrailingZeros16(^used)
	return Series(n), n < SeriesEach
}

// With returns the set with a client's series, too.
func (s SeriesSet) With(client int, n Series) SeriesSet { return s | 1<<(client*SeriesEach+int(n)) }

// All lists the bits of the set, in ascending order.
func (s SeriesSet) All(yield func(bit int) bool) {
	for ; s != 0; s &= s - 1 {
		if !yield(bits.TrailingZeros64(uint64(s))) {
			return
		}
	}
}

// Renaming gives clients, and the series of their tokens, each other's names.
//
// Invariant: both are permutations, and a client's series become series of the client that
// it becomes.
type Renaming struct {
	Clients [SeriesClients]uint8 // by client: the one that it becomes
	Series  [AllSeries]uint8     // by bit of a [SeriesSet]: the bit that it becomes
}

// SameClients leaves all clients their names.
var SameClients = [SeriesClients]uint8{0, 1, 2, 3}

// Interchanges returns the renamings that give the first n clients each other's names in another order, and leave the
// series of each in theirs.
func Interchanges(n int) (all []*Renaming) {
	var give func(to [SeriesClients]uint8, i int)
	give = func(to [SeriesClients]uint8, i int) {
		if i == n && to != SameClients {
			all = append(all, ofClients(to))
		}
		for j := i; j < n; j++ {
			to[i], to[j] = to[j], to[i]
			give(to, i+1)
			to[i], to[j] = to[j], to[i]
		}
	}
	give(SameClients, 0)
	return all
}

// ofClients returns the renaming that gives clients these names, and leaves the series of each in their order.
func ofClients(to [SeriesClients]uint8) *Renaming {
	r := &Renaming{Clients: to}
	for bit := range uint8(AllSeries) {
		r.Series[bit] = to[bit/SeriesEach]*SeriesEach + bit%SeriesEach
	}
	return r
}

// Reversals returns two renamings: one that reverses the order of the first n clients, and
// one that reverses the order of each client's series.
func Reversals(n int) [2]*Renaming {
	reversed := SameClients
	slices.Reverse(reversed[:n])
	series := Renaming{Clients: SameClients}
	for bit := range uint8(AllSeries) {
		series.Series[bit] = bit - bit%SeriesEach + SeriesEach - 1 - bit%SeriesEach
	}
	return [2]*Renaming{ofClients(reversed), &series}
}

// Keeps reports whether the renaming leaves all series of a set, and their clients, alone.
func (r *Renaming) Keeps(set SeriesSet) bool {
	for bit := range set.All {
		if int(r.Series[bit]) != bit {
			return false
		}
	}
	return true
}

// On returns a set under its new names.
func (r *Renaming) On(set SeriesSet) (renamed SeriesSet) {
	for bit := range set.All {
		renamed |= 1 << r.Series[bit]
	}
	return renamed
}

// Client returns the new name of a client. One that has no series, as the probe has none beside four, keeps its own.
func (r *Renaming) Client(i int) int {
	if i < SeriesClients {
		return int(r.Clients[i])
	}
	return i
}

// Number returns the number of a client's nth acquisition under its new name; that of none, 0,
// stays.
func (r *Renaming) Number(client int, n uint16) uint16 {
	if n == 0 {
		return 0
	}
	return uint16(r.Series[client*SeriesEach+int(n)-1])%SeriesEach + 1
}

// Conn returns the number of a connection, of which each client has 16, under its client's new name.
func (r *Renaming) Conn(conn int) int {
	if client := conn >> 4; client < SeriesClients {
		return int(r.Clients[client])<<4 | conn&15
	}
	return conn
}

// Namer makes a Renaming: series get the first names that their clients have left,
// in the order in which they are named.
type Namer struct {
	renaming Renaming
	named    SeriesSet            // that have their new names
	next     [SeriesClients]uint8 // name of each client's series
}

// Begin gives clients new names, and takes back those of series.
func (g *Namer) Begin(clients [SeriesClients]uint8) {
	g.renaming.Clients, g.named = clients, 0
	clear(g.next[:])
}

// Name gives those series of a set that have none yet the next names of their clients.
func (g *Namer) Name(set SeriesSet) {
	for bit := range (set &^ g.named).All {
		client := bit / SeriesEach
		g.renaming.Series[bit] = g.renaming.Clients[client]*SeriesEach + g.next[client]
		g.next[client]++
	}
	g.named |= set
}

// Client returns the new name of a client.
func (g *Namer) Client(i int) uint8 { return g.renaming.Clients[i] }

// Complete names all other series, and returns the renaming.
func (g *Namer) Complete() *Renaming {
	g.Name(^SeriesSet(0))
	return &g.renaming
}

// Names are the new names of some clients and series, in the order of their old ones. They tell renamings of
// the same clients and series apart.
type Names [26]uint8

// Names returns the new names of a set of clients, a bit each, and of a set of series. same is whether they are the
// old ones, and fit whether there is room for all of them.
func (g *Namer) Names(clients uint8, series SeriesSet) (names Names, same, fit bool) {
	same = true
	n := 0
	for ; clients != 0; clients &= clients - 1 {
		i := bits.TrailingZeros8(clients)
		names[n] = g.renaming.Clients[i]
		same = same && int(names[n]) == i
		n++
	}
	fit = n+bits.OnesCount64(uint64(series)) <= len(names)
	for ; series != 0; series &= series - 1 {
		bit := bits.TrailingZeros64(uint64(series))
		to := g.renaming.Series[bit]
		same = same && int(to) == bit
		if fit {
			names[n] = to
			n++
		}
	}
	return names, same, fit
}

// NextOrder puts clients that are in ascending order of their keys into the next such order, by
// lexicographic order of those with equal keys, and reports whether there is one.
func NextOrder(order []uint8, keys []uint64) bool {
	ascending := func(a, b uint8) int { return cmp.Or(cmp.Compare(keys[a], keys[b]), cmp.Compare(a, b)) }
	for i := len(order) - 2; i >= 0; i-- {
		for j := len(order) - 1; j > i; j-- {
			if a, b := order[i], order[j]; keys[a] == keys[b] && a < b {
				order[i], order[j] = b, a
				slices.SortFunc(order[i+1:], ascending)
				return true
			}
		}
	}
	return false
}
