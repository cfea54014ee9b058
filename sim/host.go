package sim

import (
	"fmt"
	"runtime/debug"
	"time"

	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// host implements process.Host: it is the world as client code knows it.
type host struct{ *World }

var _ process.Host = host{}

// Dial gives a new connection its end in the world.
func (h host) Dial(c *process.Conn) process.Line {
	client := h.clients[c.Client.Index]
	line := &conn{Conn: c, world: h.World, client: client}
	client.conns = append(client.conns, line)
	return line
}

// Announced lets the world go on, on the stack of the thread that has stopped. A panic
// of the world's own must not pass through the lock's code, which may recover from it:
// it is thrown again where the world is driven.
func (h host) Announced(t *process.Thread) (goOn bool) {
	defer func() {
		if v := recover(); v != nil {
			h.broken, h.turn = &broken{v, debug.Stack()}, nil
			goOn = false
		}
	}()
	h.announce(h.thread(t))
	h.settle() // and not by a function that does both: each call under the others that a command's answer returns through takes time
	h.proceed()
	return h.turn != nil && h.turn.Thread == t
}

// broken is the panic of the world's own code on the stack of a thread. It keeps that
// stack, which is gone by the time the panic is thrown again.
type broken struct {
	value any
	stack []byte
}

func (b *broken) Error() string { return fmt.Sprintf("%v\n\n%s", b.value, b.stack) }

// Started puts a thread that client code has started into the queue.
func (h host) Started(t *process.Thread) {
	c := h.clients[t.Client.Index]
	c.threads = append(c.threads, &thread{Thread: t, client: c})
	h.ready(h.thread(t))
}

// Ended goes on after a thread's last step.
func (h host) Ended(t *process.Thread) {
	h.rouse(h.thread(t).client)
	h.settle()
	h.proceed()
}

// Tell emits an event that client code reports.
func (h host) Tell(e *trace.Event) { h.emit(e) }

// Drew tells the monitor about a random number: the next round needn't be like the last.
func (h host) Drew() { h.monitor.Drew() }

// GrantSent returns the instant at which the client sent the command of its acquisition that last
// stored its record, or last prolonged it to the client's knowledge; or called Acquire, if none has.
func (h host) GrantSent(client int) time.Duration { return h.grantSent[client] }

// LeaseLive reports whether the client's lease is live in the current state.
func (h host) LeaseLive(client int) bool { return h.state.Clients[client].Lease.Live }

// AwaitLapse sets the timer for the lapse of a lease; it voids an earlier one.
func (h host) AwaitLapse(p *process.Client, at time.Duration) {
	c := h.clients[p.Index]
	c.leaseGen++
	if at != trace.Never && at > h.now {
		h.timers.push(timer{at: at, kind: timerLapse, gen: c.leaseGen, cl: c})
	}
}

// NextArrival implements process.Referee.
func (h host) NextArrival() (in time.Duration, any bool) {
	next, any := h.arrival()
	return next - h.now, any
}

// Obstructed implements process.Referee.
func (h host) Obstructed() bool { return h.monitor.Blocked() }

// Patience implements process.Referee.
func (h host) Patience(refusals int) time.Duration { return h.patience(refusals) }

// NeverGranted implements process.Referee.
func (h host) NeverGranted() { h.monitor.NeverGranted(h.now, h.events) }

// thread finds the world's thread for a thread of a process.
func (w *World) thread(t *process.Thread) *thread {
	return w.clients[t.Client.Index].threads[t.Index]
}

// run lets the thread whose turn it is go on.
func (w *World) run(t *thread) {
	t.Resume()
	if w.broken != nil {
		panic(w.broken)
	}
}
