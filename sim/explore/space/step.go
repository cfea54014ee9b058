package space

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim"
	"lockstep/sim/explore/behaviour"
	"lockstep/sim/explore/bounds"
	"lockstep/sim/explore/counts"
	"lockstep/sim/explore/flight"
	"lockstep/sim/explore/instants"
	"lockstep/sim/explore/naming"
	"lockstep/sim/explore/spent"
	"lockstep/sim/explore/unfit"
	"lockstep/sim/monitor"
	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// Codes is a set of violations.
type Codes = trace.CodeSet

// Explorer makes transitions on a state of its own. Each worker of a search has one, and
// they share the model.
//
// Two of its states matter: the packed one that it views by summaries, in which choices are
// listed and local steps are made; and s, on which choose makes any choice.
type Explorer struct {
	*Model
	from, s state // before and after the choice
	choices []Choice

	summaries []*summary // of the clients, without the probe
	nodes     []*nodeSummary
	world     *world
	quiet     bool                                               // no request is held up there, and no transaction open
	crashed   [len(bounds.Names)][3*len(bounds.Names) + 1]uint32 // ids of crashed clients by the rank of the grant that they had touched: three grants matter to each client at most

	successors  []uint32         // packed states that are not in the visited set yet
	pending     []pending        // clients in them that have no id yet
	ahead       uint32           // has no meaning: it keeps the compiler from dropping prefetches
	Reduce      bool             // partial-order reduction is on: see local.independent
	ops         uint8            // operations that the last choice performed
	executed    []flight.Request // by the last choice, if they could arrive once more: see foresee
	unforeseen  state            // see foresee
	held        []flight.Request // scratch of tidy
	requests    []flight.Request // scratch of dropSpent
	number      int64            // that the next draw gives, in nanoseconds, or a reading: see Choice
	Found       Codes
	Err         error
	Stats       counts.Stats
	facts       *monitor.Facts // of s, into which they point
	naming      naming.Namer   // see canonical
	form, least []uint32       // likewise
}

// Model is the part of a search that all its workers share. Its tables grow, and all else
// is constant.
type Model struct {
	Bounds        Bounds
	Config        sim.Config
	Clients       *behaviour.Clients
	Servers       *behaviour.Servers
	ids           *idTables
	habits        *habits
	quorum        int
	ttl           int32         // milliseconds
	timeout       int32         // milliseconds
	epoch         int64         // the true time at which schedules begin, in milliseconds
	timed         bool          // true time is part of the state, because some clock that shows it is read
	instants      *instants.Set // at which time may stop
	learnt        *instants.Set // at which it has had to stop, as far as Learn has seen
	Width         int           // of a packed state, in ids
	listers       listers
	Unprobed      int              // see [behaviour.Thresholds]
	Probed        bool             // likewise
	Measured      string           // likewise
	eachStep      bool             // see StepByStep
	lasting       bool             // likewise
	LooseWaits    bool             // waits end at any time because there are too many instants at which they do: see WakeEarly
	KeepsRequests bool             // requests that are held up, or could arrive twice, stay as they are: see tidy
	spent         *spent.Requests  // that were dropped because nothing can come of them, or nil if none are: see dropSpent
	keepsSpent    bool             // none are
	neverDone     bool             // see spent.Requests.Done
	deeds         []behaviour.Deed // that the environment can do: see Bounds.Others
	Budget        Budget           // of a schedule: the bounds, or in an early round of a search without bounds a smaller one

	idleProbe client // the probe before a schedule's end
}

// Explorer returns a new worker, whose state is not set yet.
func (m *Model) Explorer() *Explorer {
	x := &Explorer{Model: m}
	x.from, x.s, x.unforeseen = m.blank(), m.blank(), m.blank()
	x.facts = x.s.facts(m)
	x.summaries, x.nodes = make([]*summary, m.Bounds.Clients), make([]*nodeSummary, len(m.Config.Nodes))
	return x
}

