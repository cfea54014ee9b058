package bounds

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore/certificate"
	"lockstep/sim/explore/instants"
	"lockstep/sim/explore/intern"
	"lockstep/sim/monitor"
	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Bounds delimit the schedules of a search. Its result holds within them, and says nothing
// of schedules beyond.
type Bounds struct {
	Strategy strategies.Strategy // the lock
	Clients  int                 // 1 to 4
	Others   bool                // there is any number of further clients: in their place, an environment acts at any time as clients were seen to act
	Cycles   int                 // how often each client asks for the lock: 1 to 9, or Any
	Tries    int                 // of the lock in each cycle, with its strategy's own delay between two: 1 to 9; 0 is 1
	Nodes    int                 // of a lock on several servers; 0 is the strategy's number
	Faults   Budget              // of each schedule
	Resource sim.Resource        // whether it checks fencing tokens
	Checks   bool                // callers check whether their lease is over before each access
	Extend   bool                // callers extend their lease before they write
	TTL      time.Duration       // in whole milliseconds, as Redis has them
	Timeout  time.Duration       // how long a client waits for a reply; 0 is the strategy's
	Codes    trace.Verdict       // the codes to look for; none is all that a search can find
	Record   string              // the key of the lock's record; empty: the search finds out, see package solo
	Switches int                 // how often a schedule may change from one client's steps to another's; 0 is without limit
	// Remembers: a lock may keep something of an earlier cycle in variables that a
	// closure has captured, besides its own fields and its draws. Histories then don't
	// join between two cycles, and there are more states. Clients may share such
	// variables, too, so their code runs in one worker at a time.
	Remembers bool
	// WholeSleeps: a lock's sleeps last until the next whole millisecond, as by a timer with
	// that resolution. A search sets it by itself as soon as the lock sleeps for a fraction
	// of one. No schedule is wrong for it, because a sleep may always end late; but a violation
	// that depends on the order of two instants within one millisecond is not found.
	WholeSleeps bool

	// ClockGoesOn: a client's monotonic clock goes on from one cycle to the next, so that a lock
	// can tell how long ago it read it in the last. There are more states. A search sets it by
	// itself as soon as the lock keeps a reading in its fields; it is so if Remembers is set.
	ClockGoesOn bool

	// ByName: a search within bounds follows states that differ in the clients' names alone one by one. There are more of
	// them. A search sets it by itself as soon as names make a difference to the lock.
	ByName bool

	// Waits: when sleeps, and waits for replies that don't come, end in a search without bounds.
	// A search sets it by itself.
	Waits Waits

	Watch *process.Watch // of a search, for code that hangs
}

// Waits says when sleeps, and waits for replies that don't come, end.
type Waits uint8

// The ways in which waits end.
const (
	WaitsEnd       Waits = iota // when they do
	WaitsEndAtWill              // at any time, sooner or later than they do: a search then has all schedules, and others that can't happen
	WaitsMustEnd                // when they do, although a search without that would be smaller: it has shown something
)

// Any is the number of cycles, or of faults of a kind, of a search that doesn't bound them.
// Where any number of clients may crash, another takes the place of each.
const Any = 255

// Endless reports whether the number of cycles has no bound.
func (b *Bounds) Endless() bool { return b.Cycles == Any }

// Defaults are the bounds of a search unless others are asked for: two clients, each of
// which takes the lock twice (once where it is on several nodes, of which there are three
// then), one crash and one pause, with a TTL of 12 seconds.
func Defaults(s strategies.Strategy) Bounds {
	b := Bounds{Strategy: s, Clients: 2, Cycles: 2, TTL: 12 * time.Second, Remembers: s.Assumes != ""}
	if s.Nodes > 1 {
		b.Cycles, b.Nodes = 1, 3
	}
	if s.Fences {
		b.Resource = sim.Fenced
	}
	b.Faults[Crash], b.Faults[Pause] = 1, 1
	return b
}

// MaxSwitches is the greatest bound on switches.
const MaxSwitches = 200

// lockKey is the key that locks are given.
const lockKey = "lock"

// maxTTL is the longest TTL of a search: instants.FarTTLs of it, and the spans added to that, fit
// into 32 bits of milliseconds.
const maxTTL = 2 * time.Hour

// MaxClients is the greatest number of clients in a search.
const MaxClients = 4

// Names are the clients' names.
var Names = [MaxClients]string{"A", "B", "C", "D"}

// ClientOf returns the index of a client by its name.
func ClientOf(name string) uint8 { return uint8(max(0, slices.Index(Names[:], name))) }

// NodeOf returns the index of a server, or of a replica's master, by its name.
func NodeOf(name string) uint8 {
	if name == "" {
		return 0
	}
	return name[1] - '1'
}

