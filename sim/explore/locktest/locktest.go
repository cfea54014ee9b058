// Package locktest is the search as a function for the tests of other modules. It searches
// every schedule of a lock within stated bounds, with the lock's real go-redis code and real
// Redis commands in virtual time. docs/bring-your-own-lock.md shows how.
//
// A lock is described by a [strategies.Strategy], of which only New is needed:
// Name is the test's unless it is set, Nodes is 1, Timeout is go-redis's 3 seconds.
// Where the lock has no TTL, or its record counts attempts, or its library sends
// commands again by itself, say so there.
package locktest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim"
	"lockstep/sim/explore"
	"lockstep/sim/explore/locktest/outside"
	"lockstep/sim/explore/report"
	"lockstep/sim/monitor"
	"lockstep/sim/process"
	"lockstep/sim/solo"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Adjust changes the bounds of a search from its defaults: see [Defaults].
type Adjust = func(*explore.Bounds)

// Defaults are the bounds of a search unless others are asked for: two clients, each of
// which takes the lock twice (once where it is on several nodes), and extends its lease if
// the lock can; one crash and one pause, on as many nodes as the description says. The search
// looks for DG, FR and PD, for GAP if it can extend, and for SW if it has fencing tokens. It allows for locks that
// keep something of an earlier cycle in a closure: see [explore.Bounds.Remembers].
func Defaults(s strategies.Strategy) explore.Bounds {
	b := explore.Defaults(s)
	b.Nodes = s.Nodes
	b.Remembers = true
	b.Extend = extends(s)
	b.Codes = codes(s, b.Extend)
	return b
}

func codes(s strategies.Strategy, extended bool) trace.Verdict {
	v := trace.Verdict{trace.DG, trace.FR, trace.PD}
	for _, c := range monitor.Searched() {
		if extended && monitor.OfExtensions(c) {
			v = append(v, c)
		}
	}
	if s.Fences {
		v = append(v, trace.SW)
	}
	return v.Sorted()
}

// extends reports whether a lock can extend its leases. It says yes of a constructor that leaves
// that open (see [strategies.Strategy.Extends]): a search in which no lease is extended decides nothing then.
func extends(s strategies.Strategy) bool {
	s.Nodes = max(s.Nodes, 1)
	return s.New != nil && s.Extends()
}

// Holds fails the test unless a search of all schedules within the bounds finds no
// violation. As a failing test does, it names the line at which each happened; and it shows
// the least schedule of each. A search that decides nothing fails the test too: it did not
// come to its end, the lock was never acquired twice, or some kind of fault in the bounds
// never occurred. The coverage is logged. The result is nil if the lock can't be searched.
//
// With go test -artifacts, or with the name of a folder in the environment variable
// LOCKSTEP_ARTIFACTS, each least schedule is written as a page with a player in it.
func Holds(t testing.TB, s strategies.Strategy, adjust ...Adjust) *explore.Result {
	t.Helper()
	s = complete(t, s)
	r, assumed := search(t, s, bounds(s, adjust))
	switch {
	case r == nil:
	case len(r.Found) > 0:
		for _, v := range r.Violated {
			fmt.Fprintln(t.Output(), report.Headline(v.Trace, v.Code))
		}
		t.Error(violations(t.Name(), s, r, keep(t, r)))
	case !trust(t, s, r):
	default:
		t.Logf("%s: %s\n%s", s.Name, r.Summary(), coverage(r)+assumed)
	}
	return r
}

// Breaks fails the test unless the search finds violations of exactly these codes, among all
// that it looks for. It logs the least schedule of each. The result is nil if the lock can't
// be searched.
func Breaks(t testing.TB, s strategies.Strategy, codes trace.Verdict, adjust ...Adjust) *explore.Result {
	t.Helper()
	s = complete(t, s)
	b := bounds(s, adjust)
	b.Codes = append(slices.Clone(b.Codes), codes...).Sorted()
	r, assumed := search(t, s, b)
	if r == nil || !trust(t, s, r) {
		return r
	}
	switch want, found := codes.Sorted(), r.Found.Sorted(); {
	case slices.Equal(found, want):
		t.Log(violations(t.Name(), s, r, keep(t, r)) + assumed)
	case len(found) == 0:
		t.Errorf("%s: expected to show %s, and %s\n%s", s.Name, want, r.Summary(), coverage(r)+assumed)
	default:
		t.Errorf("%s: expected to show %s, and shows %s\n\n%s", s.Name, want, found, violations(t.Name(), s, r, keep(t, r)))
	}
	return r
}

