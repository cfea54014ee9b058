package behaviour

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore/driver"
	"lockstep/sim/explore/intern"
	"lockstep/sim/explore/naming"
	"lockstep/sim/explore/readings"
	"lockstep/sim/explore/unfit"
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// MaxThreads is the number of threads that one client can have, those included that have ended in the current cycle.
const MaxThreads = 4

// History is everything that a client has observed so far, and therefore determines its next operations. Histories form a tree,
// in which a [Transition] leads from a history to its successor. The exception is the point between two cycles, at which a
// client forgets the last one: there all histories with the same cycleKey are one.
//
// Invariant: Threads[:Count] are the client's threads, and all later ones are zero.
type History struct {
	client        int
	parent        uint32                // its predecessor's id, and
	seen          Observation           // the observation made there,
	Threads       [MaxThreads]Operation // each thread's next operation
	Series        naming.SeriesSet      // of which it has seen or kept tokens
	Own           naming.SeriesSet      // that of its cycle, in a search without a bound on cycles
	Read          int32                 // the last reading of the monotonic clock, as in its observation
	Earlier       []int32               // all its readings, if those of earlier cycles count, too: see Memory
	kept          uint64                // at a point between two cycles, or the end: a digest of the lock's fields; 0 elsewhere
	fields        uint32                // there, an outline of them, which is in Clients.fields
	depth         int16                 // operations since the start, or since the last point between two cycles
	Closed        uint16                // the connections that the client has closed, a bit each
	Lasts         uint16                // those of which a server may keep a subscription or a command that waits there; if its program has ended, the open ones with a subscription
	Conns         uint8                 // how many connections it has used since the start, or the last point between two cycles
	thread        uint8                 // by which thread
	Count         uint8                 // of threads
	Given         bool                  // the lease has the deadline that the host gives it: the strategy exposes none
	BetweenCycles bool                  // the client is between two cycles, or its program has ended
	Over          bool                  // its program has ended
}

// Came returns the transition that has led to the history. It is from 0 at the client's beginning.
func (h *History) Came() Transition { return Transition{h.parent, h.thread, h.seen} }

// Single reports whether all threads but the first have ended.
func (h *History) Single() bool {
	for t := 1; t < int(h.Count); t++ {
		if !h.Threads[t].Over {
			return false
		}
	}
	return true
}

// Asks reports whether the client's program is about to ask for the lock.
func (h *History) Asks() bool { return h.Threads[0].Asks() }

// Operation is a thread's next operation.
type Operation struct {
	Kind    process.OpKind
	Over    bool        // there is none: the thread has ended
	Mark    trace.Kind  // of OpMark: the step that it takes
	Phase   trace.Phase // of the thread's program
	Wall    bool        // of OpClock: it reads the wall clock, and not the monotonic one
	Conn    uint8       // of OpSend and OpReceive: the client's connection, from 0
	Addr    uint8       // the node to which that leads, from 0
	Sleep   int32       // of OpSleep: milliseconds; 0 if another thread has ended the sleep early
	Wait    int32       // of OpReceive: the timeout that the call has set itself, in milliseconds from now on, or Forever; 0 if it has set none
	Command uint32      // of OpSend: the command's id
	Below   int64       // of OpDraw: the end of the range, in nanoseconds
	Fence   int64       // of OpRead and OpWrite: the fencing token; 0 is none
}

// Forever is the Wait of an operation that waits without a timeout.
const Forever int32 = -1

// Asks reports whether the operation is to ask for the lock.
func (p *Operation) Asks() bool {
	return !p.Over && p.Kind == process.OpMark && p.Mark == trace.KindAcquire
}

// Observation is the result of an operation, as the thread sees it.
type Observation struct {
	Kind  ObservationKind
	Value int64 // of a reply its id; of a reading milliseconds: since the first (see Memory), or for wall clocks since the Epoch; of a draw nanoseconds
}

// ObservationKind is a kind of observation.
type ObservationKind uint8

// The kinds of observation. The zero value is that of an operation without a result.
const (
	sawNothing    ObservationKind = iota
	SawReply                      // a reply, whose id is the value
	SawTimeout                    // no reply came in time
	SawRefusal                    // the connection has ended, or the resource has refused the access
	SawMono                       // a reading of the monotonic clock
	SawMonoLapsed                 // the same, after the end of the lease that the host has given
	SawWall                       // a reading of the wall clock
	SawSeries                     // nothing, at a call of Acquire: it draws its tokens from this series
	SawDraw                       // a random number
)

