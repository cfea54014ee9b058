package explore

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim"
	"lockstep/sim/monitor"
	"lockstep/sim/trace"
)

// codes is a set of violations.
type codes uint16

func setOf(c trace.Code) codes        { return 1 << c }
func (s codes) has(c trace.Code) bool { return s&setOf(c) != 0 }

func (s codes) String() string { return s.verdict().String() }

// verdict lists them, worst first.
func (s codes) verdict() (v trace.Verdict) {
	for _, c := range trace.Codes {
		if s.has(c) {
			v = append(v, c)
		}
	}
	return v
}

// explorer is one worker: it knows what follows a state. What it learns of
// clients and nodes it shares with the others.
type explorer struct {
	*model
	from, s situation
	choices []move

	// The state that it views.
	glances []*glance // of the clients, without the probe
	nodes   []*nodeGlance
	world   *world
	quiet   bool                     // no request is held up there, and nothing begun
	corpses [3*len(names) + 1]uint32 // numbers of clients that have crashed, by what they had touched: three grants matter to each client at most

	successors []uint32 // states that were come to, and not added yet
	spelt      []spelt  // clients in them
	ahead      uint32   // of no meaning: what was read ahead of its use
	digests    []uint64
	hasty      bool  // it does what nobody can see at once, see silent
	ops        uint8 // how many operations the last move was
	found      codes
	meets      bool // the last move was not its client's own, see ownStep
	told       ownStep
	err        error
	seen       tally
	facts      *monitor.Facts // of s
}

// model is what all workers of a search share.
type model struct {
	bounds  Bounds
	cfg     sim.Config
	k       *clients
	v       *servers
	tables  *tables
	quorum  int
	ttl     int32
	timeout int32
	timed   bool // true time is part of the state, because somebody looks at it
	width   int  // of a state, in numbers

	idleProbe client // as it is before the end
}

func (m *model) explorer() *explorer {
	x := &explorer{model: m}
	x.from, x.s = m.blank(), m.blank()
	x.facts = x.s.facts(m)
	x.glances, x.nodes = make([]*glance, m.bounds.Clients), make([]*nodeGlance, len(m.cfg.Nodes))
	return x
}

func (m *model) blank() situation {
	return situation{clients: make([]client, m.bounds.Clients+1), nodes: make([]node, len(m.cfg.Nodes))}
}

// probe is the index of the client that finds out at the end whether the lock can
// still be had.
func (m *model) probe() int { return m.bounds.Clients }

func (x *explorer) fail(err error) {
	if x.err == nil {
		x.err = err
	}
}

func (x *explorer) moment(i int) *moment { return x.k.at(x.s.clients[i].moment) }

// next is the thread of a client that would act, if any can.
func (x *explorer) next(i int) (thread int, any bool) { return x.model.next(&x.s.clients[i]) }

func (m *model) next(c *client) (thread int, any bool) {
	if c.Crashed {
		return 0, false
	}
	now := m.k.at(c.moment)
	best := -1
	for t := range int(now.count) {
		if now.threads[t].over || c.waits[t] {
			continue
		}
		if best < 0 || c.turn[t] < c.turn[best] {
			best = t
		}
	}
	return best, best >= 0
}

// fate is what becomes of the next request.
type fate uint8

const (
	goes fate = iota
	losesReply
	heldUp
)

// step lets a client act.
func (x *explorer) step(i, t int, f fate) {
	x.one(i, t, f)
	x.ops = 1
	for x.hasty && x.err == nil && x.silent(i) {
		x.one(i, 0, goes)
		x.ops++
	}
}

