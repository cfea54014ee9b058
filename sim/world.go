package sim

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/resp"
	"lockstep/sim/trace"
)

// MaxEvents is the largest number of events in a run. A run that would go beyond it, or
// beyond [trace.MaxTime], ends with an error (see [World.Err]) and so never hangs.
const MaxEvents = 100_000

// World is a set of clients and servers in virtual time, and the engine of a run. It is
// made once and reset for every run, because creating go-redis clients is slow.
//
// It is made of four parts, each of which says what it keeps:
//
//   - the [scheduler]: the instant, the timers, and whose turn it is;
//   - the [cluster]: the servers, who copies whom, and which of them clients talk to;
//   - the [network]: links, and every message sent in the run;
//   - the [recorder]: the events, the state that they add up to, and the monitor.
//
// Clients and the resource belong to none of them. Code of clients stands behind one
// seam, [process.Host], and so could be run by something else: the search does.
//
// The parts are embedded, not separate types that talk through interfaces, and World's
// methods are many. The reason is that they share one instant: to perform one operation
// is to read the schedule, reach a server, push a timer and emit an event. A fault
// reaches into all parts, which is its purpose. Three weak spots remain.
// The monitor finds a livelock by looking into threads and timers (future), which are no
// part of its trace. Whether a client still awaits anything is found by a scan of all
// connections that it opened in the run ([World.awaits]), which only a drain can afford.
// And a message keeps both halves of its exchange, with fields that matter to one.
//
// A World is not safe for concurrent use: one goroutine drives it.
type World struct {
	cfg      Config
	runtime  *process.Runtime
	settings process.Settings
	clients  []*client // those of the configuration, then the probe
	store    store

	// grantSent is, by client, the instant at which it sent the command of its current
	// acquisition that last stored its record, or last prolonged it to the client's knowledge.
	// Until then it is that of the call of Acquire: a lock may return a lease that it has kept
	// from an earlier call, and a client that is told no deadline can't know that it is an old one.
	grantSent []time.Duration

	scheduler
	cluster
	network
	recorder

	// Observer, if it is set, is told of each operation of a client's thread as soon as that
	// is performed, with its result. The operation is valid during the call only.
	Observer func(client, thread int, op *process.Op)

	drew bool  // a random number was drawn, in a step of its own
	err  error // a bound was reached, or a server could not restart
}

// New builds a world for the clients and nodes of cfg. Its first run starts with
// [World.Reset]. It fails if a server cannot start or a client cannot connect.
func New(cfg Config) (*World, error) {
	w := &World{cfg: cfg}
	w.runtime = process.NewRuntime(host{w})
	for i, name := range cfg.servers() {
		n, err := redis.New(i, name)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("cannot make node %s: %w", name, err), w.Close())
		}
		w.nodes = append(w.nodes, n)
	}
	clients := len(cfg.Clients) + 1
	w.replication = make([]replication, len(w.nodes))
	w.links = make([]link, clients*len(w.nodes))
	w.routes = make([]int, clients*len(cfg.Nodes))
	w.grantSent = make([]time.Duration, clients)
	for i, c := range cfg.Clients {
		w.clients = append(w.clients, w.newClient(i, c.Name))
	}
	w.clients = append(w.clients, w.newClient(len(cfg.Clients), trace.Probe))
	cfg.Watch.Add(w.runtime)
	for _, c := range w.clients {
		if err := c.Warm(); err != nil {
			return nil, errors.Join(err, w.Close())
		}
	}
	return w, nil
}

// Guard makes an operation of a goroutine that is none of its client's threads a
// [process.Panic], in all runs from now on. Locks from outside the project may have such
// goroutines. It costs a tenth of a run's time.
func (w *World) Guard() { w.runtime.Guard = true }

// Strays reports whether a goroutine that a client's code has started by itself, and not by
// [strategies.Options.Go], is still there, and the line that starts it. It takes milliseconds.
func (w *World) Strays(client int) (at trace.Source, any bool) { return w.clients[client].Strays() }

