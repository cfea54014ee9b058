package sim

import (
	"errors"
	"fmt"
	"lockstep/sim/redis"
	"lockstep/sim/resp"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

// conn is the seam: one connection of a client's go-redis to a node. What the
// library writes to it becomes requests; what it reads, replies, or a timeout
// in virtual time.
//
// The handshake of a new connection (HELLO, CLIENT, AUTH, SELECT, PING) is
// answered on the spot and leaves no event: it is the same for every strategy
// and says nothing about locks.
type conn struct {
	world  *World
	client *client
	addr   int // which of the addresses that the client knows; see World.server
	peer   *redis.Peer

	partial           []byte // the beginning of a command that isn't complete yet
	rest              []byte // of a reply, what the reader's buffer had no room for
	inbox             []*message
	requests, replies lane
	blocked           *message // the WAIT that its server has not answered yet
	ended             bool     // by its server: nothing that is sent on it is executed any more
	reader            *thread  // who waits in Read
	greeted           bool     // the handshake is over
	closed            bool
	last              *message // that was sent
}

func (c *conn) reset() {
	c.peer, c.partial, c.rest, c.reader, c.last, c.blocked = nil, nil, nil, nil, nil, nil
	c.inbox = c.inbox[:0]
	c.requests.reset()
	c.replies.reset()
	c.greeted, c.ended = true, false
}

// node is the server that the connection leads to now.
func (c *conn) node() *redis.Node { return c.world.server(c.client.index, c.addr) }

// peerOf is the server's end of the connection. If the server has restarted, or the
// address has come to mean another, that connection is gone. A library opens
// another one then, which needn't be seen; except where something was begun on the
// old one, by WATCH or MULTI, that must not go on as if nothing had happened: then
// it is nil.
func (c *conn) peerOf(n *redis.Node) *redis.Peer {
	switch p := c.peer; {
	case p != nil && p.Node == n && p.Epoch == n.Epoch:
	case p != nil && (p.Watches || p.Queues):
		return nil
	default:
		c.peer = redis.NewPeer(n)
	}
	return c.peer
}

// Write takes what go-redis flushes: one command, or a whole pipeline.
func (c *conn) Write(b []byte) (int, error) {
	if c.closed {
		return 0, net.ErrClosed
	}
	buf := b
	if len(c.partial) > 0 {
		c.partial = append(c.partial, b...)
		buf = c.partial
	}
	for {
		args, taken, err := c.world.parse(buf)
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

// parse is Parse, for what is one whole command out of memory: the runs of a
// world say the same things again and again. Nobody changes the words of a command.
func (w *World) parse(buf []byte) (args []string, taken int, err error) {
	if args, known := w.words[string(buf)]; known {
		return args, len(buf), nil
	}
	args, taken, err = resp.Parse(buf)
	if err == nil && taken > 0 && taken == len(buf) {
		if len(w.words) >= 1024 {
			clear(w.words)
		}
		w.words[string(buf)] = args
	}
	return args, taken, err
}

func (c *conn) command(args []string) {
	t := c.world.current
	if t == nil || (!c.greeted && handshake(args[0])) {
		n := c.node()
		reply, _ := n.Execute(c.world.now, c.peerOf(n), args)
		c.rest = append(c.rest, reply...)
		return
	}
	c.greeted = true
	t.do(op{kind: opSend, conn: c, args: args})
}

func handshake(command string) bool {
	switch strings.ToUpper(command) {
	case "HELLO", "CLIENT", "AUTH", "SELECT", "PING":
		return true
	}
	return false
}

// Read waits for a reply.
func (c *conn) Read(b []byte) (int, error) {
	if len(c.rest) == 0 {
		t := c.world.current
		if t == nil || c.closed {
			return 0, net.ErrClosed
		}
		o := t.do(op{kind: opReceive, conn: c})
		if o.err != nil {
			return 0, o.err
		}
		c.rest = o.reply
	}
	n := copy(b, c.rest)
	c.rest = c.rest[n:]
	return n, nil
}

// Close forgets the connection. Replies still under way go nowhere.
func (c *conn) Close() error {
	c.closed = true
	c.inbox = nil
	return nil
}

// Deadlines are virtual: a reply is waited for as long as the client's
// configuration says, in virtual time, whatever go-redis computes from the
// machine's clock.
func (c *conn) SetDeadline(time.Time) error      { return nil }
func (c *conn) SetReadDeadline(time.Time) error  { return nil }
func (c *conn) SetWriteDeadline(time.Time) error { return nil }

func (c *conn) LocalAddr() net.Addr  { return simAddr(c.client.name) }
func (c *conn) RemoteAddr() net.Addr { return simAddr(c.node().Name) }

type simAddr string

func (simAddr) Network() string  { return "sim" }
func (a simAddr) String() string { return string(a) }

// errTimeout is the error of a read whose deadline has passed: a net.Error with
// Timeout true, worded as Go's own.
func errTimeout(n *redis.Node) error {
	return &net.OpError{Op: "read", Net: "sim", Addr: simAddr(n.Name), Err: os.ErrDeadlineExceeded}
}

// errRefused is the error of talking to a server that isn't there.
func errRefused(n *redis.Node) error {
	return &net.OpError{Op: "read", Net: "sim", Addr: simAddr(n.Name), Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}
}

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
