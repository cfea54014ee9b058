package sim

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// Set is a set of clients, by index.
type Set uint32

// SetOf is the set of the given clients.
func SetOf(clients ...int) Set {
	var s Set
	for _, c := range clients {
		s |= 1 << c
	}
	return s
}

// Has reports whether the set has the client.
func (s Set) Has(client int) bool { return s&(1<<client) != 0 }

// moves is the schedule of the run so far.
type moves struct {
	list  []Move
	muted bool // they are part of another, which is in the schedule as a whole
}

func (m *moves) reset() { m.list, m.muted = m.list[:0], false }

// add appends a move, joining it with the last where that says the same.
func (m *moves) add(v Move) {
	if m.muted {
		return
	}
	if n := len(m.list); n > 0 && v.Count > 0 && m.list[n-1].Who == v.Who && m.list[n-1].Count > 0 {
		m.list[n-1].Count += v.Count
		return
	}
	m.list = append(m.list, v)
}

// Step makes one move in which only the given clients may act: the one of their
// threads that has been ready for longest performs its operation; if none is
// ready, time passes to the next instant at which anything is due. It reports
// false, and does nothing, when nothing is due ever again.
func (w *World) Step(who Set) bool { return w.Steps(who, 1) == 1 && w.err == nil }

// Steps makes up to n such moves, and returns how many it has made. It is faster
// than as many calls of Step: see World.proceed.
func (w *World) Steps(who Set, n int) int {
	w.who, w.left = who, n
	for w.proceed(); w.turn != nil; {
		w.run(w.turn)
	}
	return n - w.left
}

// proceed makes the moves that are left, up to the one in which a thread goes on:
// that thread's turn it is then.
//
// When a thread has announced its next operation, this is called on that thread's
// stack. If the next step is its own, too, it goes on at once, and nobody has had to
// switch to another stack and back. That was a sixth of the time of a plain command.
func (w *World) proceed() {
	w.turn = nil
	for w.left > 0 && w.err == nil {
		t, next, any := w.pick(w.who), w.now, true
		if t == nil {
			next, any = w.Next()
		}
		if !any || w.tooLate(next) {
			return
		}
		w.left--
		w.moves.add(Move{Who: w.who, Count: 1})
		if t != nil {
			w.release(t.client)
			w.perform(t)
			w.turn = t
			return
		}
		w.advance(next)
	}
}

// stepped is the end of a thread's step: it has announced its next operation, or is
// over.
func (w *World) stepped(t *thread) {
	if !t.Over {
		w.announce(t)
	}
	w.settle()
	w.proceed()
}

// Ready reports whether any of the clients could act at this very instant.
func (w *World) Ready(who Set) bool { return w.pick(who) != nil }

// Wait lets time pass while no client acts. What the network and the nodes do by
// themselves happens meanwhile.
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
	}
}

func (w *World) tooLate(at time.Duration) bool {
	if at <= trace.MaxTime {
		return false
	}
	w.err = fmt.Errorf("the run was stopped at %s: it would go on for more than %d years of virtual time",
		trace.Duration(w.now), trace.MaxTime/(365*24*time.Hour))
	return true
}

// Inject makes a fault happen now. One that would change nothing is a move all the
// same: it is in the schedule.
func (w *World) Inject(f Fault) error {
	effect, err := f.enabled(w)
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

// Enabled is nil if a fault can happen now, or else says why not: with a [NoEffect] if
// it would change nothing.
func (w *World) Enabled(f Fault) error {
	_, err := f.enabled(w)
	return err
}

// Remark says something at this point of the run.
func (w *World) Remark(n trace.Note) {
	n.At, n.Seq = w.now, w.events+1
	if n.Index > 0 {
		w.moves.add(Move{Note: n.Index})
	}
	if w.recording {
		w.trace.Notes = append(w.trace.Notes, n)
	}
}

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

// Next is the next instant at which anything is due.
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
			if t.waiting && !t.Over && (!any || t.due < next) {
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
		return fmt.Sprintf("%d>%d %s", t.msg.client, t.msg.node, t.msg.args[0])
	}
}