// Replay plays one schedule, as a failing search has printed it, logs the trace, and fails
// the test if it violates one of the codes; without codes, those of [Defaults]. It is a
// regression test of one sequence, and no search: a lock that has changed since may do
// something else under that schedule. The result is nil if the schedule can't be played.
func Replay(t testing.TB, s strategies.Strategy, schedule string, codes ...trace.Code) *trace.Trace {
	t.Helper()
	s = complete(t, s)
	trace, err := replay(s, schedule)
	if err != nil {
		t.Errorf("%s: %s", s.Name, err)
		return nil
	}
	text := indent(Excerpt(trace))
	t.Logf("%s under the schedule: %s\n\n%s", s.Name, trace.Verdict(), text)
	if len(codes) == 0 {
		codes = Defaults(s).Codes
	}
	for _, c := range trace.Verdict() {
		if slices.Contains(codes, c) {
			t.Errorf("%s: %s, %s: %s", s.Name, c, c.Name(), c.Meaning())
		}
	}
	return trace
}

func replay(s strategies.Strategy, schedule string) (*trace.Trace, error) {
	watch := process.NewWatch(0)
	var played *trace.Trace
	var failed error
	if hang := watch.Run(func() { played, failed = play(s, schedule, watch) }); hang != nil {
		return nil, hang
	}
	return played, failed
}

func play(s strategies.Strategy, schedule string, watch *process.Watch) (_ *trace.Trace, err error) {
	defer process.CatchPanic(&err)
	plan, err := sim.ParseSchedule(schedule, func(string) (strategies.Strategy, error) { return s, nil })
	if err != nil {
		return nil, err
	}
	plan.Config.Watch = watch
	w, err := sim.New(plan.Config)
	if err != nil {
		return nil, err
	}
	w.Guard()
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := findRecord(w, &plan.Config); err != nil {
		return nil, err
	}
	if err := w.Reset(plan.Config, true); err != nil {
		return nil, err
	}
	if err := w.Play(plan.Moves, nil); err != nil {
		return nil, err
	}
	return w.Trace()
}

// findRecord sets the key of the lock's record, if a schedule doesn't have it because the
// lock had another one when it was printed, or nobody looked then.
func findRecord(w *sim.World, cfg *sim.Config) error {
	if cfg.Record != "" {
		return nil
	}
	alone, err := solo.Play(w, *cfg)
	if err != nil {
		return err
	}
	record, err := alone.Record("")
	if errors.Is(err, solo.ErrNoRecord) {
		return nil
	}
	if record != cfg.Key {
		cfg.Record = record
	}
	return err
}

// Functions makes a lock on one node from two functions, for code that keeps nothing in a
// value of its own. acquire returns the lock's token, and release is given it back. An error
// of acquire that is one of refusals, or [strategies.ErrNotAcquired], means that another
// client has the lock; any other is a failure. A lease lasts for o.TTL from the sending of
// the command that stored the record: its caller knows no deadline.
func Functions(
	acquire func(ctx context.Context, rdb *redis.Client, key string, o strategies.Options) (token string, err error),
	release func(ctx context.Context, rdb *redis.Client, key, token string) error,
	refusals ...error,
) func([]*redis.Client, string, strategies.Options) strategies.Lock {
	return func(nodes []*redis.Client, key string, o strategies.Options) strategies.Lock {
		return &functions{nodes[0], key, o, acquire, release, refusals}
	}
}

type functions struct {
	rdb     *redis.Client
	key     string
	options strategies.Options
	acquire func(context.Context, *redis.Client, string, strategies.Options) (string, error)
	release func(context.Context, *redis.Client, string, string) error

	refusals []error
}

func (f *functions) Acquire(ctx context.Context) (*strategies.Lease, error) {
	token, err := f.acquire(ctx, f.rdb, f.key, f.options)
	for _, refusal := range f.refusals {
		if errors.Is(err, refusal) {
			return nil, fmt.Errorf("%w: %w", strategies.ErrNotAcquired, err)
		}
	}
	if err != nil {
		return nil, err
	}
	return &strategies.Lease{Token: token}, nil
}

