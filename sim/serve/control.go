package serve

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/sim/redis"
	"lockstep/sim/suggest"
	"lockstep/sim/trace"
)

// Control is a command to a server's gate, its nodes or its clock.
type Control struct {
	Name, Args, About string

	do func(*Server, []string) error
}

// Controls are all controls, in the order in which help lists them. A REQUEST is the number of
// its send event, or a client, whose oldest request it is. A NODE may be left out if there is one.
var Controls = []Control{
	{"hold", "[CLIENT]", "hold requests from now on: all, or a client's", func(s *Server, a []string) error { return s.hold(a, true) }},
	{"open", "[CLIENT]", "let requests pass, and release those that are held", func(s *Server, a []string) error { return s.hold(a, false) }},
	{"release", "REQUEST|all", "let one held request pass, or all", (*Server).release},
	{"drop", "REQUEST", "lose a request", onRequest(func(s *Server, r *request, _ time.Duration) { s.lose(r) })},
	{"lose-reply", "REQUEST", "execute a request, and lose its reply", onRequest(func(s *Server, r *request, _ time.Duration) { r.treated = replyLost; s.pass(r) })},
	{"delay", "REQUEST SPAN", "let a request arrive later", onRequest(func(s *Server, r *request, by time.Duration) { s.delay(r, by) })},
	{"late", "REQUEST SPAN", "execute a request, and delay its reply", onRequest(func(s *Server, r *request, by time.Duration) {
		r.treated, r.returns = replyDelayed, by
		s.pass(r)
	})},
	{"next", "CLIENT hold|drop|lose-reply|delay|late [SPAN]", "arrange this for the next request of a client", (*Server).arrange},
	{"cut", "CLIENT", "lose all messages from and to a client", func(s *Server, a []string) error { return s.cutOff(a, true) }},
	{"heal", "CLIENT", "end a cut; connections that lost a message stay dead", func(s *Server, a []string) error { return s.cutOff(a, false) }},
	{"kick", "CLIENT", "close a client's connections", (*Server).kick},
	{"down", "[NODE]", "end a node's process", onNode(func(s *Server, n *redis.Node) error { return s.stop(n, false) })},
	{"power-cut", "[NODE]", "cut a node's power, and so lose the writes that aren't on its disk", onNode(func(s *Server, n *redis.Node) error { return s.stop(n, true) })},
	{"up", "[NODE]", "start a node that is down", onNode((*Server).start)},
	{"restart", "[NODE]", "end a node's process, and start it again", onNode((*Server).restart)},
	{"evict", "[NODE]", "drop the lock's record before its expiry", onNode((*Server).evict)},
	{"flush-scripts", "[NODE]", "forget the scripts", onNode((*Server).flushScripts)},
	{"jump", "[NODE] SPAN", "let a node's clock jump, forward or (-SPAN) back", (*Server).jump},
	{"advance", "SPAN", "let time pass at once", (*Server).advance},
	{"run", "", "let time go on by itself", func(s *Server, a []string) error { s.run(true); return none(a) }},
	{"stop", "", "let time stand still", func(s *Server, a []string) error { s.run(false); return none(a) }},
	{"say", "TEXT", "write a note into the trace", (*Server).say},
}

// Do carries out a control, such as "drop A" or "advance 5s". Its error says what would be
// right.
func (s *Server) Do(line string) error {
	words := strings.Fields(line)
	if len(words) == 0 {
		return nil
	}
	for _, c := range Controls {
		if c.Name == words[0] {
			var err error
			s.ask(func() { err = c.do(s, words[1:]) })
			if errors.Is(err, errUsage) {
				return fmt.Errorf("%s: the form is %s", words[0], strings.TrimSpace(c.Name+" "+c.Args))
			}
			return err
		}
	}
	var names []string
	for _, c := range Controls {
		names = append(names, c.Name)
	}
	return suggest.Unknown("control", words[0], names)
}

var errUsage = errors.New("usage")

func none(args []string) error {
	if len(args) > 0 {
		return errUsage
	}
	return nil
}

