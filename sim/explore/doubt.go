package explore

import (
	"context"
	"fmt"
	"slices"

	"lockstep/sim/explore/trials"
	"lockstep/sim/trace"
)

// Trials is a number of random schedules that finds nearly all that a search of a common lock could miss, in a fraction of
// a second: see [Options.Trials].
const Trials = 16_000

// doubt has the engine play random schedules within the bounds, with waits of any length, if the search claims of any code that it
// holds. One that violates such a code shows that it doesn't, and that the search didn't know all instants that matter: nothing is decided of the
// other codes then.
func (r *Result) doubt(ctx context.Context, opt *Options) error {
	var held trace.CodeSet
	for _, c := range r.Bounds.Sought() {
		if r.Holds(c) {
			held |= trace.SetOf(c)
		}
	}
	held &^= trace.SetOf(trace.LV)
	n := opt.Trials / max(1, r.Bounds.Nodes)
	if r.Bounds.Strategy.Assumes != "" {
		n /= otherProcesses
	}
	if held == trace.SetOf(trace.PD) { // one in so many schedules is followed to where nobody can have the lock any more
		n /= trials.Ended
	}
	if held == 0 || n == 0 || r.Bounds.Switches > 0 {
		return nil
	}
	workers := (&search{opt: *opt}).workers()
	if r.Bounds.Remembers {
		workers = 1
	}
	f, played, err := trials.Refute(ctx, r.Bounds, opt.Spans, held, n, workers)
	r.Trials = played
	if err != nil || f == nil {
		return err
	}
	v := &Counterexample{Code: f.Code, Schedule: f.Shrunk, Random: true, Trace: f.Trace}
	v.Trace.Title = "A schedule with " + f.Code.Named()
	for i, op := range f.Ops {
		if v.Steps += op.Count; i > 0 && op.Count > 0 && f.Ops[i-1].Count > 0 {
			v.Switches++
		}
	}
	for _, w := range f.Wrong {
		v.Faults = append(v.Faults, Fault{Kind: w.Kind, Text: w.Text, Essential: true})
	}
	r.Violated, r.Found = append(r.Violated, v), append(slices.Clone(r.Found), f.Code)
	r.sort()
	if r.Undecided == "" {
		r.Undecided = fmt.Sprintf("one of %d random schedules shows %s, which the search has missed: it doesn't know all instants that matter to this lock", played, f.Code)
	}
	r.Closed, r.Certificate = false, nil
	return nil
}

// otherProcesses is how much longer a schedule of a lock in another process takes.
const otherProcesses = 40