func (f *functions) Release(ctx context.Context, lease *strategies.Lease) error {
	return f.release(ctx, f.rdb, f.key, lease.Token)
}

// complete fills in the fields that a description has left out.
func complete(t testing.TB, s strategies.Strategy) strategies.Strategy {
	if s.Name == "" {
		s.Name = t.Name()
	}
	s.Name = sim.Label(s.Name)
	if s.Nodes == 0 {
		s.Nodes = 1
	}
	if s.Timeout == 0 {
		s.Timeout = 3 * time.Second
	}
	return s
}

func bounds(s strategies.Strategy, adjust []Adjust) explore.Bounds {
	b := Defaults(s)
	usual, extended := slices.Clone(b.Codes), b.Extend
	for _, f := range adjust {
		f(&b)
	}
	if b.Extend != extended && slices.Equal(b.Codes, usual) {
		b.Codes = codes(s, b.Extend)
	}
	return b
}

// memory is the limit for a search, in bytes: a test isn't the only process on its machine.
const memory = 4 << 30

// reserve is the time before the test's deadline at which the search ends. At the deadline
// go test would kill the process, and the coverage would be lost.
const reserve = 5 * time.Second

// search runs a search, and says in lines what it assumes of the lock. If the lock can't be searched, or depends on
// something that no search has (see package outside), or its source can't be read to see that, it fails the test and
// returns nil.
func search(t testing.TB, s strategies.Strategy, b explore.Bounds) (r *explore.Result, assumed string) {
	t.Helper()
	if s.New == nil {
		t.Errorf("%s has no New: give a constructor, or two functions by locktest.Functions", s.Name)
		return nil, ""
	}
	found, read := outside.Find(s)
	if read != nil && os.Getenv(unread) == "" {
		t.Errorf("%s: %s, because %s\n%s", s.Name, explore.NotDecided, read, readable)
		return nil, ""
	}
	if found == nil {
		found = &outside.Found{}
	}
	if text := unseen(found.Uses); text != "" { // first, as a search of code that sleeps for real takes for ever
		t.Errorf("%s: %s, because its code goes by what a search doesn't have:\n%s%s", s.Name, explore.NotDecided, text, excuse)
		return nil, ""
	}
	if kept := unseen(found.Kept); kept != "" && !b.Remembers {
		if b.Endless() {
			t.Errorf("%s: %s, because its code remembers what a search without a bound on cycles doesn't see:\n%s%s", s.Name, explore.NotDecided, kept, bounded)
			return nil, ""
		}
		b.Remembers = true
		assumed = remembered(found.Kept)
	}
	ctx := t.Context()
	if d, can := t.(interface{ Deadline() (time.Time, bool) }); can {
		if by, limited := d.Deadline(); limited {
			var cancel context.CancelFunc
			ctx, cancel = context.WithDeadlineCause(ctx, by.Add(-reserve), errors.New("the test's time was up (go test -timeout)"))
			defer cancel()
		}
	}
	r, err := explore.Run(ctx, b, explore.Options{Memory: memory, Timers: true, Trials: explore.Trials, Spans: found.Spans})
	if err != nil {
		t.Errorf("%s: %s, because the lock cannot be searched: %s", s.Name, explore.NotDecided, err)
		return nil, ""
	}
	return r, assumed + assumptions(found.Uses, read)
}

// trust fails the test if the search has left some code undecided, or if its bounds promise
// more than any schedule had. It reports whether neither is the case.
func trust(t testing.TB, s strategies.Strategy, r *explore.Result) bool {
	t.Helper()
	undecided := slices.ContainsFunc(r.Findings(), func(f explore.Finding) bool { return f.Answer == explore.NotDecided })
	if !undecided && len(r.Vacuity.Unused) == 0 {
		return true
	}
	why := ""
	switch {
	case r.Answer().Holds():
		why = "the bounds promise more than any schedule had: take that out of the bounds, so that the test says what it covers\n"
	case !r.Complete:
		why = "less is searched sooner: fewer clients, cycles, faults, or tries of the lock's own (Options.Retry.Tries is 1 here)\n"
	}
	t.Errorf("%s: %s\n%s%s", s.Name, r.Summary(), why, coverage(r))
	return false
}
