package space

import "lockstep/sim/explore/bounds"

// The bounds of a search, and the kinds of fault that its budget counts.
type (
	Bounds    = bounds.Bounds
	Budget    = bounds.Budget
	FaultKind = bounds.FaultKind
)
