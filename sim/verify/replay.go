package verify

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/sim"
	"lockstep/sim/resp"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Run is a run to be replayed.
type Run struct {
	Trace  *trace.Trace
	Config sim.Config // of the schedule that gave the trace
}

// RunOf returns the run of a trace. It fails if the trace's schedule can't be read; resolve
// finds a strategy by its name.
func RunOf(t *trace.Trace, resolve func(string) (strategies.Strategy, error)) (Run, error) {
	schedule, err := sim.ParseSchedule(t.Schedule, resolve)
	return Run{Trace: t, Config: schedule.Config}, err
}

// Name returns the run's strategy and scenario.
func (r *Run) Name() string { return r.Trace.Strategy + " under " + r.Trace.Scenario }

// Result is the result of one replay.
type Result struct {
	Replies     int // compared
	Keys        int // compared: value and remaining life, key by key, after each step of their server
	Restarts    int
	Promotions  int
	Writes      int          // that reached a replica
	Lacks       string       // the first command that the server doesn't know: the replay ends before it
	Stopped     string       // why else the replay ends before the run does, if it does
	Differences []Difference // of the first step at which there are any: it is the last one compared
}

// Difference is one difference between the simulated server and the real one.
type Difference struct {
	Event           int // Seq
	Server          string
	What            string // the command whose reply it is, or the key
	Simulated, Real string
}

// String returns the difference on one line.
func (d Difference) String() string {
	return fmt.Sprintf("#%d, %s, %s: simulated %s, real %s", d.Event, d.Server, d.What, d.Simulated, d.Real)
}

// host has the real servers of a run, by the index of the simulated ones.
type host interface {
	// begin prepares servers that are empty, for a run.
	begin(r *Run) error
	// arrive brings a server's clock to an instant of the run.
	arrive(server int, at time.Duration) error
	// outlast has a server answer a command that has waited in vain until an instant.
	outlast(server int, at time.Duration) error
	// settled returns when the server has read all that was sent to it.
	settled(server int) error
	dial(server int) (*conn, error)
	// wording returns a command as the server is to get it, and reading a reply as the
	// simulated server would have given it.
	wording(server int, args []string) ([]string, error)
	reading(server int, reply string) string
	// lacks names the command, or the option of one, that the server doesn't know.
	lacks(server int, args []string) (string, error)
	// executed is called after a command.
	executed(e *trace.Event) error
	// fault carries out on the server an event that befell it. It fails with a halt if it
	// can't.
	fault(e *trace.Event) error
	// rows returns the contents of a server. The keys are those that it could have.
	rows(server int, keys []string) ([]row, error)
	// slack is how far remaining lives may be off, and how long before its expiry a key must
	// not be looked at.
	slack() time.Duration
	// tardy reports whether a step has come later than the slack allows.
	tardy() bool
}

// halt is why a replay ends before its run does.
type halt string

func (h halt) Error() string { return string(h) }

// replay is one run on its way.
type replay struct {
	Run
	host    host
	state   *trace.State
	result  Result
	conns   map[line]*conn
	broken  map[line]int  // how many connections of a thread to a server have ended, line.number being 0
	lines   map[int]line  // by Seq of the send: the connection on which it went
	waiting map[int]*conn // by Seq of the send: of commands that block
	waits   []wait        // to be sent, the earliest first
	keys    []string      // all keys that any server of the run ever has
}

// line is a connection: the number counts those of a thread to a server.
type line struct {
	client, thread, server, number int
	subscribed                     bool // go-redis has a connection of its own for that
}

// wait is a WAIT. One that times out has arrived that much before its answer. Of another it is
// not known when it arrived: it gets its answer from the newest acknowledgement, or at once.
type wait struct {
	at    time.Duration // at which it is sent
	event *trace.Event  // the answer
}

// play replays a run.
func play(h host, r Run) (Result, error) {
	p := &replay{Run: r, host: h, state: r.Trace.NewState(), conns: map[line]*conn{}, broken: map[line]int{}, lines: map[int]line{}, waiting: map[int]*conn{}}
	defer p.hangUp(func(line) bool { return true })
	p.prepare()
	if err := h.begin(&r); err != nil {
		return p.result, err
	}
	for i := range r.Trace.Events {
		e := &r.Trace.Events[i]
		more, err := p.step(e)
		var why halt
		switch {
		case errors.As(err, &why):
			p.result.Stopped = string(why)
			return p.result, nil
		case err != nil:
			return p.result, p.wrap(e, err)
		case !more:
			return p.result, nil
		}
	}
	return p.result, nil
}

