package sim

import (
	"errors"
	"fmt"
)

// store is the resource that the lock protects: one number, outside Redis, that
// every holder reads, adds to, and writes back. A store that checks remembers
// the highest fencing token that it has seen, on reads as well as on writes, and
// refuses lower ones. An access without a token it cannot check, and lets pass.
type store struct {
	checks  bool
	value   int64
	version int64
	fence   int64
}

var errFenced = errors.New("fencing token is too old")

func (s *store) access(w *World, t *thread, o *op) {
	t.command++
	e := Event{Kind: KindRead, Command: t.command, Ref: None, Fence: o.fence}
	if s.checks && o.fence != 0 && o.fence < s.fence {
		o.err = errFenced
		e.Kind, e.Note = KindReject, fmt.Sprintf("fence %d is older than %d", o.fence, s.fence)
		w.event(t, e)
		return
	}
	s.fence = max(s.fence, o.fence)
	if o.kind == opWrite {
		s.value = o.value
		s.version++
		e.Kind = KindWrite
	}
	o.value = s.value
	e.Value, e.Version = s.value, s.version
	w.event(t, e)
}
