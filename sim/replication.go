package sim

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"lockstep/sim/fault"
	"lockstep/sim/redis"
	"lockstep/sim/resp"
	"lockstep/sim/trace"
)

// replication is the state of a server's replication, which is asynchronous: a write is
// answered first, and reaches the replicas a lag later; the acknowledgement takes as long
// again.
//
// A replica drops an expired key by itself. In Redis it waits for its master's DEL, but
// answers as if it had dropped the key: no client can tell the difference.
//
// Invariant: only a master has waiting messages.
type replication struct {
	source  int           // the server that it copies, or None for a master
	lag     time.Duration // of a write from source, and of its acknowledgement
	written int           // of a master: the number of its writes, which numbers them from 1
	acked   int           // of a replica: the last write that its source knows it to have
	waiting []*message    // of a master: the WAITs that it hasn't answered yet
}

// replicatedWrite is one write in flight to one replica, and then its acknowledgement.
type replicatedWrite struct {
	from, to int
	number   int // of the write, at its master
	delta    redis.Delta
	message  *message // the request that wrote; of a change that no client has asked for one of nobody's
}

// cluster keeps the servers, which of them copy which, and which of them clients talk to.
// An address is the index of one of the configuration's nodes, and stands for whichever
// server is its master.
//
// Invariants: nodes has the masters of the configuration first, by address, then the
// replicas of each. primary[a] and every route to address a are servers of that address.
// A route differs from primary only while its client stays with a deposed master.
type cluster struct {
	nodes       []*redis.Node
	replication []replication // by server
	primary     []int         // by address: the server that is the master
	routes      []int         // by client and address: the server that the client takes for the master
}

func (c *cluster) reset(cfg *Config) {
	masters := len(cfg.Nodes)
	c.primary = c.primary[:0]
	for i, n := range c.nodes {
		if i < masters {
			n.Reset(cfg.Nodes[i])
			c.replication[i] = replication{source: trace.None}
			c.primary = append(c.primary, i)
			continue
		}
		source := (i - masters) / cfg.Replicas
		n.Reset(cfg.Nodes[source])
		n.Replica = true
		c.replication[i] = replication{source: source, lag: cfg.Lag}
	}
	for i := range c.routes {
		c.routes[i] = i % masters
	}
}

// server returns the server to which a client's connection to an address leads.
func (c *cluster) server(client, addr int) *redis.Node {
	return c.nodes[c.routes[client*len(c.primary)+addr]]
}

// propagate sends the changes of a write to the master's replicas.
func (w *World) propagate(n *redis.Node, changes []trace.Change, m *message) {
	if len(changes) == 0 || w.cfg.Replicas == 0 || w.replication[n.Index].source != trace.None {
		return
	}
	w.replication[n.Index].written++
	for _, r := range w.nodes {
		if w.replication[r.Index].source != n.Index {
			continue
		}
		s := &replicatedWrite{from: n.Index, to: r.Index, number: w.replication[n.Index].written, delta: n.DeltaOf(changes), message: m}
		w.timers.push(timer{at: w.now + w.replication[r.Index].lag, kind: timerReplicate, copy: s})
	}
}

// replicate handles a write's arrival at a replica.
func (w *World) replicate(s *replicatedWrite) {
	r := w.nodes[s.to]
	if !r.Up {
		return
	}
	changes, err := r.Apply(w.now, s.delta)
	if err != nil {
		w.err = err
		return
	}
	m := s.message
	w.emit(&trace.Event{Kind: trace.KindReplicate, Client: m.client, Thread: m.thread, Node: r.Index, Ref: m.executed, Acq: m.acq, Changes: changes})
	w.timers.push(timer{at: w.now + w.replication[r.Index].lag, kind: timerAck, copy: s})
}

// acknowledge handles the arrival of a replica's acknowledgement at its master.
func (w *World) acknowledge(s *replicatedWrite) {
	master, r := w.nodes[s.from], w.nodes[s.to]
	w.replication[r.Index].acked = max(w.replication[r.Index].acked, s.number)
	for _, m := range append([]*message(nil), w.replication[master.Index].waiting...) {
		if w.acks(master) >= m.wants {
			w.answerWait(m)
		}
	}
}

// acks counts the replicas that have acknowledged all writes of the master.
func (w *World) acks(master *redis.Node) int {
	count := 0
	for _, r := range w.nodes {
		if w.replication[r.Index].source == master.Index && w.replication[r.Index].acked >= w.replication[master.Index].written {
			count++
		}
	}
	return count
}

// waits handles a WAIT, which miniredis would answer with 0 at once, and reports whether m
// was one. The WAIT asks for all of the master's writes so far. Redis asks only for those up to
// the last command of the connection, see docs/fidelity.md.
func (w *World) waits(n *redis.Node, p *redis.Peer, m *message) bool {
	if !isWait(m.args) || w.cfg.Replicas == 0 || p.Queues {
		return false
	}
	if w.replication[n.Index].source != trace.None {
		w.answer(m, "-ERR WAIT cannot be used with replica instances.\r\n")
		return true
	}
	wants, err1 := strconv.Atoi(m.args[1])
	millis, err2 := strconv.Atoi(m.args[2])
	if err1 != nil || err2 != nil || millis < 0 {
		return false // miniredis has the error reply
	}
	m.wants = wants
	w.replication[n.Index].waiting = append(w.replication[n.Index].waiting, m)
	if !m.copy {
		m.conn.blocked = m
	}
	switch {
	case w.acks(n) >= wants:
		w.answerWait(m)
	case millis > 0:
		w.timers.push(timer{at: w.now + time.Duration(millis)*time.Millisecond, kind: timerGiveUp, gen: m.gen, msg: m})
	}
	return true
}

