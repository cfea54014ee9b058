package explore

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/sim/explore/counts"
	"lockstep/sim/explore/disk"
	"lockstep/sim/explore/orbit"
	"lockstep/sim/explore/space"
	"lockstep/sim/explore/unfit"
	"lockstep/sim/trace"
)

// Options set how a search is made. They have no influence on its result, as long as it
// comes to its end.
type Options struct {
	Workers int   // 0 is one a core
	Memory  int64 // bytes that the program's heap may hold, garbage not counted; 0 is without limit
	// Disk, unless it is empty, is a directory in which the search goes on when its states have
	// filled their share of Memory; and from which it goes on if it has been there before, and
	// was cut off. It is empty or doesn't exist, or has such a search. It is removed when the search
	// comes to its end. See package disk.
	Disk string
	// Patience is how long of real time the lock's code may go on without an operation, before
	// the search fails with a [process.Hang]; 0 is the strategy's own, or else [process.Patience].
	Patience time.Duration
	// Certify makes a [certificate.Certificate] of a search that closes. Its states aren't
	// reduced by partial order then, for the check to know no such thing.
	Certify bool
	// Timers has the lock tried for timers of package time, which would never go off. It takes two
	// collections of garbage, and no lock of the catalogue has any.
	Timers bool
	// Trials is how many random schedules the engine plays within the bounds, with waits of any length, where a code would
	// hold. They know nothing of the search's instants, and are drawn from fixed seeds. A code that any of them violates
	// is violated, and nothing is decided of the others. 0 is none. On several servers, and in other processes, they are
	// fewer, as they take longer there.
	Trials int
	// Spans are waits of random schedules that are likely to matter, such as those that the lock's code names.
	Spans []time.Duration
	// Progress, if it is set, is called about five times a second.
	Progress func(Progress)

	dir   *disk.Dir // of Disk, in the search that it is for
	room  int64     // in bytes, for states on disk to have another share of the memory; 0 is theirs
	alike bool      // clients are known to be interchangeable
	stir  func()    // called before states are followed, if it is set: a test ends the process there
}

// Progress tells how far a search has come.
type Progress struct {
	States, Transitions int64 // so far: see Result
	Depth               int   // choices from the start
	Frontier            int   // states of this depth that are not expanded yet
	Bytes               int   // memory that the visited set takes
	Disk                int64 // bytes that it takes on disk
	Resumed             bool  // the search goes on, on disk, from the states of another process: this comes first then
	Concluding          bool  // the search is over, and the least schedules are looked for
	Doubting            bool  // and random schedules are played
	Certified           int   // and of a certificate so many states are written down
}

// search is a search that is running.
type search struct {
	*space.Model
	opt      Options
	orbits   *orbit.Orbits // of states that differ in clients' names alone, of which one is followed for all; or nil
	visited  visited
	before   level         // the last that another process has finished
	found    atomic.Uint32 // codes
	stop     atomic.Bool
	why      string            // the reason if it was stopped early
	cut      bool              // it was stopped before all levels were searched
	oneTime  bool              // all its schedules begin at one time, and nobody has looked yet whether others go the same way: see elsewhen
	unsure   bool              // it was cut off before it was known whether names matter, and its findings need schedules
	ahead    *outlook          // elsewhen's results, if it was begun before the end of the last round
	least    *leastBeside      // and the least schedules
	failed   unfit.Least       // errors
	finishes bool              // the level is finished whatever fails
	mu       sync.Mutex        // guards why
	pool     []*space.Explorer // one for each worker
	dead     sync.Map          // ending -> bool: whether it is a deadlock
	sleepers sync.Map          // ids of clients that wait for ever
	followed atomic.Int64      // transitions
	others   atomic.Int64      // states for which another is followed
	depth    atomic.Int64
	frontier atomic.Int64
}

// errLimit ends a search that has reached a limit.
var errLimit = errors.New("limit reached")

// run visits every reachable state, breadth-first, so that a search that is cut off has
// covered all shorter schedules.
func (s *search) run(ctx context.Context) error {
	left, err := s.begin()
	if err != nil {
		return err
	}
	for range s.workers() {
		x := s.Explorer()
		x.Reduce = true
		s.pool = append(s.pool, x)
	}
	if ctx.Err() != nil {
		s.halt(context.Cause(ctx).Error())
	}
	done := s.watch(ctx)
	defer done()
	defer s.Clients.Finish(false)
	for left > 0 && !s.over() {
		s.frontier.Store(left)
		s.finishes = left <= finished && s.orbits == nil
		s.Clients.Finish(s.finishes)
		if err := s.visited.batches(s.layer); err != nil {
			return err
		}
		if s.over() {
			break
		}
		s.depth.Add(1)
		if left, err = s.visited.advance(s.level()); err != nil {
			return err
		}
	}
	if err := s.failed.Err(); err != nil || !s.stop.Load() {
		return err
	}
	return errLimit
}

// over reports whether the search goes on to no other level.
func (s *search) over() bool {
	s.failed.Add(s.Clients.Failed())
	return s.stop.Load() || s.failed.Err() != nil
}

// finished is the number of states of which a level is finished when the lock has turned out to be unfit, or its code has
// failed: of all errors there the least is told then, and not that to which a worker has come first. That takes some
// seconds. Of a larger level, the error told depends on the workers' pace.
const finished = 200_000

