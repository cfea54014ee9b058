package behaviour

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"

	"lockstep/sim"
	"lockstep/sim/explore/intern"
	"lockstep/sim/explore/naming"
	"lockstep/sim/explore/unfit"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// Servers memoises the behaviour of nodes, and asks Redis for unknown answers. All
// nodes of a configuration share it. Snapshots, commands and replies are referred to by their ids.
type Servers struct {
	lock       string
	timed      bool                                 // true time belongs to the state
	Early      bool                                 // see ExpireEarly
	Replicas   int                                  // of each master
	snapshots  *intern.Memo[string, redis.Snapshot] // by their text
	answers    *intern.Memo[Question, Answer]
	aged       *intern.Memo[aging, Aged]
	series     intern.Chunks[naming.SeriesSet] // of which tokens occur in a snapshot, by its id
	clients    *Clients
	idle       *intern.Memo[uint32, [2]bool]  // Idle's results for a command alone, outside of a transaction
	withoutTxn *intern.Memo[Question, uint32] // snapshots without the open transaction of a connection
	older      *intern.Memo[uint32, uint32]   // see Older
	commands   *intern.Table[string]
	replies    *intern.Table[string]

	mu     sync.Mutex    // guards all below
	Server *redis.Server // executes the commands; its owner has to close it
	Ran    int           // commands that Redis really executed
	Told   bool          // one of them tells how long a key still lives
}

// Question is a command on a snapshot.
type Question struct {
	Snapshot uint32 // its id
	Conn     uint16 // the connection, numbered across all clients
	Command  uint32 // its id
}

// Answer is the effect of a command on a snapshot.
type Answer struct {
	Snapshot uint32       // the id of the snapshot afterwards
	Reply    uint32       // its id in Clients.Replies
	Effect   trace.Effect // on the lock's record
	Shares   bool         // see redis.Answer
	Asks     bool         // the command has read the server's clock
	Blocks   bool         // the command has to wait for an element, and has no reply yet
	Sent     uint32       // the id of the messages that it has sent, or 0: see Messages
}

// aging is the key of an [Aged].
type aging struct {
	snapshot uint32
	by       int32 // milliseconds
}

// Aged is a snapshot some time later.
type Aged struct {
	Snapshot uint32 // its id
	Expired  bool   // the lock's record has expired in the meantime
	Sent     uint32 // the id of the messages about keys that have gone
}

// NewServers starts the Redis server that answers the questions. The commands and
// replies are interned in clients' tables. If timed is false, snapshots that differ only
// in the server's time are equal, and a command that reads it fails with [unfit.ErrTimed].
func NewServers(cfg sim.Config, k *Clients, timed bool) (*Servers, error) {
	server, err := redis.NewServer(cfg.RecordKey())
	if err != nil {
		return nil, err
	}
	return newServers(server, cfg, k, timed), nil
}

// newServers is NewServers with a server that runs.
func newServers(server *redis.Server, cfg sim.Config, k *Clients, timed bool) *Servers {
	s := &Servers{Server: server, clients: k, lock: cfg.RecordKey(), snapshots: intern.NewMemo[string, redis.Snapshot](), answers: intern.NewMemo[Question, Answer](),
		aged: intern.NewMemo[aging, Aged](), withoutTxn: intern.NewMemo[Question, uint32](), older: intern.NewMemo[uint32, uint32](), idle: intern.NewMemo[uint32, [2]bool](),
		Replicas: cfg.Replicas, timed: timed, commands: &k.commands.Table, replies: k.Replies}
	s.series.Add(0) // id 0 means none
	s.snapshots.Added = func(text *string) { s.series.Add(k.tokens.Series(text)) }
	return s
}

// ID interns a snapshot.
func (s *Servers) ID(snap redis.Snapshot) uint32 {
	if !s.timed {
		snap.Millis = 0
	}
	return s.snapshots.Put(snap.Encoded(), snap)
}

// Snapshot returns the snapshot with an id. It must not be changed.
func (s *Servers) Snapshot(id uint32) *redis.Snapshot { return &s.snapshots.Entries.At(id).Value }