// Config returns the configuration in which the engine runs the search's schedules, or an
// error if the bounds make no sense. It has no latency, because a message that takes time
// is like a client that is paused.
func (b *Bounds) Config() (sim.Config, error) {
	if b.Clients < 1 || b.Clients > len(Names) {
		return sim.Config{}, fmt.Errorf("a search can have 1 to %d clients, not %d", len(Names), b.Clients)
	}
	if (b.Cycles < 1 || b.Cycles > 9) && !b.Endless() {
		return sim.Config{}, fmt.Errorf("a search can have 1 to 9 cycles, or any number, and not %d", b.Cycles)
	}
	if err := b.restless(); err != nil {
		return sim.Config{}, err
	}
	if b.Tries < 0 || b.Tries > 9 {
		return sim.Config{}, fmt.Errorf("a search can have 1 to 9 tries, not %d", b.Tries)
	}
	s := b.Strategy
	if b.Nodes > 0 {
		if s.Nodes == 1 && b.Nodes != 1 {
			return sim.Config{}, fmt.Errorf("%s runs on one node, not on %d", s.Name, b.Nodes)
		}
		s.Nodes = b.Nodes
	}
	if b.Switches < 0 || b.Switches > MaxSwitches {
		return sim.Config{}, fmt.Errorf("a search can be bounded to 1 to %d switches, or with 0 not at all, but not to %d", MaxSwitches, b.Switches)
	}
	if b.TTL <= 0 {
		return sim.Config{}, fmt.Errorf("the TTL of a search must be more than nothing, and %s isn't", b.TTL)
	}
	if b.TTL > maxTTL || b.Timeout > maxTTL || b.Strategy.Timeout > maxTTL {
		return sim.Config{}, fmt.Errorf("the TTL and the timeout of a search can be %s at most: it counts in 32 bits of milliseconds, and up to %d TTLs", trace.Duration(maxTTL), instants.FarTTLs)
	}
	if b.TTL%time.Millisecond != 0 {
		return sim.Config{}, fmt.Errorf("the TTL of a search must be in whole milliseconds, as Redis counts, and %s isn't", b.TTL)
	}
	if err := b.failover(&s); err != nil {
		return sim.Config{}, err
	}
	cfg := sim.Config{Strategy: s, Scenario: "explore", Key: lockKey, TTL: b.TTL, Retry: b.retry(), Timeout: s.Timeout,
		Seed: 1, Resource: b.Resource, Replicas: s.Replicas, Watch: b.Watch}
	if b.Record != lockKey { // if it is, schedules do without
		cfg.Record = b.Record
	}
	if b.Timeout > 0 {
		cfg.Timeout = b.Timeout
	}
	if cfg.Timeout%time.Millisecond != 0 {
		return sim.Config{}, fmt.Errorf("the timeout of a search must be in whole milliseconds, and %s isn't", cfg.Timeout)
	}
	if b.WholeSleeps {
		cfg.Tick = time.Millisecond
	}
	for i := range b.Clients {
		cfg.Clients = append(cfg.Clients, process.Config{Name: Names[i], Rate: 1, Cycles: min(b.Cycles, certificate.Cycles), Checks: b.Checks, Extend: b.Extend})
	}
	for range s.Nodes {
		cfg.Nodes = append(cfg.Nodes, redis.Config{})
	}
	return cfg, cfg.Validate()
}

// retry returns the retries that the lock is given. A lock that tries once has no use for a
// delay, and its schedules do without.
func (b *Bounds) retry() strategies.Retry {
	if b.Tries <= 1 {
		return strategies.Retry{Tries: 1}
	}
	r := b.Strategy.Retry
	r.Tries = b.Tries
	return r
}

// failover provides for a replica that can take over, if the budget has a failover.
func (b *Bounds) failover(s *strategies.Strategy) error {
	switch {
	case b.Faults[Failover] == 0:
		return nil
	case b.Faults[Failover] > 1:
		return errors.New("a search can have one failover, not more: there is no replica left then")
	case s.Nodes > 1:
		return fmt.Errorf("%s runs on %d independent nodes: there is no replica that could take over", s.Name, s.Nodes)
	}
	any, flags := false, []string(nil)
	for k := range FaultKinds {
		if k.OnMaster() {
			any, flags = any || b.Faults[k] > 0, append(flags, k.String())
		}
	}
	if any {
		return fmt.Errorf("a search can have failover, or %s, but not both", trace.List(flags))
	}
	s.Replicas = max(1, s.Replicas)
	return nil
}

// ClockJump is the span by which a clock jumps, forward or back: enough to end any lease.
func (b *Bounds) ClockJump() time.Duration { return b.TTL + instants.OverStamp*time.Millisecond }

