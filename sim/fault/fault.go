// Package fault has the kinds of fault as data: their types, their parameters, and the words that they have in schedules, scripts
// and menus. It knows no world: package sim has their effects.
package fault

import (
	"fmt"
	"strings"
	"time"

	"lockstep/sim/trace"
)

// Fault is a failure, or the end of one, at the instant at which it is injected. One type
// serves scripts, schedules, search and sandbox alike. Its kind is a row of the table.
type Fault interface {
	// String returns the fault's form in a schedule.
	String() string
	fault()
}

// The assumptions of the claims that faults break: see [Spec].
const (
	recordsStay = "no unexpired record of the lock is lost"
	noJumps     = "the server's clock does not jump forward"
)

// table has all kinds of fault. A new kind is a type, a row here, and its effect in package
// sim; tests of each package name the views that don't know it.
var table = []Spec{
	spec(Spec{
		Word: "pause", Step: "pause", Many: "paused clients", Event: trace.KindPause,
		Example: "pause: A", Means: "keeps A from acting until it is resumed, or run by name",
		Menu: []MenuItem{{"is paused", func(c string) Fault { return Pause{c} }}},
	}, func(f *Pause) []Param { return []Param{withClient("", &f.Client)} }),
	spec(Spec{
		Word: "resume", Step: "resume", Ends: true, Event: trace.KindResume, Says: "%s is let go on.",
		Example: "resume: A", Means: "ends that",
		Menu: []MenuItem{{"goes on", func(c string) Fault { return Resume{c} }}},
	}, func(f *Resume) []Param { return []Param{withClient("", &f.Client)} }),
	spec(Spec{
		Word: "crash", Step: "crash", Many: "crashes", Event: trace.KindCrash,
		Example: "crash: A", Means: "ends A's process; nothing it has deferred is run",
		Menu: []MenuItem{{"crashes", func(c string) Fault { return Crash{c} }}},
	}, func(f *Crash) []Param { return []Param{withClient("", &f.Client)} }),
	spec(Spec{
		Word: "wall", Step: "clock", Many: "jumps of clients' clocks", Event: trace.KindWallStep, Menu: scriptsOnly,
		Example: "clock: {client: A, by: 12s}", Means: "A's wall clock jumps",
	}, func(f *WallStep) []Param { return []Param{withClient("client", &f.Client), withJump("by", &f.By)} }),

	spec(Spec{
		Word: "drop", Step: "drop", Many: "lost messages", Event: trace.KindLost, Says: "A message of %s's is lost.",
		Example: "drop: {reply: A}", Means: "loses A's newest reply in flight; `{request: A}`: its request",
		Menu: []MenuItem{
			{"the reply is lost", func(c string) Fault { return Drop{Client: c, Reply: true} }},
			{"the request is lost", func(c string) Fault { return Drop{Client: c} }},
		},
	}, func(f *Drop) []Param { return []Param{withClient("", &f.Client), withHalf(&f.Reply)} }),
	spec(Spec{
		Word: "delay", Step: "delay", Many: "delayed messages", Event: trace.KindNetwork, Says: "A message of %s's is held up.", Menu: scriptsOnly,
		Example: "delay: {reply: A, by: 5s}", Means: "has a reply to A that is on its way come so much later; `{request: A}`: " +
			"its request. If none is on its way, nothing happens, and the run says so: `hold` is for one that is yet to be sent",
	}, func(f *Delay) []Param {
		return []Param{withClient("", &f.Client), withHalf(&f.Reply), withSpan("by", &f.By)}
	}),
	spec(Spec{
		Word: "duplicate", Step: "duplicate", Many: "requests that arrive twice", Event: trace.KindNetwork, Says: "A command of %s's arrives once more.", Menu: scriptsOnly,
		Example: "duplicate: {request: A, after: 2s, nth: 2}", Means: "A's last executed command but one (`nth: 1`, unless given, is the last) arrives once more",
	}, func(f *Duplicate) []Param {
		return []Param{withClient("request", &f.Client), withSpan("after", &f.After).optional(), withCount("nth", &f.N).last()}
	}),
	spec(Spec{
		Word: "lose-reply", Step: "lose", Many: "lost replies", Event: trace.KindNetwork, Says: "The next reply to %s will be lost.", Menu: scriptsOnly,
		Example: "lose: {reply: A}", Means: "loses the next reply to A: if A waits for one, and can do nothing " +
			"before it comes, that one, on its way or yet to be sent; otherwise the reply to the request that A sends next",
	}, func(f *LoseReply) []Param { return []Param{withClient("reply", &f.Client)} }),
	spec(Spec{
		Word: "lose-held", Step: "lose-held", Many: "lost replies", Event: trace.KindNetwork, Says: "The reply to what %s had sent will be lost.", Menu: scriptsOnly,
		Example: "lose-held: A", Means: "has the reply to A's held request lost once it arrives; of several the first, or the one that `nth: 2` says",
	}, func(f *LoseHeldReply) []Param { return []Param{withClient("", &f.Client), withCount("nth", &f.N)} }),
	spec(Spec{
		Word: "hold", Step: "hold", Many: "requests that are held up", Event: trace.KindNetwork, Says: "What %s sends next will be held up.", Menu: scriptsOnly,
		Example: "hold: A", Means: "holds up the request that A sends next, until it is freed. It isn't " +
			"executed before that, so A comes to no position after it: `run: A` with `for: 1s` has it sent",
	}, func(f *Hold) []Param { return []Param{withClient("", &f.Client)} }),
	spec(Spec{
		Word: "free", Step: "free", Ends: true, Event: trace.KindNetwork, Says: "What %s had sent goes on now.", Menu: scriptsOnly,
		Example: "free: A", Means: "lets A's held request arrive; of several the first, or the one that `nth: 2` says",
	}, func(f *Free) []Param { return []Param{withClient("", &f.Client), withCount("nth", &f.N)} }),

	spec(Spec{
		Word: "down", Step: "down", Many: "servers that go down", Event: trace.KindDown, Breaks: recordsStay,
		Example: "down: n1", Means: "ends a server's process; the operating system still puts its writes on the disk. A server is one " +
			"of `n1` to `n9`, or `pivot`, the one that completes a majority: n1 of one, n3 of five; `[n1, n3]` and `all` are several",
		Menu: []MenuItem{{"goes down", func(n string) Fault { return Down{n} }}},
	}, func(f *Down) []Param { return []Param{withNode("", &f.Node)} }),
	spec(Spec{
		Word: "unplug", Step: "unplug", Many: "power cuts", Event: trace.KindDown, Breaks: recordsStay, Menu: scriptsOnly,
		Example: "unplug: n1", Means: "cuts its power: it loses the writes that are not on the disk",
	}, func(f *Unplug) []Param { return []Param{withNode("", &f.Node)} }),
	spec(Spec{
		Word: "up", Step: "up", Ends: true, Event: trace.KindUp, Breaks: recordsStay,
		Example: "up: n1", Means: "starts it again with the data that it has persisted",
		Menu: []MenuItem{{"comes back", func(n string) Fault { return Up{n} }}},
	}, func(f *Up) []Param { return []Param{withNode("", &f.Node)} }),
	spec(Spec{
		Word: "clock", Step: "clock", Many: "jumps of servers' clocks", Event: trace.KindNodeStep, Menu: scriptsOnly, Breaks: noJumps,
		Example: "clock: {node: n1, by: -3s}", Means: "a server's does",
	}, func(f *NodeStep) []Param { return []Param{withNode("node", &f.Node), withJump("by", &f.By)} }),
	spec(Spec{
		Word: "evict", Step: "evict", Many: "evictions", Event: trace.KindEvict, Says: "%s drops the lock's record before its time.", Breaks: recordsStay,
		Example: "evict: n1", Means: "the server drops the lock's key before its time. The step names the server, as " +
			"the key is always the lock's: `evict: pivot` is the server that completes a majority, n1 of one, n3 of five",
		Menu: []MenuItem{{"drops the key", func(n string) Fault { return Evict{n} }}},
	}, func(f *Evict) []Param { return []Param{withNode("", &f.Node)} }),
	spec(Spec{
		Word: "occupy", Step: "occupy", Many: "keys that hold other data", Event: trace.KindStray, Says: "Another program stores its data under the lock's key.", Menu: scriptsOnly,
		Example: "occupy: n1", Means: "another program stores a list under the lock's key, if nothing is there",
	}, func(f *Occupy) []Param { return []Param{withNode("", &f.Node)} }),
	spec(Spec{
		Word: "forget-scripts", Step: "flush", Many: "emptied script caches", Event: trace.KindFlush, Says: "%s forgets its scripts.", Menu: scriptsOnly,
		Example: "flush: n1", Means: "the server forgets its Lua scripts",
	}, func(f *ForgetScripts) []Param { return []Param{withNode("", &f.Node)} }),
	spec(Spec{
		Word: "lag", Step: "lag", Many: "replicas that fall behind", Says: "What is written from now on reaches the replica %s late.", Menu: scriptsOnly, Breaks: recordsStay,
		Example: "lag: {replica: n1r1, by: 5s}", Means: "writes take that long to reach that replica from now on",
	}, func(f *Lag) []Param {
		return []Param{withReplica("replica", &f.Replica), withSpan("by", &f.By).optional()}
	}),
	spec(Spec{
		Word: "failover", Step: "failover", Many: "failovers", Event: trace.KindFailover, Menu: scriptsOnly, Breaks: recordsStay,
		Example: "failover: {to: n1r1, stay: [A]}", Means: "a replica becomes the master; clients are led to it, but for those that stay with the old one",
	}, func(f *Failover) []Param {
		return []Param{withReplica("to", &f.To), withClients("stay", &f.Stay)}
	}),
	spec(Spec{
		Word: "rejoin", Step: "rejoin", Ends: true, Event: trace.KindSync, Says: "%s becomes a replica of the master.", Menu: scriptsOnly, Breaks: recordsStay,
		Example: "rejoin: n1", Means: "the old master becomes a replica of the new one, and loses its own writes",
	}, func(f *Rejoin) []Param { return []Param{withNode("", &f.Server)} }),

	spec(Spec{
		Word: "slow", Step: "slow", Many: "slow and cut links", Event: trace.KindNetwork, Says: "A link of %s's is slow from now on.", Menu: scriptsOnly,
		Example: "slow: {client: A, nodes: n2, request: 6s, reply: 1ms}", Means: "sets a link's latencies",
	}, func(f *Slow) []Param {
		return []Param{withClient("client", &f.Client), withNode("nodes", &f.Node).optional(), withSpan("request", &f.Request), withSpan("reply", &f.Reply)}
	}),
	spec(Spec{
		Word: "cut", Step: "cut", Many: "slow and cut links", Event: trace.KindNetwork, Says: "A link of %s's is cut.", Menu: scriptsOnly,
		Example: "cut: {client: A, nodes: [n4, n5]}", Means: "loses all that A and those nodes send each other from now on; `direction: requests` or `replies` for one way",
	}, func(f *Cut) []Param {
		return []Param{withClient("client", &f.Client), withNode("nodes", &f.Node).optional(), withDirection("direction", &f.Direction)}
	}),
	spec(Spec{
		Word: "heal", Step: "heal", Ends: true, Event: trace.KindNetwork, Says: "A link of %s's is whole again.", Menu: scriptsOnly,
		Example: "heal: {client: A, nodes: all}", Means: "ends that",
	}, func(f *Heal) []Param {
		return []Param{withClient("client", &f.Client), withNode("nodes", &f.Node).optional()}
	}),
	spec(Spec{
		Word: "hang", Step: "hang", Many: "hung threads", Event: trace.KindHang, Says: "%s's main thread stops for good.", Menu: scriptsOnly,
		Example: "hang: A", Means: "A's main thread stops for good; its other threads go on",
	}, func(f *Hang) []Param { return []Param{withClient("", &f.Client)} }),
	spec(Spec{
		Word: "end-thread", Step: "end", Many: "hung threads", Event: trace.KindThreadEnd, Says: "%s's renewal thread ends.", Menu: scriptsOnly,
		Example: "end: A", Means: "A's renewal thread ends without a word",
	}, func(f *EndThread) []Param { return []Param{withClient("", &f.Client)} }),
	spec(Spec{
		Word: "throw", Step: "throw", Many: "exceptions in the critical section", Event: trace.KindHang, Says: "An exception ends %s's work.", Menu: scriptsOnly,
		Example: "throw: A", Means: "an exception ends A's work: A leaves the critical section " +
			"without a release, and its main thread does nothing more; its other threads go on",
	}, func(f *Throw) []Param { return []Param{withClient("", &f.Client)} }),
	spec(Spec{
		Word: "exit", Step: "exit", Many: "shutdown hooks", Event: trace.KindExit, Says: "%s is told to exit, and a hook releases its lock.", Menu: scriptsOnly,
		Example: "exit: A", Means: "A's process is told to exit: a hook, in another thread, releases A's lock while the work goes on",
	}, func(f *Exit) []Param { return []Param{withClient("", &f.Client)} }),

	spec(Spec{
		Word: "update", Step: "update: database", Cache: true, Event: trace.KindUpdate, Says: "The database goes on to its next version.", Menu: scriptsOnly,
		Example: "update: database", Means: "the cached data is edited: the database goes on to its next version, and no client is told",
	}, func(*Update) []Param { return nil }),
	spec(Spec{Word: "aftermath"}, func(*Drain) []Param { return nil }),
}

