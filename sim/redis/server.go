package redis

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/sim/trace"
)

// Server is one node apart from any world, which executes real Redis commands on any memory.
// A reply, and the memory after it, are a function of the memory before it and the command;
// a Server computes that function.
//
// A Server is not safe for concurrent use.
type Server struct {
	n    *Node
	lock string
}

// Snapshot is a server's memory, on which its replies depend, at an instant of its clock.
//
// Invariant: Keys and Scripts are sorted, and Peers ascend by Conn.
type Snapshot struct {
	Keys    []Key
	Scripts []string  // the scripts cached
	Peers   []OpenTxn // the connections with an open transaction or a subscription
	// Notifies has the keyspace notifications that the server was asked for.
	Notifies string
	Millis   int64 // the server's clock in milliseconds since the start of the run; only commands that ask for the time see it
}

// Encoded returns the snapshot as a text that no other snapshot has.
func (s Snapshot) Encoded() string {
	b := make([]byte, 0, 256)
	b = binary.AppendUvarint(b, uint64(len(s.Keys)))
	for _, k := range s.Keys {
		b = appendTexts(b, k.Name, k.Value)
		b = append(b, byte(k.Type))
		b = appendTexts(binary.AppendUvarint(b, uint64(len(k.Items))), k.Items...)
		b = binary.AppendVarint(b, k.Left)
	}
	b = appendTexts(binary.AppendUvarint(b, uint64(len(s.Scripts))), s.Scripts...)
	b = binary.AppendUvarint(b, uint64(len(s.Peers)))
	for _, p := range s.Peers {
		b = binary.AppendVarint(b, int64(p.Conn))
		b = binary.AppendUvarint(b, uint64(len(p.Commands)))
		for _, args := range p.Commands {
			b = appendTexts(binary.AppendUvarint(b, uint64(len(args))), args...)
		}
		b = strconv.AppendBool(b, p.Dirty)
	}
	return string(binary.AppendVarint(appendTexts(b, s.Notifies), s.Millis))
}

// appendTexts appends texts, each with its length.
func appendTexts(b []byte, texts ...string) []byte {
	for _, t := range texts {
		b = append(binary.AppendUvarint(b, uint64(len(t))), t...)
	}
	return b
}

// Immortal is the Left of a key without expiry.
const Immortal int64 = math.MaxInt64

// OpenTxn is a transaction that a connection has begun and not ended, or its subscriptions.
type OpenTxn struct {
	Conn     int        // the connection, as [Server.Run] numbers it
	Commands [][]string // WATCH, MULTI and the commands queued, in order; SUBSCRIBE and PSUBSCRIBE come last
	Dirty    bool       // a watched key has changed since the WATCH
}

// Queues reports whether the connection has sent MULTI, and so queues its commands.
func (b OpenTxn) Queues() bool {
	return slices.ContainsFunc(b.Commands, func(args []string) bool { return strings.EqualFold(args[0], "MULTI") })
}

// Adds reports whether a command that arrives on the connection does nothing but add to the transaction.
func (b OpenTxn) Adds(args []string) bool {
	switch strings.ToUpper(args[0]) {
	case "MULTI":
		return !b.Queues()
	case "EXEC", "DISCARD", "WATCH", "RESET", "QUIT":
		return false
	}
	return b.Queues()
}

// Spares reports whether commands that arrive on the connection, and after which none does, leave all keys
// as they are, whatever others do before: they only read, or their transaction is never executed. It
// knows the commonest commands that do.
func (b OpenTxn) Spares(commands [][]string) bool {
	queues, dirty := b.Queues(), b.Dirty
	for _, args := range commands {
		switch command := strings.ToUpper(args[0]); {
		case queues && command == "EXEC" && !dirty:
			return false
		case command == "EXEC", command == "DISCARD":
			queues, dirty = false, false
		case queues:
		case command == "MULTI":
			queues = true
		case !readOnly(command):
			return false
		}
	}
	return true
}

