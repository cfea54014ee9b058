// Package flight has the requests of a search that are under way: those that are held up, in the order in
// which they were sent, and those of a client that could arrive once more. It knows nothing of the rest of a
// state.
package flight

import (
	"iter"
	"math"
	"slices"

	"lockstep/sim/explore/intern"
	"lockstep/sim/trace"
)

// Request is a request that is held up, one that waits at its server for an element, or one that could arrive
// once more. There is no padding between the fields, so that a list of them is compared and hashed as a piece of
// memory.
//
// Invariant: in a list of requests under way, those that wait at servers come first, in the order in which they
// began to; all others are in the order in which they were sent.
type Request struct {
	Client, Thread uint8
	Addr, Conn     uint8       // the index of the node, and the client's connection; of a copy, CopyConn or above
	Command        uint32      // its id, or 0 if it only keeps its place
	Acquired       uint16      // how often the client had called Acquire when it sent it
	Phase          trace.Phase // in which the client sent it
	Stale          bool        // the node has ended its connection since
	Ago            int32       // milliseconds since it was sent
	Left           int32       // of one that waits at its server: milliseconds until it gives up, or Forever; otherwise 0
	Orphan         bool        // the client has closed its connection, which has another number now
	Sender         Sender      // the fate of the process that sent it
	Queued         bool        // it waits behind another request on its connection
	Loses          bool        // its reply is going to be lost
}

// Sender says what has become of the process that sent a request.
type Sender uint8

const (
	Same     Sender = iota // it lives, or has ended without anything being left of it
	Unheard                // it has crashed with the connection open, of which the server doesn't know
	Replaced               // it has crashed, and another process is its client now
)

// Forever is the Left of a request that never gives up.
const Forever int32 = math.MaxInt32

// CopyConn is the number of the first connection on which a copy of a request waits.
const CopyConn = 16

// Copied reports whether a request that waits at its server is a copy: it has arrived once more.
func (r Request) Copied() bool { return r.Conn >= CopyConn }

// HeldUp reports whether the request is held up by itself: it waits neither behind another nor at its server.
func (r *Request) HeldUp() bool { return !r.Queued && r.Left == 0 }

// Awaited reports whether somebody waits for the reply, which isn't known to be lost.
func (r *Request) Awaited() bool { return !r.Orphan && !r.Copied() && !r.Loses && r.Sender == Same }

// SharesLane reports whether another request is on the same connection.
func (r Request) SharesLane(o Request) bool {
	return r.Client == o.Client && r.Conn == o.Conn && r.Orphan == o.Orphan
}

// Lane returns the requests on the connection of one, in their order.
func Lane(held []Request, of Request) (lane []Request) {
	for _, r := range held {
		if of.SharesLane(r) {
			lane = append(lane, r)
		}
	}
	return lane
}

// Waits reports whether a request of a client that has closed this connection is still held up on it.
func Waits(held []Request, client int, conn uint8) bool {
	return slices.ContainsFunc(held, func(r Request) bool { return int(r.Client) == client && r.Orphan && r.Conn == conn })
}

// Holds counts the requests that are held up by themselves, and don't merely wait behind another.
func Holds(held []Request) (n uint8) {
	for _, r := range held {
		if r.HeldUp() {
			n++
		}
	}
	return n
}

// Held goes through the requests that are held up by themselves. Of each client they count from 1.
func Held(held []Request) iter.Seq2[*Request, uint8] {
	return func(yield func(*Request, uint8) bool) {
		var nth [math.MaxUint8 + 1]uint8
		for i := range held {
			r := &held[i]
			if !r.HeldUp() {
				continue
			}
			if nth[r.Client]++; !yield(r, nth[r.Client]) {
				return
			}
		}
	}
}

// Nth returns the place of the nth of a client's requests that are held up by themselves, or -1.
func Nth(held []Request, client, nth uint8) int {
	for i := range held {
		if r := &held[i]; r.Client == client && r.HeldUp() {
			if nth--; nth == 0 {
				return i
			}
		}
	}
	return -1
}

// Free lets the request at a place arrive, and those that waited behind it: these are due. If another
// on its connection is still held up before it, none is, and it waits for that. The list is the
// caller's no more.
func Free(held []Request, at int) (due, kept []Request) {
	first := held[at]
	if slices.ContainsFunc(held[:at], first.SharesLane) {
		held[at].Queued = true
		return nil, held
	}
	due = []Request{first}
	blocked := false
	for i, r := range held {
		switch {
		case i == at:
		case i > at && r.Queued && !blocked && first.SharesLane(r):
			due = append(due, r)
		default:
			blocked = blocked || i > at && first.SharesLane(r)
			kept = append(kept, r)
		}
	}
	return due, kept
}