// silent reports whether what a client does next is nobody else's business, and
// can be done at once: the order of such a step and of all that others do, of time
// passing or of a fault, makes no difference to what comes of both. Two are: to
// call Acquire, which so far changes nothing but the client's own number of
// acquisitions; and to read a reply that is there, if the client lets nothing be
// known and doesn't go to sleep (when it would wake depends on when it read).
func (x *explorer) silent(i int) bool {
	c := &x.s.clients[i]
	m := x.k.at(c.moment)
	for t := 1; t < int(m.count); t++ {
		if !m.threads[t].over {
			return false
		}
	}
	p := &m.threads[0]
	switch {
	case p.over || c.waits[0]:
		return false
	case p.kind == sim.OpMark:
		return p.mark == trace.KindAcquire
	case p.kind != sim.OpReceive:
		return false
	}
	n := x.mailFor(c, p.conn)
	if n < 0 {
		return false
	}
	mail := x.tables.inboxes.get(c.inbox)[n]
	if mail.refused || mail.prolonged {
		return false
	}
	a := x.after(edge{from: c.moment, seen: sight{sawReply, int64(mail.reply)}})
	if x.err != nil || len(*x.k.tellings.at(a.told)) > 0 {
		return false
	}
	next := x.k.at(a.to)
	if next.count != m.count {
		return false
	}
	switch q := &next.threads[0]; q.kind {
	case sim.OpSend, sim.OpClock, sim.OpRead, sim.OpWrite, sim.OpMark:
		return !q.over
	}
	return false
}

// after is where an edge leads.
func (x *explorer) after(e edge) arrival {
	a, err := x.k.after(e)
	if err != nil {
		x.fail(err)
	}
	return a
}

// one performs one operation: that of the thread which has been ready longest; and
// runs it to the next.
func (x *explorer) one(i, t int, f fate) {
	c := &x.s.clients[i]
	c.paused = false
	m := x.k.at(c.moment)
	p := &m.threads[t]
	e := edge{from: c.moment, thread: uint8(t)}
	var mail parcel
	switch p.kind {
	case sim.OpSend:
		x.send(i, t, p, f)
	case sim.OpReceive:
		mail = x.receive(c, p, &e)
	case sim.OpClock:
		e.seen = x.look(c, p)
	case sim.OpRead, sim.OpWrite:
		if !x.access(i, p) {
			e.seen = sight{kind: sawRefusal}
		}
	}
	if mail.prolonged {
		x.renew(i, t, p, mail)
	}
	a := x.after(e)
	if x.err != nil {
		return
	}
	x.arrive(i, t, m, a)
	x.settle(i)
}

// arrive takes a client to its next moment.
func (x *explorer) arrive(i, t int, was *moment, a arrival) {
	c := &x.s.clients[i]
	c.moment = a.to
	m := x.k.at(a.to)
	for _, tl := range *x.k.tellings.at(a.told) {
		x.tell(i, tl)
	}
	for n := int(was.count); n < int(m.count); n++ { // threads that it has started
		c.queue(n)
	}
	if m.fresh || m.over {
		x.forgetCycle(i)
	}
	if m.closed != was.closed {
		x.closeConns(i, m.closed)
	}
	c.torn &^= m.closed
	c.gone &^= m.closed
	if p := &m.threads[t]; !p.over {
		x.announce(i, t, p)
	}
}

// announce looks at the operation that a thread is about to perform: some have to
// wait.
func (x *explorer) announce(i, t int, p *plan) {
	c := &x.s.clients[i]
	switch p.kind {
	case sim.OpReceive:
		if x.mailFor(c, p.conn) < 0 {
			c.waits[t], c.due[t], c.turn[t] = true, max(0, x.timeout-c.sent[t]), 0
			return
		}
	case sim.OpSleep:
		c.waits[t], c.due[t], c.turn[t] = true, p.sleep, 0
		return
	}
	c.queue(t)
}

// forgetCycle is a client between two cycles: nothing of the last matters any more.
func (x *explorer) forgetCycle(i int) {
	c := &x.s.clients[i]
	x.closeConns(i, 0xffff)
	c.since, c.grantSent, c.stamp = unset, 0, unset
	for t := 1; t < maxThreads; t++ { // that were there
		c.waits[t], c.due[t], c.sent[t], c.turn[t] = false, 0, 0, 0
	}
	c.inbox, c.torn, c.gone = 0, 0, 0
	c.ForgetCycle()
	x.meets = x.facts.CanonicaliseRanks() || x.meets
}

// closeConns is the end of a client's connections: nobody waits for replies there.
func (x *explorer) closeConns(i int, conns uint16) {
	c := &x.s.clients[i]
	if c.inbox != 0 {
		var kept []parcel
		for _, m := range x.tables.inboxes.get(c.inbox) {
			if conns>>m.conn&1 == 0 {
				kept = append(kept, m)
			}
		}
		c.inbox, _ = x.tables.inboxes.put(kept)
	}
	if x.s.world.held != 0 {
		x.meets = true
		conns &^= x.renameConn(i, conns)
	}
	for n := range x.s.nodes {
		nd := &x.s.nodes[n]
		x.meets = x.meets || len(x.v.snapshot(nd.memory).Peers) > 0
		for _, b := range x.v.snapshot(nd.memory).Peers {
			if conn := uint16(b.Conn) & 15; b.Conn>>4 == i && conns>>conn&1 != 0 {
				nd.memory = x.v.without(nd.memory, uint16(b.Conn))
			}
		}
	}
}

