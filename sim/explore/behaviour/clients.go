package behaviour

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore/driver"
	"lockstep/sim/explore/intern"
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// MaxThreads is how many threads of one client can be under way.
const MaxThreads = 4

// History is a point in a client's life: all that it has seen so far, and so all
// that it does next. Moments form a tree, whose edges are what it sees; except that
// between two cycles, when it remembers nothing of the last, the branches join.
type History struct {
	client        int
	parent        uint32
	seen          Observation
	Threads       [MaxThreads]Operation
	depth         int16
	Closed        uint16 // the connections that it has closed
	thread        uint8
	Count         uint8 // of threads
	Given         bool  // its lease has the deadline that the world gives it
	BetweenCycles bool  // between two cycles
	Over          bool
}

// Operation is a thread's next operation.
type Operation struct {
	Kind    process.OpKind
	Over    bool
	Mark    trace.Kind
	Phase   trace.Phase
	Wall    bool
	Conn    uint8
	Addr    uint8
	Sleep   int32 // milliseconds
	Command uint32
	Fence   int32
}

// Observation is what a thread has seen: a reply, a reading, or that there was none.
type Observation struct {
	Kind  ObservationKind
	Value int64 // of a reply its number; of a reading milliseconds: since the cycle's first, or for wall clocks since the Epoch
}

type ObservationKind uint8

const (
	sawNothing ObservationKind = iota
	SawReply
	SawTimeout
	SawRefusal
	SawMono
	SawMonoLapsed // and the lease that the world has given it is over
	SawWall
)

// Transition is a step in the tree.
type Transition struct {
	From   uint32
	Thread uint8
	Seen   Observation
}

// Outcome is where an edge leads, and what the client lets be known on the way.
type Outcome struct {
	To      uint32
	Reports uint32 // a list in tellings
}

// Report is what a client let be known; a deadline is in milliseconds since the
// cycle's first reading of the monotonic clock.
type Report struct {
	Kind     trace.Kind
	Never    bool
	Given    bool // the strategy exposes none: the world gives it one
	Deadline int32
}

// cycleKey is what a client still knows between two cycles.
type cycleKey struct {
	client        int
	cycle         int
	over          bool
	tokens, draws int
	fingerprint   uint64
}

// Clients is what is known of how clients behave. It grows by running their code:
// workers do that at the same time, each with a player of its own, unless the code may
// share something between clients that are none of its business.
type Clients struct {
	cfg             sim.Config
	remembers       bool // see Bounds
	histories       intern.Chunks[History]
	firstTransition intern.Chunks[uint32] // of each the number of the first edge that was found from there; atomic
	Outcomes        *intern.Memo[Transition, Outcome]
	Reports         intern.Chunks[[]Report]
	Begin           []uint32 // each client's first moment
	commands        *intern.Table[string]
	Replies         *intern.Table[string]
	Ran             atomic.Int64 // operations that were really carried out

	code  sync.Mutex // see alone
	mu    sync.Mutex // of who adds a moment, or takes a player
	fresh map[cycleKey]uint32
	pool  [][]*replayer // by client
	use   int64
	fault error
}

// replayer is a puppet that stands at some moment.
type replayer struct {
	driver *driver.Driver // nil until it is hired, by whoever has the player
	at     uint32
	base   time.Duration // when the current cycle began, on the clock by which it is fed
	last   time.Duration
	used   int64
	busy   bool // somebody has it
}

const replayersEach = 4

func NewClients(cfg sim.Config, remembers bool) (*Clients, error) {
	k := &Clients{cfg: cfg, remembers: remembers, Outcomes: intern.NewMemo[Transition, Outcome](), fresh: map[cycleKey]uint32{},
		commands: intern.NewTable[string](), Replies: intern.NewTable[string]()}
	k.add(History{})
	k.Reports.Add(nil)
	for i := range len(cfg.Clients) + 1 { // and the probe
		pl := new(replayer)
		k.pool = append(k.pool, []*replayer{pl})
		if err := k.start(pl, i); err != nil {
			return nil, err
		}
		m := History{client: i}
		if err := k.describe(&m, pl); err != nil {
			return nil, err
		}
		pl.at = k.add(m)
		k.Begin = append(k.Begin, pl.at)
	}
	return k, nil
}

func (k *Clients) Close() error {
	var first error
	for _, crew := range k.pool {
		for _, pl := range crew {
			if pl.driver == nil {
				continue // it could not be hired
			}
			if err := pl.driver.Close(); err != nil && first == nil {
				first = err
			}
		}
	}
	return first
}

