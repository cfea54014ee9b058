package explore

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim"
	"lockstep/sim/explore/behaviour"
	"lockstep/sim/monitor"
	"lockstep/sim/process"
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
	from, s state
	choices []choice

	// The state that it views.
	summaries []*summary // of the clients, without the probe
	nodes     []*nodeSummary
	world     *world
	quiet     bool                     // no request is held up there, and nothing begun
	crashed   [3*len(names) + 1]uint32 // ids of clients that have crashed, by what they had touched: three grants matter to each client at most

	successors []uint32  // states that were come to, and not added yet
	pending    []pending // clients in them
	ahead      uint32    // of no meaning: what was read ahead of its use
	digests    []uint64
	reduce     bool  // it does what nobody can see at once, see silent
	ops        uint8 // how many operations the last move was
	found      codes
	err        error
	stats      stats
	facts      *monitor.Facts // of s
}

// model is what all workers of a search share.
type model struct {
	bounds  Bounds
	cfg     sim.Config
	clients *behaviour.Clients
	servers *behaviour.Servers
	ids     *idTables
	habits  *habits
	quorum  int
	ttl     int32
	timeout int32
	timed   bool // true time is part of the state, because somebody looks at it
	width   int  // of a state, in numbers
	listers listers

	idleProbe client // as it is before the end
}

func (m *model) explorer() *explorer {
	x := &explorer{model: m}
	x.from, x.s = m.blank(), m.blank()
	x.facts = x.s.facts(m)
	x.summaries, x.nodes = make([]*summary, m.bounds.Clients), make([]*nodeSummary, len(m.cfg.Nodes))
	return x
}

func (m *model) blank() state {
	return state{clients: make([]client, m.bounds.Clients+1), nodes: make([]node, len(m.cfg.Nodes))}
}

// probe is the index of the client that finds out at the end whether the lock can
// still be had.
func (m *model) probe() int { return m.bounds.Clients }

func (x *explorer) fail(err error) {
	if x.err == nil {
		x.err = err
	}
}

func (x *explorer) history(i int) *behaviour.History { return x.clients.At(x.s.clients[i].history) }

// next is the thread of a client that would act, if any can.
func (x *explorer) next(i int) (thread int, any bool) { return x.model.next(&x.s.clients[i]) }

func (m *model) next(c *client) (thread int, any bool) {
	if c.Crashed {
		return 0, false
	}
	now := m.clients.At(c.history)
	best := -1
	for t := range int(now.Count) {
		if now.Threads[t].Over || c.waits[t] {
			continue
		}
		if best < 0 || c.turn[t] < c.turn[best] {
			best = t
		}
	}
	return best, best >= 0
}

// requestFate is what becomes of the next request.
type requestFate uint8

const (
	goes requestFate = iota
	losesReply
	heldUp
)

// macroStep lets a client act, and does with everything what a localStep does of one client.
func (x *explorer) macroStep(i, t int, f requestFate) {
	x.perform(i, t, f)
	x.ops = 1
	l := x.local(i)
	for x.reduce && x.err == nil && l.independent() {
		x.perform(i, 0, goes)
		x.ops++
	}
	if l.err != nil {
		x.fail(l.err)
	}
}

// local is the view of one client of the situation.
func (x *explorer) local(i int) *local { return &local{habits: x.habits, c: &x.s.clients[i]} }

// perform performs one operation: that of the thread which has been ready longest; and
// runs it to the next.
func (x *explorer) perform(i, t int, f requestFate) {
	l := x.local(i)
	l.c.paused = false
	m := x.clients.At(l.c.history)
	p := &m.Threads[t]
	seen, n, _ := l.observe(m, p)
	var mail reply
	switch {
	case n >= 0:
		mail = *l.mail(n)
	case p.Kind == process.OpSend:
		x.send(i, t, p, f)
	case p.Kind == process.OpRead || p.Kind == process.OpWrite:
		if !x.access(i, p) {
			seen = behaviour.Observation{Kind: behaviour.SawRefusal}
		}
	case p.Kind == process.OpClock && p.Wall:
		seen = x.wallClock(l.c)
	}
	l.consume(p, n)
	if mail.prolonged {
		x.renew(i, t, p, mail)
	}
	a := l.after(behaviour.Transition{From: l.c.history, Thread: uint8(t), Seen: seen})
	if l.err != nil {
		x.fail(l.err)
		return
	}
	for _, tl := range *x.clients.Reports.At(a.Reports) {
		x.tell(i, tl)
	}
	x.closeConns(i, l.closing(m, a))
	l.arrive(t, m, a)
	x.facts.CanonicaliseRanks()
}

// settle puts those things of a client in order that don't matter otherwise.
func (x *explorer) settle(i int) { x.local(i).settle() }