// Crash ends a client's process: its deferred functions have no effect. Its requests stay
// in flight.
type Crash struct{ Client string }

// Pause freezes all of a client's threads, as a garbage collection, a page
// fault or a busy hypervisor does. Its clocks go on.
type Pause struct{ Client string }

// Resume ends a Pause.
type Resume struct{ Client string }

// Hang stops a client's main thread for good, as a lost wake-up or a call that never returns
// does. The process and its other threads go on.
type Hang struct{ Client string }

// EndThread ends a client's renewal thread silently, as an uncaught exception does.
type EndThread struct{ Client string }

// Throw ends a client's main thread by an exception in the critical section, of a caller that
// releases after its work and not in a deferred function: it leaves without a release. The
// process and its other threads go on.
type Throw struct{ Client string }

// Exit tells a client's process to shut down: a hook, in another thread, releases the lease
// that the client holds, while its main thread works on.
type Exit struct{ Client string }

// WallStep makes a client's wall clock jump by a span, back if it is negative. Its monotonic
// clock doesn't jump.
type WallStep struct {
	Client string
	By     time.Duration
}

// NodeStep makes a node's clock jump by a span, back if it is negative, and moves the true
// instants of all its expiries the other way.
type NodeStep struct {
	Node string
	By   time.Duration
}