// client checks the name of a client. One that hasn't come yet is welcome.
func (s *Server) client(args []string) (string, error) {
	if len(args) != 1 {
		return "", errUsage
	}
	return args[0], nil
}

func (s *Server) hold(args []string, shut bool) error {
	if len(args) == 0 {
		s.shut = shut
		if !shut {
			clear(s.holds)
			s.releaseAll(func(*request) bool { return true })
		}
		return nil
	}
	name, err := s.client(args)
	if err != nil {
		return err
	}
	s.holds[name] = shut
	if !shut {
		delete(s.holds, name)
		s.releaseAll(func(r *request) bool { return s.clients[r.client] == name })
	}
	return nil
}

// releaseAll releases the held requests that are meant, in the order in which they came.
func (s *Server) releaseAll(which func(*request) bool) {
	for _, r := range s.onTheirWay() {
		if r.held && which(r) {
			s.pass(r)
		}
	}
}

// onTheirWay returns the requests that have not been executed, in the order in which they came.
func (s *Server) onTheirWay() (all []*request) {
	for c := range s.sessions {
		for _, r := range c.requests {
			if r.reply == nil && r.id > 0 {
				all = append(all, r)
			}
		}
	}
	slices.SortFunc(all, func(a, b *request) int { return a.id - b.id })
	return all
}

// pass lets a request arrive now.
func (s *Server) pass(r *request) {
	r.held, r.arrives = false, s.now
	s.serve(r.from)
}

func (s *Server) release(args []string) error {
	if len(args) == 1 && args[0] == "all" {
		s.releaseAll(func(*request) bool { return true })
		return nil
	}
	return onRequest(func(s *Server, r *request, _ time.Duration) { s.pass(r) })(s, args)
}

// onRequest makes a control of an action on one request, with a span if the control takes one.
func onRequest(do func(*Server, *request, time.Duration)) func(*Server, []string) error {
	return func(s *Server, args []string) error {
		by := time.Duration(0)
		switch len(args) {
		case 1:
		case 2:
			var err error
			if by, err = span(args[1]); err != nil {
				return err
			}
		default:
			return errUsage
		}
		waiting := s.onTheirWay()
		for _, r := range waiting {
			if args[0] == strconv.Itoa(r.id) || args[0] == "#"+strconv.Itoa(r.id) || args[0] == s.clients[r.client] {
				do(s, r, by)
				return nil
			}
		}
		var ids []string
		for _, r := range waiting {
			ids = append(ids, fmt.Sprintf("#%d of %s", r.id, s.clients[r.client]))
		}
		if len(ids) == 0 {
			return fmt.Errorf("no request is on its way: hold them first (hold), or arrange it for the next one (next %s ...)", args[0])
		}
		return fmt.Errorf("no request %q is on its way, but %s", args[0], strings.Join(ids, ", "))
	}
}

// span reads a length of time.
func span(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no length of time: write 5s, 1500ms or 1m", text)
	}
	if d > trace.MaxTime || d < -trace.MaxTime {
		return 0, fmt.Errorf("%q is too long: the longest is %s", text, trace.Duration(trace.MaxTime))
	}
	return d, nil
}

func (s *Server) delay(r *request, by time.Duration) {
	r.held, r.arrives = false, s.now+max(0, by)
	s.about(r, fmt.Sprintf("%s's request is delayed by %s: %s", s.clients[r.client], trace.Duration(by), trace.CommandText(r.args)))
	s.serve(r.from)
}

func (s *Server) arrange(args []string) error {
	if len(args) < 2 {
		return errUsage
	}
	f := slices.Index(treatments, args[1])
	if f < int(held) {
		return fmt.Errorf("%q can't be done to a request: it is one of %s", args[1], strings.Join(treatments[held:], ", "))
	}
	plan := arranged{treatment: treatment(f)}
	switch timed := plan.treatment == delayed || plan.treatment == replyDelayed; {
	case timed != (len(args) == 3):
		return errUsage
	case timed:
		var err error
		if plan.by, err = span(args[2]); err != nil {
			return err
		}
	}
	s.next[args[0]] = plan
	return nil
}

