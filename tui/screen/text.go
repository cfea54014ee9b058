package screen

import (
	"fmt"

	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/trace"
	"lockstep/tui/draw"
)

// CodeSigns explains the verdicts' codes.
func CodeSigns() []draw.Sign {
	var m []draw.Sign
	for _, c := range trace.Codes {
		m = append(m, draw.Sign{c.String(), c.Name()})
	}
	return m
}

// BoundsText is the bounds of a search in words.
func BoundsText(b *explore.Bounds) string {
	text := fmt.Sprintf("%s, %s, %s each", b.Strategy.Name, draw.Plural(b.Clients, "client"), draw.Plural(b.Cycles, "cycle"))
	if b.Nodes > 1 {
		text += ", " + draw.Plural(b.Nodes, "node")
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
	return text + "; " + FaultsText(b)
}

// FaultsText says how much may go wrong.
func FaultsText(b *explore.Bounds) string {
	if b.Faults == (explore.Budget{}) {
		return "no faults"
	}
	return "at most " + b.Faults.String()
}

// CostText is a cost in words: faults, then switches, then steps.
func CostText(c explore.Cost) string {
	faults := "no fault"
	if c.Faults > 0 {
		faults = draw.Plural(c.Faults, "fault")
	}
	return faults + ", " + draw.PluralES(c.Switches, "switch") + ", " + draw.Plural(c.Steps, "step")
}