// blank returns a state to be filled in.
func (m *Model) blank() state {
	s := state{clients: make([]client, m.Bounds.Clients+1), nodes: make([]node, len(m.Config.Nodes))}
	if m.Bounds.Others {
		s.clients = append(s.clients, client{Client: monitor.Client{Crashed: true}, since: unset}) // the environment, which no event concerns
	}
	return s
}

// probe is the index of the client that finds out at a schedule's end whether the lock can
// still be acquired.
func (m *Model) probe() int { return m.Bounds.Clients }

// fail keeps the explorer's first error.
func (x *Explorer) fail(err error) {
	if x.Err == nil {
		x.Err = err
	}
}

// history returns the history of client i.
func (x *Explorer) history(i int) *behaviour.History { return x.Clients.At(x.s.clients[i].history) }

// NextKind returns the kind of client i's next operation, if it can perform any.
func (x *Explorer) NextKind(i int) (kind process.OpKind, any bool) {
	t, any := x.readyOf(i)
	if !any {
		return 0, false
	}
	return x.history(i).Threads[t].Kind, true
}

// Left returns how many faults of a kind the budget still has in the explorer's state.
func (x *Explorer) Left(k FaultKind) uint8 { return x.s.world.left[k] }

// readyOf returns the thread that performs the client's next operation, if any can.
func (x *Explorer) readyOf(i int) (thread int, any bool) { return x.Model.ready(&x.s.clients[i]) }

func (m *Model) ready(c *client) (thread int, any bool) {
	if c.Crashed {
		return 0, false
	}
	return firstReady(c, m.Clients.At(c.history), m.habits.endless)
}

// firstReady returns the thread of a client with a history that performs its next operation, if any can.
func firstReady(c *client, h *behaviour.History, endless bool) (thread int, any bool) {
	best := -1
	for t := range int(h.Count) {
		if h.Threads[t].Over || c.waits[t] || endless && h.Threads[t].Asks() && !h.Single() {
			continue
		}
		if h.Threads[t].Kind == process.OpDraw {
			return t, true // in the same instant as the step before
		}
		if best < 0 || c.turn[t] < c.turn[best] {
			best = t
		}
	}
	return best, best >= 0
}

// requestFate tells what happens to the request that a client sends next.
type requestFate uint8

const (
	goes requestFate = iota
	losesReply
	heldUp
)

// macroStep lets thread t of client i perform its operation, and with partial-order
// reduction all that follow and are independent.
func (x *Explorer) macroStep(i, t int, f requestFate) {
	l := x.local(i)
	asks := x.Reduce && l.asks(t)
	x.perform(i, t, f)
	x.ops = 1
	if asks && x.Err == nil && l.goesAhead() {
		x.perform(i, 0, f)
		x.ops++
	}
	for x.Reduce && !x.eachStep && x.Err == nil && l.independent() {
		x.perform(i, 0, goes)
		x.ops++
	}
	if l.err != nil {
		x.fail(l.err)
	}
}

// local returns the view of client i.
func (x *Explorer) local(i int) *local {
	return &local{habits: x.habits, c: &x.s.clients[i], exact: i == x.probe()}
}

