package sim

import (
	"fmt"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
	"strings"
	"time"
)

// Fault is something that goes wrong, or is put right again, at the instant at
// which it is injected. A fault exists once and serves scripts, schedules,
// search and sandbox alike; its String is its form in a schedule.
type Fault interface {
	inject(w *World) error
	String() string
}

// Crash ends a client's process: no deferred function of it does anything any
// more. What it had sent is still on its way.
type Crash struct{ Client string }

// Pause freezes all of a client's threads, as a garbage collection, a page
// fault or a busy hypervisor does. Its clocks go on.
type Pause struct{ Client string }

// Resume ends a Pause.
type Resume struct{ Client string }

// Hang stops a client's main thread for good: a lost wake-up, a call that never
// returns. The process lives on, and so do its other threads.
type Hang struct{ Client string }

// EndThread makes a client's renewal thread end without a word: an exception
// that nobody caught.
type EndThread struct{ Client string }

// WallStep makes a client's wall clock jump. Its monotonic clock doesn't.
type WallStep struct {
	Client string
	By     time.Duration
}

// NodeStep makes a node's clock jump, and all its expiries with it.
type NodeStep struct {
	Node string
	By   time.Duration
}

// Drop loses a client's newest request, or the reply to it, that is under way.
type Drop struct {
	Client string
	Reply  bool
}

// Delay holds it up instead.
type Delay struct {
	Client string
	Reply  bool
	By     time.Duration
}

// Duplicate makes a client's last executed command arrive at its node once more,
// as when a library sends it again after a lost reply. Nobody waits for the
// second reply.
type Duplicate struct {
	Client string
	After  time.Duration
}

// LoseReply loses the reply to the request that a client sends next.
type LoseReply struct{ Client string }

// Hold holds up the request that a client sends next, until it is freed.
type Hold struct{ Client string }

// Free lets the nth of a client's held requests arrive, from 1.
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

func (d Direction) String() string { return directionNames[d] }

// ParseDirection is the inverse of String.
func ParseDirection(s string) (Direction, error) {
	for i, name := range directionNames {
		if s == name {
			return Direction(i), nil
		}
	}
	return 0, fmt.Errorf("unknown direction %q: it is one of %s", s, strings.Join(directionNames[:], ", "))
}

// Cut makes a link lose everything that is sent from now on, in one direction or both.
type Cut struct {
	Client, Node string
	Direction    Direction
}

// Heal ends a Cut.
type Heal struct{ Client, Node string }

// Slow sets a link's latencies.
type Slow struct {
	Client, Node   string
	Request, Reply time.Duration
}

// Down stops a node: what is only in its memory is gone.
type Down struct{ Node string }

// Up starts it again with what its disk holds.
type Up struct{ Node string }

// Evict makes a node drop the lock's key although its time isn't up: eviction
// under memory pressure, a FLUSHALL, somebody's DEL.
type Evict struct{ Node string }

// ForgetScripts empties a node's script cache, as SCRIPT FLUSH does.
type ForgetScripts struct{ Node string }

// Lag sets how long writes take to reach a replica from now on.
type Lag struct {
	Replica string
	By      time.Duration
}

// Failover makes a replica the master. The other replicas copy it. Clients are
// led to the new master at once, except those that stay: they go on talking to
// the old one, which doesn't know better: a split brain.
type Failover struct {
	To   string
	Stay []string
}

// Rejoin makes a server that is not the master any more a replica of the one that
// is: it copies it, and forgets whatever it had of its own. Clients that had
// stayed with it find the new master.
type Rejoin struct{ Server string }

// Update changes what the database behind a cache holds: somebody edits the
// product. Nobody tells the cache, nor those who have read the older version.
type Update struct{}

// Aftermath is not a fault but the end of every run: see World.Aftermath.
type Aftermath struct{}

