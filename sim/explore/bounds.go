package explore

import (
	"slices"

	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/offers"
)

// Bounds delimit the schedules of a search. Its result holds within them, and says nothing of
// schedules beyond.
type Bounds = bounds.Bounds

// Budget is the number of faults of each kind that a schedule can have.
type Budget = bounds.Budget

// FaultKind is a kind of fault that a search can make.
type FaultKind = bounds.FaultKind

// The kinds of fault: see package space.
const (
	Crash       = bounds.Crash
	Pause       = bounds.Pause
	ReplyLost   = bounds.ReplyLost
	HoldRequest = bounds.HoldRequest
	Duplicate   = bounds.Duplicate
	Restart     = bounds.Restart
	ClientClock = bounds.ClientClock
	ServerClock = bounds.ServerClock
	Failover    = bounds.Failover
	Evict       = bounds.Evict
)

// Defaults are the bounds of a search unless others are asked for.
var Defaults = bounds.Defaults

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

// KindOf returns the kind of fault that one of the engine's is in a search, or is a part of: see [offers.KindOf].
var KindOf = offers.KindOf

// Offer is a fault that a person who schedules by hand can choose from a menu.
type Offer = offers.Offer

// Offers lists the faults that a client or a node can have within some bounds: see [offers.All].
var Offers = offers.All

// Any is the number of cycles, or of faults of a kind, of a search that doesn't bound them.
const Any = bounds.Any

// Waits says when sleeps, and waits for replies that don't come, end.
type Waits = bounds.Waits

// WaitsEndAtWill are such as end at any time, sooner or later than they do.
const WaitsEndAtWill = bounds.WaitsEndAtWill

// MaxClients is the greatest number of clients in a search that counts them.
const MaxClients = bounds.MaxClients