// renameConn gives the connections on which requests are held up other numbers: the
// client will use theirs again. What it had begun on them still stands there.
func (x *explorer) renameConn(i int, conns uint16) (renamed uint16) {
	held := append([]letter(nil), x.tables.helds.get(x.s.world.held)...)
	taken := func(conn uint8) bool {
		return slices.ContainsFunc(held, func(l letter) bool { return int(l.client) == i && l.orphan && l.conn == conn })
	}
	for conn := range uint8(16) {
		if conns>>conn&1 == 0 || taken(conn) || !slices.ContainsFunc(held, func(l letter) bool { return int(l.client) == i && l.conn == conn }) {
			continue
		}
		other := uint8(15)
		for taken(other) {
			other--
		}
		renamed |= 1<<conn | 1<<other
		for n := range held {
			if l := &held[n]; int(l.client) == i && l.conn == conn {
				l.conn, l.orphan, l.stale = other, true, l.stale || x.s.clients[i].gone>>conn&1 != 0
			}
		}
		for n := range x.s.nodes {
			x.s.nodes[n].memory = x.v.renamed(x.s.nodes[n].memory, peer(i, uint16(conn)), peer(i, uint16(other)))
		}
	}
	for _, l := range held {
		if int(l.client) == i && l.orphan {
			renamed |= 1 << l.conn
		}
	}
	x.s.world.held, _ = x.tables.helds.put(held)
	return renamed
}

// peer numbers the connections of all clients.
func peer(client int, conn uint16) uint16 { return uint16(client)<<4 | conn }

// settle puts those things of a client in order that don't matter otherwise.
func (x *explorer) settle(i int) {
	c := &x.s.clients[i]
	m := x.k.at(c.moment)
	for t := range int(m.count) {
		switch p := &m.threads[t]; {
		case p.over || p.kind != sim.OpReceive:
			c.sent[t] = 0
		}
		if c.waits[t] && c.due[t] <= 0 {
			c.queue(t)
		}
	}
	c.order(m)
	if m.phase != trace.PhaseAcquire && m.phase != trace.PhaseExtend && !(m.believes && x.bounds.Extend) {
		c.grantSent = 0
	}
	if m.over {
		c.stamp, c.since, c.last = unset, unset, 0
	}
	if x.s.world.left[Duplicate] == 0 {
		c.last = 0
	}
}

// look is a reading of a clock.
func (x *explorer) look(c *client, p *plan) sight {
	if p.wall {
		if !x.timed {
			x.fail(errTimed)
		}
		x.meets = true
		c.stamp = x.ttl + overStamp
		return sight{sawWall, int64(x.s.world.now + c.wall)}
	}
	if c.since == unset {
		c.since = 0
	}
	if m := x.k.at(c.moment); x.bounds.Checks && m.given && m.inside && !c.Live {
		return sight{sawMonoLapsed, int64(c.since)}
	}
	return sight{sawMono, int64(c.since)}
}

// overStamp is by how much more than a TTL a stamp is over, to whichever second
// it was rounded.
const overStamp = 2000

// tell follows what a client lets be known, and judges it.
func (x *explorer) tell(i int, t telling) {
	c := &x.s.clients[i]
	live := false
	switch t.kind {
	case trace.KindGranted:
		live = x.lease(c, t)
	case trace.KindExtended:
		x.seen.extended = true
		live = x.lease(c, t)
	case trace.KindAcquire, trace.KindRelease:
		c.forever, c.deadline = false, 0
	case trace.KindRefused:
		x.count(isRefused)
		x.seen.refused++
	case trace.KindReleaseFailed:
		x.count(isTooLate)
		x.seen.tooLate++
	}
	under, local := monitor.Local(t.kind)
	x.told |= ownStep(under) << conditions
	x.meets = x.meets || !local || under&monitor.Unowned != 0 && x.ownsAny(i)
	x.report(x.facts.Told(i, t.kind, live))
	if t.kind == trace.KindAcquire {
		x.meets = x.facts.CanonicaliseRanks() || x.meets
	}
}

