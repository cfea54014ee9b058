package sim

import (
	"fmt"
	"math"
	"slices"
	"time"

	"lockstep/sim/fault"
	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// scheduler keeps the instant, the timers, and whose turn it is.
//
// Invariants: now never decreases in a run. No waiting thread is due before soonest.
// Every thread that is not over is either ready, with a readyAt of its own, or waiting,
// with an instant at which it is due. turn is nil except between the moment at which an
// operation is performed and the one at which its thread goes on.
type scheduler struct {
	now     time.Duration // true virtual time since the start of the run
	timers  timerQueue
	soonest time.Duration

	allowed  Set     // the clients that may act in the moves still to be made
	left     int     // the number of those moves
	turn     *thread // goes on next: its operation has been performed
	broken   *broken // a panic of the world's own code on the stack of a thread
	readySeq uint64  // of the thread that became ready last
	holds    string  // why a client is paused without a fault
}

func (s *scheduler) reset() {
	s.now, s.readySeq = 0, 0
	s.allowed, s.left, s.turn, s.broken = 0, 0, nil, nil
	s.holds = heldBack
	s.timers.reset()
	s.soonest = process.EndOfTime
}

// ready puts a thread into the queue of those that can run.
func (s *scheduler) ready(t *thread) {
	s.readySeq++
	t.waiting, t.readyAt = false, s.readySeq
}

// never is the instant at which a thread is due that waits without a timeout.
const never time.Duration = math.MaxInt64

// suspend makes a thread wait until an instant, unless something readies it earlier.
func (s *scheduler) suspend(t *thread, until time.Duration) {
	t.waiting, t.due = true, until
	s.soonest = min(s.soonest, until)
}

// Step makes one move in which only the given clients may act: of their threads, the one
// that has been ready for longest performs its operation; if none is ready, time passes to
// the next instant at which anything is due. It returns false, having done nothing, when
// nothing is due ever again; and when the run has reached a bound, see [World.Err].
func (w *World) Step(who Set) bool { return w.Steps(who, 1) == 1 && w.err == nil }

// Steps makes up to n such moves, and returns the number of moves made. It is faster than
// as many calls of Step: see World.proceed.
func (w *World) Steps(who Set, n int) int {
	w.allowed, w.left = who, n
	for w.proceed(); w.turn != nil; {
		w.run(w.turn)
	}
	return n - w.left
}

// proceed makes the moves that are left, up to the first in which a thread performs an
// operation and has to go on. It is that thread's turn then.
//
// proceed is called on the stack of the thread that has just announced its next operation.
// If the next turn is the same thread's, the thread goes on without a switch to another
// stack and back. That switch was a sixth of the time of a plain command.
func (w *World) proceed() {
	w.turn = nil
	for w.left > 0 && w.err == nil {
		t, next, any := w.pick(w.allowed), w.now, true
		if t == nil {
			next, any = w.Next()
		}
		if !any || w.tooLate(next) {
			return
		}
		w.left--
		if t != nil && t.client.drawn != nil {
			w.moves.add(Move{Who: w.allowed, Draws: true, Draw: *t.client.drawn})
		} else {
			w.moves.step(w.allowed)
		}
		if t != nil {
			w.release(t.client)
			w.perform(t)
			if w.Observer != nil {
				w.Observer(t.client.Index, t.Index, &t.Op)
			}
			w.turn = t
			return
		}
		w.advance(next)
		w.settle()
	}
}

// Ready reports whether any of the clients could act at this very instant.
func (w *World) Ready(who Set) bool { return w.pick(who) != nil }

// Wait lets time pass while no client acts. Timers and expiries happen meanwhile. It does
// nothing if d is not positive.
func (w *World) Wait(d time.Duration) {
	if d <= 0 || w.err != nil || w.tooLate(w.now+min(d, process.EndOfTime)) {
		return
	}
	w.moves.add(Move{Wait: d})
	for end := w.now + d; w.now < end; {
		next, any := w.Next()
		if !any || next > end {
			next = end
		}
		w.advance(next)
		w.settle()
	}
}

// MissedRenewal reports whether a client thinks that it has the lock, though no server has its record any more, and has a thread beside
// its main one that could act: had it acted when it was due, it might have kept the record. Of a paused client it is false.
func (w *World) MissedRenewal(client int) bool {
	c := w.clients[client]
	if c.frozen || c.crashed || !w.state.Clients[client].Lease.Believed || !slices.ContainsFunc(c.threads[1:], (*thread).runnable) {
		return false
	}
	for i := range w.state.Nodes {
		if rec := w.state.LockRecord(i); rec != nil && rec.Owner.Client == client {
			return false
		}
	}
	return true
}

func (w *World) tooLate(at time.Duration) bool {
	if at <= trace.MaxTime {
		return false
	}
	w.err = &TooLate{w.now}
	return true
}

// TooLate is the error of a run that would go on past [trace.MaxTime].
type TooLate struct{ At time.Duration }

// Error says at which instant the run was stopped, and the latest instant that a trace can tell.
func (e *TooLate) Error() string {
	return fmt.Sprintf("the run was stopped at %s: it would go on for more than %d years of virtual time", trace.Duration(e.At), trace.MaxTime/(365*24*time.Hour))
}

// Inject makes a fault happen now, or fails if it can't. A fault that would change nothing
// is a move all the same, and stands in the schedule.
func (w *World) Inject(f fault.Fault) error {
	effect, err := w.enabled(f)
	if err == nil {
		err = effect()
	}
	if _, idle := err.(NoEffect); err != nil && !idle {
		return err
	}
	w.moves.add(Move{Fault: f})
	w.settle()
	return nil
}

// Enabled returns nil if a fault can happen now, and otherwise the reason: a [NoEffect] if
// it would change nothing.
func (w *World) Enabled(f fault.Fault) error {
	_, err := w.enabled(f)
	return err
}

// pick returns the thread of these clients that has been ready for longest, or nil.
func (w *World) pick(who Set) *thread {
	var best *thread
	for i, c := range w.clients {
		if !who.Has(i) || c.frozen {
			continue
		}
		for i, t := range c.threads {
			if i == 0 && c.hung {
				continue
			}
			if t.runnable() && (best == nil || t.readyAt < best.readyAt) {
				best = t
			}
		}
	}
	return best
}

// Next returns the next instant at which anything is due, and false if nothing is due ever
// again.
func (w *World) Next() (time.Duration, bool) {
	for len(w.timers.items) > 0 && !w.alive(&w.timers.items[0]) {
		w.timers.pop()
	}
	next, any := trace.Never, false
	if len(w.timers.items) > 0 {
		next, any = w.timers.items[0].at, true
	}
	for _, n := range w.nodes {
		if n.NextExpiry != trace.Never && (!any || n.NextExpiry < next) {
			next, any = n.NextExpiry, true
		}
	}
	if any && next <= w.soonest {
		return max(next, w.now), any // no thread is due before that
	}
	for _, c := range w.clients {
		for _, t := range c.threads {
			if t.waiting && !t.Over && t.due != never && (!any || t.due < next) {
				next, any = t.due, true
			}
		}
	}
	return max(next, w.now), any
}

// alive reports whether a timer's subject still waits for it.
func (w *World) alive(t *timer) bool {
	switch t.kind {
	case timerLapse:
		return t.gen == t.cl.leaseGen && !t.cl.crashed
	case timerRequest, timerReply, timerGiveUp:
		return t.gen == t.msg.gen
	case timerReplicate, timerAck:
		return w.replication[t.copy.to].source == t.copy.from
	}
	panic("sim: a timer of no kind")
}

func (t *timer) subject() string {
	switch t.kind {
	case timerLapse:
		return t.cl.Name
	case timerReplicate, timerAck:
		return fmt.Sprintf("%d>%d", t.copy.from, t.copy.to)
	default:
		return fmt.Sprintf("%d>%d %s", t.msg.client, t.msg.node, t.msg.word())
	}
}

// heldBack is the reason of a pause that is no fault, unless a script has the client wait: see [World.Scripted]. It is the
// same whether others act meanwhile or time passes: a schedule can say either in several ways.
const heldBack = "the schedule doesn't let it act yet"

// Scripted says of the run, until the next Reset, that a script decides who acts, and that its clients are paused in its story
// only by a [fault.Pause].
func (w *World) Scripted() { w.holds = trace.HeldByScript }

// advance moves time on, before the world settles at that instant. A client that could act and
// isn't allowed to while time passes is paused, by definition.
func (w *World) advance(to time.Duration) {
	if to <= w.now {
		return
	}
	for _, c := range w.clients {
		if !c.paused && c.couldAct() {
			w.hold(c, w.holds)
		}
	}
	w.now = to
}

func (c *client) couldAct() bool {
	for _, t := range c.threads { // no function of package slices: it is asked whenever time goes on
		if t.Started && t.runnable() && !(c.hung && t.Index == 0) {
			return true
		}
	}
	return false
}

// hold pauses a client, and says why if no fault does it.
func (w *World) hold(c *client, why string) {
	if !c.paused {
		c.pausedAt = w.now
	}
	c.paused, c.held = true, why != ""
	w.emitOf(c, trace.Event{Kind: trace.KindPause, Note: why})
}

// release ends a client's pause, at its next step.
func (w *World) release(c *client) {
	if c.paused {
		c.paused, c.held = false, false
		w.emitOf(c, trace.Event{Kind: trace.KindResume, By: w.now - c.pausedAt})
	}
}

// settle makes everything happen that is due at this instant and needs no choice: expiry,
// then timers in their order, then the waking of threads.
func (w *World) settle() {
	for {
		for _, n := range w.nodes {
			if n.NextExpiry != trace.Never && n.NextExpiry <= w.now {
				w.expire(n)
			}
		}
		if len(w.timers.items) > 0 && w.timers.items[0].at <= w.now {
			switch t := w.timers.pop(); {
			case !w.alive(&t):
			case t.kind == timerRequest && !t.msg.copy: // without a function of its own, as in Announced
				t.msg.here = true
				w.serve(t.msg.conn)
			default:
				w.fire(&t)
			}
			continue
		}
		if !w.wake() {
			return
		}
	}
}

// wake readies the threads that are due, in the clients' order, and reports whether there
// were any.
func (w *World) wake() (any bool) {
	if w.now < w.soonest {
		return false
	}
	w.soonest = process.EndOfTime
	for _, c := range w.clients {
		for _, t := range c.threads {
			switch {
			case !t.waiting || t.Over:
			case t.due <= w.now:
				w.ready(t)
				any = true
			default:
				w.soonest = min(w.soonest, t.due)
			}
		}
	}
	return any
}

func (w *World) expire(n *redis.Node) {
	if changes := n.Expire(w.now); len(changes) > 0 {
		w.push(n, w.emitAt(n, trace.Event{Kind: trace.KindExpire, Changes: changes}))
	}
}

func (w *World) fire(t *timer) {
	switch t.kind {
	case timerLapse:
		if w.state.Clients[t.cl.Index].Lease.Live {
			w.emitOf(t.cl, trace.Event{Kind: trace.KindLapse})
		}
	case timerRequest: // of a copy: see settle
		w.executeCopy(t.msg)
	case timerReplicate:
		w.replicate(t.copy)
	case timerAck:
		w.acknowledge(t.copy)
	case timerGiveUp:
		w.answerWait(t.msg)
	case timerReply:
		w.deliver(t.msg)
	}
}

// Frozen reports whether the client is paused by a [fault.Pause], and so until a [fault.Resume].
func (w *World) Frozen(client int) bool { return w.clients[client].frozen }

// Stop ends all threads, so that an abandoned run holds no goroutine. The world
// can be reset and used again.
func (w *World) Stop() {
	for _, c := range w.clients {
		c.Stop()
	}
}