// Jumps are the jumps of clocks that a schedule may have.
func (b *Bounds) Jumps() instants.Jumps {
	return instants.Jumps{By: int32(b.ClockJump().Milliseconds()), Most: int32(b.Faults[ClientClock]) + int32(b.Faults[ServerClock])}
}

// Check refuses bounds that make no sense.
func (b *Bounds) Check() error {
	for _, c := range b.Codes {
		if lasting := c == trace.LV && b.Endless(); !Searched.Has(c) && !lasting {
			if c == trace.UA || c == trace.DN {
				return fmt.Errorf("a search does not look for %s: %s", c, monitor.ReasonNotSearched(c))
			}
			asks := "asks once a cycle"
			if b.Tries > 1 {
				asks = fmt.Sprintf("gives up after %d tries", b.Tries)
			}
			return fmt.Errorf("a search does not look for %s: each client %s, so nobody is kept waiting", c, asks)
		}
	}
	_, err := b.Config()
	return err
}

// Sought lists the codes that the search looks for, worst first.
func (b *Bounds) Sought() trace.Verdict { return b.CodeSet().Verdict() }

// CodeSet is the set of the codes that the search looks for.
func (b *Bounds) CodeSet() trace.CodeSet {
	if len(b.Codes) == 0 {
		return Searched
	}
	return trace.SetOf(b.Codes...)
}

// Searched are the codes that a search can look for.
var Searched = trace.SetOf(monitor.Searched()...)

// restless explains why a lock can't be searched without a bound on cycles, or returns nil.
func (b *Bounds) restless() error {
	switch s := b.Strategy; {
	case b.Others && !b.Endless():
		return errors.New("a search with any number of clients has any number of cycles, too")
	case b.Others && b.Clients != 2:
		return fmt.Errorf("of any number of clients a search has 2 real ones, not %d", b.Clients)
	case !b.Endless():
		for k, n := range b.Faults {
			if n == Any {
				return fmt.Errorf("a search with any number of %s has any number of cycles, too", FaultKind(k).Words(2))
			}
		}
		return nil
	case slices.ContainsFunc(b.Faults[ReplyLost+1:], func(n uint8) bool { return n == Any }):
		return fmt.Errorf("a search can have any number of %s, %s and %s, and of other faults so many as are stated", Crash.Words(2), Pause.Words(2), ReplyLost.Words(2))
	case b.Faults[Duplicate] > intern.MaxList:
		return fmt.Errorf("without a bound on cycles, %s can be at most %d, as a search remembers so many", Duplicate.Words(2), intern.MaxList)
	case b.Checks:
		return errors.New("callers that check whether their lease is over compare a clock with its end at every access, which takes a bound on cycles: search for plain ones, or such as extend")
	case b.Switches > 0:
		return errors.New("a bound on switches bounds the cycles, too")
	case s.Fences || s.Counter:
		return fmt.Errorf("%s counts, and its numbers grow from cycle to cycle: a search of it needs a bound on cycles", s.Name)
	case b.Remembers:
		return fmt.Errorf("%s may keep something of each cycle in variables of a closure: a search of it needs a bound on cycles", s.Name)
	}
	return nil
}

// Alike reports whether a search takes states that differ in the clients' names alone for one, within these bounds. It doesn't
// if they are known to matter, if clients may share variables, or if it counts switches from one client to another.
// Without a bound on cycles it has a canonical form of its own.
func (b *Bounds) Alike() bool {
	return b.Clients > 1 && !b.Endless() && !b.ByName && !b.Remembers && b.Switches == 0
}

// Brief returns bounds in which a lock is acquired once by each of two clients, one of which may
// be paused.
func (b Bounds) Brief() Bounds {
	b.Clients, b.Cycles, b.Tries = min(2, b.Clients), 1, min(2, b.Tries)
	b.Others, b.ByName = false, true
	pauses := min(1, b.Faults[Pause])
	b.Faults = Budget{Pause: pauses}
	return b
}

// Caller names the callers' behaviour with a lease, as flags have it: "plain", "checks" or
// "extends".
func (b *Bounds) Caller() string {
	switch {
	case b.Checks:
		return "checks"
	case b.Extend:
		return "extends"
	}
	return "plain"
}

// Many tells how many clients there are: "2 clients", "any number of clients".
func (b *Bounds) Many() string {
	switch {
	case b.Others:
		return "any number of clients"
	case b.Clients == 1:
		return "1 client"
	}
	return fmt.Sprintf("%d clients", b.Clients)
}

// Repeatable is the number of a client's executed requests of which each could arrive once
// more: the last ones, within a bound on cycles.
const Repeatable = 4
