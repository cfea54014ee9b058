package explore

import (
	"sync/atomic"

	"lockstep/sim/explore/intern"
	"lockstep/sim/monitor"
	"lockstep/sim/process"
)

// summary is the part of a client's state from which the choices that there are can be
// listed, and those of them made that are nobody else's business. It follows from the state
// alone. It is made once for each, and small: a search looks at summaries all the time, and
// unpacks a state only where one client's step depends on another.
type summary struct {
	crashed, over bool
	acts          bool // it can
	sends         bool // and what it does then is to send a command
	idles         bool // if time passed now, that would begin a pause
	repeats       bool // a command of its could arrive once more
	inside        bool // the critical section
	touched       monitor.Rank
	due           int32  // how long it takes until anything happens to it by itself; 0 is never
	ranks         uint32 // the grants that matter to it: a bit each
	next          uint64 // its localStep, as far as that is known; atomic
}

// localStep is a client's next step, as it is remembered of the client alone: the client's
// id after it, what is counted then, and on what conditions it is the same whatever else
// there is. It is made by local.step, and by nothing else. 0 is not known yet.
type localStep uint64

const (
	isRefused     localStep = 1 << (32 + iota) // it is told that it doesn't get the lock
	isTooLate                                  // it is told that it didn't release it
	ifDense                                    // the ranks that it refers to leave no gap among all
	touchesShared                              // there is none: it needs more than the client

	conditions = 40 // from this bit on: a monitor.Condition
)

func (s localStep) to() uint32               { return uint32(s) }
func (s localStep) under() monitor.Condition { return monitor.Condition(s >> conditions) }

// summary makes that of a client.
func (m *model) summary(c *client) summary {
	s := summary{crashed: c.Crashed, touched: c.Touched, inside: c.Inside, ranks: c.Ranks()}
	if c.Crashed {
		return s
	}
	now := m.clients.At(c.history)
	s.over, s.repeats, s.idles, s.due = now.Over, c.last != 0, m.idles(c), m.dueTo(c)
	if t, any := m.next(c); any {
		s.acts, s.sends = true, now.Threads[t].Kind == process.OpSend
	}
	return s
}

// nodeSummary is the same of a node.
type nodeSummary struct {
	due    int32
	owner  int16
	behind bool // a replica is
	begun  bool // a connection has begun something on it
}

func (m *model) nodeSummary(n *node) nodeSummary {
	return nodeSummary{due: m.dueAt(n), owner: n.owner.Client, behind: n.behind.snapshot != 0, begun: len(m.servers.Snapshot(n.snapshot).Peers) > 0}
}

// worldSummary is the same of the rest.
type worldSummary struct {
	crashed uint32 // the world after one more crash, if it is known; atomic
}

// summarised gives ids to values, and keeps a summary of each.
type summarised[K comparable, S any] struct {
	intern.Table[K]
	summaries intern.Chunks[S]
}

// newSummarised makes a table whose summaries are made by a function.
func newSummarised[K comparable, S any](make func(*K) S) *summarised[K, S] {
	t := new(summarised[K, S])
	var none S
	t.summaries.Add(none) // id 0 is nobody's
	t.Begin()
	t.Added = func(k *K) { t.summaries.Add(make(k)) }
	return t
}

func (t *summarised[K, S]) summary(id uint32) *S { return t.summaries.At(id) }

// view reads the summaries of a state.
func (x *explorer) view(state []uint32) {
	n := x.bounds.Clients
	for i := range x.summaries {
		x.summaries[i] = x.ids.clients.summary(state[i])
	}
	x.world = x.ids.worlds.Value(state[len(state)-1])
	x.quiet = x.world.held == 0
	for i := range x.nodes {
		x.nodes[i] = x.ids.nodes.summary(state[n+i])
		x.quiet = x.quiet && !x.nodes[i].begun
	}
}

// warm reads the summaries of some states ahead, for the processor to wait for many of
// them at once.
func (x *explorer) warm(states []uint32) {
	n := x.bounds.Clients
	for at := 0; at < len(states); at += x.width {
		for _, id := range states[at : at+n] {
			x.ahead += x.ids.clients.summary(id).ranks
		}
	}
}