// report notes what a transition of the facts broke.
func (x *explorer) report(broken []monitor.Finding) {
	for _, b := range broken {
		x.found |= setOf(b.Code)
	}
}

// count notes what is counted in a client's own step, where it is so only once.
func (x *explorer) count(s ownStep) {
	x.meets = x.meets || x.told&s != 0
	x.told |= s
}

// lease begins, or goes on, until its deadline. It reports whether that is still to come.
func (x *explorer) lease(c *client, t telling) bool {
	switch {
	case t.given && !x.cfg.Strategy.NoTTL:
		c.forever, c.deadline = false, x.ttl-c.grantSent
	case t.never || t.given:
		c.forever, c.deadline = true, 0
	default:
		c.forever, c.deadline = false, t.deadline-max(c.since, 0)
	}
	c.deadline = max(0, c.deadline)
	return c.forever || c.deadline > 0
}

// ownsAny reports whether a record on some node is a client's, of any acquisition.
func (x *explorer) ownsAny(i int) bool {
	return slices.ContainsFunc(x.s.nodes, func(n node) bool { return int(n.owner.Client) == i })
}

// access is a read or a write of the resource. It reports whether the resource
// let it pass.
func (x *explorer) access(i int, p *plan) bool {
	x.meets = true
	write := p.kind == sim.OpWrite
	w := &x.s.world
	looks := x.cfg.Resource == sim.Fenced || x.cfg.Resource == sim.FencedWrites && write
	if looks && p.fence != 0 && p.fence < w.fence {
		x.seen.fenced++
		return false
	}
	if looks {
		w.fence = max(w.fence, p.fence)
	}
	x.report(x.facts.Accessed(i, write, 0))
	return true
}

// send executes a command at its node, or doesn't yet.
func (x *explorer) send(i, t int, p *plan, f fate) {
	x.meets = true
	x.s.clients[i].sent[t] = 0
	l := letter{client: uint8(i), thread: uint8(t), conn: p.conn, addr: p.addr, cmd: p.cmd, acquired: x.s.clients[i].Acquired, phase: p.phase}
	if f == heldUp || x.behind(&l) {
		l.queued, l.loses = f != heldUp, f == losesReply
		x.hold(l)
		return
	}
	x.execute(&l, f == losesReply, false)
}

// behind reports whether a request has to wait for another one on its connection.
func (x *explorer) behind(l *letter) bool {
	return slices.ContainsFunc(x.tables.helds.get(x.s.world.held), l.sharesLane)
}

func (x *explorer) hold(l letter) {
	held := append(append([]letter(nil), x.tables.helds.get(x.s.world.held)...), l)
	id, fits := x.tables.helds.put(held)
	if !fits {
		x.fail(fmt.Errorf("more than %d requests are held up at a time", maxList))
	}
	x.s.world.held = id
}

// execute is what a node does with a request, and the way of its reply.
func (x *explorer) execute(l *letter, lost, copied bool) {
	c, n := &x.s.clients[l.client], &x.s.nodes[l.addr]
	if !copied && (l.stale || c.gone>>l.conn&1 != 0) {
		if !l.orphan {
			x.reply(l, parcel{conn: uint16(l.conn), refused: true}, lost)
		}
		return
	}
	conn := peer(int(l.client), uint16(l.conn))
	if copied {
		conn = peer(15, 0) // another one
	}
	a, err := x.answer(n, question{n.memory, conn, l.cmd})
	if err != nil {
		x.fail(err)
		return
	}
	if copied {
		a.memory = x.v.without(a.memory, conn)
	}
	if a.asks && !c.Crashed {
		c.stamp = x.ttl + overStamp // a look at that clock is one at the time, too
	}
	prolonged := x.apply(l, n, a, copied)
	x.notice(l, a)
	if !copied && !c.Crashed {
		x.remember(c, l, a)
	}
	if !copied && !l.orphan {
		m := parcel{conn: uint16(l.conn), reply: a.reply, prolonged: prolonged}
		if prolonged {
			m.ago = l.ago
		}
		x.reply(l, m, lost)
	}
}

