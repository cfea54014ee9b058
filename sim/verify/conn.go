package verify

import (
	"bufio"
	"net"
	"time"

	"lockstep/sim/resp"
)

// hangs is the real time after which a server that doesn't answer is taken for one that never
// will. It ends a replay; no result depends on it.
const hangs = 20 * time.Second

// conn is a connection to a real server.
type conn struct {
	net.Conn
	in  *bufio.Reader
	out []byte
}

func dial(network, address string) (*conn, error) {
	c, err := net.DialTimeout(network, address, hangs)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, in: bufio.NewReader(c)}, nil
}

// send sends a command, and doesn't wait for its reply.
func (c *conn) send(args ...string) error {
	c.out = resp.Append(c.out[:0], args...)
	if err := c.SetDeadline(time.Now().Add(hangs)); err != nil {
		return err
	}
	_, err := c.Write(c.out)
	return err
}

// receive reads one reply.
func (c *conn) receive() ([]byte, error) { return resp.Read(c.in) }

// ask sends a command and reads its reply.
func (c *conn) ask(args ...string) ([]byte, error) {
	if err := c.send(args...); err != nil {
		return nil, err
	}
	return c.receive()
}
