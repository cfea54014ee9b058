package trials

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"lockstep/sim"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/trace"
)

// Found is a violation that random schedules have shown.
type Found struct {
	Code   trace.Code
	Seed   uint64       // the first whose schedule violates it
	Count  int          // of the seeds that violate it
	Cost   Cost         // of the shrunk schedule
	Wrong  []Wrong      // the faults of that
	Ops    []Op         // of that
	Shrunk sim.Schedule // nothing can be left out of it
	Trace  *trace.Trace // of the engine's run of that
}

// Play plays one random schedule for each seed from the first up to the last, and returns the
// violations that they show of the codes that the bounds have, worst first. The kinds of fault are those with a
// count in the bounds, which itself doesn't matter; time may pass anywhere, so clients are paused whether or not they
// may be. The same arguments give the same result. It fails if the lock's code panics or can't be played, and with the
// cause of ctx's end.
func Play(ctx context.Context, b bounds.Bounds, first, last uint64) ([]*Found, error) {
	cfg, err := Config(&b)
	if err != nil {
		return nil, err
	}
	d := &Drawer{Kinds: &b.Faults}
	defer d.Close() //nolint:errcheck // nothing is written
	found := map[trace.Code]*Found{}
	for seed := first; seed <= last && seed >= first; seed++ {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		d.Rand = rand.New(rand.NewPCG(seed, 11))
		if err := d.Draw(cfg); err != nil && !Stopped(err) {
			return nil, fmt.Errorf("seed %d: %w", seed, err)
		}
		if err := d.collect(seed, &b, found); err != nil {
			return nil, fmt.Errorf("seed %d: %w", seed, err)
		}
	}
	var all []*Found
	for _, c := range trace.Codes {
		if f := found[c]; f != nil {
			all = append(all, f)
		}
	}
	return all, nil
}

// Config returns the configuration in which random schedules are played, or an error if the bounds make no sense.
func Config(b *bounds.Bounds) (sim.Config, error) {
	if b.Endless() {
		return sim.Config{}, fmt.Errorf("a random schedule can have 1 to 9 cycles, and not any number")
	}
	return b.Config()
}

// Stopped reports whether an error says no more than that a run has gone on for decades.
func Stopped(err error) bool {
	late := (*sim.TooLate)(nil)
	return errors.As(err, &late)
}

// collect adds the violations of the last run to those found.
func (d *Drawer) collect(seed uint64, b *bounds.Bounds, found map[trace.Code]*Found) error {
	verdict := d.Verdict()
	if d.World.Err() == nil && b.CodeSet().Has(trace.PD) && d.Deadlocks() {
		verdict = append(slices.Clone(verdict), trace.PD)
	}
	for _, c := range verdict {
		switch {
		case !b.CodeSet().Has(c):
		case found[c] != nil:
			found[c].Count++
		default:
			f, err := d.shrink(c)
			if err != nil {
				return err
			}
			f.Seed = seed
			found[c] = f
		}
	}
	return nil
}

// shrink shrinks the schedule that was drawn last.
func (d *Drawer) shrink(c trace.Code) (*Found, error) {
	cfg := d.Config
	ops, cost := d.Shrunk(cfg, slices.Clone(d.Ops), c)
	d.Record = true
	defer func() { d.Record = false }()
	if !d.Shows(cfg, ops, c) {
		return nil, errUnsteady
	}
	f := &Found{Code: c, Count: 1, Cost: cost, Wrong: d.Wrong(), Ops: ops}
	moves := joined(d.World.Schedule().Moves)
	if err := d.World.Reset(cfg, true); err != nil {
		return nil, err
	}
	if err := d.World.Play(moves, nil); err != nil {
		return nil, err
	}
	t, err := d.World.Trace()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(t.Verdict(), c) {
		return nil, errUnsteady
	}
	f.Shrunk, f.Trace = d.World.Schedule(), t
	f.Shrunk.Moves = moves
	return f, nil
}

// errUnsteady is the error of code that goes another way when a schedule is played again.
var errUnsteady = errors.New("the lock goes another way when the schedule is played once more")

// joined are moves in which spans that pass one after the other are one.
func joined(moves []sim.Move) (list []sim.Move) {
	for _, m := range moves {
		if n := len(list); n > 0 && m.Wait > 0 && list[n-1].Wait > 0 {
			list[n-1].Wait += m.Wait
			continue
		}
		list = append(list, m)
	}
	return list
}