func (p *replay) wrap(e *trace.Event, err error) error {
	return fmt.Errorf("%s, at #%d %s: %w", p.Name(), e.Seq, e.Kind, err)
}

// prepare looks ahead for the keys of the run, and for the WAITs that time out.
func (p *replay) prepare() {
	for i := range p.Trace.Events {
		e := &p.Trace.Events[i]
		for _, ch := range e.Changes {
			if !slices.Contains(p.keys, ch.Key) {
				p.keys = append(p.keys, ch.Key)
			}
		}
		if before, is := waited(e); is {
			p.waits = append(p.waits, wait{at: e.At - before, event: e})
		}
	}
	slices.SortStableFunc(p.waits, func(a, b wait) int { return int(a.at - b.at) })
}

// waited reports whether an event is the answer to a WAIT, and returns how long before it the
// WAIT is sent: by its timeout if it gets fewer acknowledgements than it asks for.
func waited(e *trace.Event) (before time.Duration, is bool) {
	if e.Kind != trace.KindExecute || len(e.Args) != 3 || !strings.EqualFold(e.Args[0], "WAIT") {
		return 0, false
	}
	got, err1 := strconv.Atoi(e.Reply)
	wants, err2 := strconv.Atoi(e.Args[1])
	millis, err3 := strconv.Atoi(e.Args[2])
	if err1 != nil || err2 != nil || err3 != nil {
		return 0, false // it was refused, or queued
	}
	if got < wants {
		return time.Duration(millis) * time.Millisecond, true
	}
	return 1, true
}

// sendWaits sends the WAITs that have arrived before an instant.
func (p *replay) sendWaits(before time.Duration) error {
	for len(p.waits) > 0 && p.waits[0].at < before {
		w := p.waits[0]
		p.waits = p.waits[1:]
		if err := p.host.arrive(w.event.Node, w.at); err != nil {
			return err
		}
		if err := p.block(w.event); err != nil {
			return err
		}
	}
	return nil
}

// block sends a command that will be answered by a later event.
func (p *replay) block(e *trace.Event) error {
	c, err := p.connOf(e)
	if err != nil {
		return err
	}
	args, err := p.host.wording(e.Node, e.Args)
	if err != nil {
		return err
	}
	p.waiting[e.Ref] = c
	if err := c.send(args...); err != nil {
		return err
	}
	return p.host.settled(e.Node)
}

// step replays one event, and reports whether the replay goes on.
func (p *replay) step(e *trace.Event) (more bool, err error) {
	if err := p.sendWaits(e.At); err != nil {
		return false, err
	}
	p.follow(e)
	if e.Node == trace.None || !acts(e.Kind) {
		p.state.Apply(e)
		return true, nil
	}
	if e.Kind == trace.KindExecute || e.Kind == trace.KindBlock {
		if p.result.Lacks, err = p.host.lacks(e.Node, e.Args); err != nil || p.result.Lacks != "" {
			return false, err
		}
	}
	if p.close(e) {
		return false, halt(fmt.Sprintf("within %s before an expiry real waits can't decide what comes first", p.host.slack()))
	}
	if e.Kind != trace.KindNodeStep { // whose instant the server can't have before it is told of the jump
		if err := p.host.arrive(e.Node, e.At); err != nil {
			return false, err
		}
	}
	if err := p.act(e); err != nil {
		return false, err
	}
	p.state.Apply(e)
	if p.state.Nodes[e.Node].Up {
		err = p.compare(e)
	}
	if err == nil && len(p.result.Differences) > 0 && p.host.tardy() {
		p.result.Differences = nil
		err = halt(fmt.Sprintf("a step came more than %s late, and then there was a difference", p.host.slack()))
	}
	return len(p.result.Differences) == 0, err
}

