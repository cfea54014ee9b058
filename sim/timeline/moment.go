package timeline

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/sim/trace"
)

// Moment is the part of a state that lanes show, in few bytes: a view looks it up and folds
// no events.
type Moment struct {
	Clients   []Client
	Nodes     []Node
	Quorum    Quorum
	Believers int   // the number of clients that believe that they hold the lock
	Version   int64 // of the resource
}

// Client is a client at a moment. Live implies Believed.
type Client struct {
	Wants    bool // inside Acquire
	Believed bool // Acquire granted the lease, and the client has not released it
	Live     bool // its own clock has not reached the lease's deadline
	Inside   bool // in the critical section
	Paused   bool
	Held     bool // paused, and not in the story
	Hung     bool // paused for good
	Threw    bool // hung, because an exception has ended its work
	Crashed  bool
	Stopped  bool  // has finished, or the run is over for it
	Fence    int64 // the fencing token of the lease that it believes in, or 0
}

// Node is the lock's record on one node at a moment. Written tells records apart:
// it is the Seq of the event that stored this one. One that has a successor has no record here: it
// may keep one, but nobody asks it.
type Node struct {
	Up      bool
	Present bool
	Owner   int // the client whose record it is, or trace.None
	Written int
	Value   string
	Expires time.Duration // true instant, or trace.Never

	Successor int // the node that has become the master in its place, so that no client goes to it any more, or trace.None
}

// Quorum is the client whose records are on enough masters. Split means that masters hold
// records, but no client's are on enough of them; then Owner is trace.None.
type Quorum struct {
	Owner int
	Split bool
}

func momentOf(s *trace.State, need int) Moment {
	m := Moment{Believers: s.Believers(), Version: s.Store.Version}
	m.Quorum.Owner, m.Quorum.Split = s.Quorum(need)
	m.Clients = make([]Client, len(s.Clients))
	for i := range s.Clients {
		c := &s.Clients[i]
		m.Clients[i] = Client{
			Wants: c.Phase == trace.PhaseAcquire, Believed: c.Lease.Believed, Live: c.Lease.Live, Inside: c.Lease.Inside,
			Paused: c.Paused, Held: c.Held, Hung: c.Hung, Threw: c.Threw, Crashed: c.Crashed, Stopped: c.Stopped, Fence: c.Lease.Fence,
		}
	}
	m.Nodes = make([]Node, len(s.Nodes))
	for i := range s.Nodes {
		m.Nodes[i] = Node{Up: s.Nodes[i].Up, Owner: trace.None, Successor: trace.None}
		if r := s.LockRecord(i); r != nil {
			m.Nodes[i] = Node{s.Nodes[i].Up, true, r.Owner.Client, r.Written, r.Value, r.Expires, trace.None}
		}
	}
	return m
}

// retire says of the servers that were masters until the failovers of the run, in this order, from where on nobody asks them. One is still
// asked where clients stay with it, and there are two masters; and up to the last command that was on its way to it.
func (t *Timeline) retire(replaced []int) {
	for i := range t.Events {
		e := &t.Events[i]
		if e.Kind != trace.KindFailover {
			continue
		}
		old := replaced[0]
		replaced = replaced[1:]
		first, next, asked := t.unasked(old, i+1)
		for pos := first; pos < next && !asked; pos++ {
			n := &t.Moments[pos].Nodes[old]
			*n = Node{Up: n.Up, Owner: trace.None, Successor: e.Node}
		}
	}
}

// unasked are the positions at which a server that has been replaced at one of them has nothing more to do for clients: half-open, up to
// where it copies the new master or is made the master again. It is still asked where a client sends it anything.
func (t *Timeline) unasked(node, from int) (first, next int, asked bool) {
	first = from
	for i := from; i < len(t.Events); i++ {
		switch e := &t.Events[i]; {
		case e.Node != node:
		case e.Kind == trace.KindSend:
			return first, first, true
		case e.Kind == trace.KindExecute:
			first = i + 1
		case e.Kind == trace.KindSync, e.Kind == trace.KindFailover:
			return first, i + 1, false
		}
	}
	return first, len(t.Moments), false
}

// SameHolders reports whether the same clients believe at two positions that they hold the lock, and
// the servers have the same records: then words said at one of them are true at the other.
func (t *Timeline) SameHolders(a, b int) bool {
	x, y := &t.Moments[a], &t.Moments[b]
	return slices.EqualFunc(x.Clients, y.Clients, func(x, y Client) bool { return x.Believed == y.Believed }) &&
		slices.EqualFunc(x.Nodes, y.Nodes, func(x, y Node) bool {
			return x.Up == y.Up && x.Present == y.Present && x.Written == y.Written
		})
}

// MostBelievers returns the greatest number of clients that believed at one position of
// (after, upTo], or at upTo if the interval is empty. A view whose places hold several
// positions counts with it, so that no overlap falls between two places.
func (t *Timeline) MostBelievers(after, upTo int) int {
	most := t.Moments[upTo].Believers
	for pos := after + 1; pos < upTo; pos++ {
		most = max(most, t.Moments[pos].Believers)
	}
	return most
}

// Clashes reports whether, at a position of (after, upTo], or at upTo if the interval is empty, two clients
// had leases that were not over, or two were in the critical section: two believers are a violation only
// then.
func (t *Timeline) Clashes(after, upTo int) bool {
	for pos := min(after+1, upTo); pos <= upTo; pos++ {
		if t.Clash(pos) != "" {
			return true
		}
	}
	return false
}

// Clash says in capitals, with the count if it is more than two, what makes two believers a violation at a position: critical sections that overlap, or two leases that
// run. It is empty where neither is so: that two clients believe is no violation by itself.
func (t *Timeline) Clash(pos int) string {
	live, inside := 0, 0
	for i := range t.Moments[pos].Clients {
		if c := &t.Moments[pos].Clients[i]; c.Live {
			live++
		}
		if c := &t.Moments[pos].Clients[i]; c.Inside {
			inside++
		}
	}
	code, clients := trace.OV, inside
	if inside < 2 {
		code, clients = trace.DG, live
	}
	switch name := strings.ToUpper(code.Name()); {
	case clients < 2:
		return ""
	case clients == 2:
		return name
	default:
		return fmt.Sprintf("%s: %d CLIENTS", name, clients)
	}
}
