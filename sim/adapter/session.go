package adapter

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/process"
	"lockstep/sim/resp"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// session is one execution of a lock, for one client of a world. All its methods but stop are
// called on that client's threads.
type session struct {
	program   *Program
	channel   *channel
	nodes     []*redis.Client
	clock     strategies.Clock
	printed   int64 // where the execution begins in the program's output
	paths     []string
	listeners []int   // of each server
	wires     []*wire // in the order in which they were accepted
	unreplied []*wire // of an asynchronous process: those of all commands without a reply, in the order in which these were sent
	during    string  // the call that it is at
	last      string  // the last action of the process
	over      bool

	background
}

// wire is a connection of the process to a server of the world.
type wire struct {
	fd    int
	addr  int // of the server
	came  []byte
	ended bool // by the process
	conn  *process.Conn
	talks bool // it is past its handshake
}

// session takes a process for an execution. It panics if none can be had.
func (p *Program) session(nodes []*redis.Client, o strategies.Options) *session {
	ch, printed, err := p.take()
	if err != nil {
		panic(err)
	}
	return &session{program: p, channel: ch, nodes: nodes, clock: o.Clock, background: background{start: o.Go}, printed: printed}
}

// begin has the process make its instance of the lock, for an acquisition with a seed.
func (s *session) begin(key, seed string, o strategies.Options) {
	for i := range s.nodes {
		path := s.program.folder.Path(fmt.Sprintf("%d.%d", s.channel.fd, i)) // no other execution has the descriptor
		fd, err := listen(path)
		if err != nil {
			panic(err)
		}
		s.paths, s.listeners = append(s.paths, path), append(s.listeners, fd)
	}
	s.call(Message{Type: "begin", Seed: seed, Key: key, TTL: o.TTL.Microseconds(), Nodes: s.paths,
		Tries: o.Retry.Tries, Delay: o.Retry.Delay.Microseconds(), Jitter: o.Retry.Jitter.Microseconds()}, "begun")
}

// stop ends the execution.
func (s *session) stop() {
	if s.over {
		return
	}
	s.over = true
	sound := s.during == "" || s.program.hello.Asynchronous // it reads the control connection
	for _, w := range s.wires {
		closeFD(w.fd)
		if w.conn != nil {
			_ = w.conn.Close()
		}
	}
	for i, fd := range s.listeners {
		closeFD(fd)
		_ = os.Remove(s.paths[i])
	}
	s.program.giveBack(s.channel, sound)
}

// fail ends the run: the behaviour of the process can't be a part of it.
func (s *session) fail(format string, args ...any) {
	p := s.program
	f := &Failure{Command: p.command, What: fmt.Sprintf(format, args...), During: s.during, Last: s.last}
	p.mu.Lock()
	f.Printed = p.print(s.printed)
	p.mu.Unlock()
	panic(f)
}

// call sends a message and lets the process go on until it answers by one of the given types.
func (s *session) call(m Message, answers ...string) Message {
	s.await(moving)
	s.rested()
	s.during = m.Type
	s.send(m)
	for {
		w, args := s.command()
		if w != nil {
			if line, any := s.channel.line(); any {
				s.fail("has sent %s to %s and %.200q at once: a synchronous process waits for the reply to a command, and for a call after its answer", trace.CommandText(args), server(w.addr), line)
			}
			s.carryOut(w, args)
			continue
		}
		m, any := s.message()
		switch {
		case !any:
			continue
		case slices.Contains(answers, m.Type):
			s.leave()
			s.last, s.during = m.text(), ""
			s.rest(m.Time)
			return m
		}
		s.answer(m, answers)
	}
}

// rested fails if a process has said something, or a synchronous one has sent a command, since its
// last call: that would be taken for a part of the next.
func (s *session) rested() {
	s.read()
	if line, any := s.channel.line(); any {
		s.fail("has sent %.200q, and was not called", line)
	}
	if w, args := s.command(); w != nil {
		s.fail("has sent %s to %s, and was not called", trace.CommandText(args), server(w.addr))
	}
}

// leave sends the commands that an asynchronous process has written and doesn't wait for. Those of a
// connection's handshake can wait for the next call.
func (s *session) leave() {
	if !s.program.hello.Asynchronous {
		return
	}
	s.read()
	for _, w := range s.wires {
		args, taken, _ := resp.Parse(w.came) // bytes that are no command fail in sendAll
		if taken > 0 && (w.talks || !slices.Contains(handshake, strings.ToUpper(args[0]))) {
			s.sendAll()
			return
		}
	}
}