// Reset starts a new run, even if the last one was abandoned. It fails if cfg doesn't fit
// the world (see [World.Fits]) or if a script of the strategy cannot be loaded.
func (w *World) Reset(cfg Config, record bool) error {
	if !w.Fits(cfg) {
		return errors.New("sim: this world has other clients or nodes than the configuration")
	}
	w.Stop()
	cfg.Clients = append(append([]process.Config(nil), cfg.Clients...), process.ProbeConfig())
	w.cfg, w.err, w.drew = cfg, nil, false
	w.runtime.Reset()
	w.runtime.Sources = record
	w.settings = cfg.Settings()
	w.store = store{kind: cfg.Resource, database: cfg.Workload.Database()}
	clear(w.grantSent)
	w.scheduler.reset()
	w.cluster.reset(&w.cfg)
	w.network.reset(cfg.Latency)
	w.recorder.reset(record)
	for _, c := range w.clients {
		if err := c.restore(); err != nil { // before anything is sent
			return err
		}
	}
	if err := w.warmScripts(); err != nil {
		return err
	}
	w.beginTrace()
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

// beginTrace makes the recorder begin at the state in which the servers are now.
func (w *World) beginTrace() {
	t := trace.Trace{Strategy: w.cfg.Strategy.Name, Scenario: w.cfg.Scenario, Seed: w.cfg.Seed, Key: w.cfg.RecordKey(), TTL: w.cfg.TTL, Workload: w.cfg.Workload,
		Counter: w.cfg.Strategy.Counter, Need: w.cfg.Strategy.Quorum(), Masters: len(w.cfg.Nodes)}
	for _, c := range w.clients {
		t.Clients = append(t.Clients, c.Name)
	}
	for _, n := range w.nodes {
		t.Nodes = append(t.Nodes, n.Name)
	}
	w.recorder.begin(t)
	for i, n := range w.nodes {
		w.state.Nodes[i].Offset = n.Offset
	}
	w.monitor.Reset(&w.trace, w.state, future{w})
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

// Now returns true virtual time since the start of the run.
func (w *World) Now() time.Duration { return w.now }

// Events is the number of events so far.
func (w *World) Events() int { return w.events }

// Err returns the reason why the run cannot go on, or nil.
func (w *World) Err() error { return w.err }

// State returns the state after the newest event. The world goes on to change it; a caller
// must not.
func (w *World) State() *trace.State { return w.state }

// Client finds a client's index by its name; the probe has one, too.
func (w *World) Client(name string) (int, bool) {
	for i, c := range w.clients {
		if c.Name == name {
			return i, true
		}
	}
	return trace.None, false
}

// Clients returns the number of clients, without the probe.
func (w *World) Clients() int { return len(w.clients) - 1 }

// Nodes returns the number of nodes, without their replicas.
func (w *World) Nodes() int { return len(w.cfg.Nodes) }

// announce readies a thread for the operation that it has just announced, or suspends it
// if the operation has to wait.
func (w *World) announce(t *thread) {
	defer w.rouse(t.client)
	switch o := &t.Op; o.Kind {
	case process.OpReceive:
		c := lineOf(o.Conn)
		c.reader = t
		if len(c.inbox) > 0 {
			w.ready(t)
			return
		}
		w.suspend(t, w.patienceOf(t, o))
		if c.last != nil && c.last.read {
			w.event(t, &trace.Event{Kind: trace.KindAwait, Ref: trace.None, By: o.Wait})
			t.client.tries = true
		}
	case process.OpSleep:
		w.suspend(t, t.client.Mono.After(w.now, o.Sleep))
		w.event(t, &trace.Event{Kind: trace.KindSleep, Ref: trace.None, By: o.Sleep})
		t.client.tries = true
	case process.OpDraw:
		w.ready(t)
		t.readyAt = 0 // no other thread of its client comes in between: to draw a number takes no time
	default:
		w.ready(t)
	}
}

// rouse wakes the threads of a client whose sleep another of its threads has just cut short, by
// cancelling the context of the sleep.
func (w *World) rouse(c *client) {
	if len(c.threads) < 2 {
		return
	}
	for _, t := range c.threads {
		if t.waiting && t.Woken() {
			w.ready(t)
		}
	}
}

// patienceOf returns the instant at which a thread that is about to read from a connection
// gives up. A thread with several requests under way waits for each since it sent the last.
func (w *World) patienceOf(t *thread, o *process.Op) time.Duration {
	last := lineOf(o.Conn).last
	if t.last != nil && last != nil && t.last.sentAt > last.sentAt {
		last = t.last
	}
	switch {
	case o.Wait == process.Forever:
		return never
	case o.Wait > 0:
		return t.client.Mono.After(w.now, o.Wait)
	case last != nil:
		return max(w.now, last.sentAt+w.cfg.Timeout)
	}
	return w.now
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
	case process.OpDraw:
		w.performDraw(t, o)
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
	c, m := lineOf(o.Conn), w.newMessage()
	n := c.node()
	*m = message{conn: c, args: o.Args, client: t.client.Index, thread: t.Index, node: n.Index,
		acq: t.client.Acquired, cycle: w.state.Clients[t.client.Index].Cycle, command: t.Command, phase: t.Phase,
		executed: trace.None, sentAt: w.now, epoch: n.Epoch, source: o.Source}
	m.arranged, t.client.nextRequest = t.client.nextRequest, arrives
	m.sent = w.event(t, &trace.Event{Kind: trace.KindSend, Command: t.Command, Ref: trace.None, Args: o.Args})
	c.last, t.last = m, m
	w.send(m)
}

// performReceive lets a thread read the reply that it waits for, or give up.
//
// A process that was paused beyond its timeout may find both when it wakes up: an expired
// timeout and a reply. A real process notices one of them first, depending on its runtime.
// Here it is the reply, because that is the more dangerous: a client that gives up holds no
// lock, and a client that reads an old yes believes in it.
func (w *World) performReceive(t *thread, o *process.Op) {
	c := lineOf(o.Conn)
	c.reader = nil
	if len(c.inbox) == 0 {
		ev := trace.Event{Kind: trace.KindTimeout, Node: c.node().Index, Command: t.Command, Ref: trace.None, By: cmp.Or(o.Wait, w.cfg.Timeout)}
		if c.last != nil && !c.last.read { // or it has waited for a published message
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
	if m.noScript() { // which the library keeps to itself
		t.Command--
	} else {
		t.client.hear(m.reply)
	}
	e := trace.Event{Kind: trace.KindReceive, Node: m.node, Command: m.command, Ref: m.executed}
	if w.recording {
		e.Reply = resp.Text(m.reply)
	}
	w.eventAt(t, &e)
	if !m.prolonged || t.Phase != trace.PhaseExtend {
		return
	}
	// A lease without a deadline of its own goes on from here, even if another thread
	// than the main one extended it.
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

// performDraw chooses a random number: the schedule's, or else the least.
func (w *World) performDraw(t *thread, o *process.Op) {
	w.drew = true
	if t.client.drawn != nil {
		o.Reading, t.client.drawn = *t.client.drawn, nil
	}
}

func (w *World) performMark(t *thread, o *process.Op) {
	e := t.TakeStep()
	switch o.Mark {
	case trace.KindAcquire:
		w.grantSent[t.client.Index], t.client.tries = w.now, true
	case trace.KindExtend:
		e.Cycle = w.state.Clients[t.client.Index].Cycle
	case trace.KindRelease:
		t.client.leaseGen++
	}
	w.emit(e)
}