// Drop loses a client's newest request in flight, or its newest reply in flight, and all
// messages behind it on its connection.
type Drop struct {
	Client string
	Reply  bool
}

// Delay makes a client's newest request or reply in flight arrive By from now.
type Delay struct {
	Client string
	Reply  bool
	By     time.Duration
}

// Duplicate makes one of a client's executed commands arrive at its node once more, After
// from now, as when a library sends it again after a lost reply. There is no second reply. N
// is the command, counted back from the one that was executed last, which is 1 and also 0.
type Duplicate struct {
	Client string
	After  time.Duration
	N      int
}

// LoseReply loses the reply for which a client waits, if it can do nothing before that arrives:
// the newest that is in flight, or the one to its newest request in flight. Otherwise it loses the
// reply to the request that the client sends next.
type LoseReply struct{ Client string }

// LoseHeldReply loses the reply to the nth of a client's held requests, counted as [Free] does: to LoseReply
// it may be the reply to another that the client gets next.
type LoseHeldReply struct {
	Client string
	N      int
}

// Hold holds up the request that a client sends next, until a [Free].
type Hold struct{ Client string }

// Free lets the nth of a client's held requests arrive now, in the order of sending, from 1.
type Free struct {
	Client string
	N      int
}

// Direction is one way of a link, or both.
type Direction uint8