func (f Crash) String() string     { return "crash/" + f.Client }
func (f Pause) String() string     { return "pause/" + f.Client }
func (f Resume) String() string    { return "resume/" + f.Client }
func (f Hang) String() string      { return "hang/" + f.Client }
func (f EndThread) String() string { return "end-thread/" + f.Client }
func (f WallStep) String() string  { return "wall/" + f.Client + "/" + f.By.String() }
func (f NodeStep) String() string  { return "clock/" + f.Node + "/" + f.By.String() }
func (f Drop) String() string      { return "drop/" + f.Client + "/" + half(f.Reply) }
func (f Delay) String() string {
	return "delay/" + f.Client + "/" + half(f.Reply) + "/" + f.By.String()
}
func (f Duplicate) String() string { return "duplicate/" + f.Client + "/" + f.After.String() }
func (f LoseReply) String() string { return "lose-reply/" + f.Client }
func (f Hold) String() string      { return "hold/" + f.Client }
func (f Free) String() string      { return fmt.Sprintf("free/%s/%d", f.Client, f.N) }
func (f Cut) String() string       { return "cut/" + f.Client + "/" + f.Node + "/" + f.Direction.String() }
func (f Heal) String() string      { return "heal/" + f.Client + "/" + f.Node }
func (f Slow) String() string {
	return "slow/" + f.Client + "/" + f.Node + "/" + f.Request.String() + "/" + f.Reply.String()
}
func (f Down) String() string    { return "down/" + f.Node }
func (f Up) String() string      { return "up/" + f.Node }
func (f Evict) String() string   { return "evict/" + f.Node }
func (Update) String() string    { return "update" }
func (Aftermath) String() string { return "aftermath" }

func (f Lag) String() string { return "lag/" + f.Replica + "/" + f.By.String() }
func (f Failover) String() string {
	if len(f.Stay) == 0 {
		return "failover/" + f.To + "/-"
	}
	return "failover/" + f.To + "/" + strings.Join(f.Stay, "+")
}
func (f Rejoin) String() string { return "rejoin/" + f.Server }

func (f ForgetScripts) String() string { return "forget-scripts/" + f.Node }

func half(reply bool) string {
	if reply {
		return "reply"
	}
	return "request"
}

func (f Crash) inject(w *World) error {
	c, err := w.client(f.Client)
	if err != nil || c.crashed {
		return err
	}
	w.emit(&trace.Event{Kind: trace.KindCrash, Client: c.index, Node: trace.None, Ref: trace.None, Acq: c.acquired})
	c.crashed = true
	c.leaseGen++
	for _, t := range c.threads {
		t.kill()
	}
	return nil
}

func (f Pause) inject(w *World) error {
	c, err := w.client(f.Client)
	if err != nil || c.crashed || c.frozen {
		return err
	}
	c.frozen = true
	if !c.paused {
		w.hold(c)
	}
	return nil
}

func (f Resume) inject(w *World) error {
	c, err := w.client(f.Client)
	if err != nil || c.crashed {
		return err
	}
	c.frozen = false
	return nil
}

func (f Hang) inject(w *World) error {
	c, err := w.client(f.Client)
	if err != nil || c.crashed || c.hung {
		return err
	}
	c.hung = true
	w.emit(&trace.Event{Kind: trace.KindHang, Client: c.index, Node: trace.None, Ref: trace.None, Acq: c.acquired})
	return nil
}

func (f EndThread) inject(w *World) error {
	c, err := w.client(f.Client)
	if err != nil || c.crashed {
		return err
	}
	ended := false
	for _, t := range c.threads[1:] {
		if !t.over {
			t.kill()
			w.emit(&trace.Event{Kind: trace.KindThreadEnd, Client: c.index, Thread: t.index, Node: trace.None, Ref: trace.None, Acq: c.acquired})
			ended = true
		}
	}
	if !ended {
		return fmt.Errorf("%s has no second thread", f.Client)
	}
	return nil
}

func (f WallStep) inject(w *World) error {
	c, err := w.client(f.Client)
	if err != nil || c.crashed {
		return err
	}
	if err := withinSpan(c.wall.offset, f.By); err != nil {
		return fmt.Errorf("%s's clock %w", f.Client, err)
	}
	c.wall.offset += f.By
	w.emit(&trace.Event{Kind: trace.KindWallStep, Client: c.index, Node: trace.None, Ref: trace.None, Acq: c.acquired, By: f.By})
	return nil
}

// withinSpan: a clock that is off by more than Validate allows could overflow.
func withinSpan(offset, by time.Duration) error {
	if by < -maxSpan || by > maxSpan {
		return fmt.Errorf("cannot jump by %s, but by up to %s", by, maxSpan)
	}
	if off := offset + by; off < -maxSpan || off > maxSpan {
		return fmt.Errorf("would be off by %s, and can be by %s", off, maxSpan)
	}
	return nil
}