// Run answers a question: from the memo, or by executing the command. It fails with
// [unfit.ErrTimed] if the command reads the server's clock and the model is untimed, and with the
// server's error, such as [redis.Unmodelled], if it can't execute it.
func (s *Servers) Run(q Question) (Answer, error) {
	if a, known := s.answers.Get(q); known {
		return *a, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if a, known := s.answers.Get(q); known {
		return *a, nil
	}
	args := intern.Unpack(*s.commands.Value(q.Command))
	s.Ran++
	answer, err := s.Server.Run(*s.Snapshot(q.Snapshot), int(q.Conn), args)
	switch {
	case err != nil:
		return Answer{}, err
	case answer.Clock && !s.timed:
		return Answer{}, unfit.ErrTimed
	}
	s.Told = s.Told || answer.Life
	if err := s.outlives(args, s.Snapshot(q.Snapshot).Keys, answer.After.Keys); err != nil {
		return Answer{}, err
	}
	a := Answer{Snapshot: s.ID(answer.After), Reply: s.replies.ID(string(answer.Reply)), Effect: answer.Effect, Shares: answer.Shares, Asks: answer.Clock, Blocks: answer.Blocks, Sent: s.pack(answer.Sent)}
	s.answers.Put(q, a)
	return a, nil
}

// outlives refuses a command that gives a key a longer life than a search counts. A key that
// it has left alone may live longer, because of a server's clock that has jumped back.
func (s *Servers) outlives(args []string, before, after []redis.Key) error {
	for _, key := range after {
		if key.Left == redis.Immortal || key.Left <= MaxSpan.Milliseconds() ||
			slices.ContainsFunc(before, func(k redis.Key) bool { return k.Name == key.Name && k.Left == key.Left }) {
			continue
		}
		return &redis.Unmodelled{What: trace.CommandText(args), Why: fmt.Sprintf("it counts the life of %s up to %s; use a shorter TTL, or none",
			trace.WordText(key.Name), trace.Duration(MaxSpan))}
	}
	return nil
}

// Wait answers a question whose command is a WAIT; is reports whether it is one. All replicas are in sync except the missing
// ones, which have fallen behind or taken over. Redis would wait for those until the command's timeout, or until the
// connection ends because a replica takes over. A search sends a reply at once, so it refuses such a WAIT.
func (s *Servers) Wait(q Question, missing int) (a Answer, is bool, err error) {
	args := intern.Unpack(*s.commands.Value(q.Command))
	if s.Replicas == 0 || !strings.EqualFold(args[0], "WAIT") || len(args) != 3 {
		return Answer{}, false, nil
	}
	refuse := func(why string) (Answer, bool, error) {
		return Answer{}, true, &redis.Unmodelled{What: trace.CommandText(args), Why: why}
	}
	for _, txn := range s.Snapshot(q.Snapshot).Peers {
		if txn.Conn == int(q.Conn) && txn.Queues() {
			return refuse("in a transaction it waits for nothing; send it after EXEC")
		}
	}
	have := s.Replicas - missing
	wants, err1 := strconv.Atoi(args[1])
	millis, err2 := strconv.ParseInt(args[2], 10, 64)
	switch {
	case err1 != nil || err2 != nil || millis < 0:
		return Answer{}, false, nil // the server has the error reply
	case wants <= have:
		return Answer{Snapshot: q.Snapshot, Reply: s.replies.ID(fmt.Sprintf(":%d\r\n", have))}, true, nil
	}
	return refuse(fmt.Sprintf("it has no model of a reply that comes late, and the replicas that have it all are %d; "+
		"give the lock one replica more, or search without failover", have))
}

// Age returns a snapshot as it is after by milliseconds; by may be negative, for a clock that jumps back.
func (s *Servers) Age(snapshot uint32, by int32) Aged {
	key := aging{snapshot, by}
	if a, known := s.aged.Get(key); known {
		return *a
	}
	older, expired := s.Snapshot(snapshot).Age(int64(by), s.lock)
	if s.Early {
		before := len(older.Keys)
		now, early := older.Age(1, s.lock)
		if len(now.Keys) < before {
			for i := range now.Keys {
				if now.Keys[i].Left != redis.Immortal {
					now.Keys[i].Left++
				}
			}
			now.Millis = older.Millis
			older, expired = now, expired || early
		}
	}
	a := Aged{s.ID(older), expired, s.pack(s.Snapshot(snapshot).Expiring(int64(by)))}
	s.aged.Put(key, a)
	return a
}

// ExpireEarly makes records expire a millisecond earlier than Redis lets them, at the very end of their TTL. A client with a
// lease loses its record sooner then, so no violation is missed by it; and spans of equal lengths end at one instant. It
// must be called before any worker runs.
func (s *Servers) ExpireEarly() {
	s.Early, s.aged = true, intern.NewMemo[aging, Aged]()
}

// Ended lists, for each key of a snapshot that has come to the very end of its life, the snapshot
// without it: Redis lets it go within the next millisecond.
func (s *Servers) Ended(snapshot uint32) (gone []Aged) {
	snap := s.Snapshot(snapshot)
	for _, k := range snap.Keys {
		if k.Left == 0 {
			gone = append(gone, Aged{Snapshot: s.ID(snap.Drop(k.Name)), Expired: k.Name == s.lock})
		}
	}
	return gone
}

// Each calls a function with the snapshots before and after each command that was executed on one of
// those met with, and has led to another of them.
func (s *Servers) Each(met map[uint32]bool, do func(was, is *redis.Snapshot)) {
	for n := uint32(1); n <= uint32(s.answers.Len()); n++ {
		if e := s.answers.Entries.At(n); met[e.Key.Snapshot] && met[e.Value.Snapshot] {
			do(s.Snapshot(e.Key.Snapshot), s.Snapshot(e.Value.Snapshot))
		}
	}
}

// SeriesIn returns the series of which tokens occur in a snapshot: in keys, values, and transactions that are open.
func (s *Servers) SeriesIn(snapshot uint32) naming.SeriesSet { return *s.series.At(snapshot) }

// Records reports whether a snapshot has the lock's record.
func (s *Servers) Records(snapshot uint32) bool { return s.Snapshot(snapshot).Has(s.lock) }

// Older returns the snapshot in which the lock's record, if it has an end, lives a millisecond less.
func (s *Servers) Older(snapshot uint32) uint32 { return intern.Of(s.older, snapshot, s.ages) }

func (s *Servers) ages(snapshot uint32) uint32 {
	of := *s.Snapshot(snapshot)
	at := slices.IndexFunc(of.Keys, func(k redis.Key) bool { return k.Name == s.lock && k.Left != redis.Immortal && k.Left > 0 })
	if at < 0 {
		return snapshot
	}
	of.Keys = slices.Clone(of.Keys)
	of.Keys[at].Left--
	return s.ID(of)
}

// Evicted returns a snapshot without the lock's record, which the node has dropped by itself.
func (s *Servers) Evicted(snapshot uint32) Aged {
	was := s.Snapshot(snapshot)
	return Aged{Snapshot: s.ID(was.Drop(s.lock)), Expired: true, Sent: s.pack(was.Gone(s.lock, "evicted"))}
}

// Empty returns the snapshot of a node that has lost its data, at the same time.
func (s *Servers) Empty(snapshot uint32) uint32 {
	return s.ID(redis.Snapshot{Millis: s.Snapshot(snapshot).Millis})
}

// Replicated returns the snapshot of a replica that is in sync with a master: it has the
// keys, and neither scripts nor open transactions.
func (s *Servers) Replicated(snapshot uint32) uint32 {
	snap := s.Snapshot(snapshot)
	return s.ID(redis.Snapshot{Keys: snap.Keys, Millis: snap.Millis})
}

// Without returns a snapshot without the open transaction, and the subscriptions, of a connection that has ended.
func (s *Servers) Without(snapshot uint32, conn uint16) uint32 {
	return intern.Of(s.withoutTxn, Question{Snapshot: snapshot, Conn: conn}, s.without)
}

// Unheard returns a snapshot without the open transaction of a connection whose client has crashed. The server
// hasn't heard of that, so the subscriptions stay.
func (s *Servers) Unheard(snapshot uint32, conn uint16) uint32 {
	return intern.Of(s.withoutTxn, Question{Snapshot: snapshot, Conn: conn, Command: 1}, s.without)
}

// without is Without, or Unheard for a question with a command.
func (s *Servers) without(key Question) uint32 {
	snap := *s.Snapshot(key.Snapshot)
	if i := slices.IndexFunc(snap.Peers, func(txn redis.OpenTxn) bool { return txn.Conn == int(key.Conn) }); i >= 0 {
		snap.Peers = slices.Clone(snap.Peers)
		if left := snap.Peers[i].Unwatched(); key.Command != 0 && left.Subscribed() {
			snap.Peers[i] = left
		} else {
			snap.Peers = slices.Delete(snap.Peers, i, i+1)
		}
		return s.ID(snap)
	}
	return key.Snapshot
}

// Renamed returns a snapshot in which a connection has another number.
func (s *Servers) Renamed(snapshot uint32, from, to uint16) uint32 {
	snap := *s.Snapshot(snapshot)
	i := slices.IndexFunc(snap.Peers, func(txn redis.OpenTxn) bool { return txn.Conn == int(from) })
	if i < 0 {
		return snapshot
	}
	snap.Peers = slices.Clone(snap.Peers)
	snap.Peers[i].Conn = int(to)
	slices.SortFunc(snap.Peers, func(a, txn redis.OpenTxn) int { return a.Conn - txn.Conn })
	return s.ID(snap)
}

// Idle tells what comes of commands that arrive on a connection which its client has closed. spares: they leave all keys as
// they are, whatever happens before. adds: so does the first, which only adds to the transaction there.
func (s *Servers) Idle(snapshot uint32, conn uint16, commands []uint32) (spares, adds bool) {
	var open redis.OpenTxn
	begun := false
	for _, txn := range s.Snapshot(snapshot).Peers {
		if txn.Conn == int(conn) {
			open, begun = txn, true
		}
	}
	alone := !begun && len(commands) == 1
	if alone {
		if known, is := s.idle.Get(commands[0]); is {
			return known[0], known[1]
		}
	}
	var words [][]string
	for _, id := range commands {
		words = append(words, intern.Unpack(*s.commands.Value(id)))
	}
	spares, adds = open.Spares(words), open.Adds(words[0])
	if alone {
		s.idle.Put(commands[0], [2]bool{spares, adds})
	}
	return spares, adds
}