// start gives a new player its puppet, which takes long: the others go on meanwhile.
func (k *Clients) start(pl *replayer, client int) (err error) {
	defer k.alone()()
	defer CatchPanic(&err)
	pl.driver, err = driver.New(k.cfg, client)
	return err
}

// CatchPanic makes an error of a panic in the lock's code.
func CatchPanic(err *error) {
	switch v := recover().(type) {
	case nil:
	case *process.Panic:
		*err = v
	default:
		panic(v)
	}
}

// add is the number of a new moment.
func (k *Clients) add(m History) uint32 {
	k.firstTransition.Add(0)
	return k.histories.Add(m)
}

// At is a moment.
func (k *Clients) At(id uint32) *History { return k.histories.At(id) }

// After is where an edge leads. If nobody has gone there yet, the client's own
// code is run.
func (k *Clients) After(e Transition) (Outcome, error) {
	if n := atomic.LoadUint32(k.firstTransition.At(e.From)); n != 0 {
		if only := k.Outcomes.Entries.At(n); only.Key == e {
			return only.Value, nil
		}
		if a, known := k.Outcomes.Get(e); known {
			return *a, nil
		}
	}
	pl, err := k.take(e.From)
	if err != nil {
		return Outcome{}, err
	}
	a, err := k.explore(pl, e)
	if err == nil {
		k.runOn(pl, a.To)
	}
	k.giveBack(pl, err)
	return a, err
}

// runOn goes on from a moment as long as there is only one way: while the client
// does things that show it nothing. The player stands there now; to bring one back
// later would cost the whole way again. What goes wrong there is for whoever really
// goes there: it may be nobody.
func (k *Clients) runOn(pl *replayer, id uint32) {
	for {
		e := Transition{From: id}
		if _, known := k.Outcomes.Get(e); known || pl.at != id || !k.unobserving(k.At(id)) {
			return
		}
		a, err := k.explore(pl, e)
		if err != nil {
			return
		}
		id = a.To
	}
}

// unobserving: the client has one thread, which is about to do what shows it nothing.
func (k *Clients) unobserving(m *History) bool {
	for t := 1; t < int(m.Count); t++ {
		if !m.Threads[t].Over {
			return false
		}
	}
	switch p := &m.Threads[0]; p.Kind {
	case process.OpStart, process.OpSend, process.OpMark, process.OpSleep:
		return !p.Over
	case process.OpRead, process.OpWrite:
		return !p.Over && k.cfg.Resource == sim.Plain
	}
	return false
}

