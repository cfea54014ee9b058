package spent

import (
	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/naming"
	"lockstep/sim/process"
)

// Learn finds out, from all that clients were seen to do so far, after which histories a client is done with the tokens
// of its cycle. An empty server is one with a snapshot.
func (r *Requests) Learn(snapshot uint32) { r.done, _ = r.doneWith(r.bare(snapshot)) }

// Learnt reports whether anything was learnt.
func (r *Requests) Learnt() bool { return r.done != nil }

// Done reports whether a client with a history is known to be done with the tokens of its cycle: whatever it sends
// until the cycle's end leaves a server as it is on which they aren't stored, and it forgets them then.
func (r *Requests) Done(history uint32) bool { return int(history) < len(r.done) && r.done[history] }

// StillDone reports whether all histories that were known to be done with their tokens are, as far as clients were seen
// to go on since. What they send is checked as that which was dropped.
func (r *Requests) StillDone(snapshot uint32) bool {
	if r.done == nil {
		return true
	}
	is, sent := r.doneWith(r.bare(snapshot))
	for history, done := range r.done {
		if done && !is[history] {
			return false
		}
	}
	for _, command := range sent {
		r.gone.Put(command, struct{}{})
	}
	return true
}

// doneWith tells of each history whether the client is done with the tokens of its cycle, given a server without keys,
// and what those send that are.
func (r *Requests) doneWith(bare uint32) (done []bool, sent []uint32) {
	var children [][]uint32
	for id := range uint32(r.clients.Outcomes.Len()) {
		e := r.clients.Outcomes.Entries.At(id + 1)
		for from := int(max(e.Key.From, e.Value.To)); from >= len(children); {
			children = append(children, nil)
		}
		children[e.Key.From] = append(children[e.Key.From], e.Value.To)
	}
	done = make([]bool, len(children))
	for id := len(children) - 1; id > 0; id-- { // a history of a cycle comes after those on its way
		h := r.clients.At(uint32(id))
		done[id] = h.Own != 0 && len(children[id]) > 0
		for _, to := range children[id] {
			if next := r.clients.At(to); next.Own == h.Own {
				done[id] = done[id] && done[to]
			} else {
				done[id] = done[id] && (next.Series|next.Own)&h.Own == 0
			}
		}
		for _, command := range r.sends(h) {
			done[id] = done[id] && r.spares(bare, command)
		}
		if done[id] {
			sent = append(sent, r.sends(h)...)
		}
	}
	return done, sent
}

// sends lists the commands with tokens of its cycle that a client with a history is about to send.
func (r *Requests) sends(h *behaviour.History) (list []uint32) {
	for _, p := range h.Threads[:h.Count] {
		if !p.Over && p.Kind == process.OpSend && r.clients.SeriesInCommand(p.Command)&h.Own != naming.SeriesSet(0) {
			list = append(list, p.Command)
		}
	}
	return list
}