// Transition is a step from one history to the next: a thread performs its operation and observes the result.
type Transition struct {
	From   uint32 // the history's id
	Thread uint8  // that performs its operation
	Seen   Observation
}

// Outcome is the effect of a transition.
type Outcome struct {
	To      uint32 // the id of the history to which it leads
	Reports uint32 // the client's reports on the way: an index into Clients.Reports

	// untaken is set while no schedule has taken the transition: the search for thresholds alone
	// has tried it. Nil if a schedule was the first.
	untaken *atomic.Bool
}

// Report is a step that a client makes known, as the event of that kind.
type Report struct {
	Kind     trace.Kind
	Never    bool  // the lease has no deadline of the strategy's
	Given    bool  // the strategy exposes no deadline: the host gives the lease one
	Deadline int32 // milliseconds since the cycle's first reading of the monotonic clock
	Read     int32 // the last such reading
}

// cycleKey is all that a client still knows between two cycles.
type cycleKey struct {
	client        int
	cycle         int
	over          bool
	tokens, draws int
	lasts         uint16 // the connections with subscriptions of a client whose program has ended
	fingerprint   uint64
	read          int32 // the last reading, if readings of the next cycle go on from there
}

// Clients memoises the behaviour of clients, and runs their code for unknown transitions. Workers do that at the same time,
// each with a replayer of its own, unless clients may share variables by closures: see alone.
type Clients struct {
	cfg             sim.Config
	memory          Memory
	retoken         func(token string) string // see Servers.Retold
	spare           [][]*driver.Driver        // likewise
	tokens          *naming.Tokens
	renamed         *intern.Memo[renamed, uint32] // see Rename
	unrenamed       sync.Map                      // renamed -> error, where there is no such history
	holds           map[uint32]uint64             // see held
	failing         sync.Map                      // Transition -> error, of code that was run after it
	histories       intern.Chunks[History]
	firstTransition intern.Chunks[uint32]                        // for each history the id of the first transition found from it, or 0; atomic
	trying          bool                                         // thresholds are looked for, and no worker runs
	storesSpans     bool                                         // a number that has followed a reading was seen to be stored: see stored.go
	Outcomes        *intern.Memo[Transition, Outcome]            // one for each operation that was performed, replays aside
	Reports         intern.Chunks[[]Report]                      // the lists that outcomes refer to; the first is empty
	draws           *intern.Memo[drawing, []int64]               // see Draws
	drawn           []readings.Draw                              // see DrawAlso
	Begin           []uint32                                     // each client's first history; the last is the probe's
	commands        *intern.Summarised[string, naming.SeriesSet] // with the series of which tokens occur in them
	fields          *intern.Table[string]                        // outlines of locks' fields
	Replies         *intern.Table[string]                        // in RESP
	Ran             atomic.Int64                                 // operations that were really performed, replays included
	Captures        atomic.Bool                                  // a lock has functions that may remember things, where a cycle has ended
	tokened         atomic.Bool                                  // a client has drawn a token

	code     sync.Mutex // see alone
	mu       sync.Mutex // guards all that follows, and the adding of histories
	fresh    *intern.Memo[cycleKey, uint32]
	pool     [][]*replayer // by client
	use      int64         // counts uses of replayers
	failed   unfit.Least   // of the errors of client code: it ends the search, unless
	tolerant bool          // it is run after readings that no schedule has had
	finishes bool          // see Finish
}

// Memory says what clients may know of earlier cycles.
type Memory = driver.Memory

// replayer is a driver with the history that it is at.
type replayer struct {
	driver *driver.Driver // nil until the worker that took the replayer has started it
	at     uint32         // the history's id, or nowhere
	base   time.Duration  // the beginning of the current cycle, on the driver's clock
	last   time.Duration  // the last reading of that clock
	series int            // the series of the current cycle, in a search without a bound on cycles
	used   int64          // when it was last taken
	busy   bool           // a worker has it
}

// replayersEach is the number of replayers that a client has idle at most, and probesEach that while probes go on from many histories
// by turns, of a lock that is in no process of its own. When more workers than that need one at the same time, there are more.
const replayersEach, probesEach = 4, 16

// NewClients starts a driver for each client of a configuration and for the probe, and finds out their first operations. It
// fails if the lock's constructor panics, or if a client does something that a search can't represent.
func NewClients(cfg sim.Config, memory Memory) (*Clients, error) {
	return newClients(cfg, memory, nil, nil)
}

