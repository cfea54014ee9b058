package trace

import (
	"fmt"
	"strings"
)

// AnswerTo is the answer to a question of a script's after a prefix of the run. It is about the holders, the record or the
// verdict.
func (t *Trace) AnswerTo(about string, seq int) string {
	if about == "verdict" {
		return t.Verdict().String()
	}
	state := t.StateAt(seq - 1)
	var parts []string
	switch about {
	case "holders":
		for i, c := range state.Clients {
			if c.Lease.Believed {
				parts = append(parts, t.Clients[i])
			}
		}
	case "record":
		for i := range state.Nodes {
			if r := state.LockRecord(i); r != nil {
				parts = append(parts, t.Nodes[i]+": "+r.Value+t.whose(r))
			}
		}
	}
	switch {
	case len(parts) > 0:
		return strings.Join(parts, ", ")
	case about == "record":
		return NoRecord
	}
	return "nobody"
}

// whose is the owner of a record, which its value may not reveal.
func (t *Trace) whose(r *HeldRecord) string {
	if r.Owner == Nobody {
		return ""
	}
	return fmt.Sprintf(" (%s's)", t.Clients[r.Owner.Client])
}
