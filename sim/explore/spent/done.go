package spent

import (
	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/intern"
	"lockstep/sim/explore/naming"
	"lockstep/sim/process"
)

// course is a client's history in a cycle so far, without names: its tokens are those of one series,
// and all others those of another. Histories that differ in names alone have one course, whichever of them the workers
// have met with first.
type course struct {
	from   uint32 // the id of the course so far, or 0
	thread uint8
	seen   behaviour.Observation
}

// course returns the id of a history's course. Those that go on from it have higher ones.
func (r *Requests) course(history uint32) uint32 {
	return intern.Of(r.courseOf, history, r.joinsCourse)
}

func (r *Requests) joinsCourse(history uint32) uint32 {
	h, c := r.clients.At(history), course{}
	if came := h.Came(); came.From != 0 && !h.BetweenCycles {
		c = course{r.course(came.From), came.Thread, came.Seen}
		switch c.seen.Kind {
		case behaviour.SawReply:
			c.seen.Value = int64(r.clients.Reply(uint32(c.seen.Value), nameless(h.Own)))
		case behaviour.SawSeries:
			c.seen.Value = 0
		}
	}
	id, _ := r.courses.LoadOrStore(c, r.last.Add(1))
	return id.(uint32)
}

// nameless returns a renaming of series to the first, if they are in a set, or else the second.
func nameless(own naming.SeriesSet) *naming.Renaming {
	to := naming.Renaming{Clients: naming.SameClients}
	for bit := range to.Series {
		if own>>bit&1 == 0 {
			to.Series[bit] = 1
		}
	}
	return &to
}

// Learn finds out, from all that clients were seen to do so far, after which courses a client is done with the tokens
// of its cycle. An empty server is one with a snapshot.
func (r *Requests) Learn(snapshot uint32) { r.done, _ = r.doneWith(r.bare(snapshot)) }

// Learnt reports whether anything was learnt.
func (r *Requests) Learnt() bool { return r.done != nil }

// Done reports whether a client with a history is known to be done with the tokens of its cycle: whatever it sends
// until the cycle's end leaves a server as it is on which they aren't stored, and it forgets them then.
func (r *Requests) Done(history uint32) bool {
	if len(r.done) == 0 {
		return false
	}
	c := r.course(history)
	return int(c) < len(r.done) && r.done[c]
}

// StillDone reports whether clients were done with their tokens after all courses of which that was known, as far as
// they were seen to go on since. Their commands are checked like the dropped ones.
func (r *Requests) StillDone(snapshot uint32) bool {
	if r.done == nil {
		return true
	}
	is, sent := r.doneWith(r.bare(snapshot))
	for c, done := range r.done {
		if done && !is[c] {
			return false
		}
	}
	for _, command := range sent {
		r.gone.Put(command, struct{}{})
	}
	return true
}

// doneWith tells of each course whether the client is done with the tokens of its cycle, given a server without keys,
// and the commands of those clients that are.
func (r *Requests) doneWith(bare uint32) (done []bool, sent []uint32) {
	var histories uint32 // are below
	for id := range uint32(r.clients.Outcomes.Len()) {
		e := r.clients.Outcomes.Entries.At(id + 1)
		histories = max(histories, e.Key.From+1, e.Value.To+1)
	}
	for id := range histories {
		r.course(id)
	}
	n := r.last.Load() + 1
	remains, goesOn, next := make([]bool, n), make([]bool, n), make([][]uint32, n)
	for id := range histories {
		h, c := r.clients.At(id), r.course(id)
		remains[c] = remains[c] || h.Own == 0
		for _, command := range r.sends(h) {
			remains[c] = remains[c] || !r.spares(bare, command)
		}
	}
	for id := range uint32(r.clients.Outcomes.Len()) {
		e := r.clients.Outcomes.Entries.At(id + 1)
		h, to, c := r.clients.At(e.Key.From), r.clients.At(e.Value.To), r.course(e.Key.From)
		if goesOn[c] = true; to.Own == h.Own {
			next[c] = append(next[c], r.course(e.Value.To))
		} else {
			remains[c] = remains[c] || (to.Series|to.Own)&h.Own != 0
		}
	}
	done = make([]bool, n)
	for c := n - 1; c > 0; c-- { // one that goes on from another has the higher id
		done[c] = goesOn[c] && !remains[c]
		for _, to := range next[c] {
			done[c] = done[c] && done[to]
		}
	}
	for id := range histories {
		if done[r.course(id)] {
			sent = append(sent, r.sends(r.clients.At(id))...)
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
