package explore

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lockstep/sim"
	"lockstep/sim/explore/certificate"
	"lockstep/sim/explore/space"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// concludeEndless finds the least schedules of a search without bounds within smaller bounds,
// where the engine confirms them. A violation that isn't found there is not decided: the
// situations of such a search stand for many schedules each. It also has the engine play
// random schedules.
func concludeEndless(ctx context.Context, m *space.Model, r *Result) error {
	if err := m.Recheck(); err != nil {
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
	exact, err := space.NewModel(m.Bounds, false)
	if err != nil {
		return err
	}
	defer exact.Close() //nolint:errcheck // its drivers have nothing to lose
	p := exact.NewPlayer()
	w, err := sim.New(p.Config)
	if err != nil {
		return err
	}
	for seed := range uint64(samples) {
		err = errors.Join(err, p.Agree(w, seed))
	}
	return errors.Join(err, w.Close())
}

// digitize lets time stop at the multiples of a grid: see [space.Model.Digitize]. The spans that
// clients begin are learnt from a small search.
func digitize(ctx context.Context, m *space.Model, opt Options) error {
	opt.Progress = nil
	return space.WithModel(m.Bounds.Small(), func(small *space.Model) error {
		s, err := rounds(ctx, small, opt)
		if err != nil {
			return err
		}
		if err := m.Digitize(small); err != nil || s.why == "" {
			return err
		}
		return errors.New(s.why)
	})
}

// certify makes the certificate of a search that has closed.
func certify(ctx context.Context, m *space.Model, opt Options) (*certificate.Certificate, error) {
	h, rows, needs, err := m.Certificate()
	if err != nil {
		return nil, err
	}
	resolve := func(string) (strategies.Strategy, error) { return m.Config.Strategy, nil }
	told := func(done, of int) {
		opt.progress(Progress{States: int64(of), Certified: done, Concluding: true})
	}
	return certificate.Make(ctx, h, rows, needs, certificate.Options{Workers: opt.Workers, Resolve: resolve, Progress: told})
}
