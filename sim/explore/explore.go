package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore/agree"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/certificate"
	"lockstep/sim/explore/counts"
	"lockstep/sim/explore/liveness"
	"lockstep/sim/explore/space"
	"lockstep/sim/explore/unfit"
	"lockstep/sim/fault"
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// Result is the result of a search: its coverage and the violations found. See
// [Result.Finding] for the conclusions.
type Result struct {
	Bounds   Bounds // that were searched
	Complete bool   // every schedule within the bounds was covered
	Why      string // the reason if it is not complete

	// Closed: the search came to its end without reaching the bounds on cycles and faults, so
	// a code that holds, holds for every schedule, however long. Still bounded are the clients (see
	// [Bounds.Clients] and [Bounds.Others]) and, at any one instant, the requests under way.
	Closed   bool
	UnderWay int  // of a closed search: the most requests that were held up at once
	Threads  bool // the lock starts threads: those of one client act by turns; in a closed search it asks again when all of its last cycle have ended

	Trials      int // random schedules with waits of any length that the engine has played to doubt the codes that hold: see [Options.Trials]
	TrialsMeant int // so many it was to play, if there had been time

	Depth       int             // all schedules of so many choices were covered
	States      int64           // distinct states, with those that differ in clients' names alone from one that was followed
	Transitions int64           // choices made in them
	Commands    int             // commands that Redis really executed; all other replies were memoised. Of like states the one that a worker comes to first is looked at, so this may depend on their pace; and on disk names aren't exchanged
	Unprobed    int             // places in client code at which no other values of clocks were tried than schedules had: see [behaviour.Thresholds]
	Grid        time.Duration   // of a search without bounds: time goes on by its multiples
	Branches    []time.Duration // and the readings, since a cycle's first, at which the code changes its mind: near them it may do either
	Probed      bool            // values were tried of clocks and remaining lives: claims may not hold for code that changes its mind between two
	Timed       bool            // code reads a clock that shows true time
	Captures    bool            // the lock has closures, and Bounds.Remembers says that these remember nothing
	Draws       int             // places at which client code draws a random number, by histories: see [behaviour.Clients.Draws]
	Operations  int             // operations that client code really performed, replays not counted

	// Unconfirmed are the codes that a search without bounds, or one that was cut off, has met with in some
	// situation, and of which no schedule within smaller bounds was found. They are not decided.
	Unconfirmed trace.Verdict
	Found       trace.Verdict     // the codes that some schedule violates
	Violated    []*Counterexample // the least for each of them, worst first; some may lack if the search was cut off
	Vacuity     Vacuity           // whether the search means anything
	// Undecided is why a search that finds nothing decides nothing, although it is complete;
	// empty if it does.
	Undecided string
	Near      NearMisses // how near it came to violations

	Kept bool // the search or its conclusion was cut off, and another with the same [Options.Disk] goes on with it

	Liveness *liveness.Result // if LV was sought, and the search has closed

	Certificate *certificate.Certificate // if one was asked for, and the search has closed without a finding

	spans []time.Duration // after, or before, which time has stopped
}

// Counterexample is the least schedule that violates a code: with the fewest
// faults, then the fewest changes from one client to another, then the fewest
// choices.
type Counterexample struct {
	Code            trace.Code // that it violates
	Schedule        sim.Schedule
	Faults          []Fault // in the order in which they happen
	Switches, Steps int     // changes from one client to another, and choices
	// Turn is, of a livelock, how many of the steps are made again and again, at the end. The
	// schedule makes them twice, and it is no least one; Switches is 0.
	Turn  int
	Trace *trace.Trace // of the engine's run of the schedule
	// Random: the search has missed it, and a random schedule shows it. It is no least one, but
	// nothing can be left out of it.
	Random bool
	// Within are the smaller bounds in which it is the least, if there was no time to
	// find the least within the search's own; otherwise nil.
	Within *Bounds
}

