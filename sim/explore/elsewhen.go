package explore

import (
	"context"
	"fmt"
	"hash/fnv"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/sim/explore/space"
	"lockstep/sim/monitor"
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// starts are the times by which brief schedules begin later than those of a search that has
// true time in its states. A lock that looks at differences of times alone does the same
// whenever it begins. At the last two, a minute, an hour, a day, a month and a year soon end, and a week,
// which begins on Monday or on Sunday: a lock that depends on one of these may do otherwise around its end alone,
// because its record ends with it, or because it takes the record of another one over.
func starts(ttl time.Duration) []time.Duration {
	const day = 24 * time.Hour
	return []time.Duration{377 * time.Millisecond, 999 * time.Millisecond, 31 * time.Second, 31 * time.Minute,
		3*time.Hour + 7*time.Minute, 7 * time.Hour, 13*time.Hour + 31*time.Minute, 19 * time.Hour,
		day, 2 * day, 3 * day, 4 * day, 5 * day, 6 * day, 17 * day, 45 * day, 110 * day, 200 * day, 290 * day,
		time.Date(1973, 1, 1, 0, 0, 0, 0, time.UTC).Sub(trace.Epoch) - ttl/2, time.Date(1995, 1, 1, 0, 0, 0, 0, time.UTC).Sub(trace.Epoch) - ttl/24}
}

// outlook has the results of elsewhen, once ready is closed.
type outlook struct {
	stop    context.CancelFunc
	help    func() // has one more worker look
	ready   chan struct{}
	differs string
	err     error
}

// lookElsewhere begins with elsewhen, with the instants that are known now.
func (s *search) lookElsewhere(ctx context.Context, workers int) *outlook {
	ctx, stop := context.WithCancel(ctx)
	more := make(chan struct{})
	o, model := &outlook{stop: stop, help: sync.OnceFunc(func() { close(more) }), ready: make(chan struct{})}, s.Elsewhen()
	go func() {
		defer close(o.ready)
		defer process.CatchPanic(&o.err)
		o.differs, o.err = s.elsewhen(ctx, model, workers, more)
	}()
	return o
}

// elsewhenBeside begins with elsewhen, if the search needs that and hasn't begun before, and goes on with it while the
// least schedules are looked for. differs waits for the answer; done only for the end. Of a lock whose code must not run
// twice at the same time, it has the answer before it returns.
func (s *search) elsewhenBeside(ctx context.Context) (differs func() (string, error), done func()) {
	if !s.oneTime {
		s.ahead.end()
		return func() (string, error) { return "", nil }, func() {}
	}
	o := s.ahead
	if o == nil {
		o = s.lookElsewhere(ctx, s.workers())
	}
	wait := func() {
		if s.ahead != nil {
			o.help()
		}
		<-o.ready
		o.stop()
	}
	if s.Bounds.Remembers {
		wait()
	}
	return func() (string, error) {
		wait()
		return o.differs, o.err
	}, wait
}

// elsewhen searches brief schedules that begin at other times, and returns in what they differ,
// or nothing. The contents of records may differ, as long as nothing comes of it. A search lets all its
// schedules begin at the same time, and means every time.
func (s *search) elsewhen(ctx context.Context, model brief, workers int, more <-chan struct{}) (differs string, err error) {
	now, err := begin(ctx, model, 0, 0, workers)
	if err != nil {
		return "", err
	}
	at := starts(s.Bounds.TTL)
	if s.Bounds.Remembers {
		workers = 1
	}
	for i, then := range beginAll(ctx, model, now, at, workers, more) {
		switch {
		case then.err != nil:
			return "", then.err
		case ctx.Err() != nil:
			return "the search of schedules that begin at other times was cut off", nil
		case then == now:
			continue
		}
		part := "the date or the time of day"
		if at[i] < time.Second {
			part = "the fraction of a second that a clock shows"
		}
		return fmt.Sprintf("the lock goes on otherwise depending on %s: schedules that begin %s later have other situations", part, trace.Duration(at[i])), nil
	}
	return "", nil
}

// touching returns the violations of live leases that brief schedules have only if each lease lasts a millisecond longer than
// it says. Time stops at whole milliseconds, while clients' clocks have fractions of them: of a clock that is cut off to
// milliseconds, as Redis's is, as much may be gone already when it is read, so a span between two such readings may be up to a
// millisecond longer than that between the two instants. A client that acts too early by as much meets a lease that ends so much later.
func (s *search) touching(ctx context.Context, r *Result) (codes trace.Verdict, err error) {
	var held trace.Verdict
	for _, c := range r.Bounds.Sought() {
		if r.Holds(c) && monitor.Unneeded(trace.SetOf(c))&monitor.Leases == 0 {
			held = append(held, c)
		}
	}
	if len(held) == 0 {
		return nil, nil
	}
	b, err := begin(ctx, s.Elsewhen(), 0, time.Millisecond, s.workers())
	if ctx.Err() != nil {
		r.Complete, r.Why = false, "the search of leases that last a millisecond longer was cut off"
	}
	for _, c := range held {
		if b.found.Has(c) {
			codes = append(codes, c)
		}
	}
	return codes, err
}

// beginAll returns the beginning of the schedules at each of the times, up to the first that differs from now, that of
// the schedules that begin now. Workers search those of several starts at once, one more of them as soon as more is closed:
// clients must not share variables then.
func beginAll(ctx context.Context, model brief, now beginning, at []time.Duration, workers int, more <-chan struct{}) []beginning {
	all := make([]beginning, len(at))
	var next, count atomic.Int64
	var stop atomic.Bool
	work := func() {
		for !stop.Load() {
			i := next.Add(1) - 1
			if i >= int64(len(at)) {
				return
			}
			all[i], all[i].err = begin(ctx, model, at[i], 0, 1)
			if count.Add(1); all[i] != now || ctx.Err() != nil {
				stop.Store(true)
			}
		}
	}
	var wg, one sync.WaitGroup
	for range workers {
		wg.Go(work)
	}
	over := make(chan struct{})
	one.Go(func() {
		select {
		case <-more:
			work()
		case <-over:
		}
	})
	wg.Wait()
	close(over)
	one.Wait()
	return all[:count.Load()] // a worker ends a search that it has begun
}

// beginning describes the schedules that begin at some time: how many different situations they
// have, but for the contents of records and clients' memories, and a digest of those.
type beginning struct {
	outlines int
	digest   uint64
	found    space.Codes
	err      error
}

// brief is [space.Model.Elsewhen].
type brief = func(later, longer time.Duration) (*space.Model, error)

// begin searches brief schedules that begin at another time, and whose leases last longer.
func begin(ctx context.Context, model brief, later, longer time.Duration, workers int) (b beginning, err error) {
	defer process.CatchPanic(&err)
	other, err := model(later, longer)
	if err != nil {
		return b, err
	}
	defer other.Close() //nolint:errcheck // nothing is written
	s := &search{Model: other, opt: Options{Workers: workers}}
	if err := s.run(ctx); err != nil && s.why == "" {
		return b, err
	}
	x, outlines := other.Explorer(), map[string]bool{}
	visited := s.visited.(*inMemory)
	sizes, _ := visited.Sizes()
	var states []uint32
	for shard, n := range sizes {
		states = visited.Read(shard, 0, n, states)
		for at := 0; at < len(states); at += other.Width {
			x.Visit(states[at : at+other.Width])
			outlines[x.Outline()] = true
		}
	}
	b = beginning{outlines: len(outlines), found: space.Codes(s.found.Load())}
	for text := range outlines {
		h := fnv.New64a()
		h.Write([]byte(text)) //nolint:errcheck // a hash takes everything
		b.digest += h.Sum64()
	}
	return b, nil
}
