package redis

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"lockstep/sim/trace"
)

// Server is one node apart from any world: real Redis commands, executed on
// whatever memory they are given. What a server answers, and what it holds
// afterwards, is a function of its memory and the command; a Server is how that
// function is found out, one command at a time.
//
// A Server is not safe for concurrent use.
type Server struct {
	n    *Node
	lock string
}

// Snapshot is all that a server's answers depend on, as of now on its clock.
type Snapshot struct {
	Keys    []Key // by name
	Scripts []string
	Peers   []OpenTxn
	Millis  int64 // the server's clock since the start of the run; only commands that ask for the time see it
}

// Key is one key. Left is for how many milliseconds it is still there to be read,
// not counting the current one, or Immortal.
type Key struct {
	Name, Value string
	Hash        map[string]string // of a hash; Value is then its text
	Left        int64
}

// Immortal is the Left of a key without expiry.
const Immortal int64 = math.MaxInt64

// OpenTxn is what a connection has begun and not ended: WATCH, or MULTI and what was
// queued since.
type OpenTxn struct {
	Conn     int
	Commands [][]string
	Dirty    bool // what it watches has changed since
}

// NewServer makes a server for the locks of a key.
func NewServer(lock string) (*Server, error) {
	n, err := New(0, "n1")
	if err != nil {
		return nil, err
	}
	return &Server{n: n, lock: lock}, nil
}

// Close ends it.
func (s *Server) Close() { s.n.Close() }

// Run executes a command of a connection on a memory, and returns what that did to the
// lock's record. The memory is not changed.
func (s *Server) Run(m Snapshot, conn int, args []string) (reply []byte, after Snapshot, effect trace.Effect, err error) {
	peers, err := s.restore(m)
	if err != nil {
		return nil, Snapshot{}, trace.Effect{}, err
	}
	p := peers[conn]
	if p == nil {
		p = NewPeer(s.n)
		peers[conn] = p
	}
	now := time.Duration(m.Millis) * time.Millisecond
	out, changes := s.n.Execute(now, p, args)
	reply = slices.Clone(out)
	for i := range changes {
		if changes[i].Key == s.lock {
			effect = changes[i].Effect()
		}
	}
	return reply, s.snapshot(m, conn, p, args, len(changes) > 0), effect, nil
}

// restore makes the node's memory what it is given.
func (s *Server) restore(m Snapshot) (map[int]*Peer, error) {
	n := s.n
	n.Reset(Config{})
	n.sync(time.Duration(m.Millis) * time.Millisecond)
	for _, script := range m.Scripts {
		n.dispatchSide("SCRIPT", "LOAD", script)
	}
	peers := map[int]*Peer{}
	begin := func(dirty bool) {
		for _, b := range m.Peers {
			if b.Dirty != dirty {
				continue
			}
			p := NewPeer(n)
			for _, args := range b.Commands {
				n.Execute(time.Duration(m.Millis)*time.Millisecond, p, args)
				if dirty && strings.EqualFold(args[0], "WATCH") {
					s.soil(args[1:])
				}
			}
			peers[b.Conn] = p
		}
	}
	begin(true)
	for _, k := range m.Keys {
		when := int64(immortal)
		if k.Left != Immortal {
			when = n.millis + k.Left
		}
		if err := n.restore(stored{key: k.Name, value: k.Value, hash: k.Hash, when: when}); err != nil {
			return nil, err
		}
	}
	n.changed(time.Duration(m.Millis) * time.Millisecond)
	begin(false)
	return peers, nil
}

// soil changes keys back and forth, so that whoever watches them notices.
func (s *Server) soil(keys []string) {
	for _, key := range keys {
		s.n.dispatchSide("SET", key, "x")
		s.n.dispatchSide("DEL", key)
	}
}

