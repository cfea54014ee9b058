// Package counts has the counts of a search besides its states: near misses, and whether anything happened at all.
package counts

import "lockstep/sim/explore/bounds"

// Stats are the counts of a worker. They are no part of a state.
type Stats struct {
	Near
	Extended bool   // some lease was extended
	Stuck    bool   // at some schedule's end nobody has the lock and nobody can have it, and no record is to blame
	Asleep   string // where a client waits for ever while nothing else happens
	Used     [bounds.FaultKinds]bool
}

// Near counts the events that kept a lock from breaking, over all transitions.
type Near struct {
	Refused  int64 // acquisitions that were refused
	Compared int64 // comparisons in a release that found another's token, or none
	NotHeld  int64 // releases that reported so
	Fenced   int64 // accesses that the resource refused
}

// Since multiplies the counts since an earlier time by times.
func (n *Near) Since(before Near, times int) {
	more := int64(times - 1)
	n.Refused += more * (n.Refused - before.Refused)
	n.Compared += more * (n.Compared - before.Compared)
	n.NotHeld += more * (n.NotHeld - before.NotHeld)
	n.Fenced += more * (n.Fenced - before.Fenced)
}

// Add adds another worker's counts.
func (st *Stats) Add(o *Stats) {
	st.Refused += o.Refused
	st.NotHeld += o.NotHeld
	st.Compared += o.Compared
	st.Fenced += o.Fenced
	st.Extended = st.Extended || o.Extended
	st.Stuck = st.Stuck || o.Stuck
	if st.Asleep == "" || o.Asleep != "" && o.Asleep < st.Asleep {
		st.Asleep = o.Asleep
	}
	for i := range st.Used {
		st.Used[i] = st.Used[i] || o.Used[i]
	}
}
