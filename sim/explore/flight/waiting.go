package flight

import (
	"iter"
	"slices"
)

// This file is about requests that wait at their servers for an element.

// Wait adds a request that begins to wait. A copy gets a connection of its own. The list is the caller's no
// more.
func Wait(held []Request, r Request, copied bool) []Request {
	if r.Queued = false; copied {
		r.Orphan, r.Sender, r.Conn = true, Unheard, CopyConn
		for slices.ContainsFunc(held, r.SharesLane) {
			r.Conn++
		}
	}
	return slices.Insert(held, len(waiting(held)), r)
}

// waiting returns the requests that wait at servers.
func waiting(held []Request) []Request {
	n := slices.IndexFunc(held, func(r Request) bool { return r.Left == 0 })
	if n < 0 {
		return held
	}
	return held[:n]
}

// NextAt returns the place of the first request, from one place on, that waits at a node, or -1.
func NextAt(held []Request, node uint8, from int) int {
	for i := from; i < len(held) && held[i].Left != 0; i++ {
		if held[i].Addr == node {
			return i
		}
	}
	return -1
}

// Patience goes through the times in milliseconds after which requests that wait at servers give up.
func Patience(held []Request) iter.Seq[int32] {
	return func(yield func(int32) bool) {
		for _, r := range waiting(held) {
			if r.Left != Forever && !yield(r.Left) {
				return
			}
		}
	}
}

// Later lets time pass for the requests that wait, and takes those out that have waited long enough. The list is
// the caller's no more.
func Later(held []Request, by int32) (over, kept []Request) {
	for _, r := range held {
		if r.Left != 0 && r.Left != Forever {
			if r.Left -= by; r.Left <= 0 {
				r.Left = 0
				over = append(over, r)
				continue
			}
		}
		kept = append(kept, r)
	}
	return over, kept
}

// TakeAt takes those out that wait at a node. The list is the caller's no more.
func TakeAt(held []Request, node uint8) (taken, kept []Request) {
	for _, r := range held {
		if r.Left != 0 && r.Addr == node {
			r.Left = 0
			taken = append(taken, r)
		} else {
			kept = append(kept, r)
		}
	}
	return taken, kept
}

// HangUp drops the requests that wait on connections which a client closes, a bit each: their servers learn of
// it at once. The list is the caller's no more.
func HangUp(held []Request, client int, conns uint16) []Request {
	return slices.DeleteFunc(held, func(r Request) bool {
		return r.Left != 0 && !r.Orphan && int(r.Client) == client && conns>>r.Conn&1 != 0
	})
}

// WaitingAt counts the requests that wait at a node.
func WaitingAt(held []Request, node uint8) (n int) {
	for at := NextAt(held, node, 0); at >= 0; at = NextAt(held, node, at+1) {
		n++
	}
	return n
}
