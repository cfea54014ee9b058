package bounds

import (
	"fmt"

	"lockstep/sim/trace"
)

// FaultKind is a kind of fault that a search can make, and that its budget counts. The
// table faults has its words.
type FaultKind uint8

// The kinds of fault.
const (
	Crash       FaultKind = iota // a client's process ends
	Pause                        // a client could act, and time passes
	ReplyLost                    // a command is executed, and its reply is lost
	HoldRequest                  // a request is held up, for as long as it takes
	Duplicate                    // a request arrives twice
	Restart                      // a node restarts, empty
	ClientClock                  // a client's wall clock jumps, by a TTL and some, forward or back
	ServerClock                  // a node's clock jumps, by as much
	Failover                     // a replica falls behind, and is made the master when that dies
	Evict                        // a node drops the lock's record before its time
	FaultKinds                   // their number

	NoFault = FaultKinds // of a choice that costs none
)

// words has the words for a kind of fault.
type words struct {
	flag      string // in flags
	one, many string
	// onMaster: the fault changes a master in a way that the search's replicas don't
	// follow, so bounds can't have it together with a failover.
	onMaster bool
}

// faults is the table of all kinds.
var faults = [FaultKinds]words{
	Crash:       {"crash", "crash of a client", "crashes of clients", false},
	Pause:       {"pause", "pause of a client", "pauses of clients", false},
	ReplyLost:   {"reply-lost", "lost reply", "lost replies", false},
	HoldRequest: {"delay", "request held up", "requests held up", false},
	Duplicate:   {"duplicate", "request that arrives twice", "requests that arrive twice", false},
	Restart:     {"restart", "restart of a server with nothing on disk", "restarts of servers with nothing on disk", true},
	ClientClock: {"client-clock", "jump of a client's wall clock", "jumps of clients' wall clocks", false},
	ServerClock: {"server-clock", "jump of a server's clock", "jumps of servers' clocks", true},
	Failover:    {"failover", "failover to a replica that has fallen behind", "failovers to replicas that have fallen behind", false},
	Evict:       {"evict", "eviction of the lock's record", "evictions of the lock's record", true},
}

// String returns the name of the kind as flags have it.
func (k FaultKind) String() string { return faults[k].flag }

// Words names one fault of the kind if n is 1, and else several.
func (k FaultKind) Words(n int) string {
	if n == 1 {
		return faults[k].one
	}
	return faults[k].many
}

// OnMaster reports whether bounds can't have a failover as well: replicas don't follow the fault.
func (k FaultKind) OnMaster() bool { return faults[k].onMaster }

// Budget is the number of faults of each kind that a schedule can have.
type Budget [FaultKinds]uint8

// String reads "1 crash of a client and 2 lost replies", or "none".
func (b Budget) String() string {
	var parts []string
	for k, n := range b {
		switch {
		case n == Any:
			parts = append(parts, "any number of "+FaultKind(k).Words(2))
		case n > 0:
			parts = append(parts, fmt.Sprintf("%d %s", n, FaultKind(k).Words(int(n))))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return trace.List(parts)
}
