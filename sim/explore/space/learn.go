package space

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/instants"
	"lockstep/sim/explore/unfit"
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// fewLives is the number of different lives that commands give to keys, beyond which they are taken for computed ones: a lock that lets
// a record live until an instant gives another life at each.
const fewLives = 4

// Learn adds the instants that matter to the code which has run so far: those at which it
// changes its mind, and the spans that it has begun. It reports whether there are any that
// weren't known: if there are merely fewer than time has stopped at, the round stands.
func (m *Model) Learn(ctx context.Context) (more bool, err error) {
	in, was, reached := *m.instants, m.instants, m.Reached()
	given := instants.Given(m.Servers, m.snapshots())
	spans := instants.Begun(m.Clients, reached, in.Far)
	if len(given) <= fewLives {
		spans = append(spans, slices.DeleteFunc(slices.Clone(given), func(s int32) bool { return s > in.Far })...)
	}
	t, err := m.Clients.Thresholds(ctx, m.Servers, reached, m.snapshots())
	if ctx.Err() != nil && err == nil {
		err = unfit.Unlearned(context.Cause(ctx).Error())
	}
	if err != nil {
		return false, err
	}
	m.Unprobed, m.Probed, m.Measured = t.Unprobed, m.Probed || t.Probed, t.Measured
	in.Before = instants.Sorted(in.Before, spans...)
	if in.Patience = 0; m.late() || m.awaits() {
		in.Patience = m.timeout
	}
	in.Lives(t, instants.Sleeps(m.Clients, reached, true))
	in.Took(t)
	in.Branch(t, m.ttl)
	in.Others = in.Others || m.Servers.Told
	in.Draws(t.Drawn)
	in.Shows(t.Mono, m.habits.goesOn)
	date := in.Falls(t, m.ttl)
	if len(given) <= fewLives && instants.Together(m.Servers, m.snapshots()) {
		in.Link(given, instants.Sleeps(m.Clients, reached, true))
	}
	in.Begin(instants.Chains(m.Clients, reached, in.Patience), given)
	switch {
	case t.Restless:
		return false, unfit.Unlearned(t.TooMany())
	case date:
		return false, unfit.Unlearned("the code compares a clock with a date, or with something else that is no reading")
	case in.Far > instants.MaxFar:
		return false, unfit.Unlearned(fmt.Sprintf("the code tells spans of more than %s apart", trace.Duration(instants.MaxFar*time.Millisecond)))
	case t.Cut:
		return false, unfit.Unlearned("there was too much to compare")
	case t.Rounds:
		return false, unfit.Unlearned("the code rounds a reading of a clock, and writes it together with other things")
	case in.Crowded():
		return false, unfit.Unlearned(fmt.Sprintf("there are more than %d instants at which the code changes its mind", instants.MaxInstants))
	}
	if m.learnt = &in; in.Within(was) {
		return false, nil
	}
	m.instants = in.For(m.Clients)
	return true, nil
}

// Outlasted reports whether clocks have stood still before a lease was over, and has them go on for longer: a violation found
// may be due to that.
func (m *Model) Outlasted() bool {
	in := *m.instants
	if in.Outlasts(m.Clients); in.Digital || in.Far == m.instants.Far {
		return false
	}
	m.instants = &in
	return true
}

// Instants takes the instants over that another model, of smaller bounds, has learnt of the same lock.
func (m *Model) Instants(from *Model) {
	in := *cmp.Or(from.learnt, from.instants)
	if in.Jumps = m.Bounds.Jumps(); m.late() {
		in.Patience = m.timeout
	}
	m.instants = in.For(m.Clients)
}

// late reports whether the bounds have faults after which a reply comes late or never.
func (m *Model) late() bool {
	f := &m.Bounds.Faults
	return f[bounds.ReplyLost]|f[bounds.HoldRequest]|f[bounds.Restart]|f[bounds.Failover] != 0
}

// awaits reports whether a client was seen to wait for a reply. Otherwise its patience begins no span.
func (m *Model) awaits() bool {
	_, thread := m.waiting(process.OpReceive, func(*behaviour.History) bool { return true })
	return thread >= 0
}

// waiting returns such a history, and a thread that was seen to wait there in an operation of a kind, or -1.
func (m *Model) waiting(in process.OpKind, at func(*behaviour.History) bool) (id uint32, thread int) {
	for id := range uint32(m.ids.clients.Len()) {
		c := m.ids.clients.Value(id + 1)
		h := m.Clients.At(c.history)
		for t := range int(h.Count) {
			if p := &h.Threads[t]; c.waits[t] && !p.Over && p.Kind == in && at(h) {
				return c.history, t
			}
		}
	}
	return 0, -1
}

// Elsewhere checks that clients do the same at another time, which a search takes for granted. It
// fails with [unfit.ErrKeepsReadings], or with an error that [unfit.IsUnlearned] recognises.
func (m *Model) Elsewhere(ctx context.Context) error {
	e, err := m.Clients.Elsewhere(ctx, m.Reached())
	switch {
	case err != nil:
		return err
	case e.Keeps && !m.habits.goesOn:
		return unfit.ErrKeepsReadings
	case e.Differs != "":
		return unfit.Unlearned(e.Differs)
	}
	return nil
}

// Reached lists the histories that the states have.
func (m *Model) Reached() (ids []uint32) {
	for id := range uint32(m.ids.clients.Len()) {
		ids = append(ids, m.ids.clients.Value(id+1).history)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
