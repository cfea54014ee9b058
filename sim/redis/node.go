package redis

import (
	"bufio"
	"bytes"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"lockstep/sim/trace"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// Persistence is the policy by which a node writes to its disk, which decides what a
// restart and a power cut lose.
type Persistence uint8

const (
	// PersistNone keeps nothing: a restarted node is empty. So is any Redis
	// without append-only file and snapshots, and any container without a volume.
	PersistNone Persistence = iota
	// PersistEverysec is appendfsync everysec, the default of Redis's append-only
	// file. Redis hands every write to the operating system before it replies, and asks
	// it once a second to put them on the disk (redis.conf, APPEND ONLY MODE). So writes
	// survive the end of the process, and a power cut loses those since the last whole
	// second. The node's disk is never slow: a real Redis whose fsync stalls keeps writes
	// to itself for up to two seconds (aof.c, flushAppendOnlyFile).
	PersistEverysec
	// PersistAlways is appendfsync always: no acknowledged write is lost.
	PersistAlways
)

var persistenceNames = [...]string{"none", "everysec", "always"}

// String returns the policy's name, as ParsePersistence reads it.
func (p Persistence) String() string { return persistenceNames[p] }

// ParsePersistence finds a policy by its name in redis.conf; "none" is no append-only file
// at all. Its error lists the names.
func ParsePersistence(s string) (Persistence, error) {
	if i := slices.Index(persistenceNames[:], s); i >= 0 {
		return Persistence(i), nil
	}
	return 0, fmt.Errorf("unknown persistence %q: it is one of %s", s, strings.Join(persistenceNames[:], ", "))
}

// Node is one Redis server: a miniredis with a clock of its own.
//
// miniredis counts TTLs down and drops a key when its count reaches zero. Redis stores the
// last millisecond of a key's life and drops it one millisecond later; and it rounds TTL to
// the nearest second where miniredis truncates. The node makes up the difference: it counts
// TTLs down itself, and keeps each key half a millisecond longer than miniredis would. The
// key survives its last millisecond, and PTTL doesn't show the half (this grace is added at
// the latest when the TTL is next read). Commands that miniredis answers wrongly are
// overridden: see override.
//
// Invariant: after every method, known equals the contents of miniredis, sorted by key, and
// NextExpiry is the first instant at which one of these keys is gone.
type Node struct {
	Index       int           // among all servers of its world
	Name        string        // n1, or n1r2 for the second replica of n1
	Offset      time.Duration // its clock minus true time
	Persistence Persistence
	Up          bool
	Epoch       int           // counts restarts: connections of an older epoch have lost their server-side state
	NextExpiry  time.Duration // true instant, or trace.Never
	Replica     bool          // it refuses writes; the world sets it

	redis   *miniredis.Miniredis
	data    *miniredis.RedisDB // its database 0, which only SWAPDB makes another
	millis  int64              // the node's clock, in milliseconds since trace.Epoch, as miniredis last heard of it
	now     time.Duration      // the true instant of which it last heard
	counted int64              // the millisecond up to which miniredis's TTLs are counted down

	known   []stored // its contents after the last event, by key
	spare   []stored // the other half of a double buffer
	scratch []trace.Change
	blank   []trace.Record // made many at a time
	disk    []stored       // restored by a restart
	journal []snapshot     // under everysec, the states that only the operating system has so far

	side      *Peer    // for the node's own questions to its miniredis
	typed     string   // the name of the command that it executes, as it was sent
	asking    *Peer    // the connection whose command it executes, or executed last
	beneath   *Peer    // for the commands from which override composes another
	trial     *Peer    // where a command is queued to find out whether it is well-formed
	stores    []string // the keys under which the command stores values
	renewed   []string // the keys that one of several commands has removed or changed before the last: see renewing
	plain     plainSet // the command, if it is a plain SET
	owesGrace bool     // miniredis holds the TTL of the key ungraced without its grace; see giveGrace
	ungraced  string
	scripts   scripts
	audit     *audit // the search's notes on a command; nil in a world

	touches     map[string]uint64 // how often each key has changed since the first WATCH; nil before
	subscribers []*Peer           // with a subscription, the oldest first
	pushes      []Push            // published by the last command
	notifies    string            // the keyspace notifications that were asked for: see canonicalFlags
	blocked     bool              // the last command waits for an element
	unchanged   bool              // the last command is, or ends with, a script that cannot have changed anything
}

// immortal is the when of a key that has no expiry. Never won't do: a clock may
// well read -1.
const immortal = math.MinInt64

// stored is a key as the node keeps it: when is the last millisecond of its life on the
// node's clock, or immortal.
type stored struct {
	key   string
	value string   // of a string; for other types the items as text
	items []string // see Key
	kind  Type
	when  int64
}

type snapshot struct {
	at    time.Duration
	state []stored
}

// plainSet is a SET without rarer options, outside of transactions and scripts. After the
// reply OK the key has its value and TTL, and after nil the key is unchanged.
type plainSet struct {
	is    bool
	value string
	ttl   int64 // in milliseconds; 0 is none
}

// Peer is the server's end of one connection.
//
// Invariant: the queue is empty unless Queues is set.
type Peer struct {
	Node  *Node
	conn  *server.Peer
	out   bytes.Buffer
	Epoch int // of the node when the connection was opened

	Queues  bool    // it has sent MULTI
	watched []watch // the keys of its WATCH
	queue   queue
	selects bool // it or a script of it has sent SELECT, so its commands may concern another database

	channels, patterns []string // its subscriptions, the oldest first
}

// NewPeer makes the server's end of a new connection.
func NewPeer(n *Node) *Peer {
	p := &Peer{Node: n, Epoch: n.Epoch}
	p.conn = server.NewPeer(bufio.NewWriterSize(&p.out, 512))
	return p
}

// Speaks3 has the connection's replies in RESP3, or in RESP2.
func (p *Peer) Speaks3(is bool) { p.conn.Resp3 = is }

// New makes a server with an index among all servers of its world. Reset gives it a
// configuration. It fails if miniredis cannot start.
func New(index int, name string) (*Node, error) {
	n := &Node{Index: index, Name: name, redis: miniredis.NewMiniRedis()}
	n.data = n.redis.DB(0)
	n.side, n.beneath, n.trial = NewPeer(n), NewPeer(n), NewPeer(n)
	n.scripts.init(n)
	// Dial is the only way to start a miniredis without a listener. The
	// connection itself is not used: commands go to the dispatcher directly.
	conn, err := n.redis.Dial()
	if err != nil {
		return nil, err
	}
	if err := conn.Close(); err != nil {
		return nil, err
	}
	n.redis.Server().SetPreHook(n.override)
	return n, nil
}

// Close ends the server.
func (n *Node) Close() { n.redis.Close() }

// Reset empties the node for a new run.
func (n *Node) Reset(cfg Config) {
	n.redis.FlushAll()
	n.scripts.reset()
	n.Offset, n.Up, n.Persistence = cfg.Offset, true, cfg.Persistence
	n.Replica = false
	n.Epoch++
	n.millis = n.clockMillis(0)
	n.counted = n.millis
	n.redis.SetTime(n.time(n.millis))
	n.known, n.disk, n.journal = n.known[:0], nil, nil
	n.NextExpiry, n.owesGrace = trace.Never, false
	n.subscribers, n.pushes, n.notifies, n.touches = nil, nil, "", nil
}

func (n *Node) time(millis int64) time.Time {
	return trace.Epoch.Add(time.Duration(millis) * time.Millisecond)
}

func (n *Node) clockMillis(now time.Duration) int64 {
	return floorDiv(int64(now+n.Offset), int64(time.Millisecond))
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// sync sets miniredis's clock to the node's, and counts its TTLs down.
func (n *Node) sync(now time.Duration) {
	n.giveGrace()
	n.tellTime(now)
	// A backward step prolongs the lives of keys, as in Redis, whose expiries are
	// instants on the node's clock: FastForward takes negative spans too.
	if n.counted != n.millis && n.NextExpiry != trace.Never {
		n.redis.FastForward(time.Duration(n.millis-n.counted) * time.Millisecond)
	}
	n.counted = n.millis
}

func (n *Node) tellTime(now time.Duration) {
	n.now = now
	if millis := n.clockMillis(now); millis != n.millis {
		n.redis.SetTime(n.time(millis))
		n.millis = millis
	}
}

// Execute runs one command of a connection at a true instant. It returns the reply's bytes,
// valid until the connection's next command, and the changes to keys, valid until the
// node's next event.
func (n *Node) Execute(now time.Duration, p *Peer, args []string) (reply []byte, changes []trace.Change) {
	command := strings.ToUpper(args[0])
	key, short := n.shortcut(now, command, args)
	if short {
		n.tellTime(now)
	} else {
		n.sync(now)
	}
	reads := readOnly(command)
	if command != "SET" && !reads {
		n.giveGrace()
	}
	p.out.Reset()
	n.typed = args[0]
	n.renewed = n.renewed[:0]
	n.asking, n.stores, n.plain, n.pushes, n.blocked, n.unchanged = p, n.stores[:0], plainSet{}, nil, false, false
	n.redis.Server().Dispatch(p.conn, args)
	p.conn.Flush()
	reply = p.out.Bytes()
	if bytes.HasPrefix(reply, []byte(unknownCommand)) {
		reply, reads = []byte(n.unknown(args[1:])), true
	}
	if bytes.HasPrefix(reply, []byte("-")) && !composed(command) {
		n.stores = n.stores[:0]
	}
	if !reads && (!n.unchanged || command == "EXEC") { // a transaction may have done more than its last script
		changes = n.outcome(now, command, key, short, reply)
	}
	n.hear(args, reply)
	return reply, changes
}

// outcome is the changes that a command has made that isn't only a reader. The key and short are [Node.shortcut]'s.
func (n *Node) outcome(now time.Duration, command, key string, short bool, reply []byte) []trace.Change {
	switch {
	case !short:
		return n.changed(now)
	case n.plain.is && string(reply) == "+OK\r\n":
		return n.changedTo(now, n.settled(key), true)
	case n.plain.is && string(reply) == "$-1\r\n", command == "SETNX" && string(reply) == ":0\r\n":
		return nil
	}
	n.giveGrace()
	s, is := n.look(key)
	return n.changedTo(now, s, is)
}

// hear publishes the events of a command that isn't part of another, or part of a script or a transaction.
func (n *Node) hear(args []string, reply []byte) {
	if n.notifies == "" {
		return
	}
	if command := strings.ToUpper(args[0]); command != "EXEC" && command != "EVAL" && command != "EVALSHA" {
		if n.told(args, string(reply)); n.audit != nil && !bytes.HasPrefix(reply, []byte("+QUEUED")) {
			if why := n.ambiguous(args, string(reply)); why != "" {
				n.audit.refuse(command, why, false)
			}
		}
	}
}

// shortcut recognises the commonest commands that change at most one key and don't depend on
// any TTL. For them the other keys need not be counted down and compared. It refuses if a
// key is due, because counting down would drop it, and if the clock has been set back,
// because a negative TTL can't be stored.
func (n *Node) shortcut(now time.Duration, command string, args []string) (key string, short bool) {
	due := n.NextExpiry != trace.Never && now >= n.NextExpiry
	if len(args) < 2 || due || n.clockMillis(now) < n.counted {
		return "", false
	}
	switch command {
	case "GET", "EXISTS", "SET", "SETNX", "GETSET", "INCR", "PSETEX", "SETEX":
		return args[1], true
	case "DEL":
		return args[1], len(args) == 2
	}
	return "", false
}

// composed recognises the commands that run others, which may have done something before an error.
func composed(command string) bool {
	return command == "EXEC" || strings.HasPrefix(command, "EVAL")
}

// readOnly recognises the commonest commands that cannot change anything, to save a
// comparison. After any other command keys are compared.
func readOnly(command string) bool {
	switch command {
	case "GET", "TTL", "PTTL", "EXISTS", "WATCH", "UNWATCH", "MULTI", "PING", "TIME", "HGET":
		return true
	}
	return false
}

// dispatchSide executes a command for the node itself.
func (n *Node) dispatchSide(args ...string) string { return n.dispatchOn(n.side, args) }

func (n *Node) dispatchOn(p *Peer, args []string) (reply string) {
	p.out.Reset()
	n.redis.Server().Dispatch(p.conn, args)
	p.conn.Flush()
	return p.out.String()
}

// grace is the time by which miniredis keeps a key longer than its TTL.
const grace = time.Millisecond / 2

// changed compares the contents of miniredis with known, keeps each TTL's extra half
// millisecond, and finds the next expiry. The result is valid until the node's next event.
func (n *Node) changed(now time.Duration) []trace.Change {
	n.data = n.redis.DB(0)
	keys := n.data.Keys()
	n.scratch = n.scratch[:0]
	old := n.known
	fresh := n.spare[:0]
	for _, key := range keys {
		s, _ := n.look(key)
		for len(old) > 0 && old[0].key < key {
			n.differ(&old[0], nil)
			old = old[1:]
		}
		if len(old) > 0 && old[0].key == key {
			n.differ(&old[0], &s)
			old = old[1:]
		} else {
			n.differ(nil, &s)
		}
		fresh = append(fresh, s)
	}
	for i := range old {
		n.differ(&old[i], nil)
	}
	n.known, n.spare = fresh, n.known
	n.compared(now)
	return n.scratch
}

// changedTo is changed for a command that can have changed only one key, which now is s, or
// absent.
func (n *Node) changedTo(now time.Duration, s stored, is bool) []trace.Change {
	n.scratch = n.scratch[:0]
	i := 0
	for i < len(n.known) && n.known[i].key < s.key {
		i++
	}
	was := i < len(n.known) && n.known[i].key == s.key
	switch {
	case was && is:
		n.differ(&n.known[i], &s)
		n.known[i] = s
	case was:
		n.differ(&n.known[i], nil)
		n.known = slices.Delete(n.known, i, i+1)
	case is:
		n.differ(nil, &s)
		n.known = slices.Insert(n.known, i, s)
	}
	n.compared(now)
	return n.scratch
}

// differ records a key's change, if there is one. Storing an equal value is a change.
func (n *Node) differ(old, is *stored) {
	switch {
	case old == nil:
		n.scratch = append(n.scratch, trace.Change{Key: is.key, After: n.record(*is)})
	case is == nil:
		n.scratch = append(n.scratch, trace.Change{Key: old.key, Before: n.record(*old)})
	default:
		stored := slices.Contains(n.stores, is.key) || old.value == is.value && slices.Contains(n.renewed, is.key)
		if stored || old.value != is.value || old.when != is.when {
			n.scratch = append(n.scratch, trace.Change{Key: is.key, Before: n.record(*old), After: n.record(*is), Stored: stored})
		}
	}
}

// compared ends a comparison: it counts and persists the changes and finds the next expiry.
func (n *Node) compared(now time.Duration) {
	if n.touches != nil {
		for _, ch := range n.scratch {
			n.touches[ch.Key]++
		}
	}
	n.stores, n.renewed, n.NextExpiry = n.stores[:0], n.renewed[:0], trace.Never
	for _, s := range n.known {
		if s.when != immortal {
			if at := n.goneAt(s.when); n.NextExpiry == trace.Never || at < n.NextExpiry {
				n.NextExpiry = at
			}
		}
	}
	if n.Up {
		n.persist(now)
	}
}

// look reads one key out of miniredis, if it is there.
func (n *Node) look(key string) (s stored, found bool) {
	s = stored{key: key, when: immortal}
	var err error
	switch s.value, err = n.data.Get(key); err {
	case nil:
	case miniredis.ErrKeyNotFound:
		return s, false
	default:
		n.lookElse(&s)
	}
	n.lifetime(&s)
	return s, true
}

// settled returns a key's contents after a plain SET, without asking miniredis.
func (n *Node) settled(key string) stored {
	s := stored{key: key, value: n.plain.value, when: immortal}
	if n.plain.ttl > 0 {
		s.when = n.millis + n.plain.ttl
		if n.ungraced != key {
			n.giveGrace()
		}
		n.owesGrace, n.ungraced = true, key
	}
	return s
}

// giveGrace adds the half millisecond that a plain SET has left out of its TTL. That must
// be done before the TTL is counted down or read, or another SET keeps it; and before a
// WATCH, because to a connection that watches the key it is a change.
func (n *Node) giveGrace() {
	if !n.owesGrace {
		return
	}
	for i := range n.known {
		if s := &n.known[i]; s.key == n.ungraced && s.when != immortal {
			n.data.SetTTL(s.key, time.Duration(s.when-n.counted)*time.Millisecond+grace)
		}
	}
	n.owesGrace = false
}

// lifetime computes the last millisecond of a key's life. A TTL of whole milliseconds is new
// and counts from now; any other counts from the last countdown.
func (n *Node) lifetime(s *stored) {
	ttl := n.data.TTL(s.key)
	if ttl <= 0 {
		return
	}
	from := n.counted
	if ttl%time.Millisecond == 0 {
		from = n.millis
		n.data.SetTTL(s.key, ttl+time.Duration(n.millis-n.counted)*time.Millisecond+grace)
	}
	s.when = from + int64(ttl/time.Millisecond)
}

// goneAt returns the true instant at which a key is gone whose last millisecond on the
// node's clock is when.
func (n *Node) goneAt(when int64) time.Duration {
	return time.Duration(when+1)*time.Millisecond - n.Offset
}

// record returns a key as events describe it. The caller may keep it.
func (n *Node) record(s stored) *trace.Record {
	if len(n.blank) == 0 {
		n.blank = make([]trace.Record, 32)
	}
	r := &n.blank[0]
	n.blank = n.blank[1:]
	r.Value, r.Expires = s.value, trace.Never
	if s.when != immortal {
		r.Expires = n.goneAt(s.when)
	}
	return r
}

// Expire drops the keys that are due at a true instant, and returns the changes.
func (n *Node) Expire(now time.Duration) []trace.Change {
	n.sync(now)
	return n.goes(n.changed(now), 'x', "expired")
}

// goes publishes that keys have gone by themselves.
func (n *Node) goes(changes []trace.Change, class byte, event string) []trace.Change {
	n.pushes = nil
	for i := range changes {
		if changes[i].After == nil {
			n.notify(class, event, changes[i].Key)
		}
	}
	return changes
}

// ExpireEarly drops the keys that are in the last millisecond of their lives at a true
// instant, and returns the changes.
func (n *Node) ExpireEarly(now time.Duration) []trace.Change {
	n.sync(now)
	for _, s := range n.known {
		if s.when != immortal && s.when <= n.millis {
			n.redis.Del(s.key)
		}
	}
	return n.changed(now)
}

// LastExpiry returns the true instant by which every key with an expiry is gone, or Never
// if there is none.
func (n *Node) LastExpiry() time.Duration {
	last := trace.Never
	for _, s := range n.known {
		if s.when != immortal {
			last = max(last, n.goneAt(s.when))
		}
	}
	return last
}

// Evict drops a key before its expiry, and returns the changes.
func (n *Node) Evict(now time.Duration, key string) []trace.Change {
	n.sync(now)
	n.redis.Del(key)
	return n.goes(n.changed(now), 'e', "evicted")
}

// Occupy stores a list under a key, as another program would, and returns the changes. If the
// key exists it has no effect.
func (n *Node) Occupy(now time.Duration, key string) []trace.Change {
	n.sync(now)
	if !n.redis.Exists(key) {
		n.dispatchSide("RPUSH", key, "job")
	}
	return n.changed(now)
}

// ForgetScripts empties the node's script cache, as SCRIPT FLUSH does.
func (n *Node) ForgetScripts() { n.dispatchSide("SCRIPT", "FLUSH") }

// Step makes the node's clock jump. Keys that become due are dropped by the next Expire. All
// true instants of expiry move, so every key with an expiry is among the changes.
func (n *Node) Step(by time.Duration) []trace.Change {
	var changes []trace.Change
	for _, s := range n.known {
		if s.when != immortal {
			changes = append(changes, trace.Change{Key: s.key, Before: n.record(s)})
		}
	}
	n.Offset += by
	n.NextExpiry = trace.Never
	for i := range changes {
		at := max(0, changes[i].Before.Expires-by) // it may be long past, but is no instant before the run
		changes[i].After = &trace.Record{Value: changes[i].Before.Value, Expires: at}
		if n.NextExpiry == trace.Never || at < n.NextExpiry {
			n.NextExpiry = at
		}
	}
	return changes
}

// persist hands the node's contents to its disk, or under everysec to the operating system.
func (n *Node) persist(now time.Duration) {
	switch n.Persistence {
	case PersistAlways:
		n.disk = slices.Clone(n.known)
	case PersistEverysec:
		n.fsync(now)
		n.journal = append(n.journal, snapshot{at: now, state: slices.Clone(n.known)})
	}
}

// fsync moves the writes before the last whole second to the disk.
func (n *Node) fsync(now time.Duration) {
	second := now.Truncate(time.Second)
	for len(n.journal) > 0 && n.journal[0].at < second {
		n.disk = n.journal[0].state
		n.journal = n.journal[1:]
	}
}

// Down ends the node's process, and returns the changes. The node loses its memory. The
// operating system has all of its writes, and has put them on the disk before the node starts
// again.
func (n *Node) Down(now time.Duration) []trace.Change {
	n.sync(now)
	if last := len(n.journal) - 1; last >= 0 {
		n.disk = n.journal[last].state
	}
	return n.stop(now)
}

// PowerCut ends the node's process and its operating system, and returns the changes. Its
// memory is lost, and with it the writes that are not yet on the disk.
func (n *Node) PowerCut(now time.Duration) []trace.Change {
	n.sync(now)
	n.fsync(now)
	return n.stop(now)
}

// stop empties the node's memory.
func (n *Node) stop(now time.Duration) []trace.Change {
	n.journal = nil
	n.Up = false
	n.Epoch++
	n.redis.FlushAll()
	n.scripts.flush()
	n.subscribers, n.notifies = nil, ""
	return n.changed(now)
}

// Start starts the node with the contents of its disk, without the keys that have expired in
// the meantime, and returns the changes. It fails on a type that it cannot write back.
func (n *Node) Start(now time.Duration) ([]trace.Change, error) {
	n.Up = true
	n.sync(now)
	for _, s := range n.disk {
		if s.when != immortal && s.when < n.millis {
			continue
		}
		if err := n.restore(s); err != nil {
			return nil, err
		}
	}
	return n.changed(now), nil
}
