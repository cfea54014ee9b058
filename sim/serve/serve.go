package serve

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// Config is a server's configuration. The zero value of a limit is its default.
type Config struct {
	Bind     string // the address to listen on; empty is loopback
	Port     int    // of the first node; the others have those after it. 0 leaves the choice to the system
	Nodes    int    // independent servers; 0 is one
	Password string // that clients must give; empty is none

	Persistence redis.Persistence
	Key         string        // of the lock; empty is the first key that is used as one
	Hold        bool          // the gate begins closed
	Stopped     bool          // time begins to stand still
	Start       time.Duration // the wall clock of the nodes at the beginning, since 1970

	MaxClients int // connections at a time; 1,024
	MaxRequest int // bytes of a command; 1 MiB
	MaxReplies int // bytes of replies that a client hasn't read; 8 MiB
	MaxRecord  int // bytes that the trace takes; 256 MiB

	// Event, if it is set, is told of each line of the record, in order. The server waits for it.
	Event func(line string)
}

func (c Config) withDefaults() Config {
	c.Bind = cmp.Or(c.Bind, "127.0.0.1")
	c.Nodes = cmp.Or(c.Nodes, 1)
	c.MaxClients = cmp.Or(c.MaxClients, 1024)
	c.MaxRequest = cmp.Or(c.MaxRequest, 1<<20)
	c.MaxReplies = cmp.Or(c.MaxReplies, 8<<20)
	c.MaxRecord = cmp.Or(c.MaxRecord, 256<<20)
	return c
}

// Server is a set of simulated servers that listen on sockets.
//
// Invariant: nodes and all fields below it belong to the goroutine of [Server.own].
type Server struct {
	cfg       Config
	listeners []net.Listener
	calls     chan func()
	quit      chan struct{}
	close     func() error
	running   sync.WaitGroup

	nodes    []*redis.Node
	sessions map[*session]bool // that are open, or have requests on their way
	open     int               // sessions that are open
	numbered int               // sessions so far
	byPeer   map[*redis.Peer]*session
	gate
	clock
	record
}

// Listen starts a server. It fails if an address can't be listened on.
func Listen(cfg Config) (*Server, error) {
	s := &Server{cfg: cfg.withDefaults(), calls: make(chan func()), quit: make(chan struct{}),
		sessions: map[*session]bool{}, byPeer: map[*redis.Peer]*session{}}
	s.close = sync.OnceValue(s.end)
	for i := range s.cfg.Nodes {
		n, err := redis.New(i, fmt.Sprintf("n%d", i+1))
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		n.Reset(redis.Config{Offset: s.cfg.Start - time.Duration(trace.Epoch.UnixNano()), Persistence: s.cfg.Persistence})
		s.nodes = append(s.nodes, n)
		port := s.cfg.Port
		if port > 0 {
			port += i
		}
		l, err := net.Listen("tcp", net.JoinHostPort(s.cfg.Bind, fmt.Sprint(port)))
		if err != nil {
			return nil, errors.Join(err, s.Close())
		}
		s.listeners = append(s.listeners, l)
	}
	s.gate.reset(s.cfg.Hold)
	s.clock.reset(!s.cfg.Stopped)
	s.record.reset(s.cfg, s.nodes)
	s.running.Go(s.own)
	for i, l := range s.listeners {
		s.running.Go(func() { s.accept(i, l) })
	}
	return s, nil
}

// Addresses returns those of the nodes, in order.
func (s *Server) Addresses() (all []string) {
	for _, l := range s.listeners {
		all = append(all, l.Addr().String())
	}
	return all
}

// Close ends all connections, and waits until nothing of the server runs. Its record
// can still be read.
func (s *Server) Close() error { return s.close() }

func (s *Server) end() (err error) {
	for _, l := range s.listeners {
		err = errors.Join(err, l.Close())
	}
	close(s.quit)
	s.running.Wait()
	for _, n := range s.nodes {
		n.Close()
	}
	return err
}

// own is the goroutine that owns the nodes.
func (s *Server) own() {
	defer func() {
		for c := range s.sessions {
			c.out.close()
			_ = c.conn.Close() // its goroutines end by that
		}
	}()
	for {
		wake := s.clock.alarm(s.due())
		select {
		case call := <-s.calls:
			s.catchUp()
			call()
		case <-wake:
			s.catchUp()
		case <-s.quit:
			return
		}
	}
}

// do has the owner call a function, and returns at once. It reports whether the server is
// still there.
func (s *Server) do(call func()) bool {
	select {
	case s.calls <- call:
		return true
	case <-s.quit:
		return false
	}
}

// ask has the owner call a function, and waits for it. After Close it calls it itself.
func (s *Server) ask(call func()) {
	done := make(chan struct{})
	if s.do(func() { call(); close(done) }) {
		<-done
		return
	}
	s.running.Wait()
	call()
}

// accept takes the connections to one node.
func (s *Server) accept(node int, l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return // it is closed
		}
		if !s.do(func() { s.connected(node, conn) }) {
			_ = conn.Close() // the server is gone
			return
		}
	}
}

// connected begins a session, unless there are too many or the node is down.
func (s *Server) connected(node int, conn net.Conn) {
	if full := s.open >= s.cfg.MaxClients; full || !s.nodes[node].Up {
		if full {
			_ = conn.SetWriteDeadline(time.Now().Add(time.Second)) // the buffer of a fresh connection has room
			_, _ = conn.Write([]byte("-ERR max number of clients reached\r\n"))
		}
		_ = conn.Close() // nothing more is owed to it
		return
	}
	s.numbered++
	s.open++
	c := newSession(s, s.numbered, node, conn)
	s.sessions[c] = true
	s.byPeer[c.peer] = c
	s.running.Go(c.read)
	s.running.Go(c.write)
}

// ended closes a session whose connection is gone. Its requests on the way still arrive.
func (s *Server) ended(c *session) {
	if c.gone {
		return
	}
	c.gone = true
	s.open--
	delete(s.byPeer, c.peer)
	s.nodes[c.node].Leave(c.peer)
	c.leave()
	if c.client != trace.None {
		s.notes(fmt.Sprintf("a connection of %s to %s has ended", s.clients[c.client], s.nodes[c.node].Name))
	}
	s.serve(c)
	s.prune(c)
}

// prune forgets a session of which nothing more is to come.
func (s *Server) prune(c *session) {
	if c.gone && len(c.requests) == 0 && s.sessions[c] {
		delete(s.sessions, c)
		s.leaves(c.client)
	}
}
