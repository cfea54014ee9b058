package space

import (
	"slices"
	"sync/atomic"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/flight"
	"lockstep/sim/explore/naming"
	"lockstep/sim/monitor"
	"lockstep/sim/process"
)

// summary is the part of a client from which choices are listed and local steps are made. It
// is a function of the client, is computed once for each, and is small: a search reads
// summaries all the time, and unpacks a state only for steps that aren't local.
type summary struct {
	crashed, over bool
	acts          bool            // it can perform an operation
	sends         bool            // and that would send a command
	asksAndSends  bool            // it is about to ask for the lock, and would then send a command: see local.asks
	idles         bool            // if time passed now, that would begin a pause
	repeats       uint32          // the id of the list of its requests that could arrive once more
	draws         uint32          // its history if it is about to draw a random number, and otherwise 0
	reads         int32           // its clock's reading, plus 1, if it is about to read the clock and may see another: see readings
	inside        bool            // it is in the critical section
	wakes         bool            // a wait of its may end at any time
	between       bool            // it is about to ask for the lock, or has not begun
	reading       monitor.Reading // its knowledge of the resource
	granter       monitor.Rank    // its grant, if it has one
	touched       monitor.Rank    // the grant in which it last accessed the resource
	due           int32           // milliseconds until anything happens to it by itself; 0 is never
	ranks         uint32          // the grants that matter to it, a bit each
	next          uint64          // its localStep, or 0 if that is not known yet; atomic
	later, closed changed         // how time has last passed for it, and gaps were closed among which ranks
}

// names are the part of a summary of which only a search without bounds has need.
type names struct {
	own, series naming.SeriesSet // that of the client's current acquisition, and those that it mentions otherwise
	shape       uint32           // its id without its name, or 0 if that is not known yet; atomic
}

// changed is a client's last change, in one word for workers that share it: the id that the client
// got, and before that the milliseconds that have passed, or the ranks that were in use; atomic.
type changed uint64

// to returns the id of the client after a change. make makes that if it isn't the last one.
func (d *changed) to(by uint32, make func() uint32) uint32 {
	known := atomic.LoadUint64((*uint64)(d))
	if uint32(known>>32) != by || known == 0 {
		known = uint64(by)<<32 | uint64(make())
		atomic.StoreUint64((*uint64)(d), known)
	}
	return uint32(known)
}

// localStep is a client's next step, memoised for the client alone: the client's id after
// it, the statistics that it counts in, and the conditions on the rest of the state under
// which it is valid. It is made by local.step, and by nothing else. 0 is not known yet.
type localStep uint64

const (
	isRefused     localStep = 1 << (32 + iota) // the client is refused the lock
	isTooLate                                  // its release fails
	changesRanks                               // its ranks are others than before, and may leave a gap among all
	touchesShared                              // there is no local step: it would need more than the client

	conditions = 40 // from this bit on: a monitor.Condition,
	ranksAfter = 48 // and the client's ranks after it
)

func (step localStep) to() uint32               { return uint32(step) }
func (step localStep) ranks() uint32            { return uint32(step >> ranksAfter) }
func (step localStep) under() monitor.Condition { return monitor.Condition(step >> conditions) }

// summary returns the summary of a client.
func (m *Model) summary(c *client) summary {
	s := summary{crashed: c.Crashed, reading: c.Reading, granter: c.Granter, touched: c.Touched, inside: c.Inside, ranks: c.Ranks(), repeats: c.sentBefore}
	if m.habits.endless {
		var n names
		n.own, n.series = m.seriesOf(c)
		m.ids.names.Add(n)
	}
	if c.Crashed {
		return s
	}
	h := m.Clients.At(c.history)
	s.between = h.BetweenCycles || h.Threads[0].Kind == process.OpStart
	s.wakes = m.wakers(c) != 0
	s.over, s.idles, s.due = h.Over, m.idles(c), m.dueTo(c, m.instants)
	if t, any := m.ready(c); any {
		s.acts, s.sends = true, h.Threads[t].Kind == process.OpSend
		if l := (&local{habits: m.habits, c: c}); l.asks(t) {
			next := m.Clients.At(l.after(behaviour.Transition{From: c.history, Thread: uint8(t)}).To)
			s.asksAndSends = l.err == nil && next.Single() && next.Threads[0].Kind == process.OpSend // a thread that it has started goes first
		}
		switch p := &h.Threads[t]; {
		case p.Kind == process.OpDraw:
			s.draws = c.history
		case p.Kind == process.OpClock && !p.Wall && len(m.instants.Branches) > 0 && m.instants.Digital:
			s.reads = max(0, c.since+1)
		}
	}
	return s
}

