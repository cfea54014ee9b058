package space

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lockstep/sim/explore/instants"
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// firstInstants are those that are known before anything has run.
func (m *Model) firstInstants() *instants.Set {
	in := &instants.Set{Far: m.ttl * instants.FarTTLs}
	in.Before = instants.Sorted(nil, m.timeout, m.ttl)
	in.Stamps = instants.Sorted(nil, m.ttl+instants.OverStamp)
	return in
}

// Learn adds the instants that matter to the code which has run so far: those at which it
// changes its mind, and the spans that it has begun. It reports whether there are any that
// weren't known.
func (m *Model) Learn(ctx context.Context) (more bool, err error) {
	reached := m.reached()
	spans := m.begun(reached)
	t, err := m.Clients.Thresholds(ctx, m.Servers, reached)
	if err != nil {
		return false, err
	}
	m.Unprobed, m.Probed = t.Unprobed, m.Probed || t.Probed
	in, was := *m.instants, m.instants
	in.Before = instants.Sorted(in.Before, spans...)
	in.Lives(t, m.sleeps(reached))
	in.Took(t)
	for _, r := range t.Mono {
		if m.habits.goesOn {
			in.ReadsOn(r)
		} else {
			in.Reads(r)
		}
	}
	date := in.Falls(t, m.ttl)
	switch {
	case date:
		return false, errUnlearned("the code compares a clock with a date, or with something else that is no reading")
	case in.Far > instants.MaxFar:
		return false, errUnlearned(fmt.Sprintf("the code tells spans of more than %s apart", trace.Duration(instants.MaxFar*time.Millisecond)))
	case ctx.Err() != nil:
		return false, errUnlearned(context.Cause(ctx).Error())
	case t.Cut:
		return false, errUnlearned("there was too much to compare")
	case t.Restless:
		return false, errUnlearned("at one place, the code changes its mind at more values of a clock, or of a remaining life, than a search can stop at")
	case t.Rounds:
		return false, errUnlearned("the code rounds a reading of a clock, and writes it together with other things")
	}
	for _, list := range [][]int32{in.Before, in.Left, in.Readings, in.Later, in.Stamps} {
		if len(list) > instants.MaxInstants {
			return false, errUnlearned(fmt.Sprintf("there are more than %d instants at which the code changes its mind", instants.MaxInstants))
		}
	}
	m.instants = &in
	return !in.Equal(was), nil
}

// ErrKeepsReadings is the error of a lock that keeps readings of its clock from one cycle to
// the next, in a model in which clocks make a leap then.
var ErrKeepsReadings = errors.New("the lock keeps readings of a clock from one cycle to the next")

// Instants takes the instants over that another model has learnt of the same lock.
func (m *Model) Instants(from *Model) { m.instants = from.instants }

// Elsewhere checks that clients do the same at another time, which a search takes for granted. It
// fails with [ErrKeepsReadings], or with an error that [Unlearned] recognises.
func (m *Model) Elsewhere(ctx context.Context) error {
	e, err := m.Clients.Elsewhere(ctx, m.reached())
	switch {
	case err != nil:
		return err
	case e.Keeps && !m.habits.goesOn:
		return ErrKeepsReadings
	case e.Differs != "":
		return errUnlearned(e.Differs)
	}
	return nil
}

// errUnlearned is the reason why a search's instants may not suffice.
type errUnlearned string

func (e errUnlearned) Error() string { return string(e) }

// Unlearned reports whether an error ends a search for the sake of its instants alone.
func Unlearned(err error) bool {
	_, is := err.(errUnlearned) //nolint:errorlint // it is never wrapped
	return is
}

// begun lists the spans that clients have begun: sleeps before which no time had passed, and
// the longest lease.
func (m *Model) begun(reached []uint32) (spans []int32) {
	longest := int32(0)
	for n := range uint32(m.Clients.Reports.Count.Load()) {
		for _, r := range *m.Clients.Reports.At(n) {
			if !r.Never && !r.Given && r.Read == 0 {
				longest = max(longest, r.Deadline)
			}
		}
	}
	spans = append(m.sleeps(reached), longest)
	return slices.DeleteFunc(spans, func(s int32) bool { return s > m.instants.Far })
}

// sleeps lists the sleeps of clients before which no time had passed.
func (m *Model) sleeps(reached []uint32) (spans []int32) {
	for _, id := range reached {
		h := m.Clients.At(id)
		for t := range int(h.Count) {
			if p := &h.Threads[t]; !p.Over && p.Kind == process.OpSleep && h.Read == 0 {
				spans = append(spans, p.Sleep)
			}
		}
	}
	return instants.Sorted(nil, spans...)
}

// reached lists the histories that the states have.
func (m *Model) reached() (ids []uint32) {
	for id := range uint32(m.ids.clients.Len()) {
		ids = append(ids, m.ids.clients.Value(id+1).history)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
