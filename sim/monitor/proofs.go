package monitor

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/trace"
)

func (m *Monitor) name(client int) string { return m.t.Clients[client] }

func (m *Monitor) proveDoubleGrant(e trace.Event, with Clients) {
	does, whose := "gets the lock", "%s's lease"
	if e.Kind == trace.KindExtended {
		does, whose = "extends its lease", "%s's"
	}
	with.each(func(i int) {
		m.report(e.At, trace.DG, fmt.Sprintf("%s %s while "+whose+" is live", m.name(e.Client), does, m.name(i)),
			m.whyLost(i, m.s.Clients[i].Lease.Granted, e.Seq)...)
	})
}

func (m *Monitor) proveOverlap(e trace.Event, with Clients) {
	with.each(func(i int) {
		m.report(e.At, trace.OV, fmt.Sprintf("%s enters the critical section while %s is inside", m.name(e.Client), m.name(i)),
			m.whyLost(i, m.s.Clients[i].Lease.Entered, e.Seq)...)
	})
}

// whyLost adds to a proof the loss of a believer's record, by which the other client could
// get the lock. If the record has come back meanwhile, the first loss counts.
func (m *Monitor) whyLost(client int, events ...int) []int {
	if m.lost[client] == trace.None {
		return events
	}
	if f := m.provenance.decidingLoss(m.s.Acquisition(client), m.t.Need); f != nil {
		return append(events, f.events...)
	}
	return m.whyLostFirst(client, events...)
}

func (m *Monitor) whyLostFirst(client int, events ...int) []int {
	if f := m.provenance.since(m.s.Acquisition(client), m.lostTo[client]); f != nil {
		return append(events, f.events...)
	}
	return append(events, m.lost[client])
}

// proveStaleWrite names the first access by a newer holder; or else the read that is out
// of date, and the first write since.
func (m *Monitor) proveStaleWrite(e trace.Event, with Clients) {
	if m.s.Workload == trace.Cache {
		m.proveBackwards(e)
		return
	}
	update := with == only(e.Client)
	granter, read := m.s.Clients[e.Client].Lease.Granter, trace.None
	var lost *trace.Touch
	for i := range m.s.Store.Touches {
		t := &m.s.Store.Touches[i]
		mine := t.By.Client == e.Client
		switch {
		case !update && !mine && t.Granter > granter:
			newer, how := "who got the lock later", "read"
			if t.Write {
				how = "written"
			}
			if mine := m.s.Clients[e.Client].Lease.Granted; t.Seq < mine || m.s.Clients[t.By.Client].Lease.Granted < mine { // the older grant may be the last that its client was told of
				newer = "whose record was stored later"
			}
			m.report(e.At, trace.SW, fmt.Sprintf("%s writes although %s, %s, has already %s%s", m.name(e.Client), m.name(t.By.Client), newer, how, m.because(m.destroyed(e), m.sameNumber(e, t))), append(m.touchedBy(i), e.Seq)...)
			return
		case mine && !t.Write && t.By.N == e.Acq:
			read, lost = t.Seq, nil
		case !mine && t.Write && read != trace.None && lost == nil:
			lost = t
		}
	}
	m.report(e.At, trace.SW, fmt.Sprintf("%s overwrites what %s wrote since %s read: an update is lost", m.name(e.Client), m.name(lost.By.Client), m.name(e.Client)), read, lost.Seq, e.Seq)
}

// destroyed says whose update a write that comes too late overwrites: that of who was the first to write since the read that the written value
// is based on. It is empty where nobody has, or nothing was read.
func (m *Monitor) destroyed(e trace.Event) string {
	read, lost := false, ""
	for _, t := range m.s.Store.Touches {
		switch mine := t.By.Client == e.Client; {
		case mine && !t.Write && t.By.N == e.Acq:
			read, lost = true, ""
		case !mine && t.Write && read && lost == "":
			lost = m.name(t.By.Client) + "'s update is lost"
		}
	}
	return lost
}

// because joins what there is to say about a violation behind its colon.
func (m *Monitor) because(reasons ...string) string {
	reasons = slices.DeleteFunc(reasons, func(r string) bool { return r == "" })
	if len(reasons) == 0 {
		return ""
	}
	return ": " + strings.Join(reasons, "; ")
}

