package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lockstep/sim"
	"lockstep/sim/trace"
)

// concludeEndless finds the least schedules of a search without bounds within smaller bounds,
// where the engine confirms them. A violation that isn't found there is not decided: the
// situations of such a search stand for many schedules each. It also has the engine play
// random schedules.
func concludeEndless(ctx context.Context, m *model, r *Result) error {
	if err := m.recheck(); err != nil {
		return err
	}
	if err := r.smaller(ctx); err != nil {
		return err
	}
	for _, c := range r.Found {
		if r.Find(c) == nil {
			r.Complete, r.Closed = false, false
			r.Why = fmt.Sprintf("a situation shows %s, and no schedule within smaller bounds does", c.Named())
		}
	}
	r.Found = slices.DeleteFunc(r.Found, func(c trace.Code) bool { return r.Find(c) == nil })
	exact, err := newModel(m.bounds, false)
	if err != nil {
		return err
	}
	defer exact.close() //nolint:errcheck // its drivers have nothing to lose
	p := exact.newPlayer()
	w, err := sim.New(p.cfg)
	if err != nil {
		return err
	}
	for seed := range uint64(samples) {
		err = errors.Join(err, p.agree(w, seed))
	}
	return errors.Join(err, w.Close())
}

// digitize lets time stop at the multiples of a grid: see [space.Model.Digitize]. The spans that
// clients begin are learnt from a small search.
func digitize(ctx context.Context, m *model, opt Options) error {
	opt.Progress = nil
	return with(m.bounds.small(), func(small *model) error {
		s, err := rounds(ctx, small, opt)
		if err != nil {
			return err
		}
		if err := m.digitize(small); err != nil || s.why == "" {
			return err
		}
		return errors.New(s.why)
	})
}
