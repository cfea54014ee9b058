package sim

import (
	"time"

	"lockstep/sim/process"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Survey is the part of a client's condition that no event shows: where its threads stand,
// and the state of its connections. With the [trace.State], and with its code's observations
// so far, it decides what the client can do next. All instants are true ones.
type Survey struct {
	Threads []ThreadSurvey
	Conns   []ConnSurvey // that the client has not closed, in the order in which they were opened
	// GrantSent is the instant at which the client sent the command of its acquisition that last
	// stored its record, or last prolonged it to its knowledge; or called Acquire, if none has.
	GrantSent time.Duration
	Exposes   bool // its current lease has a deadline of the strategy's own
}

// ThreadSurvey is the condition of a thread.
type ThreadSurvey struct {
	Op      *process.Op // its next operation, which the caller must not change
	Started bool
	Over    bool
	Waits   bool          // its operation can't be performed yet
	Due     time.Duration // when it can at the latest, if it waits; the greatest duration is never
	Turn    uint64        // if it doesn't wait: the threads that have been ready for longer have lower ones
}

// ConnSurvey is the condition of a connection.
type ConnSurvey struct {
	Conn       *process.Conn
	SentAt     time.Duration // of the last command
	UnderWay   int           // messages on it that have not arrived
	Torn       bool          // a message on it was lost, and so no later one arrives
	Ended      bool          // the server has ended it
	Begun      bool          // it has sent WATCH or MULTI, or has subscribed, or a command of it waits at the server
	Inbox      [][]byte      // replies that have arrived and are not read yet; the caller must not change them
	Unanswered bool          // one of these is the news that there is no reply
}

// Survey fills in the condition of a client, in slices that it uses again.
func (w *World) Survey(client int, s *Survey) {
	c := w.clients[client]
	s.Threads, s.Conns, s.GrantSent = s.Threads[:0], s.Conns[:0], w.grantSent[client]
	s.Exposes = c.ExposesDeadline()
	for _, t := range c.threads {
		s.Threads = append(s.Threads, ThreadSurvey{Op: &t.Op, Started: t.Started, Over: t.Over, Waits: t.waiting, Due: t.due, Turn: t.readyAt})
	}
	for _, conn := range c.conns {
		if !conn.Closed {
			s.Conns = append(s.Conns, conn.survey())
		}
	}
}

func (c *conn) survey() ConnSurvey {
	s := ConnSurvey{Conn: c.Conn, UnderWay: len(c.requests.queue) + len(c.replies.queue), Torn: c.requests.torn || c.replies.torn, Ended: c.ended}
	if c.last != nil {
		s.SentAt = c.last.sentAt
	}
	s.Begun = c.blocked != nil || c.peer != nil && (c.peer.Watches() || c.peer.Queues || c.peer.Subscribed())
	for _, m := range c.inbox {
		s.Inbox = append(s.Inbox, m.reply)
		s.Unanswered = s.Unanswered || m.failed != nil
	}
	return s
}

// Lasting returns how many subscribed connections and waiting commands a server has.
func (w *World) Lasting(server int) (subscribed, waiting int) {
	for _, m := range w.popping {
		if m.node == server {
			waiting++
		}
	}
	return len(w.nodes[server].Subscribers()), waiting
}

// Lock returns a client's instance of the lock.
func (w *World) Lock(client int) strategies.Lock { return w.clients[client].Client.Lock() }

// Scripts lists the digests of the scripts that a node has cached, sorted.
func (w *World) Scripts(node int) []string { return w.nodes[node].CachedScripts() }

// ExpireEarly drops at once the records in the last millisecond of their lives: the end of a TTL,
// at which Redis still keeps a record. It is no move of a schedule: see the package
// certificate under explore.
func (w *World) ExpireEarly() {
	for _, n := range w.nodes {
		if changes := n.ExpireEarly(w.now); len(changes) > 0 {
			w.emitAt(n, trace.Event{Kind: trace.KindExpire, Changes: changes})
		}
	}
	w.settle()
}
