package explore

import (
	"strings"
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
			parts = append(parts, Kind(k).Words(2))
		}
	}
	parts = append(parts, "clocks that run at another rate", "evictions", "slow and cut links", "hung threads",
		"callers that ask again when they are refused")
	return strings.Join(parts, ", ")
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
