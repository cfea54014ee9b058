package monitor

import (
	"fmt"
	"strings"
	"time"

	"lockstep/sim/trace"
)

// This file decides about the violations that no single event decides: bounded blocking, which lasts
// (BD); those for ever, which need a run that has ended (PD) or that is a lasso (PD and LV); and a lock
// that nobody can have at a run's end although no record is to blame (UA and DN).

// Future describes the part of a situation that decides the coming events and that past
// events don't show. Two situations with equal descriptions have equal continuations.
type Future interface {
	// Next describes the next operation of a client's main thread, and the time until then.
	Next(client int) string
	// Timers describes the timers, each with the time until it is due, sorted.
	Timers() []string
}

// blocking is an open spell of bounded blocking: a client was refused only
// because of a record whose owner is gone.
type blocking struct {
	open    bool
	by      trace.Acquisition
	written int  // Seq of the event that stored the record
	refused int  // Seq of the first refusal
	others  bool // somebody else than its owner was refused
	since   time.Duration
	after   string // its owner's end, in words: refusals before that don't count
}

// Blocked reports whether a client was refused only because of an orphaned record, which is
// still there.
func (m *Monitor) Blocked() bool { return m.blocked.open }

// Repeats reports whether the run was found to be a lasso.
func (m *Monitor) Repeats() bool { return m.cycle.reported }

// orphaned reports whether an acquisition is over and no client will remove its record. A
// lease that has merely lapsed doesn't count: its record expires a moment later, by design.
func (m *Monitor) orphaned(a trace.Acquisition) bool {
	if a.Client == trace.None {
		return false
	}
	c := &m.s.Clients[a.Client]
	return c.Crashed || c.Hung || c.Stopped || c.Acquired > a.N || c.Phase == trace.PhaseIdle
}

// leftover returns the record that alone keeps a client from the lock: no live client holds
// the lock or is about to, and without orphaned records enough nodes would be free.
func (m *Monitor) leftover(client int) (*trace.HeldRecord, bool) {
	free, orphans := 0, 0
	var culprit *trace.HeldRecord
	for i := range m.s.Clients {
		if c := &m.s.Clients[i]; c.Lease.Live && !c.Hung {
			return nil, false
		}
	}
	for _, n := range m.s.Primary {
		switch r := m.s.LockRecord(n); {
		case !m.s.Nodes[n].Up:
		case r == nil || r.Owner == m.s.Acquisition(client): // the client's own record doesn't block it
			free++
		case m.orphaned(r.Owner):
			orphans++
			if culprit == nil {
				culprit = r
			}
		default:
			return nil, false // a live client's record
		}
	}
	return culprit, OnlyOrphans(free, orphans, m.t.Need)
}

// refusal opens a spell of blocking.
func (m *Monitor) refusal(e *trace.Event) {
	if b := &m.blocked; b.open {
		b.others = b.others || e.Client != b.by.Client
		return
	}
	if r, only := m.leftover(e.Client); only {
		m.blocked = blocking{open: true, by: r.Owner, written: r.Written, refused: e.Seq, others: e.Client != r.Owner.Client, since: e.At, after: m.gone(r.Owner.Client)}
	}
}

// gone says how the owner of an orphaned record has left it.
func (m *Monitor) gone(client int) string {
	switch c := &m.s.Clients[client]; {
	case c.Crashed:
		return m.name(client) + "'s crash"
	case c.Hung:
		return m.name(client) + "'s main thread had stopped"
	}
	return m.name(client) + " was done"
}

// relief closes a spell of blocking: the record is gone, or was taken over.
func (m *Monitor) relief(e *trace.Event) {
	b := &m.blocked
	if !b.open || len(e.Changes) == 0 && e.Kind != trace.KindGranted && e.Kind != trace.KindDown {
		return
	}
	// A few records that are left on other nodes don't block; and if too few nodes are
	// up, no record is the reason for a refusal.
	free, up := m.without(b.by)
	need := m.t.Need
	enough := free >= need || up < need
	if !enough && e.Kind != trace.KindGranted {
		return
	}
	text := fmt.Sprintf("what %s left behind kept %s out for %s, counted from the first refusal after %s", m.name(b.by.Client), m.keptOut(), trace.Duration(e.At-b.since), b.after)
	if c := &m.s.Clients[b.by.Client]; !c.Hung || c.Crashed {
		text += ", though " + m.nobody() + " held the lock"
	}
	m.report(e.At, trace.BD, text, b.written, b.refused, e.Seq)
	b.open = false
}

