package sim

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"lockstep/strategies"
)

// Config is everything that a run depends on besides its schedule.
type Config struct {
	Strategy strategies.Strategy
	Scenario string        // a label: what the run shows, see Label
	Key      string        // the lock's key
	TTL      time.Duration // of a lease
	Retry    strategies.Retry
	Timeout  time.Duration // how long a client waits for a reply
	Latency  time.Duration // of a request, and of a reply
	Seed     uint64
	Fenced   bool // the resource checks fencing tokens
	Cold     bool // the nodes' script caches are empty, as after a restart
	Clients  []ClientConfig
	Nodes    []NodeConfig
}

// ClientConfig is one client's part of it.
type ClientConfig struct {
	Name   string
	Offset time.Duration // of its wall clock
	Rate   float64       // of both its clocks; 1 is right
	Cycles int           // how often it takes the lock
	Work   time.Duration // between its read and its write
	Insist time.Duration // after a refusal or an error it waits so long and tries again; 0: it gives up
}

// NodeConfig is one node's part of it.
type NodeConfig struct {
	Offset      time.Duration // of its clock
	Persistence Persistence
}

// Probe is the name of the extra client that every world has: it stands by
// until the script is over, and then finds out whether the lock can still be had.
const Probe = "probe"

// The bounds of a run. A script that reaches one is told so; it never hangs.
const (
	MaxEvents = 100_000
	MaxTime   = 200 * 365 * 24 * time.Hour
)

// World is a set of clients and nodes in virtual time. It is made once and
// reset for every run, because creating go-redis clients is slow.
//
// A World is not safe for concurrent use: one goroutine drives it.
type World struct {
	cfg     Config
	clients []*client
	nodes   []*node
	links   []link
	store   store

	now          time.Duration
	timers       timerQueue
	sentMessages []*message
	grantSent    []time.Duration // when each client sent the command that last stored a lock record
	current      *thread         // who is running, if anybody
	readySeq     uint64
	draws        uint64

	recording bool
	sources   sourceCache
	events    int
	trace     Trace
	state     *State
	monitors  monitors
	moves     moves
	err       error // a bound was reached, or a node could not restart
}

// New builds a world for runs with as many clients and nodes as cfg has. Reset
// starts the first run.
func New(cfg Config) (*World, error) {
	w := &World{sources: sourceCache{}}
	for i := range cfg.Nodes {
		n, err := newNode(i)
		if err != nil {
			return nil, fmt.Errorf("cannot make node %d: %w", i+1, err)
		}
		w.nodes = append(w.nodes, n)
	}
	w.links = make([]link, (len(cfg.Clients)+1)*len(cfg.Nodes))
	w.grantSent = make([]time.Duration, len(cfg.Clients)+1)
	for i, c := range cfg.Clients {
		w.clients = append(w.clients, newClient(w, i, c.Name))
	}
	w.clients = append(w.clients, newClient(w, len(cfg.Clients), Probe))
	for _, c := range w.clients {
		if err := c.warm(); err != nil {
			return nil, errors.Join(err, w.Close())
		}
	}
	return w, nil
}

// Reset starts a new run, whatever became of the last one. It fails if cfg
// doesn't fit the world: see Fits.
func (w *World) Reset(cfg Config, record bool) error {
	if !w.Fits(cfg) {
		return errors.New("sim: this world has other clients or nodes than the configuration")
	}
	w.Stop()
	// The probe never insists: it asks once at a time.
	probe := ClientConfig{Name: Probe, Rate: 1, Cycles: 1}
	cfg.Clients = append(append([]ClientConfig(nil), cfg.Clients...), probe)
	w.cfg, w.recording, w.err = cfg, record, nil
	w.now, w.readySeq, w.draws, w.events, w.current = 0, 0, 0, 0, nil
	w.timers.reset()
	clear(w.sentMessages)
	w.sentMessages = w.sentMessages[:0]
	clear(w.grantSent)
	for i := range w.links {
		w.links[i] = link{request: cfg.Latency, reply: cfg.Latency}
	}
	w.store = store{checks: cfg.Fenced}
	for i, n := range w.nodes {
		n.reset(cfg.Nodes[i])
	}
	if err := w.warmScripts(); err != nil {
		return err
	}
	w.resetTrace()
	for i, c := range w.clients {
		c.reset(&cfg.Clients[i])
		w.ready(c.threads[0])
	}
	return nil
}