// nodeSummary is the same for a node.
type nodeSummary struct {
	due    int32 // milliseconds until the next record expires; 0 is never
	owner  int16 // the client to which the lock's record belongs
	behind bool  // its replica has fallen behind
	begun  bool  // some connection has an open transaction
	record bool  // it has the lock's record, whoever stored that

	owners, series naming.SeriesSet // of the acquisitions that own records, and of the tokens in its memory, in a search without bounds
	peers          uint8            // the clients with an open transaction, in such a search
}

// nodeSummary returns the summary of a node.
func (m *Model) nodeSummary(n *node) nodeSummary {
	s := nodeSummary{due: m.dueAt(n, m.instants), owner: n.owner.Client, behind: n.behind.snapshot != 0,
		begun: len(m.Servers.Snapshot(n.snapshot).Peers) > 0, record: m.Servers.Records(n.snapshot)}
	if m.habits.endless {
		s.owners, s.series = m.seriesOwned(int(n.owner.Client), n.owner.N), m.Servers.SeriesIn(n.snapshot)
		if n.behind.snapshot != 0 {
			s.owners |= m.seriesOwned(int(n.behind.owner.Client), n.behind.owner.N)
			s.series |= m.Servers.SeriesIn(n.behind.snapshot)
		}
		for _, txn := range m.Servers.Snapshot(n.snapshot).Peers {
			s.peers |= 1 << flight.PeerClient(txn.Conn)
		}
	}
	return s
}

// worldSummary is the same for the rest of a state.
type worldSummary struct {
	crashed uint32 // the id of the world after one more crash, or 0 if that is not known yet; atomic
}

// View makes the explorer view a packed state.
func (x *Explorer) View(state []uint32) {
	n := x.Bounds.Clients
	x.world = x.ids.worlds.Value(state[len(state)-1])
	x.quiet = x.world.held == 0
	for i := range x.summaries {
		x.summaries[i] = x.ids.clients.Summary(state[i])
		x.quiet = x.quiet && !(x.habits.endless && x.summaries[i].repeats != 0)
	}
	for i := range x.nodes {
		x.nodes[i] = x.ids.nodes.Summary(state[n+i])
		x.quiet = x.quiet && !x.nodes[i].begun
	}
}

// Follow adds all successors of the packed state that the explorer views, and returns the
// number of choices that it has there and the violations that they have.
func (x *Explorer) Follow(state []uint32) (n int, found Codes) {
	x.choices = x.enabled(x.choices)
	unpacked := false
	for _, c := range x.choices {
		var done bool
		if x.successors, done = x.localStep(c, state, x.successors); done {
			continue
		}
		if !unpacked {
			x.unpack(state, &x.from)
			unpacked = true
		}
		x.s.copyFrom(&x.from)
		x.Choose(c)
		found |= x.Found
		x.pack(state)
	}
	n = len(x.choices)
	if x.Bounds.Others {
		if !unpacked {
			x.unpack(state, &x.from)
		}
		n += x.environment(state)
	}
	if x.lasting {
		n += x.ends(state)
	}
	if x.habits.early {
		woken, broken := x.wakes(state)
		n, found = n+woken, found|broken
	}
	return n, found
}

// ends adds, for each record that has come to the end of its life, the successor without it.
func (x *Explorer) ends(state []uint32) (n int) {
	x.unpack(state, &x.from)
	for at := range x.nodes {
		for _, without := range x.Servers.Ended(x.from.nodes[at].snapshot) {
			x.Back()
			x.set(&x.s.nodes[at], without)
			x.facts.Recount()
			x.pack(state)
			n++
		}
	}
	return n
}

