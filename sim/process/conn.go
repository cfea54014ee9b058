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

// Conn is the seam: one connection of a client's go-redis to a node. What the
// library writes to it becomes requests; what it reads, replies, or a timeout
// in virtual time.
//
// The handshake of a new connection (HELLO, CLIENT, AUTH, SELECT, PING) is
// answered on the spot and leaves no event: it is the same for every strategy
// and says nothing about locks.
type Conn struct {
	Client *Client
	Addr   int  // which of the addresses that the client knows
	Closed bool // by the client: replies still under way go nowhere
	Line   Line // the host's end

	partial []byte // the beginning of a command that isn't complete yet
	rest    []byte // of a reply, what the reader's buffer had no room for
	greeted bool   // the handshake is over
}

func (c *Conn) reset() {
	c.partial, c.rest = nil, nil
	c.greeted = true
	c.Line.Reset()
}

// Write takes what go-redis flushes: one command, or a whole pipeline.
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

// Read waits for a reply.
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

// Close forgets the connection. Replies still under way go nowhere.
func (c *Conn) Close() error {
	c.Closed = true
	return nil
}

// SetDeadline does nothing. Deadlines are virtual: a reply is waited for as long as the
// client's configuration says, in virtual time, whatever go-redis computes from the
// machine's clock.
func (c *Conn) SetDeadline(time.Time) error { return nil }

// SetReadDeadline does nothing: see SetDeadline.
func (c *Conn) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing: see SetDeadline.
func (c *Conn) SetWriteDeadline(time.Time) error { return nil }

// LocalAddr is the client's name.
func (c *Conn) LocalAddr() net.Addr { return simAddr(c.Client.Name) }

// RemoteAddr is the server's name, as the client knows it.
func (c *Conn) RemoteAddr() net.Addr { return simAddr(c.Client.addrs[c.Addr]) }

type simAddr string

func (simAddr) Network() string  { return "sim" }
func (a simAddr) String() string { return string(a) }

// ErrTimeout is the error of a read whose deadline has passed: a net.Error with
// Timeout true, worded as Go's own.
func ErrTimeout(server string) error {
	return &net.OpError{Op: "read", Net: "sim", Addr: simAddr(server), Err: os.ErrDeadlineExceeded}
}

// ErrRefused is the error of talking to a server that isn't there.
func ErrRefused(server string) error {
	return &net.OpError{Op: "read", Net: "sim", Addr: simAddr(server), Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
}

// ErrFenced is the error of an access to the resource with an old fencing token.
var ErrFenced = errors.New("fencing token is too old")

// errorText is an error as an event tells it.
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