// localStep makes a move from the state that the explorer views, if it is one client's own
// business, and adds the state to which it leads: one in which nothing but that client is
// another, and after a crash the budget.
//
// Where a connection has begun something on a node, or a request is held up, no step is
// taken for local: a client that ends a connection might end that. Nor is any where it is
// bounded how often clients take turns, as the world keeps count of that.
func (x *explorer) localStep(m choice, state, to []uint32) (_ []uint32, done bool) {
	if !x.quiet {
		return to, false
	}
	who := int(m.who)
	switch m.kind {
	case acts:
		s := x.known(who, state[who])
		if s&touchesShared != 0 || !x.applies(who, s) {
			return to, false
		}
		x.stats.local(s)
		to = append(to, state...)
		to[len(to)-len(state)+who] = s.to()
		return to, true
	case crashes:
		touched := x.summaries[who].touched
		if !x.dense(who, 1<<touched) {
			return to, false
		}
		x.stats.used[Crash] = true
		to = append(to, state...)
		after := to[len(to)-len(state):]
		after[who] = x.crashedID(touched)
		after[len(after)-1] = x.afterCrash(after[len(after)-1])
		return to, true
	}
	return to, false
}

// known is a client's localStep, which is found out if nobody has yet. That takes the
// client alone, and none of the state in which it is.
func (x *explorer) known(who int, id uint32) localStep {
	next := &x.summaries[who].next
	s := localStep(atomic.LoadUint64(next))
	if s == 0 {
		if s = x.find(*x.ids.clients.Value(id)); s != 0 {
			atomic.StoreUint64(next, uint64(s))
		}
	}
	return s
}

// find makes a client's next step through the view of it alone. It is 0 if the client's
// code failed: the whole step will report that.
func (m *model) find(c client) localStep {
	if m.bounds.Switches != 0 {
		return touchesShared
	}
	t, _ := m.next(&c)
	ranks := c.Ranks()
	l := local{habits: m.habits, c: &c}
	if !l.step(t) {
		if l.err != nil {
			return 0
		}
		return touchesShared
	}
	s := localStep(m.ids.clients.ID(c)) | localStep(l.under)<<conditions
	if l.refused {
		s |= isRefused
	}
	if l.tooLate {
		s |= isTooLate
	}
	if c.Ranks() != ranks {
		s |= ifDense
	}
	return s
}

// applies reports whether the conditions of a client's localStep hold in the state that the
// explorer views.
func (x *explorer) applies(who int, s localStep) bool {
	if s == 0 || s.under()&monitor.Unowned != 0 && x.owns(who) || s&ifDense != 0 && !x.dense(who, x.ids.clients.summary(s.to()).ranks) {
		return false
	}
	if s.under()&monitor.Alone != 0 {
		for i, other := range x.summaries {
			if i != who && other.inside {
				return false
			}
		}
	}
	return true
}

// owns reports whether a record on some node is a client's.
func (x *explorer) owns(who int) bool {
	for _, n := range x.nodes {
		if int(n.owner) == who {
			return true
		}
	}
	return false
}

// dense reports whether the order of the grants that matter has no gap if, of those
// that matter to this client, there are only these. See monitor.Facts.CanonicaliseRanks.
func (x *explorer) dense(who int, ranks uint32) bool {
	used := ranks | 1
	for i, other := range x.summaries {
		if i != who {
			used |= other.ranks
		}
	}
	return used&(used+1) == 0
}

// crashedID is the id of a client that has crashed.
func (x *explorer) crashedID(touched monitor.Rank) uint32 {
	if x.crashed[touched] == 0 {
		x.crashed[touched] = x.ids.clients.ID(dead(touched))
	}
	return x.crashed[touched]
}

// afterCrash is the id of a world after one more crash.
func (x *explorer) afterCrash(id uint32) uint32 {
	known := &x.ids.worlds.summary(id).crashed
	if n := atomic.LoadUint32(known); n != 0 {
		return n
	}
	w := *x.ids.worlds.Value(id)
	w.left[Crash]--
	n := x.ids.worlds.ID(w)
	atomic.StoreUint32(known, n)
	return n
}