// wakers returns the threads of a client whose wait may end at any time and who then go on, a bit each: those
// that wait, unless another has to act before; and those whose sleep another has ended, which might have been
// over before that was ready.
func (m *Model) wakers(c *client) (set uint8) {
	if !m.habits.early || c.Crashed {
		return 0
	}
	h := m.Clients.At(c.history)
	first, _ := m.ready(c)
	for t := range int(h.Count) {
		p := &h.Threads[t]
		ended := !p.Over && !c.waits[t] && p.Kind == process.OpSleep && p.Sleep == 0 && t != first
		if c.due[t] == anyTime && c.turn[t] == 0 || ended {
			set |= 1 << t
		}
	}
	return set
}

// wakes adds, for each thread whose wait may end, the successor in which it is over and the thread has gone
// on: if it goes on later, its wait may as well end later.
func (x *Explorer) wakes(state []uint32) (n int, found Codes) {
	for i, s := range x.summaries {
		if !s.wakes {
			continue
		}
		x.unpack(state, &x.from)
		for t, set := 0, x.wakers(&x.from.clients[i]); set != 0; t, set = t+1, set>>1 {
			if set&1 == 0 {
				continue
			}
			x.Back()
			x.Found, x.executed = 0, x.executed[:0]
			x.s.clients[i].queue(t)
			x.macroStep(i, t, goes)
			x.dropUnsought()
			found |= x.Found
			x.pack(state)
			n++
		}
	}
	return n, found
}

// Followed returns the packed states that were added since it was called last. The explorer
// reuses them.
func (x *Explorer) Followed() []uint32 {
	x.resolve()
	all := x.successors
	if x.Bounds.Endless() && !x.eachStep {
		for at := 0; at < len(all) && x.Err == nil; at += x.Width {
			x.canonical(all[at : at+x.Width])
		}
	}
	x.successors = x.successors[:0]
	return all
}

// Warm prefetches the summaries of some packed states, for the processor to wait for many of
// them at once.
func (x *Explorer) Warm(states []uint32) {
	n := x.Bounds.Clients
	for at := 0; at < len(states); at += x.Width {
		for _, id := range states[at : at+n] {
			x.ahead += x.ids.clients.Summary(id).ranks
		}
	}
}

// localStep makes a choice in the state that the explorer views, if each part of that changes by
// itself: a local step, a crash, or the passing of time. It appends the successor. A local step
// differs from the state only in that client, and after a crash in the budget.
//
// No step is taken for local while a transaction is open on a node or a request is held up,
// because a client that closes a connection changes them; nor within a bound on switches,
// because the world counts them.
func (x *Explorer) localStep(c Choice, state, to []uint32) (_ []uint32, done bool) {
	if c.Kind == Passes {
		return x.elapse(c.By, state, to)
	}
	if !x.quiet {
		return to, false
	}
	who := int(c.Who)
	switch c.Kind {
	case Acts:
		s := x.known(who, state[who])
		if c.Number != 0 || s&touchesShared != 0 || !x.applies(who, s) {
			return to, false
		}
		if s&isRefused != 0 {
			x.Stats.Refused++
		}
		if s&isTooLate != 0 {
			x.Stats.NotHeld++
		}
		to = append(to, state...)
		after := to[len(to)-len(state):]
		if after[who] = s.to(); s&changesRanks != 0 {
			x.closeRanks(after, who, s.ranks())
		}
		return to, true
	case Crashes:
		x.Stats.Used[bounds.Crash] = true
		to = append(to, state...)
		after := to[len(to)-len(state):]
		after[who] = x.crashedID(who, x.summaries[who].touched, x.summaries[who].repeats)
		after[len(after)-1] = x.afterCrash(after[len(after)-1])
		x.closeRanks(after, who, 1<<x.summaries[who].touched)
		return to, true
	}
	return to, false
}

// elapse lets time pass, unless the lock's record expires meanwhile: that concerns the clients, too.
func (x *Explorer) elapse(by int32, state, to []uint32) (_ []uint32, done bool) {
	clients, pauses := len(x.summaries), uint8(0)
	to = append(to, state...)
	after := to[len(to)-len(state):]
	for at := range x.nodes {
		n := *x.ids.nodes.Value(state[clients+at])
		if expired, sent := x.ageNode(&n, by); expired || sent != 0 {
			return to[:len(to)-len(state)], false
		}
		after[clients+at] = x.ids.nodes.ID(n)
	}
	for i, s := range x.summaries {
		if s.idles {
			pauses++
			x.Stats.Used[bounds.Pause] = true
		}
		if !s.crashed {
			after[i] = s.later.to(uint32(by), func() uint32 {
				c := *x.ids.clients.Value(state[i])
				x.pass(&c, by, s.idles)
				return x.ids.clients.ID(c)
			})
		}
	}
	w := *x.world
	if w.left[bounds.Pause] != bounds.Any {
		w.left[bounds.Pause] -= pauses
	}
	if len(x.ageWorld(&w, by)) > 0 {
		return to[:len(to)-len(state)], false
	}
	if w != *x.world {
		after[len(after)-1] = x.ids.worlds.ID(w)
	}
	return to, true
}