// NewServer makes a server for locks with this key. It fails if miniredis cannot start.
func NewServer(lock string) (*Server, error) {
	n, err := New(0, "n1")
	if err != nil {
		return nil, err
	}
	n.audit = new(audit)
	return &Server{n: n, lock: lock}, nil
}

// Close ends the server.
func (s *Server) Close() { s.n.Close() }

// Answer is the effect of a command on a memory.
type Answer struct {
	Reply  []byte       // in RESP
	After  Snapshot     // the memory afterwards
	Effect trace.Effect // on the lock's record
	Shares bool         // the lock's record was and is a list, a set or a sorted set, and was changed: several clients may have items in it
	Clock  bool         // the server's clock was read, by the command or by one that its script or transaction executed
	Life   bool         // somebody was told how long a key still lives, likewise
	Blocks bool         // the command has to wait for an element: it has no reply yet, and has changed nothing
	Sent   []Message    // to subscribers, in this order
}

// Message is one that a server sends to a subscriber.
type Message struct {
	Conn int    // the subscriber's connection
	Text []byte // in RESP
}

// Run executes a command of a connection on a memory, which it doesn't change. It fails with
// [Unmodelled] if the command, or anything that its script or transaction executes, is
// outside of the closed world; and on a type of key that it cannot write.
func (s *Server) Run(m Snapshot, conn int, args []string) (Answer, error) {
	peers, err := s.restore(m)
	if err != nil {
		return Answer{}, err
	}
	p := peers[conn]
	if p == nil {
		p = NewPeer(s.n)
		peers[conn] = p
	}
	now := time.Duration(m.Millis) * time.Millisecond
	*s.n.audit = audit{}
	out, changes := s.n.Execute(now, p, args)
	if refused := s.n.audit.refused; refused != nil {
		return Answer{}, refused
	}
	a := Answer{Reply: slices.Clone(out), Clock: s.n.audit.clock, Life: s.n.audit.life, Blocks: s.n.Blocked()}
	for _, push := range s.n.Pushes() {
		a.Sent = append(a.Sent, Message{Conn: numberOf(peers, push.To), Text: push.Message})
	}
	was := slices.IndexFunc(m.Keys, func(k Key) bool { return k.Name == s.lock })
	for i := range changes {
		if changes[i].Key == s.lock {
			a.Effect = changes[i].Effect()
			now, _ := s.n.look(s.lock)
			a.Shares = a.Effect.Before && a.Effect.After && m.Keys[was].Type.shares() && now.kind.shares()
		}
	}
	a.After = s.snapshot(m, conn, peers, args)
	return a, nil
}

// numberOf returns the number of a connection among some.
func numberOf(peers map[int]*Peer, p *Peer) int {
	for conn, other := range peers {
		if other == p {
			return conn
		}
	}
	panic("redis: a message to nobody")
}

// restore replaces the node's memory by the snapshot, and returns its open connections.
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
		if err := n.restore(stored{key: k.Name, kind: k.Type, value: k.Value, items: k.Items, when: when}); err != nil {
			return nil, err
		}
	}
	n.changed(time.Duration(m.Millis) * time.Millisecond)
	begin(false)
	n.notifies = m.Notifies
	return peers, nil
}

// soil changes keys back and forth, so that a transaction that watches them fails.
func (s *Server) soil(keys []string) {
	for _, key := range keys {
		s.n.dispatchSide("SET", key, "x")
		s.n.dispatchSide("DEL", key)
	}
}

