package process

import (
	"errors"
	"fmt"
	"net"
	"os"
	"reflect"
	"strings"
	"syscall"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/resp"
	"lockstep/sim/trace"
)

// Conn is one connection of a client's go-redis to a node, and the seam between client
// code and host. A write of the library becomes a request, and a read waits for a reply
// or a timeout in virtual time.
//
// The handshake of a new connection, which ends with go-redis's OnConnect, is answered on
// the spot and leaves no event: it is the same for every strategy and says nothing about locks.
type Conn struct {
	Client *Client
	Addr   int  // index among the addresses that the client knows
	Closed bool // by the client: replies in flight are discarded
	Line   Line // the host's end

	partial []byte // the beginning of a command that isn't complete yet
	rest    []byte // of a reply that did not fit into the reader's buffer
	greeted bool   // the handshake is over: see Client.connected

	by             *Thread       // sent the last command
	wait           time.Duration // of the next Read: see Op.Wait
	usedAt         reflect.Value // go-redis's reading of the machine's clock: see Client.connected
	pops           bool          // the last command may wait for an element
	awaitsReplicas bool          // the last command is WAIT
	subscribes     bool          // it has sent SUBSCRIBE or its like, and belongs to a PubSub from then on
	source         trace.Source  // the line that sent the first of these, or the command that was sent last by SendFrom
}

func (c *Conn) reset() {
	c.clear()
	c.Line.Reset()
}

// clear removes the client's state of an exchange that has been broken off.
func (c *Conn) clear() { c.partial, c.rest, c.wait, c.by = nil, nil, 0, nil }

// Write sends the commands that go-redis flushes: one, or a whole pipeline. It fails if the
// client has closed the connection, or if the bytes are no command.
func (c *Conn) Write(b []byte) (int, error) {
	switch {
	case c.Closed:
		return 0, net.ErrClosed
	case c.strays():
		return 0, redis.ErrClosed
	}
	buf := b
	if len(c.partial) > 0 {
		c.partial = append(c.partial, b...)
		buf = c.partial
	}
	parse := c.Client.rt.parse
	if !c.greeted {
		parse = resp.Parse
	}
	for {
		args, taken, err := parse(buf)
		if err != nil {
			return 0, err
		}
		if taken == 0 {
			break
		}
		buf = buf[taken:]
		c.command(args)
	}
	c.partial = append(c.partial[:0], buf...)
	return len(b), nil
}

// noHello is how a server before Redis 6 answers the command by which go-redis asks for RESP2, upon which it
// goes on in that. Its answer is of no use otherwise, and to read a whole one takes time for each subscription.
const noHello = "-ERR unknown command 'HELLO'\r\n"

func (c *Conn) command(args []string) {
	rt := c.Client.rt
	if !c.greeted && strings.EqualFold(args[0], "HELLO") {
		c.rest = append(c.rest, noHello...)
		return
	}
	if rt.preparing || !c.greeted {
		c.rest = append(c.rest, c.Handshake(args)...)
		return
	}
	if !c.subscribes && subscribes(args[0]) {
		c.subscribes, c.source = true, callerSource(rt.sources)
	}
	if c.subscribes {
		c.begin(args[0])
		rt.current.sendLater(c, args)
		return
	}
	c.Send(args)
}

// Handshake answers a command on the spot, without an event. It is for commands of a new
// connection that say nothing about locks.
func (c *Conn) Handshake(args []string) (reply []byte) {
	c.Client.rt.connecting.Lock()
	defer c.Client.rt.connecting.Unlock()
	return c.Line.Exchange(args)
}

// Send sends a command, as an operation of the running thread. With [Conn.Receive] it is for a
// client whose library runs elsewhere and speaks through this connection: go-redis calls Write
// and Read.
func (c *Conn) Send(args []string) {
	c.begin(args[0])
	c.Client.rt.current.do(Op{Kind: OpSend, Conn: c, Args: args})
}

// SendFrom is Send for code whose stack isn't the thread's: stack has its program counters.
func (c *Conn) SendFrom(args []string, stack []uintptr) {
	if rt := c.Client.rt; rt.Sources {
		c.source = firstSource(rt.sources, stack)
	}
	c.begin(args[0])
	c.Client.rt.current.do(Op{Kind: OpSend, Conn: c, Args: args, Source: c.source})
}

// Receive waits for the reply to the command that was sent first of those that have had none,
// and fails as Read does.
func (c *Conn) Receive() (reply []byte, err error) {
	o := c.Client.rt.current.do(Op{Kind: OpReceive, Conn: c, Wait: c.wait, Source: c.source})
	return o.Reply, o.Err
}

