package certificate

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/sim"
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// Options set how a certificate is made or checked.
type Options struct {
	Resolve  Resolve // finds the lock
	Workers  int     // 0 is one a core
	Part     float64 // of the situations, from 0 to 1, that are checked; 0 is all of them
	Seed     uint64  // of the choice of a part
	Progress func(done, of int)
}

// Report is the result of a check that has refuted nothing.
type Report struct {
	Config     sim.Config // in which the claim holds
	Situations int        // in the certificate
	Checked    int        // of them, from which every move was made
	Moves      int        // that were made
	// Blocked is the longest time for which a client's leftovers keep the others out
	// (BD), over the situations that were checked in which all clients are between two cycles.
	// It is known only where PD is claimed.
	Blocked time.Duration
	// Unextended: the lock can extend its leases, and no caller does.
	Unextended bool
}

// Refuted is the error of a certificate that proves nothing.
type Refuted struct {
	Row      int    // the situation, from 0; or trace.None: a random schedule
	Why      string // the certificate is refuted there
	Schedule string // by which the engine comes there; records expire in it a millisecond late
}

// Error gives the situation, the reason and the schedule.
func (r *Refuted) Error() string {
	what := fmt.Sprintf("situation %d of it", r.Row)
	if r.Row == trace.None {
		what = "a random schedule"
	}
	return fmt.Sprintf("the certificate proves nothing: %s %s\n%s", what, r.Why, r.Schedule)
}

// Check checks a certificate: that the situation in which every schedule begins is in it, that
// every move from each of its situations leads to one of them, that none violates its
// claim, and that random schedules don't either. It fails with [Refuted] if that isn't so.
func Check(ctx context.Context, c *Certificate, opt Options) (*Report, error) {
	s, err := c.setup(opt.Resolve)
	if err != nil {
		return nil, err
	}
	if err := s.record(); err != nil {
		return nil, err
	}
	s.needs = c.Needs
	k := &checker{Certificate: c, setup: s, known: make(map[Digest]bool, len(c.Rows))}
	for _, row := range c.Rows {
		k.known[row.Digest] = true
	}
	rows := k.part(&opt)
	err = k.sameLock()
	if err == nil {
		err = k.all(ctx, rows, opt, k.row)
	}
	if err == nil {
		err = k.all(ctx, numbers(longTrials+trials), Options{Workers: opt.Workers}, k.try)
	}
	return &Report{Config: s.cfg, Situations: len(c.Rows), Checked: len(rows), Moves: int(k.moves.Load()), Blocked: time.Duration(k.blocked.Load()),
		Unextended: s.cfg.Strategy.Extends() && !s.cfg.Clients[0].Extend}, err
}

// checker checks a certificate.
type checker struct {
	*Certificate
	setup *setup
	known map[Digest]bool
	moves atomic.Int64

	blocked atomic.Int64 // see Report
}

// part lists the situations to be checked: all, or so many at random, and always the first.
func (k *checker) part(opt *Options) (rows []int) {
	rng := rand.New(rand.NewPCG(opt.Seed, 13))
	for i := range k.Rows {
		if opt.Part <= 0 || i == 0 || rng.Float64() < opt.Part {
			rows = append(rows, i)
		}
	}
	return rows
}

// sameLock fails if the lock doesn't behave as it did when the certificate was written.
func (k *checker) sameLock() error {
	r, err := k.setup.newRun()
	if err != nil {
		return err
	}
	is, err := r.behavior()
	if err == nil && is != k.Behavior {
		err = fmt.Errorf("the certificate is of another version of %s: it was written by lockstep %s, and the lock, or the engine, behaves differently now", k.Lock, k.Version)
	}
	return errors.Join(err, r.w.Close())
}

// behavior is a digest of the situations on some random schedules, which are always the same.
// They have the commands that clients are about to send. Time stops at multiples of the grid in
// some of them; and at any millisecond in others, by which another version of a lock shows that does
// the same on the grid.
func (r *run) behavior() (string, error) {
	needs, grid := r.needs, r.unit
	r.needs = nil
	defer func() { r.needs, r.unit = needs, grid }()
	rng := rand.New(rand.NewPCG(13, 2))
	var all []byte
	for n := range 400 {
		if err := r.begin(); err != nil {
			return "", err
		}
		if n == 100 {
			r.unit = time.Millisecond
		}
		if err := r.wander(rng, &all); err != nil {
			return "", err
		}
	}
	d := digestOf(all)
	return hex.EncodeToString(d[:]), nil
}

