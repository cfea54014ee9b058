package monitor

import (
	"slices"
	"time"

	"lockstep/sim/trace"
)

// provenance follows how every acquisition's record was lost on every server, so that a
// proof can name not only the event at which the record was gone but the fault that
// brought that about: the clock jump that made it due, the start of the server without
// it, the promotion of a replica that had never had it. It looks at nothing but the
// events and the state.
type provenance struct {
	s       *trace.State
	servers []keeper
	primary []int // by address: the master, as of the last promotion
}

// keeper is a server as the keeper of a record.
type keeper struct {
	holder trace.Acquisition // whose record it has
	due    time.Duration     // when that would expire if the server's clock hadn't jumped since the expiry was set
	jumps  []int             // Seqs of the jumps but for which it would not expire before it is due
	lost   []loss            // per client: how it last lost a record here
}

// loss is how the record of one acquisition was lost on one server. It stays when
// the record comes back, for a client that had lost it for a while.
type loss struct {
	acq    int   // N of the Acquisition
	at     int   // Seq of the event at which the record was gone
	events []int // that one, and what brought it about
	open   bool  // the server is down: how it starts, or who takes its place, decides
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

// after takes note of an event that the state has been taken over already.
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

// jump notes a jump of the server's clock if it brings the expiry forward. Once
// the expiry is no sooner than it ever was due, no jump so far has done any harm.
func (k *keeper) jump(e *trace.Event, expires time.Duration) {
	switch {
	case expires >= k.due:
		k.jumps = k.jumps[:0]
	case e.By > 0:
		k.jumps = append(k.jumps, e.Seq)
	}
}

// lose notes the end of the holder's record. An expiry that was due anyway at that
// instant has no cause but time.
func (k *keeper) lose(e *trace.Event) {
	f := &k.lost[k.holder.Client]
	f.acq, f.at, f.open = k.holder.N, e.Seq, e.Kind == trace.KindDown
	f.events = append(f.events[:0], e.Seq)
	if e.Kind == trace.KindExpire && e.At < k.due {
		f.events = append(f.events, k.jumps...)
	}
}

// started: what a server does not bring back when it starts is lost for good.
func (p *provenance) started(e *trace.Event) {
	for c := range p.s.Clients {
		f := &p.servers[e.Node].lost[c]
		if f.open && !p.has(e.Node, trace.Acquisition{Client: c, N: f.acq}) {
			f.events = append(f.events, e.Seq)
		}
		f.open = false
	}
}

// promoted: what the old master still has, or has taken down with it, is lost if
// the new one lacks it. What was lost before that is lost to the same as before.
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

// on is how an acquisition last lost its record on a server, or nil.
func (p *provenance) on(server int, a trace.Acquisition) *loss {
	if f := &p.servers[server].lost[a.Client]; f.acq == a.N && len(f.events) > 0 {
		return f
	}
	return nil
}

// decidingLoss is the loss that left an acquisition with fewer records than the lock
// needs, or nil. Those before it the holder could spare: a proof is short.
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

// since is the loss of that Seq on one of the masters, or nil.
func (p *provenance) since(a trace.Acquisition, at int) *loss {
	for _, n := range p.s.Primary {
		if f := p.on(n, a); f != nil && f.at == at {
			return f
		}
	}
	return nil
}
