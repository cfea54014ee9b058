package intern

// MaxList is the number of items that a list can have.
const MaxList = 8

// Lists interns lists of up to MaxList items. The id of the empty list is 0.
type Lists[V comparable] struct{ ids *Table[listOf[V]] }

// listOf is a list as a comparable value.
//
// Invariant: items[n:] are zero.
type listOf[V comparable] struct {
	n     int
	items [MaxList]V
}

// NewLists returns an empty table of lists.
func NewLists[V comparable]() *Lists[V] { return &Lists[V]{NewTable[listOf[V]]()} }

// Get returns the list with an id. It must not be changed.
func (l *Lists[V]) Get(id uint32) []V {
	if id == 0 {
		return nil
	}
	v := l.ids.Value(id)
	return v.items[:v.n]
}

// Put returns the id of a list, or reports that it is too long.
func (l *Lists[V]) Put(items []V) (id uint32, fits bool) {
	if len(items) == 0 {
		return 0, true
	}
	if len(items) > MaxList {
		return 0, false
	}
	var v listOf[V]
	v.n = copy(v.items[:], items)
	return l.ids.ID(v), true
}