// perform performs the operation of thread t of client i, and runs the thread to the next.
func (x *Explorer) perform(i, t int, f requestFate) {
	l := x.local(i)
	l.c.paused = false
	h := x.Clients.At(l.c.history)
	p := &h.Threads[t]
	seen, n, _ := l.observe(h, p)
	var got reply
	switch {
	case n >= 0:
		got = *l.replyAt(n)
	case p.Kind == process.OpSend:
		x.send(i, t, p, f)
	case p.Kind == process.OpRead || p.Kind == process.OpWrite:
		if !x.access(i, p) {
			seen = behaviour.Observation{Kind: behaviour.SawRefusal}
		}
	case x.habits.endless && p.Asks():
		seen = x.beginSeries(i)
	case p.Kind == process.OpClock && p.Wall:
		seen = x.wallClock(l.c)
	case p.Kind == process.OpClock && x.number != 0:
		seen.Value = x.number - 1
	case p.Kind == process.OpDraw:
		seen = behaviour.Observation{Kind: behaviour.SawDraw, Value: x.number}
	}
	l.consume(p, n)
	if got.prolonged {
		x.renew(i, t, p, got)
	}
	out := l.after(behaviour.Transition{From: l.c.history, Thread: uint8(t), Seen: seen})
	if l.err != nil {
		x.fail(l.err)
		return
	}
	for _, r := range *x.Clients.Reports.At(out.Reports) {
		x.applyReport(i, r)
	}
	failed := uint16(0)
	if seen.Kind == behaviour.SawTimeout || seen.Kind == behaviour.SawRefusal {
		failed = 1 << p.Conn // if it is closed now, it is for that
	}
	x.closeConns(i, l.closing(h, out), failed, x.Clients.At(out.To))
	l.arrive(t, h, out)
	x.facts.CanonicaliseRanks()
}

// settle brings client i into canonical form.
func (x *Explorer) settle(i int) { x.local(i).settle() }

// closeConns ends connections of client i outside of the client, which comes to a history: it orphans requests that are held up on them,
// and drops open transactions and subscriptions on the servers. If it has crashed, and comes to none, subscriptions stay. Some of conns have failed.
func (x *Explorer) closeConns(i int, conns, failed uint16, next *behaviour.History) {
	if conns == 0 {
		return
	}
	crashed := next == nil
	if x.s.world.held != 0 {
		conns &^= x.renameConn(i, conns, crashed)
	}
	ends := x.Servers.Without
	if crashed {
		ends = x.Servers.Unheard
	}
	for n := range x.s.nodes {
		nd := &x.s.nodes[n]
		for _, txn := range x.Servers.Snapshot(nd.snapshot).Peers {
			if conn := flight.PeerConn(txn.Conn); flight.PeerClient(txn.Conn) == i && conns>>conn&1 != 0 {
				if nd.snapshot = ends(nd.snapshot, uint16(txn.Conn)); !crashed && failed>>conn&1 == 0 && next.BetweenCycles && !next.Over && !txn.Subscribed() {
					x.fail(x.Clients.LeavesOpen(x.s.clients[i].history, txn.Commands[0][0]))
				}
			}
		}
	}
}

// renameConn orphans the requests that are held up on connections of client i, and gives those connections other numbers,
// as the client will use theirs again. Transactions that are open on them stay open. The result has the old and new
// numbers, and those of earlier orphans: these connections must not be closed yet.
func (x *Explorer) renameConn(i int, conns uint16, crashed bool) (renamed uint16) {
	held := x.ids.helds.Get(x.s.world.held)
	if !flight.On(held, i, conns) {
		return flight.Orphaned(held, i)
	}
	if held = slices.Clone(held); !crashed {
		held = flight.HangUp(held, i, conns)
	}
	moved, renamed := flight.Close(held, i, conns, x.s.clients[i].gone, crashed)
	for _, conn := range moved {
		if conn.To < x.history(i).Conns {
			x.tooManyConns(i)
		}
		for n := range x.s.nodes {
			x.s.nodes[n].snapshot = x.Servers.Renamed(x.s.nodes[n].snapshot, flight.Peer(i, conn.From), flight.Peer(i, conn.To))
		}
	}
	x.s.world.held, _ = x.ids.helds.Put(held)
	return renamed
}

// tooManyConns fails because of client i, whose connections need the numbers of those that it
// has closed and on which requests are still held up.
func (x *Explorer) tooManyConns(i int) {
	x.fail(&behaviour.Refusal{Client: x.Name(i), What: "so many connections",
		Why: fmt.Sprintf("it follows %d of a client within a cycle, those included on which a request is held up; use one and keep it", behaviour.MaxConns)})
}