// Vacuity tells whether a search without a finding means anything.
type Vacuity struct {
	Granted    bool          // a client that has the servers to itself is granted the lock
	Reacquired bool          // some schedule acquires, releases, and acquires again
	Failure    string        // the lock's own error that ended an Acquire though nothing went wrong, with its line; empty if there was none
	Unseen     bool          // Acquire returned a lease and left no record behind
	Stays      string        // the key that was taken for the lock's record although no release removes it; empty if one does, or if the bounds name it
	Unextended bool          // the lock can extend its leases, and no caller did: see Bounds.Extend
	Extended   bool          // in some schedule a lease is extended
	Stuck      bool          // in some schedule nobody has the lock in the end and nobody can have it, and no record of it is to blame
	Asleep     string        // where some schedule ends with a client that waits for ever for a message or an element, as " at FILE:LINE"; empty if none does
	Touching   trace.Verdict // violated if leases last a millisecond longer than they say, and not if they don't
	Unused     []FaultKind   // kinds of fault in the budget that no schedule has had
}

// NearMisses counts the events that kept a lock from breaking, over all transitions.
type NearMisses = counts.Near

// Find returns the counterexample of a code, or nil.
func (r *Result) Find(c trace.Code) *Counterexample {
	for _, v := range r.Violated {
		if v.Code == c {
			return v
		}
	}
	return nil
}

// Holds reports whether the search has shown that a code is never violated, within its
// bounds at least.
func (r *Result) Holds(c trace.Code) bool { return r.Finding(c).Answer.Holds() }

// Run searches every schedule within the bounds. It ends early, with the violations found so
// far, when ctx is done or a limit is reached. It fails if the bounds make no sense; if the
// strategy can't be searched ([behaviour.Nondeterminism], [behaviour.Endless]); if its code
// panics ([process.Panic]) or hangs ([process.Hang]); and if the engine disagrees with the
// search, which would be a bug. A search whose lock hangs leaves goroutines behind.
//
// It runs the lock's code and doesn't read it. It notices calls to the process or the machine, and variables that clients
// share, only if two runs of the same differ; and timers of package time only with Options.Timers. For a
// lock that isn't known to do without, there is package locktest, which reads the source first.
func Run(ctx context.Context, b Bounds, opt Options) (*Result, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop() // also a search that is left behind
	watch := process.NewWatch(cmp.Or(opt.Patience, b.Strategy.Patience))
	b.Watch = watch
	if told := opt.Progress; told != nil {
		opt.Progress = func(p Progress) {
			if !watch.Over() {
				told(p)
			}
		}
	}
	var r *Result
	var err error
	if hang := watch.Run(func() { r, err = run(ctx, b, opt) }); hang != nil {
		return nil, hang
	}
	if r != nil {
		r.Bounds.Watch = nil
		if err == nil {
			err = r.doubt(ctx, &opt)
		}
	}
	return r, err
}

func run(ctx context.Context, b Bounds, opt Options) (r *Result, err error) {
	defer process.CatchPanic(&err)
	b.Waits = bounds.WaitsEnd // a result has others
	if b.CodeSet().Has(trace.LV) {
		if err := unlively(&b, &opt); err != nil {
			return nil, err
		}
	}
	if err := b.Check(); err != nil {
		return nil, err
	}
	if opt.Certify {
		if err := uncertified(&b); err != nil {
			return nil, err
		}
		without := opt.inMemory()
		without.Certify = false // a certificate's search lets records go early, which may hide a violation
		if r, err := run(ctx, b, without); err != nil || r.Answer() != HoldsAlways {
			return r, err
		}
	}
	var from attempt
	if opt.Disk != "" {
		var done func(finished bool) error
		if from, done, err = opt.openDisk(&b); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, done(err == nil && !r.Kept)) }()
		b.WholeSleeps, b.ClockGoesOn, b.Remembers, b.ByName = from.WholeSleeps, from.ClockGoesOn, from.Remembers, true
	}
	v, err := opt.rehearse(&b)
	if err != nil {
		return nil, err
	}
	err = withModelFrom(b, from.Timed, func(m *space.Model) (err error) {
		r, err = searchModel(ctx, m, opt, v)
		limited := ctx.Err() != nil || err == nil && r.Why == outOfMemory
		if m.WakesEarly() && !m.LooseWaits && !limited && (err != nil || r.Answer() != HoldsAlways) {
			return unfit.ErrWokeEarly
		}
		return err
	})
	if err == nil && opt.dir != nil && ctx.Err() != nil { // the time may be up after the last level, too, while something is to be concluded from it
		r.Kept = r.Kept || !r.Complete || len(r.Unconfirmed) > 0
	}
	return r, err
}

