package sim

import (
	"context"
	"errors"
	"fmt"
	"lockstep/sim/monitor"
	"lockstep/sim/redis"
	"lockstep/sim/resp"
	"lockstep/sim/trace"
	"sync/atomic"
	"time"
)

// Probe is the name of the extra client that every world has: it stands by
// until the script is over, and then finds out whether the lock can still be had.
const Probe = "probe"

// MaxEvents is how many events a run may have. A script that reaches this bound, or
// MaxTime, is told so; it never hangs.
const MaxEvents = 100_000

// World is a set of clients and nodes in virtual time. It is made once and
// reset for every run, because creating go-redis clients is slow.
//
// A World is not safe for concurrent use: one goroutine drives it.
type World struct {
	cfg         Config
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
	words        map[string][]string // of commands, by what they are on the wire: see conn.parse
	grantSent    []time.Duration     // when each client sent the command that last stored its record, or, as it knows, prolonged it
	current      *thread             // whose code is running, if anybody's
	who          Set                 // may act in the moves that are still to be made
	left         int                 // how many those are
	turn         *thread             // who goes on now, its operation having been performed
	broken       *broken             // the world's own code has panicked, on the stack of a thread
	readySeq     uint64
	draws        uint64

	recording bool
	guarded   bool // it is looked at who announces an operation, see Puppet.Guard
	sources   sourceCache
	events    int
	trace     trace.Trace
	state     *trace.State
	monitor   monitor.Monitor
	moves     moves
	stray     atomic.Pointer[Panic] // a goroutine that is no thread has touched the world
	puppet    *Puppet               // whose strings this world holds, if it is for one
	err       error                 // a bound was reached, or a node could not restart
}