// begin notes which command is sent. A wait that the last one had is over.
func (c *Conn) begin(command string) {
	c.by = c.Client.rt.current
	c.wait, c.pops, c.awaitsReplicas = 0, pops(command), len(command) == len("WAIT") && strings.EqualFold(command, "WAIT")
}

// pops recognises the commands that wait at their server for an element.
func pops(command string) bool {
	if command == "" || command[0]|0x20 != 'b' {
		return false // at once, as it is asked of each command
	}
	switch strings.ToUpper(command) {
	case "BLPOP", "BRPOP", "BLMOVE", "BRPOPLPUSH", "BZPOPMIN", "BZPOPMAX":
		return true
	}
	return false
}

func subscribes(command string) bool {
	if n := len(command); n < len("SUBSCRIBE") || n > len("PSUBSCRIBE") {
		return false // likewise
	}
	switch strings.ToUpper(command) {
	case "SUBSCRIBE", "PSUBSCRIBE", "SSUBSCRIBE":
		return true
	}
	return false
}

// strays reports whether a goroutine that is no thread uses the connection, and refuses the run
// if one does. It looks if [Runtime.Guard] is set, if no thread is running, and for connections
// of a PubSub, because go-redis itself has such goroutines: those of PubSub.Channel. The thread may be waiting for them on a Go channel
// already, so they are told that the connection is closed, upon which they close that channel.
func (c *Conn) strays() bool {
	switch rt := c.Client.rt; {
	case rt.preparing, !c.greeted, !c.subscribes && !rt.Guard && rt.current != nil, onCoroutine():
		return false
	}
	why, source := strayed, c.source
	if !c.subscribes {
		if source = strayedFrom(); inConstructor() {
			why = makes("sends a command")
		}
	} else if onChannel() {
		why = channelStrays
	}
	c.Client.refuseStray(why, source)
	return true
}

// Read waits for a reply or a published message, and fails with the host's error: a timeout,
// or a refused connection.
func (c *Conn) Read(b []byte) (int, error) {
	if c.subscribes && c.strays() { // on all others a goroutine writes before it reads
		return 0, redis.ErrClosed
	}
	if len(c.rest) == 0 {
		t := c.Client.rt.current
		if t == nil || c.Closed {
			return 0, net.ErrClosed
		}
		o := t.do(Op{Kind: OpReceive, Conn: c, Wait: c.wait})
		if o.Err != nil {
			return 0, o.Err
		}
		c.rest = o.Reply
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// Close ends the connection for the client: replies in flight are discarded. The server
// learns of it unless the process is dead.
func (c *Conn) Close() error {
	if c.Closed {
		return nil
	}
	c.Closed = true
	if t := c.Client.rt.current; t != nil && !t.dead {
		c.Line.HangUp()
	}
	return nil
}

// SetDeadline does nothing. Deadlines are virtual: the run's configuration states the
// timeout of a reply, in virtual time, and go-redis would compute one from the real clock.
func (c *Conn) SetDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing: see SetDeadline.
func (c *Conn) SetWriteDeadline(time.Time) error { return nil }

// LocalAddr returns the client's name.
func (c *Conn) LocalAddr() net.Addr { return simAddr(c.Client.Name) }

// RemoteAddr returns the server's name, as the client knows it.
func (c *Conn) RemoteAddr() net.Addr { return simAddr(c.Client.addrs[c.Addr]) }

type simAddr string

func (simAddr) Network() string  { return "sim" }
func (a simAddr) String() string { return string(a) }

// ErrTimeout returns the error of a read whose deadline has passed: a net.Error with
// Timeout true, worded as Go's own.
func ErrTimeout(server string) error {
	return &net.OpError{Op: "read", Net: "sim", Addr: simAddr(server), Err: os.ErrDeadlineExceeded}
}

// ErrRefused returns the error of a request to a server that is down. A request on a connection that the
// server has ended gets the same, although the system would say that it was reset: client code, which may
// tell errors apart, is searched with one.
func ErrRefused(server string) error {
	return &net.OpError{Op: "read", Net: "sim", Addr: simAddr(server), Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
}

// ErrFenced is the error of an access to the resource with an old fencing token.
var ErrFenced = errors.New("fencing token is too old")

// errorText returns an error's text for the note of an event.
func errorText(err error) string {
	var op *net.OpError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &op) && op.Timeout():
		return fmt.Sprintf("timeout waiting for %s", op.Addr)
	case errors.As(err, &op):
		return fmt.Sprintf("%s: connection refused", op.Addr)
	}
	return strings.ReplaceAll(err.Error(), "\n", "; ")
}