func searchModel(ctx context.Context, m *space.Model, opt Options, v Vacuity) (*Result, error) {
	if lasting := m.Bounds.CodeSet().Has(trace.LV); lasting || opt.Certify {
		m.StepByStep(lasting)
	}
	s, err := rounds(ctx, m, opt)
	if err != nil {
		return nil, err
	}
	r := &Result{Bounds: m.Bounds, Complete: s.why == "", Why: s.why, Transitions: s.followed.Load(), Vacuity: v}
	r.States, _, _ = s.sizes()
	r.Depth, r.Kept = int(s.depth.Load()), opt.dir != nil && s.cut
	r.Commands, r.Operations, r.Draws = m.Executed()
	r.Unprobed, r.Probed, r.Timed = m.Unprobed, m.Probed, m.Timed()
	r.Captures = m.Clients.Captures.Load() && !m.Bounds.Remembers
	r.Grid, r.Branches = m.Grid()
	r.spans = m.Spans()
	all := s.stats()
	r.Near = all.Near
	r.Vacuity.Extended, r.Vacuity.Stuck, r.Vacuity.Asleep = all.Extended, all.Stuck, all.Asleep
	for k, n := range m.Bounds.Faults {
		if n > 0 && !all.Used[k] {
			r.Vacuity.Unused = append(r.Vacuity.Unused, FaultKind(k))
		}
	}
	r.Closed = r.Complete && m.Bounds.Endless()
	r.UnderWay, r.Threads = int(m.Bounds.Faults[HoldRequest]), !m.Clients.Single()
	r.Undecided = r.Vacuity.undecided(&m.Bounds)
	found := space.Codes(s.found.Load()) & m.Bounds.CodeSet()
	r.Found = found.Verdict()
	s.visited, s.pool = nil, nil // the least schedules need room of their own
	if err := opt.closeSet(); err != nil {
		return nil, err
	}
	opt.progress(Progress{States: r.States, Transitions: r.Transitions, Depth: r.Depth, Concluding: true})
	if ctx.Err() != nil { // a search that was cut off still shows its findings
		s.giveUp()
		var done func()
		ctx, done = context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer done()
	}
	if m.Bounds.Endless() {
		err := concludeEndless(ctx, m, r)
		if err == nil && opt.Certify && r.Closed && len(r.Found) == 0 {
			r.Certificate, err = certify(ctx, m, opt)
		}
		if err == nil && r.Closed && m.Bounds.CodeSet().Has(trace.LV) {
			err = live(ctx, m, r, opt)
		}
		return r, err
	}
	return s.concludeBounded(ctx, r, found, opt)
}

// concludeBounded finds the least schedules of a search within bounds, and at the same time whether schedules
// that begin at other times go the same way. If they don't, nothing is decided of the codes not found.
func (s *search) concludeBounded(ctx context.Context, r *Result, found space.Codes, opt Options) (*Result, error) {
	differs, done := s.elsewhenBeside(ctx)
	defer done()
	opt.alike = s.alike()
	err := conclude(ctx, s.Model, r, found, opt, s.least)
	if why, failed := differs(); failed != nil {
		return nil, failed
	} else if why != "" {
		r.Complete, r.Why = false, why
	}
	if err != nil {
		return nil, err
	}
	if r.Vacuity.Touching, err = s.touching(ctx, r); err != nil {
		return nil, err
	}
	if err := retell(ctx, r, s.Model); err != nil {
		return nil, err
	}
	if err = r.smaller(ctx); s.unsure {
		r.unconfirm()
	}
	return r, err
}

// rounds searches until every instant is known that matters to the code which has run: each
// round adds those that the last one has shown. The last round is returned.
func rounds(ctx context.Context, m *space.Model, opt Options) (*search, error) {
	full, learnt := m.Budget, false
	if opt.dir != nil {
		m.KeepSpent() // another process wouldn't know which were dropped
	}
	if opt.dir != nil && opt.dir.Left() {
		// the facts to be learnt first are known
	} else if m.Bounds.Endless() {
		if err := digitize(ctx, m, opt); err != nil {
			return nil, err
		}
		m.Budget = smallIn(m.Bounds).Faults // shows on which spans the clients' behaviour depends
	} else {
		var err error
		if learnt, err = learn(ctx, m, opt); err != nil {
			return nil, err
		}
	}
	for ; ; learnt = true {
		s, more, err := round(ctx, m, opt, learnt)
		switch {
		case err != nil:
			return nil, err
		case s.why != "" || s.decided(m):
			return s, nil
		case !more && m.Budget == full:
			return s, s.everywhere(ctx)
		case !more:
			m.Budget = full
		}
		m.Know(m.Bounds.Endless())
	}
}

