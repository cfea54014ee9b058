package explore

import (
	"errors"

	"lockstep/sim"
	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/unfit"
	"lockstep/sim/process"
	"lockstep/sim/solo"
)

// rehearse has the engine play the lock's solo: it finds out the key of the lock's record,
// unless the bounds name it, and whether a search of the lock can mean anything. It fails if
// the record can't be told from other keys, or if clients lock different ones.
func rehearse(b *Bounds) (v Vacuity, err error) {
	cfg, err := b.Config()
	if err != nil {
		return v, err
	}
	w, err := sim.New(cfg)
	if err != nil {
		return v, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	alone, err := solo.Play(w, cfg)
	if u := (*solo.Unsteady)(nil); errors.As(err, &u) {
		if u.Command != "" {
			return v, &unfit.Refusal{Client: u.Client, What: u.Command, Why: solo.OfMore, Source: u.Source}
		}
		return v, &behaviour.Nondeterminism{Client: u.Client, Once: u.Once, Again: u.Again, Source: u.Source}
	}
	if a := (*solo.Astray)(nil); errors.As(err, &a) {
		return v, &unfit.Refusal{Client: a.Client, What: "a goroutine", Why: solo.OutOfTime, Source: a.Source}
	}
	if err != nil {
		return v, err
	}
	v = Vacuity{Granted: alone.Granted > 0, Reacquired: alone.Granted >= 2 && alone.Released >= 2, Failure: alone.Failure,
		Unextended: alone.Extends && alone.Extended == 0}
	record, err := alone.Record(b.Record)
	if v.Unseen = errors.Is(err, solo.ErrNoRecord); err != nil && !v.Unseen {
		return v, err
	}
	if b.Record == "" {
		if b.Record = record; alone.Stays(record) {
			v.Stays = record
		}
	}
	return v, nil
}

// rehearse does so and, if that is asked for, refuses a lock that makes a timer of package time.
func (opt *Options) rehearse(b *Bounds) (v Vacuity, err error) {
	if !opt.Timers {
		return rehearse(b)
	}
	made, any := process.MakesTimer(func() { v, err = rehearse(b) })
	if err == nil && any {
		return v, &unfit.Refusal{Client: bounds.Names[0], What: made.Call, Why: neverGoesOff, Source: made.Source}
	}
	return v, err
}

// neverGoesOff says what is wrong with a timer of package time, and what to do.
const neverGoesOff = "it goes by the machine's clock, of which hardly any passes in a search, so what it starts would never happen; " +
	"start a thread by Options.Go, and wait in that by Options.Clock.Sleep"

// onceOnly says what is wrong with a lock of which its only client gets no second lease.
const onceOnly = "the lock was never acquired, released and acquired again by a client that is alone, and asks anew as soon as Release has returned: " +
	"is the lock ever free, or is it freed only later?"

// undecided returns why a search that finds nothing decides nothing, or "".
func (v *Vacuity) undecided(b *Bounds) string {
	failure := ""
	if v.Failure != "" {
		failure = "; its Acquire fails with " + v.Failure
	}
	switch {
	case !v.Granted && v.Failure != "":
		return "the lock was never acquired, even with nothing going wrong: its own Acquire fails with " + v.Failure
	case !v.Granted:
		return "the lock was never acquired, even with nothing going wrong: its Acquire refuses a lock that nobody has"
	case v.Unseen:
		return solo.ErrNoRecord.Error()
	case !v.Reacquired && b.Clients*b.Cycles > 1:
		return onceOnly + failure
	}
	return ""
}
