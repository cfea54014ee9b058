package process

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

// Conn is one connection of a client's go-redis to a node, and the seam between client
// code and host. A write of the library becomes a request, and a read waits for a reply
// or a timeout in virtual time.
//
// The handshake of a new connection (HELLO, CLIENT, AUTH, SELECT, PING) is
// answered on the spot and leaves no event: it is the same for every strategy
// and says nothing about locks.
type Conn struct {
	Client *Client
	Addr   int  // index among the addresses that the client knows
	Closed bool // by the client: replies in flight are discarded
	Line   Line // the host's end

	partial []byte // the beginning of a command that isn't complete yet
	rest    []byte // of a reply that did not fit into the reader's buffer
	greeted bool   // the handshake is over
}

func (c *Conn) reset() {
	c.partial, c.rest = nil, nil
	c.greeted = true
	c.Line.Reset()
}

// Write sends the commands that go-redis flushes: one, or a whole pipeline. It fails if the
// client has closed the connection, or if the bytes are no command.
func (c *Conn) Write(b []byte) (int, error) {
	if c.Closed {
		return 0, net.ErrClosed
	}
	buf := b
	if len(c.partial) > 0 {
		c.partial = append(c.partial, b...)
		buf = c.partial
	}
	for {
		args, taken, err := c.Client.rt.parse(buf)
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

func (c *Conn) command(args []string) {
	t := c.Client.rt.current
	if t == nil || (!c.greeted && handshake(args[0])) {
		c.rest = append(c.rest, c.Line.Exchange(args)...)
		return
	}
	c.greeted = true
	t.do(Op{Kind: OpSend, Conn: c, Args: args})
}

func handshake(command string) bool {
	switch strings.ToUpper(command) {
	case "HELLO", "CLIENT", "AUTH", "SELECT", "PING":
		return true
	}
	return false
}

// Read waits for a reply, and fails with the host's error: a timeout, or a refused
// connection.
func (c *Conn) Read(b []byte) (int, error) {
	if len(c.rest) == 0 {
		t := c.Client.rt.current
		if t == nil || c.Closed {
			return 0, net.ErrClosed
		}
		o := t.do(Op{Kind: OpReceive, Conn: c})
		if o.Err != nil {
			return 0, o.Err
		}
		c.rest = o.Reply
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// Close ends the connection for the client: replies in flight are discarded.
func (c *Conn) Close() error {
	c.Closed = true
	return nil
}

// SetDeadline does nothing. Deadlines are virtual: the run's configuration states the
// timeout of a reply, in virtual time, and go-redis would compute one from the real clock.
func (c *Conn) SetDeadline(time.Time) error { return nil }

// SetReadDeadline does nothing: see SetDeadline.
func (c *Conn) SetReadDeadline(time.Time) error { return nil }

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

// ErrRefused returns the error of a request to a server that is down.
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