// newClients is NewClients with other tokens than clients draw, unless retoken is nil, and with
// drivers that others have left, by client.
func newClients(cfg sim.Config, memory Memory, retoken func(token string) string, spare [][]*driver.Driver) (*Clients, error) {
	k := &Clients{cfg: cfg, memory: memory, retoken: retoken, spare: spare, Outcomes: intern.NewMemo[Transition, Outcome](), draws: intern.NewMemo[drawing, []int64](), fresh: intern.NewMemo[cycleKey, uint32](),
		renamed: intern.NewMemo[renamed, uint32](), holds: map[uint32]uint64{}, Replies: intern.NewTable[string](), fields: intern.NewTable[string]()}
	var names []string
	for _, c := range cfg.Clients {
		names = append(names, c.Name)
	}
	k.tokens = naming.NewTokens(cfg.Seed, names, !memory.Uncounted)
	k.commands = intern.NewSummarised(k.tokens.Series)
	k.add(History{})
	k.Reports.Add(nil)
	for i := range len(cfg.Clients) + 1 { // and the probe
		r := new(replayer)
		k.pool = append(k.pool, []*replayer{r})
		if err := k.start(r, i); err != nil {
			return nil, err
		}
		if err := k.beginsWith(r, i); err != nil {
			return nil, err
		}
		h := History{client: i}
		if err := k.describe(&h, r); err != nil {
			return nil, err
		}
		r.at = k.add(h)
		k.Begin = append(k.Begin, r.at)
	}
	return k, nil
}

// Close ends all drivers, and returns the first error.
func (k *Clients) Close() error {
	var first error
	for _, replayers := range k.pool {
		for _, r := range replayers {
			if r.driver == nil {
				continue // it could not be started
			}
			if err := r.driver.Close(); err != nil && first == nil {
				first = err
			}
		}
	}
	return first
}

// start gives a new replayer its driver. That takes long, so other workers go on meanwhile: it is called without mu.
func (k *Clients) start(r *replayer, client int) (err error) {
	defer k.alone()()
	return k.launch(r, client)
}

// launch is start for a caller that keeps other workers from running client code.
func (k *Clients) launch(r *replayer, client int) (err error) {
	defer process.CatchPanic(&err)
	r.base, r.last = readings.Beginning, readings.Beginning
	if k.retoken == nil {
		r.driver, err = driver.New(k.cfg, client)
		return err
	}
	if n := len(k.spare[client]); n > 0 {
		r.driver, k.spare[client] = k.spare[client][n-1], k.spare[client][:n-1]
	} else if r.driver, err = driver.New(k.cfg, client); err != nil {
		return err
	}
	r.driver.Retoken(k.retoken)
	return r.driver.Reset()
}

// add keeps a new history, and returns its id.
func (k *Clients) add(h History) uint32 {
	k.firstTransition.Add(0)
	return k.histories.Add(h)
}

// At returns the history with an id. It must not be changed.
func (k *Clients) At(id uint32) *History { return k.histories.At(id) }

// Single reports whether no client was seen to have another thread besides its first.
func (k *Clients) Single() bool {
	for id := range k.histories.Count.Load() {
		if !k.At(id).Single() {
			return false
		}
	}
	return true
}

// After returns the outcome of a transition. It runs the client's code if the outcome is
// not known yet, and fails with [Nondeterminism], [Endless], a panic of that code, or an
// error of an operation that a search can't represent: each time, once it has failed.
func (k *Clients) After(tr Transition) (Outcome, error) {
	if n := atomic.LoadUint32(k.firstTransition.At(tr.From)); n != 0 {
		if only := k.Outcomes.Entries.At(n); only.Key == tr {
			return k.taken(&only.Value), nil
		}
		if out, known := k.Outcomes.Get(tr); known {
			return k.taken(out), nil
		}
	}
	if err, known := k.failing.Load(tr); known {
		return Outcome{}, err.(error)
	}
	r, err := k.take(tr.From)
	if err != nil {
		return Outcome{}, err
	}
	out, err := k.explore(r, tr)
	if err == nil {
		k.runOn(r, out.To)
	} else {
		k.failing.Store(tr, err)
	}
	k.giveBack(r, err)
	return out, err
}

