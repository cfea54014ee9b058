package monitor

import (
	"math/bits"
	"slices"
	"time"

	"lockstep/sim/trace"
)

// Monitor judges a run as it happens. It folds each event into the facts, and makes a
// violation of each broken rule: the events that prove it and a sentence, from the trace's
// header, its state and the event alone, so that its findings can be checked against the
// trace. Only livelocks need more: events don't show what a run waits for, so the monitor
// asks a [Future].
type Monitor struct {
	t      *trace.Trace // its header
	s      *trace.State
	future Future
	found  []trace.Violation

	facts   *Facts
	clients []Client
	owners  []Owner

	provenance provenance
	lost       []int    // by client: Seq of the event at which its lease lost the lock, or None
	lostTo     []int    // by client: the at of the decidingLoss then, or None
	asleep     []int    // by client: the stopped server that caused the loss, or None
	fell       []int    // by server: Seq of the event by which it went down last, or None
	read       []answer // by client: the reply that it read last
	blocked    blocking
	cycle      cycleWatch
}

// answer is a reply that a client has read, and may act on.
type answer struct {
	seq   int
	acq   int
	phase trace.Phase
}

// Reset begins a new run, whose header is t and whose state is s. The engine owns both, and
// applies each event to the state between [Monitor.Before] and [Monitor.After].
func (m *Monitor) Reset(t *trace.Trace, s *trace.State, future Future) {
	m.t, m.s, m.future = t, s, future
	m.found = m.found[:0]
	m.resetFacts()
	m.provenance.reset(s)
	n := len(s.Clients)
	m.lost, m.lostTo, m.asleep, m.read = sized(m.lost, n), sized(m.lostTo, n), sized(m.asleep, n), sized(m.read, n)
	for i := range n {
		m.lost[i], m.lostTo[i], m.asleep[i] = trace.None, trace.None, trace.None
		m.read[i] = answer{seq: trace.None}
	}
	m.fell = sized(m.fell, len(s.Nodes))
	for i := range m.fell {
		m.fell[i] = trace.None
	}
	m.blocked = blocking{}
	m.cycle.forget()
}

func (m *Monitor) resetFacts() {
	if len(m.clients) != len(m.s.Clients) || len(m.owners) != len(m.s.Primary) {
		m.clients, m.owners = make([]Client, len(m.s.Clients)), make([]Owner, len(m.s.Primary))
		m.facts = NewFacts(pointers(m.clients), pointers(m.owners))
	}
	clear(m.clients)
	for i := range m.owners {
		m.owners[i] = Nobody
	}
	m.facts.Quorum, m.facts.Counter, m.facts.Workload, m.facts.Cached = m.t.Need, m.t.Counter, m.t.Workload, 0
}

func sized[V any](list []V, n int) []V { return slices.Grow(list[:0], n)[:n] }

func pointers[V any](list []V) (p []*V) {
	for i := range list {
		p = append(p, &list[i])
	}
	return p
}

// Clients returns the facts about each client after the events so far. The slice belongs to the
// monitor: don't keep or change it.
func (m *Monitor) Clients() []Client { return m.clients }

// Owners returns the owners of the lock's record, by the server's address. The slice belongs to the monitor.
func (m *Monitor) Owners() []Owner { return m.owners }

// Violations returns the violations found so far, in the order of the events that completed
// them. The slice belongs to the monitor.
func (m *Monitor) Violations() []trace.Violation { return m.found }

func (m *Monitor) report(at time.Duration, code trace.Code, text string, events ...int) {
	slices.Sort(events)
	m.found = append(m.found, trace.Violation{Code: code, At: at, Events: slices.Compact(events), Text: text})
}

// prove makes violations of the rules that an event has broken.
func (m *Monitor) prove(e *trace.Event, broken []Finding) {
	for _, b := range broken {
		b.prove(m, *e, b.With)
	}
}

// Before judges a command or a write by the state before it.
func (m *Monitor) Before(e *trace.Event) {
	switch e.Kind {
	case trace.KindExecute:
		m.executed(e)
	case trace.KindRead, trace.KindWrite, trace.KindQuery:
		m.prove(e, m.facts.Accessed(e.Client, e.Kind == trace.KindWrite, e.Value))
	}
}

func (m *Monitor) executed(e *trace.Event) {
	x := Execution{Client: e.Client, N: uint16(e.Acq), Phase: e.Phase, Copy: e.Copy, Owner: Nobody}
	for i := range e.Changes {
		if ch := &e.Changes[i]; ch.Key == m.s.Key {
			x.Effect = ch.Effect()
			if r := m.s.LockRecord(e.Node); r != nil {
				x.Owner = OwnerOf(r.Owner)
			}
		}
	}
	_, _, broken := m.facts.Executed(&x)
	m.prove(e, broken)
}