// keptOut says who was refused: others, or only the one whose record it is, in a later acquisition.
func (m *Monitor) keptOut() string {
	if b := &m.blocked; !b.others {
		return m.name(b.by.Client) + " itself"
	}
	return "others"
}

// unheld says why the record that blocks is nobody's: a client whose main thread has stopped is alive, and has its lease.
func (m *Monitor) unheld() string {
	if c := m.blocked.by.Client; m.s.Clients[c].Hung && !m.s.Clients[c].Crashed {
		return m.name(c) + "'s main thread has stopped"
	}
	return m.nobody() + " holds the lock"
}

// nobody says who holds the lock of those that could: a client that has crashed may have been its last holder.
func (m *Monitor) nobody() string {
	for i := range m.s.Clients {
		if m.s.Clients[i].Crashed {
			return "nobody alive"
		}
	}
	return "nobody"
}

// without counts the nodes that are up, and those of them that don't hold an
// acquisition's record.
func (m *Monitor) without(a trace.Acquisition) (free, up int) {
	for _, n := range m.s.Primary {
		if !m.s.Nodes[n].Up {
			continue
		}
		up++
		if r := m.s.LockRecord(n); r == nil || r.Owner != a {
			free++
		}
	}
	return free, up
}

// NeverGranted judges a run at whose end the lock cannot be had. The engine calls it when the
// probe's last attempt has been in vain, when no client holds the lock and nothing is left
// that could still change by itself: so it is for ever. seq is that of the newest event.
//
// A spell of blocking that is open is a PD: an orphaned record is to blame. Otherwise the
// servers decide. A lock promises that it can be had as long as most of its servers are up:
// that is Redlock's liveness property B, and of a lock on one server it asks for that server.
// To break the promise is UA. With fewer servers nothing was promised, and it is DN. The
// number of servers that a strategy in fact needs doesn't count: one that asks for four of
// five breaks the promise of a majority.
//
// The search gets the same result by another way (space.Explorer.DeadlockedIn): it has no spells of
// blocking, tries to acquire once more at every end of its own, and has the engine play
// each PD that it finds, with the probe. Both count by [OnlyOrphans].
func (m *Monitor) NeverGranted(now time.Duration, seq int) {
	if b := &m.blocked; b.open {
		m.report(now, trace.PD, fmt.Sprintf("%s, and what %s left behind never goes away", m.unheld(), m.name(b.by.Client)), b.written, b.refused, seq)
		b.open = false
		return
	}
	up, events := 0, []int{seq}
	for _, n := range m.s.Primary {
		switch r := m.s.LockRecord(n); {
		case !m.s.Nodes[n].Up:
			events = append(events, m.fell[n])
			continue
		case r != nil && r.Owner == trace.Nobody: // other data under the lock's key
			events = append(events, r.Written)
		}
		up++
	}
	switch all := len(m.s.Primary); {
	case up > all/2 && all == 1:
		m.report(now, trace.UA, "nobody holds the lock, its server is up, and yet nobody can have it", events...)
	case up > all/2:
		m.report(now, trace.UA, fmt.Sprintf("nobody holds the lock, %d of its %d servers are up, and yet nobody can have it", up, all), events...)
	case all == 1:
		m.report(now, trace.DN, "nobody can have the lock: its server is down", events...)
	default:
		m.report(now, trace.DN, fmt.Sprintf("nobody can have the lock: %d of its %d servers are up, and that is no majority", up, all), events...)
	}
}

// NeverAnswered is NeverGranted for a probe that wasn't even refused: it waits in its Acquire for a message, or
// for an element, that nobody sends any more.
func (m *Monitor) NeverAnswered(probe int, now time.Duration, seq int) {
	if r, only := m.leftover(probe); only && !m.blocked.open {
		m.blocked = blocking{open: true, by: r.Owner, written: r.Written, refused: seq, since: now}
	}
	m.NeverGranted(now, seq)
}

// OnlyOrphans reports whether orphaned records alone prevent a quorum: too few servers are
// free, and with those of the orphans there would be enough.
func OnlyOrphans(free, orphans, quorum int) bool {
	return free < quorum && free+orphans >= quorum
}