// taken notes that a schedule takes a transition with this outcome, unless it is only tried.
func (k *Clients) taken(out *Outcome) Outcome {
	if out.untaken != nil && !k.trying && out.untaken.Load() {
		out.untaken.Store(false)
	}
	return *out
}

// Told goes through the reports that clients have made in schedules.
func (k *Clients) Told(yield func(Report) bool) {
	for n := uint32(1); n <= uint32(k.Outcomes.Len()); n++ {
		out := &k.Outcomes.Entries.At(n).Value
		if out.untaken != nil && out.untaken.Load() {
			continue
		}
		for _, r := range *k.Reports.At(out.Reports) {
			if !yield(r) {
				return
			}
		}
	}
}

// runOn goes on from a history as long as there is only one successor, because the client's operations have no result. The
// replayer is there now, and to bring one back later would cost a whole replay. An error is left to the transition that really
// needs the outcome, if there ever is one.
func (k *Clients) runOn(r *replayer, id uint32) {
	for {
		tr := Transition{From: id}
		if _, known := k.Outcomes.Get(tr); known || r.at != id || !k.unobserving(k.At(id)) {
			return
		}
		out, err := k.explore(r, tr)
		if err != nil {
			return
		}
		id = out.To
	}
}

// unobserving reports whether the client has only one thread, and that is about to perform an operation without a result.
func (k *Clients) unobserving(h *History) bool {
	if !h.Single() {
		return false
	}
	switch p := &h.Threads[0]; p.Kind {
	case process.OpStart, process.OpSend, process.OpMark, process.OpSleep:
		return !p.Over && !(k.memory.Uncounted && p.Asks())
	case process.OpRead, process.OpWrite:
		return !p.Over && k.cfg.Resource == sim.Plain
	}
	return false
}

