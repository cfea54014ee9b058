package explore

import (
	"context"
	"errors"

	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/space"
)

// retold is the number of operations and of commands of a search within bounds that run once more, besides a few of each kind,
// with each choice of other tokens. Code that mixes tokens with much else has many kinds.
const retold = 400

// retell decides nothing of the codes that seem to hold if the lock looks into its tokens: those of
// the search are drawn from one seed. A lock that makes random values of its tokens would do
// otherwise with any others.
func retell(ctx context.Context, r *Result, m *space.Model) error {
	if r.Bounds.Strategy.Seeds || r.Undecided != "" || len(r.Found) == len(r.Bounds.Sought()) {
		return nil
	}
	err := r.unlessOver(ctx, m.Servers.Retold(ctx, retold))
	var unlike *behaviour.Unlike
	if errors.As(err, &unlike) {
		r.Undecided = "the lock compares tokens otherwise than for equality: it does " + unlike.Difference()
		return nil
	}
	return err
}

// unlessOver returns the error of a step, unless that is that ctx was done before the step was. The search has then
// not come to its end.
func (r *Result) unlessOver(ctx context.Context, err error) error {
	if ctx.Err() == nil || !errors.Is(err, context.Cause(ctx)) {
		return err
	}
	if r.Complete {
		r.Complete, r.Closed, r.Why = false, false, context.Cause(ctx).Error()
	}
	return nil
}
