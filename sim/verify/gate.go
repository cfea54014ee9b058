package verify

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"lockstep/sim/resp"
)

// gate stands between a master and one replica. While it is open, they talk as if it weren't
// there, and the replica copies its master. While it is shut, it keeps the master's writes,
// and lets them pass up to an offset of the replication stream. The replica's own
// acknowledgements, which come once a real second, it drops; it acknowledges in the replica's
// place when it is told to.
//
// Invariant, while shut: held are the bytes of the stream from the offset passed on.
type gate struct {
	listener net.Listener
	from     *server // the master

	mu      sync.Mutex
	change  *sync.Cond
	shut    bool
	passed  int64
	held    []byte
	replica net.Conn // of the newest link
	source  net.Conn
	broken  error // of the newest link: why there are no more writes from it
}

func newGate(master *server) (*gate, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") // a replica cannot reach its master by a Unix socket
	if err != nil {
		return nil, err
	}
	g := &gate{listener: l, from: master}
	g.change = sync.NewCond(&g.mu)
	go g.accept()
	return g, nil
}

func (g *gate) port() string {
	_, port, _ := net.SplitHostPort(g.listener.Addr().String())
	return port
}

func (g *gate) accept() {
	for {
		replica, err := g.listener.Accept()
		if err != nil {
			return
		}
		source, err := net.Dial("unix", g.from.path("socket"))
		if err != nil {
			_ = replica.Close()
			continue
		}
		g.mu.Lock()
		g.replica, g.source, g.broken = replica, source, nil
		g.mu.Unlock()
		go g.down(source, replica)
		go g.up(replica, source)
	}
}

// down carries the stream from the master to the replica.
func (g *gate) down(source, replica net.Conn) {
	buf := make([]byte, 16<<10)
	for {
		n, err := source.Read(buf)
		g.mu.Lock()
		switch {
		case err != nil:
			g.broken = err
		case g.shut:
			g.held = append(g.held, buf[:n]...)
		default:
			_, err = replica.Write(buf[:n])
		}
		g.change.Broadcast()
		shut := g.shut // then bytes that the master sent before its end are still on their way
		g.mu.Unlock()
		if err != nil {
			if !shut {
				_ = replica.Close()
			}
			return
		}
	}
}

// up carries the replica's words to the master, command by command. While it loads its copy a
// replica sends single newlines, to show that it is alive; nobody here waits for them.
func (g *gate) up(replica, source net.Conn) {
	var said []byte
	buf := make([]byte, 4<<10)
	for {
		n, err := replica.Read(buf)
		said = append(said, buf[:n]...)
		for err == nil {
			var taken int
			said = bytes.TrimLeft(said, "\n")
			if _, taken, err = resp.Parse(said); taken == 0 {
				break
			}
			g.mu.Lock()
			if !g.shut {
				_, err = source.Write(said[:taken])
			}
			g.mu.Unlock()
			said = said[taken:]
		}
		if err != nil {
			_ = source.Close()
			return
		}
	}
}

// shutAt shuts the gate at an offset that both servers have.
func (g *gate) shutAt(offset int64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut, g.passed, g.held = true, offset, nil
}

// open opens the gate. All that it has kept passes.
func (g *gate) open() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = false
	_, err := g.replica.Write(g.held)
	g.held = nil
	return err
}

// pass lets the stream pass up to an offset, for which it waits.
func (g *gate) pass(offset int64) error {
	late := time.AfterFunc(hangs, func() {
		g.mu.Lock()
		g.broken = fmt.Errorf("waited %s in vain for its byte %d", hangs, offset)
		g.change.Broadcast()
		g.mu.Unlock()
	})
	defer late.Stop()
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.passed+int64(len(g.held)) < offset {
		if g.broken != nil {
			return fmt.Errorf("the link from the master to the replica: %w", g.broken)
		}
		g.change.Wait()
	}
	if n := offset - g.passed; n > 0 {
		if _, err := g.replica.Write(g.held[:n]); err != nil {
			return err
		}
		g.held, g.passed = slices.Delete(g.held, 0, int(n)), offset
	}
	return nil
}

// acknowledge tells the master that the replica has the stream up to an offset.
func (g *gate) acknowledge(offset int64) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, err := g.source.Write(resp.Append(nil, "REPLCONF", "ACK", strconv.FormatInt(offset, 10)))
	return err
}

// close ends the link and takes no other.
func (g *gate) close() {
	_ = g.listener.Close()
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.replica != nil {
		_, _ = g.replica.Close(), g.source.Close()
	}
}
