package sim

import (
	"fmt"
	"lockstep/sim/trace"
	"slices"
	"strings"
	"time"
)

// monitors watch the events and report violations. Each looks at the state
// before an event and after it, and at nothing else, so that what it says can be
// checked against the trace.
type monitors struct {
	w     *World
	s     *trace.State
	found []trace.Violation

	losses   losses
	lost     []int    // per client: Seq at which its current lease's ownership was lost, or None
	lostTo   []int    // per client: the at of the loss that this was, or None
	asleep   []int    // per client: the server whose going down that was, or None
	extended []int    // per client: Seq of the newest command of an extension that isn't reported yet, or None
	read     []answer // per client: the reply that it read last
	blocked  blocking
	cycle    cycleWatch
}

// answer is a reply that a client has read, and may act on.
type answer struct {
	seq   int
	acq   int
	phase trace.Phase
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

func (m *monitors) reset(w *World) {
	m.w, m.s = w, w.state
	m.found = m.found[:0]
	m.losses.reset(w.state)
	m.lost = slices.Grow(m.lost[:0], len(w.clients))[:len(w.clients)]
	m.lostTo = slices.Grow(m.lostTo[:0], len(w.clients))[:len(w.clients)]
	m.asleep = slices.Grow(m.asleep[:0], len(w.clients))[:len(w.clients)]
	m.extended = slices.Grow(m.extended[:0], len(w.clients))[:len(w.clients)]
	m.read = slices.Grow(m.read[:0], len(w.clients))[:len(w.clients)]
	for i := range m.lost {
		m.lost[i], m.lostTo[i], m.asleep[i], m.extended[i] = trace.None, trace.None, trace.None, trace.None
		m.read[i] = answer{seq: trace.None}
	}
	m.blocked = blocking{}
	m.cycle.forget()
}

func (m *monitors) report(code trace.Code, text string, events ...int) {
	slices.Sort(events)
	m.found = append(m.found, trace.Violation{Code: code, At: m.w.now, Events: slices.Compact(events), Text: text})
}

func (m *monitors) before(e *trace.Event) {
	switch e.Kind {
	case trace.KindExecute:
		m.foreignRelease(e)
	case trace.KindWrite:
		if m.s.Workload == trace.Cache {
			m.backwards(e)
			break
		}
		m.staleWrite(e)
	}
}

func (m *monitors) after(e *trace.Event) {
	m.losses.after(e)
	switch e.Kind {
	case trace.KindExecute:
		if e.Phase == trace.PhaseExtend && !e.Copy && e.Acq == m.s.Clients[e.Client].Acquired {
			m.extended[e.Client] = e.Seq
		}
	case trace.KindGranted:
		m.lost[e.Client], m.lostTo[e.Client], m.extended[e.Client] = trace.None, trace.None, trace.None
		if m.owned(m.s.Acquisition(e.Client)) < m.w.cfg.Strategy.Quorum() {
			m.lose(e.Client, e.Seq) // while the last reply was on its way
		}
		m.cycle.forget()
		m.doubleGrant(e)
	case trace.KindExtended:
		m.doubleGrant(e)
		m.brokenContinuity(e)
	case trace.KindReceive:
		m.read[e.Client] = answer{seq: e.Seq, acq: e.Acq, phase: e.Phase}
	case trace.KindEnter:
		m.overlap(e)
	case trace.KindRefused, trace.KindFailed:
		m.falseRefusal(e)
		m.refusal(e)
	case trace.KindSleep:
		if m.s.Clients[e.Client].Hung {
			m.kept(e)
			break
		}
		switch e.Phase {
		case trace.PhaseAcquire:
			m.refusal(e)
			m.livelock(e)
		case trace.PhaseIdle: // a client that insists, between two calls
			m.livelock(e)
		}
	}
	if len(e.Changes) > 0 || e.Kind == trace.KindFailover {
		m.ownership(e)
	}
	m.relief(e)
}

func (m *monitors) name(client int) string { return m.w.clients[client].name }

// doubleGrant: two clients' leases are live at one instant. Leases are half-open
// intervals, [granted, ended), and a lease ends before anything else happens at
// that instant: so a grant at the very deadline of another lease is in order.
func (m *monitors) doubleGrant(e *trace.Event) {
	if !m.s.Clients[e.Client].Lease.Live {
		return
	}
	for i := range m.s.Clients {
		if other := &m.s.Clients[i].Lease; i != e.Client && other.Live {
			m.report(trace.DG, fmt.Sprintf("%s gets the lock while %s's lease is live", m.name(e.Client), m.name(i)), m.whyLost(i, other.Granted, e.Seq)...)
		}
	}
}

// whyLost adds to a proof what became of a believer's record, if it has lost it:
// that is how the other could get the lock. If it has got it back meanwhile, what
// counts is how it lost it first.
func (m *monitors) whyLost(client int, events ...int) []int {
	if m.lost[client] == trace.None {
		return events
	}
	if f := m.losses.decisive(m.s.Acquisition(client), m.w.cfg.Strategy.Quorum()); f != nil {
		return append(events, f.events...)
	}
	return m.whyLostFirst(client, events...)
}

func (m *monitors) whyLostFirst(client int, events ...int) []int {
	if f := m.losses.since(m.s.Acquisition(client), m.lostTo[client]); f != nil {
		return append(events, f.events...)
	}
	return append(events, m.lost[client])
}

// overlap: two clients are inside the critical section, whatever their leases say.
func (m *monitors) overlap(e *trace.Event) {
	for i := range m.s.Clients {
		if other := &m.s.Clients[i].Lease; i != e.Client && other.Inside {
			m.report(trace.OV, fmt.Sprintf("%s enters the critical section while %s is inside", m.name(e.Client), m.name(i)), m.whyLost(i, other.Entered, e.Seq)...)
		}
	}
}

// staleWrite: the writer's grant is older than that of somebody who has touched
// the resource already, or somebody has written since the writer read. A writer
// that went ahead without the lock has no grant that could be older; what it can
// do is lose an update.
func (m *monitors) staleWrite(e *trace.Event) {
	granter, read := m.s.Clients[e.Client].Lease.Granter, trace.None
	locked := m.s.Clients[e.Client].Lease.Granted != trace.None
	var lost *trace.Touch
	for i := range m.s.Store.Touches {
		t := &m.s.Store.Touches[i]
		mine := t.By.Client == e.Client
		if !mine && locked && t.Granter > granter {
			m.report(trace.SW, fmt.Sprintf("%s writes although %s, who got the lock later, has already been there", m.name(e.Client), m.name(t.By.Client)), t.Seq, e.Seq)
			return
		}
		switch {
		case mine && !t.Write && t.By.N == e.Acq:
			read, lost = t.Seq, nil
		case !mine && t.Write && read != trace.None && lost == nil:
			lost = t
		}
	}
	if lost != nil {
		m.report(trace.SW, fmt.Sprintf("%s overwrites what %s wrote since %s read: an update is lost", m.name(e.Client), m.name(lost.By.Client), m.name(e.Client)), read, lost.Seq, e.Seq)
	}
}

// backwards: the cache is given an older version than it has. Who got the lock
// first does not matter here: a rebuild depends on nothing in the cache, so the
// same version again, or a newer one, harms nobody, however old the writer's
// grant is.
func (m *monitors) backwards(e *trace.Event) {
	if e.Value >= m.s.Store.Value {
		return
	}
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
	m.report(trace.SW, fmt.Sprintf("%s puts version %d over version %d, which %s cached: the cache goes back", m.name(e.Client), e.Value, m.s.Store.Value, m.name(by.By.Client)), append(events, by.Seq)...)
}

// foreignRelease: the command touched a record of another's acquisition that is
// under way or has led to a live lease. Taking over a dead record is legitimate.
func (m *monitors) foreignRelease(e *trace.Event) {
	for i := range e.Changes {
		ch := &e.Changes[i]
		if ch.Key != m.s.Key || ch.Before == nil {
			continue
		}
		r := m.s.LockRecord(e.Node)
		if r == nil || r.Owner.Client == e.Client || !m.s.Under(r.Owner) {
			continue
		}
		if what := m.harm(ch); what != "" {
			m.report(trace.FR, fmt.Sprintf("%s's %s %s %s's record", m.name(e.Client), strings.ToUpper(e.Args[0]), what, m.name(r.Owner.Client)), m.actingOn(e, r.Written, e.Seq)...)
		}
	}
}

// actingOn adds to a proof the reply that the client acts on: the check that was
// true when it was made.
func (m *monitors) actingOn(e *trace.Event, events ...int) []int {
	if r := m.read[e.Client]; r.seq != trace.None && r.acq == e.Acq && r.phase == e.Phase && r.phase != trace.PhaseAcquire {
		events = append(events, r.seq)
	}
	return events
}

func (m *monitors) harm(ch *trace.Change) string {
	switch {
	case ch.After == nil:
		return "removes"
	case (ch.Stored || ch.After.Value != ch.Before.Value) && !m.s.Counter:
		return "replaces"
	case ch.After.Expires == ch.Before.Expires:
		return ""
	case ch.Before.Expires != trace.Never && (ch.After.Expires == trace.Never || ch.After.Expires > ch.Before.Expires):
		return "prolongs"
	}
	return "shortens"
}

// falseRefusal: the client's own value is stored, on as many nodes as a holder
// needs, and it is told that it has not got the lock. Fewer records don't make a
// lock; what they may still do is block others.
func (m *monitors) falseRefusal(e *trace.Event) {
	own := trace.Acquisition{Client: e.Client, N: e.Acq}
	if m.owned(own) < m.w.cfg.Strategy.Quorum() {
		return
	}
	for _, n := range m.s.Primary {
		if r := m.s.LockRecord(n); r != nil && r.Owner == own {
			m.report(trace.FN, fmt.Sprintf("%s is told that it has not got the lock while %s stores its value %s", m.name(e.Client), m.w.nodes[n].Name, r.Value), r.Written, e.Seq)
			return
		}
	}
}

// owned counts the nodes that hold an acquisition's record.
func (m *monitors) owned(a trace.Acquisition) int {
	count := 0
	for _, n := range m.s.Primary {
		if r := m.s.LockRecord(n); r != nil && r.Owner == a {
			count++
		}
	}
	return count
}

// ownership follows whether a believer's records have been lost on too many nodes.
func (m *monitors) ownership(e *trace.Event) {
	for i := range m.s.Clients {
		if !m.s.Clients[i].Lease.Believed {
			continue
		}
		has := m.owned(m.s.Acquisition(i)) >= m.w.cfg.Strategy.Quorum()
		switch {
		case !has && m.lost[i] == trace.None:
			m.lose(i, e.Seq)
			if m.asleep[i] = trace.None; e.Kind == trace.KindDown {
				m.asleep[i] = e.Node
			}
		case has && m.lost[i] != trace.None && m.wakes(e, m.asleep[i]):
			// The server has the record on its disk, or its replica has it: nobody could get
			// the lock meanwhile, and nothing was lost.
			m.lost[i], m.lostTo[i] = trace.None, trace.None
		}
	}
}

// wakes reports whether an event ends the time in which a server is missed: it is
// started, or a replica takes its place.
func (m *monitors) wakes(e *trace.Event, server int) bool {
	switch e.Kind {
	case trace.KindUp:
		return e.Node == server
	case trace.KindFailover:
		return server != trace.None && !slices.Contains(m.s.Primary, server)
	}
	return false
}

// lose notes that a client's lease has lost the lock, and to what.
func (m *monitors) lose(client, at int) {
	m.lost[client] = at
	if f := m.losses.decisive(m.s.Acquisition(client), m.w.cfg.Strategy.Quorum()); f != nil {
		m.lostTo[client] = f.at
	}
}

// brokenContinuity: an extension reported success although the lock had been out
// of the client's hands when its last command was executed. What is lost after
// that, while the reply is on its way, no extension can know.
func (m *monitors) brokenContinuity(e *trace.Event) {
	extended := m.extended[e.Client]
	m.extended[e.Client] = trace.None
	if at := m.lost[e.Client]; at != trace.None && (extended == trace.None || at < extended) {
		m.report(trace.GAP, fmt.Sprintf("%s extends as if it had held the lock all along, but had lost it", m.name(e.Client)), m.whyLostFirst(e.Client, e.Seq)...)
	}
}

// orphaned reports whether an acquisition is over in such a way that nobody will
// come back for its record. A lease that has merely lapsed doesn't count: its
// record expires a moment later, by design.
func (m *monitors) orphaned(a trace.Acquisition) bool {
	if a.Client == trace.None {
		return false
	}
	c := &m.s.Clients[a.Client]
	return c.Crashed || c.Hung || c.Stopped || c.Acquired > a.N || c.Phase == trace.PhaseIdle
}

// leftover is the record that alone keeps a client from the lock: nobody alive
// holds it or is about to, and without the orphans there would be enough free
// nodes.
func (m *monitors) leftover(client int) (*trace.HeldRecord, bool) {
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
	need := m.w.cfg.Strategy.Quorum()
	return culprit, free < need && free+orphans >= need
}

// refusal opens a spell of blocking.
func (m *monitors) refusal(e *trace.Event) {
	if m.blocked.open {
		return
	}
	if r, only := m.leftover(e.Client); only {
		m.blocked = blocking{open: true, by: r.Owner, written: r.Written, refused: e.Seq, since: e.At}
	}
}

// relief closes it: what was in the way is gone, or was taken over.
func (m *monitors) relief(e *trace.Event) {
	b := &m.blocked
	if !b.open || len(e.Changes) == 0 && e.Kind != trace.KindGranted && e.Kind != trace.KindDown {
		return
	}
	// A few records that are left on other nodes are in nobody's way; and where too
	// few nodes are up, it isn't for a record that the lock can't be had.
	free, up := m.without(b.by)
	need := m.w.cfg.Strategy.Quorum()
	enough := free >= need || up < need
	if !enough && e.Kind != trace.KindGranted {
		return
	}
	m.report(trace.BD, fmt.Sprintf("what %s left behind kept others out for %s from the first refusal on, though nobody alive held the lock", m.name(b.by.Client), trace.Duration(e.At-b.since)), b.written, b.refused, e.Seq)
	b.open = false
}

// without counts the nodes that are up, and those of them that don't hold an
// acquisition's record.
func (m *monitors) without(a trace.Acquisition) (free, up int) {
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

// deadlocked is the verdict after the probe's last attempt, when nothing is left
// in the world that could still change by itself.
func (m *monitors) deadlocked() {
	if b := &m.blocked; b.open {
		m.report(trace.PD, fmt.Sprintf("nobody alive holds the lock, and what %s left behind never goes away", m.name(b.by.Client)), b.written, b.refused, m.w.events)
		b.open = false
	}
}

// kept: a client whose main thread hangs keeps its record alive by another
// thread, somebody has been refused because of that, and the situation is the
// same again, up to a shift in time: the run is a lasso, and the lock never free.
func (m *monitors) kept(e *trace.Event) {
	if !m.blocked.open || m.cycle.reported {
		return
	}
	situation := m.keeping(e)
	if first, again := m.cycle.seen[situation]; again {
		b := &m.blocked
		m.report(trace.PD, fmt.Sprintf("%s's work hangs, but its other thread keeps the lock for ever: events #%d to #%d repeat", m.name(e.Client), first, e.Seq), b.written, b.refused, first, e.Seq)
		m.cycle.reported = true
		b.open = false
		return
	}
	if m.cycle.seen == nil {
		m.cycle.seen = map[string]int{}
	}
	m.cycle.seen[situation] = e.Seq
}

// keeping describes what the future of a hung client's records depends on. Less
// than a millisecond, in which Redis counts, makes no difference to it; and a clock
// that runs a little fast or slow never comes to the same nanosecond twice.
func (m *monitors) keeping(e *trace.Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "kept %d %d:", e.Client, e.By)
	for _, n := range m.s.Primary {
		if r := m.s.LockRecord(n); r != nil {
			fmt.Fprintf(&b, "|n%d %d %d", n, r.Owner.Client, (r.Expires - m.w.now).Milliseconds())
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

// drew is called when a strategy draws a random number: what comes next needn't
// be what came the last time.
func (m *monitors) drew() { m.cycle.forget() }

// livelock: two or more clients keep trying, nobody holds the lock, no dead
// client's record is in the way, and the situation is the same, up to a shift in
// time, as at an earlier moment. Nothing random happened in between, so it will
// come round again for ever: the run is a lasso.
func (m *monitors) livelock(e *trace.Event) {
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
	situation := m.situation(e)
	if first, again := m.cycle.seen[situation]; again {
		m.report(trace.LV, fmt.Sprintf("%d clients keep trying and nobody gets the lock: events #%d to #%d repeat", trying, first, e.Seq), first, e.Seq)
		m.cycle.reported = true
		return
	}
	if m.cycle.seen == nil {
		m.cycle.seen = map[string]int{}
	}
	m.cycle.seen[situation] = e.Seq
}

// situation describes all that the future depends on, relative to now, and
// without tokens, which are never the same.
func (m *monitors) situation(e *trace.Event) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d:", e.Client)
	for i, c := range m.w.clients {
		t := c.threads[0]
		fmt.Fprintf(&b, "|c%d %v %v %v", i, m.s.Clients[i].Phase, t.op.kind, t.over)
		if t.waiting {
			fmt.Fprintf(&b, " %d", t.due-m.w.now)
		}
	}
	for _, n := range m.s.Primary {
		if r := m.s.LockRecord(n); r != nil {
			left := trace.Never
			if r.Expires != trace.Never {
				left = r.Expires - m.w.now
			}
			fmt.Fprintf(&b, "|n%d %d %d", n, r.Owner.Client, left)
		}
	}
	var due []string
	for i := range m.w.timers.items {
		if t := &m.w.timers.items[i]; m.w.alive(t) {
			due = append(due, fmt.Sprintf("|%d %d %s", t.kind, t.at-m.w.now, t.subject()))
		}
	}
	slices.Sort(due)
	return b.String() + strings.Join(due, "")
}