// message returns the next message. If there is none yet it waits for the process to do
// something.
func (s *session) message() (m Message, any bool) {
	m, any, err := s.channel.next()
	switch {
	case err != nil:
		s.fail("%s", err)
	case !any:
		s.wait()
	}
	return m, any
}

func (s *session) send(m Message) {
	if err := s.channel.send(m); err != nil {
		s.channel.read()
		s.fail("has ended, or reads no more: cannot send %s: %s", m.text(), err)
	}
}

// wait waits for the process to do something.
func (s *session) wait() {
	fds := append([]int{s.channel.fd}, s.listeners...)
	for _, w := range s.wires {
		fds = append(fds, w.fd)
	}
	if !await(fds, s.program.patience) {
		s.fail("does nothing for more than %s: it waits for something outside of the simulated world, or loops", s.program.patience)
	}
	s.read()
}

// read takes in the bytes that have come on all connections, on the control connection last: a message that was
// sent before a command is here when the command is.
func (s *session) read() {
	for addr, l := range s.listeners {
		for {
			fd, any := accept(l, s.program.patience)
			if !any {
				break
			}
			s.wires = append(s.wires, &wire{fd: fd, addr: addr})
		}
	}
	for _, w := range slices.Clone(s.wires) {
		w.came, w.ended = receive(w.fd, w.came)
		const most = 64 << 20
		if len(w.came) > most {
			s.fail("has sent more than %d bytes to %s that are no whole command", most, server(w.addr))
		}
		if w.ended && len(w.came) == 0 {
			s.hangUp(w)
		}
	}
	s.channel.read()
}

// hangUp ends a connection.
func (s *session) hangUp(w *wire) {
	closeFD(w.fd)
	if w.conn != nil {
		_ = w.conn.Close() // it always succeeds
	}
	is := func(o *wire) bool { return o == w }
	s.wires, s.unreplied = slices.DeleteFunc(s.wires, is), slices.DeleteFunc(s.unreplied, is)
}

// command takes the first whole command off a connection, if the process is synchronous: then
// it waits for the reply.
func (s *session) command() (*wire, []string) {
	if s.program.hello.Asynchronous {
		return nil, nil
	}
	for _, w := range s.wires {
		if args := s.take(w); args != nil {
			return w, args
		}
	}
	return nil, nil
}

// take takes the first whole command off a connection.
func (s *session) take(w *wire) []string {
	args, taken, err := resp.Parse(w.came)
	switch {
	case err != nil:
		s.fail("has sent %.60q to %s, which is no command: %s", w.came, server(w.addr), err)
	case taken == 0 && w.ended:
		s.fail("has closed its connection to %s within a command, %.60q", server(w.addr), w.came)
	case taken == 0:
		return nil
	}
	s.channel.quote(server(w.addr)+" < ", w.came[:taken])
	w.came = append(w.came[:0], w.came[taken:]...)
	s.last = fmt.Sprintf("sent %s to %s", trace.CommandText(args), server(w.addr))
	return args
}

func server(addr int) string { return fmt.Sprintf("n%d", addr+1) }

// carryOut has the world carry out a command of a synchronous process, which waits for the reply.
func (s *session) carryOut(w *wire, args []string) {
	if !s.quiet(w, args) {
		w.conn.Send(args)
		s.receive(w)
	}
}

// quiet answers a command that belongs to a new connection on the spot, and reports whether it
// was one.
func (s *session) quiet(w *wire, args []string) bool {
	if w.conn == nil {
		dialled, err := s.nodes[w.addr].Options().Dialer(context.Background(), "", "")
		if err != nil {
			panic(err) // the world lets every dial succeed
		}
		w.conn = dialled.(*process.Conn) // the host's clients have no other dialer
	}
	name := strings.ToUpper(args[0])
	switch {
	case slices.Contains(unsupported, name):
		s.fail("has sent %s to %s, whose replies come by themselves: a lock as a process can't use that", trace.CommandText(args), server(w.addr))
	case w.talks, !slices.Contains(handshake, name):
		w.talks = true
		return false
	case name == "HELLO" && len(args) > 1 && args[1] != "2":
		s.deliver(w, []byte("-NOPROTO unsupported protocol version\r\n"))
	case name == "CLIENT":
		s.deliver(w, []byte("+OK\r\n"))
	case name == "INFO": // a reply of the node's would count the commands of other clients
		s.deliver(w, fmt.Appendf(nil, "$%d\r\n%s\r\n", len(info), info))
	default:
		s.deliver(w, w.conn.Handshake(args))
	}
	return true
}

// handshake are the commands by which libraries begin a connection.
var handshake = []string{"HELLO", "AUTH", "CLIENT", "SELECT", "INFO", "COMMAND", "READONLY"}

