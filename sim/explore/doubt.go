package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lockstep/sim"
	"lockstep/sim/explore/trials"
	"lockstep/sim/monitor"
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// Trials is a number of random schedules that finds nearly all that a search of a common lock could miss, in less than
// a second: see [Options.Trials].
const Trials = 16_000

// otherProcesses is how many times fewer schedules there are of a lock in another process, where each takes so much longer.
const otherProcesses = 40

// doubt has the engine play random schedules within the bounds, with waits of any length, if the search claims of any code
// that it holds. One that violates such a code shows that it doesn't, and that the search didn't know all instants that
// matter: nothing is decided of the other codes then. Nor is it if the lock's code panics or hangs in one of them, or
// doesn't end, as the search has met with no such thing.
func (r *Result) doubt(ctx context.Context, opt *Options) error {
	held := r.held() &^ trace.SetOf(trace.LV)
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
	r.TrialsMeant = n
	opt.progress(Progress{States: r.States, Transitions: r.Transitions, Depth: r.Depth, Concluding: true, Doubting: true})
	b, workers := r.Bounds, (&search{opt: *opt}).workers()
	if b.Remembers { // clients may share variables
		workers = 1
	}
	watch := process.NewWatch(cmp.Or(opt.Patience, b.Strategy.Patience))
	b.Watch = watch
	var d *trials.Doubt
	var err error
	if hang := watch.Run(func() { d, err = trials.Refute(ctx, b, slices.Concat(opt.Spans, r.spans), held, n, workers) }); hang != nil {
		r.unsettle("in a random schedule " + firstLine(hang))
		return nil
	}
	if err != nil {
		return err
	}
	r.Trials = d.Played
	for _, f := range d.Found {
		r.Violated, r.Found = append(r.Violated, random(f)), append(r.Found[:len(r.Found):len(r.Found)], f.Code)
		r.unsettle("random schedules show " + f.Code.String() + ", which the search has missed: it doesn't try all that matters to this lock")
	}
	if d.Failed != nil {
		r.unsettle(fmt.Sprintf("in a random schedule %s, and the search has met with no such thing: lockstep replay '%s'", reason(d.Failed.Err), d.Failed.Schedule))
	}
	r.sort()
	return nil
}

// held are the codes of which the search claims that they hold, those of extensions aside if there are none.
func (r *Result) held() (codes trace.CodeSet) {
	for _, c := range r.Bounds.Sought() {
		if r.Holds(c) && (r.Bounds.Extend || !monitor.OfExtensions(c)) {
			codes |= trace.SetOf(c)
		}
	}
	return codes
}

// unsettle has nothing be decided of codes that aren't violated; the first reason counts.
func (r *Result) unsettle(why string) {
	r.Undecided = cmp.Or(r.Undecided, why)
	r.Closed, r.Certificate = false, nil
}

// reason is the error of a schedule that has failed as a clause.
func reason(err error) string {
	if endless := (*sim.Endless)(nil); errors.As(err, &endless) {
		return fmt.Sprintf("the lock's code goes on after %d events", sim.MaxEvents)
	}
	return firstLine(err)
}

func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	return line
}

// random is the counterexample of a random schedule.
func random(f *trials.Found) *Counterexample {
	v := &Counterexample{Code: f.Code, Schedule: f.Shrunk, Random: true, Trace: f.Trace}
	v.Trace.Title = "A schedule with " + f.Code.Named()
	last := -1
	for _, op := range f.Ops {
		if op.Count == 0 {
			continue
		}
		if v.Steps += op.Count; last >= 0 && last != op.Who {
			v.Switches++
		}
		last = op.Who
	}
	for _, w := range f.Wrong {
		v.Faults = append(v.Faults, Fault{Kind: w.Kind, Text: w.Text, Essential: true})
	}
	return v
}
