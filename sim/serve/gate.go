package serve

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockstep/sim/redis"
	"lockstep/sim/resp"
	"lockstep/sim/trace"
)

// request is one command on its way to a node, and then its reply on the way back.
type request struct {
	id     int // the Seq of its send event; 0 if it isn't recorded
	from   *session
	client int
	args   []string

	held     bool          // until it is released
	arrives  time.Duration // not before this instant
	executed int           // the Seq of that event, or trace.None
	blocks   bool          // it waits at the node for an element
	patience time.Duration // the instant at which that wait ends, or trace.Never

	reply   []byte // nil before it is executed
	returns time.Duration
	treated treatment // of its reply
	learns  lesson
}

// treatment is a fault arranged for a request, by the way it goes.
type treatment uint8

const (
	passes       treatment = iota
	held                   // the request waits until it is released
	lost                   // the request is lost
	replyLost              // it is executed, and the reply is lost
	delayed                // the request arrives late
	replyDelayed           // the reply arrives late
)

// treatments are the words for those that can be arranged in advance.
var treatments = []string{held: "hold", lost: "drop", replyLost: "lose-reply", delayed: "delay", replyDelayed: "late"}

// arranged is a treatment of the next request of a client.
type arranged struct {
	treatment treatment
	by        time.Duration
}

// gate decides which requests and replies pass.
type gate struct {
	shut    bool // it holds all requests
	holds   map[string]bool
	cut     map[string]bool     // clients whose messages are lost
	next    map[string]arranged // by client
	popping []*request          // those that wait at their nodes, the longest wait first
}

func (g *gate) reset(shut bool) {
	*g = gate{shut: shut, holds: map[string]bool{}, cut: map[string]bool{}, next: map[string]arranged{}}
}

// arrived takes a request of a session.
func (s *Server) arrived(c *session, args []string) {
	r := &request{from: c, client: trace.None, args: args, executed: trace.None, arrives: s.now, returns: s.now}
	c.requests = append(c.requests, r)
	if c.torn {
		s.forget(r)
		return
	}
	if reply, last, is := s.greets(c, args); is {
		r.reply = reply
		s.serve(c)
		if last {
			c.leave()
		}
		return
	}
	if s.full() {
		r.reply = []byte("-ERR the record is full, so that nothing is lost: save it, and start the server again\r\n")
		s.serve(c)
		return
	}
	s.identify(c)
	r.client = c.client
	s.begins(r)
	r.id = s.emit(&trace.Event{Kind: trace.KindSend, Client: r.client, Node: c.node, Phase: s.phase(r), Acq: s.acquired(r.client), Ref: trace.None, Args: args})
	s.dispatch(r)
}

// dispatch sends a request on its way, as the gate has it.
func (s *Server) dispatch(r *request) {
	who := s.clients[r.client]
	plan, planned := s.next[who]
	delete(s.next, who)
	switch {
	case s.cut[who]:
		s.lose(r)
		return
	case planned && plan.treatment == lost:
		s.lose(r)
		return
	case planned && plan.treatment == delayed:
		r.arrives = s.now + plan.by
		s.about(r, fmt.Sprintf("%s's request is delayed by %s: %s", who, trace.Duration(plan.by), trace.CommandText(r.args)))
	case planned && plan.treatment == held, s.shut, s.holds[who]:
		r.held = true
		s.about(r, fmt.Sprintf("%s's request is held up: %s", who, trace.CommandText(r.args)))
	case planned:
		r.treated, r.returns = plan.treatment, plan.by
	}
	s.serve(r.from)
}

// serve moves the requests of a session on as far as they go. Requests are executed and replies
// delivered in the order in which the requests came.
func (s *Server) serve(c *session) {
	for _, r := range slices.Clone(c.requests) {
		if r.reply != nil {
			continue
		}
		if r.held || r.arrives > s.now || r.blocks || c.torn {
			break
		}
		s.execute(r)
	}
	for len(c.requests) > 0 {
		r := c.requests[0]
		if r.reply == nil || r.returns > s.now {
			return
		}
		s.deliver(r)
	}
}