// The directions of a link.
const (
	Both Direction = iota
	Requests
	Replies
)

var directionNames = [...]string{"both", "requests", "replies"}

// String returns the direction's word in scripts and schedules.
func (d Direction) String() string { return directionNames[d] }

// ParseDirection is the inverse of String. Its error lists the words.
func ParseDirection(s string) (Direction, error) {
	for i, name := range directionNames {
		if s == name {
			return Direction(i), nil
		}
	}
	return 0, fmt.Errorf("unknown direction %q: it is one of %s", s, strings.Join(directionNames[:], ", "))
}

// Cut makes a link lose all messages sent from now on, in one direction or both.
type Cut struct {
	Client, Node string
	Direction    Direction
}

// Heal ends every [Cut] of a link.
type Heal struct{ Client, Node string }

// Slow sets a link's latencies, of requests and of replies, from now on.
type Slow struct {
	Client, Node   string
	Request, Reply time.Duration
}

// Down ends the process of a node, which loses its memory. Its operating system goes on, and
// puts the node's writes on the disk.
type Down struct{ Node string }

// Unplug cuts the power of a node's machine. The node loses its memory, and the writes that are
// not on its disk yet.
type Unplug struct{ Node string }

// Up starts a stopped node with the contents of its disk.
type Up struct{ Node string }

// Evict makes a node drop the lock's key although its time isn't up: eviction
// under memory pressure, or an operator's DEL.
type Evict struct{ Node string }

// Occupy makes another program store a list under the lock's key, where there is no record.
type Occupy struct{ Node string }

// ForgetScripts empties a node's script cache, as SCRIPT FLUSH does.
type ForgetScripts struct{ Node string }

// Lag sets the delay of writes to a replica, from now on.
type Lag struct {
	Replica string
	By      time.Duration
}

// Failover makes a replica the master. The other replicas copy it. All clients go to the
// new master at once except those in Stay, which keep talking to the old one. The old master
// still takes writes: a split brain.
type Failover struct {
	To   string
	Stay []string
}

