// Package spent recognises requests that can no longer have an effect: their tokens occur nowhere else, so
// nobody can store them again, and until somebody does, such requests change nothing at a server. It takes
// that for granted during the search, and checks it afterwards.
package spent

import (
	"slices"
	"sync"
	"sync/atomic"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/flight"
	"lockstep/sim/explore/intern"
	"lockstep/sim/explore/naming"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// Requests are those of a search. Its workers share them.
type Requests struct {
	clients *behaviour.Clients
	servers *behaviour.Servers
	idle    *intern.Memo[behaviour.Question, bool]
	gone    *intern.Memo[uint32, struct{}] // the commands for which it is taken for granted
	done    []bool                         // by course; see Learn

	courses  sync.Map                     // of course: its id
	courseOf *intern.Memo[uint32, uint32] // the id of a history's course
	last     atomic.Uint32                // id of a course
}

// In returns the requests of a search that begins.
func In(k *behaviour.Clients, s *behaviour.Servers) *Requests {
	return &Requests{clients: k, servers: s, idle: intern.NewMemo[behaviour.Question, bool](), gone: intern.NewMemo[uint32, struct{}](),
		courseOf: intern.NewMemo[uint32, uint32]()}
}

// conn is a connection on which nothing is open.
const conn = 0xffff

// Idle reports whether a command that mentions tokens leaves a server as it is, now and if it had no keys.
func (r *Requests) Idle(snapshot, command uint32) bool {
	key := behaviour.Question{Snapshot: snapshot, Command: command}
	return intern.Of(r.idle, key, func(key behaviour.Question) bool {
		return r.clients.SeriesInCommand(command) != 0 && r.spares(r.bare(snapshot), command) && r.spares(snapshot, command)
	})
}

// bare returns a snapshot as it is without any key, and with nothing open on any connection.
func (r *Requests) bare(snapshot uint32) uint32 {
	bare := *r.servers.Snapshot(snapshot)
	bare.Keys, bare.Peers = nil, nil
	return r.servers.ID(bare)
}

// spares reports whether a command leaves a server as it is, and is none of which anything else could come.
// Of a record in the last millisecond before the one at which the search looks, too.
func (r *Requests) spares(snapshot, command uint32) bool {
	for _, at := range [2]uint32{snapshot, r.servers.Older(snapshot)} {
		a, err := r.servers.Run(behaviour.Question{Snapshot: at, Conn: conn, Command: command})
		e := a.Effect
		e.Before, e.After = false, false
		if err != nil || a.Snapshot != at || e != (trace.Effect{}) || a.Effect.Before != a.Effect.After || a.Shares || a.Asks || a.Blocks || a.Sent != 0 {
			return false
		}
	}
	return true
}

// Of tells which of some requests are spent; nil is none. may tells of the nth whether it can be dropped, as nobody
// reads its reply, on, on which snapshot its server is, and mentioned which series of tokens it mentions. Those that
// somebody may store again are known; and so are those of a request that may do so.
func (r *Requests) Of(list []flight.Request, known naming.SeriesSet, may func(n int) bool, on func(*flight.Request) uint32, mentioned func(n int) naming.SeriesSet) (spent []bool) {
	for i := range list {
		if req := &list[i]; req.Command != 0 && mentioned(i)&known == 0 && r.Idle(on(req), req.Command) {
			if spent == nil {
				spent = make([]bool, len(list))
			}
			spent[i] = true
		}
	}
	if spent == nil {
		return nil // as mostly
	}
	for was := ^known; was != known; {
		was = known
		for i := range list {
			if tokens := mentioned(i); !spent[i] || tokens&known != 0 {
				spent[i], known = false, known|tokens
			}
		}
	}
	for i := range list {
		if command := list[i].Command; spent[i] {
			if _, is := r.gone.Get(command); !is {
				r.gone.Put(command, struct{}{})
			}
			spent[i] = may(i)
		}
	}
	return spent
}

// Potent reports whether something could have come of a request that was dropped, on one of the snapshots with
// which the search has met. Its tokens become others that aren't stored there.
func (r *Requests) Potent(met map[uint32]bool) bool {
	for id := range uint32(r.gone.Len()) {
		command := r.gone.Entries.At(id + 1).Key
		for snapshot := range met {
			if snapshot == 0 {
				continue
			}
			fresh, any := r.fresh(command, r.servers.SeriesIn(snapshot))
			if !any || !r.spares(snapshot, fresh) {
				return true
			}
		}
	}
	return false
}

// fresh returns a command with tokens of the same clients that are not in a set, or false if they are all.
func (r *Requests) fresh(command uint32, used naming.SeriesSet) (fresh uint32, any bool) {
	mentioned := r.clients.SeriesInCommand(command)
	to := naming.Renaming{Clients: naming.SameClients}
	for bit := range to.Series {
		to.Series[bit] = uint8(bit)
	}
	for bit := range (mentioned & used).All {
		client := bit / naming.SeriesEach
		n, free := (used | mentioned).Free(client)
		if !free {
			return 0, false
		}
		other := client*naming.SeriesEach + int(n)
		to.Series[bit], to.Series[other] = uint8(other), uint8(bit)
		mentioned |= 1 << other
	}
	return r.clients.Command(command, &to), true
}

// Unread reports whether a request that is held up is alone on its connection, which its client has closed and
// on which nothing is open at its server.
func (r *Requests) Unread(snapshot uint32, conn uint16, held []flight.Request, of flight.Request) bool {
	open := func(txn redis.OpenTxn) bool { return txn.Conn == int(conn) }
	return of.Orphan && len(flight.Lane(held, of)) == 1 && !slices.ContainsFunc(r.servers.Snapshot(snapshot).Peers, open)
}

// Tidied returns a snapshot, and the requests that are held up, without those on the connection of one, the first
// there, if nothing can come of them whatever tokens there are: they only read, or their transaction is never
// executed. If the request adds to a transaction alone, it does so.
func Tidied(s *behaviour.Servers, snapshot uint32, conn uint16, held []flight.Request, first flight.Request) (after uint32, kept []flight.Request, shorter bool, err error) {
	var commands []uint32
	for _, r := range flight.Lane(held, first) {
		commands = append(commands, r.Command)
	}
	spares, adds := s.Idle(snapshot, conn, commands)
	switch {
	case first.Stale || spares:
		return s.Without(snapshot, conn), slices.DeleteFunc(held, first.SharesLane), true, nil
	case adds:
		a, err := s.Run(behaviour.Question{Snapshot: snapshot, Conn: conn, Command: first.Command})
		if err != nil {
			return snapshot, held, false, err
		}
		at := slices.IndexFunc(held, first.SharesLane)
		held = slices.Delete(held, at, at+1)
		held[slices.IndexFunc(held, first.SharesLane)].Queued = first.Queued
		return a.Snapshot, held, true, nil
	}
	return snapshot, held, false, nil
}