// answer is what a node does with a command.
func (x *explorer) answer(n *node, q question) (answer, error) {
	if x.v.replicas > 0 {
		missing := 0
		if n.behind.memory != 0 || n.failed {
			missing = 1
		}
		if a, is, err := x.v.wait(q, missing); is {
			return a, err
		}
	}
	return x.v.run(q)
}

// remember a command that could arrive once more: the last that was executed,
// unless that was queued in a transaction.
func (x *explorer) remember(c *client, l *letter, a answer) {
	switch {
	case x.s.world.left[Duplicate] == 0:
	case strings.HasPrefix(*x.k.replies.value(a.reply), "+QUEUED"):
		c.last = 0
	default:
		again := *l
		again.ago, again.orphan, again.queued, again.loses = 0, true, false, false
		c.last = x.tables.letters.id(again)
	}
}

// notice counts what kept a near miss from being one.
func (x *explorer) notice(l *letter, a answer) {
	if l.phase == trace.PhaseRelease && *x.k.replies.value(a.reply) == ":0\r\n" {
		x.seen.compared++
	}
}

// apply does to a node what a command does. It reports whether that prolonged the
// client's own record.
func (x *explorer) apply(l *letter, n *node, a answer, copied bool) (prolonged bool) {
	n.memory = a.memory
	owner, ranked, broken := x.facts.Executed(&monitor.Execution{Client: int(l.client), N: l.acquired, Phase: l.phase, Copy: copied,
		Owner: n.owner, Effect: a.effect})
	x.report(broken)
	if n.owner = owner; !a.effect.Touched {
		return false
	}
	c := &x.s.clients[l.client]
	if ranked {
		c.grantSent = l.ago
	}
	x.facts.Recount()
	own := monitor.Owner{Client: int16(l.client), N: l.acquired}
	return a.effect.Later && !c.Crashed && l.acquired == c.Acquired && n.owner == own
}

// reply travels back.
func (x *explorer) reply(l *letter, m parcel, lost bool) {
	c := &x.s.clients[l.client]
	if c.Crashed {
		return
	}
	if lost || c.torn>>l.conn&1 != 0 {
		c.torn |= 1 << l.conn
		return
	}
	id, fits := x.tables.inboxes.put(append(append([]parcel(nil), x.tables.inboxes.get(c.inbox)...), m))
	if !fits {
		x.fail(fmt.Errorf("more than %d replies wait for one client", maxList))
	}
	c.inbox = id
	mo := x.moment(int(l.client))
	for t := range int(mo.count) {
		if p := &mo.threads[t]; !p.over && p.kind == sim.OpReceive && p.conn == l.conn {
			c.queue(t)
		}
	}
}

// mailFor finds the first reply on a connection.
func (x *explorer) mailFor(c *client, conn uint8) int {
	for n, m := range x.tables.inboxes.get(c.inbox) {
		if m.conn == uint16(conn) {
			return n
		}
	}
	return -1
}

// receive reads a reply, or gives up.
func (x *explorer) receive(c *client, p *plan, e *edge) (m parcel) {
	n := x.mailFor(c, p.conn)
	if n < 0 {
		e.seen = sight{kind: sawTimeout}
		return parcel{}
	}
	mail := x.tables.inboxes.get(c.inbox)
	m = mail[n]
	rest := append(append([]parcel(nil), mail[:n]...), mail[n+1:]...)
	c.inbox, _ = x.tables.inboxes.put(rest)
	if m.refused {
		e.seen = sight{kind: sawRefusal}
		return parcel{}
	}
	e.seen = sight{sawReply, int64(m.reply)}
	return m
}

// renew: a thread has learnt that its extension was executed. Where the strategy
// exposes no deadline, the lease goes on for a TTL from when that was sent.
func (x *explorer) renew(i, t int, p *plan, m parcel) {
	c := &x.s.clients[i]
	mo := x.moment(i)
	switch {
	case t > 0:
		if !mo.given || !mo.believes {
			return
		}
		if x.bounds.Extend { // so that it is kept, see settle
			m.ago = min(m.ago, c.grantSent)
		}
		c.grantSent = m.ago
		x.tell(i, telling{kind: trace.KindExtended, given: true})
	case p.phase == trace.PhaseExtend:
		c.grantSent = min(m.ago, c.grantSent)
	}
}