// wallClock returns a reading of a client's wall clock. In an untimed model it fails with unfit.ErrTimed.
func (x *Explorer) wallClock(c *client) behaviour.Observation {
	if !x.timed {
		x.fail(unfit.ErrTimed)
	}
	x.readsTime()
	return behaviour.Observation{Kind: behaviour.SawWall, Value: x.epoch + int64(x.s.world.now) + int64(c.wall)}
}

// readsTime keeps in mind that somebody has just read true time: a stamp that is computed from it falls due later, wherever it has gone.
func (x *Explorer) readsTime() {
	reads := x.ids.reads.Get(x.s.world.reads)
	if len(reads) > 0 && reads[len(reads)-1] == 0 {
		return
	}
	id, fits := x.ids.reads.Put(append(append([]int32(nil), reads...), 0))
	if !fits {
		x.fail(unfit.Unlearned(fmt.Sprintf("true time was read at more than %d instants that still matter", MaxList)))
	}
	x.s.world.reads = id
}

// applyReport applies a report of client i to its lease and to the facts.
func (x *Explorer) applyReport(i int, r behaviour.Report) {
	c := &x.s.clients[i]
	live := false
	switch r.Kind {
	case trace.KindGranted:
		live = x.lease(c, r)
	case trace.KindExtended:
		x.Stats.Extended = true
		live = x.lease(c, r)
	case trace.KindRefused:
		x.Stats.Refused++
	case trace.KindReleaseFailed:
		x.Stats.NotHeld++
	}
	x.record(x.facts.Told(i, r.Kind, live))
	c.endLease()
}

// record keeps the violations of rules that a transition of the facts has broken.
func (x *Explorer) record(broken []monitor.Finding) {
	for _, b := range broken {
		x.Found |= trace.SetOf(b.Code)
	}
}

// lease sets the deadline of a lease that begins or is extended, and reports whether that
// is still to come.
func (x *Explorer) lease(c *client, r behaviour.Report) bool {
	switch {
	case r.Given && !x.Config.Strategy.NoTTL:
		if c.grantSent == dropped {
			x.fail(unfit.ErrDropped)
		}
		c.forever, c.deadline = false, x.instants.Lease(x.ttl)-c.grantSent
	case r.Never || r.Given:
		c.forever, c.deadline = true, 0
	default:
		if c.since == dropped {
			x.fail(unfit.ErrDropped)
		}
		c.forever, c.deadline = false, x.instants.Lease(r.Deadline)-max(c.since, 0)
	}
	return c.forever || c.deadline > 0
}

// access reads or writes the resource for client i, and reports whether the resource has
// accepted that.
func (x *Explorer) access(i int, p *behaviour.Operation) bool {
	if w := &x.s.world; !x.habits.accepts(p) {
		if p.Fence != 0 && p.Fence < w.fence {
			x.Stats.Fenced++
			return false
		}
		w.fence = max(w.fence, p.Fence)
	}
	x.record(x.facts.Accessed(i, p.Kind == process.OpWrite, 0))
	return true
}

// send sends a thread's command to its node, where it is executed at once unless it is held
// up.
func (x *Explorer) send(i, t int, p *behaviour.Operation, f requestFate) {
	x.s.clients[i].sent[t] = 0
	if flight.Waits(x.ids.helds.Get(x.s.world.held), i, p.Conn) {
		x.tooManyConns(i)
	}
	req := flight.Request{Client: uint8(i), Thread: uint8(t), Conn: p.Conn, Addr: p.Addr, Command: p.Command, Acquired: x.s.clients[i].Acquired, Phase: p.Phase}
	if f == heldUp || x.behind(req) {
		req.Queued, req.Loses = f != heldUp, f == losesReply
		x.hold(req)
		return
	}
	if x.execute(&req, f == losesReply, false) {
		req.Loses = f == losesReply
		x.block(req, false)
	}
}

// behind reports whether another request is held up on the same connection.
func (x *Explorer) behind(req flight.Request) bool {
	return slices.ContainsFunc(x.ids.helds.Get(x.s.world.held), req.SharesLane)
}

