package verify

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/sim/redis"
	"lockstep/sim/resp"
	"lockstep/sim/trace"
)

// Exact replays runs on servers of its own, at the very instants of the run. It is for one
// replay at a time.
type Exact struct {
	lab   *lab
	idle  map[shape]*servers // they are kept: a server takes longer to start than most runs take to replay
	known map[string]bool    // the commands, by whether the server lacks them

	run     *Run
	use     *servers        // of the run
	jumps   []time.Duration // of the servers' clocks in this run
	primary []int           // by address: the master
	offsets []int64         // by Seq of an execution, or of another change at a master: the offset of the replication stream after it
	acks    []acknowledgement
	appends []appended // to the logs
}

// shape is how many servers a run has, and which of them have an append-only file.
type shape struct {
	masters, replicas int
	logs              string // a character each
}

// servers are the servers of a run: the masters, then the replicas of each.
type servers struct {
	all    []*server
	linked bool // each replica follows its first master
}

// acknowledgement is one by a replica, which its master hasn't got yet.
type acknowledgement struct {
	at      time.Duration
	replica int
	offset  int64
}

// appended is the length of a server's log after an event.
type appended struct {
	server int
	at     time.Duration
	length int64
}

// NewExact prepares a folder for servers. It fails if [Tools] does.
func NewExact() (*Exact, error) {
	lab, err := newLab()
	if err != nil {
		return nil, err
	}
	return &Exact{lab: lab, idle: map[shape]*servers{}, known: map[string]bool{}}, nil
}

// Close ends all servers, and removes all of their files.
func (x *Exact) Close() error {
	var all error
	for _, s := range x.idle {
		all = errors.Join(all, s.remove())
	}
	return errors.Join(all, x.lab.Close())
}

// Replay replays a run. A difference is a part of the result; it fails if a server does.
func (x *Exact) Replay(r Run) (Result, error) { return play(x, r) }

// Version returns the name and version of the servers, as in "Redis 7.0.15".
func (x *Exact) Version() (string, error) {
	s, err := x.lab.newServer(false, false, trace.Epoch)
	if err != nil {
		return "", err
	}
	version, err := versionOf(s.ask)
	return version, errors.Join(err, s.remove())
}

func (s *servers) remove() (err error) {
	for _, one := range s.all {
		err = errors.Join(err, one.remove())
	}
	return err
}

// begin implements host.
func (x *Exact) begin(r *Run) error {
	x.run, x.acks, x.appends = r, nil, nil
	x.jumps, x.primary = make([]time.Duration, len(r.Trace.Nodes)), x.primary[:0]
	for i := range r.Config.Nodes {
		x.primary = append(x.primary, i)
	}
	x.offsets = make([]int64, len(r.Trace.Events)+1)
	of := x.shape()
	use := x.idle[of]
	if use == nil {
		use = &servers{}
		x.idle[of] = use
	}
	x.use = use
	if !use.linked { // a promotion or a restart has undone some links
		if err := use.unlink(); err != nil {
			return err
		}
	}
	for i := range r.Trace.Nodes {
		if err := x.prepare(i); err != nil {
			return err
		}
	}
	if of.replicas > 0 {
		if err := x.link(of); err != nil {
			return err
		}
	}
	return x.warm()
}

// shape returns the shape of the run's servers.
func (x *Exact) shape() shape {
	logs := make([]byte, len(x.run.Trace.Nodes))
	for i := range logs {
		logs[i] = '0'
		if x.persists(i) {
			logs[i] = '1'
		}
	}
	return shape{len(x.run.Config.Nodes), x.run.Config.Replicas, string(logs)}
}

// unlink makes a master of every server.
func (s *servers) unlink() error {
	for _, one := range s.all {
		if one.gate == nil {
			continue
		}
		one.gate.close()
		one.gate = nil
		if one.process == nil {
			continue
		}
		if _, err := one.ask("REPLICAOF", "NO", "ONE"); err != nil {
			return err
		}
	}
	return nil
}

// prepare has a server empty, and its clock at the run's beginning. Its append-only file may
// begin with earlier runs: then they end there with a FLUSHALL.
func (x *Exact) prepare(i int) error {
	begin := trace.Epoch.Add(x.offset(i))
	aof := x.persists(i)
	if i == len(x.use.all) {
		s, err := x.lab.newServer(aof, x.run.Config.Replicas > 0, begin)
		x.use.all = append(x.use.all, s)
		return err
	}
	s := x.use.all[i]
	if s.process == nil {
		if err := s.remove(); err != nil {
			return err
		}
		s, err := x.lab.newServer(aof, x.run.Config.Replicas > 0, begin)
		x.use.all[i] = s
		return err
	}
	if err := s.clock.set(begin); err != nil {
		return err
	}
	if s.gate == nil { // a replica is emptied by its master
		if _, err := s.ask("FLUSHALL"); err != nil {
			return err
		}
	}
	_, err := s.ask("SCRIPT", "FLUSH")
	return err
}

