package explore

import (
	"errors"
	"fmt"
	"time"

	"lockstep/sim"
	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Budget is how many faults of each kind a schedule can have.
type Budget [faultKinds]uint8

// FaultKind is a kind of fault that a search can make, and that its budget counts.
// What is known of each is in the table of choices: see choiceRow.
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
	ServerClock                  // a node's clock does
	Failover                     // a replica falls behind, and is made the master when that dies
	faultKinds

	noFault = faultKinds
)

// faultRows are the rows of the kinds of choice that cost each kind of fault.
var faultRows = func() (rows [faultKinds]*choiceRow) {
	for i := range choiceRows {
		if f := choiceRows[i].fault; f != noFault {
			rows[f] = &choiceRows[i]
		}
	}
	return rows
}()

// String is the kind's name in --faults.
func (k FaultKind) String() string { return faultRows[k].flag }

// Words says what it is, of one or of several.
func (k FaultKind) Words(n int) string {
	if n == 1 {
		return faultRows[k].one
	}
	return faultRows[k].many
}

// String reads "1 crash of a client and 2 lost replies", or "none".
func (b Budget) String() string {
	var parts []string
	for k, n := range b {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, FaultKind(k).Words(int(n))))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return trace.List(parts)
}

// FaultKinds lists the names of all kinds of fault.
func FaultKinds() (names []string) {
	for _, row := range faultRows {
		names = append(names, row.flag)
	}
	return names
}

// ParseFaultKind is the inverse of String.
func ParseFaultKind(s string) (FaultKind, bool) {
	for k, row := range faultRows {
		if row.flag == s {
			return FaultKind(k), true
		}
	}
	return 0, false
}

// Bounds are what a search is over. Its result holds within them, and says
// nothing of what is beyond.
type Bounds struct {
	Strategy strategies.Strategy
	Clients  int
	Cycles   int // how often each client takes the lock
	Nodes    int // of a lock on several servers; 0 is what the strategy has
	Faults   Budget
	Resource sim.Resource
	Checks   bool // callers look whether their lease is over before each access
	Extend   bool // callers extend their lease before they write
	TTL      time.Duration
	Timeout  time.Duration // 0 is the strategy's
	Codes    trace.Verdict // what to look for; none is all that a search can find
	Switches int           // how often a client may act after another one did; 0 is as often as it likes
	// Remembers: a lock may know more of an earlier cycle than its own fields and its
	// draws show, in what a closure has captured. Nothing is taken for forgotten then
	// between two cycles, and there are more states. What is captured may be shared by
	// clients, too: the code runs in one worker at a time.
	Remembers bool
}

// Defaults are the bounds of a search that is told nothing else.
func Defaults(s strategies.Strategy) Bounds {
	b := Bounds{Strategy: s, Clients: 2, Cycles: 2, TTL: 12 * time.Second}
	if s.Nodes > 1 {
		b.Cycles, b.Nodes = 1, 3
	}
	if s.Fences {
		b.Resource = sim.Fenced
	}
	b.Faults[Crash], b.Faults[Pause] = 1, 1
	return b
}

const maxSwitches = 200

var names = [...]string{"A", "B", "C", "D"}

// Config is what the search's schedules run in: without latency, because a
// message that takes time is a client that is paused; and each client asks once
// for the lock, because asking again is another cycle.
func (b *Bounds) Config() (sim.Config, error) {
	if b.Clients < 1 || b.Clients > len(names) {
		return sim.Config{}, fmt.Errorf("a search can have 1 to %d clients, not %d", len(names), b.Clients)
	}
	if b.Cycles < 1 || b.Cycles > 9 {
		return sim.Config{}, fmt.Errorf("a search can have 1 to 9 cycles, not %d", b.Cycles)
	}
	s := b.Strategy
	if b.Nodes > 0 {
		if s.Nodes == 1 && b.Nodes != 1 {
			return sim.Config{}, fmt.Errorf("%s runs on one node, not on %d", s.Name, b.Nodes)
		}
		s.Nodes = b.Nodes
	}
	if b.Switches < 0 || b.Switches > maxSwitches {
		return sim.Config{}, fmt.Errorf("a search can be bounded to 1 to %d switches, or with 0 not at all, but not to %d", maxSwitches, b.Switches)
	}
	if b.TTL <= 0 {
		return sim.Config{}, fmt.Errorf("the TTL of a search must be more than nothing, and %s isn't", b.TTL)
	}
	if b.TTL%(300*time.Millisecond) != 0 {
		return sim.Config{}, errors.New("the TTL of a search must be a multiple of 300ms: clients count in thirds and hundredths of it, and the search in whole milliseconds")
	}
	if err := b.failover(&s); err != nil {
		return sim.Config{}, err
	}
	cfg := sim.Config{Strategy: s, Scenario: "explore", Key: "lock", TTL: b.TTL, Retry: strategies.Retry{Tries: 1}, Timeout: s.Timeout,
		Seed: 1, Resource: b.Resource, Replicas: s.Replicas}
	if b.Timeout > 0 {
		cfg.Timeout = b.Timeout
	}
	for i := range b.Clients {
		cfg.Clients = append(cfg.Clients, process.Config{Name: names[i], Rate: 1, Cycles: b.Cycles, Checks: b.Checks, Extend: b.Extend})
	}
	for range s.Nodes {
		cfg.Nodes = append(cfg.Nodes, redis.Config{})
	}
	return cfg, cfg.Validate()
}

// failover sees to it that there is a replica to be made the master.
func (b *Bounds) failover(s *strategies.Strategy) error {
	switch {
	case b.Faults[Failover] == 0:
		return nil
	case b.Faults[Failover] > 1:
		return errors.New("a search can have one failover, not more: there is no replica left then")
	case s.Nodes > 1:
		return fmt.Errorf("%s runs on %d independent nodes: there is no replica that could take over", s.Name, s.Nodes)
	case b.Faults[Restart] > 0 || b.Faults[ServerClock] > 0:
		return errors.New("a search can have failover, or restart and server-clock, but not both")
	}
	s.Replicas = max(1, s.Replicas)
	return nil
}

// check refuses bounds that make no sense.
func (b *Bounds) check() error {
	for _, c := range b.Codes {
		if c == trace.BD || c == trace.LV {
			return fmt.Errorf("a search does not look for %s: each client asks once a cycle, so nobody is kept waiting", c)
		}
	}
	_, err := b.Config()
	return err
}