// info is the reply to INFO: the fields that libraries look for before they use a connection.
const info = "# Server\r\nredis_mode:standalone\r\n# Persistence\r\nloading:0\r\n# Replication\r\nrole:master\r\n"

// unsupported are the commands that turn a connection into a stream of messages.
var unsupported = []string{"SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE", "MONITOR", "SYNC", "PSYNC"}

// receive waits for a reply in virtual time, and delivers it. If there is none the connection
// ends, as most libraries end it then. A synchronous process is told the reason. It reports
// whether there was a reply.
func (s *session) receive(w *wire) (any bool) {
	reply, err := w.conn.Receive()
	if err == nil {
		s.deliver(w, reply)
		return true
	}
	var failed net.Error
	if timeout := errors.As(err, &failed) && failed.Timeout(); timeout {
		s.last += ", and there was no reply in time"
		if !s.program.hello.Asynchronous {
			s.send(Message{Type: "timeout"})
		}
	} else {
		s.last += ", and the connection was refused"
	}
	s.hangUp(w)
	return false
}

func (s *session) deliver(w *wire, reply []byte) {
	s.channel.quote(server(w.addr)+" > ", reply)
	s.last += ", and was answered " + resp.Text(reply)
	if err := transmit(w.fd, reply); err != nil {
		s.hangUp(w) // the process has closed it
	}
}

// answer answers a question of the process's.
func (s *session) answer(m Message, answers []string) {
	ctx := context.Background()
	switch m.Type {
	case "clock":
		s.last = "asked for its " + m.Clock + " clock"
		switch m.Clock {
		case "wall":
			s.send(Message{Type: "time", Time: s.clock.Now().UnixMicro()})
		case "monotonic":
			s.send(Message{Type: "time", Time: s.clock.Monotonic().Microseconds()})
		default:
			s.fail("asks for its clock %q: there are wall and monotonic", m.Clock)
		}
	case "sleep":
		s.sleep(ctx, m.Span)
		s.send(Message{Type: "woken"})
	case "idle":
		if !s.program.hello.Asynchronous {
			s.fail("says that it is idle, and that it is not asynchronous")
		}
		s.goOn(ctx, m)
	default:
		s.fail("has sent %s, and can send %s here, or clock, sleep or idle", m.text(), strings.Join(answers, ", "))
	}
}

func (s *session) sleep(ctx context.Context, microseconds int64) {
	if microseconds < 0 || microseconds > trace.MaxSpan.Microseconds() {
		s.fail("sleeps for %d microseconds, and can for 0 to %d", microseconds, trace.MaxSpan.Microseconds())
	}
	span := micros(microseconds)
	s.last = "slept for " + trace.Duration(span)
	_ = s.clock.Sleep(ctx, span) // the context has no end
}

// goOn lets an idle process go on: by a reply to the command that has waited longest, or by
// the time of its first timer. Timers don't fire while a reply may come.
func (s *session) goOn(ctx context.Context, m Message) {
	greeted := s.sendAll()
	on := Message{Type: "go"}
	switch {
	case greeted:
	case s.state == expecting: // a command that was sent before the call began
		s.await(expecting)
		if s.late && m.Time > 0 {
			on.Time = s.clock.Monotonic().Microseconds()
		}
		s.late = false
	case len(s.unreplied) > 0:
		if !s.receiveNext() && m.Time > 0 {
			on.Time = s.clock.Monotonic().Microseconds()
		}
	case m.Time > 0:
		s.sleep(ctx, max(0, m.Time-s.clock.Monotonic().Microseconds()))
		on.Time = m.Time
	default:
		s.fail("is idle for ever: it waits for no reply, and has set no timer")
	}
	s.send(on)
}

// receiveNext waits for the reply that has been missing for longest, as receive does.
func (s *session) receiveNext() (any bool) {
	w := s.unreplied[0]
	s.unreplied = s.unreplied[1:]
	return s.receive(w)
}

// sendAll sends the commands of an asynchronous process that has become idle, by server: the
// order in which it has written them to different connections can't be known. It reports
// whether the handshake of a connection was answered.
func (s *session) sendAll() (greeted bool) {
	s.read()
	for addr := range s.nodes {
		for _, w := range slices.Clone(s.wires) {
			for w.addr == addr {
				args := s.take(w)
				if args == nil {
					break
				}
				if s.quiet(w, args) {
					greeted = true
					continue
				}
				w.conn.Send(args)
				s.unreplied = append(s.unreplied, w)
			}
		}
	}
	return greeted
}