// touchedBy is an access of a newer holder, and, where that was a read, its write since, which a stale write destroys.
func (m *Monitor) touchedBy(access int) []int {
	first := m.s.Store.Touches[access]
	events := []int{first.Seq}
	for _, t := range m.s.Store.Touches[access+1:] {
		if t.Write && t.By == first.By && !first.Write {
			return append(events, t.Seq)
		}
	}
	return events
}

// sameNumber says why a store that checks fencing tokens takes a late write all the same, if its number is that of the newer holder, as
// where a failover has lost the counter.
func (m *Monitor) sameNumber(e trace.Event, newer *trace.Touch) string {
	if e.Fence == 0 || m.s.Acquisition(newer.By.Client) != newer.By || m.s.Clients[newer.By.Client].Lease.Fence != e.Fence {
		return ""
	}
	return fmt.Sprintf("both carry number %d, so the resource can't tell them apart", e.Fence)
}

// proveBackwards names the query that gave the old version, if there was one, and the
// write of the newer.
func (m *Monitor) proveBackwards(e trace.Event) {
	events := []int{e.Seq}
	query, newer := trace.None, trace.None
	for i := range m.s.Store.Touches {
		switch t := &m.s.Store.Touches[i]; {
		case t.Write:
			newer = i
		case t.By.Client == e.Client:
			query = t.Seq
		}
	}
	if query != trace.None {
		events = append(events, query)
	}
	by := &m.s.Store.Touches[newer] // the cache was empty at first
	m.report(e.At, trace.SW, fmt.Sprintf("%s puts version %d over version %d, which %s cached: the cache goes back", m.name(e.Client), e.Value, m.s.Store.Value, m.name(by.By.Client)), append(events, by.Seq)...)
}

func (m *Monitor) proveForeignRelease(e trace.Event, _ Clients) {
	r := m.s.LockRecord(e.Node)
	i := slices.IndexFunc(e.Changes, func(ch trace.Change) bool { return ch.Key == m.s.Key })
	m.report(e.At, trace.FR, fmt.Sprintf("%s's %s %s %s's record", m.name(e.Client), strings.ToUpper(e.Args[0]), m.harm(e.Changes[i].Effect()), m.name(r.Owner.Client)),
		m.actingOn(e, r.Written, e.Seq)...)
}

// actingOn adds to a proof the reply on which the client acts: a check that was right when
// the server made it.
func (m *Monitor) actingOn(e trace.Event, events ...int) []int {
	if r := m.read[e.Client]; r.seq != trace.None && r.acq == e.Acq && r.phase == e.Phase && r.phase != trace.PhaseAcquire {
		events = append(events, r.seq)
	}
	return events
}

func (m *Monitor) harm(e trace.Effect) string {
	switch {
	case !e.After:
		return "removes"
	case (e.Stored || e.Changed) && !m.s.Counter:
		return "replaces"
	case e.Longer:
		return "prolongs"
	}
	return "shortens"
}

func (m *Monitor) proveFalseRefusal(e trace.Event, _ Clients) {
	own := trace.Acquisition{Client: e.Client, N: e.Acq}
	for _, n := range m.s.Primary {
		if r := m.s.LockRecord(n); r != nil && r.Owner == own {
			how := "is told that it has not got the lock"
			if e.Kind == trace.KindFailed { // nobody has refused it anything
				how = "gives up with an error, which counts as a refusal,"
				if node, is := strings.CutPrefix(e.Note, "timeout waiting for "); is && !strings.ContainsAny(node, " ;") {
					how = "gives up without an answer from " + node + ", which counts as a refusal,"
				}
			}
			m.report(e.At, trace.FN, fmt.Sprintf("%s %s while %s stores its value %s", m.name(e.Client), how, m.t.Nodes[n], r.Value), r.Written, e.Seq)
			return
		}
	}
}

func (m *Monitor) proveBrokenContinuity(e trace.Event, _ Clients) {
	m.report(e.At, trace.GAP, fmt.Sprintf("%s extends as if it had held the lock all along, but had lost it", m.name(e.Client)), m.whyLostFirst(e.Client, e.Seq)...)
}