// hold appends a request to those that are held up.
func (x *Explorer) hold(req flight.Request) {
	held := x.ids.helds.Get(x.s.world.held)
	if n := len(flight.Lane(held, req)); n > 0 && flight.Lane(held, req)[0].Left != 0 {
		x.unfit(&req, x.Clients.Behind(req.Command))
	}
	x.put(append(slices.Clone(held), req), int(req.Client))
}

// crowded is the error of a list that is full.
func (x *Explorer) crowded(i int, what, why string) error {
	return &behaviour.Refusal{Client: x.Name(i), What: what, Why: fmt.Sprintf("it follows %d %s", MaxList, why)}
}

// Name returns the name of client i, or of the probe.
func (m *Model) Name(i int) string {
	if i == m.probe() {
		return trace.Probe
	}
	return m.Config.Clients[i].Name
}

// execute executes a request at its node, and sends the reply back unless the request is a
// copy or an orphan. It reports whether the request has to wait for an element instead.
func (x *Explorer) execute(req *flight.Request, lost, copied bool) (blocks bool) {
	c, n := &x.s.clients[req.Client], &x.s.nodes[req.Addr]
	if !copied && (req.Stale || c.gone>>req.Conn&1 != 0) {
		x.refuse(req, lost)
		return false
	}
	conn := connOf(req, copied)
	a, err := x.answer(n, behaviour.Question{Snapshot: n.snapshot, Conn: conn, Command: req.Command})
	if err != nil {
		x.unfit(req, err)
		return false
	}
	if x.habits.endless && (a.Blocks || x.Servers.Subscribers(a.Snapshot) > 0) {
		x.unfit(req, x.Clients.Endures(req.Command))
	}
	if a.Blocks {
		return true
	}
	if x.instants.Digital && !x.eachStep && !a.Effect.Longer { // a multiple stands for many instants
		older := x.Servers.Older(n.snapshot)
		if later, err := x.answer(n, behaviour.Question{Snapshot: older, Conn: conn, Command: req.Command}); older != n.snapshot && err == nil && later.Effect.Longer {
			a.Effect = later.Effect
		}
	}
	x.finish(req, n, a, lost, copied)
	x.serve(req.Addr)
	return false
}

// connOf returns the connection at the server on which a request is executed.
func connOf(req *flight.Request, copied bool) uint16 {
	if copied {
		return flight.Nobodys // a connection of its own
	}
	return flight.Peer(int(req.Client), req.Conn)
}

// finish ends the execution of a request, which has had an answer.
func (x *Explorer) finish(req *flight.Request, n *node, a behaviour.Answer, lost, copied bool) {
	c := &x.s.clients[req.Client]
	if copied {
		a.Snapshot = x.Servers.Without(a.Snapshot, connOf(req, copied))
	}
	if a.Shares && n.owner.Client != int16(req.Client) && x.Bounds.CodeSet()&ofOwners != 0 {
		x.unfit(req, errShared)
	}
	if a.Asks {
		x.readsTime() // the reply may tell the client the time, and a script may store it
	}
	prolonged := x.apply(req, n, a, copied)
	if req.Phase == trace.PhaseRelease && *x.Clients.Replies.Value(a.Reply) == ":0\r\n" {
		x.Stats.Compared++
	}
	if !copied {
		x.remember(c, req, a)
	}
	if !copied && !req.Orphan {
		rep := reply{conn: uint16(req.Conn), reply: a.Reply, prolonged: prolonged}
		if prolonged {
			rep.ago = req.Ago
		}
		x.deliver(int(req.Client), rep, lost)
	}
	x.publish(a.Sent)
}

// ofOwners are the codes for which the search must know to whom the lock's record belongs.
var ofOwners = monitor.OfOwners()

// errShared is the error of a client that changes a collection in which another client's
// record is.
var errShared = &redis.Unmodelled{What: "a record that clients share", Why: "a list, a set or a sorted set under the lock's own key has no single owner, " +
	"so foreign releases, permanent deadlocks, gaps and false refusals can't be told; keep the collection under another key, or search for DG, OV and SW alone (--codes)"}

