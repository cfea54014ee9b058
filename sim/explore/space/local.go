package space

import (
	"lockstep/sim"
	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/intern"
	"lockstep/sim/explore/unfit"
	"lockstep/sim/monitor"
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// local is a view of one client, through which nothing else of a state can be reached: no
// server, no request in flight, no other client, no true time. A step that is made through
// it alone depends on nothing else and changes nothing else, so it can be memoised for the
// client: see Explorer.localStep. An operation that needs more reports that it isn't local,
// and the explorer then makes the step on the whole state.
//
// Invariant: local and habits hold no explorer, no state, no Facts and no servers.
type local struct {
	*habits
	c     *client
	exact bool  // its waits end when they do, although habits say otherwise: it is the probe
	err   error // of the client's code

	under   monitor.Condition // on the rest of the state, under which the step is valid
	refused bool              // the client was refused the lock
	tooLate bool              // its release failed
	ops     uint8             // operations that were performed
}

// habits are the part of a model on which local steps depend, and which is the same in
// every state: the behaviour of clients, the lists to which their inboxes refer, and
// settings.
type habits struct {
	clients  *behaviour.Clients
	inboxes  *intern.Lists[reply]
	timeout  int32                                      // milliseconds
	resource sim.Resource                               // see Bounds
	checks   bool                                       // likewise
	extend   bool                                       // likewise
	needs    *behaviour.Needs                           // of clients, or nil if nothing is known of them
	drops    monitor.FactSet                            // that nothing sought needs; in a search without bounds
	goesOn   bool                                       // monotonic clocks go on from one cycle to the next
	eachStep bool                                       // see Model.StepByStep
	early    bool                                       // waits end at any time: see Model.WakeEarly
	endless  bool                                       // cycles aren't counted: the series of tokens depends on the rest of the state
	spares   func(trace.Kind) (monitor.Condition, bool) // monitor.Local
}

// step lets the client perform an operation and all that follow and are independent. It
// reports whether that was local; if not, the client's state has no meaning afterwards.
func (l *local) step(t int) bool {
	asks := l.asks(t)
	if !l.perform(t) || asks && l.goesAhead() && !l.perform(0) {
		return false
	}
	for !l.eachStep && l.independent() {
		if !l.perform(0) {
			return false
		}
	}
	return l.err == nil
}

// asks reports whether thread t is about to ask for the lock. That changes nothing but the
// client's own count of acquisitions, so it is performed together with the operation after it:
// a client that waits between the two waits as well before both, where it is no pause. Another
// thread could come in between, though; and in a search without bounds it begins a series of
// tokens.
func (l *local) asks(t int) bool {
	h := l.clients.At(l.c.history)
	return !l.endless && h.Threads[t].Asks() && h.Single()
}

// goesAhead reports whether the client, which has just asked for the lock, can perform its next
// operation. A draw is a choice of its own, and a thread that it has started goes first.
func (l *local) goesAhead() bool {
	h := l.clients.At(l.c.history)
	return l.err == nil && h.Single() && !h.Threads[0].Over && !l.c.waits[0] && h.Threads[0].Kind != process.OpDraw
}

// perform performs one operation, and runs the thread to the next. It reports whether that
// was local.
func (l *local) perform(t int) bool {
	h := l.clients.At(l.c.history)
	p := &h.Threads[t]
	seen, at, is := l.observe(h, p)
	if !is || at >= 0 && l.replyAt(at).prolonged {
		return false
	}
	l.c.paused = false
	l.consume(p, at)
	if !l.access(p) {
		return false
	}
	out := l.after(behaviour.Transition{From: l.c.history, Thread: uint8(t), Seen: seen})
	if l.err != nil {
		return false
	}
	for _, r := range *l.clients.Reports.At(out.Reports) {
		if !l.applyReport(r) {
			return false
		}
	}
	l.arrive(t, h, out)
	l.ops++
	return true
}

// accepts reports whether the resource accepts an operation that is an access, whatever others
// have done to it: it doesn't look at the fencing token.
func (h *habits) accepts(p *behaviour.Operation) bool {
	return h.resource == sim.Plain || h.resource == sim.FencedWrites && p.Kind == process.OpRead
}

// access applies an operation that is an access to the resource, and reports whether that was local.
// Conditions are on the state before the step, so a write that comes later in it isn't.
func (l *local) access(p *behaviour.Operation) bool {
	switch p.Kind {
	case process.OpWrite:
		under, is := l.spares(trace.KindWrite)
		if !is || l.ops > 0 {
			return false
		}
		l.under |= under
		fallthrough
	case process.OpRead:
		l.c.Accessed(p.Kind == process.OpWrite)
	}
	return true
}

// applyReport applies a report of the client, and reports whether that was local. Refusals and
// failed releases are local once in a step, as a bit counts each.
func (l *local) applyReport(r behaviour.Report) bool {
	under, is := l.spares(r.Kind)
	twice := r.Kind == trace.KindRefused && l.refused || r.Kind == trace.KindReleaseFailed && l.tooLate
	if !is || twice {
		return false
	}
	l.under |= under
	l.refused = l.refused || r.Kind == trace.KindRefused
	l.tooLate = l.tooLate || r.Kind == trace.KindReleaseFailed
	l.c.Told(r.Kind, false)
	l.c.endLease()
	return true
}

// endLease drops the deadline of a lease that is over.
func (c *client) endLease() {
	if !c.Live {
		c.forever, c.deadline = false, 0
	}
}

// after returns the outcome of a transition.
func (l *local) after(tr behaviour.Transition) behaviour.Outcome {
	out, err := l.clients.After(tr)
	if err != nil {
		l.err = err
	}
	return out
}

// observe returns the result of an operation, and the index of the reply in the inbox that
// it is, or -1. It changes nothing. is reports whether the result depends on the client
// alone: for an operation on something shared, or on the wall clock, it doesn't.
func (l *local) observe(h *behaviour.History, p *behaviour.Operation) (seen behaviour.Observation, at int, is bool) {
	switch p.Kind {
	case process.OpSend, process.OpDraw:
		return behaviour.Observation{}, -1, false
	case process.OpRead, process.OpWrite:
		return behaviour.Observation{}, -1, l.accepts(p)
	case process.OpMark:
		return behaviour.Observation{}, -1, !(l.endless && p.Asks())
	case process.OpClock:
		return l.monotonic(h), -1, !p.Wall
	case process.OpReceive:
		at = l.replyOn(p.Conn)
		switch {
		case at < 0:
			return behaviour.Observation{Kind: behaviour.SawTimeout}, at, true
		case l.replyAt(at).refused:
			return behaviour.Observation{Kind: behaviour.SawRefusal}, at, true
		}
		return behaviour.Observation{Kind: behaviour.SawReply, Value: int64(l.replyAt(at).reply)}, at, true
	}
	return behaviour.Observation{}, -1, true
}

// monotonic returns a reading of the client's monotonic clock, which starts at 0 with the
// cycle's first.
func (l *local) monotonic(h *behaviour.History) behaviour.Observation {
	now := int64(0)
	switch {
	case l.c.since == dropped:
		l.err = unfit.ErrDropped
	case l.c.since != unset:
		now = int64(l.c.since)
	}
	if l.checks && h.Given && l.c.Inside && !l.c.Live {
		return behaviour.Observation{Kind: behaviour.SawMonoLapsed, Value: now}
	}
	return behaviour.Observation{Kind: behaviour.SawMono, Value: now}
}

// consume removes the reply that the operation reads from the inbox, and starts the cycle's
// time at its first reading.
func (l *local) consume(p *behaviour.Operation, at int) {
	if at >= 0 {
		in := l.inboxes.Get(l.c.inbox)
		l.c.inbox, _ = l.inboxes.Put(append(append([]reply(nil), in[:at]...), in[at+1:]...))
	}
	if p.Kind == process.OpClock && !p.Wall && l.c.since == unset {
		l.c.since = 0
	}
}

// replyOn returns the index of the first reply on a connection, or -1.
func (l *local) replyOn(conn uint8) int {
	for n, r := range l.inboxes.Get(l.c.inbox) {
		if r.conn == uint16(conn) {
			return n
		}
	}
	return -1
}

// replyAt returns the reply in the inbox with an index.
func (l *local) replyAt(n int) *reply { return &l.inboxes.Get(l.c.inbox)[n] }

// independent reports whether the client's next operation commutes with every operation of
// others, every fault and the passing of time, so that it can be performed together with the
// step before. That holds of the reading of a reply that has arrived, if the client then
// reports nothing and doesn't go to sleep (the time of waking would depend on the time of
// reading).
func (l *local) independent() bool {
	c := l.c
	h := l.clients.At(c.history)
	if !h.Single() {
		return false
	}
	p := &h.Threads[0]
	switch {
	case p.Over || c.waits[0] || p.Kind != process.OpReceive:
		return false
	}
	n := l.replyOn(p.Conn)
	if n < 0 || l.replyAt(n).refused || l.replyAt(n).prolonged {
		return false
	}
	out := l.after(behaviour.Transition{From: c.history, Seen: behaviour.Observation{Kind: behaviour.SawReply, Value: int64(l.replyAt(n).reply)}})
	if l.err != nil || len(*l.clients.Reports.At(out.Reports)) > 0 {
		return false
	}
	next := l.clients.At(out.To)
	if next.Count != h.Count || h.Lasts != 0 && next.Closed != h.Closed { // others see the end of a subscription
		return false
	}
	switch q := &next.Threads[0]; q.Kind {
	case process.OpSend, process.OpClock, process.OpRead, process.OpWrite, process.OpMark:
		return !q.Over
	}
	return false
}

// closing returns the connections that end with an outcome, a bit each.
func (l *local) closing(was *behaviour.History, out behaviour.Outcome) uint16 {
	switch h := l.clients.At(out.To); {
	case h.Over:
		return ^h.Lasts // its process goes on, and so do its subscriptions
	case h.BetweenCycles:
		return 0xffff
	case h.Closed != was.Closed:
		return h.Closed
	}
	return 0
}

// arrive takes the client to its next history, after a step of thread t. The caller has
// applied the reports already, and has ended connections outside of the client.
func (l *local) arrive(t int, was *behaviour.History, out behaviour.Outcome) {
	c := l.c
	h := l.clients.At(out.To)
	c.history = out.To
	for n := int(was.Count); n < int(h.Count); n++ { // threads that it has started
		c.queue(n)
	}
	l.dropReplies(l.closing(was, out))
	if h.BetweenCycles || h.Over {
		if c.forgetCycle(); !l.goesOn || h.Over {
			c.since = unset
		}
	}
	c.torn &^= h.Closed
	c.gone &^= h.Closed
	if p := &h.Threads[t]; !p.Over {
		l.announce(t, p)
	}
	for n := range int(was.Count) { // whose sleep the thread has ended
		if p := &h.Threads[n]; c.waits[n] && !p.Over && p.Kind == process.OpSleep && p.Sleep == 0 {
			c.queue(n)
		}
	}
	l.yield(t, h)
	l.settle()
}

// yield keeps in mind, where waits end at any time, whether thread t, which has acted, has begun to wait
// behind others that are ready: it can't be ready again before one of them has acted.
func (l *local) yield(t int, h *behaviour.History) {
	c := l.c
	if !l.early() {
		return
	}
	for n := range int(h.Count) {
		if c.waits[n] {
			c.turn[n] = 0
		}
	}
	if _, any := firstReady(c, h, l.endless); any && c.waits[t] {
		c.turn[t] = 1
	}
}

// forgetCycle clears all that no longer matters of a cycle that has ended.
func (c *client) forgetCycle() {
	c.grantSent = 0
	for t := 1; t < behaviour.MaxThreads; t++ { // they have ended
		c.waits[t], c.due[t], c.sent[t], c.turn[t] = false, 0, 0, 0
	}
	c.inbox, c.torn, c.gone = 0, 0, 0
	c.ForgetCycle()
}

// dropReplies removes replies from the inbox that came on connections which have ended.
func (l *local) dropReplies(conns uint16) {
	if l.c.inbox == 0 || conns == 0 {
		return
	}
	var kept []reply
	for _, r := range l.inboxes.Get(l.c.inbox) {
		if conns>>r.conn&1 == 0 {
			kept = append(kept, r)
		}
	}
	l.c.inbox, _ = l.inboxes.Put(kept)
}

// announce makes a thread wait, or ready, according to its next operation.
func (l *local) announce(t int, p *behaviour.Operation) {
	c := l.c
	switch p.Kind {
	case process.OpReceive:
		if l.replyOn(p.Conn) < 0 {
			l.wait(t, l.patience(t, p))
			return
		}
	case process.OpSleep:
		if l.early() && p.Sleep > 0 {
			l.wait(t, anyTime)
		} else {
			l.wait(t, p.Sleep)
		}
		return
	}
	c.queue(t)
}

// patience returns for how long a thread waits for a reply that hasn't come.
func (l *local) patience(t int, p *behaviour.Operation) int32 {
	sent := l.c.sent[t]
	switch {
	case p.Wait == behaviour.Forever:
		return never
	case l.early():
		return anyTime
	case p.Wait > 0:
		return p.Wait
	case sent == dropped:
		l.err = unfit.ErrDropped
	}
	return max(0, l.timeout-sent)
}

// early reports whether the client's waits may end at any time.
func (l *local) early() bool { return l.habits.early && !l.exact }

// wait makes a thread wait for so long, or until something ends that.
func (l *local) wait(t int, due int32) {
	if l.c.waits[t], l.c.due[t], l.c.turn[t] = true, due, 0; due == anyTime {
		l.c.sent[t] = dropped
	}
}

// settle brings the client into canonical form: it wakes threads whose wait is over, and
// clears the fields that no longer matter.
func (l *local) settle() {
	c := l.c
	h := l.clients.At(c.history)
	for t := range int(h.Count) {
		switch p := &h.Threads[t]; {
		case p.Over || p.Kind != process.OpReceive || p.Wait != 0:
			c.sent[t] = 0
		}
		if c.waits[t] && c.due[t] <= 0 {
			c.queue(t)
		}
	}
	c.order(h)
	if c.Phase != trace.PhaseAcquire && !(c.Believes && l.extend) {
		c.grantSent = 0
	}
	l.drop(h)
}
