package timeline

import (
	"testing"

	"lockstep/sim/fault"
	"lockstep/sim/trace"
)

// Every kind of fault can be seen in a timeline: by the mark of the event that it
// leaves, or by a bar that changes there. One that leaves no event has a sentence for
// the narration, and one that ends a run ends its bars.
func TestEveryFaultIsSeen(t *testing.T) {
	for _, f := range fault.Kinds() {
		switch r := table[f.Event]; {
		case f.Word == fault.Drain{}.String():
		case f.Event == trace.KindNone:
			if f.Says == "" {
				t.Errorf("%s leaves neither an event nor a sentence", f.Word)
			}
		case r.mark == NoMark && r.why == "":
			t.Errorf("%s leaves an event of kind %s, which has neither a mark nor a bar", f.Word, f.Event)
		}
	}
}