// learn has a model learn instants from a search of schedules of two clients with one cycle, which are few: that nearly
// always saves a round. Of the catalogue's locks none shows more in a second such search, and the model's own rounds
// find the instants that this one misses. It reports false if the model has no more schedules than these itself.
func learn(ctx context.Context, m *space.Model, opt Options) (learnt bool, err error) {
	b, all := smallIn(m.Bounds), &m.Bounds
	if b.Cycles = 1; all.Cycles == 1 && all.Clients == b.Clients && all.Faults == b.Faults {
		return false, nil
	}
	small, err := space.NewModel(b, m.Timed())
	if err != nil {
		return false, err
	}
	defer small.Close() //nolint:errcheck // nothing is written
	if _, _, err := round(ctx, small, opt.inMemory(), false); err != nil {
		return false, err
	}
	m.Instants(small)
	return true, nil
}

// round searches once. It reports whether there are instants that it didn't know. If it is likely to be the last, as
// some were learnt before, other times are looked at meanwhile.
func round(ctx context.Context, m *space.Model, opt Options, likely bool) (s *search, more bool, err error) {
	for {
		s = newSearch(m, opt)
		if err = s.run(ctx); ctx.Err() == nil && m.Outlasted() {
			m.Know(false)
		} else if err == nil && !m.Spent() {
			m.Know(m.Bounds.Endless())
		} else if errors.Is(err, unfit.ErrDropped) {
			m.Know(false)
		} else {
			break
		}
	}
	err = s.interchange(ctx, err)
	if s.cut = errors.Is(err, errLimit); err != nil && !s.cut {
		return nil, false, err
	}
	if err := m.Elsewhere(ctx); unfit.IsUnlearned(err) {
		s.halt(err.Error())
	} else if err != nil {
		return nil, false, err
	}
	if s.why != "" || s.decided(m) {
		return s, false, nil
	}
	more = m.Meet()
	if !m.Bounds.Endless() {
		if likely {
			s.lookAhead(ctx)
		}
		if more, err = m.Learn(ctx); more || err != nil {
			s.giveUp()
		}
	}
	if unfit.IsUnlearned(err) {
		s.why, err = err.Error(), nil
	}
	return s, more, err
}

// decided reports whether all violations were found that are looked for: the search claims of no
// code that it holds.
func (s *search) decided(m *space.Model) bool {
	all := m.Bounds.CodeSet()
	return space.Codes(s.found.Load())&all == all
}

// everywhere halts a search whose schedules aren't those of any time and any length, or whose instants don't
// suffice however many rounds it takes. Of other times it only notes that they remain to be looked at.
func (s *search) everywhere(ctx context.Context) error {
	if s.Bounds.Endless() {
		if err := s.StillDigital(ctx); unfit.IsUnlearned(err) {
			s.halt(err.Error())
			return nil
		} else if err != nil {
			return err
		}
	}
	if s.Measured != "" {
		s.halt(s.Measured)
		return nil
	}
	s.oneTime = s.Timed()
	return nil
}

// smaller finds counterexamples within smaller bounds for those violations whose least
// schedule a search that was cut off had no time to find: better some than none.
func (r *Result) smaller(ctx context.Context) error {
	if r.Why != "" { // its time may be up, and a test's soon: there is one grace for all
		var done context.CancelFunc
		ctx, done = context.WithTimeout(context.WithoutCancel(ctx), grace)
		defer done()
	}
	for _, b := range smallerThan(r.Bounds) {
		if len(r.Violated) == len(r.Found) {
			break
		}
		b.Codes = nil
		for _, c := range r.Found {
			if r.Find(c) == nil {
				b.Codes = append(b.Codes, c)
			}
		}
		ctx, done := context.WithTimeout(ctx, grace)
		small, err := runIn(ctx, b)
		done()
		if err != nil {
			return err
		}
		for _, v := range small {
			v.Within = &b
			v.Within.Watch = nil
			r.Violated = append(r.Violated, v)
		}
	}
	r.sort()
	return nil
}

// sort brings the codes found and the counterexamples into the order of codes, worst first.
func (r *Result) sort() {
	slices.Sort(r.Found)
	slices.SortFunc(r.Violated, func(a, b *Counterexample) int { return int(a.Code) - int(b.Code) })
}

