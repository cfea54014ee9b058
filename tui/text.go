package tui

import (
	"fmt"

	"lockstep/sim"
	"lockstep/sim/explore"
)

// codeMeanings explains the verdicts' codes.
func codeMeanings() []meaning {
	var m []meaning
	for _, c := range sim.Codes {
		m = append(m, meaning{c.String(), c.Name()})
	}
	return m
}

// boundsWords says what a search is over.
func boundsWords(b *explore.Bounds) string {
	text := fmt.Sprintf("%s, %s, %s each", b.Strategy.Name, plural(b.Clients, "client"), plural(b.Cycles, "cycle"))
	if b.Nodes > 1 {
		text += ", " + plural(b.Nodes, "node")
	}
	if b.Resource != sim.Plain {
		text += ", resource " + b.Resource.String()
	}
	if b.Checks {
		text += ", callers check their lease"
	}
	if b.Extend {
		text += ", callers extend their lease"
	}
	return text + "; " + faultWords(b)
}

// faultWords says how much may go wrong.
func faultWords(b *explore.Bounds) string {
	if b.Faults == (explore.Budget{}) {
		return "no faults"
	}
	return "at most " + b.Faults.String()
}

func costWords(c explore.Cost) string {
	faults := "no fault"
	if c.Faults > 0 {
		faults = plural(c.Faults, "fault")
	}
	return faults + ", " + pluralES(c.Switches, "switch") + ", " + plural(c.Steps, "step")
}
