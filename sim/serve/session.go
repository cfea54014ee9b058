package serve

import (
	"fmt"
	"net"
	"sync"
	"time"

	"lockstep/sim/redis"
	"lockstep/sim/resp"
	"lockstep/sim/trace"
)

// session is one connection.
//
// Invariant: requests has those that have neither been answered nor lost, in the order in which they
// came. Its fields from peer on belong to the owner.
type session struct {
	server *Server
	number int
	node   int
	conn   net.Conn
	out    outbox
	slots  chan struct{} // one for each request that is not answered yet

	peer     *redis.Peer
	name     string // by CLIENT SETNAME
	speaks3  bool   // RESP3
	client   int    // in the trace, or trace.None before its first command
	admitted bool   // it has given the password, or needs none
	requests []*request
	torn     bool // a request was lost, so no request that was sent after it arrives
	mute     bool // a reply was lost, so no reply after it arrives
	gone     bool // the connection is closed
}

// mostUnanswered is how many requests of a connection the server takes before it stops to
// read from it.
const mostUnanswered = 1024

func newSession(s *Server, number, node int, conn net.Conn) *session {
	c := &session{server: s, number: number, node: node, conn: conn, slots: make(chan struct{}, mostUnanswered),
		peer: redis.NewPeer(s.nodes[node]), client: trace.None, admitted: s.cfg.Password == ""}
	c.out.init(s.cfg.MaxReplies)
	return c
}

// read hands the requests of the connection to the owner.
func (c *session) read() {
	defer c.server.do(func() { c.server.ended(c) })
	var buf []byte
	chunk := make([]byte, 16<<10)
	for {
		n, err := c.conn.Read(chunk)
		buf = append(buf, chunk[:n]...)
		for {
			args, taken, malformed := resp.Parse(buf)
			if malformed == nil && taken == 0 && len(buf) > c.server.cfg.MaxRequest || taken > c.server.cfg.MaxRequest {
				malformed = fmt.Errorf("a request of more than %d bytes", c.server.cfg.MaxRequest)
			}
			if malformed != nil {
				c.server.do(func() { c.server.refuses(c, malformed) })
				<-c.out.closed // until it has been told
				return
			}
			if taken == 0 {
				break
			}
			buf = buf[taken:]
			select {
			case c.slots <- struct{}{}:
			case <-c.server.quit:
				return
			case <-c.out.closed:
				return
			}
			if !c.server.do(func() { c.server.arrived(c, args) }) {
				return
			}
		}
		if len(buf) == 0 {
			buf = nil // or a large request would stay in memory
		}
		if err != nil {
			return
		}
	}
}

// write sends the connection the bytes of its outbox.
func (c *session) write() {
	for {
		b := c.out.take()
		if b == nil {
			break
		}
		if _, err := c.conn.Write(b); err != nil {
			break
		}
	}
	c.out.close()
	_ = c.conn.Close() // all that was to be sent is sent, or can't be
}

// leave closes the connection when it has been sent the bytes of its outbox, and soon.
func (c *session) leave() {
	_ = c.conn.SetWriteDeadline(time.Now().Add(time.Second))
	c.out.add(nil, true)
}

// outbox has the bytes that a connection is to be sent.
type outbox struct {
	mu     sync.Mutex
	filled sync.Cond
	buf    []byte
	limit  int
	last   bool // close the connection after it
	ended  bool
	closed chan struct{} // closed with the outbox
}

func (o *outbox) init(limit int) {
	o.limit, o.closed = limit, make(chan struct{})
	o.filled.L = &o.mu
}

// add adds a reply, and reports whether there was room for it. last closes the connection
// after it.
func (o *outbox) add(reply []byte, last bool) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.filled.Signal()
	o.last = o.last || last
	if len(o.buf)+len(reply) > o.limit {
		return false
	}
	o.buf = append(o.buf, reply...)
	return true
}

// take waits for bytes, and returns nil when there will be none.
func (o *outbox) take() []byte {
	o.mu.Lock()
	defer o.mu.Unlock()
	for len(o.buf) == 0 && !o.ended && !o.last {
		o.filled.Wait()
	}
	if o.ended {
		return nil
	}
	b := o.buf
	o.buf = nil
	return b
}

func (o *outbox) close() {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.ended {
		o.ended = true
		close(o.closed)
	}
	o.filled.Broadcast()
}