// New builds a world for runs with as many clients and nodes as cfg has. Reset
// starts the first run.
func New(cfg Config) (*World, error) {
	hushGoRedis()
	w := &World{sources: sourceCache{}, words: map[string][]string{}, cfg: cfg}
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
	w.now, w.readySeq, w.draws, w.events = 0, 0, 0, 0
	w.current, w.turn, w.left, w.broken = nil, nil, 0, nil
	w.timers.reset()
	w.soonest = endOfTime
	w.sentMessages = w.sentMessages[:0] // those beyond are used again, see newMessage
	clear(w.grantSent)
	for i := range w.links {
		w.links[i] = link{request: cfg.Latency, reply: cfg.Latency}
	}
	w.store = store{kind: cfg.Resource, database: cfg.Workload.Database()}
	w.resetServers()
	for _, c := range w.clients {
		if err := c.mend(); err != nil {
			return err
		}
		c.resetConns() // before anything is sent: an abandoned run may have left half a command behind
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
	if len(cfg.Clients)+1 != len(w.clients) || len(cfg.Nodes) != len(w.cfg.Nodes) ||
		cfg.Replicas != w.cfg.Replicas || cfg.Strategy.Resends != w.cfg.Strategy.Resends {
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
	t := trace.Trace{Strategy: w.cfg.Strategy.Name, Scenario: w.cfg.Scenario, Seed: w.cfg.Seed, Key: w.cfg.Key, TTL: w.cfg.TTL, Workload: w.cfg.Workload,
		Counter: w.cfg.Strategy.Counter, Need: w.cfg.Strategy.Quorum()}
	for _, c := range w.clients {
		t.Clients = append(t.Clients, c.name)
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
		all = errors.Join(all, c.close())
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
		if c.name == name {
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
	if w.puppet != nil {
		w.puppet.tell(e)
		return trace.None
	}
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

// runnable reports whether the thread could take a step at this instant.
func (t *thread) runnable() bool { return !t.over && !t.waiting }

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
		patience := w.now
		if c.last != nil {
			patience = max(w.now, c.last.sentAt+w.cfg.Timeout)
		}
		w.suspend(t, patience)
	case opSleep:
		w.suspend(t, t.client.mono.after(w.now, o.d))
		w.event(t, &trace.Event{Kind: trace.KindSleep, Ref: trace.None, By: o.d})
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
		w.event(t, &trace.Event{Kind: trace.KindWake, Ref: trace.None})
	case opRead, opWrite, opQuery:
		w.store.access(w, t, o)
	case opMark:
		w.performMark(t, o)
	}
}

// event emits a thread's event, with the node that the thread's connection leads to
// now, if any.
func (w *World) event(t *thread, e *trace.Event) int {
	e.Node = trace.None
	if t.op.conn != nil {
		e.Node = t.op.conn.node().Index
	}
	return w.eventAt(t, e)
}

// eventAt emits a thread's event whose Node is set already.
func (w *World) eventAt(t *thread, e *trace.Event) int {
	e.Client, e.Thread, e.Acq, e.Source = t.client.index, t.index, t.client.acquired, t.op.source
	e.Phase, e.Cycle = t.phase, w.state.Clients[t.client.index].Cycle
	return w.emit(e)
}

func (w *World) performSend(t *thread, o *op) {
	t.command++
	c := o.conn
	m := w.newMessage()
	*m = message{conn: c, args: o.args, client: t.client.index, thread: t.index, node: c.node().Index,
		acq: t.client.acquired, cycle: w.state.Clients[t.client.index].Cycle, command: t.command, phase: t.phase,
		executed: trace.None, sentAt: w.now, epoch: c.node().Epoch, source: o.source}
	m.fate, t.client.fate = t.client.fate, arrives
	m.sent = w.event(t, &trace.Event{Kind: trace.KindSend, Command: t.command, Ref: trace.None, Args: o.args})
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
func (w *World) performReceive(t *thread, o *op) {
	c := o.conn
	c.reader = nil
	if len(c.inbox) == 0 {
		ev := trace.Event{Kind: trace.KindTimeout, Node: c.node().Index, Command: t.command, Ref: trace.None, By: w.cfg.Timeout}
		if c.last != nil {
			ev.Node, ev.Ref = c.last.node, c.last.sent
		}
		o.err = errTimeout(w.nodes[ev.Node])
		w.eventAt(t, &ev)
		return
	}
	m := c.inbox[0]
	c.inbox = append(c.inbox[:0], c.inbox[1:]...)
	m.read = true
	if m.failed != nil {
		o.err = m.failed
		w.eventAt(t, &trace.Event{Kind: trace.KindDisconnect, Node: m.node, Command: m.command, Ref: m.executed})
		return
	}
	o.reply = m.reply
	if m.noScript() {
		t.command--
	}
	e := trace.Event{Kind: trace.KindReceive, Node: m.node, Command: m.command, Ref: m.executed}
	if w.recording {
		e.Reply = resp.Text(m.reply)
	}
	w.eventAt(t, &e)
	if !m.prolonged || t.phase != trace.PhaseExtend {
		return
	}
	// A lease without a deadline of its own goes on from here, whichever thread
	// has seen to it.
	w.grantSent[m.client] = max(w.grantSent[m.client], m.sentAt)
	if t.index > 0 {
		t.client.renewed(t)
	}
}

func (w *World) performClock(t *thread, o *op) {
	note := "monotonic"
	if o.wall {
		note = "wall"
		o.d = t.client.wall.read(w.now).Sub(trace.Epoch)
		w.event(t, &trace.Event{Kind: trace.KindClock, Ref: trace.None, By: o.d + trace.Epoch.Sub(time.Unix(0, 0)), Note: note})
		return
	}
	o.d = t.client.mono.read(w.now)
	w.event(t, &trace.Event{Kind: trace.KindClock, Ref: trace.None, By: o.d, Note: note})
}

func (w *World) performMark(t *thread, o *op) {
	cycle := int(o.d)
	switch o.mark {
	case trace.KindAcquire:
		t.phase, t.command = trace.PhaseAcquire, 0
		t.client.acquired++
	case trace.KindEnter:
		t.phase, t.command = trace.PhaseWork, 0
	case trace.KindLeave:
		t.phase, t.command = trace.PhaseHold, 0
	case trace.KindExtend:
		t.phase, t.command = trace.PhaseExtend, 0
		cycle = w.state.Clients[t.client.index].Cycle
	case trace.KindRelease:
		t.phase, t.command = trace.PhaseRelease, 0
		t.client.leaseGen++
	}
	w.emit(&trace.Event{Kind: o.mark, Client: t.client.index, Thread: t.index, Node: trace.None, Ref: trace.None, Phase: t.phase,
		Cycle: cycle, Acq: t.client.acquired})
}
