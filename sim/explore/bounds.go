package explore

import (
	"slices"

	"lockstep/sim/explore/space"
)

// Bounds delimit the schedules of a search. Its result holds within them, and says nothing of
// schedules beyond.
type Bounds = space.Bounds

// Budget is the number of faults of each kind that a schedule can have.
type Budget = space.Budget

// FaultKind is a kind of fault that a search can make.
type FaultKind = space.FaultKind

// The kinds of fault: see package space.
const (
	Crash       = space.Crash
	Pause       = space.Pause
	ReplyLost   = space.ReplyLost
	HoldRequest = space.HoldRequest
	Duplicate   = space.Duplicate
	Restart     = space.Restart
	ClientClock = space.ClientClock
	ServerClock = space.ServerClock
	Failover    = space.Failover
	Evict       = space.Evict
)

// Defaults are the bounds of a search unless others are asked for.
var Defaults = space.Defaults

// FaultKinds lists the names of all kinds of fault.
func FaultKinds() (names []string) {
	for k := range (Budget{}) {
		names = append(names, FaultKind(k).String())
	}
	return names
}

// ParseFaultKind is the inverse of String. It reports false if there is no such kind.
func ParseFaultKind(s string) (FaultKind, bool) {
	k := slices.Index(FaultKinds(), s)
	return FaultKind(max(0, k)), k >= 0
}

// Any is the number of cycles, or of faults of a kind, of a search that doesn't bound them.
const Any = space.Any

// Waits says when sleeps, and waits for replies that don't come, end.
type Waits = space.Waits

// WaitsEndAtWill are such as end at any time, sooner or later than they do.
const WaitsEndAtWill = space.WaitsEndAtWill

// MaxClients is the greatest number of clients in a search that counts them.
const MaxClients = space.MaxClients