// warmScripts puts the strategy's scripts into every node's cache, as if they had
// been used before.
func (w *World) warmScripts() error {
	if w.cfg.Cold {
		return nil
	}
	for _, script := range w.cfg.Strategy.Scripts {
		for _, node := range w.clients[0].redis {
			if err := script.Load(context.Background(), node).Err(); err != nil {
				return fmt.Errorf("cannot load a script of %s: %w", w.cfg.Strategy.Name, err)
			}
		}
	}
	return nil
}

// Fits reports whether the world has the clients and nodes of cfg.
func (w *World) Fits(cfg Config) bool {
	if len(cfg.Clients)+1 != len(w.clients) || len(cfg.Nodes) != len(w.nodes) {
		return false
	}
	for i, c := range cfg.Clients {
		if w.clients[i].name != c.Name {
			return false
		}
	}
	return true
}

func (w *World) resetTrace() {
	t := Trace{Strategy: w.cfg.Strategy.Name, Scenario: w.cfg.Scenario, Seed: w.cfg.Seed, Key: w.cfg.Key, TTL: w.cfg.TTL,
		Counter: w.cfg.Strategy.Counter, Need: w.cfg.Strategy.Quorum()}
	for _, c := range w.clients {
		t.Clients = append(t.Clients, c.name)
	}
	for i, n := range w.nodes {
		t.Nodes = append(t.Nodes, n.name)
		n.offset = w.cfg.Nodes[i].Offset
	}
	w.trace = t
	if w.state == nil || w.state.counter != t.Counter || w.state.key != t.Key {
		w.state = t.NewState()
	} else {
		w.state.reset()
	}
	for i := range w.nodes {
		w.state.Nodes[i].Offset = w.cfg.Nodes[i].Offset
	}
	w.monitors.reset(w)
	w.moves.reset()
}

// Close ends all threads and connections. The world can't be used afterwards.
func (w *World) Close() error {
	var all error
	for _, c := range w.clients {
		all = errors.Join(all, c.close())
	}
	for _, n := range w.nodes {
		n.close()
	}
	return all
}

// Now is true virtual time since the start of the run.
func (w *World) Now() time.Duration { return w.now }

// Err is why the run cannot go on, if it cannot.
func (w *World) Err() error { return w.err }

// State is what is true now. It is the world's own: look, don't touch.
func (w *World) State() *State { return w.state }

// Client finds a client by name.
func (w *World) Client(name string) (int, bool) {
	for i, c := range w.clients {
		if c.name == name {
			return i, true
		}
	}
	return None, false
}

// Clients is how many there are, the probe not counted.
func (w *World) Clients() int { return len(w.clients) - 1 }

// Nodes is how many there are.
func (w *World) Nodes() int { return len(w.nodes) }

// emit gives an event its place in the order, lets the monitors see it, and
// records it. It returns its Seq.
func (w *World) emit(e Event) int {
	w.events++
	e.Seq, e.At = w.events, w.now
	if w.events > MaxEvents && w.err == nil {
		w.err = fmt.Errorf("the run was stopped after %d events: nothing ends it", MaxEvents)
	}
	w.monitors.before(&e)
	w.state.Apply(&e)
	w.monitors.after(&e)
	if w.recording {
		if e.Changes != nil {
			e.Changes = append([]Change(nil), e.Changes...) // the node uses its own again
		}
		w.trace.Events = append(w.trace.Events, e)
	}
	return e.Seq
}

// ready puts a thread into the queue of those that can run.
func (w *World) ready(t *thread) {
	w.readySeq++
	t.waiting, t.readyAt = false, w.readySeq
}

// runnable reports whether the thread could take a step at this instant.
func (t *thread) runnable() bool { return !t.over && !t.waiting }

// step lets a thread perform the operation that it announced, and runs it to the
// next.
func (w *World) step(t *thread) {
	w.release(t.client)
	w.perform(t)
	t.run()
	if !t.over {
		w.announce(t)
	}
	w.settle()
}