// Rejoin makes a former master a replica of the current one: it copies the master's data and
// loses its own. Clients that had stayed with it go to the new master.
type Rejoin struct{ Server string }

// Update writes a new version to the database behind a cache. Neither the cache nor the
// clients that have read the older version are told.
type Update struct{}

// Drain is not a fault but the end of every run: see the method Drain of a World. It is in no script, and
// every script ends with it.
type Drain struct{}

// String returns the fault in a schedule, such as crash/A.
func (f Crash) String() string { return text(f) }

// String returns the fault in a schedule, such as pause/A.
func (f Pause) String() string { return text(f) }

// String returns the fault in a schedule, such as resume/A.
func (f Resume) String() string { return text(f) }

// String returns the fault in a schedule, such as hang/A.
func (f Hang) String() string { return text(f) }

// String returns the fault in a schedule, such as end-thread/A.
func (f EndThread) String() string { return text(f) }

// String returns the fault in a schedule, such as throw/A.
func (f Throw) String() string { return text(f) }

// String returns the fault in a schedule, such as exit/A.
func (f Exit) String() string { return text(f) }

// String returns the fault in a schedule, such as wall/A/-1h0m0s.
func (f WallStep) String() string { return text(f) }

// String returns the fault in a schedule, such as clock/n1/10s.
func (f NodeStep) String() string { return text(f) }

// String returns the fault in a schedule, such as drop/A/reply.
func (f Drop) String() string { return text(f) }

// String returns the fault in a schedule, such as delay/A/request/3s.
func (f Delay) String() string { return text(f) }

// String returns the fault in a schedule, such as duplicate/A/3s/2.
func (f Duplicate) String() string { return text(f) }

// String returns the fault in a schedule, such as lose-reply/A.
func (f LoseReply) String() string { return text(f) }

// String returns the fault in a schedule, such as lose-held/A/2.
func (f LoseHeldReply) String() string { return text(f) }

// String returns the fault in a schedule, such as hold/A.
func (f Hold) String() string { return text(f) }

// String returns the fault in a schedule, such as free/A/2.
func (f Free) String() string { return text(f) }

// String returns the fault in a schedule, such as cut/A/n1/replies.
func (f Cut) String() string { return text(f) }

// String returns the fault in a schedule, such as heal/A/n1.
func (f Heal) String() string { return text(f) }

// String returns the fault in a schedule, such as slow/A/n1/1s/0s.
func (f Slow) String() string { return text(f) }

// String returns the fault in a schedule, such as down/n1.
func (f Down) String() string { return text(f) }

// String returns the fault in a schedule, such as unplug/n1.
func (f Unplug) String() string { return text(f) }

// String returns the fault in a schedule, such as up/n1.
func (f Up) String() string { return text(f) }

// String returns the fault in a schedule, such as evict/n1.
func (f Evict) String() string { return text(f) }

// String returns the fault in a schedule, such as occupy/n1.
func (f Occupy) String() string { return text(f) }

// String returns the fault in a schedule, such as forget-scripts/n1.
func (f ForgetScripts) String() string { return text(f) }

// String returns the fault in a schedule, such as lag/n1r1/2s.
func (f Lag) String() string { return text(f) }

// String returns the fault in a schedule, such as failover/n1r1/A+B.
func (f Failover) String() string { return text(f) }

// String returns the fault in a schedule, such as rejoin/n1.
func (f Rejoin) String() string { return text(f) }

// String returns the fault in a schedule: update.
func (f Update) String() string { return text(f) }

// String returns the fault in a schedule: aftermath.
func (f Drain) String() string { return text(f) }

// Other types with a String are no faults.

func (Crash) fault()         {}
func (Pause) fault()         {}
func (Resume) fault()        {}
func (Hang) fault()          {}
func (EndThread) fault()     {}
func (Throw) fault()         {}
func (Exit) fault()          {}
func (WallStep) fault()      {}
func (NodeStep) fault()      {}
func (Drop) fault()          {}
func (Delay) fault()         {}
func (Duplicate) fault()     {}
func (LoseReply) fault()     {}
func (LoseHeldReply) fault() {}
func (Hold) fault()          {}
func (Free) fault()          {}
func (Cut) fault()           {}
func (Heal) fault()          {}
func (Slow) fault()          {}
func (Down) fault()          {}
func (Unplug) fault()        {}
func (Up) fault()            {}
func (Evict) fault()         {}
func (Occupy) fault()        {}
func (ForgetScripts) fault() {}
func (Lag) fault()           {}
func (Failover) fault()      {}
func (Rejoin) fault()        {}
func (Update) fault()        {}
func (Drain) fault()         {}