// execute has the node execute a request.
func (s *Server) execute(r *request) {
	c, n := r.from, s.nodes[r.from.node]
	if !n.Up || c.peer.Epoch != n.Epoch {
		r.executed = s.emit(&trace.Event{Kind: trace.KindUnreachable, Client: r.client, Node: n.Index, Ref: r.id, Args: r.args})
		s.tear(c)
		c.leave()
		return
	}
	reply, changes := n.Execute(s.now, c.peer, r.args)
	if n.Blocked() {
		s.block(r)
		return
	}
	s.finish(n, r, reply, changes)
	if len(changes) > 0 {
		s.retry(n)
	}
}

// finish records an execution, and decides when its reply is delivered.
func (s *Server) finish(n *redis.Node, r *request, reply []byte, changes []trace.Change) {
	e := trace.Event{Kind: trace.KindExecute, Client: r.client, Node: n.Index, Phase: s.phase(r), Acq: s.acquired(r.client), Ref: r.id,
		Args: r.args, Reply: resp.Text(reply), Changes: changes}
	r.executed = s.emit(&e)
	r.reply = slices.Clone(reply)
	if r.from.speaks3 && strings.HasSuffix(strings.ToUpper(r.args[0]), "SUBSCRIBE") {
		r.reply = inRESP3(reply)
	}
	s.learn(r, changes)
	switch r.treated {
	case replyDelayed:
		s.about(r, fmt.Sprintf("the reply to %s is delayed by %s: %s", s.clients[r.client], trace.Duration(r.returns), resp.Text(reply)))
		r.returns += s.now
	case replyLost:
		s.loseReply(r)
	default:
		r.returns = s.now
	}
	for _, p := range n.Pushes() {
		s.push(n, p, r.executed)
	}
}

// push sends a published message.
func (s *Server) push(n *redis.Node, p redis.Push, executed int) {
	to := s.byPeer[p.To]
	if to == nil || to.mute || s.cut[s.clientOf(to)] {
		return
	}
	s.emit(&trace.Event{Kind: trace.KindPush, Client: to.client, Node: n.Index, Ref: executed, Reply: resp.Text(p.Message)})
	if to.speaks3 {
		p.Message = inRESP3(p.Message)
	}
	s.send(to, p.Message)
}

// deliver hands the reply to the client's connection.
func (s *Server) deliver(r *request) {
	c := r.from
	s.forget(r)
	if c.mute {
		return
	}
	if r.client != trace.None && s.cut[s.clients[r.client]] {
		s.loseReply(r)
		return
	}
	s.send(c, r.reply)
	if r.client == trace.None || c.gone {
		return
	}
	s.emit(&trace.Event{Kind: trace.KindReceive, Client: r.client, Node: c.node, Ref: r.executed, Reply: resp.Text(r.reply)})
	s.concludes(r)
}

// send puts bytes into a connection's outbox. A client that doesn't read its replies loses its
// connection.
func (s *Server) send(c *session, reply []byte) {
	if c.gone || c.out.add(reply, false) {
		return
	}
	s.notes(fmt.Sprintf("%s's connection is closed: it doesn't read its replies", s.clientOf(c)))
	s.tear(c)
	c.out.close()
	_ = c.conn.Close()
}

// forget takes a request out of its session.
func (s *Server) forget(r *request) {
	c := r.from
	c.requests = slices.DeleteFunc(c.requests, func(q *request) bool { return q == r })
	s.popping = slices.DeleteFunc(s.popping, func(q *request) bool { return q == r })
	select {
	case <-c.slots:
	default:
	}
	s.prune(c)
}

// tear ends the way of all that is in flight on a connection, in both directions.
func (s *Server) tear(c *session) {
	c.torn = true
	for _, r := range slices.Clone(c.requests) {
		s.forget(r)
	}
}

// lose loses a request, and with it all that is sent after it on its connection.
func (s *Server) lose(r *request) {
	for _, q := range slices.Clone(r.from.requests) {
		if q.id >= r.id && q.reply == nil && q.client != trace.None {
			s.emit(&trace.Event{Kind: trace.KindLost, Client: q.client, Node: q.from.node, Ref: q.id, Args: q.args,
				Note: fmt.Sprintf("%s's request to %s is lost: %s", s.clients[q.client], s.nodes[q.from.node].Name, trace.CommandText(q.args))})
		}
	}
	s.tear(r.from)
}

