package explore

import (
	"lockstep/sim/explore/behaviour"
	"lockstep/sim/monitor"
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// local is a view of one client, through which nothing else of a state can be reached: no
// server, no request in flight, no other client, no true time. A step that is made through
// it alone depends on nothing else and changes nothing else, so it may be remembered of the
// client: see explorer.localStep. An operation that needs more says that it isn't local,
// and the explorer then makes the whole step with everything.
//
// Invariant: local and habits hold no explorer, no situation, no Facts and no servers.
type local struct {
	*habits
	c   *client
	err error // of the client's code

	under   monitor.Condition // in which other states it is the same
	refused bool
	tooLate bool
	ops     uint8
}

// habits are what is known of all clients and is the same in every state: how their code
// behaves, the lists that their inboxes refer to, and settings.
type habits struct {
	clients *behaviour.Clients
	inboxes *lists[reply]
	timeout int32
	checks  bool // see Bounds
	extend  bool
	spares  func(trace.Kind) (monitor.Condition, bool) // monitor.Local
}

// step lets the client act, and does at once all that follows silently. It reports whether
// that was local; if not, the client is in no state that means anything.
func (l *local) step(t int) bool {
	if !l.perform(t) {
		return false
	}
	for l.independent() {
		if !l.perform(0) {
			return false
		}
	}
	return l.err == nil
}

// perform carries out one operation, and runs the thread to the next.
func (l *local) perform(t int) bool {
	m := l.clients.At(l.c.history)
	p := &m.Threads[t]
	seen, mail, is := l.observe(m, p)
	if !is || mail >= 0 && l.mail(mail).prolonged {
		return false
	}
	l.c.paused = false
	l.consume(p, mail)
	a := l.after(behaviour.Transition{From: l.c.history, Thread: uint8(t), Seen: seen})
	if l.err != nil {
		return false
	}
	for _, tl := range *l.clients.Reports.At(a.Reports) {
		if !l.tell(tl) {
			return false
		}
	}
	l.arrive(t, m, a)
	l.ops++
	return true
}

// tell follows what the client lets be known, if that is local.
func (l *local) tell(t behaviour.Report) bool {
	under, is := l.spares(t.Kind)
	twice := t.Kind == trace.KindRefused && l.refused || t.Kind == trace.KindReleaseFailed && l.tooLate
	if !is || twice {
		return false
	}
	l.under |= under
	l.refused = l.refused || t.Kind == trace.KindRefused
	l.tooLate = l.tooLate || t.Kind == trace.KindReleaseFailed
	l.c.Told(t.Kind, false)
	l.c.endLease()
	return true
}

// endLease drops the deadline of a lease that is over.
func (c *client) endLease() {
	if !c.Live {
		c.forever, c.deadline = false, 0
	}
}

// after is where an edge leads.
func (l *local) after(e behaviour.Transition) behaviour.Outcome {
	a, err := l.clients.After(e)
	if err != nil {
		l.err = err
	}
	return a
}

// observe is what an operation shows the client, and which reply in the inbox that is, or
// -1. It changes nothing. Of an operation that meets others, or a wall clock, it can't
// tell.
func (l *local) observe(m *behaviour.History, p *behaviour.Operation) (seen behaviour.Observation, mail int, is bool) {
	switch p.Kind {
	case process.OpSend, process.OpRead, process.OpWrite:
		return behaviour.Observation{}, -1, false
	case process.OpClock:
		return l.monotonic(m), -1, !p.Wall
	case process.OpReceive:
		mail = l.mailFor(p.Conn)
		switch {
		case mail < 0:
			return behaviour.Observation{Kind: behaviour.SawTimeout}, mail, true
		case l.mail(mail).refused:
			return behaviour.Observation{Kind: behaviour.SawRefusal}, mail, true
		}
		return behaviour.Observation{Kind: behaviour.SawReply, Value: int64(l.mail(mail).reply)}, mail, true
	}
	return behaviour.Observation{}, -1, true
}

// monotonic is a reading of the client's monotonic clock, which begins with the cycle's
// first.
func (l *local) monotonic(m *behaviour.History) behaviour.Observation {
	now := int64(0)
	if l.c.since != unset {
		now = int64(l.c.since)
	}
	if l.checks && m.Given && l.c.Inside && !l.c.Live {
		return behaviour.Observation{Kind: behaviour.SawMonoLapsed, Value: now}
	}
	return behaviour.Observation{Kind: behaviour.SawMono, Value: now}
}

// consume takes a reply that is read out of the inbox, and begins the cycle's time at its
// first reading.
func (l *local) consume(p *behaviour.Operation, mail int) {
	if mail >= 0 {
		in := l.inboxes.get(l.c.inbox)
		l.c.inbox, _ = l.inboxes.put(append(append([]reply(nil), in[:mail]...), in[mail+1:]...))
	}
	if p.Kind == process.OpClock && !p.Wall && l.c.since == unset {
		l.c.since = 0
	}
}

// mailFor finds the first reply on a connection, or -1.
func (l *local) mailFor(conn uint8) int {
	for n, m := range l.inboxes.get(l.c.inbox) {
		if m.conn == uint16(conn) {
			return n
		}
	}
	return -1
}

func (l *local) mail(n int) *reply { return &l.inboxes.get(l.c.inbox)[n] }

// independent reports whether the client's next operation can be done at once: its order and
// that of all that others do, of time passing or of a fault, makes no difference to what
// comes of both. Two are: to call Acquire, which so far changes nothing but the client's
// own number of acquisitions; and to read a reply that is there, if the client lets nothing
// be known and doesn't go to sleep (when it would wake depends on when it read).
func (l *local) independent() bool {
	c := l.c
	m := l.clients.At(c.history)
	for t := 1; t < int(m.Count); t++ {
		if !m.Threads[t].Over {
			return false
		}
	}
	p := &m.Threads[0]
	switch {
	case p.Over || c.waits[0]:
		return false
	case p.Kind == process.OpMark:
		return p.Mark == trace.KindAcquire
	case p.Kind != process.OpReceive:
		return false
	}
	n := l.mailFor(p.Conn)
	if n < 0 || l.mail(n).refused || l.mail(n).prolonged {
		return false
	}
	a := l.after(behaviour.Transition{From: c.history, Seen: behaviour.Observation{Kind: behaviour.SawReply, Value: int64(l.mail(n).reply)}})
	if l.err != nil || len(*l.clients.Reports.At(a.Reports)) > 0 {
		return false
	}
	next := l.clients.At(a.To)
	if next.Count != m.Count {
		return false
	}
	switch q := &next.Threads[0]; q.Kind {
	case process.OpSend, process.OpClock, process.OpRead, process.OpWrite, process.OpMark:
		return !q.Over
	}
	return false
}

// closing are the connections that end where an arrival leads.
func (l *local) closing(was *behaviour.History, a behaviour.Outcome) uint16 {
	switch m := l.clients.At(a.To); {
	case m.BetweenCycles || m.Over:
		return 0xffff
	case m.Closed != was.Closed:
		return m.Closed
	}
	return 0
}

// arrive takes the client to its next moment. What it has let be known was told already,
// and connections that end there have ended elsewhere.
func (l *local) arrive(t int, was *behaviour.History, a behaviour.Outcome) {
	c := l.c
	m := l.clients.At(a.To)
	c.history = a.To
	for n := int(was.Count); n < int(m.Count); n++ { // threads that it has started
		c.queue(n)
	}
	l.dropReplies(l.closing(was, a))
	if m.BetweenCycles || m.Over {
		c.forgetCycle()
	}
	c.torn &^= m.Closed
	c.gone &^= m.Closed
	if p := &m.Threads[t]; !p.Over {
		l.announce(t, p)
	}
	l.settle()
}

// forgetCycle is a client between two cycles: nothing of the last matters any more.
func (c *client) forgetCycle() {
	c.since, c.grantSent, c.stamp = unset, 0, unset
	for t := 1; t < behaviour.MaxThreads; t++ { // that were there
		c.waits[t], c.due[t], c.sent[t], c.turn[t] = false, 0, 0, 0
	}
	c.inbox, c.torn, c.gone = 0, 0, 0
	c.ForgetCycle()
}

// dropReplies empties the inbox of what came on connections that have ended.
func (l *local) dropReplies(conns uint16) {
	if l.c.inbox == 0 || conns == 0 {
		return
	}
	var kept []reply
	for _, m := range l.inboxes.get(l.c.inbox) {
		if conns>>m.conn&1 == 0 {
			kept = append(kept, m)
		}
	}
	l.c.inbox, _ = l.inboxes.put(kept)
}

// announce looks at the operation that a thread is about to perform: some have to
// wait.
func (l *local) announce(t int, p *behaviour.Operation) {
	c := l.c
	switch p.Kind {
	case process.OpReceive:
		if l.mailFor(p.Conn) < 0 {
			c.waits[t], c.due[t], c.turn[t] = true, max(0, l.timeout-c.sent[t]), 0
			return
		}
	case process.OpSleep:
		c.waits[t], c.due[t], c.turn[t] = true, p.Sleep, 0
		return
	}
	c.queue(t)
}

// settle puts those things of a client in order that don't matter otherwise.
func (l *local) settle() {
	c := l.c
	m := l.clients.At(c.history)
	for t := range int(m.Count) {
		switch p := &m.Threads[t]; {
		case p.Over || p.Kind != process.OpReceive:
			c.sent[t] = 0
		}
		if c.waits[t] && c.due[t] <= 0 {
			c.queue(t)
		}
	}
	c.order(m)
	if c.Phase != trace.PhaseAcquire && !(c.Believes && l.extend) {
		c.grantSent = 0
	}
	if m.Over {
		c.stamp, c.since, c.last = unset, unset, 0
	}
}