func isWait(args []string) bool { return len(args) == 3 && strings.EqualFold(args[0], "wait") }

// queuedWait returns a command to be queued in the place of a WAIT, which miniredis doesn't
// queue. In a transaction a WAIT waits for nothing.
func (w *World) queuedWait(n *redis.Node) []string {
	return []string{"EVAL", fmt.Sprintf("return %d", w.acks(n)), "0"}
}

// answerWait answers a WAIT that has its acknowledgements or has timed out, or a command that
// has waited for an element in vain, and serves the requests behind it.
func (w *World) answerWait(m *message) {
	if redis.Pops(m.args) {
		w.popsNothing(m)
		return
	}
	n := w.nodes[m.node]
	kept := w.replication[n.Index].waiting[:0]
	found := false
	for _, x := range w.replication[n.Index].waiting {
		if x == m {
			found = true
			continue
		}
		kept = append(kept, x)
	}
	w.replication[n.Index].waiting = kept
	if !found {
		return
	}
	if m.conn.blocked == m {
		m.conn.blocked = nil
	}
	w.answer(m, fmt.Sprintf(":%d\r\n", w.acks(n)))
	if m.conn.Closed || m.conn.client.crashed {
		m.conn.ended = true // the server doesn't read the requests behind it
	}
	w.serve(m.conn)
}

// answer emits the execution of a command that was blocked, with this reply.
func (w *World) answer(m *message, reply string) {
	m.reply = append(m.short[:0], reply...)
	ev := m.event(trace.KindExecute)
	ev.Reply = resp.Text(m.reply)
	m.executed = w.emit(&ev)
	w.returnReply(m)
}

// unblock ends the connections whose blocked command a server won't answer any more, because it goes
// down or becomes a replica. A new replica answers it with reply first. The requests
// behind it on such a connection are refused.
func (w *World) unblock(n *redis.Node, reply string) {
	waiting := append(w.replication[n.Index].waiting, w.takeWaiting(n)...)
	w.replication[n.Index].waiting = nil
	for _, m := range waiting {
		if m.conn.blocked == m {
			m.conn.blocked, m.conn.ended = nil, true
		}
		if reply != "" {
			w.answer(m, reply)
		} else {
			w.refuse(m, connectionEnded)
		}
		w.serve(m.conn)
	}
}

func (w *World) enableLag(f fault.Lag) (effect, error) {
	if err := fault.CheckDelay(f.By); err != nil {
		return nil, err
	}
	r, err := w.replica(f.Replica)
	return func() error {
		w.replication[r.Index].lag = f.By
		return nil
	}, err
}

func (w *World) enableFailover(f fault.Failover) (effect, error) {
	to, err := w.replica(f.To)
	if err != nil {
		return nil, err
	}
	if !to.Up {
		return nil, fmt.Errorf("%s is down", f.To)
	}
	for _, name := range f.Stay {
		if _, err := w.client(name); err != nil {
			return nil, err
		}
	}
	return func() error { return w.failOver(to, f.Stay) }, nil
}

// failOver makes a replica the master, for all clients but those that stay with the
// old one.
func (w *World) failOver(to *redis.Node, stay []string) error {
	old := w.nodes[w.replication[to.Index].source]
	addr := w.address(old.Index)
	w.primary[addr] = to.Index
	to.Replica = false
	w.replication[to.Index] = replication{source: trace.None}
	for _, c := range w.clients {
		if indexOf(stay, c.Name) < 0 {
			w.reroute(c.Index, addr, to.Index)
		}
	}
	note := "is the master now, instead of " + old.Name
	if len(stay) > 0 {
		note += "; " + strings.Join(stay, ", ") + " cannot tell, and stays with that"
	}
	w.emitAt(to, trace.Event{Kind: trace.KindFailover, Value: int64(addr), Note: note})
	for _, r := range w.nodes {
		if w.replication[r.Index].source == old.Index {
			if err := w.follow(r, to); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *World) enableRejoin(f fault.Rejoin) (effect, error) {
	n, err := w.node(f.Server)
	if err != nil {
		return nil, err
	}
	addr := w.address(n.Index)
	master := w.nodes[w.primary[addr]]
	switch {
	case n == master:
		return nil, fmt.Errorf("%s is the master", f.Server)
	case !n.Up:
		return nil, fmt.Errorf("%s is down", f.Server)
	}
	return func() error {
		for c := range w.clients {
			w.reroute(c, addr, master.Index)
		}
		return w.follow(n, master)
	}, nil
}

// follow makes a server a replica of another, with a full copy of it.
func (w *World) follow(n, master *redis.Node) error {
	w.unblock(n, "-UNBLOCKED force unblock from blocking operation, instance state changed (master -> replica?)\r\n")
	n.Replica = true
	w.replication[n.Index] = replication{source: master.Index, lag: w.cfg.Lag, acked: w.replication[master.Index].written}
	changes, err := n.CopyOf(w.now, master)
	if err != nil {
		return err
	}
	w.emitAt(n, trace.Event{Kind: trace.KindSync, Changes: changes, Note: "is a replica of " + master.Name + " now, and copies it"})
	return nil
}

// address returns the address that a server belongs to, as a master or as a replica.
func (w *World) address(server int) int {
	if masters := len(w.primary); server >= masters {
		return (server - masters) / w.cfg.Replicas
	}
	return server
}

func (w *World) replica(name string) (*redis.Node, error) {
	n, err := w.node(name)
	if err != nil {
		return nil, err
	}
	if w.replication[n.Index].source == trace.None {
		return nil, fmt.Errorf("%s is no replica", name)
	}
	return n, nil
}