// closeConns is the end of a client's connections where others meet them: requests in
// flight, and what was begun on the servers.
func (x *explorer) closeConns(i int, conns uint16) {
	if conns == 0 {
		return
	}
	if x.s.world.held != 0 {
		conns &^= x.renameConn(i, conns)
	}
	for n := range x.s.nodes {
		nd := &x.s.nodes[n]
		for _, b := range x.servers.Snapshot(nd.snapshot).Peers {
			if conn := uint16(b.Conn) & 15; b.Conn>>4 == i && conns>>conn&1 != 0 {
				nd.snapshot = x.servers.Without(nd.snapshot, uint16(b.Conn))
			}
		}
	}
}

// renameConn gives the connections on which requests are held up other numbers: the
// client will use theirs again. What it had begun on them still stands there.
func (x *explorer) renameConn(i int, conns uint16) (renamed uint16) {
	held := append([]request(nil), x.ids.helds.get(x.s.world.held)...)
	taken := func(conn uint8) bool {
		return slices.ContainsFunc(held, func(l request) bool { return int(l.client) == i && l.orphan && l.conn == conn })
	}
	for conn := range uint8(16) {
		if conns>>conn&1 == 0 || taken(conn) || !slices.ContainsFunc(held, func(l request) bool { return int(l.client) == i && l.conn == conn }) {
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
			x.s.nodes[n].snapshot = x.servers.Renamed(x.s.nodes[n].snapshot, peer(i, uint16(conn)), peer(i, uint16(other)))
		}
	}
	for _, l := range held {
		if int(l.client) == i && l.orphan {
			renamed |= 1 << l.conn
		}
	}
	x.s.world.held, _ = x.ids.helds.put(held)
	return renamed
}

// peer numbers the connections of all clients.
func peer(client int, conn uint16) uint16 { return uint16(client)<<4 | conn }

// wallClock is a reading of a client's wall clock.
func (x *explorer) wallClock(c *client) behaviour.Observation {
	if !x.timed {
		x.fail(behaviour.ErrTimed)
	}
	c.stamp = x.ttl + overStamp
	return behaviour.Observation{Kind: behaviour.SawWall, Value: int64(x.s.world.now + c.wall)}
}

// overStamp is by how much more than a TTL a stamp is over, to whichever second
// it was rounded.
const overStamp = 2000

// tell follows what a client lets be known, and judges it.
func (x *explorer) tell(i int, t behaviour.Report) {
	c := &x.s.clients[i]
	live := false
	switch t.Kind {
	case trace.KindGranted:
		live = x.lease(c, t)
	case trace.KindExtended:
		x.stats.extended = true
		live = x.lease(c, t)
	case trace.KindRefused:
		x.stats.refused++
	case trace.KindReleaseFailed:
		x.stats.tooLate++
	}
	x.report(x.facts.Told(i, t.Kind, live))
	c.endLease()
}

// report notes what a transition of the facts broke.
func (x *explorer) report(broken []monitor.Finding) {
	for _, b := range broken {
		x.found |= setOf(b.Code)
	}
}

// lease begins, or goes on, until its deadline. It reports whether that is still to come.
func (x *explorer) lease(c *client, t behaviour.Report) bool {
	switch {
	case t.Given && !x.cfg.Strategy.NoTTL:
		c.forever, c.deadline = false, x.ttl-c.grantSent
	case t.Never || t.Given:
		c.forever, c.deadline = true, 0
	default:
		c.forever, c.deadline = false, t.Deadline-max(c.since, 0)
	}
	return c.forever || c.deadline > 0
}

// access is a read or a write of the resource. It reports whether the resource
// let it pass.
func (x *explorer) access(i int, p *behaviour.Operation) bool {
	write := p.Kind == process.OpWrite
	w := &x.s.world
	looks := x.cfg.Resource == sim.Fenced || x.cfg.Resource == sim.FencedWrites && write
	if looks && p.Fence != 0 && p.Fence < w.fence {
		x.stats.fenced++
		return false
	}
	if looks {
		w.fence = max(w.fence, p.Fence)
	}
	x.report(x.facts.Accessed(i, write, 0))
	return true
}

// send executes a command at its node, or doesn't yet.
func (x *explorer) send(i, t int, p *behaviour.Operation, f requestFate) {
	x.s.clients[i].sent[t] = 0
	l := request{client: uint8(i), thread: uint8(t), conn: p.Conn, addr: p.Addr, command: p.Command, acquired: x.s.clients[i].Acquired, phase: p.Phase}
	if f == heldUp || x.behind(&l) {
		l.queued, l.loses = f != heldUp, f == losesReply
		x.hold(l)
		return
	}
	x.execute(&l, f == losesReply, false)
}

// behind reports whether a request has to wait for another one on its connection.
func (x *explorer) behind(l *request) bool {
	return slices.ContainsFunc(x.ids.helds.get(x.s.world.held), l.sharesLane)
}

func (x *explorer) hold(l request) {
	held := append(append([]request(nil), x.ids.helds.get(x.s.world.held)...), l)
	id, fits := x.ids.helds.put(held)
	if !fits {
		x.fail(fmt.Errorf("more than %d requests are held up at a time", maxList))
	}
	x.s.world.held = id
}