// persists reports whether a server is started again from a disk.
func (x *Exact) persists(i int) bool {
	return x.run.Config.Nodes[x.run.address(i)].Persistence != redis.PersistNone &&
		slices.ContainsFunc(x.run.Trace.Events, func(e trace.Event) bool { return e.Kind == trace.KindUp && e.Node == i })
}

// offset returns the offset of a server's clock at the run's beginning.
func (x *Exact) offset(i int) time.Duration { return x.run.Config.Nodes[x.run.address(i)].Offset }

// link has each replica follow its master, with nothing on the way.
func (x *Exact) link(of shape) error {
	for i := of.masters; i < len(x.use.all); i++ {
		s, master := x.use.all[i], x.use.all[x.run.address(i)]
		if s.gate == nil {
			if err := s.follow(master); err != nil {
				return err
			}
		} else if err := s.gate.open(); err != nil {
			return err
		}
		if err := s.catchUp(master); err != nil {
			return err
		}
	}
	x.use.linked = true
	return nil
}

// warm puts the strategy's scripts into the masters' caches, as the world does.
func (x *Exact) warm() error {
	if x.run.Config.Cold {
		return nil
	}
	for _, script := range x.run.Config.Strategy.Scripts {
		for i := range x.run.Config.Nodes {
			if _, err := x.use.all[i].ask("SCRIPT", "LOAD", redis.ScriptText(script)); err != nil {
				return err
			}
		}
	}
	return nil
}

// arrive implements host. Acknowledgements that are due by then arrive first.
func (x *Exact) arrive(i int, at time.Duration) error {
	if err := x.deliver(at); err != nil {
		return err
	}
	return x.use.all[i].clock.set(trace.Epoch.Add(x.clockOffset(i) + at))
}

// outlast implements host. A real server gives up a command that waits one millisecond after
// its timeout, the next time that it looks.
func (x *Exact) outlast(i int, at time.Duration) error {
	s := x.use.all[i]
	if err := s.clock.set(trace.Epoch.Add(x.clockOffset(i) + at + time.Millisecond)); err != nil {
		return err
	}
	if _, err := s.ask("PING"); err != nil {
		return err
	}
	return s.clock.set(trace.Epoch.Add(x.clockOffset(i) + at))
}

// settled implements host. When the server answers the PING it has read all that was sent to
// it before.
func (x *Exact) settled(i int) error {
	_, err := x.use.all[i].ask("PING")
	return err
}

func (x *Exact) dial(i int) (*conn, error) { return x.use.all[i].dial() }

// wording implements host: a server of our own gets every command as it is.
func (x *Exact) wording(_ int, args []string) ([]string, error) { return args, nil }

func (x *Exact) reading(_ int, reply string) string { return reply }

func (x *Exact) slack() time.Duration { return 0 }

func (x *Exact) tardy() bool { return false }

// lacks implements host.
func (x *Exact) lacks(i int, args []string) (string, error) {
	return lacking(x.known, x.use.all[i].side, args, "probe")
}

// lacking names the command or the option that a server doesn't know. It keeps its
// findings in known. The probe is a key that it may ask about.
func lacking(known map[string]bool, c *conn, args []string, key string) (string, error) {
	name, probe := strings.ToUpper(args[0]), []string{"COMMAND", "INFO", args[0]}
	if i := slices.IndexFunc(args, func(a string) bool { return strings.EqualFold(a, "IFEQ") || strings.EqualFold(a, "IFNE") }); name == "SET" && i > 2 {
		name += " " + strings.ToUpper(args[i])
		probe = []string{"EVAL", "return redis.pcall('SET', KEYS[1], '', ARGV[1], '')", "1", key, args[i]}
	}
	lacks, asked := known[name]
	if !asked {
		reply, err := c.ask(probe...)
		if err != nil {
			return "", err
		}
		text := resp.Text(reply)
		lacks = text == "[nil]" || strings.HasPrefix(text, "error")
		known[name] = lacks
	}
	if !lacks {
		name = ""
	}
	return name, nil
}

// rows implements host.
func (x *Exact) rows(i int, _ []string) ([]row, error) {
	reply, err := x.use.all[i].ask("EVAL", readRows, "0")
	if err != nil {
		return nil, err
	}
	return parseRows(reply)
}

