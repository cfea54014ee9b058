package redis

import (
	"bufio"
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"lockstep/sim/trace"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
)

// Persistence is what a node's disk holds, and so what a restart loses.
type Persistence uint8

const (
	// PersistNone keeps nothing: a restarted node is empty. So is any Redis
	// without append-only file and snapshots, and any container without a volume.
	PersistNone Persistence = iota
	// PersistEverysec is appendfsync everysec, the default of Redis's append-only
	// file: what was written since the last whole second is lost.
	PersistEverysec
	// PersistAlways is appendfsync always: nothing that was acknowledged is lost.
	PersistAlways
)

var persistenceNames = [...]string{"none", "everysec", "always"}

// String is the policy as ParsePersistence reads it.
func (p Persistence) String() string { return persistenceNames[p] }

// ParsePersistence finds a policy by its name in redis.conf; "none" is no
// append-only file at all.
func ParsePersistence(s string) (Persistence, error) {
	if i := slices.Index(persistenceNames[:], s); i >= 0 {
		return Persistence(i), nil
	}
	return 0, fmt.Errorf("unknown persistence %q: it is one of %s", s, strings.Join(persistenceNames[:], ", "))
}

// Node is one Redis server: a miniredis with a clock of its own.
//
// miniredis counts TTLs down and drops a key when its count reaches zero. Redis
// stores the millisecond at which a key was to live last, and drops it one
// millisecond later; and it rounds TTL to the nearest second where miniredis
// truncates. The node makes up the difference: it counts TTLs down itself,
// keeps each half a millisecond longer than miniredis would, which survives the
// zeroth millisecond and is invisible to PTTL (that grace is given at the latest
// when the TTL is next looked at), and mends the commands that miniredis has wrong:
// see mend.
//
// Invariant: after every method known is what miniredis holds, sorted by key, and
// NextExpiry the first instant at which one of these keys is gone.
type Node struct {
	Index       int           // among all servers of its world
	Name        string        // n1, or n1r2 for the second replica of n1
	Offset      time.Duration // its clock minus true time
	Persistence Persistence
	Up          bool
	Epoch       int           // counts restarts: connections of an older epoch have lost their server-side state
	NextExpiry  time.Duration // true instant, or trace.Never
	Replica     bool          // it refuses writes; the world decides that

	redis   *miniredis.Miniredis
	data    *miniredis.RedisDB // its database 0, which only SWAPDB makes another
	millis  int64              // the node's clock, in milliseconds since trace.Epoch, as miniredis last heard of it
	counted int64              // up to which of these milliseconds miniredis's TTLs are counted down

	known   []stored // what it held after the last event, by key
	spare   []stored // the other half of a double buffer
	scratch []trace.Change
	blank   []trace.Record // made many at a time
	disk    []stored       // what a restart brings back
	journal []snapshot     // not yet fsynced states, under everysec

	side     *Peer    // for the node's own questions to its miniredis
	asking   *Peer    // whose command it executes, or executed last
	beneath  *Peer    // for the commands of which override puts another together
	stores   string   // the key under which the command stores a value
	plain    plainSet // the command, if it is one
	ungraced string   // the key whose TTL miniredis holds without its grace, if any; see giveGrace
	scripts  scripts
}

// immortal is the when of a key that has no expiry. Never won't do: a clock may
// well read -1.
const immortal = math.MinInt64

// stored is a key as the node keeps it: when is the node's clock in
// milliseconds at which it lives last, or immortal.
type stored struct {
	key   string
	value string
	hash  map[string]string // for hashes; value is then their text
	when  int64
}

type snapshot struct {
	at    time.Duration
	state []stored
}

// plainSet is a SET without rarer options, and in no transaction or script: if it is
// answered OK the key holds its value and TTL, and if nil, what it held before.
type plainSet struct {
	is    bool
	value string
	ttl   int64 // in milliseconds; 0 is none
}

// Peer is the server's end of one connection.
type Peer struct {
	Node  *Node
	conn  *server.Peer
	out   bytes.Buffer
	Epoch int

	Watches bool // it has sent WATCH
	Queues  bool // it has sent MULTI
	scripts bool // and then commands about scripts
	writes  bool // or some that write
	spoilt  bool // or some that a replica has refused
	selects bool // it has sent SELECT, or a script of it has: who knows which database its commands are about
}

// follow notes what the connection has begun or ended with a command.
func (p *Peer) follow(command string) {
	switch command {
	case "WATCH":
		p.Watches = true
	case "UNWATCH":
		p.Watches = false
	case "MULTI":
		p.Queues = true
	case "EXEC", "DISCARD":
		p.Watches, p.Queues, p.scripts, p.writes, p.spoilt = false, false, false, false, false
	}
}

