package explore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/sim"
	"lockstep/sim/explore/behaviour"
	"lockstep/sim/process"
	"lockstep/sim/trace"
)

// maxThreads is how many threads of one client can be under way.
const maxThreads = 4

// moment is a point in a client's life: all that it has seen so far, and so all
// that it does next. Moments form a tree, whose edges are what it sees; except that
// between two cycles, when it remembers nothing of the last, the branches join.
type moment struct {
	client  int
	parent  uint32
	seen    sight
	threads [maxThreads]plan
	depth   int16
	closed  uint16 // the connections that it has closed
	thread  uint8
	count   uint8 // of threads
	given   bool  // its lease has the deadline that the world gives it
	fresh   bool  // between two cycles
	over    bool
}

// plan is a thread's next operation.
type plan struct {
	kind  process.OpKind
	over  bool
	mark  trace.Kind
	phase trace.Phase
	wall  bool
	conn  uint8
	addr  uint8
	sleep int32 // milliseconds
	cmd   uint32
	fence int32
}

// sight is what a thread has seen: a reply, a reading, or that there was none.
type sight struct {
	kind  sightKind
	value int64 // of a reply its number; of a reading milliseconds: since the cycle's first, or for wall clocks since the Epoch
}

type sightKind uint8

const (
	sawNothing sightKind = iota
	sawReply
	sawTimeout
	sawRefusal
	sawMono
	sawMonoLapsed // and the lease that the world has given it is over
	sawWall
)

// edge is a step in the tree.
type edge struct {
	from   uint32
	thread uint8
	seen   sight
}

// arrival is where an edge leads, and what the client lets be known on the way.
type arrival struct {
	to   uint32
	told uint32 // a list in tellings
}

// telling is what a client let be known; a deadline is in milliseconds since the
// cycle's first reading of the monotonic clock.
type telling struct {
	kind     trace.Kind
	never    bool
	given    bool // the strategy exposes none: the world gives it one
	deadline int32
}

// freshKey is what a client still knows between two cycles.
type freshKey struct {
	client        int
	cycle         int
	over          bool
	tokens, draws int
	fingerprint   uint64
}

// clients is what is known of how clients behave. It grows by running their code:
// workers do that at the same time, each with a player of its own, unless the code may
// share something between clients that are none of its business.
type clients struct {
	cfg       sim.Config
	remembers bool // see Bounds
	moments   chunks[moment]
	onward    chunks[uint32] // of each the number of the first edge that was found from there; atomic
	arrivals  *memo[edge, arrival]
	tellings  chunks[[]telling]
	begin     []uint32 // each client's first moment
	commands  *interned[string]
	replies   *interned[string]
	ran       atomic.Int64 // operations that were really carried out

	code  sync.Mutex // see alone
	mu    sync.Mutex // of who adds a moment, or takes a player
	fresh map[freshKey]uint32
	crew  [][]*player // by client
	use   int64
	fault error
}

// player is a puppet that stands at some moment.
type player struct {
	p    *behaviour.Driver // nil until it is hired, by whoever has the player
	at   uint32
	base time.Duration // when the current cycle began, on the clock by which it is fed
	last time.Duration
	used int64
	busy bool // somebody has it
}

const playersEach = 4

func newClients(cfg sim.Config, remembers bool) (*clients, error) {
	k := &clients{cfg: cfg, remembers: remembers, arrivals: newMemo[edge, arrival](), fresh: map[freshKey]uint32{},
		commands: newInterned[string](), replies: newInterned[string]()}
	k.add(moment{})
	k.tellings.add(nil)
	for i := range len(cfg.Clients) + 1 { // and the probe
		pl := new(player)
		k.crew = append(k.crew, []*player{pl})
		if err := k.hire(pl, i); err != nil {
			return nil, err
		}
		m := moment{client: i}
		if err := k.describe(&m, pl); err != nil {
			return nil, err
		}
		pl.at = k.add(m)
		k.begin = append(k.begin, pl.at)
	}
	return k, nil
}

func (k *clients) close() error {
	var first error
	for _, crew := range k.crew {
		for _, pl := range crew {
			if pl.p == nil {
				continue // it could not be hired
			}
			if err := pl.p.Close(); err != nil && first == nil {
				first = err
			}
		}
	}
	return first
}

// hire gives a new player its puppet, which takes long: the others go on meanwhile.
func (k *clients) hire(pl *player, client int) (err error) {
	defer k.alone()()
	defer catch(&err)
	pl.p, err = behaviour.NewDriver(k.cfg, client)
	return err
}

// catch makes an error of a panic in the lock's code.
func catch(err *error) {
	switch v := recover().(type) {
	case nil:
	case *process.Panic:
		*err = v
	default:
		panic(v)
	}
}

