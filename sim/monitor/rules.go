package monitor

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/trace"
)

// Rule is the rule for one violation: the kinds of event on which it is checked, and its
// condition on the facts.
type Rule struct {
	Code trace.Code
	// Text is the rule and its exceptions, in paragraphs, and Tests the tests that hold
	// the engine and the search to it. The model, docs/model.md, has both.
	Text  string
	Tests []string
	// On has the kinds of event on which the condition is checked. A command and a write
	// are judged by the facts before them, all other events by the facts after.
	On []trace.Kind
	// Broken is the condition. It returns the clients whose rights the actor violates, the
	// actor itself if the rule concerns no other client, or none.
	Broken func(f *Facts, actor int) Clients
	// Spared is a condition that is quick to check in a state, and under which the rule
	// can't be broken. Without one the search never treats such an event as local to a
	// client.
	Spared Condition
	// Elsewhere names the place that decides about a violation that is no condition on one
	// event, and the reason. Such a rule has no Broken.
	Elsewhere string
	// OfOwners is set if the search can't tell it without knowing whose the lock's record is.
	OfOwners bool
	// Without has the facts that the rule does without. A search that looks for no other may drop them, or
	// leave out what only they can show: a fact that a rule reads after all would hide violations. Leave it
	// out, and nothing is.
	Without FactSet
	// NotSearched is the reason why the exhaustive search omits the rule, if it does.
	NotSearched string

	// prove makes the violation, with its events and its sentence. It takes the event by value: a pointer that is given to it
	// would have every event of every run escape to the heap.
	prove func(m *Monitor, e trace.Event, with Clients)
}

// Condition is a set of conditions under which a client's step is local to it.
type Condition uint8

// The conditions.
const (
	Unowned     Condition = 1 << iota // no record on any server is the client's
	Alone                             // no other client is in the critical section
	Undisturbed                       // its reading isn't outdated, no other client's is up to date, and none has touched the resource with a newer grant
)

// FactSet is a set of kinds of facts.
type FactSet uint8

// The kinds of facts.
const (
	Ranks      FactSet = 1 << iota // the order of grants, and who has touched the resource: Granter, Asked, Touched, Reading
	Extensions                     // Extension and Lost
	Leases                         // whether a lease is live
)

// Unneeded returns the facts that the rules of all the codes do without.
func Unneeded(codes trace.CodeSet) FactSet {
	facts := Ranks | Extensions | Leases
	for i := range Rules {
		if codes.Has(Rules[i].Code) {
			facts &= Rules[i].Without
		}
	}
	return facts
}

// OfExtensions reports whether nothing but a successful extension can break a code's rule.
func OfExtensions(code trace.Code) bool {
	for i := range Rules {
		if r := &Rules[i]; r.Code == code {
			return len(r.On) == 1 && r.On[0] == trace.KindExtended
		}
	}
	return false
}

