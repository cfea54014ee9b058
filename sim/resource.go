package sim

import (
	"errors"
	"fmt"
	"lockstep/sim/trace"
	"slices"
	"strings"
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

var errFenced = errors.New("fencing token is too old")

func (s *store) access(w *World, t *thread, o *op) {
	t.command++
	e := trace.Event{Kind: trace.KindRead, Command: t.command, Ref: trace.None, Fence: o.fence}
	looks := s.kind == Fenced || s.kind == FencedWrites && o.kind == opWrite
	if looks && o.fence != 0 && o.fence < s.fence {
		o.err = errFenced
		e.Kind, e.Note = trace.KindReject, fmt.Sprintf("fence %d is older than %d", o.fence, s.fence)
		w.event(t, &e)
		return
	}
	if looks {
		s.fence = max(s.fence, o.fence)
	}
	if o.kind == opWrite {
		s.value = o.value
		s.version++
		e.Kind = trace.KindWrite
	}
	o.value = s.value
	if o.kind == opQuery {
		o.value = s.database
		e.Kind = trace.KindQuery
	}
	e.Value, e.Version = o.value, s.version
	w.event(t, &e)
}