// explore lets a player go along an edge. If two workers do so, the second finds it
// known, and has to have come to the same.
func (k *Clients) explore(pl *replayer, e Transition) (Outcome, error) {
	m, told, key, err := k.carryOut(pl, e)
	pl.at = nowhere // until it is known where it has come to
	if err != nil {
		return Outcome{}, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if known, is := k.Outcomes.Get(e); is {
		if i := differ(k.At(known.To), m); i >= 0 {
			return Outcome{}, k.nondeterministic(m.client, k.At(known.To).plan(i), m.plan(i))
		}
		pl.at = k.standsAt(known.To, e)
		return *known, nil
	}
	a := Outcome{To: k.place(m, key), Reports: k.Reports.Add(told)}
	n := k.Outcomes.Put(e, a)
	atomic.CompareAndSwapUint32(k.firstTransition.At(e.From), 0, n)
	pl.at = k.standsAt(a.To, e)
	return a, nil
}

// alone keeps other workers from running client code until its result is called, if
// the lock is one that may have variables in closures: its clients share them, and a
// lock without a guard for them is to be told that it isn't deterministic, and not to
// end the program. Who has code may ask for mu only when it is given back.
func (k *Clients) alone() func() {
	if !k.remembers {
		return func() {}
	}
	k.code.Lock()
	return k.code.Unlock
}

// nowhere is where a player stands that can't be relied on.
const nowhere = 0

// standsAt is where a player has come along an edge: at the moment, if that was found
// on this way. Who has joined it on another goes on like all that are there, but has
// another past.
func (k *Clients) standsAt(id uint32, e Transition) uint32 {
	if m := k.At(id); (Transition{m.parent, m.thread, m.seen}) != e {
		return nowhere
	}
	return id
}

// carryOut runs the client's code along an edge, after the way to its beginning if
// the player stands elsewhere. The key is that of the cycle's end, if it is one.
func (k *Clients) carryOut(pl *replayer, e Transition) (m *History, told []Report, key *cycleKey, err error) {
	defer k.alone()()
	defer CatchPanic(&err)
	if pl.at != e.From {
		if err := k.replay(pl, e.From); err != nil {
			return nil, nil, nil, err
		}
	}
	pl.driver.Guard(true) // it may be a goroutine of the lock's own that goes on
	defer pl.driver.Guard(false)
	from := k.At(e.From)
	if told, err = k.feed(pl, from.client, e); err != nil {
		return nil, nil, nil, err
	}
	next := *from
	m = &next
	m.parent, m.thread, m.seen, m.depth = e.From, e.Thread, e.Seen, from.depth+1
	if m.depth > maxDepth {
		return nil, nil, nil, &Endless{Client: k.name(m.client), Operations: maxDepth, Source: k.lineAt(pl, k.wayTo(e.From))}
	}
	m.follow(told)
	key = k.ending(pl, m)
	return m, told, key, k.describe(m, pl)
}

// ending tells whether the client has come to the end of a cycle, where it has
// forgotten how it came there and branches join: in one moment for each key.
func (k *Clients) ending(pl *replayer, m *History) *cycleKey {
	m.BetweenCycles, m.Over = false, false
	others := false
	for i := 1; i < pl.driver.Threads(); i++ {
		others = others || !pl.driver.Operation(i).Over
	}
	main := pl.driver.Operation(0)
	m.Over = main.Over && !others
	between := !others && main.Kind == process.OpMark && main.Mark == trace.KindAcquire
	if !m.Over && (!between || k.remembers) {
		return nil
	}
	tokens, draws := pl.driver.Draws()
	key := &cycleKey{client: m.client, cycle: pl.driver.Acquired(), over: m.Over, tokens: tokens, draws: draws, fingerprint: pl.driver.Fingerprint()}
	pl.driver.ForgetCycle()
	pl.base = pl.last + time.Hour
	m.BetweenCycles, m.Given = true, false
	m.depth = 0 // it is the cycles that have to come to an end, whichever way there was the first
	return key
}

// place is the number of a moment: a new one, unless it joins others.
func (k *Clients) place(m *History, key *cycleKey) uint32 {
	if key == nil {
		return k.add(*m)
	}
	id, known := k.fresh[*key]
	if !known {
		id = k.add(*m)
		k.fresh[*key] = id
	}
	return id
}

// follow follows whose deadline the client's lease has. All else that the client lets be
// known is folded into its facts.
func (m *History) follow(told []Report) {
	for _, t := range told {
		if t.Kind == trace.KindGranted {
			m.Given = t.Given
		}
	}
}

// describe notes what the threads are about to do.
func (k *Clients) describe(m *History, pl *replayer) error {
	n := pl.driver.Threads()
	if n > MaxThreads {
		return fmt.Errorf("%s has started %d threads, more than %d", k.name(m.client), n, MaxThreads)
	}
	m.Count, m.Threads, m.Closed = uint8(n), [MaxThreads]Operation{}, 0
	for i := range n {
		op := pl.driver.Operation(i)
		if op.Sleep%time.Millisecond != 0 {
			return fmt.Errorf("%s sleeps for %s: the search counts in whole milliseconds", k.name(m.client), op.Sleep)
		}
		pn := Operation{Kind: op.Kind, Over: op.Over, Mark: op.Mark, Phase: op.Phase, Wall: op.Wall,
			Conn: uint8(op.Conn), Addr: uint8(op.Addr), Sleep: int32(op.Sleep / time.Millisecond), Fence: int32(op.Fence)}
		if op.Kind == process.OpSend && !op.Over {
			pn.Command = k.commands.ID(pack(op.Args))
		}
		m.Threads[i] = pn
	}
	for c := range 16 {
		if pl.driver.Closed(c) {
			m.Closed |= 1 << c
		}
	}
	return nil
}

// pack and unpack turn a command's words into one string and back.
func pack(args []string) string {
	var b strings.Builder
	for _, a := range args {
		b.WriteString(strconv.Itoa(len(a)))
		b.WriteByte(' ')
		b.WriteString(a)
	}
	return b.String()
}

func unpack(s string) (args []string) {
	for s != "" {
		n, rest, _ := strings.Cut(s, " ")
		size, _ := strconv.Atoi(n)
		args = append(args, rest[:size])
		s = rest[size:]
	}
	return args
}

// feed lets a thread of a player go along an edge.
func (k *Clients) feed(pl *replayer, client int, e Transition) ([]Report, error) {
	k.Ran.Add(1)
	seen := driver.Observation{}
	switch e.Seen.Kind {
	case SawReply:
		seen.Reply = []byte(*k.Replies.Value(uint32(e.Seen.Value)))
	case SawTimeout:
		seen.Timeout = true
	case SawRefusal:
		seen.Refused = true
	case SawMono, SawMonoLapsed:
		seen.Lapsed = e.Seen.Kind == SawMonoLapsed
		seen.Now = pl.base + time.Duration(e.Seen.Value)*time.Millisecond
		pl.last = seen.Now
	case SawWall:
		seen.Now = 0
		seen.Offset = time.Duration(e.Seen.Value) * time.Millisecond
	}
	var out []Report
	for _, t := range pl.driver.Step(int(e.Thread), seen) {
		tl := Report{Kind: t.Kind}
		if t.Kind == trace.KindGranted || t.Kind == trace.KindExtended {
			if rel := t.Deadline - pl.base; t.Deadline == trace.Never || t.Given {
				tl.Never = true
			} else if rel%time.Millisecond != 0 {
				return nil, fmt.Errorf("%s's lease has a deadline of %s: the search counts in whole milliseconds", k.name(client), rel)
			} else {
				tl.Deadline = int32(rel / time.Millisecond)
			}
			tl.Given = t.Given
		}
		out = append(out, tl)
	}
	return out, nil
}

// take is a player that nobody else has: one that stands at a moment already, or a
// new one, or the one that has been idle longest.
func (k *Clients) take(id uint32) (*replayer, error) {
	pl, err := k.choose(id)
	if err == nil && pl.driver == nil {
		err = k.start(pl, k.At(id).client)
	}
	return pl, err
}

func (k *Clients) choose(id uint32) (pl *replayer, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fault != nil {
		return nil, k.fault
	}
	client := k.At(id).client
	for _, other := range k.pool[client] {
		switch {
		case other.busy:
		case pl == nil, other.at == id, pl.at != id && other.used < pl.used:
			pl = other
		}
	}
	if pl == nil || pl.at != id && len(k.pool[client]) < replayersEach {
		pl = new(replayer)
		k.pool[client] = append(k.pool[client], pl)
	}
	k.use++
	pl.used, pl.busy = k.use, true
	return pl, nil
}

func (k *Clients) giveBack(pl *replayer, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	pl.busy = false
	if k.fault == nil {
		k.fault = err
	}
}

// replay takes a player to a moment by the way on which it was found.
func (k *Clients) replay(pl *replayer, id uint32) error {
	way := k.wayTo(id)
	n, err := k.walk(pl, way)
	if wild, is := err.(*Nondeterminism); is {
		wild.Source = k.lineAt(pl, way[:n])
	}
	pl.at = id
	return err
}

// wayTo lists the moments after the first, up to one.
func (k *Clients) wayTo(id uint32) (way []uint32) {
	for at := id; k.At(at).parent != 0; at = k.At(at).parent {
		way = append(way, at)
	}
	slices.Reverse(way)
	return way
}

// walk takes a player from the beginning along a way, and looks after each step
// whether the client is about to do what it did when the way was found. If not, n
// is how many steps were right.
func (k *Clients) walk(pl *replayer, way []uint32) (n int, err error) {
	if err := pl.driver.Reset(); err != nil {
		return 0, err
	}
	pl.base, pl.last = 0, 0
	for n, at := range way {
		m := k.At(at)
		if _, err := k.feed(pl, m.client, Transition{From: m.parent, Thread: m.thread, Seen: m.seen}); err != nil {
			return n, err
		}
		if m.BetweenCycles {
			pl.driver.ForgetCycle()
			pl.base = pl.last + time.Hour
		}
		if err := k.faithful(pl, at); err != nil {
			return n + 1, err
		}
	}
	return len(way), nil
}

// lineAt is the line of the lock's code at which a client stands after a way.
func (k *Clients) lineAt(pl *replayer, way []uint32) trace.Source {
	pl.driver.RecordSources(true)
	defer pl.driver.RecordSources(false)
	if n, err := k.walk(pl, way); n < len(way) || err != nil && len(way) == 0 {
		return trace.Source{} // it goes another way every time
	}
	return pl.driver.Operation(0).Source
}

// Recheck takes some of the histories, from all over the tree, once more. What a
// search asks of a client it asks once, so it would not notice by itself that the
// answer is another each time.
func (k *Clients) Recheck() error {
	const rechecks = 200
	n := k.histories.Count.Load()
	for id := uint32(1); id < n; id += 1 + n/rechecks {
		if err := k.again(k.pool[k.At(id).client][0], id); err != nil {
			return err
		}
	}
	return nil
}

// again replays a history, and looks whether it is threads of the client's that go it.
func (k *Clients) again(pl *replayer, id uint32) error {
	pl.driver.Guard(true)
	defer pl.driver.Guard(false)
	return k.replay(pl, id)
}

// faithful: the same history must lead to the same next operation. Otherwise the
// strategy looks at something that it wasn't given.
func (k *Clients) faithful(pl *replayer, id uint32) error {
	is := *k.At(id)
	if err := k.describe(&is, pl); err != nil {
		return err
	}
	if i := differ(k.At(id), &is); i >= 0 {
		return k.nondeterministic(is.client, k.At(id).plan(i), is.plan(i))
	}
	return nil
}

// differ is the first thread that is about to do different things in two moments, or -1.
func differ(a, b *History) int {
	for i := range max(a.Count, b.Count) {
		p, q := a.plan(int(i)), b.plan(int(i))
		same := p.Over == q.Over
		if same && !p.Over {
			same = p.Kind == q.Kind && p.Wall == q.Wall && p.Conn == q.Conn && p.Mark == q.Mark && p.Command == q.Command && p.Sleep == q.Sleep
		}
		if !same {
			return int(i)
		}
	}
	return -1
}

// plan is what a thread is about to do: nothing, if there is no such thread.
func (m *History) plan(thread int) Operation {
	if thread >= int(m.Count) {
		return Operation{Over: true}
	}
	return m.Threads[thread]
}

// name is a client's, or the probe's, which comes after all of them.
func (k *Clients) name(client int) string {
	if client == len(k.cfg.Clients) {
		return trace.Probe
	}
	return k.cfg.Clients[client].Name
}

func (k *Clients) nondeterministic(client int, once, again Operation) error {
	return &Nondeterminism{Client: k.name(client), Once: k.planText(once), Again: k.planText(again)}
}

// Nondeterminism is the error of a strategy that does different things although it
// has seen the same: it looks at a global, at package time, at the order of a map.
type Nondeterminism struct {
	Client, Once, Again string
	Source              trace.Source // of one of the two, if it is known
}

// Error names the client, the operation, and what was seen at first and what again.
func (n *Nondeterminism) Error() string {
	return fmt.Sprintf("the lock is not deterministic%s: having seen the same, %s once goes on with %s and once with %s; "+
		"does it look at a global variable, at package time or rand, at the order of a map?", at(n.Source), n.Client, n.Once, n.Again)
}

// Endless is the error of a strategy that goes on and on.
type Endless struct {
	Client     string
	Operations int
	Source     trace.Source // of the last, if it is known
}

// maxDepth is how many operations a client can do in one run. Nine cycles of a lock on
// five nodes are some 400. What goes on for longer polls, and takes the search a time
// that grows with the square of it.
const maxDepth = 1000

// Error names the client and the place in its code where it goes round.
func (e *Endless) Error() string {
	return fmt.Sprintf("%s has done %d operations and comes to no end%s: nothing that it sees stops it; "+
		"a lock must give up after a number of tries, such as Options.Retry.Tries", e.Client, e.Operations, at(e.Source))
}

func at(s trace.Source) string {
	if s.File == "" {
		return ""
	}
	return fmt.Sprintf(" at %s:%d", s.File, s.Line)
}

func (k *Clients) planText(p Operation) string {
	switch {
	case p.Over:
		return "nothing"
	case p.Kind == process.OpSend:
		return trace.CommandText(unpack(*k.commands.Value(p.Command)))
	case p.Kind == process.OpSleep:
		return "a sleep of " + trace.Duration(time.Duration(p.Sleep)*time.Millisecond)
	case p.Kind == process.OpMark:
		return p.Mark.String()
	}
	return [...]string{process.OpStart: "its start", process.OpReceive: "waiting for a reply", process.OpClock: "a look at a clock", process.OpRead: "a read", process.OpWrite: "a write"}[p.Kind]
}