// advance moves time on. A client that could act, but isn't let, while time
// passes, is paused: that is what a pause is.
func (w *World) advance(to time.Duration) {
	if to > w.now {
		for _, c := range w.clients {
			if !c.paused && c.couldAct() {
				w.hold(c)
			}
		}
		w.now = to
	}
	w.settle()
}

func (c *client) couldAct() bool {
	return slices.ContainsFunc(c.threads, func(t *thread) bool {
		return t.Started && t.runnable() && !(c.hung && t.Index == 0)
	})
}

func (w *World) hold(c *client) {
	c.paused, c.pausedAt = true, w.now
	w.emit(&trace.Event{Kind: trace.KindPause, Client: c.Index, Node: trace.None, Ref: trace.None, Acq: c.Acquired})
}

// release is the end of a pause, at the client's next step.
func (w *World) release(c *client) {
	if c.paused {
		c.paused = false
		w.emit(&trace.Event{Kind: trace.KindResume, Client: c.Index, Node: trace.None, Ref: trace.None, Acq: c.Acquired, By: w.now - c.pausedAt})
	}
}

// settle lets happen all that is due at this instant and needs no choice:
// expiry, then lapses, arrivals and awakenings in the timers' order.
func (w *World) settle() {
	for {
		for _, n := range w.nodes {
			if n.NextExpiry != trace.Never && n.NextExpiry <= w.now {
				w.expire(n)
			}
		}
		if len(w.timers.items) > 0 && w.timers.items[0].at <= w.now {
			if t := w.timers.pop(); w.alive(&t) {
				w.fire(&t)
			}
			continue
		}
		if !w.wake() {
			return
		}
	}
}

// wake makes those ready whose time has come, in the clients' order.
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
		w.emit(&trace.Event{Kind: trace.KindExpire, Client: trace.None, Node: n.Index, Ref: trace.None, Changes: changes})
	}
}

func (w *World) fire(t *timer) {
	switch t.kind {
	case timerLapse:
		if w.state.Clients[t.cl.Index].Lease.Live {
			w.emit(&trace.Event{Kind: trace.KindLapse, Client: t.cl.Index, Node: trace.None, Ref: trace.None, Acq: t.cl.Acquired})
		}
	case timerRequest:
		w.arrive(t.msg)
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

// Trace is the run so far, sealed with its hash, schedule and verdict. The trace
// is the caller's to keep.
func (w *World) Trace() (*trace.Trace, error) {
	if !w.recording {
		return nil, errors.New("sim: this run was not recorded")
	}
	t := w.trace
	t.Events = slices.Clone(t.Events)
	t.Notes = slices.Clone(t.Notes)
	t.Violations = slices.Clone(w.monitor.Violations())
	slices.SortStableFunc(t.Violations, func(a, b trace.Violation) int {
		if d := a.Last() - b.Last(); d != 0 {
			return d
		}
		return int(a.Code) - int(b.Code)
	})
	t.Schedule = w.Schedule().String()
	t.Seal()
	return &t, nil
}

// Verdict is what the monitors have said so far.
func (w *World) Verdict() trace.Verdict { return trace.VerdictOf(w.monitor.Violations()) }

// Frozen reports whether a Pause holds the client.
func (w *World) Frozen(client int) bool { return w.clients[client].frozen }

// Stop ends all threads, so that an abandoned run holds no goroutine. The world
// can be reset and used again.
func (w *World) Stop() {
	for _, c := range w.clients {
		for _, t := range c.threads {
			t.Kill()
		}
	}
}

func (v Move) text(names []string) string {
	switch {
	case v.Fault != nil:
		return v.Fault.String()
	case v.Note > 0:
		return fmt.Sprintf("@%d", v.Note)
	case v.Wait > 0:
		return ":" + v.Wait.String()
	}
	var who []string
	for i, n := range names {
		if v.Who.Has(i) {
			who = append(who, n)
		}
	}
	return fmt.Sprintf("%s:%d", strings.Join(who, "+"), v.Count)
}
