package space

import "lockstep/sim/explore/bounds"

// The bounds of a search, and the kinds of fault that its budget counts.
type (
	Bounds    = bounds.Bounds
	Budget    = bounds.Budget
	FaultKind = bounds.FaultKind
	Waits     = bounds.Waits
)

// See package bounds.
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
	faultKinds  = bounds.FaultKinds
	NoFault     = bounds.NoFault

	WaitsEnd       = bounds.WaitsEnd
	WaitsEndAtWill = bounds.WaitsEndAtWill
	WaitsMustEnd   = bounds.WaitsMustEnd

	Any         = bounds.Any
	MaxClients  = bounds.MaxClients
	MaxSwitches = bounds.MaxSwitches
	repeatable  = bounds.Repeatable
)

// Names are the clients' names.
var Names = bounds.Names

// Searched are the codes that a search can look for.
var Searched = bounds.Searched

// Defaults are the bounds of a search unless others are asked for.
var Defaults = bounds.Defaults
