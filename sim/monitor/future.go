package monitor

import (
	"fmt"
	"strings"
	"time"

	"lockstep/sim/trace"
)

// This file decides about the violations that are no condition on one event: blocking,
// which lasts (BD), and the two that are for ever (PD and LV), for which a run must have
// come to its end or go round.

// Future is what the coming events depend on and the past ones don't tell. Two situations
// in which it says the same lead to the same.
type Future interface {
	// Next describes the operation that a client's main thread is about to perform, and
	// how long it waits yet.
	Next(client int) string
	// Timers describe what happens by itself, each with how long it takes yet, in order.
	Timers() []string
}

// blocking is an open spell of bounded blocking: a client was refused only
// because of a record whose owner is gone.
type blocking struct {
	open    bool
	by      trace.Acquisition
	written int // Seq of the event that stored the record
	refused int // Seq of the first refusal
	since   time.Duration
}

// Blocked reports whether a client was refused only because of what others left behind,
// and that is still there.
func (m *Monitor) Blocked() bool { return m.blocked.open }

// Repeats reports whether the run was found to go round for ever.
func (m *Monitor) Repeats() bool { return m.cycle.reported }

// orphaned reports whether an acquisition is over in such a way that nobody will
// come back for its record. A lease that has merely lapsed doesn't count: its
// record expires a moment later, by design.
func (m *Monitor) orphaned(a trace.Acquisition) bool {
	if a.Client == trace.None {
		return false
	}
	c := &m.s.Clients[a.Client]
	return c.Crashed || c.Hung || c.Stopped || c.Acquired > a.N || c.Phase == trace.PhaseIdle
}

// leftover is the record that alone keeps a client from the lock: nobody alive
// holds it or is about to, and without the orphans there would be enough free
// nodes.
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
		case r == nil || r.Owner == m.s.Acquisition(client): // one's own is in nobody else's way yet
			free++
		case m.orphaned(r.Owner):
			orphans++
			if culprit == nil {
				culprit = r
			}
		default:
			return nil, false // somebody is still at it
		}
	}
	return culprit, OnlyOrphans(free, orphans, m.t.Need)
}

// refusal opens a spell of blocking.
func (m *Monitor) refusal(e *trace.Event) {
	if m.blocked.open {
		return
	}
	if r, only := m.leftover(e.Client); only {
		m.blocked = blocking{open: true, by: r.Owner, written: r.Written, refused: e.Seq, since: e.At}
	}
}

// relief closes it: what was in the way is gone, or was taken over.
func (m *Monitor) relief(e *trace.Event) {
	b := &m.blocked
	if !b.open || len(e.Changes) == 0 && e.Kind != trace.KindGranted && e.Kind != trace.KindDown {
		return
	}
	// A few records that are left on other nodes are in nobody's way; and where too
	// few nodes are up, it isn't for a record that the lock can't be had.
	free, up := m.without(b.by)
	need := m.t.Need
	enough := free >= need || up < need
	if !enough && e.Kind != trace.KindGranted {
		return
	}
	m.report(e.At, trace.BD, fmt.Sprintf("what %s left behind kept others out for %s from the first refusal on, though nobody alive held the lock", m.name(b.by.Client), trace.Duration(e.At-b.since)), b.written, b.refused, e.Seq)
	b.open = false
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

// Deadlocked is for the host to call after the probe's last attempt, when nothing is left
// that could still change by itself: a spell of blocking that is open then lasts for ever.
// seq is that of the newest event.
//
// The search comes to the same in another way (explorer.deadlocked): it has no spells of
// blocking, asks once more at every end of its own, and has the engine play each PD that
// it finds, the probe included. Both then count by [OnlyOrphans].
func (m *Monitor) Deadlocked(now time.Duration, seq int) {
	if b := &m.blocked; b.open {
		m.report(now, trace.PD, fmt.Sprintf("nobody alive holds the lock, and what %s left behind never goes away", m.name(b.by.Client)), b.written, b.refused, seq)
		b.open = false
	}
}

// OnlyOrphans reports whether it is only for the records of the dead that a quorum can't
// be had: too few servers are free, and with theirs there would be enough.
func OnlyOrphans(free, orphans, quorum int) bool {
	return free < quorum && free+orphans >= quorum
}

// kept: a client whose main thread hangs keeps its record alive by another
// thread, somebody has been refused because of that, and the situation is the
// same again, up to a shift in time: the run is a lasso, and the lock never free.
func (m *Monitor) kept(e *trace.Event) {
	if !m.blocked.open || m.cycle.reported {
		return
	}
	if first, again := m.cycle.again(m.keeping(e), e.Seq); again {
		b := &m.blocked
		m.report(e.At, trace.PD, fmt.Sprintf("%s's work hangs, but its other thread keeps the lock for ever: events #%d to #%d repeat", m.name(e.Client), first, e.Seq), b.written, b.refused, first, e.Seq)
		m.cycle.reported = true
		b.open = false
	}
}

// keeping describes what the future of a hung client's records depends on. Less
// than a millisecond, in which Redis counts, makes no difference to it; and a clock
// that runs a little fast or slow never comes to the same nanosecond twice.
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

// cycleWatch remembers the situations in which somebody had to wait for another
// try since the last grant.
type cycleWatch struct {
	seen     map[string]int
	reported bool // this lasso goes round for ever: once is enough
}

func (c *cycleWatch) forget() {
	clear(c.seen)
	c.reported = false
}

// again is the Seq at which the situation was met with before, if it was, and remembers it
// otherwise.
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

// Drew is for the host to call when a strategy draws a random number: the next round
// needn't be like the last one.
func (m *Monitor) Drew() { m.cycle.forget() }

// livelock: two or more clients keep trying, nobody holds the lock, no dead
// client's record is in the way, and the situation is the same, up to a shift in
// time, as at an earlier moment. Nothing random happened in between, so it will
// come round again for ever: the run is a lasso.
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
		if r := m.s.LockRecord(n); r != nil && m.s.Clients[max(r.Owner.Client, 0)].Crashed {
			return
		}
	}
	if first, again := m.cycle.again(m.situation(e), e.Seq); again {
		m.report(e.At, trace.LV, fmt.Sprintf("%d clients keep trying and nobody gets the lock: events #%d to #%d repeat", trying, first, e.Seq), first, e.Seq)
		m.cycle.reported = true
	}
}

// situation describes all that the future depends on, relative to now, and
// without tokens, which are never the same.
func (m *Monitor) situation(e *trace.Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d:", e.Client)
	for i := range m.s.Clients {
		fmt.Fprintf(&b, "|c%d %v %s", i, m.s.Clients[i].Phase, m.future.Next(i))
	}
	for _, n := range m.s.Primary {
		if r := m.s.LockRecord(n); r != nil {
			left := trace.Never
			if r.Expires != trace.Never {
				left = r.Expires - e.At
			}
			fmt.Fprintf(&b, "|n%d %d %d", n, r.Owner.Client, left)
		}
	}
	for _, timer := range m.future.Timers() {
		b.WriteByte('|')
		b.WriteString(timer)
	}
	return b.String()
}