// announce looks at the operation that a thread has just announced: some have
// to wait.
func (w *World) announce(t *thread) {
	switch o := &t.op; o.kind {
	case opReceive:
		c := o.conn
		c.reader = t
		if len(c.inbox) > 0 {
			w.ready(t)
			return
		}
		t.waiting, t.due = true, max(w.now, c.lastSend+w.cfg.Timeout)
	case opSleep:
		t.waiting, t.due = true, w.now+t.client.mono.span(o.d)
		w.event(t, Event{Kind: KindSleep, Ref: None, By: o.d})
	default:
		w.ready(t)
	}
}

// perform carries out a thread's operation.
func (w *World) perform(t *thread) {
	o := &t.op
	switch o.kind {
	case opSend:
		w.performSend(t, o)
	case opReceive:
		w.performReceive(t, o)
	case opClock:
		w.performClock(t, o)
	case opSleep:
		w.event(t, Event{Kind: KindWake, Ref: None})
	case opRead, opWrite:
		w.store.access(w, t, o)
	case opMark:
		w.performMark(t, o)
	}
}

// event emits a thread's event.
func (w *World) event(t *thread, e Event) int {
	e.Client, e.Thread, e.Acq, e.Source = t.client.index, t.index, t.client.acquired, t.op.source
	e.Phase, e.Cycle = t.phase, w.state.Clients[t.client.index].Cycle
	if t.op.conn != nil {
		e.Node = t.op.conn.node.index
	} else {
		e.Node = None
	}
	return w.emit(e)
}

func (w *World) performSend(t *thread, o *op) {
	t.command++
	c := o.conn
	m := &message{conn: c, args: o.args, client: t.client.index, thread: t.index, node: c.node.index,
		acq: t.client.acquired, cycle: w.state.Clients[t.client.index].Cycle, command: t.command, phase: t.phase,
		executed: None, sentAt: w.now, source: o.source}
	m.sent = w.event(t, Event{Kind: KindSend, Command: t.command, Ref: None, Args: o.args})
	c.lastSend, c.lastSent, t.last = w.now, m.sent, m
	w.send(m)
}

func (w *World) performReceive(t *thread, o *op) {
	c := o.conn
	c.reader = nil
	if len(c.inbox) == 0 {
		o.err = errTimeout(c.node)
		w.event(t, Event{Kind: KindTimeout, Command: t.command, Ref: c.lastSent, By: w.cfg.Timeout})
		return
	}
	m := c.inbox[0]
	c.inbox = append(c.inbox[:0], c.inbox[1:]...)
	m.read = true
	if m.failed != nil {
		o.err = m.failed
		w.event(t, Event{Kind: KindDisconnect, Command: m.command, Ref: m.executed})
		return
	}
	o.reply = m.reply
	if m.noScript() {
		t.command--
	}
	e := Event{Kind: KindReceive, Command: m.command, Ref: m.executed}
	if w.recording {
		e.Reply = replyText(m.reply)
	}
	w.event(t, e)
}

func (w *World) performClock(t *thread, o *op) {
	note := "monotonic"
	if o.wall {
		note = "wall"
		o.d = t.client.wall.read(w.now).Sub(Epoch)
		w.event(t, Event{Kind: KindClock, Ref: None, By: o.d + Epoch.Sub(time.Unix(0, 0)), Note: note})
		return
	}
	o.d = t.client.mono.read(w.now)
	w.event(t, Event{Kind: KindClock, Ref: None, By: o.d, Note: note})
}

func (w *World) performMark(t *thread, o *op) {
	cycle := int(o.d)
	switch o.mark {
	case KindAcquire:
		t.phase, t.command = PhaseAcquire, 0
		t.client.acquired++
	case KindEnter:
		t.phase, t.command = PhaseWork, 0
	case KindLeave:
		t.phase, t.command = PhaseHold, 0
	case KindRelease:
		t.phase, t.command = PhaseRelease, 0
		t.client.leaseGen++
	}
	w.emit(Event{Kind: o.mark, Client: t.client.index, Thread: t.index, Node: None, Ref: None, Phase: t.phase,
		Cycle: cycle, Acq: t.client.acquired})
}

