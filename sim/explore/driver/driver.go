package driver

import (
	"fmt"
	"time"

	"lockstep/sim"
	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// Driver is one client of a configuration, outside of any world: the same code in the same
// coroutines, whose observations the caller decides. Because clients share nothing, a
// client's next operation is a function of its observations, and a driver evaluates that
// function for one history at a time.
//
// A Driver is not safe for concurrent use.
type Driver struct {
	client   *process.Client
	runtime  *process.Runtime
	settings process.Settings
	cfg      process.Config
	addrs    []string
	server   *redis.Node     // answers handshakes, which are the same at every address
	conns    []*process.Conn // by the order in which they were first used
	reports  []Report
	lapsed   bool // the lease is over, if it has the deadline that the driver gives it
}

// Operation is a thread's next operation, as far as it matters to a search.
type Operation struct {
	Kind    process.OpKind
	Over    bool          // there is none: the thread has ended
	Mark    trace.Kind    // of OpMark: the step that it takes
	Phase   trace.Phase   // of the thread's program
	Wall    bool          // of OpClock: which clock
	Sleep   time.Duration // of OpSleep; 0 if another thread has ended the sleep early
	Below   time.Duration // of OpDraw: the end of the range
	Conn    int           // of OpSend and OpReceive: the nth connection that it used, from 0
	Addr    int           // and the node that this leads to
	Args    []string      // of OpSend
	Fence   int64         // of OpRead and OpWrite: the fencing token; 0 is none
	Timeout time.Duration // of OpReceive: that which the lock's code has set by WithTimeout; 0 is the configuration's
	Wait    time.Duration // of OpReceive: see process.Op.Wait

	Source trace.Source // its line of code, if that is recorded: see RecordSources
}

// Report is a step that a client makes known, with the fields of the event of that kind.
// Deadline is a true instant, on the clock that the observations set.
type Report struct {
	Kind     trace.Kind
	Deadline time.Duration // of KindGranted and KindExtended; trace.Never is none
	Given    bool          // the strategy exposes no deadline: the host gives the lease one
	Fence    int64         // the lease's fencing token; 0 is none
}

// Observation is the result of an operation, as the thread sees it. Operations of other
// kinds than those named have none.
type Observation struct {
	Now     time.Duration // of OpClock: the true instant at which it reads
	Offset  time.Duration // of OpClock: by how much the wall clock is wrong
	Reply   []byte        // of OpReceive: the reply in RESP, unless
	Timeout bool          // none came in time, or
	Refused bool          // the connection has ended; of OpRead and OpWrite: the fencing token is too old
	Draw    time.Duration // of OpDraw: the number
	Lapsed  bool          // of OpClock: the deadline that the host has given the lease is past, if it has given one
}

// New starts a driver for the client of a configuration with an index; the index after the
// last is the probe's. It fails if the server for handshakes can't be started, or the
// client's first connections can't be made; a panic of the lock's constructor goes on as a
// [process.Panic].
func New(cfg sim.Config, index int) (*Driver, error) {
	server, err := redis.New(0, "n1")
	if err != nil {
		return nil, err
	}
	server.Reset(redis.Config{})
	d := &Driver{settings: cfg.Settings(), cfg: process.ProbeConfig(), server: server}
	if index < len(cfg.Clients) {
		d.cfg = cfg.Clients[index]
	}
	for i := range cfg.Nodes {
		d.addrs = append(d.addrs, fmt.Sprintf("n%d", i+1))
	}
	d.runtime = process.NewRuntime(host{d})
	if index < len(cfg.Clients) {
		d.client = d.runtime.NewClient(index, d.cfg.Name, d.addrs, cfg.Strategy.Resends)
	} else {
		d.client = d.runtime.NewProbe(index, d.addrs, cfg.Strategy.Resends)
	}
	cfg.Watch.Add(d.runtime)
	if err := d.client.Warm(); err != nil {
		return nil, err
	}
	return d, d.Reset()
}

// Close ends the client and its server.
func (d *Driver) Close() error {
	d.server.Close()
	return d.client.Close()
}

// Reset takes the client back to the start of its program.
func (d *Driver) Reset() error {
	d.client.Stop()
	if _, err := d.client.Restore(); err != nil {
		return err
	}
	d.reports, d.conns = d.reports[:0], d.conns[:0]
	d.lapsed = true
	d.client.Reset(&d.settings, &d.cfg)
	return nil
}

// Retoken gives the client other tokens than it draws, from its next Reset on.
func (d *Driver) Retoken(to func(token string) string) { d.settings.Retoken = to }

// RecordSources turns on or off that operations have the line of code that they come from.
// It slows the client down.
func (d *Driver) RecordSources(on bool) { d.runtime.Sources = on }

// Guard turns on or off the check that each operation is announced by one of the client's
// threads: by another goroutine it is a [process.Panic]. It slows the client down, and is
// needed only for operations that are not known yet.
func (d *Driver) Guard(on bool) { d.runtime.Guard = on }

// Threads returns the number of threads, those that have ended included.
func (d *Driver) Threads() int { return len(d.client.Threads) }

// Operation returns a thread's next operation.
func (d *Driver) Operation(thread int) Operation {
	t := d.client.Threads[thread]
	if t.Over {
		return Operation{Over: true}
	}
	o := &t.Op
	op := Operation{Kind: o.Kind, Mark: o.Mark, Phase: t.Phase, Wall: o.Wall, Sleep: o.Sleep, Below: o.Below, Args: o.Args, Fence: o.Fence, Source: o.Source}
	if t.Woken() {
		op.Sleep = 0
	}
	if o.Conn != nil {
		op.Conn, op.Addr, op.Timeout, op.Wait = d.number(o.Conn), o.Conn.Addr, o.Conn.Timeout(), o.Wait
	}
	return op
}

// number returns the number of a connection, in the order of first use: this order doesn't
// depend on the connections that the library has kept from earlier runs.
func (d *Driver) number(c *process.Conn) int {
	for i, known := range d.conns {
		if known == c {
			return i
		}
	}
	d.conns = append(d.conns, c)
	return len(d.conns) - 1
}

// ForgetCycle numbers connections from 0 again, and drops the threads besides the first if
// all of them have ended. It is for a client between two cycles.
func (d *Driver) ForgetCycle() {
	d.conns = d.conns[:0]
	for _, t := range d.client.Threads[1:] {
		if !t.Over {
			return
		}
	}
	clear(d.client.Threads[1:])
	d.client.Threads = d.client.Threads[:1]
}

// Conns returns the number of connections that the client has used.
func (d *Driver) Conns() int { return len(d.conns) }

// Closed reports whether the client has closed its nth connection.
func (d *Driver) Closed(n int) bool { return n < len(d.conns) && d.conns[n].Closed }

// Lasting returns the client's connections of which a server may keep a subscription or a command that waits, a bit each.
func (d *Driver) Lasting() (conns uint16) {
	for n, c := range d.conns {
		if c.Lasts() {
			conns |= 1 << n
		}
	}
	return conns
}

// Subscriptions returns the open connections that the client has sent a subscription on, a bit each.
func (d *Driver) Subscriptions() (conns uint16) {
	for n, c := range d.conns {
		if !c.Closed && c.Subscribes() {
			conns |= 1 << n
		}
	}
	return conns
}

// Open names the subscription or connection that the client has open from one cycle to the next, given its lock's fields; or
// nothing.
func (d *Driver) Open(kept *Fields) string {
	switch {
	case d.Subscriptions() != 0:
		return "SUBSCRIBE"
	case kept.Connected:
		return "connection of its own"
	}
	return ""
}

// Acquired returns how often the client has called Acquire.
func (d *Driver) Acquired() int { return d.client.Acquired }

// Draws returns how many tokens the client has drawn, and how often it has drawn other
// random values.
func (d *Driver) Draws() (tokens, random int) { return d.client.Tokens, d.client.Draws }

// BeginSeries makes the client draw its tokens from a series: see
// [process.Client.BeginSeries].
func (d *Driver) BeginSeries(n int) { d.client.BeginSeries(n) }

// Step lets a thread perform its operation, with the given result, and run to the next. It
// returns the client's reports on the way, in a slice that is valid until the next call. A
// panic of the lock's code goes on as a [process.Panic].
func (d *Driver) Step(thread int, seen Observation) []Report {
	t := d.client.Threads[thread]
	o := &t.Op
	d.reports = d.reports[:0]
	if o.Conn != nil {
		d.number(o.Conn)
	}
	switch o.Kind {
	case process.OpSend:
		t.Command++
	case process.OpReceive:
		d.receive(o, seen)
	case process.OpClock:
		d.lapsed = seen.Lapsed
		o.Reading = d.client.Mono.Read(seen.Now)
		if o.Wall {
			d.client.Wall.Offset = seen.Offset
			o.Reading = d.client.Wall.Read(seen.Now).Sub(trace.Epoch)
		}
	case process.OpRead, process.OpWrite:
		t.Command++
		if seen.Refused {
			o.Err = process.ErrFenced
		}
	case process.OpDraw:
		o.Reading = seen.Draw
	case process.OpMark:
		d.report(t.TakeStep())
	}
	t.Resume()
	return d.reports
}

func (d *Driver) receive(o *process.Op, seen Observation) {
	switch server := d.addrs[o.Conn.Addr]; {
	case seen.Timeout:
		o.Err = process.ErrTimeout(server)
	case seen.Refused:
		o.Err = process.ErrRefused(server)
	default:
		o.Reply = append([]byte(nil), seen.Reply...)
	}
}

func (d *Driver) report(e *trace.Event) {
	d.reports = append(d.reports, Report{Kind: e.Kind, Deadline: e.By, Given: !d.client.ExposesDeadline(), Fence: e.Fence})
}

// host is the driver as the client's code sees it. Nothing goes on by itself: a thread
// stops at each operation until Step. Time, deadlines and the end of a run are left to
// the search.
type host struct{ d *Driver }

var _ process.Host = host{}

func (h host) Dial(*process.Conn) process.Line         { return &line{server: h.d.server} }
func (host) Announced(*process.Thread) (goOn bool)     { return false }
func (host) Started(*process.Thread)                   {}
func (host) Ended(*process.Thread)                     {}
func (h host) Tell(e *trace.Event)                     { h.d.report(e) }
func (host) Drew()                                     {}
func (host) GrantSent(int) time.Duration               { return 0 }
func (h host) LeaseLive(int) bool                      { return !h.d.lapsed }
func (host) AwaitLapse(*process.Client, time.Duration) {}
func (host) NextArrival() (in time.Duration, any bool) { return 0, false }
func (host) Obstructed() bool                          { return true } // unknown to a driver: the probe asks once more
func (host) NeverGranted()                             {}
func (h host) Patience(refusals int) (wait time.Duration) {
	if refusals > 1 {
		return process.LastPatience
	}
	return h.d.settings.TTL
}

// line answers handshakes.
type line struct {
	server *redis.Node
	peer   *redis.Peer
}

func (l *line) HangUp() {}

// Renew is never called: no search ends threads.
func (l *line) Renew() process.Line { return &line{server: l.server} }
func (l *line) Reset()              { l.peer = nil }

func (l *line) Exchange(args []string) []byte {
	if l.peer == nil {
		l.peer = redis.NewPeer(l.server)
	}
	reply, _ := l.server.Execute(0, l.peer, args)
	return reply
}