// add is the number of a new moment.
func (k *clients) add(m moment) uint32 {
	k.onward.add(0)
	return k.moments.add(m)
}

// at is a moment.
func (k *clients) at(id uint32) *moment { return k.moments.at(id) }

// after is where an edge leads. If nobody has gone there yet, the client's own
// code is run.
func (k *clients) after(e edge) (arrival, error) {
	if n := atomic.LoadUint32(k.onward.at(e.from)); n != 0 {
		if only := k.arrivals.entries.at(n); only.key == e {
			return only.value, nil
		}
		if a, known := k.arrivals.get(e); known {
			return *a, nil
		}
	}
	pl, err := k.take(e.from)
	if err != nil {
		return arrival{}, err
	}
	a, err := k.explore(pl, e)
	if err == nil {
		k.runOn(pl, a.to)
	}
	k.giveBack(pl, err)
	return a, err
}

// runOn goes on from a moment as long as there is only one way: while the client
// does things that show it nothing. The player stands there now; to bring one back
// later would cost the whole way again. What goes wrong there is for whoever really
// goes there: it may be nobody.
func (k *clients) runOn(pl *player, id uint32) {
	for {
		e := edge{from: id}
		if _, known := k.arrivals.get(e); known || pl.at != id || !k.blind(k.at(id)) {
			return
		}
		a, err := k.explore(pl, e)
		if err != nil {
			return
		}
		id = a.to
	}
}

// blind: the client has one thread, which is about to do what shows it nothing.
func (k *clients) blind(m *moment) bool {
	for t := 1; t < int(m.count); t++ {
		if !m.threads[t].over {
			return false
		}
	}
	switch p := &m.threads[0]; p.kind {
	case process.OpStart, process.OpSend, process.OpMark, process.OpSleep:
		return !p.over
	case process.OpRead, process.OpWrite:
		return !p.over && k.cfg.Resource == sim.Plain
	}
	return false
}