// Rules has a rule for each violation, worst first.
var Rules = [...]Rule{
	{Code: trace.SW, Text: staleWriteText, Tests: []string{"TestStaleWrite", "TestGrantsKeepTheirOrder", "TestLostUpdate", "TestFailOpenHarmsOnlyWhoIsInside", "TestCacheGoesBack"}, Without: Extensions | Leases,
		On: []trace.Kind{trace.KindWrite}, Broken: staleWrite, Spared: Undisturbed, prove: (*Monitor).proveStaleWrite},
	{Code: trace.DG, Text: doubleGrantText, Tests: []string{"TestDoubleGrant", "TestDoubleGrantByExtension", "TestGrantAtTheDeadline"}, Without: Ranks | Extensions,
		On: []trace.Kind{trace.KindGranted, trace.KindExtended}, Broken: doubleGrant, prove: (*Monitor).proveDoubleGrant},
	{Code: trace.OV, Text: overlapText, Tests: []string{"TestOverlap", "TestOverlapOfAPausedHolder"}, Without: Ranks | Extensions | Leases,
		On: []trace.Kind{trace.KindEnter}, Broken: overlap, Spared: Alone, prove: (*Monitor).proveOverlap},
	{Code: trace.FR, Text: foreignReleaseText, Tests: []string{"TestForeignRelease", "TestForeignReleaseByToys", "TestTakeover", "TestEqualValueIsAnotherOwner", "TestCountersStayTheirCreators"}, OfOwners: true, Without: Ranks | Extensions,
		On: []trace.Kind{trace.KindExecute}, Broken: foreignRelease, prove: (*Monitor).proveForeignRelease},
	{Code: trace.PD, Text: deadlockText, Tests: []string{"TestDeadlock", "TestNoDeadlock", "TestStampOfAFastClock", "TestLateOrphan"}, OfOwners: true, Without: Ranks | Extensions | Leases,
		Elsewhere: "it is about the future: a further client asks at the end, by Monitor.NeverGranted in the engine and space.Explorer.DeadlockedIn in the search"},
	{Code: trace.LV, Text: livelockText, Tests: []string{"TestLivelock", "TestNoLivelock", "TestLivelocks", "TestLivelocksAtRandom", "TestLivelocksOfTheCatalogue"}, Without: Ranks | Extensions | Leases,
		Elsewhere:   "it is about the future: Monitor.livelock finds a situation that comes round again",
		NotSearched: "no schedule of a search shows it; if it is asked to, the search reads it off the graph of all its situations, when that has closed"},
	{Code: trace.GAP, Text: brokenContinuityText, Tests: []string{"TestBrokenContinuity", "TestGapIsOfThisLease", "TestGapWhileTheReplyIsOnItsWay"}, OfOwners: true, Without: Ranks | Leases,
		On: []trace.Kind{trace.KindExtended}, Broken: brokenContinuity, prove: (*Monitor).proveBrokenContinuity},
	{Code: trace.FN, Text: falseRefusalText, Tests: []string{"TestFalseRefusal", "TestFalseRefusalNeedsAQuorum"}, OfOwners: true, Without: Ranks | Extensions | Leases,
		On: []trace.Kind{trace.KindRefused, trace.KindFailed}, Broken: falseRefusal, Spared: Unowned, prove: (*Monitor).proveFalseRefusal},
	{Code: trace.UA, Text: unavailabilityText, Tests: []string{"TestUnavailability", "TestHeldIsNotUnavailable"},
		Elsewhere:   "it is about the future: a further client asks at the end, and Monitor.NeverGranted counts the servers that are up",
		NotSearched: "it takes servers that stay down, or a key with other data, and a search has neither"},
	{Code: trace.BD, Text: blockingText, Tests: []string{"TestBoundedBlocking", "TestDownIsNoRelief"},
		Elsewhere:   "it lasts: Monitor.refusal opens a spell of blocking, and Monitor.relief closes it",
		NotSearched: "every lease does it after a crash, and it is no failure"},
	{Code: trace.DN, Text: outageText, Tests: []string{"TestUnavailability", "TestDownIsNoRelief"},
		Elsewhere:   "it is about the future, as UA is: Monitor.NeverGranted tells the two apart",
		NotSearched: "in a search no server stays down, and it is no failure"},
}

// rulesOn are the rules by the kind of event that they look at.
var rulesOn = byKind()

func byKind() (on [1 << 8][]*Rule) {
	for i := range Rules {
		for _, kind := range Rules[i].On {
			on[kind] = append(on[kind], &Rules[i])
		}
	}
	return on
}

// ReasonNotSearched is the reason why the exhaustive search omits a code's rule, or "".
func ReasonNotSearched(c trace.Code) string {
	return Rules[slices.IndexFunc(Rules[:], func(r Rule) bool { return r.Code == c })].NotSearched
}

// Searched returns the codes that the search looks for, worst first.
func Searched() (v trace.Verdict) {
	for i := range Rules {
		if Rules[i].NotSearched == "" {
			v = append(v, Rules[i].Code)
		}
	}
	return v
}

// OfOwners returns the codes for which the search must know whose the lock's record is.
func OfOwners() (codes trace.CodeSet) {
	for i := range Rules {
		if Rules[i].OfOwners {
			codes |= trace.SetOf(Rules[i].Code)
		}
	}
	return codes
}

// Local reports whether an event of a client's own is local to it, and under which
// conditions: it changes only that client's facts, and can break no rule. As a write is judged by the
// facts before it, its conditions are on these.
func Local(kind trace.Kind) (under Condition, local bool) {
	if kind == trace.KindGranted {
		return 0, false // whether it has lost its records already depends on the servers
	}
	for _, r := range rulesOn[kind] {
		if r.Spared == 0 {
			return 0, false
		}
		under |= r.Spared
	}
	return under, true
}

const staleWriteText = `The resource accepts a write of a client, and before it, either another client whose grant is newer has read or written the
resource; or another client has written since the writer, in this acquisition, last read it.

Where the resource is a cache, a rebuild depends on nothing that it had before. There it is one thing only: a write that
puts an older version over a newer one.

Not counted: a write before the newer holder's first access, which is in order, since it harms no one; a write that the
resource refused; a read of a value that is about to be overwritten. A client that went ahead without the lock has no
grant that could be older: it can only lose an update.`

