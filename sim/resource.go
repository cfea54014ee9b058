package sim

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// Resource says how the resource treats fencing tokens.
type Resource uint8

const (
	// Plain takes every access.
	Plain Resource = iota
	// Fenced remembers the highest token that it has seen, on reads as well as on
	// writes, and refuses lower ones.
	Fenced
	// FencedWrites does so for writes only: a read leaves no trace in it.
	FencedWrites
)

var resourceNames = [...]string{"plain", "fenced", "fenced-writes"}

// String returns the resource's word in configurations and schedules.
func (r Resource) String() string { return resourceNames[r] }

// ParseResource is the inverse of String. Its error lists the words.
func ParseResource(s string) (Resource, error) {
	if i := slices.Index(resourceNames[:], s); i >= 0 {
		return Resource(i), nil
	}
	return 0, fmt.Errorf("unknown resource %q: it is one of %s", s, strings.Join(resourceNames[:], ", "))
}

// store is the resource that the lock protects, outside Redis: a number, or a cache of a
// database. It cannot check an access without a fencing token, and accepts it. A query of
// the database counts as a read, because the later write stores its result.
//
// Invariant: version and fence never decrease in a run.
type store struct {
	kind     Resource
	value    int64 // of a cache: the version of the database's entry that it has, 0 for none
	database int64 // the version that the database has; 0 without a database
	version  int64 // the number of writes accepted
	fence    int64 // the highest fencing token accepted
}

func (s *store) access(w *World, t *thread, o *process.Op) {
	t.Command++
	e := trace.Event{Kind: trace.KindRead, Command: t.Command, Ref: trace.None, Fence: o.Fence}
	looks := s.kind == Fenced || s.kind == FencedWrites && o.Kind == process.OpWrite
	if looks && o.Fence != 0 && o.Fence < s.fence {
		o.Err = process.ErrFenced
		e.Kind, e.Note = trace.KindReject, fmt.Sprintf("fence %d is older than %d", o.Fence, s.fence)
		w.event(t, &e)
		return
	}
	if looks {
		s.fence = max(s.fence, o.Fence)
	}
	if o.Kind == process.OpWrite {
		s.value = o.Value
		s.version++
		e.Kind = trace.KindWrite
	}
	o.Value = s.value
	if o.Kind == process.OpQuery {
		o.Value = s.database
		e.Kind = trace.KindQuery
	}
	e.Value, e.Version = o.Value, s.version
	w.event(t, &e)
}