// explore lets a player go along an edge. If two workers do so, the second finds it
// known, and has to have come to the same.
func (k *clients) explore(pl *player, e edge) (arrival, error) {
	m, told, key, err := k.carryOut(pl, e)
	pl.at = nowhere // until it is known where it has come to
	if err != nil {
		return arrival{}, err
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if known, is := k.arrivals.get(e); is {
		if i := differ(k.at(known.to), m); i >= 0 {
			return arrival{}, k.wavers(m.client, k.at(known.to).plan(i), m.plan(i))
		}
		pl.at = k.standsAt(known.to, e)
		return *known, nil
	}
	a := arrival{to: k.place(m, key), told: k.tellings.add(told)}
	n := k.arrivals.put(e, a)
	atomic.CompareAndSwapUint32(k.onward.at(e.from), 0, n)
	pl.at = k.standsAt(a.to, e)
	return a, nil
}

// alone keeps other workers from running client code until its result is called, if
// the lock is one that may have variables in closures: its clients share them, and a
// lock without a guard for them is to be told that it isn't deterministic, and not to
// end the program. Who has code may ask for mu only when it is given back.
func (k *clients) alone() func() {
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
func (k *clients) standsAt(id uint32, e edge) uint32 {
	if m := k.at(id); (edge{m.parent, m.thread, m.seen}) != e {
		return nowhere
	}
	return id
}

// carryOut runs the client's code along an edge, after the way to its beginning if
// the player stands elsewhere. The key is that of the cycle's end, if it is one.
func (k *clients) carryOut(pl *player, e edge) (m *moment, told []telling, key *freshKey, err error) {
	defer k.alone()()
	defer catch(&err)
	if pl.at != e.from {
		if err := k.replay(pl, e.from); err != nil {
			return nil, nil, nil, err
		}
	}
	pl.p.Guard(true) // it may be a goroutine of the lock's own that goes on
	defer pl.p.Guard(false)
	from := k.at(e.from)
	if told, err = k.feed(pl, from.client, e); err != nil {
		return nil, nil, nil, err
	}
	next := *from
	m = &next
	m.parent, m.thread, m.seen, m.depth = e.from, e.thread, e.seen, from.depth+1
	if m.depth > maxDepth {
		return nil, nil, nil, &Endless{Client: k.name(m.client), Operations: maxDepth, Source: k.lineAt(pl, k.wayTo(e.from))}
	}
	m.tell(told)
	key = k.ending(pl, m)
	return m, told, key, k.describe(m, pl)
}

// ending tells whether the client has come to the end of a cycle, where it has
// forgotten how it came there and branches join: in one moment for each key.
func (k *clients) ending(pl *player, m *moment) *freshKey {
	m.fresh, m.over = false, false
	others := false
	for i := 1; i < pl.p.Threads(); i++ {
		others = others || !pl.p.Operation(i).Over
	}
	main := pl.p.Operation(0)
	m.over = main.Over && !others
	between := !others && main.Kind == process.OpMark && main.Mark == trace.KindAcquire
	if !m.over && (!between || k.remembers) {
		return nil
	}
	tokens, draws := pl.p.Draws()
	key := &freshKey{client: m.client, cycle: pl.p.Acquired(), over: m.over, tokens: tokens, draws: draws, fingerprint: pl.p.Fingerprint()}
	pl.p.ForgetCycle()
	pl.base = pl.last + time.Hour
	m.fresh, m.given = true, false
	m.depth = 0 // it is the cycles that have to come to an end, whichever way there was the first
	return key
}

// place is the number of a moment: a new one, unless it joins others.
func (k *clients) place(m *moment, key *freshKey) uint32 {
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

// tell follows whose deadline the client's lease has. All else that the client lets be
// known is folded into its facts.
func (m *moment) tell(told []telling) {
	for _, t := range told {
		if t.kind == trace.KindGranted {
			m.given = t.given
		}
	}
}

// describe notes what the threads are about to do.
func (k *clients) describe(m *moment, pl *player) error {
	n := pl.p.Threads()
	if n > maxThreads {
		return fmt.Errorf("%s has started %d threads, more than %d", k.name(m.client), n, maxThreads)
	}
	m.count, m.threads, m.closed = uint8(n), [maxThreads]plan{}, 0
	for i := range n {
		op := pl.p.Operation(i)
		if op.Sleep%time.Millisecond != 0 {
			return fmt.Errorf("%s sleeps for %s: the search counts in whole milliseconds", k.name(m.client), op.Sleep)
		}
		pn := plan{kind: op.Kind, over: op.Over, mark: op.Mark, phase: op.Phase, wall: op.Wall,
			conn: uint8(op.Conn), addr: uint8(op.Addr), sleep: int32(op.Sleep / time.Millisecond), fence: int32(op.Fence)}
		if op.Kind == process.OpSend && !op.Over {
			pn.cmd = k.commands.id(pack(op.Args))
		}
		m.threads[i] = pn
	}
	for c := range 16 {
		if pl.p.Closed(c) {
			m.closed |= 1 << c
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
func (k *clients) feed(pl *player, client int, e edge) ([]telling, error) {
	k.ran.Add(1)
	seen := behaviour.Observation{}
	switch e.seen.kind {
	case sawReply:
		seen.Reply = []byte(*k.replies.value(uint32(e.seen.value)))
	case sawTimeout:
		seen.Timeout = true
	case sawRefusal:
		seen.Refused = true
	case sawMono, sawMonoLapsed:
		seen.Lapsed = e.seen.kind == sawMonoLapsed
		seen.Now = pl.base + time.Duration(e.seen.value)*time.Millisecond
		pl.last = seen.Now
	case sawWall:
		seen.Now = 0
		seen.Offset = time.Duration(e.seen.value) * time.Millisecond
	}
	var out []telling
	for _, t := range pl.p.Step(int(e.thread), seen) {
		tl := telling{kind: t.Kind}
		if t.Kind == trace.KindGranted || t.Kind == trace.KindExtended {
			if rel := t.Deadline - pl.base; t.Deadline == trace.Never || t.Given {
				tl.never = true
			} else if rel%time.Millisecond != 0 {
				return nil, fmt.Errorf("%s's lease has a deadline of %s: the search counts in whole milliseconds", k.name(client), rel)
			} else {
				tl.deadline = int32(rel / time.Millisecond)
			}
			tl.given = t.Given
		}
		out = append(out, tl)
	}
	return out, nil
}

// take is a player that nobody else has: one that stands at a moment already, or a
// new one, or the one that has been idle longest.
func (k *clients) take(id uint32) (*player, error) {
	pl, err := k.choose(id)
	if err == nil && pl.p == nil {
		err = k.hire(pl, k.at(id).client)
	}
	return pl, err
}

func (k *clients) choose(id uint32) (pl *player, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.fault != nil {
		return nil, k.fault
	}
	client := k.at(id).client
	for _, other := range k.crew[client] {
		switch {
		case other.busy:
		case pl == nil, other.at == id, pl.at != id && other.used < pl.used:
			pl = other
		}
	}
	if pl == nil || pl.at != id && len(k.crew[client]) < playersEach {
		pl = new(player)
		k.crew[client] = append(k.crew[client], pl)
	}
	k.use++
	pl.used, pl.busy = k.use, true
	return pl, nil
}

func (k *clients) giveBack(pl *player, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	pl.busy = false
	if k.fault == nil {
		k.fault = err
	}
}

// replay takes a player to a moment by the way on which it was found.
func (k *clients) replay(pl *player, id uint32) error {
	way := k.wayTo(id)
	n, err := k.walk(pl, way)
	if wild, is := err.(*Nondeterminism); is {
		wild.Source = k.lineAt(pl, way[:n])
	}
	pl.at = id
	return err
}

// wayTo lists the moments after the first, up to one.
func (k *clients) wayTo(id uint32) (way []uint32) {
	for at := id; k.at(at).parent != 0; at = k.at(at).parent {
		way = append(way, at)
	}
	slices.Reverse(way)
	return way
}

// walk takes a player from the beginning along a way, and looks after each step
// whether the client is about to do what it did when the way was found. If not, n
// is how many steps were right.
func (k *clients) walk(pl *player, way []uint32) (n int, err error) {
	if err := pl.p.Reset(); err != nil {
		return 0, err
	}
	pl.base, pl.last = 0, 0
	for n, at := range way {
		m := k.at(at)
		if _, err := k.feed(pl, m.client, edge{from: m.parent, thread: m.thread, seen: m.seen}); err != nil {
			return n, err
		}
		if m.fresh {
			pl.p.ForgetCycle()
			pl.base = pl.last + time.Hour
		}
		if err := k.faithful(pl, at); err != nil {
			return n + 1, err
		}
	}
	return len(way), nil
}

// lineAt is the line of the lock's code at which a client stands after a way.
func (k *clients) lineAt(pl *player, way []uint32) trace.Source {
	pl.p.RecordSources(true)
	defer pl.p.RecordSources(false)
	if n, err := k.walk(pl, way); n < len(way) || err != nil && len(way) == 0 {
		return trace.Source{} // it goes another way every time
	}
	return pl.p.Operation(0).Source
}

// recheck takes some of the histories, from all over the tree, once more. What a
// search asks of a client it asks once, so it would not notice by itself that the
// answer is another each time.
func (k *clients) recheck() error {
	const rechecks = 200
	n := k.moments.n.Load()
	for id := uint32(1); id < n; id += 1 + n/rechecks {
		if err := k.again(k.crew[k.at(id).client][0], id); err != nil {
			return err
		}
	}
	return nil
}

// again replays a history, and looks whether it is threads of the client's that go it.
func (k *clients) again(pl *player, id uint32) error {
	pl.p.Guard(true)
	defer pl.p.Guard(false)
	return k.replay(pl, id)
}

// faithful: the same history must lead to the same next operation. Otherwise the
// strategy looks at something that it wasn't given.
func (k *clients) faithful(pl *player, id uint32) error {
	is := *k.at(id)
	if err := k.describe(&is, pl); err != nil {
		return err
	}
	if i := differ(k.at(id), &is); i >= 0 {
		return k.wavers(is.client, k.at(id).plan(i), is.plan(i))
	}
	return nil
}

// differ is the first thread that is about to do different things in two moments, or -1.
func differ(a, b *moment) int {
	for i := range max(a.count, b.count) {
		p, q := a.plan(int(i)), b.plan(int(i))
		same := p.over == q.over
		if same && !p.over {
			same = p.kind == q.kind && p.wall == q.wall && p.conn == q.conn && p.mark == q.mark && p.cmd == q.cmd && p.sleep == q.sleep
		}
		if !same {
			return int(i)
		}
	}
	return -1
}

// plan is what a thread is about to do: nothing, if there is no such thread.
func (m *moment) plan(thread int) plan {
	if thread >= int(m.count) {
		return plan{over: true}
	}
	return m.threads[thread]
}

// name is a client's, or the probe's, which comes after all of them.
func (k *clients) name(client int) string {
	if client == len(k.cfg.Clients) {
		return trace.Probe
	}
	return k.cfg.Clients[client].Name
}

func (k *clients) wavers(client int, once, again plan) error {
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

func (k *clients) planText(p plan) string {
	switch {
	case p.over:
		return "nothing"
	case p.kind == process.OpSend:
		return trace.CommandText(unpack(*k.commands.value(p.cmd)))
	case p.kind == process.OpSleep:
		return "a sleep of " + trace.Duration(time.Duration(p.sleep)*time.Millisecond)
	case p.kind == process.OpMark:
		return p.mark.String()
	}
	return [...]string{process.OpStart: "its start", process.OpReceive: "waiting for a reply", process.OpClock: "a look at a clock", process.OpRead: "a read", process.OpWrite: "a write"}[p.kind]
}