// snapshot returns the node's memory after a command of a connection. It ends the WATCH of
// each, to find out whether a watched key has changed.
func (s *Server) snapshot(before Snapshot, conn int, peers map[int]*Peer, args []string) Snapshot {
	after := Snapshot{Scripts: s.n.scripts.cachedAfter(before.Scripts), Millis: before.Millis, Notifies: s.n.notifies}
	for _, k := range s.n.known {
		left := Immortal
		if k.when != immortal {
			left = k.when - s.n.millis
		}
		after.Keys = append(after.Keys, Key{Name: k.key, Type: k.kind, Value: k.value, Items: k.items, Left: left})
	}
	add := func(txn OpenTxn) {
		p := peers[txn.Conn]
		txn.Dirty = p.Watches() && s.n.disturbed(p.conn, p.watched) || txn.Dirty
		after.Peers = append(after.Peers, txn)
	}
	own := OpenTxn{Conn: conn}
	for _, txn := range before.Peers {
		if txn.Conn == conn {
			own = txn
		} else {
			add(txn)
		}
	}
	if p := peers[conn]; p.Watches() || p.Queues || p.Subscribed() {
		own.Commands = slices.DeleteFunc(slices.Clone(own.Commands), Subscribes)
		if !p.Watches() && !p.Queues {
			own = OpenTxn{Conn: conn}
		}
		if p.Queues || strings.EqualFold(args[0], "WATCH") {
			own.Commands = append(own.Commands, args)
		}
		own.Commands = append(own.Commands, p.subscriptions()...)
		add(own)
		slices.SortFunc(after.Peers, func(a, b OpenTxn) int { return a.Conn - b.Conn })
	}
	return after
}

// Subscribed reports whether the connection has a subscription.
func (b OpenTxn) Subscribed() bool { return slices.ContainsFunc(b.Commands, Subscribes) }

// Unwatched returns the rest of it when its transaction is over: the subscriptions.
func (b OpenTxn) Unwatched() OpenTxn {
	return OpenTxn{Conn: b.Conn, Commands: slices.DeleteFunc(slices.Clone(b.Commands), func(args []string) bool { return !Subscribes(args) })}
}

// watchesAny reports whether a connection watches one of the keys.
func (b OpenTxn) watchesAny(keys []string) bool {
	return slices.ContainsFunc(b.Commands, func(args []string) bool {
		return strings.EqualFold(args[0], "WATCH") && slices.ContainsFunc(args[1:], func(key string) bool { return slices.Contains(keys, key) })
	})
}

// cachedAfter returns the scripts that the node has cached after a command, sorted. had are
// those that it had before.
func (s *scripts) cachedAfter(had []string) []string {
	known := 0
	for _, script := range s.known {
		if script.epoch == s.epoch {
			known++
		}
	}
	if known == len(had) && !slices.ContainsFunc(had, func(text string) bool { return s.learn(text).epoch != s.epoch }) {
		return had
	}
	texts := make([]string, 0, known)
	for _, script := range s.known {
		if script.epoch == s.epoch {
			texts = append(texts, script.text)
		}
	}
	slices.Sort(texts)
	return texts
}

// Age returns a memory after a time in whole milliseconds, and reports whether the lock's
// record has expired meanwhile.
func (m Snapshot) Age(by int64, lock string) (older Snapshot, expired bool) {
	older = Snapshot{Scripts: m.Scripts, Millis: m.Millis + by, Peers: m.Peers, Notifies: m.Notifies}
	var gone []string
	for _, k := range m.Keys {
		if k.Left != Immortal {
			if k.Left -= by; k.Left < 0 {
				gone = append(gone, k.Name)
				continue
			}
		}
		older.Keys = append(older.Keys, k)
	}
	older.disturb(gone)
	return older, slices.Contains(gone, lock)
}

// Has reports whether a memory has a key.
func (m Snapshot) Has(key string) bool {
	return slices.ContainsFunc(m.Keys, func(k Key) bool { return k.Name == key })
}

// Drop returns a memory without a key. Transactions that watch it will fail.
func (m Snapshot) Drop(key string) Snapshot {
	if !m.Has(key) {
		return m
	}
	m.Keys = slices.DeleteFunc(slices.Clone(m.Keys), func(k Key) bool { return k.Name == key })
	m.disturb([]string{key})
	return m
}

// disturb marks the transactions that watch any of some keys, in peers of the memory's own.
func (m *Snapshot) disturb(keys []string) {
	if len(keys) == 0 || len(m.Peers) == 0 {
		return
	}
	m.Peers = slices.Clone(m.Peers)
	for i := range m.Peers {
		txn := &m.Peers[i]
		txn.Dirty = txn.Dirty || txn.watchesAny(keys)
	}
}