// snapshot is what the node holds after a command.
func (s *Server) snapshot(before Snapshot, conn int, p *Peer, args []string, changed bool) Snapshot {
	after := Snapshot{Scripts: scriptsAfter(s.n, before.Scripts, args), Millis: before.Millis}
	for _, k := range s.n.known {
		left := Immortal
		if k.when != immortal {
			left = k.when - s.n.millis
		}
		after.Keys = append(after.Keys, Key{Name: k.key, Value: k.value, Hash: k.hash, Left: left})
	}
	for _, b := range before.Peers {
		if b.Conn != conn {
			b.Dirty = b.Dirty || changed && watches(b, before.Keys, after.Keys)
			after.Peers = append(after.Peers, b)
		}
	}
	if p.Watches || p.Queues {
		b := OpenTxn{Conn: conn}
		if i := slices.IndexFunc(before.Peers, func(b OpenTxn) bool { return b.Conn == conn }); i >= 0 {
			b.Commands, b.Dirty = slices.Clone(before.Peers[i].Commands), before.Peers[i].Dirty
		}
		b.Dirty = b.Dirty || changed && watches(b, before.Keys, after.Keys)
		b.Commands = append(b.Commands, args)
		after.Peers = append(after.Peers, b)
		slices.SortFunc(after.Peers, func(a, b OpenTxn) int { return a.Conn - b.Conn })
	}
	return after
}

// watches reports whether a connection watches a key that isn't what it was. (A
// value that was stored anew and is the same counts, too; but only the strategies
// of stamps do that, and they watch nothing.)
func watches(b OpenTxn, before, after []Key) bool {
	for _, args := range b.Commands {
		if !strings.EqualFold(args[0], "WATCH") {
			continue
		}
		for _, name := range args[1:] {
			if keyText(before, name) != keyText(after, name) {
				return true
			}
		}
	}
	return false
}

func keyText(keys []Key, name string) string {
	for _, k := range keys {
		if k.Name == name {
			return fmt.Sprint("is ", k.Value, " ", k.Left)
		}
	}
	return ""
}

// presence is the keys' names alone.
func presence(keys []Key) []Key {
	names := make([]Key, len(keys))
	for i, k := range keys {
		names[i].Name = k.Name
	}
	return names
}

// scriptsAfter is which scripts the node has cached after a command.
func scriptsAfter(n *Node, had []string, args []string) []string {
	switch command := strings.ToUpper(args[0]); {
	case command == "EVAL" && len(args) > 1 && !slices.Contains(had, args[1]):
		return sortedWith(had, args[1])
	case command == "SCRIPT" && len(args) == 3 && strings.EqualFold(args[1], "LOAD") && !slices.Contains(had, args[2]):
		return sortedWith(had, args[2])
	case command == "SCRIPT" && len(args) > 1 && strings.EqualFold(args[1], "FLUSH"):
		return nil
	}
	return had
}

func sortedWith(had []string, script string) []string {
	all := append(slices.Clone(had), script)
	slices.Sort(all)
	return all
}

// Age lets time pass on a memory, in whole milliseconds. It reports whether the
// lock's record has expired meanwhile.
func (m Snapshot) Age(by int64, lock string) (older Snapshot, expired bool) {
	older = Snapshot{Scripts: m.Scripts, Millis: m.Millis + by, Peers: m.Peers}
	for _, k := range m.Keys {
		if k.Left != Immortal {
			if k.Left -= by; k.Left < 0 {
				expired = expired || k.Name == lock
				continue
			}
		}
		older.Keys = append(older.Keys, k)
	}
	if len(older.Keys) != len(m.Keys) && len(m.Peers) > 0 {
		older.Peers = slices.Clone(m.Peers)
		for i := range older.Peers {
			b := &older.Peers[i]
			b.Dirty = b.Dirty || watches(*b, presence(m.Keys), presence(older.Keys))
		}
	}
	return older, expired
}

// AsksTime reports whether a command's answer may depend on the server's clock,
// other than by how long a key still lives. A script that is called by its digest
// is looked for in the memory.
func (m Snapshot) AsksTime(args []string) bool {
	if len(args) > 1 && strings.HasPrefix(strings.ToUpper(args[0]), "EVALSHA") {
		return slices.ContainsFunc(m.Scripts, func(text string) bool {
			return strings.EqualFold(digestOf(text), args[1]) && m.AsksTime([]string{"EVAL", text})
		})
	}
	for i, a := range args {
		word := strings.ToUpper(a)
		if i == 0 && (word == "TIME" || strings.HasSuffix(word, "EXPIREAT") || strings.HasSuffix(word, "EXPIRETIME")) {
			return true
		}
		if word == "PXAT" || word == "EXAT" {
			return true
		}
		if i == 1 && (strings.EqualFold(args[0], "EVAL") || strings.EqualFold(args[0], "SCRIPT")) &&
			(strings.Contains(word, "TIME") || strings.Contains(word, "XAT") || strings.Contains(word, "EXPIREAT")) {
			return true
		}
	}
	return false
}