// executed implements host. It remembers how far the replication stream and the log are.
func (x *Exact) executed(e *trace.Event) error {
	if err := x.streams(e); err != nil {
		return err
	}
	return x.appended(e)
}

// streams remembers the offset of the replication stream after an event, if there are replicas.
func (x *Exact) streams(e *trace.Event) (err error) {
	if x.run.Config.Replicas > 0 {
		x.offsets[e.Seq], err = x.use.all[e.Node].streamed()
	}
	return err
}

// appended remembers the length of a server's log after an event.
func (x *Exact) appended(e *trace.Event) error {
	s := x.use.all[e.Node]
	if !s.aof {
		return nil
	}
	path, err := s.log()
	if err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	x.appends = append(x.appends, appended{server: e.Node, at: e.At, length: info.Size()})
	return nil
}

// doings are the events at a server that are no command of a client's, and the replay of each. For all others see
// deeds.
var doings = map[trace.Kind]func(*Exact, *trace.Event) error{
	trace.KindExpire:    func(*Exact, *trace.Event) error { return nil }, // the clock says it all
	trace.KindFlush:     (*Exact).forgetScripts,
	trace.KindNodeStep:  (*Exact).arriveAfterJump,
	trace.KindDown:      (*Exact).stop,
	trace.KindUp:        (*Exact).start,
	trace.KindReplicate: (*Exact).replicate,
	trace.KindSync:      (*Exact).sync,
	trace.KindFailover:  (*Exact).promote,
}

// fault implements host. It halts with Resync where a replicated server comes back.
func (x *Exact) fault(e *trace.Event) error {
	s := x.use.all[e.Node]
	if s.process == nil && e.Kind == trace.KindFlush {
		return nil // it has forgotten its scripts already
	}
	do, known := doings[e.Kind]
	if !known {
		do = (*Exact).command
	}
	err := do(x, e)
	if err == nil && s.process != nil {
		err = x.appended(e)
	}
	return err
}

func (x *Exact) command(e *trace.Event) error {
	words, err := deed(x.run.Trace, e, func(key string) string { return key })
	if err == nil {
		_, err = x.use.all[e.Node].ask(words...)
	}
	if err == nil {
		err = x.streams(e)
	}
	return err
}

func (x *Exact) forgetScripts(e *trace.Event) error {
	_, err := x.use.all[e.Node].ask("SCRIPT", "FLUSH")
	return err
}

func (x *Exact) start(e *trace.Event) error {
	s := x.use.all[e.Node]
	if s.gate != nil || x.followed(e.Node) {
		return halt(Resync)
	}
	return s.start()
}

// Resync is why the replay of a run stops where a server of a replicated pair comes back: a
// real replica then copies its master, whatever that has left, and a simulated one doesn't.
const Resync = "a server that is replicated comes back: real replicas copy their master then, and simulated ones go on with what they have"

// followed reports whether a server has replicas.
func (x *Exact) followed(i int) bool {
	return slices.ContainsFunc(x.use.all, func(s *server) bool { return s.gate != nil && s.gate.from == x.use.all[i] })
}

// clockOffset returns the offset of a server's clock now.
func (x *Exact) clockOffset(i int) time.Duration { return x.offset(i) + x.jumps[i] }

// arriveAfterJump has the server's clock jump.
func (x *Exact) arriveAfterJump(e *trace.Event) error {
	x.jumps[e.Node] += e.By
	return x.arrive(e.Node, e.At)
}

// stop ends a server's process. Without append-only file nothing is left; with one,
// everything is that was written to it, except after a power cut under everysec: then it ends
// where the last whole second began, because that is when it was last put on the disk.
func (x *Exact) stop(e *trace.Event) error {
	s := x.use.all[e.Node]
	s.kill()
	x.use.linked = false
	if e.Note == "" || !s.aof || x.run.Config.Nodes[x.run.address(e.Node)].Persistence != redis.PersistEverysec {
		return nil
	}
	path, err := s.log()
	if err != nil {
		return err
	}
	length := int64(0)
	for _, a := range x.appends {
		if a.server == e.Node && a.at < e.At.Truncate(time.Second) {
			length = a.length
		}
	}
	return os.Truncate(path, length)
}

// deliver delivers the acknowledgements that have arrived by an instant.
func (x *Exact) deliver(by time.Duration) error {
	for len(x.acks) > 0 && x.acks[0].at <= by {
		a := x.acks[0]
		x.acks = x.acks[1:]
		s := x.use.all[a.replica]
		if s.gate == nil || s.gate.from.process == nil {
			continue // it has been promoted since, or its master is down
		}
		if err := s.gate.acknowledge(a.offset); err != nil {
			return err
		}
		if _, err := s.gate.from.ask("PING"); err != nil { // then it has read that
			return err
		}
	}
	return nil
}

