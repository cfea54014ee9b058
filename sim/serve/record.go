package serve

import (
	"fmt"
	"slices"
	"time"

	"lockstep/sim/monitor"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// record is the trace of all that has happened.
//
// Invariants: state is the fold of events, and the monitor has judged each of them. The head's
// clients are the clients, filled up with empty names to the length of the state's, because a state's
// length is fixed.
type record struct {
	head    trace.Trace
	clients []string
	unnamed map[int]bool // clients whose connection has no name
	events  []trace.Event
	remarks []trace.Note
	state   *trace.State
	monitor monitor.Monitor
	told    int // violations that the monitor has found so far
	found   []trace.Violation
	size    int // bytes, roughly
	limit   int
	tell    func(line string)

	scripts map[string]string // by digest
}

func (r *record) reset(cfg Config, nodes []*redis.Node) {
	*r = record{limit: cfg.MaxRecord, tell: cfg.Event, scripts: map[string]string{}, unnamed: map[int]bool{}}
	r.head = trace.Trace{Strategy: "programs of their own", Scenario: "serve", Key: cfg.Key, Masters: len(nodes), Need: len(nodes)/2 + 1}
	for _, n := range nodes {
		r.head.Nodes = append(r.head.Nodes, n.Name)
	}
	r.rebuild(8)
}

// rebuild folds all events once more, into a state with room for more clients or with another key.
func (r *record) rebuild(room int) {
	r.head.Clients = slices.Concat(r.clients, make([]string, room-len(r.clients)))
	r.state = r.head.NewState()
	r.monitor = monitor.Monitor{}
	r.monitor.Reset(&r.head, r.state, unknown{})
	r.told, r.found = 0, nil
	for i := range r.events {
		r.judge(&r.events[i])
	}
}

// unknown is the future of programs: a monitor asks it only after events that a server can't
// see.
type unknown struct{}

func (unknown) Next(int) string  { return "" }
func (unknown) Timers() []string { return nil }

// judge folds an event, and returns the violations that it completes. Those that depend on facts
// that a server can't see, such as whether a client will ever come back, are left out.
func (r *record) judge(e *trace.Event) (fresh []trace.Violation) {
	r.monitor.Before(e)
	r.state.Apply(e)
	r.monitor.After(e)
	for _, v := range r.monitor.Violations()[r.told:] {
		r.told++
		if v.Code == trace.DG || v.Code == trace.FR {
			fresh = append(fresh, v)
		}
	}
	r.found = append(r.found, fresh...)
	return fresh
}

// emit records an event, and returns its Seq.
func (s *Server) emit(e *trace.Event) int {
	e.Seq, e.At = len(s.events)+1, s.now
	kept := *e
	kept.Changes = slices.Clone(e.Changes) // the node uses its own again
	s.events = append(s.events, kept)
	s.size += cost(&kept)
	fresh := s.judge(&s.events[len(s.events)-1])
	if s.tell != nil {
		s.tell(s.head.Line(&kept))
		for _, v := range fresh {
			s.tell(fmt.Sprintf("%12s  !! %s  %s", "", v.Code, v.Text))
		}
	}
	return e.Seq
}

// cost is roughly how many bytes an event takes.
func cost(e *trace.Event) int {
	const itself = 400
	n := itself + len(e.Reply) + len(e.Note)
	for _, a := range e.Args {
		n += len(a)
	}
	for _, ch := range e.Changes {
		n += len(ch.Key)
		if ch.After != nil {
			n += len(ch.After.Value)
		}
	}
	return n
}

// full reports whether nothing more is recorded, and so nothing more is executed.
func (r *record) full() bool { return r.size >= r.limit }

// notes records an event of the network.
func (s *Server) notes(text string) int {
	return s.emit(&trace.Event{Kind: trace.KindNetwork, Client: trace.None, Node: trace.None, Ref: trace.None, Note: text})
}

// about records an event of the network that concerns a request.
func (s *Server) about(r *request, text string) {
	s.emit(&trace.Event{Kind: trace.KindNetwork, Client: r.client, Node: r.from.node, Ref: r.id, Note: text})
}

// mostClients is how many clients a trace tells apart; those after them are one.
const mostClients = 4096

// identify finds the client of a session by its name, or makes one.
func (s *Server) identify(c *session) {
	name := c.name
	if name == "" {
		name = s.nameless(c)
	}
	if name == trace.Probe { // a name that the trace uses itself
		name += "-client"
	}
	if c.client != trace.None && s.clients[c.client] == name {
		return
	}
	i := slices.Index(s.clients, name)
	if i < 0 && len(s.clients) == mostClients {
		i = mostClients - 1
	}
	if i < 0 {
		i = len(s.clients)
		s.clients = append(s.clients, name)
		s.size += 1000
		if i == len(s.head.Clients) {
			s.rebuild(2 * i)
		}
		s.head.Clients[i] = name
	}
	s.unnamed[i] = c.name == ""
	c.client = i
	s.notes(fmt.Sprintf("%s has connected to %s from %s", s.clients[i], s.nodes[c.node].Name, c.conn.RemoteAddr()))
}

// nameless names a connection that has no name: by its port, which a later one may have again.
func (s *Server) nameless(c *session) string {
	port := fmt.Sprintf("port-%d", portOf(c.conn.RemoteAddr()))
	name := port
	for n := 2; ; n++ {
		if i := slices.Index(s.clients, name); i < 0 || !s.state.Clients[i].Crashed {
			return name
		}
		name = fmt.Sprintf("%s-%d", port, n)
	}
}

// View is a server as its users see it, at one instant.
type View struct {
	Trace       *trace.Trace // all that has happened
	Now         time.Duration
	Goes        bool // time goes on by itself
	Shut        bool // the gate holds all requests
	Waiting     []Waiting
	Connections int
	Full        bool // the record is full
}

// Waiting is a request that is on its way, or whose reply is.
type Waiting struct {
	ID      int // by which controls name it: the Seq of its send event
	Client  string
	Node    string
	Command string
	Why     string
}

// View returns the server's present state. The trace is the caller's.
func (s *Server) View() (v View) {
	s.ask(func() {
		v = View{Trace: s.trace(), Now: s.now, Goes: s.goes, Shut: s.shut, Connections: s.open, Full: s.full(), Waiting: s.waiting()}
	})
	return v
}

// Trace returns all that has happened, sealed.
func (s *Server) Trace() (t *trace.Trace) {
	s.ask(func() { t = s.trace() })
	t.Seal()
	return t
}

func (s *Server) trace() *trace.Trace {
	t := s.head
	t.Clients = slices.Clone(s.clients)
	t.Events = slices.Clip(s.events) // which are only ever appended
	t.Notes = slices.Clip(s.remarks)
	t.Violations = slices.Clone(s.found)
	return &t
}

// waiting lists the requests on their way by the order in which they came.
func (s *Server) waiting() (all []Waiting) {
	for c := range s.sessions {
		for _, r := range c.requests {
			if r.id == 0 {
				continue
			}
			why := "behind another"
			switch {
			case r.reply != nil:
				why = "its reply comes at " + trace.Instant(r.returns)
			case r.held:
				why = "held"
			case r.arrives > s.now:
				why = "arrives at " + trace.Instant(r.arrives)
			case r.blocks:
				why = "waits for an element"
			}
			all = append(all, Waiting{r.id, s.clients[r.client], s.nodes[c.node].Name, trace.CommandText(r.args), why})
		}
	}
	slices.SortFunc(all, func(a, b Waiting) int { return a.ID - b.ID })
	return all
}