// answer returns a node's answer to a command.
func (x *Explorer) answer(n *node, q behaviour.Question) (behaviour.Answer, error) {
	if x.Servers.Replicas > 0 {
		missing := 0
		if n.behind.snapshot != 0 || n.failed {
			missing = 1
		}
		if a, is, err := x.Servers.Wait(q, missing); is {
			return a, err
		}
	}
	return x.Servers.Run(q)
}

// remember keeps a request that was executed among those that could arrive once more. One
// that was queued in a transaction can't, and only keeps its place.
func (x *Explorer) remember(c *client, req *flight.Request, a behaviour.Answer) {
	if x.s.world.left[bounds.Duplicate] == 0 {
		return
	}
	idle := strings.HasPrefix(*x.Clients.Replies.Value(a.Reply), "+QUEUED")
	if !x.foresees() {
		c.sentBefore, _ = x.ids.sents.Put(flight.Executed(x.ids.sents.Get(c.sentBefore), *req, idle, bounds.Repeatable))
		return
	}
	if spares, _ := x.Servers.Idle(a.Snapshot, flight.Nobodys, []uint32{req.Command}); !idle && !spares {
		x.executed = append(x.executed, flight.Copy(*req))
	}
}

// apply applies the effect of a command to its node and to the facts, and reports whether
// the command gave the client's own record a later expiry.
func (x *Explorer) apply(req *flight.Request, n *node, a behaviour.Answer, copied bool) (prolonged bool) {
	n.snapshot = a.Snapshot
	owner, ranked, broken := x.facts.Executed(&monitor.Execution{Client: int(req.Client), N: req.Acquired, Phase: req.Phase, Copy: copied,
		Dead: req.Sender == flight.Replaced, Owner: n.owner, Effect: a.Effect})
	x.record(broken)
	if n.owner = owner; !a.Effect.Touched {
		return false
	}
	c := &x.s.clients[req.Client]
	if ranked {
		c.grantSent = req.Ago
	}
	x.facts.Recount()
	own := monitor.Owner{Client: int16(req.Client), N: req.Acquired}
	return a.Effect.Later && !c.Crashed && req.Acquired == c.Acquired && n.owner == own
}

// deliver puts a reply into client i's inbox, and wakes the thread that waits for it;
// unless the reply is lost, or an earlier one on its connection was.
func (x *Explorer) deliver(i int, rep reply, lost bool) {
	c := &x.s.clients[i]
	if c.Crashed || x.history(i).Over {
		return
	}
	if lost || c.torn>>rep.conn&1 != 0 {
		c.torn |= 1 << rep.conn
		return
	}
	id, fits := x.ids.inboxes.Put(append(append([]reply(nil), x.ids.inboxes.Get(c.inbox)...), rep))
	if !fits {
		x.fail(x.crowded(i, "a reply", "replies that wait for a client; use fewer commands in a pipeline or transaction, or a script"))
	}
	c.inbox = id
	h := x.history(i)
	for t := range int(h.Count) {
		if p := &h.Threads[t]; !p.Over && p.Kind == process.OpReceive && uint16(p.Conn) == rep.conn {
			c.queue(t)
		}
	}
}

// renew handles a reply to a command that prolonged the client's record. Where the strategy
// exposes no deadline, the lease goes on for a TTL from the sending of that command.
func (x *Explorer) renew(i, t int, p *behaviour.Operation, rep reply) {
	c := &x.s.clients[i]
	switch {
	case t > 0:
		if !x.history(i).Given || !c.Believes {
			return
		}
		if x.Bounds.Extend { // grantSent is kept then: see settle
			rep.ago = min(rep.ago, c.grantSent)
		}
		c.grantSent = rep.ago
		x.applyReport(i, behaviour.Report{Kind: trace.KindExtended, Given: true})
	case p.Phase == trace.PhaseExtend:
		c.grantSent = min(rep.ago, c.grantSent)
	}
}