// NewPeer makes the server's end of a new connection.
func NewPeer(n *Node) *Peer {
	p := &Peer{Node: n, Epoch: n.Epoch}
	p.conn = server.NewPeer(bufio.NewWriterSize(&p.out, 512))
	return p
}

// New makes a server; its index is among all servers of its world. Reset gives it a
// configuration.
func New(index int, name string) (*Node, error) {
	n := &Node{Index: index, Name: name, redis: miniredis.NewMiniRedis()}
	n.data = n.redis.DB(0)
	n.side, n.beneath = NewPeer(n), NewPeer(n)
	n.scripts.init(n)
	// Dial is the only way to start a miniredis without a listener. The
	// connection itself is of no use: commands go to the dispatcher directly.
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
	n.NextExpiry, n.ungraced = trace.Never, ""
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

// sync tells miniredis what time it is at the node, and counts its TTLs down.
func (n *Node) sync(now time.Duration) {
	n.giveGrace()
	n.tellTime(now)
	// A backward step prolongs what is stored, as in Redis, whose expiries are
	// instants on the node's clock: FastForward takes negative spans too.
	if n.counted != n.millis && n.NextExpiry != trace.Never {
		n.redis.FastForward(time.Duration(n.millis-n.counted) * time.Millisecond)
	}
	n.counted = n.millis
}

func (n *Node) tellTime(now time.Duration) {
	if millis := n.clockMillis(now); millis != n.millis {
		n.redis.SetTime(n.time(millis))
		n.millis = millis
	}
}

// Execute runs one command of a connection and returns the reply's bytes, valid
// until the connection's next command, and the changes it made.
func (n *Node) Execute(now time.Duration, p *Peer, args []string) (reply []byte, changes []trace.Change) {
	command := strings.ToUpper(args[0])
	key, short := n.shortcut(now, command, args)
	if short {
		n.tellTime(now)
	} else {
		n.sync(now)
	}
	if command != "SET" && !readOnly(command) {
		n.giveGrace()
	}
	p.out.Reset()
	n.asking, n.stores, n.plain = p, "", plainSet{}
	lends := p.scripts && command == "EXEC"
	if lends {
		n.scripts.lend()
	}
	n.redis.Server().Dispatch(p.conn, args)
	p.conn.Flush()
	if lends {
		n.scripts.takeBack()
	}
	p.follow(command)
	reply = p.out.Bytes()
	switch {
	case readOnly(command):
		return reply, nil
	case !short:
		return reply, n.changed(now)
	case n.plain.is && string(reply) == "+OK\r\n":
		return reply, n.changedTo(now, n.settled(key), true)
	case n.plain.is && string(reply) == "$-1\r\n":
		return reply, nil
	}
	n.giveGrace()
	s, is := n.look(key)
	return reply, n.changedTo(now, s, is)
}

// shortcut knows the commonest commands that change one key at most, and to which
// it is all the same how long any key has left to live. That saves counting down
// and comparing the others. It is none if a key is due, which counting down drops,
// or if the clock has been set back: a TTL of less than nothing can't be stored.
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

// readOnly knows the commonest commands that cannot change anything, to save a
// comparison. All others are compared, whatever they are.
func readOnly(command string) bool {
	switch command {
	case "GET", "TTL", "PTTL", "EXISTS", "WATCH", "UNWATCH", "MULTI", "PING", "TIME", "HGET":
		return true
	}
	return false
}

// dispatchSide asks miniredis something on the node's own account.
func (n *Node) dispatchSide(args ...string) string {
	n.side.out.Reset()
	n.redis.Server().Dispatch(n.side.conn, args)
	n.side.conn.Flush()
	return n.side.out.String()
}

// grace is how much longer miniredis keeps a key than its TTL says.
const grace = time.Millisecond / 2

// changed compares what miniredis holds with what was known, keeps each TTL's
// extra half millisecond, and finds the next expiry. The result is valid until
// the node's next event.
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

// changedTo is changed for a command that can have changed only one key, which is
// now what s says, or is not there.
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

// differ notes a key's change, if it is one. Storing a value is, be it the one that
// is there already.
func (n *Node) differ(old, is *stored) {
	switch {
	case old == nil:
		n.scratch = append(n.scratch, trace.Change{Key: is.key, After: n.record(*is)})
	case is == nil:
		n.scratch = append(n.scratch, trace.Change{Key: old.key, Before: n.record(*old)})
	case old.value != is.value || old.when != is.when || is.key == n.stores:
		n.scratch = append(n.scratch, trace.Change{Key: is.key, Before: n.record(*old), After: n.record(*is), Stored: is.key == n.stores})
	}
}

// compared is when all that a command has changed is known.
func (n *Node) compared(now time.Duration) {
	n.stores, n.NextExpiry = "", trace.Never
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

// settled is what a key holds after a plain SET. That spares asking miniredis.
func (n *Node) settled(key string) stored {
	s := stored{key: key, value: n.plain.value, when: immortal}
	if n.plain.ttl > 0 {
		s.when = n.millis + n.plain.ttl
		if n.ungraced != key {
			n.giveGrace()
		}
		n.ungraced = key
	}
	return s
}

// giveGrace makes up for what a plain SET has left out: its TTL's half a millisecond
// more. It must be done before the TTL is counted down or looked at, or another SET
// goes on from it; and before a WATCH, because it makes whoever watches the key
// believe that it has changed.
func (n *Node) giveGrace() {
	if n.ungraced == "" {
		return
	}
	for i := range n.known {
		if s := &n.known[i]; s.key == n.ungraced && s.when != immortal {
			n.data.SetTTL(s.key, time.Duration(s.when-n.counted)*time.Millisecond+grace)
		}
	}
	n.ungraced = ""
}

// lookElse reads what is no string.
func (n *Node) lookElse(s *stored) {
	if kind := n.data.Type(s.key); kind != "hash" {
		s.value = "(a " + kind + ")"
		return
	}
	s.hash = map[string]string{}
	fields, _ := n.data.HKeys(s.key)
	for _, f := range fields {
		s.hash[f] = n.data.HGet(s.key, f)
	}
	s.value = hashText(s.hash)
}

// lifetime notes when a key is to be gone. A TTL of whole milliseconds is new, and
// counts from now; the others, from when they were last counted down.
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

func hashText(h map[string]string) string {
	var parts []string
	for _, f := range slices.Sorted(maps.Keys(h)) {
		parts = append(parts, f+":"+h[f])
	}
	return "{" + strings.Join(parts, " ") + "}"
}

// goneAt is the true instant at which a key that lives last at the node's
// millisecond when is gone.
func (n *Node) goneAt(when int64) time.Duration {
	return time.Duration(when+1)*time.Millisecond - n.Offset
}

// record is what events say of a key. Whoever gets it may keep it.
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

// Expire drops what is due and returns it.
func (n *Node) Expire(now time.Duration) []trace.Change {
	n.sync(now)
	return n.changed(now)
}

// LastExpiry is the true instant by which every key that expires is gone, or Never
// if none does.
func (n *Node) LastExpiry() time.Duration {
	last := trace.Never
	for _, s := range n.known {
		if s.when != immortal {
			last = max(last, n.goneAt(s.when))
		}
	}
	return last
}

// Evict drops a key before its time.
func (n *Node) Evict(now time.Duration, key string) []trace.Change {
	n.sync(now)
	n.redis.Del(key)
	return n.changed(now)
}

// ForgetScripts empties the node's script cache, as SCRIPT FLUSH does.
func (n *Node) ForgetScripts() { n.dispatchSide("SCRIPT", "FLUSH") }

// Step makes the node's clock jump. What that makes due is dropped by expire.
// All instants of expiry move, so the changes are those of every key with one.
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

// persist notes what the disk would hold if the node went down now.
func (n *Node) persist(now time.Duration) {
	switch n.Persistence {
	case PersistAlways:
		n.disk = slices.Clone(n.known)
	case PersistEverysec:
		n.fsync(now)
		n.journal = append(n.journal, snapshot{at: now, state: slices.Clone(n.known)})
	}
}

// fsync moves to the disk what was written before the last whole second.
func (n *Node) fsync(now time.Duration) {
	second := now.Truncate(time.Second)
	for len(n.journal) > 0 && n.journal[0].at < second {
		n.disk = n.journal[0].state
		n.journal = n.journal[1:]
	}
}

// Down loses the memory and what the disk did not get in time.
func (n *Node) Down(now time.Duration) []trace.Change {
	n.sync(now)
	n.fsync(now)
	n.journal = nil
	n.Up = false
	n.Epoch++
	n.redis.FlushAll()
	n.scripts.flush()
	return n.changed(now)
}

// Start brings the node back with what its disk holds, less what has expired in
// the meantime. It fails on a type that it cannot write back.
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

func (n *Node) restore(s stored) error {
	switch {
	case s.hash != nil:
		for _, f := range slices.Sorted(maps.Keys(s.hash)) {
			n.redis.HSet(s.key, f, s.hash[f])
		}
	case strings.HasPrefix(s.value, "(a "):
		return fmt.Errorf("%s cannot restart with key %q: only strings and hashes are persisted, this is %s", n.Name, s.key, s.value)
	default:
		if err := n.redis.Set(s.key, s.value); err != nil {
			return err
		}
	}
	if s.when != immortal {
		n.redis.SetTTL(s.key, time.Duration(s.when-n.millis)*time.Millisecond+grace)
	}
	return nil
}
