package sim

import (
	"errors"
	"fmt"
	"time"

	"lockstep/sim/monitor"
	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/resp"
	"lockstep/sim/trace"
)

// MaxEvents is how many events a run may have. A script that reaches this bound, or
// MaxTime, is told so; it never hangs.
const MaxEvents = 100_000

// World is a set of clients and nodes in virtual time. It is made once and
// reset for every run, because creating go-redis clients is slow.
//
// A World is not safe for concurrent use: one goroutine drives it.
type World struct {
	cfg         Config
	runtime     *process.Runtime
	settings    process.Settings
	clients     []*client
	nodes       []*redis.Node
	replication []replication // by server
	links       []link
	primary     []int // by address: which server is the master now
	routes      []int // by client and address: which server the client takes for the master
	store       store

	now          time.Duration
	timers       timerQueue
	soonest      time.Duration // no waiting thread is due before this
	sentMessages []*message
	grantSent    []time.Duration // when each client sent the command that last stored its record, or, as it knows, prolonged it
	who          Set             // may act in the moves that are still to be made
	left         int             // how many those are
	turn         *thread         // who goes on now, its operation having been performed
	broken       *broken         // the world's own code has panicked, on the stack of a thread
	readySeq     uint64
	draws        uint64

	recording bool
	events    int
	trace     trace.Trace
	state     *trace.State
	monitor   monitor.Monitor
	moves     moves
	err       error // a bound was reached, or a node could not restart
}

