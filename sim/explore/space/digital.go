package space

import (
	"context"
	"fmt"
	"time"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/instants"
	"lockstep/sim/explore/unfit"
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// Digital fails if client code was seen to tell spans apart in a way that multiples of a grid don't
// stand for, or if a thread was seen to sleep on when its client would ask again.
func (m *Model) Digital() error {
	if id, thread := m.waiting(process.OpSleep, (*behaviour.History).Asks); thread >= 0 {
		return m.Clients.Outlives(id, thread)
	}
	return m.instants.Multiples(m.Clients, m.habits.goesOn, m.eachStep)
}

// StillDigital is Digital for all that clients have done since, in schedules which no small
// search has.
func (m *Model) StillDigital(ctx context.Context) error {
	was := m.instants
	defer func() { m.instants = was }()
	if _, err := m.Learn(ctx); err != nil {
		return err
	}
	if len(m.instants.Branches) > len(was.Branches) {
		return unfit.Unlearned("the lock's code compares a clock with a span that no schedule within small bounds shows")
	}
	return m.Digital()
}

// WakeEarly lets sleeps, and waits for replies, end at any time from now on, and reports whether it may: in
// a search without a bound on pauses, unless that has shown something before. It must be called before any
// state is made, and before the model is digitized for the last time.
func (m *Model) WakeEarly() bool {
	if b := &m.Bounds; b.Waits == bounds.WaitsEnd && b.Endless() && b.Faults[bounds.Pause] == bounds.Any && !m.eachStep {
		b.Waits, m.habits.early, m.instants.Grid = bounds.WaitsEndAtWill, true, 0
	}
	return m.WakesEarly()
}

// WakesEarly reports whether sleeps, and waits for replies, end at any time.
func (m *Model) WakesEarly() bool {
	return m.Bounds.Waits == bounds.WaitsEndAtWill && m.Bounds.Endless()
}

// Digitize lets time stop at the multiples of a grid, of which all spans are multiples that
// clients have begun in a small search, whose model is given, and all lives that they have given to
// records: by the digital clocks of Henzinger, Manna and Pnueli (1992) every ordering of such ends is
// met with at multiples, as long as no condition is strict. The model must be [Model.Digital].
func (m *Model) Digitize(small *Model) error {
	spans := append(instants.Given(small.Servers, small.snapshots()), m.ttl)
	if jumps := m.Bounds.Jumps(); jumps.Most > 0 {
		spans = append(spans, jumps.By)
	}
	if !m.habits.early {
		spans = append(spans, instants.Sleeps(small.Clients, small.Reached(), true)...)
		if m.late() || small.awaits() {
			spans = append(spans, m.timeout)
		}
	}
	if m.instants.Digitize(spans, small.instants.Branches); m.instants.TooFine() {
		return fmt.Errorf("%w: their greatest common divisor is %d ms: a search of it needs a bound on cycles; or a TTL, a timeout and delays that are multiples of each other, as by --timeout %s", unfit.ErrFine, m.instants.Grid, trace.Duration(m.Config.TTL))
	}
	m.lasting = m.lasting || !m.eachStep // a certificate's engine drops records early
	if m.instants.Late = m.lasting; !m.lasting {
		m.Servers.ExpireEarly()
	}
	return nil
}

// Grid returns the grid, or 0, and the readings at which code changes its mind between its multiples.
func (m *Model) Grid() (grid time.Duration, branches []time.Duration) { return m.instants.Between() }

// Spans are those after, or before, which time stops.
func (m *Model) Spans() []time.Duration { return m.instants.Spans() }

// OnGrid fails if a client has begun a span that doesn't fit the grid: no small search showed it.
func (m *Model) OnGrid() error {
	spans := instants.Given(m.Servers, m.snapshots())
	if !m.habits.early {
		spans = append(spans, instants.Sleeps(m.Clients, m.Reached(), false)...)
		if m.awaits() {
			spans = append(spans, m.timeout)
		}
	}
	if s := m.instants.Off(spans); s > 0 {
		return unfit.Unlearned(fmt.Sprintf("the lock begins a span of %d ms (a sleep, a record's life, a timeout), which no schedule within small bounds shows", s))
	}
	return nil
}

// snapshots is the set of those that states have.
func (m *Model) snapshots() map[uint32]bool {
	met := map[uint32]bool{}
	for id := range uint32(m.ids.nodes.Len()) {
		n := m.ids.nodes.Value(id + 1)
		met[n.snapshot], met[n.behind.snapshot] = true, true
	}
	return met
}