func (s *search) workers() int {
	if s.opt.Workers > 0 {
		return s.opt.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// layer expands states of one depth, and reports whether the search goes on. There are so many
// pieces of work; read copies the states of one of them into a slice that it reuses.
func (s *search) layer(pieces int, read func(piece int, into []uint32) []uint32) (goOn bool) {
	if s.opt.stir != nil {
		s.opt.stir()
	}
	var next atomic.Int64
	var wg sync.WaitGroup
	for _, x := range s.pool {
		wg.Go(func() {
			var states []uint32
			var digests []uint64
			orbits := s.orbits.Finder(x, s.Width)
			for !s.stop.Load() {
				n := int(next.Add(1)) - 1
				if n >= pieces {
					return
				}
				states = read(n, states)
				x.Warm(states)
				if to, done := s.followAll(x, orbits, states); done {
					digests = s.visited.AddAll(to, digests)
				}
				s.frontier.Add(-int64(len(states) / s.Width))
			}
		})
	}
	wg.Wait()
	return !s.stop.Load()
}

// followAll returns the successors of some states. If that fails for one of them, it meets with the errors of the others, too,
// and reports false.
func (s *search) followAll(x *space.Explorer, orbits *orbit.Finder, states []uint32) (to []uint32, done bool) {
	done = true
	for at := 0; at < len(states) && (done || !s.stop.Load()); at += s.Width {
		s.follow(x, orbits, states[at:at+s.Width])
		done = s.fine(x) && done
	}
	to = x.Followed()
	if done = s.fine(x) && done; done {
		orbits.LeastOf(to)
	}
	return to, s.fine(x) && done
}

// fine ends the search if a worker has an error, which it takes from it.
func (s *search) fine(x *space.Explorer) bool {
	err := x.Err
	if x.Err = nil; err != nil {
		s.fail(err)
	}
	return err == nil
}

// follow adds all successors of one state, and counts them for all states of its orbit.
func (s *search) follow(x *space.Explorer, orbits *orbit.Finder, state []uint32) {
	size, near := orbits.Least(state), x.Stats.Near
	x.View(state)
	if x.Asleep() {
		x.Stats.Add(&counts.Stats{Asleep: x.Sleeper(state, s.newSleeper)})
	}
	if s.wants(trace.PD) && x.Rests() && s.deadlock(x, state) {
		s.report(trace.SetOf(trace.PD))
	}
	n, found := x.Follow(state)
	s.report(found)
	x.Stats.Since(near, size)
	s.followed.Add(int64(n * size))
	s.others.Add(int64(size - 1))
}

// sizes returns how many states are in the visited set, with those for which another is there that is followed by now; and
// the bytes that it takes in memory, and on disk.
func (s *search) sizes() (states, memory, disk int64) {
	states, memory, disk = s.visited.sizes()
	return states + s.others.Load(), memory, disk
}

// newSleeper reports whether a client, by its id, was never seen to wait for ever before.
func (s *search) newSleeper(client uint32) bool {
	_, known := s.sleepers.LoadOrStore(client, true)
	return !known
}

func (s *search) wants(c trace.Code) bool { return s.Bounds.CodeSet().Has(c) }

// report adds violations to those that were found.
func (s *search) report(c space.Codes) {
	if c &= s.Bounds.CodeSet(); c != 0 && s.WakesEarly() && !s.LooseWaits {
		s.fail(unfit.ErrWokeEarly)
	}
	for {
		old := s.found.Load()
		if space.Codes(old)&c == c || s.found.CompareAndSwap(old, old|uint32(c)) {
			return
		}
	}
}

// deadlock reports whether a state in which all clients are at rest is a deadlock. The answer
// is memoised.
func (s *search) deadlock(x *space.Explorer, state []uint32) bool {
	key := x.Ending(state)
	if known, any := s.dead.Load(key); any {
		return known.(bool)
	}
	dead := x.DeadlockedIn(state)
	s.dead.Store(key, dead)
	return dead
}

// fail ends the search with an error: at once, unless it is to be compared with others. The codes found so far stay found if
// the search can't take on more instants.
func (s *search) fail(err error) {
	if unfit.IsUnlearned(err) {
		s.halt(err.Error())
		return
	}
	if s.failed.Add(err); !s.finishes || unfit.BeginsAgain(err) {
		s.stop.Store(true)
	}
}

// halt ends the search early; the first reason counts.
func (s *search) halt(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.why == "" {
		s.why = why
	}
	s.stop.Store(true)
}

// watch enforces the limits and reports progress, in the background until done is called.
func (s *search) watch(ctx context.Context) (done func()) {
	over := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		tick := time.NewTicker(looked)
		defer tick.Stop()
		for {
			select {
			case <-over:
				return
			case <-ctx.Done():
				s.halt(context.Cause(ctx).Error())
				return
			case <-tick.C:
				s.check()
			}
		}
	})
	return func() {
		close(over)
		wg.Wait()
	}
}

// looked is the time between two checks of a search's memory. Tests look more often.
var looked = 200 * time.Millisecond

// check reports progress, and stops the search at the limit of memory.
func (s *search) check() {
	states, memory, stored := s.sizes()
	s.opt.progress(Progress{States: states, Transitions: s.followed.Load(), Depth: int(s.depth.Load()), Frontier: int(max(0, s.frontier.Load())),
		Bytes: int(memory), Disk: stored})
	if s.opt.full() {
		s.halt(outOfMemory)
	}
}

func (o *Options) progress(p Progress) {
	if o.Progress != nil {
		o.Progress(p)
	}
}

// outOfMemory is why a search has ended at the limit of memory.
const outOfMemory = "the memory limit was reached"

// full reports whether the live objects on the program's heap have passed the limit. Garbage doesn't count, of which there
// may be several times as much: how much depends on when it was last collected, and a search's findings must not.
func (o *Options) full() bool {
	if o.Memory <= 0 || heap() <= o.Memory {
		return false
	}
	runtime.GC()
	return heap() > o.Memory
}

// heap is the size of the program's heap, in bytes, with the garbage that isn't collected yet.
func heap() int64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}
