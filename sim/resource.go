package sim

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// Resource is how the resource treats fencing tokens.
type Resource uint8

const (
	// Plain takes every access.
	Plain Resource = iota
	// Fenced remembers the highest token that it has seen, on reads as well as on
	// writes, and refuses lower ones.
	Fenced
	// FencedWrites does so for writes only: a reader leaves no mark.
	FencedWrites
)

var resourceNames = [...]string{"plain", "fenced", "fenced-writes"}

// String is the resource as configurations and schedules write it.
func (r Resource) String() string { return resourceNames[r] }

// ParseResource is the inverse of String.
func ParseResource(s string) (Resource, error) {
	if i := slices.Index(resourceNames[:], s); i >= 0 {
		return Resource(i), nil
	}
	return 0, fmt.Errorf("unknown resource %q: it is one of %s", s, strings.Join(resourceNames[:], ", "))
}

// store is the resource that the lock protects, outside Redis: a number, or the
// version that a cache has (0: none) of what a database holds. An access without
// a fencing token it cannot check, and lets pass. A query of the database counts
// as a read: what is written later comes from there.
type store struct {
	kind     Resource
	value    int64
	database int64
	version  int64
	fence    int64
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
