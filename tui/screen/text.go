package screen

import (
	"fmt"
	"strings"

	"lockstep/scenarios"
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

// BoundsText describes the bounds of a search.
func BoundsText(b *explore.Bounds) string {
	cycles := draw.Plural(b.Cycles, "cycle")
	if b.Cycles == explore.Any {
		cycles = "any number of cycles"
	}
	text := fmt.Sprintf("%s, %s, %s each", b.Strategy.Name, b.Many(), cycles)
	if b.Tries > 1 {
		text += fmt.Sprintf(", %d tries in each", b.Tries)
	}
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

// CostText describes a cost: faults, then switches, then steps.
func CostText(c explore.Cost) string {
	faults := "no fault"
	if c.Faults > 0 {
		faults = draw.Plural(c.Faults, "fault")
	}
	return faults + ", " + draw.PluralES(c.Switches, "switch") + ", " + draw.Plural(c.Steps, "step")
}

// sentence is a clause as a sentence: an author writes it in small letters, behind a colon.
func sentence(text string) string {
	if text == "" || strings.ContainsAny(text[len(text)-1:], ".!?)") {
		return trace.Capital(text)
	}
	return trace.Capital(text) + "."
}

// Reason is why a scenario expects its verdict of a lock. Where the scenario states it of
// another lock that this one is like, the reason begins by naming that one. It is empty if
// the scenario states none.
func Reason(s *scenarios.Scenario, strategy string) string {
	why := sentence(s.Because(strategy))
	if like := s.ExpectsLike(strategy); like != "" && why != "" {
		return "As " + like + ": " + why
	}
	return why
}
