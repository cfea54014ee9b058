package process

import (
	"context"
	"iter"
	"runtime"
	"time"

	"lockstep/sim/trace"
)

// Thread is one of a client's threads: a coroutine that runs ordinary code and stops
// at every point at which it observes or affects the world. There it announces its
// next operation; the host performs it when the schedule says so, and hands the
// result back. Between the two the host goes on, for as long as it likes, on the stack
// of the thread that has stopped.
//
// Invariant: a thread that is Over never runs again, and one that is not Started has
// no stack yet: its Op is of kind OpStart.
type Thread struct {
	Client  *Client
	Index   int // within the client; 0 is the main thread
	Name    string
	Op      Op // announced last, with its result once that is performed
	Started bool
	Over    bool // its function has returned, or it was killed
	Phase   trace.Phase
	Command int // commands sent, or accesses made, in this phase

	resume func() (struct{}, bool)
	cancel func()
	yield  func(struct{}) bool
	dead   bool // unwinding: nothing it does may leave a trace
	unsent []Op // commands that it has written and not sent yet: see sendLater
}

// OpKind is the kind of a thread's next operation.
type OpKind uint8

// The kinds of operation.
const (
	OpStart   OpKind = iota // runs its first line
	OpSend                  // sends a command
	OpReceive               // reads a reply, or gives up
	OpClock                 // reads one of its client's clocks
	OpSleep                 // waits until a time has passed on its client's monotonic clock
	OpRead                  // reads the resource
	OpWrite                 // writes it
	OpQuery                 // queries the database behind the resource
	OpMark                  // takes a step of its own program: calls Acquire, enters, leaves, releases
	OpDraw                  // draws a random number, if those are drawn in steps: see Settings
)

// own reports whether only the client's own program does such a thing, so that no line of the lock's code stands behind it.
func (k OpKind) own() bool {
	switch k {
	case OpRead, OpWrite, OpQuery, OpMark:
		return true
	}
	return false
}

// Op is a thread's next operation, and then its result. The host fills in Err and, by kind,
// Reply, Reading or Value.
type Op struct {
	Kind  OpKind
	Mark  trace.Kind // of OpMark
	Wall  bool       // of OpClock: the wall clock, not the monotonic one
	Conn  *Conn      // of OpSend and OpReceive
	Args  []string   // of OpSend
	Sleep time.Duration
	Until context.Context // of OpSleep: the sleep ends early when this is done; nil is never
	// Wait is the time for which an OpReceive waits at most: from now on, or [Forever]. 0 is the
	// timeout that the run's configuration has for replies, since the command was sent.
	Wait  time.Duration
	Below time.Duration // of OpDraw: the end of the range, which begins with 0
	Cycle int           // of OpMark: the round of the client's program, from 1
	Value int64         // of OpWrite the value to write; of OpRead and OpQuery the value found
	Fence int64         // of an access to the resource: the fencing token sent along, 0 for none

	Err     error
	Reply   []byte
	Reading time.Duration // of OpClock, of the wall clock since trace.Epoch; and the number drawn, of OpDraw
	Source  trace.Source  // the line of code, if the runtime records that; it fills in an empty one
}

// Forever is the Wait of an OpReceive without a timeout.
const Forever time.Duration = -1

// Woken reports whether the thread sleeps, and another has ended the sleep early.
func (t *Thread) Woken() bool {
	return !t.Over && t.Op.Kind == OpSleep && t.Op.Until != nil && t.Op.Until.Err() != nil
}

func (t *Thread) start(main func(*Thread)) {
	t.resume, t.cancel = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		growStack(t.Index)
		markCoroutine()
		t.Client.guard(&t.dead, func() {
			main(t)
			t.flush()
		})
	})
	t.Op, t.unsent = Op{Kind: OpStart}, nil
	t.Started, t.dead, t.Over = false, false, false
	t.Phase, t.Command = trace.PhaseIdle, 0
}