// Validate reports what of a configuration could not be run.
func (c *Config) Validate() error {
	switch {
	case len(c.Clients) == 0 || len(c.Clients) > MaxClients:
		return fmt.Errorf("there are %d clients, and can be 1 to %d", len(c.Clients), MaxClients)
	case len(c.Nodes) == 0 || len(c.Nodes) > MaxNodes:
		return fmt.Errorf("there are %d nodes, and can be 1 to %d", len(c.Nodes), MaxNodes)
	case len(c.Nodes) != c.Strategy.Nodes:
		return fmt.Errorf("there are %d nodes, and %s runs on %d", len(c.Nodes), c.Strategy.Name, c.Strategy.Nodes)
	case c.TTL < time.Millisecond || c.TTL > maxSpan:
		return fmt.Errorf("the TTL is %s, and can be 1ms to %s", c.TTL, maxSpan)
	case c.Timeout <= 0 || c.Timeout > maxSpan:
		return fmt.Errorf("the timeout is %s, and can be up to %s", c.Timeout, maxSpan)
	case c.Latency < 0 || c.Latency > maxSpan:
		return fmt.Errorf("the latency is %s, and can be 0s to %s", c.Latency, maxSpan)
	case c.Retry.Tries < 0:
		return fmt.Errorf("the number of tries is %d, and can't be less than 0", c.Retry.Tries)
	case c.Retry.Delay < 0 || c.Retry.Jitter < 0 || c.Retry.Delay > maxSpan || c.Retry.Jitter > maxSpan:
		return fmt.Errorf("the retry delay is %s and its jitter %s, and both can be 0s to %s", c.Retry.Delay, c.Retry.Jitter, maxSpan)
	case !validLabel(c.Scenario):
		return fmt.Errorf("the label is %q, and must consist of letters, digits, '.', '_' and '-'", c.Scenario)
	case !validLabel(c.Key):
		return fmt.Errorf("the key is %q, and must consist of letters, digits, '.', '_' and '-'", c.Key)
	}
	seen := map[string]bool{}
	for _, cl := range c.Clients {
		if err := cl.validate(); err != nil {
			return err
		}
		if seen[cl.Name] {
			return fmt.Errorf("there are two clients named %s", cl.Name)
		}
		seen[cl.Name] = true
	}
	for i, n := range c.Nodes {
		if n.Offset < -maxSpan || n.Offset > maxSpan {
			return fmt.Errorf("n%d's clock is off by %s, and can be by %s", i+1, n.Offset, maxSpan)
		}
	}
	return nil
}

// The bounds of a configuration. They keep all arithmetic on instants far from
// overflow, and a run small enough to be followed.
const (
	MaxClients = 8
	MaxNodes   = 9
	MaxCycles  = 1000
	maxSpan    = 24 * 365 * time.Hour
)

// ValidName reports whether a client can have that name: it must not be mistaken
// for anybody else in a trace, and fit into a schedule.
func ValidName(name string) error {
	_, setting := map[string]bool{"seed": true, "key": true, "ttl": true, "timeout": true, "latency": true, "retry": true, "fenced": true, "cold": true}[name]
	reserved := setting || name == Probe || name == "store" || name == "net" || name == "all"
	if len(name) > 1 && name[0] == 'n' && strings.Trim(name[1:], "0123456789") == "" {
		reserved = true
	}
	switch {
	case reserved:
		return fmt.Errorf("a client cannot be named %q: that name is taken", name)
	case !validLabel(name) || len(name) > 12 || strings.ContainsAny(name, ".-"):
		return fmt.Errorf("a client cannot be named %q: use up to 12 letters, digits and underscores", name)
	}
	return nil
}

func (cl *ClientConfig) validate() error {
	if err := ValidName(cl.Name); err != nil {
		return err
	}
	switch {
	case cl.Cycles < 1 || cl.Cycles > MaxCycles:
		return fmt.Errorf("%s has %d cycles, and can have 1 to %d", cl.Name, cl.Cycles, MaxCycles)
	case !(cl.Rate >= 0.1 && cl.Rate <= 10): // also refuses NaN
		return fmt.Errorf("%s's clock runs at rate %g, and can run at 0.1 to 10", cl.Name, cl.Rate)
	case cl.Work < 0 || cl.Work > maxSpan || cl.Insist < 0 || cl.Insist > maxSpan:
		return fmt.Errorf("%s works for %s and insists after %s, and both can be 0s to %s", cl.Name, cl.Work, cl.Insist, maxSpan)
	case cl.Offset < -maxSpan || cl.Offset > maxSpan:
		return fmt.Errorf("%s's clock is off by %s, and can be by %s", cl.Name, cl.Offset, maxSpan)
	}
	return nil
}