// Moved is a connection that its client has closed, and the number that it has now.
type Moved struct{ From, To uint8 }

// Close makes the requests orphans that are held up on connections which a client closes, a bit each,
// and gives those connections other numbers, from 15 down, as the client will use theirs again. The
// server had ended those that are gone, and doesn't know of the end of any if the client has crashed. open has the old and new numbers, and those of earlier
// orphans: at the server these connections stay open. The list is changed.
func Close(held []Request, client int, conns, gone uint16, crashed bool) (moved []Moved, open uint16) {
	of := func(r Request) bool { return int(r.Client) == client && !r.Copied() }
	for conn := range uint8(16) {
		if conns>>conn&1 == 0 || Waits(held, client, conn) || !slices.ContainsFunc(held, func(r Request) bool { return of(r) && r.Conn == conn }) {
			continue
		}
		other := uint8(15)
		for Waits(held, client, other) {
			other-- // there are fewer orphans
		}
		open |= 1<<conn | 1<<other
		moved = append(moved, Moved{conn, other})
		for n := range held {
			if r := &held[n]; of(*r) && r.Conn == conn {
				r.Conn, r.Orphan, r.Stale = other, true, r.Stale || gone>>conn&1 != 0
				if crashed {
					r.Sender = Unheard
				}
			}
		}
	}
	return moved, open | Orphaned(held, client)
}

// Orphaned returns the connections, a bit each, that a client has closed and on which requests are still held up.
func Orphaned(held []Request, client int) (conns uint16) {
	for i := range held {
		if r := &held[i]; int(r.Client) == client && r.Orphan && !r.Copied() {
			conns |= 1 << r.Conn
		}
	}
	return conns
}

// On reports whether any request is under way on the open connections of a client, a bit each.
func On(held []Request, client int, conns uint16) bool {
	for i := range held {
		if r := &held[i]; int(r.Client) == client && !r.Orphan && conns>>r.Conn&1 != 0 {
			return true
		}
	}
	return false
}

// Replace says of some requests of a list that another process is their client now, and returns the list's new id.
func Replace(lists *intern.Lists[Request], id uint32, of func(*Request) bool) uint32 {
	list := lists.Get(id)
	changed := false // mostly it isn't, and to copy it and intern it anew takes its time
	for n := range list {
		if !of(&list[n]) {
			continue
		}
		if !changed {
			list, changed = slices.Clone(list), true
		}
		list[n].Sender = Replaced
	}
	if changed {
		id, _ = lists.Put(list) // it is as long as before
	}
	return id
}

// WithoutIn returns the id of a list without the requests that are gone, and whether those are that come after it.
func WithoutIn(lists *intern.Lists[Request], id uint32, gone []bool) (_ uint32, rest []bool) {
	list := lists.Get(id)
	gone, rest = gone[:len(list)], gone[len(list):]
	if slices.Contains(gone, true) {
		id, _ = lists.Put(Without(list, gone)) // it is shorter
	}
	return id, rest
}

// Without returns those requests that are not gone.
func Without(list []Request, gone []bool) (kept []Request) {
	for n, r := range list {
		if !gone[n] {
			kept = append(kept, r)
		}
	}
	return kept
}

// Choices goes through the sets of at most so many of some requests, the empty one last.
func Choices(list []Request, most int) iter.Seq[[]Request] {
	return func(yield func([]Request) bool) {
		for set := 1<<len(list) - 1; set >= 0; set-- {
			var chosen []Request
			for n, r := range list {
				if set>>n&1 != 0 {
					chosen = append(chosen, r)
				}
			}
			if len(chosen) <= most && !yield(chosen) {
				return
			}
		}
	}
}

// Again returns the nth of a client's executed requests, counted back from the last, or nil if that can't
// arrive once more.
func Again(sent []Request, n int) *Request {
	if n > len(sent) || sent[len(sent)-n].Queued {
		return nil
	}
	return &sent[len(sent)-n]
}

// Copy returns a request as it arrives once more: on a connection of its own.
func Copy(r Request) Request {
	r.Ago, r.Left, r.Orphan, r.Queued, r.Loses, r.Stale = 0, 0, true, false, false, false
	r.Conn, r.Thread = 0, 0
	if r.Sender == Unheard {
		r.Sender = Same
	}
	return r
}

// Executed returns a client's last requests, most of them at most, after one more was executed. If a copy of it
// couldn't do anything, it only keeps its place.
func Executed(sent []Request, r Request, idle bool, most int) []Request {
	if r = Copy(r); idle {
		r = Request{Queued: true}
	}
	sent = append(slices.Clone(sent), r)
	sent = sent[max(0, len(sent)-most):]
	for len(sent) > 0 && sent[0].Queued { // there is nothing before it whose place it could keep
		sent = sent[1:]
	}
	return sent
}
