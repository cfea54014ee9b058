package trials

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/process"
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
func Play(ctx context.Context, b bounds.Bounds, first, last uint64) ([]Found, error) {
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
		if err := stopped(d.Draw(cfg)); err != nil {
			return nil, fmt.Errorf("seed %d: %w", seed, err)
		}
		if err := d.collect(seed, &b, found); err != nil {
			return nil, fmt.Errorf("seed %d: %w", seed, err)
		}
	}
	var all []Found
	for _, c := range trace.Codes {
		if f := found[c]; f != nil {
			all = append(all, *f)
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

// stopped drops the error of a run that was stopped: after a century, or too many events.
func stopped(err error) error {
	if err != nil && strings.Contains(err.Error(), "the run was stopped") {
		return nil
	}
	return err
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
		return nil, fmt.Errorf("a schedule shows %s once and then no more:\n%s", c, d.Line())
	}
	t, err := d.World.Trace()
	if err != nil {
		return nil, err
	}
	s := d.World.Schedule()
	s.Moves = slices.Clone(s.Moves) // the world reuses them for its next run
	return &Found{Code: c, Count: 1, Cost: cost, Wrong: d.Wrong(), Ops: ops, Shrunk: s, Trace: t}, nil
}

// Refute plays so many random schedules that the bounds contain, and returns the first violation of one of the codes
// that any of them shows, or nil. They often wait for one of the spans. Of bounds without an end it plays schedules of few cycles. It says how many it has played: fewer if ctx is done. The same arguments give
// the same result, however many workers play.
func Refute(ctx context.Context, b bounds.Bounds, spans []time.Duration, codes trace.CodeSet, n, workers int) (found *Found, played int, err error) {
	if b.Endless() {
		if b.Others {
			b.Clients++
		}
		b.Cycles, b.Others = cycles, false
		for k := range b.Faults {
			b.Faults[k] = min(b.Faults[k], fewFaults)
		}
	}
	cfg, err := b.Config()
	if err != nil {
		return nil, 0, err
	}
	r := &refuter{budget: b.Faults, spans: spans, codes: codes, cfg: cfg}
	r.first.Store(int64(n))
	var wg sync.WaitGroup
	for range max(1, workers) {
		wg.Go(func() {
			if err := r.work(ctx); err != nil {
				r.fail(err)
			}
		})
	}
	wg.Wait()
	played = int(min(r.next.Load(), int64(n)))
	if r.err != nil {
		return nil, played, r.err
	}
	if first := r.first.Load(); first < int64(n) {
		found, err = r.show(uint64(first))
	}
	return found, played, err
}

// Ended: of so many schedules one is followed to its end, for permanent deadlocks, if other codes are claimed as well.
const Ended = 4

// cycles and fewFaults are the cycles of each client, and the faults of each kind, in schedules of bounds that have any number.
const (
	cycles    = 3
	fewFaults = 5
)

// refuter is what workers share.
type refuter struct {
	cfg    sim.Config
	budget bounds.Budget
	spans  []time.Duration
	codes  trace.CodeSet
	next   atomic.Int64 // seed
	first  atomic.Int64 // seed that shows a violation
	mu     sync.Mutex
	err    error
}

func (r *refuter) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
	r.first.Store(-1)
}

// work plays one seed after the other, up to the first that shows a violation.
func (r *refuter) work(ctx context.Context) (err error) {
	defer process.CatchPanic(&err)
	d := &Drawer{Spans: r.spans}
	defer d.Close() //nolint:errcheck // nothing is written
	for ctx.Err() == nil {
		seed := r.next.Add(1) - 1
		if seed >= r.first.Load() {
			return nil
		}
		violated, err := d.try(r, uint64(seed))
		if err != nil {
			return err
		}
		for first := r.first.Load(); violated != 0 && seed < first; first = r.first.Load() {
			r.first.CompareAndSwap(first, seed)
		}
	}
	return nil
}

// try plays the schedule of a seed, and returns the codes among those claimed that it violates.
func (d *Drawer) try(r *refuter, seed uint64) (trace.CodeSet, error) {
	d.Rand = rand.New(rand.NewPCG(seed, 13))
	cfg := r.cfg
	if seed%4 == 0 { // of a lock that draws no random numbers, all seeds are alike
		cfg.Seed = 1 + seed
	}
	if err := d.Within(cfg, &r.budget); err != nil {
		return 0, stopped(err)
	}
	violated := trace.SetOf(d.Verdict()...) & r.codes
	if violated == 0 && r.codes.Has(trace.PD) && (seed%Ended == 1 || r.codes == trace.SetOf(trace.PD)) && d.rest() && d.Deadlocks() {
		violated = trace.SetOf(trace.PD)
	}
	return violated, nil
}

// show returns the worst violation of a seed's schedule.
func (r *refuter) show(seed uint64) (*Found, error) {
	d := &Drawer{Spans: r.spans}
	defer d.Close() //nolint:errcheck // nothing is written
	violated, err := d.try(r, seed)
	if err != nil {
		return nil, err
	}
	f, err := d.shrink(violated.Verdict()[0])
	if err == nil {
		f.Seed = seed
	}
	return f, err
}
