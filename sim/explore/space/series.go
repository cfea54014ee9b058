package space

import (
	"fmt"
	"slices"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/naming"
	"lockstep/sim/monitor"
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// beginSeries gives client i, which is about to ask for the lock, the first of its series of
// tokens of which nothing is left: in no record, in no request that is held up or could
// arrive twice, and in no memory of any client. Its acquisition has the number of the series.
func (x *Explorer) beginSeries(i int) behaviour.Observation {
	used := x.seriesUsed()
	series, free := used.Free(i)
	if !free {
		x.fail(fmt.Errorf("tokens of %d acquisitions of one client are in use at a time", naming.SeriesEach))
	}
	x.s.clients[i].Acquired = uint16(series)
	return behaviour.Observation{Kind: behaviour.SawSeries, Value: int64(series)}
}

// seriesUsed returns the series of which anything is left, those of the clients' current
// acquisitions aside.
func (x *Explorer) seriesUsed() (used naming.SeriesSet) {
	used = x.seriesStored()
	_, held := x.mentioned(x.ids.helds.Get(x.s.world.held))
	used |= held
	for n := range x.Bounds.Clients {
		_, series := x.seriesOf(&x.s.clients[n])
		used |= series
	}
	return used
}

// seriesStored returns the series of which anything is left on servers.
func (x *Explorer) seriesStored() (stored naming.SeriesSet) {
	for n := range x.s.nodes {
		nd := &x.s.nodes[n]
		stored |= x.Servers.SeriesIn(nd.snapshot) | x.seriesOwned(int(nd.owner.Client), nd.owner.N)
		if nd.behind.snapshot != 0 {
			stored |= x.Servers.SeriesIn(nd.behind.snapshot) | x.seriesOwned(int(nd.behind.owner.Client), nd.behind.owner.N)
		}
	}
	return stored
}

// seriesOf returns the series of a client's current acquisition, and those that it mentions
// otherwise: in its requests that could arrive twice, in replies that it hasn't read, and in
// its memory.
func (m *Model) seriesOf(c *client) (own, series naming.SeriesSet) {
	own, series = m.seriesKnown(c)
	_, sent := m.mentioned(m.ids.sents.Get(c.sentBefore))
	return own, series | sent
}

// seriesKnown is seriesOf without the client's requests.
func (m *Model) seriesKnown(c *client) (own, series naming.SeriesSet) {
	for _, r := range m.ids.inboxes.Get(c.inbox) {
		if !r.refused {
			series |= m.Clients.SeriesInReply(r.reply)
		}
	}
	if c.Crashed {
		return 0, series
	}
	h := m.Clients.At(c.history)
	return h.Own, series | h.Series
}

// seriesOwned returns the series of a client's nth acquisition.
func (m *Model) seriesOwned(client int, n uint16) (set naming.SeriesSet) {
	if client >= 0 && client < naming.SeriesClients && client != m.probe() && n > 0 {
		set = set.With(client, naming.Series(n-1))
	}
	return set
}

// Rests reports whether the lock must be free in the state that the explorer views, or become
// free by itself: the schedule is over, or nothing happens any more as clients wait for events that never
// come, or its cycles have no bound and all clients are between two of them, or gone, and no request
// is held up.
func (x *Explorer) Rests() bool {
	if x.Over() || x.Asleep() {
		return true
	}
	if !x.habits.endless {
		return false
	}
	return x.world.held == 0 && !slices.ContainsFunc(x.summaries, func(s *summary) bool { return s.lives() && !s.between })
}

// Know begins another round with empty tables. If clients is set, spans since readings are
// dropped as soon as nothing is known to depend on them.
func (m *Model) Know(clients bool) {
	m.forget()
	if clients {
		m.habits.needs = m.Clients.Needs()
		if m.spent != nil && !m.neverDone {
			m.spent.Learn(m.bare())
		}
	}
}

// drops has the facts that a search without bounds does without.
func (m *Model) drops() monitor.FactSet {
	if !m.Bounds.Endless() {
		return 0
	}
	return monitor.Unneeded(m.Bounds.CodeSet())
}

// drop clears a client's fields that no longer matter, as far as that is known.
func (l *local) drop(h *behaviour.History) {
	if c := l.c; l.endless {
		if at := int(c.history); l.needs != nil && at < len(l.needs.Reading) {
			if c.since > dropped && !l.needs.Reading[at] {
				c.since = dropped
			}
			for t := range int(h.Count) {
				if p := &h.Threads[t]; !p.Over && p.Kind == process.OpReceive && !c.waits[t] && (l.early() || !l.needs.Sending[at]) {
					c.sent[t] = dropped
				}
			}
			if !l.needs.Given && c.Phase == trace.PhaseAcquire {
				c.grantSent = dropped
			}
		}
		if h.BetweenCycles {
			c.Acquired = 0 // the series of the next acquisition is one of which nothing is left
		}
		c.drop(l.drops)
	}
}

// drop clears facts that are needed for nothing. Whether its lease is live decides what a client does, too.
func (c *client) drop(unneeded monitor.FactSet) {
	if unneeded&monitor.Ranks != 0 {
		c.Granter, c.Asked, c.Touched, c.Reading = 0, 0, 0, monitor.Unread
	}
	if unneeded&monitor.Extensions != 0 {
		c.Extension, c.Lost = monitor.NoExtension, false
	}
}