// growStack makes room at once for the deep stack of go-redis. Otherwise the stack of each
// new thread is moved three times while it grows.
//
//go:noinline
func growStack(i int) byte {
	var room [12 << 10]byte
	return room[i] // or there would be no room
}

// do announces an operation and waits for its turn. It is called on the
// thread's own stack, deep inside go-redis.
//
// In a thread that has been killed it doesn't return: runtime.Goexit unwinds the
// stack, and deferred functions that touch the world meet the same end, so a
// crash leaves no event whatever the strategy defers. (A panic could be
// recovered by the strategy; Goexit cannot.)
func (t *Thread) do(o Op) *Op {
	rt := t.Client.rt
	if rt.watch.Over() { // nobody waits for this run any more
		t.dead = true
	}
	if t.dead {
		runtime.Goexit()
	}
	t.flush()
	if rt.Sources && o.Source.File == "" && !o.Kind.own() {
		if sent := &t.Op; o.Kind == OpReceive && sent.Kind == OpSend && sent.Conn == o.Conn && !o.Conn.subscribes {
			o.Source = sent.Source // the call that sent the command waits for the reply, and a search of the stack is slow
		} else {
			o.Source = callerSource(rt.sources)
		}
	}
	t.Op = o
	return t.announce()
}

// announce stops the thread until the host has performed its operation.
func (t *Thread) announce() *Op {
	rt := t.Client.rt
	rt.current = nil
	if !rt.host.Announced(t) && !t.yield(struct{}{}) {
		t.dead = true
		runtime.Goexit()
	}
	rt.current = t
	rt.enter(t.Client)
	return &t.Op
}

// sendLater sends a command of a PubSub before the thread's next operation. That is as good
// as at once, since nobody sees the thread in between. And the thread must not stop where it
// writes such a command: go-redis holds a mutex there, which it would not release if the
// thread were killed, and the strategy's deferred Close would wait for it in vain.
func (t *Thread) sendLater(c *Conn, args []string) {
	o := Op{Kind: OpSend, Conn: c, Args: args}
	if rt := t.Client.rt; rt.Sources {
		o.Source = callerSource(rt.sources)
	}
	t.unsent = append(t.unsent, o)
}

// flush sends the commands that are left to be sent. A command for a connection that is
// closed meanwhile makes no difference to its server.
func (t *Thread) flush() {
	for len(t.unsent) > 0 {
		o := t.unsent[0]
		if t.unsent = t.unsent[1:]; !o.Conn.Closed {
			t.Op = o
			t.announce()
		}
	}
}

// Resume runs the thread's code until it has announced an operation and the host has
// let it stop, or until it returns. It panics if the code does: see [Panic].
func (t *Thread) Resume() {
	rt := t.Client.rt
	rt.current, t.Started = t, true
	rt.enter(t.Client)
	_, more := t.resume()
	rt.leave()
	rt.current = nil
	if p := rt.refused.Swap(nil); p != nil {
		panic(p)
	}
	if !more {
		t.Over = true
		rt.host.Ended(t)
	}
}

// End is Kill for a thread of a process that goes on. go-redis takes back the connections of the thread, as a Goexit is no
// error, and replies to the thread's requests would be read as those to others. A process has no such threads: an
// exception ends them, upon which a library closes the connection. So each is replaced by a new one.
func (t *Thread) End() {
	t.Kill()
	for _, c := range t.Client.conns {
		if c.by == t && !c.Closed && !c.subscribes {
			c.clear()
			c.Line = c.Line.Renew()
		}
	}
}

// Kill ends the thread at its current operation. Deferred functions run and have no effect
// on the world. The stack unwinds on a goroutine of its own, because iter.Pull passes a
// Goexit on to its caller.
func (t *Thread) Kill() {
	if t.Over || t.cancel == nil {
		return
	}
	t.Over = true
	if !t.Started {
		t.cancel() // there is no stack to unwind
		return
	}
	rt := t.Client.rt
	before, beat := rt.current, rt.beat.Load()
	rt.current = t
	rt.enter(t.Client)
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.cancel()
	}()
	<-done
	rt.beat.Store(beat)
	rt.current = before
}