// close reports whether an event is so close before an expiry at its server that a real one
// might have dropped the key already.
func (p *replay) close(e *trace.Event) bool {
	return e.Kind != trace.KindExpire && slices.ContainsFunc(p.state.Nodes[e.Node].Records, func(r trace.HeldRecord) bool {
		return r.Expires != trace.Never && r.Expires-e.At < p.host.slack()
	})
}

// acts reports whether an event happens at its server.
func acts(k trace.Kind) bool { return k.AtNode() && k != trace.KindUnreachable } // that is a command which no server got

// deeds are the faults that are one command at a real server, with the lock's key there and the keys that the event
// changes.
var deeds = map[trace.Kind]func(lock string, changed []string) []string{
	trace.KindEvict: func(lock string, _ []string) []string { return []string{"DEL", lock} },
	trace.KindStray: func(lock string, _ []string) []string { return []string{"RPUSH", lock, "job"} },
}

// Deed returns the words of the command that events of a kind are at a real server, with key for the lock's key and keys for those that the event
// changes, or none.
func Deed(k trace.Kind) []string {
	if command, known := deeds[k]; known {
		return command("key", []string{"keys"})
	}
	return nil
}

// deed returns the command that an event is at a real server, where place tells the name of a key. It fails if it is
// none.
func deed(t *trace.Trace, e *trace.Event, place func(key string) string) ([]string, error) {
	command, known := deeds[e.Kind]
	if !known {
		return nil, fmt.Errorf("a replay doesn't know %s", e.Kind)
	}
	var changed []string
	for _, ch := range e.Changes {
		changed = append(changed, place(ch.Key))
	}
	return command(place(t.Key), changed), nil
}

// follow keeps an account of the clients' connections: go-redis closes one on which a reply
// didn't come.
func (p *replay) follow(e *trace.Event) {
	switch of := (line{client: e.Client, thread: e.Thread, server: e.Node}); e.Kind {
	case trace.KindSend:
		of.number = p.broken[of]
		of.subscribed = len(e.Args) > 0 && subscribes(e.Args)
		p.lines[e.Seq] = of
	case trace.KindTimeout, trace.KindDisconnect:
		p.broken[of]++
	}
}

// act carries out an event, and compares the reply if there is one.
func (p *replay) act(e *trace.Event) error {
	switch e.Kind {
	case trace.KindExecute:
		return p.execute(e)
	case trace.KindBlock:
		return p.block(e)
	case trace.KindPush:
		return p.push(e)
	case trace.KindDown:
		p.hangUp(func(l line) bool { return l.server == e.Node })
	}
	if err := p.host.fault(e); err != nil {
		return err
	}
	switch e.Kind {
	case trace.KindUp:
		p.result.Restarts++
	case trace.KindFailover:
		p.result.Promotions++
	case trace.KindReplicate:
		p.result.Writes++
	}
	return nil
}

// execute has the real server execute the command, and compares the replies.
func (p *replay) execute(e *trace.Event) error {
	c := p.waiting[e.Ref]
	if c == nil {
		var err error
		if c, err = p.connOf(e); err != nil {
			return err
		}
		args, err := p.host.wording(e.Node, e.Args)
		if err != nil {
			return err
		}
		if err := c.send(args...); err != nil {
			return err
		}
	}
	if before, is := waited(e); is && before > 1 || e.Reply == "nil" && p.waiting[e.Ref] != nil {
		if err := p.host.outlast(e.Node, e.At); err != nil {
			return err
		}
	}
	delete(p.waiting, e.Ref)
	if err := p.receive(e, c, trace.CommandText(e.Args)); err != nil {
		return err
	}
	return p.host.executed(e)
}

// push compares a message to a subscriber.
func (p *replay) push(e *trace.Event) error {
	for l, c := range p.conns {
		if l.subscribed && l.client == e.Client && l.server == e.Node {
			return p.receive(e, c, "message")
		}
	}
	return fmt.Errorf("%s has no subscription", p.Trace.Clients[e.Client])
}

// receive compares the next reply on a connection with that of an event.
func (p *replay) receive(e *trace.Event, c *conn, what string) error {
	reply, err := c.receive()
	if err != nil {
		return fmt.Errorf("%s: %w", what, err)
	}
	p.result.Replies++
	if got := p.host.reading(e.Node, resp.Text(reply)); got != e.Reply && !p.alike(e, got) {
		p.differ(e, what, e.Reply, got)
	}
	return nil
}

