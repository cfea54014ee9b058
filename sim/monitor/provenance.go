package monitor

import (
	"slices"
	"time"

	"lockstep/sim/trace"
)

// provenance follows the loss of every acquisition's record on every server, so that a proof
// can name not only the event at which the record was gone but also the fault behind it:
// the clock jump that made it due, the start of the server without it, the promotion of a
// replica that had never had it. It depends only on the events and the state.
type provenance struct {
	s       *trace.State
	servers []keeper
	primary []int // by address: the master, as of the last promotion
}

// keeper is a server as the keeper of a record.
type keeper struct {
	holder trace.Acquisition // the owner of its record
	due    time.Duration     // the record's expiry if the server's clock hadn't jumped since it was set
	jumps  []int             // Seqs of the jumps without which it would not expire before it is due
	lost   []loss            // by client: its last loss of a record here
}

// loss is the loss of one acquisition's record on one server. It stays when the record comes
// back, for a client that was without it for a while.
type loss struct {
	acq    int   // N of the Acquisition
	at     int   // Seq of the event at which the record was gone
	events []int // that event, and its causes
	open   bool  // the server is down: its start, or the promotion of a replica, decides
}

func (p *provenance) reset(s *trace.State) {
	p.s = s
	p.primary = append(p.primary[:0], s.Primary...)
	p.servers = slices.Grow(p.servers[:0], len(s.Nodes))[:len(s.Nodes)]
	for i := range p.servers {
		k := &p.servers[i]
		k.holder, k.due, k.jumps = trace.Nobody, trace.Never, k.jumps[:0]
		k.lost = slices.Grow(k.lost[:0], len(s.Clients))[:len(s.Clients)]
		for c := range k.lost {
			k.lost[c] = loss{at: trace.None, events: k.lost[c].events[:0]}
		}
	}
}

// after applies an event that the state has in it already.
func (p *provenance) after(e *trace.Event) {
	for i := range e.Changes {
		if ch := &e.Changes[i]; ch.Key == p.s.Key {
			p.changed(e, ch)
		}
	}
	switch e.Kind {
	case trace.KindUp:
		p.started(e)
	case trace.KindFailover:
		p.promoted(e)
	}
}

func (p *provenance) changed(e *trace.Event, ch *trace.Change) {
	k, owner := &p.servers[e.Node], trace.Nobody
	if r := p.s.LockRecord(e.Node); r != nil {
		owner = r.Owner
	}
	if k.holder != owner && k.holder != trace.Nobody && k.holder == p.s.Acquisition(k.holder.Client) {
		k.lose(e)
	}
	k.holder = owner
	switch {
	case ch.After == nil:
	case e.Kind == trace.KindNodeStep:
		k.jump(e, ch.After.Expires)
	case e.Kind == trace.KindUp: // with an expiry that its jumps have moved already
	case ch.Before == nil || ch.Stored || ch.After.Expires != ch.Before.Expires:
		k.due, k.jumps = ch.After.Expires, k.jumps[:0]
	}
}

// jump records a jump of the server's clock if it brings the expiry forward. Once the expiry
// is not before due, no jump so far has done harm.
func (k *keeper) jump(e *trace.Event, expires time.Duration) {
	switch {
	case expires >= k.due:
		k.jumps = k.jumps[:0]
	case e.By > 0:
		k.jumps = append(k.jumps, e.Seq)
	}
}

// lose records the loss of the holder's record. An expiry that was due at that instant
// anyway has no cause but time.
func (k *keeper) lose(e *trace.Event) {
	f := &k.lost[k.holder.Client]
	f.acq, f.at, f.open = k.holder.N, e.Seq, e.Kind == trace.KindDown
	f.events = append(f.events[:0], e.Seq)
	if e.Kind == trace.KindExpire && e.At < k.due {
		f.events = append(f.events, k.jumps...)
	}
}

// started records the loss of the records that a server doesn't restore when it starts.
func (p *provenance) started(e *trace.Event) {
	for c := range p.s.Clients {
		f := &p.servers[e.Node].lost[c]
		if f.open && !p.has(e.Node, trace.Acquisition{Client: c, N: f.acq}) {
			f.events = append(f.events, e.Seq)
		}
		f.open = false
	}
}

// promoted records the loss of the old master's records that the new master lacks. Earlier
// losses keep their causes.
func (p *provenance) promoted(e *trace.Event) {
	from, to := p.primary[e.Value], e.Node
	p.primary[e.Value] = to
	for c := range p.s.Clients {
		a := p.s.Acquisition(c)
		old := p.on(from, a)
		if p.has(from, a) {
			old = &loss{at: e.Seq, open: true}
		}
		if old == nil || p.has(to, a) {
			continue
		}
		events := slices.Clone(old.events)
		if old.open {
			events = append(events, e.Seq)
			if own := p.on(to, a); own != nil { // it did have the record once
				events = append(events, own.events...)
			}
		}
		p.servers[to].lost[c] = loss{acq: a.N, at: old.at, events: events}
	}
}

func (p *provenance) has(server int, a trace.Acquisition) bool {
	r := p.s.LockRecord(server)
	return r != nil && r.Owner == a
}

// on returns the last loss of an acquisition's record on a server, or nil.
func (p *provenance) on(server int, a trace.Acquisition) *loss {
	if f := &p.servers[server].lost[a.Client]; f.acq == a.N && len(f.events) > 0 {
		return f
	}
	return nil
}

// decidingLoss returns the loss that left an acquisition with fewer records than the lock
// needs, or nil. The holder could spare the earlier ones, and a proof is short.
func (p *provenance) decidingLoss(a trace.Acquisition, need int) *loss {
	held := 0
	var gone []*loss
	for _, n := range p.s.Primary {
		if p.has(n, a) {
			held++
		} else if f := p.on(n, a); f != nil {
			gone = append(gone, f)
		}
	}
	slices.SortFunc(gone, func(f, g *loss) int { return f.at - g.at })
	if spare := max(0, held+len(gone)-need); spare < len(gone) {
		return gone[spare]
	}
	return nil
}

// since returns the loss of that Seq on one of the masters, or nil.
func (p *provenance) since(a trace.Acquisition, at int) *loss {
	for _, n := range p.s.Primary {
		if f := p.on(n, a); f != nil && f.at == at {
			return f
		}
	}
	return nil
}