// New builds a world for runs with as many clients and nodes as cfg has. Reset
// starts the first run.
func New(cfg Config) (*World, error) {
	w := &World{cfg: cfg}
	w.runtime = process.NewRuntime(host{w})
	for i, name := range cfg.servers() {
		n, err := redis.New(i, name)
		if err != nil {
			return nil, fmt.Errorf("cannot make node %s: %w", name, err)
		}
		w.nodes = append(w.nodes, n)
	}
	w.replication = make([]replication, len(w.nodes))
	w.links = make([]link, (len(cfg.Clients)+1)*len(w.nodes))
	w.routes = make([]int, (len(cfg.Clients)+1)*len(cfg.Nodes))
	w.grantSent = make([]time.Duration, len(cfg.Clients)+1)
	for i, c := range cfg.Clients {
		w.clients = append(w.clients, w.newClient(i, c.Name))
	}
	w.clients = append(w.clients, w.newClient(len(cfg.Clients), trace.Probe))
	for _, c := range w.clients {
		if err := c.Warm(); err != nil {
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
	cfg.Clients = append(append([]process.Config(nil), cfg.Clients...), process.ProbeConfig())
	w.cfg, w.recording, w.err = cfg, record, nil
	w.now, w.readySeq, w.draws, w.events = 0, 0, 0, 0
	w.turn, w.left, w.broken = nil, 0, nil
	w.runtime.Reset()
	w.runtime.Sources = record
	w.settings = cfg.Settings()
	w.timers.reset()
	w.soonest = process.EndOfTime
	w.sentMessages = w.sentMessages[:0] // those beyond are used again, see newMessage
	clear(w.grantSent)
	for i := range w.links {
		w.links[i] = link{request: cfg.Latency, reply: cfg.Latency}
	}
	w.store = store{kind: cfg.Resource, database: cfg.Workload.Database()}
	w.resetServers()
	for _, c := range w.clients {
		if err := c.restore(); err != nil { // before anything is sent
			return err
		}
	}
	if err := w.warmScripts(); err != nil {
		return err
	}
	w.resetTrace()
	for i, c := range w.clients {
		c.reset(&w.settings, &w.cfg.Clients[i])
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
	if err := w.clients[0].LoadScripts(w.cfg.Strategy.Scripts); err != nil {
		return fmt.Errorf("cannot load a script of %s: %w", w.cfg.Strategy.Name, err)
	}
	return nil
}

// Fits reports whether the world has the clients and nodes of cfg.
func (w *World) Fits(cfg Config) bool {
	if len(cfg.Clients)+1 != len(w.clients) || len(cfg.Nodes) != len(w.cfg.Nodes) ||
		cfg.Replicas != w.cfg.Replicas || cfg.Strategy.Resends != w.cfg.Strategy.Resends {
		return false
	}
	for i, c := range cfg.Clients {
		if w.clients[i].Name != c.Name {
			return false
		}
	}
	return true
}

func (w *World) resetTrace() {
	t := trace.Trace{Strategy: w.cfg.Strategy.Name, Scenario: w.cfg.Scenario, Seed: w.cfg.Seed, Key: w.cfg.Key, TTL: w.cfg.TTL, Workload: w.cfg.Workload,
		Counter: w.cfg.Strategy.Counter, Need: w.cfg.Strategy.Quorum()}
	for _, c := range w.clients {
		t.Clients = append(t.Clients, c.Name)
	}
	for _, n := range w.nodes {
		t.Nodes = append(t.Nodes, n.Name)
	}
	t.Masters = len(w.cfg.Nodes)
	w.trace = t
	if w.state == nil || len(w.state.Primary) != t.Masters || w.state.Counter != t.Counter || w.state.Key != t.Key || w.state.Workload != t.Workload {
		w.state = t.NewState()
	} else {
		w.state.Reset()
	}
	for i, n := range w.nodes {
		w.state.Nodes[i].Offset = n.Offset
	}
	w.monitor.Reset(&w.trace, w.state, future{w})
	w.moves.reset()
}

// Close ends all threads and connections. The world can't be used afterwards.
func (w *World) Close() error {
	var all error
	for _, c := range w.clients {
		all = errors.Join(all, c.Close())
	}
	for _, n := range w.nodes {
		n.Close()
	}
	return all
}

// Now is true virtual time since the start of the run.
func (w *World) Now() time.Duration { return w.now }

// Err is why the run cannot go on, if it cannot.
func (w *World) Err() error { return w.err }

// State is what is true now. It is the world's own: look, don't touch.
func (w *World) State() *trace.State { return w.state }

// Client finds a client by name.
func (w *World) Client(name string) (int, bool) {
	for i, c := range w.clients {
		if c.Name == name {
			return i, true
		}
	}
	return trace.None, false
}

// Clients is how many there are, the probe not counted.
func (w *World) Clients() int { return len(w.clients) - 1 }

// Nodes is how many there are, replicas not counted.
func (w *World) Nodes() int { return len(w.cfg.Nodes) }

// emit gives an event its place in the order, lets the monitor judge it, and
// records it. It returns its Seq.
func (w *World) emit(e *trace.Event) int {
	w.events++
	e.Seq, e.At = w.events, w.now
	if w.events > MaxEvents && w.err == nil {
		w.err = fmt.Errorf("the run was stopped after %d events: nothing ends it", MaxEvents)
	}
	w.monitor.Before(e)
	w.state.Apply(e)
	w.monitor.After(e)
	if w.recording {
		kept := *e
		if e.Changes != nil {
			kept.Changes = append([]trace.Change(nil), e.Changes...) // the node uses its own again
		}
		w.trace.Events = append(w.trace.Events, kept)
	}
	return e.Seq
}

// ready puts a thread into the queue of those that can run.
func (w *World) ready(t *thread) {
	w.readySeq++
	t.waiting, t.readyAt = false, w.readySeq
}

// suspend makes a thread wait until an instant, if nothing comes before that.
func (w *World) suspend(t *thread, until time.Duration) {
	t.waiting, t.due = true, until
	w.soonest = min(w.soonest, until)
}

// announce looks at the operation that a thread has just announced: some have
// to wait.
func (w *World) announce(t *thread) {
	switch o := &t.Op; o.Kind {
	case process.OpReceive:
		c := lineOf(o.Conn)
		c.reader = t
		if len(c.inbox) > 0 {
			w.ready(t)
			return
		}
		patience := w.now
		if c.last != nil {
			patience = max(w.now, c.last.sentAt+w.cfg.Timeout)
		}
		w.suspend(t, patience)
	case process.OpSleep:
		w.suspend(t, t.client.Mono.After(w.now, o.Sleep))
		w.event(t, &trace.Event{Kind: trace.KindSleep, Ref: trace.None, By: o.Sleep})
	default:
		w.ready(t)
	}
}

// perform carries out a thread's operation.
func (w *World) perform(t *thread) {
	o := &t.Op
	switch o.Kind {
	case process.OpSend:
		w.performSend(t, o)
	case process.OpReceive:
		w.performReceive(t, o)
	case process.OpClock:
		w.performClock(t, o)
	case process.OpSleep:
		w.event(t, &trace.Event{Kind: trace.KindWake, Ref: trace.None})
	case process.OpRead, process.OpWrite, process.OpQuery:
		w.store.access(w, t, o)
	case process.OpMark:
		w.performMark(t, o)
	}
}

// event emits a thread's event, with the node that the thread's connection leads to
// now, if any.
func (w *World) event(t *thread, e *trace.Event) int {
	e.Node = trace.None
	if t.Op.Conn != nil {
		e.Node = lineOf(t.Op.Conn).node().Index
	}
	return w.eventAt(t, e)
}

// eventAt emits a thread's event whose Node is set already.
func (w *World) eventAt(t *thread, e *trace.Event) int {
	e.Client, e.Thread, e.Acq, e.Source = t.client.Index, t.Index, t.client.Acquired, t.Op.Source
	e.Phase, e.Cycle = t.Phase, w.state.Clients[t.client.Index].Cycle
	return w.emit(e)
}

func (w *World) performSend(t *thread, o *process.Op) {
	t.Command++
	c := lineOf(o.Conn)
	m := w.newMessage()
	*m = message{conn: c, args: o.Args, client: t.client.Index, thread: t.Index, node: c.node().Index,
		acq: t.client.Acquired, cycle: w.state.Clients[t.client.Index].Cycle, command: t.Command, phase: t.Phase,
		executed: trace.None, sentAt: w.now, epoch: c.node().Epoch, source: o.Source}
	m.arranged, t.client.nextRequest = t.client.nextRequest, arrives
	m.sent = w.event(t, &trace.Event{Kind: trace.KindSend, Command: t.Command, Ref: trace.None, Args: o.Args})
	c.last, t.last = m, m
	w.send(m)
}

// performReceive lets a thread read the reply that it waits for, or give up.
//
// A process that was paused beyond its timeout may find both when it wakes up: its
// patience over, and the reply there. Which of the two a real one notices first
// depends on its runtime. Here it is the reply, because that is the more
// dangerous: a client that gives up holds no lock, and one that reads an old yes
// believes in it.
func (w *World) performReceive(t *thread, o *process.Op) {
	c := lineOf(o.Conn)
	c.reader = nil
	if len(c.inbox) == 0 {
		ev := trace.Event{Kind: trace.KindTimeout, Node: c.node().Index, Command: t.Command, Ref: trace.None, By: w.cfg.Timeout}
		if c.last != nil {
			ev.Node, ev.Ref = c.last.node, c.last.sent
		}
		o.Err = process.ErrTimeout(w.nodes[ev.Node].Name)
		w.eventAt(t, &ev)
		return
	}
	m := c.inbox[0]
	c.inbox = append(c.inbox[:0], c.inbox[1:]...)
	m.read = true
	if m.failed != nil {
		o.Err = m.failed
		w.eventAt(t, &trace.Event{Kind: trace.KindDisconnect, Node: m.node, Command: m.command, Ref: m.executed})
		return
	}
	o.Reply = m.reply
	if m.noScript() {
		t.Command--
	}
	e := trace.Event{Kind: trace.KindReceive, Node: m.node, Command: m.command, Ref: m.executed}
	if w.recording {
		e.Reply = resp.Text(m.reply)
	}
	w.eventAt(t, &e)
	if !m.prolonged || t.Phase != trace.PhaseExtend {
		return
	}
	// A lease without a deadline of its own goes on from here, whichever thread
	// has seen to it.
	w.grantSent[m.client] = max(w.grantSent[m.client], m.sentAt)
	if t.Index > 0 && w.state.Clients[m.client].Lease.Believed {
		t.client.Renew(t.Thread)
	}
}

func (w *World) performClock(t *thread, o *process.Op) {
	e := trace.Event{Kind: trace.KindClock, Ref: trace.None, Note: "monotonic"}
	if o.Wall {
		o.Reading = t.client.Wall.Read(w.now).Sub(trace.Epoch)
		e.By, e.Note = o.Reading+trace.Epoch.Sub(time.Unix(0, 0)), "wall"
	} else {
		o.Reading = t.client.Mono.Read(w.now)
		e.By = o.Reading
	}
	w.event(t, &e)
}

func (w *World) performMark(t *thread, o *process.Op) {
	e := t.TakeStep()
	switch o.Mark {
	case trace.KindExtend:
		e.Cycle = w.state.Clients[t.client.Index].Cycle
	case trace.KindRelease:
		t.client.leaseGen++
	}
	w.emit(&e)
}
