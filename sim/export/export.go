// Package export turns a run into documents: a Mermaid sequence diagram, a
// picture of its timeline, and a page with a player in it.
//
// It stands under sim because it needs only a [trace.Trace]: it knows no
// scenarios, no terminal and no command line, and so any of them may call it.
// Text and JSON are the trace's own forms, and are not repeated here.
//
// Every function is pure: the same trace gives the same bytes. A document describes states
// only by the trace's own fold over the events.
package export

import (
	"lockstep/sim/timeline"
	"lockstep/sim/trace"
)

// annotated is a run's timeline, with its violations.
type annotated struct {
	*timeline.Timeline
	broken map[int][]int // by Seq of the event that completed them: indices of Violations
}

func read(t *trace.Trace) *annotated {
	r := &annotated{Timeline: timeline.New(t), broken: map[int][]int{}}
	for i := range t.Violations {
		seq := t.Violations[i].Last()
		r.broken[seq] = append(r.broken[seq], i)
	}
	return r
}

// takesPart reports whether a client has a part in the run: a picture of the
// whole of it leaves out those that never begin.
func (r *annotated) takesPart(client int) bool { return r.Begins[client] != trace.None }