// After judges every other event, by the state after it.
func (m *Monitor) After(e *trace.Event) {
	m.provenance.after(e)
	if e.Kind.Fault() {
		m.cycle.start() // a cycle that took a fault to come round again doesn't do so by itself
	}
	switch e.Kind {
	case trace.KindExecute, trace.KindSend, trace.KindPush, trace.KindRead, trace.KindWrite, trace.KindQuery:
	case trace.KindReceive:
		m.read[e.Client] = answer{seq: e.Seq, acq: e.Acq, phase: e.Phase}
	case trace.KindSleep, trace.KindAwait, trace.KindBlock:
		m.slept(e)
	case trace.KindDown:
		m.fell[e.Node] = e.Seq
	default:
		if e.Client != trace.None {
			m.told(e)
		}
	}
	if len(e.Changes) > 0 && (e.Kind != trace.KindExecute || m.concerns(e.Changes)) || e.Kind == trace.KindFailover {
		m.ownership(e)
	}
	m.relief(e)
}

// concerns reports whether one of the changes is of the lock's record.
func (m *Monitor) concerns(changes []trace.Change) bool {
	for i := range changes {
		if changes[i].Key == m.s.Key {
			return true
		}
	}
	return false
}

// told applies an event by which a client reports something about itself.
func (m *Monitor) told(e *trace.Event) {
	broken := m.facts.Told(e.Client, e.Kind, e.By == trace.Never || e.By > e.At)
	switch e.Kind {
	case trace.KindGranted:
		m.lost[e.Client], m.lostTo[e.Client] = trace.None, trace.None
		if m.clients[e.Client].Lost { // while the last reply was in flight
			m.lose(e.Client, e.Seq)
		}
		m.cycle.forget()
	case trace.KindRefused, trace.KindFailed:
		m.refusal(e)
	}
	m.prove(e, broken)
}

// slept looks for a lasso when a client begins to wait while it tries, or between two tries.
func (m *Monitor) slept(e *trace.Event) {
	if m.s.Clients[e.Client].Hung {
		m.kept(e)
		return
	}
	switch e.Phase {
	case trace.PhaseAcquire:
		m.refusal(e)
		m.livelock(e)
	case trace.PhaseIdle: // a client that insists, between two calls
		m.livelock(e)
	}
}

// ownership follows the owners of the lock's records, and the believers that have lost their
// records on too many servers.
func (m *Monitor) ownership(e *trace.Event) {
	for addr, n := range m.s.Primary {
		if n != e.Node { // a server at which nothing has happened, and which stood here before
			continue
		}
		m.owners[addr] = Nobody
		if r := m.s.LockRecord(n); r != nil {
			m.owners[addr] = OwnerOf(r.Owner)
		}
	}
	m.facts.Recount()
	for i := range m.clients {
		c := &m.clients[i]
		switch {
		case !c.Believes || !c.Lost:
		case m.lost[i] == trace.None:
			m.lose(i, e.Seq)
			if m.asleep[i] = trace.None; e.Kind == trace.KindDown {
				m.asleep[i] = e.Node
			}
		case m.wakes(e, m.asleep[i]) && m.facts.Owns(i):
			// The server has the record on its disk, or its replica has it: no client could
			// get the lock meanwhile, and nothing was lost. In the search no server restarts
			// with its memory, and a failover replaces the master in one step.
			m.facts.Regained(i)
			m.lost[i], m.lostTo[i] = trace.None, trace.None
		}
	}
}

// wakes reports whether an event ends the outage of a server: it is started, or a replica
// takes its place.
func (m *Monitor) wakes(e *trace.Event, server int) bool {
	switch e.Kind {
	case trace.KindUp:
		return e.Node == server
	case trace.KindFailover:
		return server != trace.None && !slices.Contains(m.s.Primary, server)
	}
	return false
}

// lose records that a client's lease has lost the lock, and the deciding loss.
func (m *Monitor) lose(client, at int) {
	m.lost[client] = at
	if f := m.provenance.decidingLoss(m.s.Acquisition(client), m.t.Need); f != nil {
		m.lostTo[client] = f.at
	}
}

// each calls a function for every client of a set, in order.
func (with Clients) each(do func(client int)) {
	for ; with != 0; with &= with - 1 {
		do(bits.TrailingZeros32(uint32(with)))
	}
}