func (s *Server) loseReply(r *request) {
	s.emit(&trace.Event{Kind: trace.KindLost, Client: r.client, Node: r.from.node, Ref: r.executed, Args: r.args,
		Note: fmt.Sprintf("the reply of %s to %s is lost: %s", s.nodes[r.from.node].Name, s.clients[r.client], resp.Text(r.reply))})
	r.from.mute = true
}

// block lets a request wait at its node for an element.
func (s *Server) block(r *request) {
	r.blocks, r.patience = true, trace.Never
	if p := redis.Patience(r.args); p > 0 {
		r.patience = s.now + p
	}
	s.popping = append(s.popping, r)
	s.emit(&trace.Event{Kind: trace.KindBlock, Client: r.client, Node: r.from.node, Ref: r.id, Args: r.args})
}

// retry executes the requests that wait at a node for an element once more.
func (s *Server) retry(n *redis.Node) {
	for _, r := range slices.Clone(s.popping) {
		if r.from.node != n.Index || !r.blocks || r.from.gone {
			continue
		}
		reply, changes := n.Execute(s.now, r.from.peer, r.args)
		if n.Blocked() {
			continue
		}
		r.blocks = false
		s.finish(n, r, reply, changes)
		s.serve(r.from)
	}
}

// due returns the next instant at which something happens by itself.
func (s *Server) due() (at time.Duration, any bool) {
	sooner := func(t time.Duration) {
		if t != trace.Never && (!any || t < at) {
			at, any = t, true
		}
	}
	for _, n := range s.nodes {
		sooner(n.NextExpiry)
	}
	for c := range s.sessions {
		if len(c.requests) == 0 {
			continue
		}
		for _, r := range c.requests {
			switch {
			case r.reply != nil && r.returns > s.now:
				sooner(r.returns)
			case r.reply == nil && r.arrives > s.now:
				sooner(r.arrives)
			}
		}
	}
	for _, r := range s.popping {
		sooner(r.patience)
	}
	sooner(s.nextLapse())
	return at, any
}

// catchUp lets everything happen that is due by the present instant.
func (s *Server) catchUp() { s.advanceTo(s.present()) }

// advanceTo lets time pass to an instant, with all that happens on the way.
func (s *Server) advanceTo(to time.Duration) {
	for {
		at, any := s.due()
		if !any || at > to {
			break
		}
		s.now = max(s.now, at)
		for _, n := range s.nodes {
			if n.NextExpiry != trace.Never && n.NextExpiry <= s.now {
				if changes := n.Expire(s.now); len(changes) > 0 {
					s.emit(&trace.Event{Kind: trace.KindExpire, Client: trace.None, Node: n.Index, Ref: trace.None, Changes: changes})
				}
			}
		}
		s.lapses()
		for _, r := range slices.Clone(s.popping) {
			if r.blocks && r.patience != trace.Never && r.patience <= s.now {
				r.blocks = false
				s.finish(s.nodes[r.from.node], r, []byte(redis.NoElement), nil)
			}
		}
		for _, c := range s.inOrder() {
			s.serve(c)
		}
	}
	s.now = max(s.now, to)
}

// inOrder returns the sessions by their numbers.
func (s *Server) inOrder() (all []*session) {
	for c := range s.sessions {
		all = append(all, c)
	}
	slices.SortFunc(all, func(a, b *session) int { return a.number - b.number })
	return all
}

func (s *Server) clientOf(c *session) string {
	if c.client == trace.None {
		return "a client"
	}
	return s.clients[c.client]
}

// refuses tells a client that its input is no command, and ends its connection.
func (s *Server) refuses(c *session, why error) {
	s.notes(fmt.Sprintf("%s's connection is closed: %s", s.clientOf(c), strings.TrimPrefix(why.Error(), "protocol error: ")))
	c.out.add([]byte("-ERR Protocol error: "+strings.TrimPrefix(why.Error(), "protocol error: ")+"\r\n"), false)
	s.tear(c)
	c.leave()
}