// replicate lets the stream pass up to a write. The replica's acknowledgement takes as long
// as the write did.
func (x *Exact) replicate(e *trace.Event) error {
	s := x.use.all[e.Node]
	if s.gate == nil {
		return errors.New("it is no replica any more")
	}
	offset := x.offsets[e.Ref]
	if err := s.gate.pass(offset); err != nil {
		return err
	}
	if err := s.reaches(offset); err != nil {
		return err
	}
	lag := e.At - x.run.Trace.Events[e.Ref-1].At
	x.acks = append(x.acks, acknowledgement{at: e.At + lag, replica: e.Node, offset: offset})
	slices.SortStableFunc(x.acks, func(a, b acknowledgement) int { return int(a.at - b.at) })
	return nil
}

// promote makes a replica a master. Writes of its old master that haven't reached it are
// lost.
func (x *Exact) promote(e *trace.Event) error {
	s := x.use.all[e.Node]
	x.use.linked = false
	x.primary[e.Value] = e.Node
	s.gate.close()
	s.gate = nil
	_, err := s.ask("REPLICAOF", "NO", "ONE")
	return err
}

// sync has a server follow another, of which it gets a copy.
func (x *Exact) sync(e *trace.Event) error {
	s := x.use.all[e.Node]
	x.use.linked = false
	if s.gate != nil {
		s.gate.close()
	}
	master := x.use.all[x.primary[x.run.address(e.Node)]]
	if err := s.follow(master); err != nil {
		return err
	}
	return s.catchUp(master)
}

// follow makes the server a replica of another, and waits until it has a copy of it.
func (s *server) follow(master *server) error {
	g, err := newGate(master)
	if err != nil {
		return err
	}
	s.gate = g
	if _, err := s.ask("REPLICAOF", "127.0.0.1", g.port()); err != nil {
		return err
	}
	return until("the replica's link is up", func() (bool, error) {
		status, err := s.info("replication", "master_link_status")
		return status == "up", err
	})
}

// catchUp waits until a replica has all of its master's writes and the master knows, and shuts
// the gate. A master that has just sent its copy begins the stream with the first
// acknowledgement after its child process has ended, so it gets several, and one when it says
// that the replica is online.
func (s *server) catchUp(master *server) error {
	offset, err := master.streamed()
	if err != nil {
		return err
	}
	if err := s.reaches(offset); err != nil {
		return err
	}
	err = until("the master has the replica online", func() (bool, error) {
		if err := s.gate.acknowledge(offset); err != nil {
			return false, err
		}
		return master.online()
	})
	s.gate.shutAt(offset)
	return errors.Join(err, s.gate.acknowledge(offset))
}

// streamed returns the offset of a master's replication stream.
func (s *server) streamed() (int64, error) {
	text, err := s.info("replication", "master_repl_offset")
	if err != nil {
		return 0, err
	}
	return strconv.ParseInt(text, 10, 64)
}

// reaches waits until a replica has the stream up to an offset.
func (s *server) reaches(offset int64) error {
	return until("the replica has the write", func() (bool, error) {
		text, err := s.info("replication", "slave_repl_offset")
		if err != nil {
			return false, err
		}
		has, err := strconv.ParseInt(text, 10, 64)
		return has >= offset, err
	})
}

// online reports whether all replicas of a master have their copies.
func (s *server) online() (bool, error) {
	reply, err := s.ask("INFO", "replication")
	for line := range strings.Lines(string(reply)) {
		if strings.HasPrefix(line, "slave") && !strings.Contains(line, ",state=online,") {
			return false, err
		}
	}
	return true, err
}

// until waits for something that the servers do on their own, in real time.
func until(what string, is func() (bool, error)) error {
	done, err := poll(hangs, is)
	if err == nil && !done {
		err = fmt.Errorf("waited %s in vain until %s", hangs, what)
	}
	return err
}

// poll asks until the answer is yes, for a time, and returns the last answer. A real server tells
// nobody when a key expires or a link is up.
func poll(limit time.Duration, is func() (bool, error)) (done bool, err error) {
	over, next := time.NewTimer(limit), time.NewTicker(time.Millisecond/2)
	defer over.Stop()
	defer next.Stop()
	for {
		if done, err = is(); done || err != nil {
			return done, err
		}
		select {
		case <-next.C:
		case <-over.C:
			return false, nil
		}
	}
}
