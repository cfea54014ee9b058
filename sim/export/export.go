// Package export turns a run into documents: a Mermaid sequence diagram, a
// picture of its timeline, and a page with a player in it.
//
// It stands under sim because a [sim.Trace] is all that it needs: it knows no
// scenarios, no terminal and no command line, and so any of them may call it.
// Text and JSON are the trace's own forms, and are not repeated here.
//
// Every function is pure: the same trace gives the same bytes. What a document
// says of a state comes from the trace's own fold over the events, and from
// nowhere else.
package export

import (
	"slices"

	"lockstep/sim"
	"lockstep/sim/trace"
)

// reading is a trace with the states between its events. A position counts
// events: at position k the first k of them have happened.
type reading struct {
	*trace.Trace
	states []*trace.State // by position, 0 to len(Events)
	proof  map[int]bool   // Seqs of events that prove a violation
	broken map[int][]int  // by Seq of the event that completed them: indices of Violations
	begins []int          // by client: index of the first event that it has a part in, or None
}

func read(t *trace.Trace) *reading {
	r := &reading{Trace: t, proof: map[int]bool{}, broken: map[int][]int{}}
	for range t.Clients {
		r.begins = append(r.begins, trace.None)
	}
	s := t.NewState()
	r.keep(s)
	for i := range t.Events {
		e := &t.Events[i]
		s.Apply(e)
		r.keep(s)
		if c := e.Client; c != trace.None && e.Kind != trace.KindStop && e.Kind != trace.KindDone && r.begins[c] == trace.None {
			r.begins[c] = i
		}
	}
	for i := range t.Violations {
		v := &t.Violations[i]
		for _, seq := range v.Events {
			r.proof[seq] = true
		}
		r.broken[v.Last()] = append(r.broken[v.Last()], i)
	}
	return r
}

// keep remembers a state. The list of touches only ever grows, so that all states
// can share it: copies of it would take the square of the run's length.
func (r *reading) keep(s *trace.State) {
	touches := s.Store.Touches
	s.Store.Touches = nil
	c := s.Clone()
	s.Store.Touches, c.Store.Touches = touches, touches[:len(touches):len(touches)]
	r.states = append(r.states, c)
}

// last is the position after the last event.
func (r *reading) last() int { return len(r.Events) }

// position is where a note stands that was said before the event with this Seq.
func (r *reading) position(seq int) int {
	i, _ := slices.BinarySearchFunc(r.Events, seq, func(e trace.Event, seq int) int { return e.Seq - seq })
	return i
}

// after is the position that the event with this Seq leads to.
func (r *reading) after(seq int) int { return min(r.position(seq)+1, r.last()) }

// doer is the client whose own doing an event is, or sim.None if it is a node's,
// the network's or the store's.
func (r *reading) doer(e *trace.Event) int {
	switch e.Kind {
	case trace.KindExecute, trace.KindExpire, trace.KindEvict, trace.KindFlush, trace.KindReplicate, trace.KindSync, trace.KindFailover,
		trace.KindUnreachable, trace.KindDown, trace.KindUp, trace.KindNodeStep, trace.KindLost, trace.KindNetwork:
		return trace.None
	}
	return e.Client
}

// asking reports whether the event belongs to the probe, which comes after the
// story and only asks whether the lock can still be had.
func (r *reading) asking(e *trace.Event) bool {
	return e.Client != trace.None && r.Clients[e.Client] == sim.Probe
}

// touches reports whether the event is an access to the resource, be it refused.
func touches(e *trace.Event) bool {
	return e.Kind == trace.KindRead || e.Kind == trace.KindWrite || e.Kind == trace.KindReject
}
