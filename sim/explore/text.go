package explore

import (
	"slices"
	"strings"

	"lockstep/sim"
)

// Caller is what the callers do with a lease that they have, in one word.
func (b *Bounds) Caller() string {
	switch {
	case b.Checks:
		return "checks"
	case b.Extend:
		return "extends"
	}
	return "plain"
}

// Outside says what is in no schedule of a search within the bounds: the kinds of
// fault that the budget has none of, and those that no search can make.
func (b *Bounds) Outside() string {
	var parts []string
	for k, n := range b.Faults {
		if n == 0 {
			parts = append(parts, FaultKind(k).Words(2))
		}
	}
	parts = append(parts, "clocks that run at another rate")
	parts = append(parts, unsearched()...)
	return strings.Join(append(parts, "callers that ask again when they are refused"), ", ")
}

// unsearched are the engine's kinds of fault that are in no schedule of any search. A
// kind that only puts something right is not missed, nor are a database's: there is no
// cache in a search.
func unsearched() (many []string) {
	covered := map[string]bool{}
	for i := range choiceRows {
		for _, f := range choiceRows[i].makes() {
			covered[sim.SpecOf(f).Word] = true
		}
	}
	for _, s := range sim.Faults() {
		if !covered[s.Word] && !s.Ends && !s.Cache && s.Step != "" && !slices.Contains(many, s.Many) {
			many = append(many, s.Many)
		}
	}
	return many
}

// Wrong lists what goes wrong in the counterexample.
func (c *Counterexample) Wrong() string {
	var texts []string
	for _, f := range c.Faults {
		texts = append(texts, f.Text)
	}
	if len(texts) == 0 {
		return "no fault at all"
	}
	return strings.Join(texts, "; ")
}