func (s *Server) cutOff(args []string, cut bool) error {
	name, err := s.client(args)
	if err != nil {
		return err
	}
	if !cut {
		delete(s.cut, name)
		s.notes("the way between " + name + " and the servers is open again")
		return nil
	}
	s.cut[name] = true
	s.notes("the way between " + name + " and the servers is cut")
	return nil
}

func (s *Server) kick(args []string) error {
	name, err := s.client(args)
	if err != nil {
		return err
	}
	for _, c := range s.inOrder() {
		if s.clientOf(c) == name {
			s.tear(c)
			s.ended(c)
		}
	}
	return nil
}

// onNode makes a control of an action on one node.
func onNode(do func(*Server, *redis.Node) error) func(*Server, []string) error {
	return func(s *Server, args []string) error {
		n, rest, err := s.node(args)
		if err != nil {
			return err
		}
		if len(rest) > 0 {
			return errUsage
		}
		return do(s, n)
	}
}

// node reads the name of a node, which may be left out if there is only one.
func (s *Server) node(args []string) (n *redis.Node, rest []string, err error) {
	for _, n := range s.nodes {
		if len(args) > 0 && args[0] == n.Name {
			return n, args[1:], nil
		}
	}
	if len(s.nodes) == 1 {
		return s.nodes[0], args, nil
	}
	return nil, nil, fmt.Errorf("which node? There are %s", strings.Join(s.head.Nodes, ", "))
}

// stop ends a node's process, and with it its connections.
func (s *Server) stop(n *redis.Node, power bool) error {
	if !n.Up {
		return fmt.Errorf("%s is down already", n.Name)
	}
	e := trace.Event{Kind: trace.KindDown, Client: trace.None, Node: n.Index, Ref: trace.None}
	if power {
		e.Note, e.Changes = "loses its power", n.PowerCut(s.now)
	} else {
		e.Changes = n.Down(s.now)
	}
	s.emit(&e)
	for _, c := range s.inOrder() {
		if c.node == n.Index {
			s.tear(c)
			s.ended(c)
		}
	}
	return nil
}

func (s *Server) start(n *redis.Node) error {
	if n.Up {
		return fmt.Errorf("%s is up already", n.Name)
	}
	changes, err := n.Start(s.now)
	if err != nil {
		return err
	}
	s.emit(&trace.Event{Kind: trace.KindUp, Client: trace.None, Node: n.Index, Ref: trace.None, Changes: changes, Note: "with what is on its disk"})
	return nil
}

func (s *Server) restart(n *redis.Node) error {
	if err := s.stop(n, false); err != nil {
		return err
	}
	return s.start(n)
}

func (s *Server) evict(n *redis.Node) error {
	changes := n.Evict(s.now, s.head.Key)
	if len(changes) == 0 {
		return fmt.Errorf("%s has no record of the lock", n.Name)
	}
	s.emit(&trace.Event{Kind: trace.KindEvict, Client: trace.None, Node: n.Index, Ref: trace.None, Changes: changes})
	return nil
}

func (s *Server) flushScripts(n *redis.Node) error {
	n.ForgetScripts()
	s.emit(&trace.Event{Kind: trace.KindFlush, Client: trace.None, Node: n.Index, Ref: trace.None})
	return nil
}

func (s *Server) jump(args []string) error {
	n, rest, err := s.node(args)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return errUsage
	}
	by, err := span(rest[0])
	if err != nil {
		return err
	}
	s.emit(&trace.Event{Kind: trace.KindNodeStep, Client: trace.None, Node: n.Index, Ref: trace.None, By: by, Changes: n.Step(by)})
	s.advanceTo(s.now) // for the events that have become due
	return nil
}

func (s *Server) advance(args []string) error {
	if len(args) != 1 {
		return errUsage
	}
	by, err := span(args[0])
	if err != nil {
		return err
	}
	if by < 0 {
		return errors.New("time doesn't go back: a node's clock can (jump)")
	}
	s.advanceTo(s.now + by)
	s.run(s.goes) // from here on
	return nil
}

func (s *Server) say(args []string) error {
	s.remarks = append(s.remarks, trace.Note{At: s.now, Seq: len(s.events) + 1, Text: strings.Join(args, " ")})
	return nil
}