// delaySpan checks how long something is to take.
func delaySpan(d time.Duration) error {
	if d < 0 || d > maxSpan {
		return fmt.Errorf("a message cannot take %s: it can take 0s to %s", d, maxSpan)
	}
	return nil
}

func (f NodeStep) inject(w *World) error {
	n, err := w.node(f.Node)
	if err != nil {
		return err
	}
	if err := withinSpan(n.Offset, f.By); err != nil {
		return fmt.Errorf("%s's clock %w", f.Node, err)
	}
	w.emit(&trace.Event{Kind: trace.KindNodeStep, Client: trace.None, Node: n.Index, Ref: trace.None, By: f.By, Changes: n.Step(f.By)})
	return nil
}

func (f Drop) inject(w *World) error {
	m, err := w.underWay(f.Client, f.Reply)
	if err != nil {
		return err
	}
	w.lose(m, f.Reply)
	return nil
}

func (f Delay) inject(w *World) error {
	if err := delaySpan(f.By); err != nil {
		return err
	}
	m, err := w.underWay(f.Client, f.Reply)
	if err != nil {
		return err
	}
	m.gen++ // the arrival that was planned is off
	m.held = false
	m.here = false
	kind := timerRequest
	if f.Reply {
		kind = timerReply
	}
	w.timers.push(timer{at: w.now + f.By, kind: kind, gen: m.gen, msg: m})
	w.network(m, fmt.Sprintf("%s's %s is held up for %s: %s", f.Client, half(f.Reply), trace.Duration(f.By), trace.CommandText(m.args)))
	return nil
}

func (f LoseReply) inject(w *World) error {
	return w.arm(f.Client, loseReply, "the reply to %s's next request will be lost")
}

func (f Hold) inject(w *World) error {
	return w.arm(f.Client, hold, "%s's next request will be held up")
}

// arm decides what becomes of a client's next request.
func (w *World) arm(client string, fate fate, note string) error {
	c, err := w.client(client)
	if err != nil || c.crashed {
		return err
	}
	c.fate = fate
	w.emit(&trace.Event{Kind: trace.KindNetwork, Client: c.index, Node: trace.None, Ref: trace.None, Acq: c.acquired, Note: fmt.Sprintf(note, client)})
	return nil
}

func (f Free) inject(w *World) error {
	c, err := w.client(f.Client)
	if err != nil {
		return err
	}
	n := 0
	for _, m := range w.sentMessages {
		if m.client != c.index || !m.held {
			continue
		}
		if n++; n == f.N {
			m.held = false
			w.timers.push(timer{at: w.now, kind: timerRequest, gen: m.gen, msg: m})
			w.network(m, fmt.Sprintf("%s's request goes on: %s", f.Client, trace.CommandText(m.args)))
			return nil
		}
	}
	if n == 0 {
		return fmt.Errorf("no request of %s is held up", f.Client)
	}
	return fmt.Errorf("%s has %d requests that are held up, and no %d", f.Client, n, f.N)
}

func (f Duplicate) inject(w *World) error {
	if err := delaySpan(f.After); err != nil {
		return err
	}
	c, err := w.client(f.Client)
	if err != nil {
		return err
	}
	var last *message
	for _, m := range w.sentMessages {
		if m.client == c.index && m.executed != trace.None && m.failed == nil && !m.copy && (last == nil || m.executed > last.executed) {
			last = m
		}
	}
	switch {
	case last == nil:
		return fmt.Errorf("%s has sent nothing that could arrive twice", f.Client)
	case last.queued():
		return fmt.Errorf("%s's %s is part of a transaction: nobody sends it again without the rest", f.Client, trace.CommandText(last.args))
	}
	again := w.newMessage()
	*again = *last
	again.copy, again.executed, again.reply, again.gen, again.lost = true, trace.None, nil, 0, false
	again.node = last.conn.node().Index // whoever sends again sends to the master of today
	w.timers.push(timer{at: w.now + f.After, kind: timerRequest, msg: again})
	w.network(last, fmt.Sprintf("%s's request will arrive once more, in %s: %s", f.Client, trace.Duration(f.After), trace.CommandText(last.args)))
	return nil
}