// explore makes a transition with a replayer, and memoises the outcome. If two workers make the same transition, the second
// finds the outcome known, and must have come to an equal history.
func (k *Clients) explore(r *replayer, tr Transition) (Outcome, error) {
	h, reports, key, err := k.carryOut(r, tr)
	r.at = nowhere // until the id of the history is known
	if err != nil {
		return Outcome{}, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if known, is := k.Outcomes.Get(tr); is {
		if i := differ(k.At(known.To), h); i >= 0 {
			return Outcome{}, k.nondeterministic(h.client, k.At(known.To).plan(i), h.plan(i))
		}
		r.at = k.standsAt(known.To, tr)
		return *known, nil
	}
	out := Outcome{To: k.place(h, key), Reports: k.Reports.Add(reports)}
	if k.trying {
		out.untaken = new(atomic.Bool)
		out.untaken.Store(true)
	}
	n := k.Outcomes.Put(tr, out)
	atomic.CompareAndSwapUint32(k.firstTransition.At(tr.From), 0, n)
	r.at = k.standsAt(out.To, tr)
	return out, nil
}

// alone keeps other workers from running client code until its result is called, if the
// lock may keep variables in closures. Clients share those, and a lock that doesn't guard
// them is to fail as nondeterministic, and not to crash the program by a data race.
//
// Lock order: a worker that holds code must not lock mu.
func (k *Clients) alone() func() {
	if !k.memory.Closures {
		return func() {}
	}
	k.code.Lock()
	return k.code.Unlock
}

// nowhere is the position of a replayer that has to start anew.
const nowhere = 0

// standsAt is the position of a replayer after a transition: the history, if that was first found by this transition. A client
// that has joined it by another one behaves alike from there on, but its replay would be different.
func (k *Clients) standsAt(id uint32, tr Transition) uint32 {
	if k.At(id).Came() != tr {
		return nowhere
	}
	return id
}

// carryOut runs the client's code for a transition, after a replay of its history if the
// replayer is elsewhere. The key is nil unless the transition ends a cycle.
func (k *Clients) carryOut(r *replayer, tr Transition) (h *History, reports []Report, key *cycleKey, err error) {
	defer k.alone()()
	defer process.CatchPanic(&err)
	if r.at != tr.From {
		if err := k.replay(r, tr.From); err != nil {
			return nil, nil, nil, err
		}
	}
	r.driver.Guard(true) // the next operation may come from a goroutine of the lock's own
	defer r.driver.Guard(false)
	from := k.At(tr.From)
	if reports, err = k.feed(r, from.client, tr); err != nil {
		return nil, nil, nil, k.located(r, tr, err)
	}
	next := *from
	h = &next
	h.parent, h.thread, h.seen, h.depth = tr.From, tr.Thread, tr.Seen, from.depth+1
	if h.depth > maxDepth {
		return nil, nil, nil, &Endless{Client: k.name(h.client), Operations: maxDepth, Source: k.lineAt(r, k.pathTo(tr.From), 0)}
	}
	h.follow(reports)
	if k.memory.GoesOn() && (tr.Seen.Kind == SawMono || tr.Seen.Kind == SawMonoLapsed) && !slices.Contains(h.Earlier, int32(tr.Seen.Value)) {
		h.Earlier = append(slices.Clone(h.Earlier), int32(tr.Seen.Value))
	}
	switch {
	case tr.Seen.Kind == SawReply && k.memory.Uncounted:
		h.Series |= k.tokens.Series(k.Replies.Value(uint32(tr.Seen.Value)))
	case tr.Seen.Kind == SawSeries:
		h.Own = naming.SeriesSet(0).With(h.client, naming.Series(tr.Seen.Value))
	}
	if err := k.overdrawn(r, h.client); err != nil {
		return nil, nil, nil, k.located(r, tr, err)
	}
	if tr.Seen.Kind == SawMono || tr.Seen.Kind == SawMonoLapsed {
		h.Read = int32(tr.Seen.Value)
	}
	for i := range reports {
		reports[i].Read = h.Read
	}
	if key, err = k.ending(r, h); err != nil {
		return nil, nil, nil, err
	}
	if err := k.describe(h, r); err != nil {
		return nil, nil, nil, k.located(r, tr, err)
	}
	return h, reports, key, nil
}

// ending returns the key of a history at which a cycle has ended, or nil. The client has then forgotten the cycle, and
// histories with equal keys are one. It refuses a lock that keeps something in a field which it can't look into.
func (k *Clients) ending(r *replayer, h *History) (*cycleKey, error) {
	h.BetweenCycles, h.Over, h.kept, h.fields = false, false, 0, 0
	others := false
	for i := 1; i < r.driver.Threads(); i++ {
		others = others || !r.driver.Operation(i).Over
	}
	main := r.driver.Operation(0)
	h.Over = main.Over && !others
	between := !others && main.Kind == process.OpMark && main.Mark == trace.KindAcquire
	if !h.Over && !between {
		return nil, nil
	}
	kept, err := r.driver.Fingerprint()
	if h.fields = k.fields.ID(kept.Outline); kept.Captures {
		k.Captures.Store(true)
	}
	if h.kept = kept.Digest; !h.Over && k.memory.Closures {
		return nil, nil
	}
	if open := r.driver.Open(&kept); open != "" && !h.Over {
		return nil, k.LeavesOpen(h.parent, open)
	}
	if err != nil && !k.memory.Closures {
		return nil, k.unseen(h.client, err)
	}
	tokens, draws := r.driver.Draws()
	key := &cycleKey{client: h.client, cycle: r.driver.Acquired(), over: h.Over, tokens: tokens, draws: draws, fingerprint: kept.Digest}
	if h.Series, h.Own = 0, 0; k.memory.Uncounted {
		key.cycle, key.tokens, key.draws = 0, 0, 0
		for _, text := range kept.Texts {
			h.Series |= k.tokens.Series(&text)
		}
	}
	if h.Over {
		key.lasts = r.driver.Subscriptions()
	}
	if key.lasts == 0 {
		k.newCycle(r)
	}
	h.BetweenCycles, h.Given = true, false
	if key.read = h.Read; !k.memory.GoesOn() {
		h.Read, key.read = 0, 0
	}
	h.depth = 0 // the limit is for each cycle: the first path that was found to this point is arbitrary
	return key, nil
}

// newCycle prepares a replayer that is between two cycles for the next.
func (k *Clients) newCycle(r *replayer) {
	r.driver.ForgetCycle()
	if !k.memory.GoesOn() {
		r.base = r.last + readings.Beginning
	}
}

// place returns a history's id: a new one, unless there is a history with the same key.
func (k *Clients) place(h *History, key *cycleKey) uint32 {
	if key == nil {
		return k.add(*h)
	}
	if known, is := k.fresh.Get(*key); is {
		return *known
	}
	id := k.add(*h)
	k.fresh.Put(*key, id)
	return id
}

// follow keeps track of whether the host gives the client's lease its deadline. All else
// that the client reports belongs to the facts of a state.
func (h *History) follow(reports []Report) {
	for _, r := range reports {
		if r.Kind == trace.KindGranted || r.Kind == trace.KindExtended {
			h.Given = r.Given
		}
	}
}

// describe fills in the threads' next operations. It fails if a search can't represent them.
func (k *Clients) describe(h *History, r *replayer) error {
	n := r.driver.Threads()
	if n > MaxThreads {
		return &unfitOperation{Refusal{Client: k.name(h.client), What: fmt.Sprintf("thread number %d", n),
			Why: fmt.Sprintf("it follows %d of a client, those included that have ended in the cycle; keep one for all renewals", MaxThreads)}, n - 1}
	}
	h.Count, h.Threads, h.Closed = uint8(n), [MaxThreads]Operation{}, 0 // n is MaxThreads at most
	for i := range n {
		op := r.driver.Operation(i)
		if err := k.unfit(h.client, i, op); err != nil {
			return err
		}
		pn := Operation{Kind: op.Kind, Over: op.Over, Mark: op.Mark, Phase: op.Phase, Wall: op.Wall, Wait: waitOf(op),
			Conn: uint8(op.Conn), Addr: uint8(op.Addr), Sleep: sleepOf(op), Below: int64(op.Below), Fence: op.Fence}
		if op.Kind == process.OpSend && !op.Over {
			pn.Command = k.commands.ID(intern.Pack(op.Args))
		}
		h.Threads[i] = pn
	}
	for c := range MaxConns {
		if r.driver.Closed(c) {
			h.Closed |= 1 << c
		}
	}
	if h.Lasts = r.driver.Lasting(); h.Over {
		h.Lasts = r.driver.Subscriptions()
	}
	h.Conns = uint8(min(MaxConns, r.driver.Conns()))
	return nil
}

// feed has a thread of a replayer perform its operation and observe the transition's
// result. It returns the client's reports.
func (k *Clients) feed(r *replayer, client int, tr Transition) ([]Report, error) {
	k.Ran.Add(1)
	seen := driver.Observation{}
	switch tr.Seen.Kind {
	case SawReply:
		seen.Reply = []byte(*k.Replies.Value(uint32(tr.Seen.Value)))
	case SawTimeout:
		seen.Timeout = true
	case SawRefusal:
		seen.Refused = true
	case SawMono, SawMonoLapsed:
		seen.Lapsed = tr.Seen.Kind == SawMonoLapsed
		seen.Now = r.base + time.Duration(tr.Seen.Value)*time.Millisecond
		r.last = seen.Now
	case SawSeries:
		r.series = int(tr.Seen.Value)
		r.driver.BeginSeries(r.series)
	case SawWall:
		seen.Now = 0
		seen.Offset = time.Duration(tr.Seen.Value) * time.Millisecond
	case SawDraw:
		seen.Draw = time.Duration(tr.Seen.Value)
	}
	var out []Report
	for _, reported := range r.driver.Step(int(tr.Thread), seen) {
		report := Report{Kind: reported.Kind}
		if reported.Kind == trace.KindGranted || reported.Kind == trace.KindExtended {
			if rel := reported.Deadline - r.base; reported.Deadline == trace.Never || reported.Given {
				report.Never = true
			} else if millis, err := k.deadlineOf(client, rel); err != nil {
				return nil, err
			} else {
				report.Deadline = millis
			}
			report.Given = reported.Given
		}
		out = append(out, report)
	}
	return out, nil
}

// take reserves a replayer for a history, and starts it if it is new.
func (k *Clients) take(id uint32) (*replayer, error) {
	r, err := k.choose(id)
	if err != nil || r.driver != nil {
		return r, err
	}
	if err = k.start(r, k.At(id).client); err != nil {
		k.Finish(false) // each that needs one would try again
		k.giveBack(r, err)
	}
	return r, err
}

// Finish sets whether other code is run after some has failed, for a search to come to all errors that it could have
// been the first to meet with.
func (k *Clients) Finish(on bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.finishes = on
}

// Failed returns the least error of client code so far, or nil. It is set even if the code that failed was run ahead, or
// succeeds when it is run again.
func (k *Clients) Failed() error { return k.failed.Err() }

// choose reserves an idle replayer: one that is at the history already, or a new one, or
// the one that has been idle longest. It fails if client code has failed before.
func (k *Clients) choose(id uint32) (r *replayer, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.failed.Err(); err != nil && !k.finishes {
		return nil, err
	}
	client, most := k.At(id).client, replayersEach
	if k.trying && !k.memory.Closures {
		most = probesEach
	}
	for _, other := range k.pool[client] {
		switch {
		case other.busy:
		case r == nil, other.at == id, r.at != id && other.used < r.used:
			r = other
		}
	}
	if r == nil || r.at != id && len(k.pool[client]) < most {
		r = new(replayer)
		k.pool[client] = append(k.pool[client], r)
	}
	k.use++
	r.used, r.busy = k.use, true
	return r, nil
}

// giveBack makes a replayer idle again, and keeps the error of client code.
func (k *Clients) giveBack(r *replayer, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	r.busy = false
	if !k.tolerant {
		k.failed.Add(err)
	}
}

// tolerate turns on or off that errors of client code count for nothing, and returns whether it was on.
func (k *Clients) tolerate(on bool) (was bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	was, k.tolerant = k.tolerant, on
	return was
}

// replay takes a replayer to a history by the path on which that was first found.
func (k *Clients) replay(r *replayer, id uint32) error {
	path := k.pathTo(id)
	n, err := k.walk(r, path)
	if differs, is := err.(*Nondeterminism); is {
		differs.Source = k.lineAt(r, path[:n], 0)
	}
	if r.at = id; err != nil {
		r.at = nowhere
	}
	return err
}

// pathTo lists the histories from the first, which is left out, to the given one.
func (k *Clients) pathTo(id uint32) (path []uint32) {
	for at := id; k.At(at).parent != 0; at = k.At(at).parent {
		path = append(path, at)
	}
	slices.Reverse(path)
	return path
}

// walk takes a replayer from the start along a path, and checks after each step that the
// client's next operations are those that are known. n is the number of steps made: on an
// error of [Clients.faithful] the last of them is the one after which they differ.
func (k *Clients) walk(r *replayer, path []uint32) (n int, err error) {
	if err := r.driver.Reset(); err != nil {
		return 0, err
	}
	r.base, r.last = readings.Beginning, readings.Beginning
	for n, at := range path {
		h := k.At(at)
		if _, err := k.feed(r, h.client, h.Came()); err != nil {
			return n, err
		}
		if h.BetweenCycles && !(h.Over && h.Lasts != 0) {
			k.newCycle(r)
		}
		if err := k.faithful(r, at); err != nil {
			return n + 1, err
		}
	}
	return len(path), nil
}

// lineAt finds the line of the lock's code that a thread of a client has reached after a path.
func (k *Clients) lineAt(r *replayer, path []uint32, thread int) trace.Source {
	r.driver.RecordSources(true)
	defer r.driver.RecordSources(false)
	if n, err := k.walk(r, path); n < len(path) || err != nil && len(path) == 0 {
		return trace.Source{} // the client behaves differently every time
	}
	return r.driver.Operation(thread).Source
}

// Recheck replays some of the histories, from all over the tree. A search makes each transition once, so without that it would
// miss code that behaves differently each time. And it tries some of the joins between cycles: see rejoin. It must not be
// called while workers run, and fails with [Nondeterminism] or [Remembering]. Which are replayed, and by which way each history
// was found that others were joined with, depends on the workers' pace.
func (k *Clients) Recheck() error {
	const rechecks = 1000
	n := k.histories.Count.Load()
	var some []uint32
	for id := uint32(1); id < n; id += 1 + n/rechecks {
		some = append(some, id)
	}
	passed := make([]bool, n)
	for _, id := range slices.Backward(some) { // one that leads to another is replayed with it, and was found before it
		if passed[id] {
			continue
		}
		for _, at := range k.pathTo(id) {
			passed[at] = true
		}
		if err := k.again(k.pool[k.At(id).client][0], id); err != nil {
			return err
		}
	}
	return k.rejoinSome()
}

// again replays a history, and checks that each operation is announced by a thread of the client's.
func (k *Clients) again(r *replayer, id uint32) error {
	r.driver.Guard(true)
	defer r.driver.Guard(false)
	return k.replay(r, id)
}

// faithful fails with [Nondeterminism] unless a replayer's threads are about to perform the history's next operations. If
// they aren't, the strategy depends on something besides its observations.
func (k *Clients) faithful(r *replayer, id uint32) error {
	is := *k.At(id)
	if err := k.describe(&is, r); err != nil {
		return err
	}
	if i := differ(k.At(id), &is); i >= 0 {
		return k.nondeterministic(is.client, k.At(id).plan(i), is.plan(i))
	}
	return nil
}

// differ returns the first thread whose next operations differ between two histories, or -1.
func differ(a, b *History) int {
	for i := range max(a.Count, b.Count) {
		p, q := a.plan(int(i)), b.plan(int(i))
		same := p.Over == q.Over
		if same && !p.Over {
			same = p.Kind == q.Kind && p.Wall == q.Wall && p.Conn == q.Conn && p.Mark == q.Mark && p.Command == q.Command && p.Sleep == q.Sleep && p.Wait == q.Wait && p.Below == q.Below
		}
		if !same {
			return int(i)
		}
	}
	return -1
}

// plan returns a thread's next operation. A thread that does not exist has none.
func (h *History) plan(thread int) Operation {
	if thread >= int(h.Count) {
		return Operation{Over: true}
	}
	return h.Threads[thread]
}

// name returns the name of a client, or of the probe, which comes after all clients.
func (k *Clients) name(client int) string {
	if client == len(k.cfg.Clients) {
		return trace.Probe
	}
	return k.cfg.Clients[client].Name
}

func (k *Clients) nondeterministic(client int, once, again Operation) error {
	return &Nondeterminism{Client: k.name(client), Once: k.planText(once), Again: k.planText(again)}
}

// maxDepth is the number of operations that a client can perform within a cycle, or in its whole run where cycles don't
// join. Nine cycles of a lock on five nodes take some 400. Code that goes on for longer polls, and the time of its replays
// would grow with the square of the number.
const maxDepth = 1000

func (k *Clients) planText(p Operation) string {
	switch {
	case p.Over:
		return "nothing"
	case p.Kind == process.OpSend:
		return trace.CommandText(intern.Unpack(*k.commands.Value(p.Command)))
	case p.Kind == process.OpSleep:
		return "a sleep of " + trace.Duration(time.Duration(p.Sleep)*time.Millisecond)
	case p.Kind == process.OpMark:
		return p.Mark.String()
	case p.Kind == process.OpReceive && p.Wait > 0:
		return "waiting for a message or a reply, for " + trace.Duration(time.Duration(p.Wait)*time.Millisecond)
	case p.Kind == process.OpDraw:
		return "a random number below " + trace.Duration(time.Duration(p.Below))
	}
	return [...]string{process.OpStart: "its start", process.OpReceive: "waiting for a reply", process.OpClock: "a look at a clock", process.OpRead: "a read", process.OpWrite: "a write"}[p.Kind]
}

// Needs are the spans on which a client's behaviour is known to depend. Of histories that
// are newer than they are, nothing is known.
type Needs struct {
	// Reading is set of a history after which the client reads its monotonic clock again in
	// the cycle, or reports a deadline that it has computed from a reading.
	Reading []bool
	// Sending is set of one after which it waits for another reply to its commands.
	Sending []bool
	Given   bool // some lease has the deadline that the host gives it
}

// Needs returns the known needs of the clients. It must not be called while workers run.
func (k *Clients) Needs() *Needs {
	n := k.histories.Count.Load()
	children := make([][]Outcome, n)
	for i := uint32(1); i <= uint32(k.Outcomes.Len()); i++ {
		e := k.Outcomes.Entries.At(i)
		children[e.Key.From] = append(children[e.Key.From], e.Value)
	}
	needs := &Needs{make([]bool, n), make([]bool, n), false}
	may := needs.Reading
	for id := n - 1; id > 0; id-- { // a history of a cycle comes after those on its way
		for _, p := range k.At(id).Threads[:k.At(id).Count] {
			may[id] = may[id] || p.Kind == process.OpClock && !p.Over && !p.Wall
		}
		for _, out := range children[id] {
			next := k.At(out.To)
			for t, p := range k.At(id).Threads[:k.At(id).Count] {
				needs.Sending[id] = needs.Sending[id] || p.Kind == process.OpReceive && int(next.thread) == t && next.Threads[t].Kind == process.OpReceive
			}
			may[id] = may[id] || !k.At(out.To).BetweenCycles && may[out.To]
			for _, r := range *k.Reports.At(out.Reports) {
				deadline := r.Kind == trace.KindGranted || r.Kind == trace.KindExtended
				may[id] = may[id] || deadline && !r.Never && !r.Given
				needs.Given = needs.Given || r.Given
			}
		}
	}
	return needs
}
