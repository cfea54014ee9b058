package trials

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// Of bounds without an end, random schedules have so many cycles of each client, and so many faults of each kind at most.
const (
	fewCycles = 3
	fewFaults = 5
)

// Ended: of so many schedules one is followed to its end, for permanent deadlocks, if other codes are claimed as well.
const Ended = 4

// Doubt is the result of random schedules that test a claim.
type Doubt struct {
	Found  []*Found // their violations, worst first
	Played int      // fewer than asked for if there was no time for more, or if one has failed
	Failed *Failure // the first that couldn't be played to its end
}

// Failure is the error of a schedule in which the lock's code panics, goes on without an end, or goes another way when it is played again.
type Failure struct {
	Seed     uint64
	Schedule string // as far as it went
	Err      error
}

// Error says in which schedule something went wrong, and what; the schedule itself follows on a line of its own.
func (f *Failure) Error() string {
	return fmt.Sprintf("in random schedule %d %s\n%s", f.Seed, f.Err, f.Schedule)
}

// Unwrap returns the schedule's error.
func (f *Failure) Unwrap() error { return f.Err }

// Refute plays so many random schedules that the bounds contain, and returns their violations of the codes. They often wait
// for one of the spans. The same arguments give the same result, however many workers play, unless ctx is done first.
func Refute(ctx context.Context, b bounds.Bounds, spans []time.Duration, codes trace.CodeSet, n, workers int) (*Doubt, error) {
	if b.Endless() {
		if b.Others {
			b.Clients++
		}
		b.Cycles, b.Others = fewCycles, false
		for k := range b.Faults {
			b.Faults[k] = min(b.Faults[k], fewFaults)
		}
	}
	cfg, err := b.Config()
	if err != nil {
		return nil, err
	}
	r := &refuter{cfg: cfg, budget: b.Faults, spans: spans, codes: codes, n: uint64(n), first: map[trace.Code]uint64{}}
	r.end.Store(r.n)
	var wg sync.WaitGroup
	for range max(1, workers) {
		wg.Go(func() { r.work(ctx) })
	}
	wg.Wait()
	d := &Doubt{Played: int(r.played.Load()), Failed: r.failed}
	if r.failed != nil { // others may have played later ones meanwhile
		d.Played = int(r.failed.Seed)
	}
	for _, c := range codes.Verdict() {
		seed, any := r.first[c]
		if !any || seed >= r.end.Load() {
			continue
		}
		f, failed := r.show(seed, c)
		if failed != nil {
			d.Failed = failed
			break
		}
		d.Found = append(d.Found, f)
	}
	return d, nil
}

// refuter is the state that workers share.
type refuter struct {
	cfg    sim.Config
	budget bounds.Budget
	spans  []time.Duration
	codes  trace.CodeSet
	n      uint64
	next   atomic.Uint64 // seed
	end    atomic.Uint64 // the first seed that isn't played: n, or one that has failed
	played atomic.Int64

	mu     sync.Mutex
	first  map[trace.Code]uint64 // seeds that show violations
	failed *Failure
}

// work plays one seed after the other.
func (r *refuter) work(ctx context.Context) {
	d := &Drawer{Spans: r.spans}
	defer d.Close() //nolint:errcheck // nothing is written
	for ctx.Err() == nil {
		seed := r.next.Add(1) - 1
		if seed >= r.end.Load() {
			return
		}
		violated, err := d.try(r, seed)
		if err != nil {
			r.fail(&Failure{seed, d.World.Schedule().String(), err})
			return
		}
		r.played.Add(1)
		if violated != 0 {
			r.note(seed, violated)
		}
	}
}

// note keeps the first seed that violates each code.
func (r *refuter) note(seed uint64, violated trace.CodeSet) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range violated.Verdict() {
		if first, any := r.first[c]; !any || seed < first {
			r.first[c] = seed
		}
	}
}

// fail keeps the first seed that can't be played.
func (r *refuter) fail(f *Failure) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failed == nil || f.Seed < r.failed.Seed {
		r.failed = f
		r.end.Store(f.Seed)
	}
}

// try plays the schedule of a seed, and returns the codes among those claimed that it violates.
func (d *Drawer) try(r *refuter, seed uint64) (violated trace.CodeSet, err error) {
	defer process.CatchPanic(&err)
	d.Rand = rand.New(rand.NewPCG(seed, 13))
	cfg := r.cfg
	if seed%4 == 0 { // of a lock that draws no random numbers, and compares tokens for equality alone, all seeds are alike
		cfg.Seed = 1 + seed
	}
	if err := d.Within(cfg, &r.budget); Stopped(err) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	violated = trace.SetOf(d.Verdict()...) & r.codes
	if !r.codes.Has(trace.PD) || seed%Ended != 1 && r.codes != trace.SetOf(trace.PD) {
		return violated, nil
	}
	if d.rest() && d.Deadlocks() {
		violated |= trace.SetOf(trace.PD)
	}
	return violated, nil
}

// show returns a violation of a seed's schedule, in a world that has run nothing else.
func (r *refuter) show(seed uint64, c trace.Code) (f *Found, failed *Failure) {
	d := &Drawer{Spans: r.spans}
	defer d.Close() //nolint:errcheck // nothing is written
	violated, err := d.try(r, seed)
	if err == nil && !violated.Has(c) {
		err = errUnsteady
	}
	if err == nil {
		f, err = d.again(c)
	}
	if err != nil {
		return nil, &Failure{seed, d.World.Schedule().String(), err}
	}
	f.Seed = seed
	return f, nil
}

// again shrinks the schedule that was drawn last.
func (d *Drawer) again(c trace.Code) (f *Found, err error) {
	defer process.CatchPanic(&err)
	return d.shrink(c)
}
