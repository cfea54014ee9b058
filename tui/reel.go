package tui

import (
	"slices"
	"strings"
	"time"

	"lockstep/sim"
	"lockstep/sim/trace"
)

// reel is a trace made ready for drawing: what was true after each event, in
// few bytes, so that a frame looks things up and computes nothing. A position
// counts events: at position k the first k of them have happened. A reel is
// never changed once it is made.
type reel struct {
	trace    *trace.Trace
	samples  []sample // by position, 0 to len(events)
	chapters []int    // positions at which something is said, ascending, each once
	breaches []breach // by position, as in the trace
	actors   []bool   // all clients, but the probe only if it is needed
	begins   []int    // by client: the index of the first event that it has a part in
	weights  []weight // by event
}

// sample is what the lanes show of a state.
type sample struct {
	clients   []clientSample
	nodes     []nodeSample
	has       holding
	believers int
	version   int64 // of the store
}

type clientSample struct {
	wants, believed, live, inside, paused, hung, crashed, stopped bool
}

// holding is whose record is on enough masters; split says that masters hold
// records, and nobody's is on enough of them.
type holding struct {
	owner int // client, or sim.None
	split bool
}

// nodeSample is the lock's record on one node. Runs of samples with the same
// written event are one record.
type nodeSample struct {
	up      bool
	present bool
	owner   int // client, or sim.None
	written int // Seq of the event that stored it
	expires time.Duration
}

// breach is a violation at the position at which it is complete.
type breach struct {
	pos int
	*trace.Violation
}

func newReel(t *trace.Trace) *reel {
	r := &reel{trace: t, actors: make([]bool, len(t.Clients)), begins: make([]int, len(t.Clients))}
	for i, name := range t.Clients {
		r.actors[i], r.begins[i] = name != sim.Probe, len(t.Events)
	}
	r.samples = make([]sample, 0, len(t.Events)+1)
	s := t.NewState()
	r.samples = append(r.samples, r.sample(s))
	for i := range t.Events {
		e := &t.Events[i]
		s.Apply(e)
		r.samples = append(r.samples, r.sample(s))
		if e.Client != trace.None && e.Kind != trace.KindStop && e.Kind != trace.KindDone {
			r.actors[e.Client], r.begins[e.Client] = true, min(i, r.begins[e.Client])
		}
	}
	for i := range t.Notes {
		if p := r.position(t.Notes[i].Seq); !slices.Contains(r.chapters, p) {
			r.chapters = append(r.chapters, p)
		}
	}
	slices.Sort(r.chapters)
	for i := range t.Violations {
		v := &t.Violations[i]
		r.breaches = append(r.breaches, breach{r.index(v.Events[len(v.Events)-1]) + 1, v})
	}
	r.weights = r.weigh()
	return r
}

// last is the position after the last event.
func (r *reel) last() int { return len(r.trace.Events) }

// event is the one that led to a position, or nil at the beginning.
func (r *reel) event(pos int) *trace.Event {
	if pos == 0 {
		return nil
	}
	return &r.trace.Events[pos-1]
}

// clientOf is the client whose doing an event is, or sim.None if it is a
// node's, the network's or the store's.
func (r *reel) clientOf(e *trace.Event) int {
	if e.Client == trace.None {
		return trace.None
	}
	name, thread, _ := strings.Cut(r.trace.Actor(e), "/")
	if name != r.trace.Clients[e.Client] && name+"/"+thread != r.trace.Clients[e.Client] {
		return trace.None
	}
	return e.Client
}

// index finds an event by its Seq.
func (r *reel) index(seq int) int {
	i, found := slices.BinarySearchFunc(r.trace.Events, seq, func(e trace.Event, seq int) int { return e.Seq - seq })
	if !found {
		return min(i, len(r.trace.Events)-1)
	}
	return i
}

// position is where something stands that was said before the event with this Seq.
func (r *reel) position(seq int) int {
	i, _ := slices.BinarySearchFunc(r.trace.Events, seq, func(e trace.Event, seq int) int { return e.Seq - seq })
	return i
}

// chapter counts, from 1, the chapters that have begun at a position.
func (r *reel) chapter(pos int) int {
	i, found := slices.BinarySearch(r.chapters, pos)
	if found {
		i++
	}
	return i
}

// notes are what was last said at or before a position.
func (r *reel) notes(pos int) []trace.Note {
	n := r.chapter(pos)
	if n == 0 {
		return nil
	}
	var said []trace.Note
	for _, note := range r.trace.Notes {
		if r.position(note.Seq) == r.chapters[n-1] {
			said = append(said, note)
		}
	}
	return said
}

// breached are the violations that are complete at a position, and fresh those
// that the very last event completed.
func (r *reel) breached(pos int) (all, fresh []breach) {
	for i, b := range r.breaches {
		if b.pos > pos {
			return r.breaches[:i], fresh
		}
		if b.pos == pos {
			fresh = append(fresh, b)
		}
	}
	return r.breaches, fresh
}

func (r *reel) sample(s *trace.State) sample {
	out := sample{believers: s.Believers(), version: s.Store.Version}
	out.has.owner, out.has.split = s.Quorum(r.trace.Need)
	out.clients = make([]clientSample, len(s.Clients))
	for i := range s.Clients {
		c := &s.Clients[i]
		out.clients[i] = clientSample{
			wants: c.Phase == trace.PhaseAcquire, believed: c.Lease.Believed, live: c.Lease.Live,
			inside: c.Lease.Inside, paused: c.Paused, hung: c.Hung, crashed: c.Crashed, stopped: c.Stopped,
		}
	}
	out.nodes = make([]nodeSample, len(s.Nodes))
	for i := range s.Nodes {
		out.nodes[i] = nodeSample{up: s.Nodes[i].Up, owner: trace.None}
		if rec := s.LockRecord(i); rec != nil {
			n := &out.nodes[i]
			n.present, n.owner, n.written, n.expires = true, rec.Owner.Client, rec.Written, rec.Expires
		}
	}
	return out
}