// known returns the localStep of a client with an id, memoised in its summary. It is 0 if
// the client's code has failed.
func (x *Explorer) known(who int, id uint32) localStep {
	next := &x.summaries[who].next
	s := localStep(atomic.LoadUint64(next))
	if s == 0 {
		if s = x.find(*x.ids.clients.Value(id)); s != 0 {
			atomic.StoreUint64(next, uint64(s))
		}
	}
	return s
}

// find makes a client's next step through the view of it alone. It is 0 if the client's code
// has failed: the step on the whole state will report the error.
func (m *Model) find(c client) localStep {
	if m.Bounds.Switches != 0 {
		return touchesShared
	}
	t, _ := m.ready(&c)
	ranks := c.Ranks()
	l := local{habits: m.habits, c: &c}
	if !l.step(t) {
		if l.err != nil {
			return 0
		}
		return touchesShared
	}
	s := localStep(m.ids.clients.ID(c)) | localStep(l.under)<<conditions | localStep(c.Ranks())<<ranksAfter
	if l.refused {
		s |= isRefused
	}
	if l.tooLate {
		s |= isTooLate
	}
	if c.Ranks() != ranks {
		s |= changesRanks
	}
	return s
}

// applies reports whether the conditions of a client's localStep hold in the state that the
// explorer views.
func (x *Explorer) applies(who int, s localStep) bool {
	if s == 0 || s.under()&monitor.Unowned != 0 && x.owns(who) {
		return false
	}
	alone, undisturbed, own := s.under()&monitor.Alone != 0, s.under()&monitor.Undisturbed != 0, x.summaries[who]
	for i, other := range x.summaries {
		if i != who && (alone && other.inside || undisturbed && (other.reading == monitor.UpToDate || other.touched > own.granter)) {
			return false
		}
	}
	return !undisturbed || own.reading != monitor.Outdated
}

// owns reports whether the lock's record on some node belongs to a client.
func (x *Explorer) owns(who int) bool {
	return slices.ContainsFunc(x.nodes, func(n *nodeSummary) bool { return int(n.owner) == who })
}

// closeRanks numbers the grants that matter in a packed state without gaps, after client who has
// others than in the state that the explorer views. See monitor.Facts.CanonicaliseRanks.
func (x *Explorer) closeRanks(state []uint32, who int, ranks uint32) {
	used := ranks | 1
	for i, other := range x.summaries {
		if i != who {
			used |= other.ranks
		}
	}
	gap := ^used & (used + 1)
	if used < gap {
		return
	}
	for i, id := range state[:len(x.summaries)] {
		if s := x.ids.clients.Summary(id); s.ranks > gap {
			state[i] = s.closed.to(used, func() uint32 {
				c := *x.ids.clients.Value(id)
				c.CloseRanks(used)
				return x.ids.clients.ID(c)
			})
		}
	}
}

// crashedID returns the id of client i after it has crashed.
func (x *Explorer) crashedID(i int, touched monitor.Rank, sent uint32) uint32 {
	if sent != 0 {
		return x.ids.clients.ID(x.dead(i, touched, sent))
	}
	if x.crashed[i][touched] == 0 {
		x.crashed[i][touched] = x.ids.clients.ID(x.dead(i, touched, 0))
	}
	return x.crashed[i][touched]
}

// afterCrash returns the id of a world after one more crash.
func (x *Explorer) afterCrash(id uint32) uint32 {
	known := &x.ids.worlds.Summary(id).crashed
	if n := atomic.LoadUint32(known); n != 0 {
		return n
	}
	w := *x.ids.worlds.Value(id)
	if w.left[bounds.Crash] != bounds.Any {
		w.left[bounds.Crash]--
	}
	n := x.ids.worlds.ID(w)
	atomic.StoreUint32(known, n)
	return n
}
