package explore

import (
	"errors"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/space"
	"lockstep/sim/explore/unfit"
)

// withModel calls a function with a model. In the first, states that differ only in when they
// happen are equal, and sleeps have any length. If that meets a reading of true time, it
// calls the function again, with a model in which true time belongs to the state; and if it
// meets a sleep for a fraction of a millisecond, with bounds that round sleeps; and if a lock
// keeps a reading of a clock from one cycle to the next, with clocks that go on; and if a lock
// keeps more than its fields show, with histories that don't join; and if names may have made a
// difference, with states that differ in them.
func withModel(b Bounds, do func(*space.Model) error) error { return withModelFrom(b, false, do) }

// withModelFrom is withModel for a search of which it is known whether true time belongs to the
// state.
func withModelFrom(b Bounds, timed bool, do func(*space.Model) error) error {
	var hidden *behaviour.Remembering
	var names *unfit.ByName
	for {
		if timed && b.Endless() {
			return unfit.ErrRestless
		}
		m, err := space.NewModel(b, timed)
		if err != nil {
			return err
		}
		switch err = do(m); {
		case errors.Is(err, unfit.ErrTimed):
			timed = true
		case errors.Is(err, unfit.ErrFraction) && !b.WholeSleeps:
			b.WholeSleeps = true
		case errors.Is(err, unfit.ErrKeepsReadings) && !b.ClockGoesOn:
			b.ClockGoesOn = true
		case errors.Is(err, unfit.ErrWokeEarly):
			b.Waits = bounds.WaitsMustEnd
		case (errors.As(err, &hidden) || errors.Is(err, unfit.ErrStaysOpen)) && !b.Remembers && !b.Endless():
			b.Remembers = true
		case errors.As(err, &names):
			b.ByName = true
		default:
			return errors.Join(err, m.Close())
		}
		if err := m.Close(); err != nil {
			return err
		}
	}
}