// wander plays a random schedule, and appends the digests of its situations.
func (r *run) wander(rng *rand.Rand, all *[]byte) error {
	for range 60 {
		can := r.enabled()
		m := can[rng.IntN(len(can))]
		switch {
		case m.Kind == Crashes && r.spare == len(r.cfg.Clients):
			return nil
		case m.Kind == Ticks && r.unit != r.Grid:
			r.pass(time.Duration(1+rng.Int64N(r.cfg.TTL.Milliseconds())) * time.Millisecond)
		default:
			if err := r.make(m); err != nil {
				return err
			}
		}
		d, err := r.digest()
		if err != nil {
			return err
		}
		*all = append(*all, d[:]...)
	}
	return nil
}

// numbers lists the numbers from 0 up to n.
func numbers(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}

// all calls a function for each of some situations, from several workers with a run each. It
// returns the error of the first of them that fails, in their order.
func (k *checker) all(ctx context.Context, rows []int, opt Options, do func(r *run, row int) error) error {
	t := &task{rows: rows, do: do, progress: opt.Progress, least: len(rows)}
	workers := opt.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			r, err := k.setup.newRun()
			if err != nil {
				t.fail(-1, err)
				return
			}
			t.work(ctx, r)
			if err := r.w.Close(); err != nil {
				t.fail(len(rows)-1, err)
			}
		})
	}
	wg.Wait()
	if t.err == nil && t.done < len(rows) {
		return context.Cause(ctx)
	}
	return t.err
}

// task is work on some situations that several workers share.
type task struct {
	rows     []int
	do       func(r *run, row int) error
	progress func(done, of int)

	next  atomic.Int64
	stop  atomic.Bool
	mu    sync.Mutex // guards the fields below
	done  int
	least int // of the rows that have failed
	err   error
}

// work does the remaining rows of the task.
func (t *task) work(ctx context.Context, r *run) {
	for ctx.Err() == nil && !t.stop.Load() {
		n := int(t.next.Add(1)) - 1
		if n >= len(t.rows) {
			return
		}
		if err := guarded(func() error { return t.do(r, t.rows[n]) }); err != nil {
			t.fail(n, err)
			return
		}
		t.mu.Lock()
		if t.done++; t.progress != nil && t.done%256 == 0 {
			t.progress(t.done, len(t.rows))
		}
		t.mu.Unlock()
	}
}

// fail ends the task. All rows before one that fails have been begun, and are finished.
func (t *task) fail(n int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n < t.least {
		t.least, t.err = n, err
	}
	t.stop.Store(true)
}

// guarded turns a panic of the lock's code into an error.
func guarded(do func() error) (err error) {
	defer process.CatchPanic(&err)
	return do()
}

// row checks one situation: it is the one that the certificate has, and all that comes of it
// is in the certificate.
func (k *checker) row(r *run, row int) error {
	path := k.path(row)
	refuted := func(format string, args ...any) error {
		return &Refuted{Row: row, Why: fmt.Sprintf(format, args...), Schedule: r.w.Schedule().String()}
	}
	if err := r.goTo(path); err != nil {
		return refuted("can't be reached: %s", err)
	}
	switch is, err := r.digest(); {
	case err != nil:
		return refuted("can't be written down: %s", err)
	case is != k.Rows[row].Digest:
		return refuted("is another one in the engine")
	case len(r.violated()) > 0:
		return refuted("violates %s", r.violated())
	}
	rests := r.claims(trace.PD) && r.rests()
	moves := r.enabled()
	next := make([]Digest, len(moves))
	for i, m := range moves {
		if i > 0 {
			if why := k.again(r, row, i, path); why != "" {
				return refuted("%s", why)
			}
		}
		k.moves.Add(1)
		var why string
		if next[i], why = k.follow(r, m); why != "" {
			return refuted("%s when %s", why, m)
		}
	}
	if why := k.linger(r, row, path, moves, next); why != "" {
		return refuted("%s", why)
	}
	if !rests {
		return nil
	}
	if err := r.goTo(path); err != nil {
		return err
	}
	why, err := k.drain(r)
	if err == nil && why != "" {
		err = refuted("%s", why)
	}
	return err
}

// again takes the run to a situation once more, after a detour, and returns the reason for which
// that refutes the certificate, or "".
func (k *checker) again(r *run, row, i int, path []Move) (why string) {
	rng := rand.New(rand.NewPCG(uint64(row), uint64(i)))
	if err := r.goToAfter(rng, k.Rows[0].Digest, path); err != nil {
		return "can't be reached after a detour: " + err.Error()
	}
	switch is, err := r.digest(); {
	case err != nil:
		return "can't be written down after a detour: " + err.Error()
	case is != k.Rows[row].Digest:
		return "is another one after a detour, although that leads back to the beginning"
	}
	return ""
}