func (f Cut) inject(w *World) error {
	return w.onLink(f.Client, f.Node, "is cut"+direction(f.Direction), func(l *link) {
		l.cutRequest = l.cutRequest || f.Direction != Replies
		l.cutReply = l.cutReply || f.Direction != Requests
	})
}

func direction(d Direction) string {
	if d == Both {
		return ""
	}
	return " for " + d.String()
}

func (f Heal) inject(w *World) error {
	return w.onLink(f.Client, f.Node, "is whole again", func(l *link) { l.cutRequest, l.cutReply = false, false })
}

func (f Slow) inject(w *World) error {
	for _, d := range []time.Duration{f.Request, f.Reply} {
		if err := delaySpan(d); err != nil {
			return err
		}
	}
	note := fmt.Sprintf("takes %s for a request, %s for a reply", trace.Duration(f.Request), trace.Duration(f.Reply))
	return w.onLink(f.Client, f.Node, note, func(l *link) { l.request, l.reply = f.Request, f.Reply })
}

func (f Down) inject(w *World) error {
	n, err := w.node(f.Node)
	if err != nil || !n.Up {
		return err
	}
	w.emit(&trace.Event{Kind: trace.KindDown, Client: trace.None, Node: n.Index, Ref: trace.None, Changes: n.Down(w.now)})
	w.unblock(n, "")
	return nil
}

func (f Up) inject(w *World) error {
	n, err := w.node(f.Node)
	if err != nil || n.Up {
		return err
	}
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
}

func (f Evict) inject(w *World) error {
	n, err := w.node(f.Node)
	if err != nil {
		return err
	}
	changes := n.Evict(w.now, w.cfg.Key)
	if len(changes) == 0 {
		return fmt.Errorf("%s has nothing to evict", f.Node)
	}
	w.emit(&trace.Event{Kind: trace.KindEvict, Client: trace.None, Node: n.Index, Ref: trace.None, Changes: changes})
	return nil
}

func (f ForgetScripts) inject(w *World) error {
	n, err := w.node(f.Node)
	if err != nil {
		return err
	}
	n.ForgetScripts()
	w.emit(&trace.Event{Kind: trace.KindFlush, Client: trace.None, Node: n.Index, Ref: trace.None})
	return nil
}

func (Update) inject(w *World) error {
	if w.cfg.Workload != trace.Cache {
		return fmt.Errorf("there is no database: the workload is %s", w.cfg.Workload)
	}
	w.store.database++
	w.emit(&trace.Event{Kind: trace.KindUpdate, Client: trace.None, Node: trace.None, Ref: trace.None, Value: w.store.database})
	return nil
}

func (Aftermath) inject(w *World) error {
	w.aftermath()
	return nil
}

func (w *World) onLink(client, node, what string, change func(*link)) error {
	c, err := w.client(client)
	if err != nil {
		return err
	}
	n, err := w.node(node)
	if err != nil {
		return err
	}
	change(w.link(c.index, n.Index))
	w.emit(&trace.Event{Kind: trace.KindNetwork, Client: c.index, Node: n.Index, Ref: trace.None, Acq: c.acquired,
		Note: fmt.Sprintf("the link between %s and %s %s", client, node, what)})
	return nil
}

func (w *World) network(m *message, note string) {
	w.emit(&trace.Event{Kind: trace.KindNetwork, Client: m.client, Node: m.node, Ref: m.sent, Acq: m.acq, Note: note})
}

func (w *World) client(name string) (*client, error) {
	if i, found := w.Client(name); found {
		return w.clients[i], nil
	}
	return nil, fmt.Errorf("there is no client %q", name)
}

func (w *World) node(name string) (*redis.Node, error) {
	for _, n := range w.nodes {
		if n.Name == name {
			return n, nil
		}
	}
	return nil, fmt.Errorf("there is no node %q", name)
}

func (w *World) underWay(client string, reply bool) (*message, error) {
	c, err := w.client(client)
	if err != nil {
		return nil, err
	}
	if m := w.inFlight(c.index, reply); m != nil {
		return m, nil
	}
	return nil, fmt.Errorf("no %s of %s is under way", half(reply), client)
}