// staleWrite is the condition of SW. Of a cache only the versions count, however old the writer's grant is.
func staleWrite(f *Facts, actor int) (with Clients) {
	c := f.clients[actor]
	if f.Workload == trace.Cache {
		if f.act.value < f.Cached {
			return only(actor)
		}
		return 0
	}
	if c.Granted {
		for i, o := range f.clients {
			if i != actor && o.Touched > c.Granter {
				with |= only(i)
			}
		}
	}
	if with == 0 && c.Reading == Outdated {
		return only(actor)
	}
	return with
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

// destroyed says whose updates a write that comes too late overwrites: those of all who have written since the read that the written value
// is based on. It is empty where nobody has, or nothing was read.
func (m *Monitor) destroyed(e trace.Event) string {
	read, lost := false, []string(nil)
	for _, t := range m.s.Store.Touches {
		switch mine, owner := t.By.Client == e.Client, m.name(t.By.Client)+"'s"; {
		case mine && !t.Write && t.By.N == e.Acq:
			read, lost = true, nil
		case !mine && t.Write && read && !slices.Contains(lost, owner):
			lost = append(lost, owner)
		}
	}
	switch len(lost) {
	case 0:
		return ""
	case 1:
		return lost[0] + " update is lost"
	}
	return trace.List(lost) + " updates are lost"
}

// because joins the reasons for a violation behind its colon.
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

const doubleGrantText = `At the instant at which a client is granted the lock, or an extension succeeds, its lease is live, and so is one
of another client.

Not counted: a grant that arrives when its lease is over already; two leases of which one begins where the other ends;
two clients that merely believe that they have the lock, after a lease has lapsed: that is OV, if they are inside.`

// doubleGrant is the condition of DG. Leases are half-open intervals, [granted, ended), and a lease
// ends before anything else happens at that instant.
func doubleGrant(f *Facts, actor int) (with Clients) {
	if !f.clients[actor].Live {
		return 0
	}
	for i, o := range f.clients {
		if i != actor && o.Live {
			with |= only(i)
		}
	}
	return with
}

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

const overlapText = `A client enters the critical section while another is inside, whatever their leases say. Inside is from entering to
leaving; a crash or the end of the run ends it as well.

Not counted: a second entry of the same client.`

// overlap is the condition of OV.
func overlap(f *Facts, actor int) (with Clients) {
	for i, o := range f.clients {
		if i != actor && o.Inside {
			with |= only(i)
		}
	}
	return with
}

func (m *Monitor) proveOverlap(e trace.Event, with Clients) {
	with.each(func(i int) {
		m.report(e.At, trace.OV, fmt.Sprintf("%s enters the critical section while %s is inside", m.name(e.Client), m.name(i)),
			m.whyLost(i, m.s.Clients[i].Lease.Entered, e.Seq)...)
	})
}

const foreignReleaseText = `A client's command removes, replaces (be it by an equal value), prolongs or shortens a record which belongs to another
client's acquisition, while that acquisition is still under way or its lease is live.

Not counted: taking over a record whose lease is over, or whose client has died; what no client's command did, such as
expiry, eviction and replication; a counter that counts a refused attempt without changing anything else.`

// foreignRelease is the condition of FR. To write the same record again is no harm, if it is a counter's.
func foreignRelease(f *Facts, actor int) Clients {
	e, owner := f.act.effect, f.act.owner
	if !e.Before || int(owner.Client) == actor || !f.under(owner) {
		return 0
	}
	if !e.After || (e.Stored || e.Changed) && !f.Counter || e.Longer || e.Shorter {
		return only(int(owner.Client))
	}
	return 0
}

func (m *Monitor) proveForeignRelease(e trace.Event, _ Clients) {
	r := m.s.LockRecord(e.Node)
	i := slices.IndexFunc(e.Changes, func(ch trace.Change) bool { return ch.Key == m.s.Key })
	m.report(e.At, trace.FR, fmt.Sprintf("%s's %s %s %s's record", m.name(e.Client), strings.ToUpper(e.Args[0]), m.harm(e.Changes[i].Effect()), m.name(r.Owner.Client)),
		m.actingOn(e, r.Written, e.Seq)...)
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

const brokenContinuityText = `An extension succeeds, and at some instant between the grant and the execution of the extension's last command fewer nodes
than a holder needs have held the client's record.

It counts even if no other client had the lock in that gap: the client can't know. Not counted: an extension that fails, a
gap in an earlier lease of the same client, and a loss after that command, while its reply is in flight.`

// brokenContinuity is the condition of GAP.
func brokenContinuity(f *Facts, actor int) Clients {
	if c := f.clients[actor]; c.Lost && c.Extension != ExtensionHeld {
		return only(actor)
	}
	return 0
}

func (m *Monitor) proveBrokenContinuity(e trace.Event, _ Clients) {
	m.report(e.At, trace.GAP, fmt.Sprintf("%s extends as if it had held the lock all along, but had lost it", m.name(e.Client)), m.whyLostFirst(e.Client, e.Seq)...)
}

const falseRefusalText = `Acquire tells its caller that it does not have the lock, by a refusal or another error, while as many nodes as a holder
needs hold the record of this very acquisition.

Not counted: records on fewer nodes. They make no lock; that they may keep others from it is BD.`

// falseRefusal is the condition of FN.
func falseRefusal(f *Facts, actor int) Clients {
	if f.Owns(actor) {
		return only(actor)
	}
	return 0
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

// The rules that are decided elsewhere.

const deadlockText = `At the end of a run (the drain) each client that is in the middle of something may finish it, and those that are only
trying are stopped. If no living client holds the lock, the probe comes: a further client, which asks whether the lock
can still be had: at once, and when a request arrives that was still under way; if it is refused, again a lease after the
last thing that is due; and if a record that nobody will remove is in its way even then, a last time ten years later. If
it is refused then, only because of such records, nothing will ever change: no expiry, message or timer is left, and
stamps of any clock have passed. The probe asks no more often than that: a lock that lets somebody in at the fourth try, as
it counts refusals, is said to break this rule. Or a client whose main thread hangs, or has ended by an
exception, has another thread that keeps its record alive, another client was refused because of that, and the situation repeats.

Not counted: refusals while a living client holds the lock, however long it works.`

const livelockText = `Two clients or more keep trying, no lease is live, no dead client's record is in the way, and the situation is the
same as before, up to a shift in time: the clients' positions and what they have been told in their last try, all
records with their owners and remaining lifetimes, and every message in flight. Nothing was drawn at random in between,
so it goes round for ever, unless the code counts its tries.

Not counted: contention that merely lasts. Any draw of jitter begins the watch anew, even if it leads nowhere.

A search without bounds that closes says whether any schedule comes to one, and how long a free lock is waited for at
most (lockstep explore --codes LV); what that assumes is in the search's SOUNDNESS.md, "Livelocks, and the longest wait".`

const unavailabilityText = `At the end of a run no client holds the lock, and the probe (see PD) asks in vain to the last, although most of the lock's
servers are up and no orphaned record is to blame. That breaks a promise. Redlock states it as liveness property B: "as
long as the majority of Redis nodes are up, clients are able to acquire and release locks". A lock on one server promises
the same of its one server.

The promise is the majority, not the number of servers that a strategy asks for: one that needs four of five breaks the
promise with three up. The probe asks alone, over links that are whole, so contention and the network are no excuse. It is
reported and no failure, as BD is: a lock that nobody has harms nobody. But unlike BD it doesn't heal by itself.

Not counted: an outage, which is DN; what orphaned records cause, which is BD or PD; a run at whose end a living client
holds the lock; refusals before the end, while servers are still to come back.`

const blockingText = `A client is refused, no living client holds the lock or is about to, and but for orphaned records (which no living client
will release) there would be enough free nodes. It lasts from that first refusal until enough nodes are free, or too few
are up for any client to have the lock, or a client is granted it; the trace says how long. If that never comes, it is PD.

Not counted: the time before any client asks; leases that have merely lapsed, whose record is about to expire.`

const outageText = `As UA, but too few of the lock's servers are up for a majority: its only server, or three of five. No lock promises anything
then, so the strategy is not to blame. It is reported all the same, because "ok" would read as if somebody had got the lock.

Not counted: servers that are back by the end of the run, and a server whose place a replica has taken.`

// The parts that several proofs share.

func (m *Monitor) name(client int) string { return m.t.Clients[client] }

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

// actingOn adds to a proof the reply on which the client acts: a check that was right when
// the server made it.
func (m *Monitor) actingOn(e trace.Event, events ...int) []int {
	if r := m.read[e.Client]; r.seq != trace.None && r.acq == e.Acq && r.phase == e.Phase && r.phase != trace.PhaseAcquire {
		events = append(events, r.seq)
	}
	return events
}