// execute is what a node does with a request, and the way of its reply.
func (x *explorer) execute(l *request, lost, copied bool) {
	c, n := &x.s.clients[l.client], &x.s.nodes[l.addr]
	if !copied && (l.stale || c.gone>>l.conn&1 != 0) {
		if !l.orphan {
			x.deliver(l, reply{conn: uint16(l.conn), refused: true}, lost)
		}
		return
	}
	conn := peer(int(l.client), uint16(l.conn))
	if copied {
		conn = peer(15, 0) // another one
	}
	a, err := x.answer(n, behaviour.Question{Snapshot: n.snapshot, Conn: conn, Command: l.command})
	if err != nil {
		x.fail(err)
		return
	}
	if copied {
		a.Snapshot = x.servers.Without(a.Snapshot, conn)
	}
	if a.Asks && !c.Crashed {
		c.stamp = x.ttl + overStamp // a look at that clock is one at the time, too
	}
	prolonged := x.apply(l, n, a, copied)
	x.notice(l, a)
	if !copied && !c.Crashed {
		x.remember(c, l, a)
	}
	if !copied && !l.orphan {
		m := reply{conn: uint16(l.conn), reply: a.Reply, prolonged: prolonged}
		if prolonged {
			m.ago = l.ago
		}
		x.deliver(l, m, lost)
	}
}

// answer is what a node does with a command.
func (x *explorer) answer(n *node, q behaviour.Question) (behaviour.Answer, error) {
	if x.servers.Replicas > 0 {
		missing := 0
		if n.behind.snapshot != 0 || n.failed {
			missing = 1
		}
		if a, is, err := x.servers.Wait(q, missing); is {
			return a, err
		}
	}
	return x.servers.Run(q)
}

// remember a command that could arrive once more: the last that was executed,
// unless that was queued in a transaction.
func (x *explorer) remember(c *client, l *request, a behaviour.Answer) {
	switch {
	case x.s.world.left[Duplicate] == 0:
	case strings.HasPrefix(*x.clients.Replies.Value(a.Reply), "+QUEUED"):
		c.last = 0
	default:
		again := *l
		again.ago, again.orphan, again.queued, again.loses = 0, true, false, false
		c.last = x.ids.requests.ID(again)
	}
}

// notice counts what kept a near miss from being one.
func (x *explorer) notice(l *request, a behaviour.Answer) {
	if l.phase == trace.PhaseRelease && *x.clients.Replies.Value(a.Reply) == ":0\r\n" {
		x.stats.compared++
	}
}

// apply does to a node what a command does. It reports whether that prolonged the
// client's own record.
func (x *explorer) apply(l *request, n *node, a behaviour.Answer, copied bool) (prolonged bool) {
	n.snapshot = a.Snapshot
	owner, ranked, broken := x.facts.Executed(&monitor.Execution{Client: int(l.client), N: l.acquired, Phase: l.phase, Copy: copied,
		Owner: n.owner, Effect: a.Effect})
	x.report(broken)
	if n.owner = owner; !a.Effect.Touched {
		return false
	}
	c := &x.s.clients[l.client]
	if ranked {
		c.grantSent = l.ago
	}
	x.facts.Recount()
	own := monitor.Owner{Client: int16(l.client), N: l.acquired}
	return a.Effect.Later && !c.Crashed && l.acquired == c.Acquired && n.owner == own
}

// deliver travels back.
func (x *explorer) deliver(l *request, m reply, lost bool) {
	c := &x.s.clients[l.client]
	if c.Crashed {
		return
	}
	if lost || c.torn>>l.conn&1 != 0 {
		c.torn |= 1 << l.conn
		return
	}
	id, fits := x.ids.inboxes.put(append(append([]reply(nil), x.ids.inboxes.get(c.inbox)...), m))
	if !fits {
		x.fail(fmt.Errorf("more than %d replies wait for one client", maxList))
	}
	c.inbox = id
	mo := x.history(int(l.client))
	for t := range int(mo.Count) {
		if p := &mo.Threads[t]; !p.Over && p.Kind == process.OpReceive && p.Conn == l.conn {
			c.queue(t)
		}
	}
}

// renew: a thread has learnt that its extension was executed. Where the strategy
// exposes no deadline, the lease goes on for a TTL from when that was sent.
func (x *explorer) renew(i, t int, p *behaviour.Operation, m reply) {
	c := &x.s.clients[i]
	switch {
	case t > 0:
		if !x.history(i).Given || !c.Believes {
			return
		}
		if x.bounds.Extend { // so that it is kept, see settle
			m.ago = min(m.ago, c.grantSent)
		}
		c.grantSent = m.ago
		x.tell(i, behaviour.Report{Kind: trace.KindExtended, Given: true})
	case p.Phase == trace.PhaseExtend:
		c.grantSent = min(m.ago, c.grantSent)
	}
}