// alike reports whether the replies to PTTL or TTL differ by no more than the slack.
func (p *replay) alike(e *trace.Event, got string) bool {
	unit := time.Millisecond
	switch strings.ToUpper(e.Args[0]) {
	case "TTL":
		unit = time.Second
	case "PTTL":
	default:
		return false
	}
	a, err1 := strconv.ParseInt(e.Reply, 10, 64)
	b, err2 := strconv.ParseInt(got, 10, 64)
	slack := p.host.slack()
	return err1 == nil && err2 == nil && slack > 0 && a >= 0 && b >= 0 && near(a, b, int64((slack+unit-1)/unit))
}

func (p *replay) differ(e *trace.Event, what, simulated, real string) {
	p.result.Differences = append(p.result.Differences, Difference{Event: e.Seq, Server: p.Trace.Nodes[e.Node], What: what, Simulated: simulated, Real: real})
}

// connOf returns the connection on which a command was sent. A command that arrives once more
// comes on another.
func (p *replay) connOf(e *trace.Event) (*conn, error) {
	l := p.lines[e.Ref]
	l.server = e.Node // a client's connection may lead to another server since
	if e.Copy {
		l.number = -e.Seq
	}
	if p.conns[l] == nil {
		c, err := p.host.dial(e.Node)
		if err != nil {
			return nil, err
		}
		p.conns[l] = c
	}
	return p.conns[l], nil
}

// hangUp closes connections.
func (p *replay) hangUp(which func(line) bool) {
	for l, c := range p.conns {
		if which(l) {
			_ = c.Close() // nothing more is expected from it
			delete(p.conns, l)
		}
	}
}

// compare compares the contents of an event's server with the simulated ones.
func (p *replay) compare(e *trace.Event) error {
	rows, err := p.host.rows(e.Node, p.keys)
	if err != nil {
		return err
	}
	want := p.expected(e)
	real := map[string]row{}
	for _, r := range rows {
		real[r.key] = r
		if _, has := want[r.key]; !has {
			p.differ(e, "key "+r.key, "none", r.text())
		}
	}
	for key, w := range want {
		p.result.Keys++
		r, has := real[key]
		switch {
		case !has:
			p.differ(e, "key "+key, w.text(), "none")
		case r.value != w.value || !near(r.left, w.left, p.host.slack().Milliseconds()):
			p.differ(e, "key "+key, w.text(), r.text())
		}
	}
	slices.SortFunc(p.result.Differences, func(a, b Difference) int { return strings.Compare(a.What, b.What) })
	return nil
}

// expected returns the simulated contents of an event's server, after it. A jump of its clock
// may leave a key past its life, which the server drops in an event of its own.
func (p *replay) expected(e *trace.Event) map[string]row {
	want := map[string]row{}
	offset := p.Config.Nodes[p.address(e.Node)].Offset + p.state.Nodes[e.Node].Offset
	for _, r := range p.state.Nodes[e.Node].Records {
		w := row{key: r.Key, value: r.Value, left: forever}
		if r.Expires != trace.Never {
			if e.Kind == trace.KindNodeStep && r.Expires <= e.At {
				continue
			}
			w.left = remaining(r.Expires, e.At, offset)
		}
		want[r.Key] = w
	}
	return want
}

// remaining returns the reply to PTTL for a key that is gone at a true instant, on a server
// whose clock is off. The server's clock shows whole milliseconds, in the last of which the
// key is still there.
func remaining(expires, now, offset time.Duration) int64 {
	last := (expires + offset).Milliseconds() - 1
	return last - floor(now+offset)
}

// floor returns an instant in whole milliseconds.
func floor(at time.Duration) int64 {
	millis := at.Milliseconds()
	if at < 0 && at%time.Millisecond != 0 {
		millis--
	}
	return millis
}

// near reports whether two remaining lives differ by no more than the slack.
func near(a, b, slack int64) bool {
	if a == forever || b == forever {
		return a == b
	}
	return a-b <= slack && b-a <= slack
}

// address returns the index of a server's master in the configuration.
func (r *Run) address(server int) int {
	if masters := len(r.Config.Nodes); server >= masters {
		return (server - masters) / r.Config.Replicas
	}
	return server
}
