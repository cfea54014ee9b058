package bubble

import (
	"bytes"
	"cmp"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"lockstep/sim/process"
	"lockstep/sim/resp"
)

// conn is a connection of the library. Its goroutines write and read; the bubble's controller
// hands replies over while none of them runs.
type conn struct {
	b    *bubble
	node int
	id   int // among the connections to the node

	mu      sync.Mutex
	partial []byte        // the beginning of a command
	replies bytes.Buffer  // that the library has not read yet
	err     error         // of all further reads
	closed  bool          // by the library
	arrived chan struct{} // one is in it if a read may go on

	world *process.Conn // the same connection in the simulator, once a command goes out; of the client's thread
}

// request is a command that the library has sent.
type request struct {
	conn  *conn
	args  []string
	stack []uintptr // the library's
}

// dial opens a connection.
func (b *bubble) dial(node int) *conn {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := &conn{b: b, node: node, id: len(b.conns[node]), arrived: make(chan struct{}, 1)}
	b.conns[node] = append(b.conns[node], c)
	return c
}

// Write takes commands in.
func (c *conn) Write(p []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed || c.err != nil {
		return 0, net.ErrClosed
	}
	c.partial = append(c.partial, p...)
	for {
		args, taken, err := resp.Parse(c.partial)
		if err != nil {
			return 0, err
		}
		if taken == 0 {
			return len(p), nil
		}
		c.partial = append(c.partial[:0], c.partial[taken:]...)
		if reply, is := greeting(args); is {
			c.put(reply)
			continue
		}
		c.b.send(request{c, args, c.b.stack()})
	}
}

// stack returns the program counters of the code that sends a command, or none if nobody asks
// for lines of code: to walk a stack takes long.
func (b *bubble) stack() []uintptr {
	if b.blind {
		return nil
	}
	pcs := make([]uintptr, 48)
	return pcs[:runtime.Callers(2, pcs)]
}

// greeting returns the reply to a command of a connection's handshake, which is the same
// whatever the node has stored and says nothing about locks.
func greeting(args []string) (reply string, is bool) {
	switch strings.ToUpper(args[0]) {
	case "HELLO":
		return "-ERR unknown command 'HELLO'\r\n", true
	case "CLIENT", "SELECT", "AUTH":
		return "+OK\r\n", true
	case "PING":
		return "+PONG\r\n", true
	}
	return "", false
}

// put hands a reply over. The caller has locked the connection.
func (c *conn) put(reply string) {
	c.replies.WriteString(reply)
	c.wake()
}

func (c *conn) wake() {
	select {
	case c.arrived <- struct{}{}:
	default:
	}
}

// deliver hands over a reply, or the error that comes in its place.
func (c *conn) deliver(reply []byte, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err != nil {
		c.err = err
		c.wake()
		return
	}
	c.put(string(reply))
}

// Read waits for replies.
func (c *conn) Read(p []byte) (int, error) {
	for {
		c.mu.Lock()
		n, err := c.replies.Read(p)
		if n == 0 {
			err = c.err
		}
		if c.closed {
			n, err = 0, net.ErrClosed
		}
		c.mu.Unlock()
		if n > 0 || err != nil {
			return n, err
		}
		<-c.arrived
	}
}

// Close ends the connection.
func (c *conn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	c.wake()
	return nil
}

// SetDeadline does nothing: a reply times out when the simulator says so.
func (c *conn) SetDeadline(time.Time) error { return nil }

// SetReadDeadline does nothing: see SetDeadline.
func (c *conn) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline does nothing: see SetDeadline.
func (c *conn) SetWriteDeadline(time.Time) error { return nil }

// LocalAddr returns an address of loopback.
func (c *conn) LocalAddr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 6000} }

// RemoteAddr returns an address of loopback whose port tells the node.
func (c *conn) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 7000 + c.node}
}

// sorted puts commands that were sent at once into an order that doesn't depend on the
// runtime's: by node, then by their words. Those of one connection stay in their order.
func sorted(requests []request) []request {
	first := map[*conn]*request{}
	for i := range requests {
		if r := &requests[i]; first[r.conn] == nil {
			first[r.conn] = r
		}
	}
	slices.SortStableFunc(requests, func(a, b request) int {
		p, q := first[a.conn], first[b.conn]
		return cmp.Or(cmp.Compare(a.conn.node, b.conn.node), slices.Compare(p.args, q.args), cmp.Compare(a.conn.id, b.conn.id))
	})
	return requests
}
