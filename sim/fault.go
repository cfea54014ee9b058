package sim

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// Fault is a failure, or the end of one, at the instant at which it is injected. One type
// serves scripts, schedules, search and sandbox alike. Its kind is a row of faultTable.
type Fault interface {
	// enabled returns the fault's effect in this state of the world, or the reason why it
	// can't happen: a [NoEffect] if it would change nothing.
	enabled(w *World) (effect, error)
	// String returns the fault's form in a schedule.
	String() string
}

// effect carries out a fault, in the state of the world in which it was enabled.
type effect func() error

// NoEffect is the error of a fault that would change nothing now, with the reason. Such a
// fault may be injected all the same.
type NoEffect string

// Error returns the reason.
func (e NoEffect) Error() string { return string(e) }

// The assumptions of the claims that faults break: see [FaultSpec].
const (
	keysStay = "no unexpired key is lost"
	noJumps  = "the server's clock does not jump forward"
)

// faultTable is the table of all kinds of fault. A new kind is a type with its effect
// and a row here; tests of each package name the views that don't know it.
var faultTable = []FaultSpec{
	spec(FaultSpec{
		Word: "pause", Step: "pause", Many: "paused clients", Event: trace.KindPause,
		Menu: []MenuItem{{"pause", func(c string) Fault { return Pause{c} }}},
	}, func(f *Pause) []Param { return []Param{withClient("", &f.Client)} }),
	spec(FaultSpec{
		Word: "resume", Step: "resume", Ends: true, Event: trace.KindResume, Says: "%s is let go on.",
		Menu: []MenuItem{{"resume", func(c string) Fault { return Resume{c} }}},
	}, func(f *Resume) []Param { return []Param{withClient("", &f.Client)} }),
	spec(FaultSpec{
		Word: "crash", Step: "crash", Many: "crashes", Event: trace.KindCrash,
		Menu: []MenuItem{{"crash", func(c string) Fault { return Crash{c} }}},
	}, func(f *Crash) []Param { return []Param{withClient("", &f.Client)} }),
	spec(FaultSpec{
		Word: "wall", Step: "clock", Many: "jumps of clients' clocks", Event: trace.KindWallStep, Menu: scriptsOnly,
	}, func(f *WallStep) []Param { return []Param{withClient("client", &f.Client), withJump("by", &f.By)} }),

	spec(FaultSpec{
		Word: "drop", Step: "drop", Many: "lost messages", Event: trace.KindLost, Says: "A message of %s's is lost.",
		Menu: []MenuItem{
			{"lose reply", func(c string) Fault { return Drop{Client: c, Reply: true} }},
			{"lose request", func(c string) Fault { return Drop{Client: c} }},
		},
	}, func(f *Drop) []Param { return []Param{withClient("", &f.Client), withHalf(&f.Reply)} }),
	spec(FaultSpec{
		Word: "delay", Step: "delay", Many: "delayed messages", Event: trace.KindNetwork, Says: "A message of %s's is held up.", Menu: scriptsOnly,
	}, func(f *Delay) []Param {
		return []Param{withClient("", &f.Client), withHalf(&f.Reply), withSpan("by", &f.By)}
	}),
	spec(FaultSpec{
		Word: "duplicate", Step: "duplicate", Many: "requests that arrive twice", Event: trace.KindNetwork, Says: "A command of %s's arrives once more.", Menu: scriptsOnly,
	}, func(f *Duplicate) []Param {
		return []Param{withClient("request", &f.Client), withSpan("after", &f.After).optional(), withCount("nth", &f.N).last()}
	}),
	spec(FaultSpec{
		Word: "lose-reply", Step: "lose", Many: "lost replies", Event: trace.KindNetwork, Says: "The next reply to %s will be lost.", Menu: scriptsOnly,
	}, func(f *LoseReply) []Param { return []Param{withClient("reply", &f.Client)} }),
	spec(FaultSpec{
		Word: "hold", Step: "hold", Many: "requests that are held up", Event: trace.KindNetwork, Says: "What %s sends next will be held up.", Menu: scriptsOnly,
	}, func(f *Hold) []Param { return []Param{withClient("", &f.Client)} }),
	spec(FaultSpec{
		Word: "free", Step: "free", Ends: true, Event: trace.KindNetwork, Says: "What %s had sent goes on now.", Menu: scriptsOnly,
	}, func(f *Free) []Param { return []Param{withClient("", &f.Client), withCount("nth", &f.N)} }),

	spec(FaultSpec{
		Word: "down", Step: "down", Many: "servers that go down", Event: trace.KindDown, Breaks: keysStay,
		Menu: []MenuItem{{"down", func(n string) Fault { return Down{n} }}},
	}, func(f *Down) []Param { return []Param{withNode("", &f.Node)} }),
	spec(FaultSpec{
		Word: "unplug", Step: "unplug", Many: "power cuts", Event: trace.KindDown, Breaks: keysStay, Menu: scriptsOnly,
	}, func(f *Unplug) []Param { return []Param{withNode("", &f.Node)} }),
	spec(FaultSpec{
		Word: "up", Step: "up", Ends: true, Event: trace.KindUp, Breaks: keysStay,
		Menu: []MenuItem{{"up", func(n string) Fault { return Up{n} }}},
	}, func(f *Up) []Param { return []Param{withNode("", &f.Node)} }),
	spec(FaultSpec{
		Word: "clock", Step: "clock", Many: "jumps of servers' clocks", Event: trace.KindNodeStep, Menu: scriptsOnly, Breaks: noJumps,
	}, func(f *NodeStep) []Param { return []Param{withNode("node", &f.Node), withJump("by", &f.By)} }),
	spec(FaultSpec{
		Word: "evict", Step: "evict", Many: "evictions", Event: trace.KindEvict, Says: "%s drops the lock's record before its time.", Breaks: keysStay,
		Menu: []MenuItem{{"lose the key", func(n string) Fault { return Evict{n} }}},
	}, func(f *Evict) []Param { return []Param{withNode("", &f.Node)} }),
	spec(FaultSpec{
		Word: "occupy", Step: "occupy", Many: "keys that hold other data", Event: trace.KindStray, Says: "Another program stores its data under the lock's key.", Menu: scriptsOnly,
	}, func(f *Occupy) []Param { return []Param{withNode("", &f.Node)} }),
	spec(FaultSpec{
		Word: "forget-scripts", Step: "flush", Many: "emptied script caches", Event: trace.KindFlush, Says: "%s forgets its scripts.", Menu: scriptsOnly,
	}, func(f *ForgetScripts) []Param { return []Param{withNode("", &f.Node)} }),
	spec(FaultSpec{
		Word: "lag", Step: "lag", Many: "replicas that fall behind", Says: "What is written from now on reaches the replica %s late.", Menu: scriptsOnly, Breaks: keysStay,
	}, func(f *Lag) []Param {
		return []Param{withReplica("replica", &f.Replica), withSpan("by", &f.By).optional()}
	}),
	spec(FaultSpec{
		Word: "failover", Step: "failover", Many: "failovers", Event: trace.KindFailover, Menu: scriptsOnly, Breaks: keysStay,
	}, func(f *Failover) []Param {
		return []Param{withReplica("to", &f.To), withClients("stay", &f.Stay)}
	}),
	spec(FaultSpec{
		Word: "rejoin", Step: "rejoin", Ends: true, Event: trace.KindSync, Says: "%s becomes a replica of the master.", Menu: scriptsOnly, Breaks: keysStay,
	}, func(f *Rejoin) []Param { return []Param{withNode("", &f.Server)} }),

	spec(FaultSpec{
		Word: "slow", Step: "slow", Many: "slow and cut links", Event: trace.KindNetwork, Says: "A link of %s's is slow from now on.", Menu: scriptsOnly,
	}, func(f *Slow) []Param {
		return []Param{withClient("client", &f.Client), withNode("nodes", &f.Node).optional(), withSpan("request", &f.Request), withSpan("reply", &f.Reply)}
	}),
	spec(FaultSpec{
		Word: "cut", Step: "cut", Many: "slow and cut links", Event: trace.KindNetwork, Says: "A link of %s's is cut.", Menu: scriptsOnly,
	}, func(f *Cut) []Param {
		return []Param{withClient("client", &f.Client), withNode("nodes", &f.Node).optional(), withDirection("direction", &f.Direction)}
	}),
	spec(FaultSpec{
		Word: "heal", Step: "heal", Ends: true, Event: trace.KindNetwork, Says: "A link of %s's is whole again.", Menu: scriptsOnly,
	}, func(f *Heal) []Param {
		return []Param{withClient("client", &f.Client), withNode("nodes", &f.Node).optional()}
	}),
	spec(FaultSpec{
		Word: "hang", Step: "hang", Many: "hung threads", Event: trace.KindHang, Says: "%s's main thread stops for good.", Menu: scriptsOnly,
	}, func(f *Hang) []Param { return []Param{withClient("", &f.Client)} }),
	spec(FaultSpec{
		Word: "end-thread", Step: "end", Many: "hung threads", Event: trace.KindThreadEnd, Says: "%s's renewal thread ends.", Menu: scriptsOnly,
	}, func(f *EndThread) []Param { return []Param{withClient("", &f.Client)} }),
	spec(FaultSpec{
		Word: "throw", Step: "throw", Many: "exceptions in the critical section", Event: trace.KindHang, Says: "An exception ends %s's work.", Menu: scriptsOnly,
	}, func(f *Throw) []Param { return []Param{withClient("", &f.Client)} }),
	spec(FaultSpec{
		Word: "exit", Step: "exit", Many: "shutdown hooks", Event: trace.KindExit, Says: "%s is told to exit, and a hook releases its lock.", Menu: scriptsOnly,
	}, func(f *Exit) []Param { return []Param{withClient("", &f.Client)} }),

	spec(FaultSpec{
		Word: "update", Step: "update: database", Cache: true, Event: trace.KindUpdate, Says: "The database goes on to its next version.", Menu: scriptsOnly,
	}, func(*Update) []Param { return nil }),
	spec(FaultSpec{Word: "aftermath"}, func(*Drain) []Param { return nil }),
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
// under memory pressure, a FLUSHALL, an operator's DEL.
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

// Drain is not a fault but the end of every run: see [World.Drain]. It is in no script, and
// every script ends with it.
type Drain struct{}

// The forms of faults in a schedule.

func (f Crash) String() string         { return faultText(f) }
func (f Pause) String() string         { return faultText(f) }
func (f Resume) String() string        { return faultText(f) }
func (f Hang) String() string          { return faultText(f) }
func (f EndThread) String() string     { return faultText(f) }
func (f Throw) String() string         { return faultText(f) }
func (f Exit) String() string          { return faultText(f) }
func (f WallStep) String() string      { return faultText(f) }
func (f NodeStep) String() string      { return faultText(f) }
func (f Drop) String() string          { return faultText(f) }
func (f Delay) String() string         { return faultText(f) }
func (f Duplicate) String() string     { return faultText(f) }
func (f LoseReply) String() string     { return faultText(f) }
func (f Hold) String() string          { return faultText(f) }
func (f Free) String() string          { return faultText(f) }
func (f Cut) String() string           { return faultText(f) }
func (f Heal) String() string          { return faultText(f) }
func (f Slow) String() string          { return faultText(f) }
func (f Down) String() string          { return faultText(f) }
func (f Unplug) String() string        { return faultText(f) }
func (f Up) String() string            { return faultText(f) }
func (f Evict) String() string         { return faultText(f) }
func (f Occupy) String() string        { return faultText(f) }
func (f ForgetScripts) String() string { return faultText(f) }
func (f Lag) String() string           { return faultText(f) }
func (f Failover) String() string      { return faultText(f) }
func (f Rejoin) String() string        { return faultText(f) }
func (f Update) String() string        { return faultText(f) }
func (f Drain) String() string         { return faultText(f) }

func halfName(reply bool) string {
	if reply {
		return "reply"
	}
	return "request"
}

func (f Crash) enabled(w *World) (effect, error) {
	c, err := w.living(f.Client)
	return func() error {
		w.emit(&trace.Event{Kind: trace.KindCrash, Client: c.Index, Node: trace.None, Ref: trace.None, Acq: c.Acquired})
		c.crashed = true
		c.leaseGen++
		for _, t := range c.threads {
			t.Kill()
		}
		return nil
	}, err
}

func (f Pause) enabled(w *World) (effect, error) {
	c, err := w.living(f.Client)
	if err == nil && c.frozen {
		err = NoEffect(f.Client + " is paused already")
	}
	return func() error {
		c.frozen = true
		if !c.paused || c.held {
			w.hold(c, "")
		}
		return nil
	}, err
}

func (f Resume) enabled(w *World) (effect, error) {
	c, err := w.living(f.Client)
	if err == nil && !c.frozen {
		err = NoEffect(f.Client + " is not paused")
	}
	return func() error {
		c.frozen = false
		if !c.couldAct() {
			w.release(c) // its work goes on from here, and not when it ends
		}
		return nil
	}, err
}

func (f Hang) enabled(w *World) (effect, error) {
	c, err := w.living(f.Client)
	if err == nil && c.hung {
		err = NoEffect(f.Client + " hangs already")
	}
	return func() error {
		c.hung = true
		w.emit(&trace.Event{Kind: trace.KindHang, Client: c.Index, Node: trace.None, Ref: trace.None, Acq: c.Acquired})
		return nil
	}, err
}

func (f EndThread) enabled(w *World) (effect, error) {
	c, err := w.living(f.Client)
	if err == nil && !slices.ContainsFunc(c.threads[1:], func(t *thread) bool { return !t.Over }) {
		err = fmt.Errorf("%s has no second thread", f.Client)
	}
	return func() error {
		for _, t := range c.threads[1:] {
			if !t.Over {
				t.Kill()
				w.emit(&trace.Event{Kind: trace.KindThreadEnd, Client: c.Index, Thread: t.Index, Node: trace.None, Ref: trace.None, Acq: c.Acquired})
			}
		}
		return nil
	}, err
}

func (f Throw) enabled(w *World) (effect, error) {
	c, err := w.living(f.Client)
	switch {
	case err != nil:
	case c.hung:
		err = NoEffect(f.Client + "'s main thread has stopped already")
	case !w.state.Clients[c.Index].Lease.Inside:
		err = fmt.Errorf("%s is not in the critical section", f.Client)
	}
	return func() error {
		e := trace.Event{Kind: trace.KindLeave, Client: c.Index, Node: trace.None, Ref: trace.None, Phase: trace.PhaseHold, Acq: c.Acquired}
		w.emit(&e)
		c.hung = true
		w.emit(&trace.Event{Kind: trace.KindHang, Client: c.Index, Node: trace.None, Ref: trace.None, Acq: c.Acquired, Note: "an exception"})
		return nil
	}, err
}

func (f Exit) enabled(w *World) (effect, error) {
	c, err := w.living(f.Client)
	if err == nil && !w.state.Clients[c.Index].Lease.Believed {
		err = fmt.Errorf("%s does not hold the lock", f.Client)
	}
	return func() error {
		w.emit(&trace.Event{Kind: trace.KindExit, Client: c.Index, Node: trace.None, Ref: trace.None, Acq: c.Acquired})
		c.ReleaseApart()
		return nil
	}, err
}

func (f WallStep) enabled(w *World) (effect, error) {
	c, err := w.living(f.Client)
	if err != nil {
		return nil, err
	}
	if err := withinSpan(c.Wall.Offset, f.By); err != nil {
		return nil, fmt.Errorf("%s's clock %w", f.Client, err)
	}
	return func() error {
		c.Wall.Offset += f.By
		w.emit(&trace.Event{Kind: trace.KindWallStep, Client: c.Index, Node: trace.None, Ref: trace.None, Acq: c.Acquired, By: f.By})
		return nil
	}, nil
}

// withinSpan checks that a clock stays within the bounds of Validate, outside of which it
// could overflow.
func withinSpan(offset, by time.Duration) error {
	if by < -trace.MaxSpan || by > trace.MaxSpan {
		return fmt.Errorf("cannot jump by %s, but by up to %s", by, trace.MaxSpan)
	}
	if off := offset + by; off < -trace.MaxSpan || off > trace.MaxSpan {
		return fmt.Errorf("would be off by %s, and can be by %s", off, trace.MaxSpan)
	}
	return nil
}

// delaySpan checks the delay of a message.
func delaySpan(d time.Duration) error {
	if d < 0 || d > trace.MaxSpan {
		return fmt.Errorf("a message cannot take %s: it can take 0s to %s", d, trace.MaxSpan)
	}
	return nil
}

func (f NodeStep) enabled(w *World) (effect, error) {
	n, err := w.node(f.Node)
	if err != nil {
		return nil, err
	}
	if err := withinSpan(n.Offset, f.By); err != nil {
		return nil, fmt.Errorf("%s's clock %w", f.Node, err)
	}
	return func() error {
		w.emit(&trace.Event{Kind: trace.KindNodeStep, Client: trace.None, Node: n.Index, Ref: trace.None, By: f.By, Changes: n.Step(f.By)})
		return nil
	}, nil
}

func (f Drop) enabled(w *World) (effect, error) {
	m, err := w.underWay(f.Client, f.Reply)
	return func() error {
		w.lose(m, f.Reply)
		return nil
	}, err
}

func (f Delay) enabled(w *World) (effect, error) {
	if err := delaySpan(f.By); err != nil {
		return nil, err
	}
	m, err := w.underWay(f.Client, f.Reply)
	return func() error {
		m.gen++ // the arrival that was planned is off
		m.held = false
		m.here = false
		kind := timerRequest
		if f.Reply {
			kind = timerReply
		}
		w.timers.push(timer{at: w.now + f.By, kind: kind, gen: m.gen, msg: m})
		w.networkEvent(m, fmt.Sprintf("%s's %s is held up for %s: %s", f.Client, halfName(f.Reply), trace.Duration(f.By), m.content()))
		return nil
	}, err
}

func (f LoseReply) enabled(w *World) (effect, error) {
	c, err := w.living(f.Client)
	if err == nil && !w.Ready(SetOf(c.Index)) {
		if m := w.inFlight(c.Index, true); m != nil {
			return func() error {
				w.lose(m, true)
				return nil
			}, nil
		}
		if m := w.inFlight(c.Index, false); m != nil {
			return func() error {
				m.arranged = losesReply
				w.networkEvent(m, fmt.Sprintf("the reply to %s's request will be lost: %s", f.Client, trace.CommandText(m.args)))
				return nil
			}, nil
		}
	}
	return w.arrange(f.Client, losesReply, "the reply to %s's next request will be lost")
}

func (f Hold) enabled(w *World) (effect, error) {
	return w.arrange(f.Client, isHeld, "%s's next request will be held up")
}

// arrange sets the fault that a client's next request will meet with.
func (w *World) arrange(client string, next nextRequest, note string) (effect, error) {
	c, err := w.living(client)
	return func() error {
		c.nextRequest = next
		w.emit(&trace.Event{Kind: trace.KindNetwork, Client: c.Index, Node: trace.None, Ref: trace.None, Acq: c.Acquired, Note: fmt.Sprintf(note, client)})
		return nil
	}, err
}

func (f Free) enabled(w *World) (effect, error) {
	c, err := w.client(f.Client)
	if err != nil {
		return nil, err
	}
	n := 0
	for _, m := range w.sentMessages {
		if m.client != c.Index || !m.held {
			continue
		}
		if n++; n == f.N {
			return func() error {
				m.held = false
				w.timers.push(timer{at: w.now, kind: timerRequest, gen: m.gen, msg: m})
				w.networkEvent(m, fmt.Sprintf("%s's request goes on: %s", f.Client, trace.CommandText(m.args)))
				return nil
			}, nil
		}
	}
	if n == 0 {
		return nil, fmt.Errorf("no request of %s is held up", f.Client)
	}
	return nil, fmt.Errorf("%s has %d requests that are held up, and no %d", f.Client, n, f.N)
}

func (f Duplicate) enabled(w *World) (effect, error) {
	if err := delaySpan(f.After); err != nil {
		return nil, err
	}
	c, err := w.client(f.Client)
	if err != nil {
		return nil, err
	}
	last := w.executed(c, max(1, f.N))
	switch {
	case last == nil && f.N > 1:
		return nil, fmt.Errorf("%s has sent fewer than %d requests that could arrive twice", f.Client, f.N)
	case last == nil:
		return nil, fmt.Errorf("%s has sent nothing that could arrive twice", f.Client)
	case last.queued():
		return nil, fmt.Errorf("%s's %s is part of a transaction: nobody sends it again without the rest", f.Client, trace.CommandText(last.args))
	}
	return func() error {
		again := w.newMessage()
		*again = *last
		again.copy, again.executed, again.reply, again.gen, again.lost = true, trace.None, nil, 0, false
		again.node = last.conn.node().Index // a client that sends again sends to the master of today
		w.timers.push(timer{at: w.now + f.After, kind: timerRequest, msg: again})
		w.networkEvent(last, fmt.Sprintf("%s's request will arrive once more, in %s: %s", f.Client, trace.Duration(f.After), trace.CommandText(last.args)))
		return nil
	}, nil
}

func (f Cut) enabled(w *World) (effect, error) {
	what := "is cut"
	if f.Direction != Both {
		what += " for " + f.Direction.String()
	}
	return w.onLink(f.Client, f.Node, what, func(l *link) {
		l.cutRequest = l.cutRequest || f.Direction != Replies
		l.cutReply = l.cutReply || f.Direction != Requests
	})
}

func (f Heal) enabled(w *World) (effect, error) {
	return w.onLink(f.Client, f.Node, "is whole again", func(l *link) { l.cutRequest, l.cutReply = false, false })
}

func (f Slow) enabled(w *World) (effect, error) {
	if err := cmp.Or(delaySpan(f.Request), delaySpan(f.Reply)); err != nil {
		return nil, err
	}
	note := fmt.Sprintf("takes %s for a request, %s for a reply", trace.Duration(f.Request), trace.Duration(f.Reply))
	return w.onLink(f.Client, f.Node, note, func(l *link) { l.request, l.reply = f.Request, f.Reply })
}

func (f Down) enabled(w *World) (effect, error) { return w.stops(f.Node, "", (*redis.Node).Down) }

func (f Unplug) enabled(w *World) (effect, error) {
	return w.stops(f.Node, "loses power", (*redis.Node).PowerCut)
}

// stops is the end of a node's process, in a way that decides what its disk keeps. The note
// is empty for the common way.
func (w *World) stops(node, note string, way func(*redis.Node, time.Duration) []trace.Change) (effect, error) {
	n, err := w.node(node)
	if err == nil && !n.Up {
		err = NoEffect(node + " is down already")
	}
	return func() error {
		subscribers := slices.Clone(n.Subscribers())
		w.emit(&trace.Event{Kind: trace.KindDown, Client: trace.None, Node: n.Index, Ref: trace.None, Note: note, Changes: way(n, w.now)})
		w.unblock(n, "")
		w.disconnect(n, subscribers)
		return nil
	}, err
}

func (f Up) enabled(w *World) (effect, error) {
	n, err := w.node(f.Node)
	if err == nil && n.Up {
		err = NoEffect(f.Node + " is up already")
	}
	return func() error {
		changes, err := n.Start(w.now)
		if err != nil {
			return err
		}
		note := "empty: it persists nothing"
		if n.Persistence != redis.PersistNone {
			note = fmt.Sprintf("with what appendfsync %s had kept", n.Persistence)
		}
		w.emit(&trace.Event{Kind: trace.KindUp, Client: trace.None, Node: n.Index, Ref: trace.None, Note: note, Changes: changes})
		return nil
	}, err
}

func (f Evict) enabled(w *World) (effect, error) {
	n, err := w.node(f.Node)
	if err == nil && w.state.LockRecord(n.Index) == nil {
		err = fmt.Errorf("%s has nothing to evict", f.Node)
	}
	return func() error {
		w.push(n, w.emit(&trace.Event{Kind: trace.KindEvict, Client: trace.None, Node: n.Index, Ref: trace.None, Changes: n.Evict(w.now, w.cfg.RecordKey())}))
		return nil
	}, err
}

func (f Occupy) enabled(w *World) (effect, error) {
	n, err := w.node(f.Node)
	switch {
	case err != nil:
	case !n.Up:
		err = fmt.Errorf("%s is down", f.Node)
	case w.state.LockRecord(n.Index) != nil:
		err = fmt.Errorf("%s has a record under the lock's key", f.Node)
	}
	return func() error {
		w.emit(&trace.Event{Kind: trace.KindStray, Client: trace.None, Node: n.Index, Ref: trace.None, Changes: n.Occupy(w.now, w.cfg.RecordKey())})
		return nil
	}, err
}

func (f ForgetScripts) enabled(w *World) (effect, error) {
	n, err := w.node(f.Node)
	return func() error {
		n.ForgetScripts()
		w.emit(&trace.Event{Kind: trace.KindFlush, Client: trace.None, Node: n.Index, Ref: trace.None})
		return nil
	}, err
}

func (Update) enabled(w *World) (effect, error) {
	if w.cfg.Workload != trace.Cache {
		return nil, fmt.Errorf("there is no database: the workload is %s", w.cfg.Workload)
	}
	return func() error {
		w.store.database++
		w.emit(&trace.Event{Kind: trace.KindUpdate, Client: trace.None, Node: trace.None, Ref: trace.None, Value: w.store.database})
		return nil
	}, nil
}

func (Drain) enabled(w *World) (effect, error) {
	return func() error {
		w.drain()
		return nil
	}, nil
}

func (w *World) onLink(client, node, what string, change func(*link)) (effect, error) {
	c, err := w.client(client)
	if err != nil {
		return nil, err
	}
	n, err := w.node(node)
	return func() error {
		change(w.link(c.Index, n.Index))
		w.emit(&trace.Event{Kind: trace.KindNetwork, Client: c.Index, Node: n.Index, Ref: trace.None, Acq: c.Acquired,
			Note: fmt.Sprintf("the link between %s and %s %s", client, node, what)})
		return nil
	}, err
}

func (w *World) networkEvent(m *message, note string) {
	w.emit(&trace.Event{Kind: trace.KindNetwork, Client: m.client, Node: m.node, Ref: m.sent, Acq: m.acq, Note: note})
}

func (w *World) client(name string) (*client, error) {
	if i, found := w.Client(name); found {
		return w.clients[i], nil
	}
	return nil, fmt.Errorf("there is no client %q", name)
}

// living finds a client by name. It fails with a NoEffect if the client has crashed.
func (w *World) living(name string) (*client, error) {
	c, err := w.client(name)
	if err == nil && c.crashed {
		err = NoEffect(name + " has crashed")
	}
	return c, err
}

func (w *World) node(name string) (*redis.Node, error) {
	for _, n := range w.nodes {
		if n.Name == name {
			return n, nil
		}
	}
	return nil, fmt.Errorf("there is no node %q", name)
}

// executed returns the nth of a client's requests, counted back from the one that was executed
// last, or nil if it has none. Copies and those that were refused don't count.
func (w *World) executed(c *client, n int) *message {
	var all []*message
	for _, m := range w.sentMessages {
		if m.client == c.Index && m.executed != trace.None && m.failed == nil && !m.copy && !m.pushed {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, func(a, b *message) int { return b.executed - a.executed })
	if n > len(all) {
		return nil
	}
	return all[n-1]
}

func (w *World) underWay(client string, reply bool) (*message, error) {
	c, err := w.client(client)
	if err != nil {
		return nil, err
	}
	if m := w.inFlight(c.Index, reply); m != nil {
		return m, nil
	}
	return nil, fmt.Errorf("no %s of %s is under way", halfName(reply), client)
}
