package sim

import (
	"time"

	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// client is a process in the world: its code, and its condition as the schedule and the
// faults have left it.
//
// Invariant: threads and conns are those of the process, in the same order.
type client struct {
	*process.Client
	threads []*thread
	conns   []*conn

	nextRequest nextRequest
	drawn       *time.Duration // the random number that its next step draws, if the schedule chooses it
	crashed     bool
	frozen      bool // paused by a fault, until resumed by one
	hung        bool // its main thread has stopped for good; the others go on
	paused      bool // could act, and was not allowed to while time passed: see World.hold
	held        bool // paused without a fault: that can still come, and is an event of its own
	pausedAt    time.Duration
	leaseGen    uint32 // of its current lease: a timer for the lapse of an earlier one is dead
	heard       uint64 // a digest of the replies in its last try, without tokens
	tries       bool   // it is about to try again: it has called Acquire, or waited
}

// thread is one of a process's threads with its place in the schedule.
//
// Invariant: due matters only while waiting is set, and readyAt only while it is not.
type thread struct {
	*process.Thread
	client  *client
	waiting bool          // its operation can't be performed yet
	due     time.Duration // when it can at the latest: the end of its sleep or timeout
	readyAt uint64        // order of becoming ready: among ready threads, the one that has waited longest goes first
	last    *message      // that it has sent
}

// runnable reports whether the thread could take a step at this instant.
func (t *thread) runnable() bool { return !t.Over && !t.waiting }

func (w *World) newClient(index int, name string) *client {
	c := &client{}
	addrs := make([]string, len(w.cfg.Nodes))
	for i := range addrs {
		addrs[i] = w.nodes[i].Name
	}
	// The process dials only later, so the world knows the client by then.
	if name == trace.Probe {
		c.Client = w.runtime.NewProbe(index, addrs, w.cfg.Strategy.Resends)
	} else {
		c.Client = w.runtime.NewClient(index, name, addrs, w.cfg.Strategy.Resends)
	}
	c.threads = []*thread{{Thread: c.Threads[0], client: c}}
	return c
}

// restore makes the client's connections as good as new, whatever an abandoned run has
// left on them.
func (c *client) restore() error {
	open, err := c.Restore()
	if err != nil {
		return err
	}
	clear(c.conns)
	c.conns = c.conns[:0]
	for _, conn := range open {
		c.conns = append(c.conns, lineOf(conn))
	}
	return nil
}

// reset begins a new run of the client's program.
func (c *client) reset(s *process.Settings, cfg *process.Config) {
	c.nextRequest, c.drawn = arrives, nil
	c.crashed, c.frozen, c.hung, c.paused, c.held = false, false, false, false, false
	c.heard, c.tries = 0, false
	c.leaseGen++
	c.Client.Reset(s, cfg)
	clear(c.threads[1:])
	c.threads = c.threads[:1]
	*c.threads[0] = thread{Thread: c.Threads[0], client: c}
}

// conn is the world's end of a connection: the requests and replies in flight on it, and
// the server that it leads to.
//
// Invariant: a message is in at most one of requests, replies and inbox. While blocked is
// set, no request of this connection is executed.
type conn struct {
	*process.Conn
	world  *World
	client *client
	peer   *redis.Peer // the server's end

	inbox             []*message
	requests, replies lane
	blocked           *message // the command that its server has not answered yet: a WAIT, or one that waits for an element
	ended             bool     // by its server: nothing that is sent on it is executed any more
	reader            *thread  // waits in Read
	last              *message // the message sent last
}

// lineOf is the world's end of a connection.
func lineOf(c *process.Conn) *conn { return c.Line.(*conn) }

// Reset implements process.Line.
func (c *conn) Reset() {
	c.peer, c.reader, c.last, c.blocked = nil, nil, nil, nil
	c.inbox = c.inbox[:0]
	c.requests.reset()
	c.replies.reset()
	c.ended = false
}

// Renew implements process.Line. The old line keeps its requests, which arrive, and is one that its client has closed.
func (c *conn) Renew() process.Line {
	line, gone := host{c.world}.Dial(c.Conn), *c.Conn
	gone.Closed = true
	c.Conn, c.reader = &gone, nil
	c.HangUp()
	return line
}

// Exchange implements process.Line: the server answers on the spot.
func (c *conn) Exchange(args []string) []byte {
	n := c.node()
	reply, _ := n.Execute(c.world.now, c.peerOf(n), args)
	return reply
}

// node is the server that the connection leads to now.
func (c *conn) node() *redis.Node { return c.world.server(c.client.Index, c.Addr) }

// peerOf returns the server's end of the connection. If the server has restarted, or the
// address has come to mean another server, that connection is gone, and a library opens
// a new one, which needn't show. A transaction begun on the old connection by WATCH or
// MULTI, or a subscription, must not go on as if nothing had happened: then peerOf returns
// nil.
func (c *conn) peerOf(n *redis.Node) *redis.Peer {
	switch p := c.peer; {
	case p != nil && p.Node == n && p.Epoch == n.Epoch:
	case p != nil && (p.Watches() || p.Queues || p.Subscribed()):
		return nil
	default:
		c.peer = redis.NewPeer(n)
	}
	return c.peer
}