// kept looks for a lasso in which a client whose main thread hangs keeps its record alive by
// another thread: a client has been refused because of that record, and the situation
// is the same as before, up to a shift in time. The lock is never free then.
func (m *Monitor) kept(e *trace.Event) {
	if !m.blocked.open || m.cycle.reported {
		return
	}
	if first, again := m.cycle.again(m.keeping(e), e.Seq); again {
		b := &m.blocked
		m.report(e.At, trace.PD, fmt.Sprintf("%s's main thread has stopped, but another one keeps the lock for ever: events #%d to #%d repeat", m.name(e.Client), first, e.Seq), b.written, b.refused, first, e.Seq)
		m.cycle.reported = true
		b.open = false
	}
}

// keeping describes a situation as far as the future of a hung client's records depends on
// it. It rounds to milliseconds, in which Redis counts, because a clock that runs a little
// fast or slow never reads the same nanosecond twice.
func (m *Monitor) keeping(e *trace.Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "kept %d %d:", e.Client, e.By)
	for _, n := range m.s.Primary {
		if r := m.s.LockRecord(n); r != nil {
			fmt.Fprintf(&b, "|n%d %d %d", n, r.Owner.Client, (r.Expires - e.At).Milliseconds())
		}
	}
	return b.String()
}

// cycleWatch remembers the situations since the last grant in which a client had to wait for
// another try.
type cycleWatch struct {
	seen     map[string]int
	reported bool // this lasso has been reported
}

func (c *cycleWatch) forget() {
	c.start()
	c.reported = false
}

// start forgets the situations so far, and not that a lasso has been reported.
func (c *cycleWatch) start() { clear(c.seen) }

// again returns the Seq at which the situation occurred before, if it did. Otherwise it
// remembers the situation.
func (c *cycleWatch) again(situation string, seq int) (first int, again bool) {
	if first, again = c.seen[situation]; again {
		return first, true
	}
	if c.seen == nil {
		c.seen = map[string]int{}
	}
	c.seen[situation] = seq
	return 0, false
}

// Drew forgets the situations of earlier rounds. The engine calls it when a strategy draws a
// random number, because the next round may differ from the last one then.
func (m *Monitor) Drew() { m.cycle.forget() }

// livelock: two or more clients keep trying, no client holds it, neither a dead
// client's record nor another program's data is in the way, and the situation is the same, up to a shift in
// time, as at an earlier moment. Nothing random happened in between, and nothing went wrong, a pause
// included, so it will come round again for ever: the run is a lasso.
func (m *Monitor) livelock(e *trace.Event) {
	if m.cycle.reported {
		return
	}
	trying := 0
	for i := range m.s.Clients {
		c := &m.s.Clients[i]
		if c.Lease.Live {
			return
		}
		if (c.Phase == trace.PhaseAcquire || c.Phase == trace.PhaseIdle && c.Asleep) && !c.Crashed && !c.Paused && !c.Stopped {
			trying++
		}
	}
	if trying < 2 {
		return
	}
	for _, n := range m.s.Primary {
		if r := m.s.LockRecord(n); r != nil && (r.Owner == trace.Nobody || m.s.Clients[r.Owner.Client].Crashed) {
			return
		}
	}
	if first, again := m.cycle.again(m.situation(e), e.Seq); again {
		m.report(e.At, trace.LV, fmt.Sprintf("%d clients keep trying and nobody gets the lock: events #%d to #%d repeat", trying, first, e.Seq), first, e.Seq)
		m.cycle.reported = true
	}
}

// tokenless is a text with the names of clients in place of their tokens.
func tokenless(text string) string {
	var b strings.Builder
	for len(text) > 0 {
		b.WriteByte(text[0])
		text = text[max(1, trace.TokenAt(text)):]
	}
	return b.String()
}

// situation describes everything on which the future depends, relative to now, and without
// tokens, which always differ. The lock's own record is described by its owner.
func (m *Monitor) situation(e *trace.Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d:", e.Client)
	for i := range m.s.Clients {
		fmt.Fprintf(&b, "|c%d %v %s", i, m.s.Clients[i].Phase, m.future.Next(i))
	}
	for _, n := range m.s.Primary {
		for i := range m.s.Nodes[n].Records {
			r, left := &m.s.Nodes[n].Records[i], trace.Never
			if r.Expires != trace.Never {
				left = r.Expires - e.At
			}
			fmt.Fprintf(&b, "|n%d %d %d", n, r.Owner.Client, left)
			if r.Key != m.s.Key {
				b.WriteString(" " + tokenless(r.Key+" "+r.Value))
			}
		}
	}
	for _, timer := range m.future.Timers() {
		b.WriteByte('|')
		b.WriteString(timer)
	}
	return b.String()
}