// runIn finds the least schedules within bounds, and has no smaller bounds to fall back to.
func runIn(ctx context.Context, b Bounds) ([]*Counterexample, error) {
	var r Result
	err := withModel(b, func(m *space.Model) error {
		r = Result{}
		return conclude(ctx, m, &r, b.CodeSet(), Options{}, nil)
	})
	return r.Violated, err
}

// grace is how long a search that is cut off may still look for the least schedules of the
// violations that it has found.
const grace = 2 * time.Second

// ErrCutShort is the error of a search without a bound on cycles whose time or memory was used up before it could begin.
var ErrCutShort = unfit.ErrCutShort

// conclude finds the least schedules, and has the engine run them, together with some
// random ones. It takes those that were found before the end of the last round, if they were.
func conclude(ctx context.Context, m *space.Model, r *Result, found space.Codes, opt Options, before *leastBeside) error {
	w, err := sim.New(m.Config)
	if err != nil {
		return err
	}
	defer w.Close() //nolint:errcheck // nothing is written
	l := before.wait(found)
	if l == nil {
		l = findLeast(m, w, found, opt.alike, func() bool { return ctx.Err() != nil || opt.full() })
	}
	if l.search != nil && !unfit.IsUnlearned(l.search) {
		return l.search
	}
	if err := m.Recheck(); err != nil { // first: nondeterminism would make the engine disagree
		return err
	}
	if l.engine != nil {
		return l.engine
	}
	r.Violated = append(r.Violated, l.violated...)
	for _, c := range found.Verdict() {
		if r.Find(c) == nil && r.Why == "" {
			r.Complete, r.Why = false, fmt.Sprintf("the search for the least schedule with %s was cut off", c.Named())
		}
	}
	for seed := range uint64(samples) {
		if err := agree.Bounded(m, w, seed); err != nil && !unfit.IsUnlearned(err) {
			if keeps := m.Elsewhere(context.WithoutCancel(ctx)); errors.Is(keeps, unfit.ErrKeepsReadings) {
				return keeps // a search that is cut off hasn't come to that
			}
			return err
		}
	}
	return nil
}

// leastFound are the least schedules of violations, worst first, with the errors of the search for them and of the
// engine that has run them.
type leastFound struct {
	violated       []*Counterexample
	search, engine error
}

// findLeast finds the least schedules in a model, and has the engine run them: see findShortest.
func findLeast(m *space.Model, w *sim.World, found space.Codes, alike bool, stop func() bool) *leastFound {
	l := new(leastFound)
	var paths map[trace.Code][]space.Choice
	paths, l.search = findShortest(m, found, alike, stop)
	for _, c := range trace.Codes {
		path, any := paths[c]
		if !any {
			continue
		}
		v, err := counterexample(m, w, c, path)
		if err != nil {
			l.engine = err
			break
		}
		l.violated = append(l.violated, v)
	}
	return l
}

// samples is the number of random schedules of each search that the engine runs, too.
const samples = 20

// counterexample has the engine run the least schedule of a violation, and fails if that
// doesn't show it.
func counterexample(m *space.Model, w *sim.World, c trace.Code, path []space.Choice) (*Counterexample, error) {
	cfg := m.Config
	cfg.Scenario = sim.Label(fmt.Sprintf("least-%s", c))
	if err := w.Reset(cfg, true); err != nil {
		return nil, err
	}
	moves := m.Schedule(path)
	if c == trace.PD {
		moves = append(moves, sim.Move{Fault: fault.Drain{}})
	}
	if err := w.Play(moves, nil); err != nil {
		return nil, fmt.Errorf("the engine cannot play what the search has found: %w", err)
	}
	t, err := w.Trace()
	if err != nil {
		return nil, err
	}
	if !slices.Contains(t.Verdict(), c) {
		return nil, fmt.Errorf("the search has found %s, and the engine says %s: one of them is wrong\n%s", c, t.Verdict(), t.Schedule)
	}
	t.Title = "The least schedule with " + c.Named()
	price := costFromStart(m, path)
	schedule := w.Schedule()
	schedule.Moves = slices.Clone(schedule.Moves) // the world reuses them for its next run
	v := &Counterexample{Code: c, Schedule: schedule, Switches: int(price.switches), Steps: int(price.steps), Trace: t}
	v.Faults, err = faultsOf(m, w, c, path)
	return v, err
}