// drain ends a run in which all clients are between two cycles, and returns the reason for which
// that refutes the certificate, or "".
func (k *checker) drain(r *run) (why string, err error) {
	begun, known := r.w.Now(), len(r.w.Violations())
	if err := r.w.Drain(); err != nil {
		return "", err
	}
	for _, v := range r.w.Violations()[known:] {
		switch v.Code {
		case trace.PD:
			return "violates PD: nobody holds the lock, and it can never be acquired again", nil
		case trace.BD:
			k.block(r.roundUp(v.At - begun - time.Millisecond)) // records live for a millisecond longer in a drain
		}
	}
	return "", nil
}

// block takes a time into account for which clients were kept out.
func (k *checker) block(d time.Duration) {
	for {
		if was := k.blocked.Load(); int64(d) <= was || k.blocked.CompareAndSwap(was, int64(d)) {
			return
		}
	}
}

// follow makes a move, and returns the situation that it leads to, or the reason for which that
// refutes the certificate.
func (k *checker) follow(r *run, m Move) (to Digest, why string) {
	before := r.before(m)
	if err := r.make(m); err != nil {
		return to, "fails (" + err.Error() + ")"
	}
	if v := r.violated(); len(v) > 0 {
		return to, fmt.Sprintf("violates %s", v)
	}
	if why := r.after(before); why != "" {
		return to, why
	}
	to, err := r.digest()
	switch {
	case err != nil:
		return to, "leads to a situation that can't be written down (" + err.Error() + ")"
	case !k.known[to]:
		return to, "leads to a situation that the certificate doesn't have"
	}
	return to, ""
}

func (s *setup) claims(c trace.Code) bool { return slices.Contains(s.codes, c) }

// acting is the condition of a client that is about to act, as far as [Needs] are concerned.
type acting struct {
	who, thread int // who is trace.None if no client acts
	op          process.OpKind
	need        Need
	read        bool
	granted     int // Seq of its lease's grant
	deadline    time.Duration
	stored      bool // its acquisition has stored the record
}

// before looks at the client that is about to act.
func (r *run) before(m Move) acting {
	if m.Kind != Steps && m.Kind != LosesReply {
		return acting{who: trace.None}
	}
	a := acting{who: r.as[m.Place]}
	t := r.next(a.who)
	a.op, a.need, a.read = t.Op.Kind, r.need(a.who), r.locals[a.who].read
	for i := range r.survey.Threads {
		if t == &r.survey.Threads[i] {
			a.thread = i
		}
	}
	lease := &r.w.State().Clients[a.who].Lease
	a.stored = lease.Granter > r.w.State().Clients[a.who].Began
	a.granted, a.deadline = lease.Granted, lease.Deadline
	return a
}

// after returns the reason why a client's step has depended on a span that the text of the
// situation before didn't have, or "".
func (r *run) after(a acting) string {
	if a.who == trace.None {
		return ""
	}
	l, lease := &r.locals[a.who], &r.w.State().Clients[a.who].Lease
	dropped := a.read && a.need&Reading == 0
	now := r.need(a.who)
	r.w.Survey(a.who, &r.survey)
	leased := lease.Live && lease.Deadline != trace.Never && (lease.Granted != a.granted || lease.Deadline != a.deadline)
	t := &r.survey.Threads[a.thread]
	waits := !t.Over && t.Waits && t.Op.Kind == process.OpReceive
	switch {
	case dropped && a.op == process.OpClock, dropped && l.read && now&Reading != 0:
		return "reads a clock, of which the certificate says that nothing depends on it any more,"
	case leased && r.survey.Exposes && (!a.read || dropped):
		return "has a deadline that depends on more than the situation"
	case leased && !r.survey.Exposes && (!r.Given || lease.Granted == a.granted):
		return "has a deadline that depends on when its grant was sent"
	case leased && !r.survey.Exposes && lease.Granted != a.granted && !a.stored:
		return "has a deadline that depends on when it asked for the lock"
	case a.op == process.OpReceive && waits && a.need&Sending == 0,
		now&Sending != 0 && a.need&Sending == 0 && !(a.op == process.OpSend && len(l.conns) == 1):
		return "waits for so long as depends on when a command was sent"
	}
	return ""
}
