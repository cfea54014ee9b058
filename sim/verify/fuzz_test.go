package verify

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"lockstep/sim/redis"
	"lockstep/sim/resp"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
)

var fuzzed = flag.Int("commands", testenv.Count(4000, 1_000_000), "how many fuzzed commands TestFuzz sends")

// outcome is what a server has replied to a step, and its contents afterwards.
type outcome struct {
	reply []byte
	rows  []row // by key

	compared bool // the replies are the same, and the contents differ
}

// standIn is the simulated side of the fuzz: a node, or one with a mistake planted in it.
type standIn struct {
	node  *redis.Node
	peers [connections]*redis.Peer
	now   time.Duration
	held  map[string]trace.Record
	wrong func(args []string, o *outcome) // nil for none
}

func newStandIn(t *testing.T) *standIn {
	t.Helper()
	n, err := redis.New(0, "n1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	return &standIn{node: n}
}

// begin makes the node empty, at the beginning of time.
func (s *standIn) begin() {
	s.node.Reset(redis.Config{})
	s.now, s.held = 0, map[string]trace.Record{}
	for i := range s.peers {
		s.peers[i] = redis.NewPeer(s.node)
	}
}

// do carries out a step as a world does: what is due on the way happens first.
func (s *standIn) do(st step) outcome {
	s.now += st.wait
	for n := s.node; n.NextExpiry != trace.Never && n.NextExpiry <= s.now; {
		s.change(n.Expire(n.NextExpiry))
	}
	var o outcome
	if st.args[0] == "HELLO" { // a host answers it
		s.peers[st.who].Speaks3(st.args[1] == "3")
	} else {
		reply, changes := s.node.Execute(s.now, s.peers[st.who], st.args)
		o.reply = bytes.Clone(reply)
		s.change(changes)
	}
	o.rows = s.rows()
	if s.wrong != nil {
		s.wrong(st.args, &o)
	}
	return o
}

func (s *standIn) change(changes []trace.Change) {
	for _, ch := range changes {
		if ch.After == nil {
			delete(s.held, ch.Key)
		} else {
			s.held[ch.Key] = *ch.After
		}
	}
}

func (s *standIn) rows() (rows []row) {
	for key, r := range s.held {
		w := row{key: key, value: r.Value, left: forever}
		if r.Expires != trace.Never {
			w.left = remaining(r.Expires, s.now, 0)
		}
		rows = append(rows, w)
	}
	return sortRows(rows)
}

func sortRows(rows []row) []row {
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.key, b.key) })
	return rows
}

// draw makes a sequence and carries it out on the stand-in.
func (s *standIn) draw(seed uint64, length int) (steps []step, outcomes []outcome) {
	s.begin()
	d := &draws{Rand: rand.New(rand.NewPCG(seed, 7))}
	last := 0
	for who := range connections { // as a client begins a connection
		st := step{who: who, args: []string{"HELLO", pick(d, "2", "3")}}
		steps, outcomes = append(steps, st), append(outcomes, s.do(st))
	}
	for range length {
		d.now, d.expires = s.now, d.expires[:0]
		for _, r := range s.rows() {
			if r.left != forever {
				d.expires = append(d.expires, s.held[r.key].Expires)
			}
		}
		st := d.step(last)
		last = st.who
		steps, outcomes = append(steps, st), append(outcomes, s.do(st))
	}
	return steps, outcomes
}

// original is the real side of the fuzz.
type original struct {
	*server
	conns [connections]*conn
}

func newOriginal(l *lab) (*original, error) {
	s, err := l.newServer(false, false, trace.Epoch)
	if err != nil {
		return nil, err
	}
	o := &original{server: s}
	for i := range o.conns {
		if o.conns[i], err = s.dial(); err != nil {
			return nil, err
		}
	}
	return o, nil
}

// begin makes the server empty, at the beginning of time.
func (o *original) begin() error {
	for _, c := range o.conns {
		if _, err := c.ask("RESET"); err != nil {
			return err
		}
	}
	_, err1 := o.ask("FLUSHALL")
	_, err2 := o.ask("SCRIPT", "FLUSH")
	return errors.Join(err1, err2, o.clock.set(trace.Epoch))
}

// burst returns how many steps can be sent at once: they come from one connection, at one
// instant.
func burst(steps []step) int {
	n := 1
	for n < len(steps) && steps[n].who == steps[0].who && steps[n].wait == 0 {
		n++
	}
	return n
}

// differs carries out the steps, and returns the index of the first whose outcome differs from
// those wanted, or -1, and the outcome. Unless each is true, the contents of the server are
// compared only after a burst.
func (o *original) differs(steps []step, want []outcome, each bool) (at int, got outcome, err error) {
	if err := o.begin(); err != nil {
		return 0, got, err
	}
	now := time.Duration(0)
	for i := 0; i < len(steps); {
		n := 1
		if !each {
			n = burst(steps[i:])
		}
		now += steps[i].wait
		if err := o.clock.set(trace.Epoch.Add(now)); err != nil {
			return 0, got, err
		}
		replies, err := o.send(steps[i : i+n])
		if err != nil {
			return i, got, err
		}
		for j, reply := range replies {
			if !alike(steps[i+j].args[0], want[i+j].reply, reply) {
				return i + j, outcome{reply: reply}, nil
			}
		}
		i += n
		rows, err := o.rows()
		if err != nil {
			return i, got, err
		}
		if !slices.Equal(rows, want[i-1].rows) {
			return i - 1, outcome{reply: replies[n-1], rows: rows, compared: true}, nil
		}
	}
	return -1, got, nil
}

// send sends the commands of one connection at once.
func (o *original) send(steps []step) (replies [][]byte, err error) {
	c := o.conns[steps[0].who]
	c.out = c.out[:0]
	for _, s := range steps {
		c.out = resp.Append(c.out, s.args...)
	}
	if err := c.SetDeadline(time.Now().Add(hangs)); err != nil {
		return nil, err
	}
	if _, err := c.Write(c.out); err != nil {
		return nil, err
	}
	for range steps {
		reply, err := c.receive()
		if err != nil {
			return nil, err
		}
		replies = append(replies, reply)
	}
	return replies, nil
}

func (o *original) rows() ([]row, error) {
	reply, err := o.ask("EVAL", readRows, "0")
	if err != nil {
		return nil, err
	}
	rows, err := parseRows(reply)
	return sortRows(rows), err
}

// fuzz is the two sides.
type fuzz struct {
	*standIn
	*original
}

func newFuzz(t *testing.T, l *lab) *fuzz {
	t.Helper()
	o, err := newOriginal(l)
	if err != nil {
		t.Fatal(err)
	}
	return &fuzz{standIn: newStandIn(t), original: o}
}

// try carries out steps on both sides, and returns the index of the first that differs.
func (f *fuzz) try(steps []step) (at int, want, got outcome, err error) {
	f.standIn.begin()
	var all []outcome
	for _, s := range steps {
		all = append(all, f.do(s))
	}
	if at, got, err = f.differs(steps, all, true); at >= 0 {
		want = all[at]
	}
	return at, want, got, err
}

// shrink takes steps out of a sequence as long as its last one differs, and returns the rest.
func (f *fuzz) shrink(steps []step) ([]step, error) {
	for size := len(steps) / 2; size > 0; {
		shorter := false
		for from := 0; from+size < len(steps); {
			fewer := slices.Concat(steps[:from], steps[from+size:])
			passed := time.Duration(0)
			for _, s := range steps[from : from+size] {
				passed += s.wait
			}
			fewer[from].wait += passed
			at, _, _, err := f.try(fewer)
			if err != nil {
				return nil, err
			}
			if at < 0 {
				from += size
				continue
			}
			steps, shorter = fewer[:at+1], true
		}
		if !shorter {
			size /= 2
		}
	}
	waited := false
	for i := 0; i < len(steps); i++ {
		if steps[i].wait == 0 {
			continue
		}
		sooner := slices.Clone(steps)
		sooner[i].wait = 0
		if at, _, _, err := f.try(sooner); err != nil {
			return nil, err
		} else if at >= 0 {
			steps, waited = sooner[:at+1], true
		}
	}
	if waited { // without the wait a step may be superfluous that wasn't before
		return f.shrink(steps)
	}
	return steps, nil
}

// finding is a difference, in its least form: in the outcomes of the last step.
type finding struct {
	seed            uint64
	steps           []step
	simulated, real outcome
}

func (f *finding) String() string {
	text := fmt.Sprintf("seed %d\n%s    node   %q\n    server %q", f.seed, story(f.steps), f.simulated.reply, f.real.reply)
	if f.real.compared {
		text += fmt.Sprintf("\n    node has   %v\n    server has %v", f.simulated.rows, f.real.rows)
	}
	return text + fmt.Sprintf("\n    to         %q", f.steps[len(f.steps)-1].args)
}

// one fuzzes one sequence, and returns the first difference, or nil.
func (f *fuzz) one(seed uint64) (*finding, error) {
	steps, want := f.draw(seed, sequenceLength)
	at, _, err := f.differs(steps, want, false)
	if err != nil {
		return nil, fmt.Errorf("seed %d: %w\n%s", seed, err, story(steps[:min(at+1, len(steps))]))
	}
	if at < 0 {
		return nil, nil
	}
	if at, _, _, err = f.try(steps); err != nil {
		return nil, err
	}
	if at < 0 {
		return nil, fmt.Errorf("seed %d: the difference is gone when the steps come one by one", seed)
	}
	found := &finding{seed: seed}
	if found.steps, err = f.shrink(steps[:at+1]); err == nil {
		_, found.simulated, found.real, err = f.try(found.steps)
	}
	return found, err
}

func story(steps []step) string {
	var b strings.Builder
	for _, s := range steps {
		fmt.Fprintln(&b, s)
	}
	return b.String()
}

// alike reports whether two replies to a command are the same, a compiler's words aside, and the
// order of what Redis keeps in none. A server's reply to HELLO says much of the server.
func alike(command string, node, server []byte) bool {
	node, server = compilerSays.ReplaceAll(node, nil), compilerSays.ReplaceAll(server, nil)
	switch name := strings.ToUpper(command); {
	case bytes.Equal(node, server), name == "HELLO":
		return true
	case slices.Contains(unordered, name):
		return bytes.Equal(sorted(node, name == "HGETALL"), sorted(server, name == "HGETALL"))
	case name == "EXEC":
		a, b := resp.Elements(node), resp.Elements(server)
		return len(a) > 0 && slices.EqualFunc(a, b, func(x, y []byte) bool { return bytes.Equal(sorted(x, false), sorted(y, false)) })
	}
	return false
}

// sorted puts what a reply lists in an order, if it is a list: of words, or of pairs.
func sorted(reply []byte, pairs bool) []byte {
	all := resp.Elements(reply)
	if all == nil {
		return reply
	}
	if pairs && len(all)%2 == 0 {
		for i := 0; i < len(all)/2; i++ {
			all[i] = slices.Concat(all[2*i], all[2*i+1])
		}
		all = all[:len(all)/2]
	}
	slices.SortFunc(all, bytes.Compare)
	head, _, _ := bytes.Cut(reply, []byte("\n"))
	return slices.Concat(head, bytes.Join(all, nil))
}

var compilerSays = regexp.MustCompile("-ERR Error compiling script[^\r]*")

// sequenceLength is how many commands are sent to a server before it is emptied.
const sequenceLength = 100

// TestFuzz sends random commands of several connections to a node and to a real server, whose
// clocks go alike: they reply the same, and have the same keys with the same lives.
func TestFuzz(t *testing.T) {
	l := ownLab(t)
	first := testenv.Seed(t)
	seeds := make(chan uint64)
	var all sync.WaitGroup
	for range 2 {
		f := newFuzz(t, l)
		all.Go(func() {
			for seed := range seeds {
				if found, err := f.one(seed); err != nil || found != nil {
					t.Error(found, err)
				}
			}
		})
	}
	for i := range *fuzzed / sequenceLength {
		seeds <- first + uint64(i)
	}
	close(seeds)
	all.Wait()
}

// TestFuzzFindsMistakes plants mistakes in the node, each in the outcome of one command. The
// fuzz finds it, and shrinks the sequence to that command and those without which it does
// nothing.
func TestFuzzFindsMistakes(t *testing.T) {
	testenv.LongRaced(t)
	f := newFuzz(t, ownLab(t))
	for _, tc := range []struct {
		name, command string
		most          int // steps of the least sequence
		wrong         func(args []string, o *outcome)
	}{
		{"PTTL is one millisecond more", "PTTL", 3, func(_ []string, o *outcome) {
			if left, err := strconv.Atoi(strings.Trim(string(o.reply), ":\r\n")); err == nil && left > 0 {
				o.reply = fmt.Appendf(nil, ":%d\r\n", left+1)
			}
		}},
		{"SETNX of a key that is there says that it isn't", "SETNX", 2, func(_ []string, o *outcome) {
			o.reply = bytes.Replace(o.reply, []byte(":0"), []byte(":1"), 1)
		}},
		{"PEXPIRE with GT leaves the life a millisecond longer", "PEXPIRE", 4, func(args []string, o *outcome) {
			for i := range o.rows {
				if r := &o.rows[i]; r.key == args[1] && slices.Contains(args, "GT") && string(o.reply) == ":1\r\n" {
					r.left++
				}
			}
		}},
		{"EXEC is aborted with another word", "EXEC", 3, func(_ []string, o *outcome) {
			o.reply = bytes.Replace(o.reply, []byte("EXECABORT"), []byte("ERR"), 1)
		}},
	}[:testenv.Quick(2, 4)] {
		f.wrong = func(args []string, o *outcome) {
			if args[0] == tc.command {
				tc.wrong(args, o)
			}
		}
		var found *finding
		var err error
		for seed := uint64(1); found == nil && err == nil && seed < 200; seed++ {
			found, err = f.one(seed)
		}
		if err != nil || found == nil {
			t.Fatalf("%s: not found: %v", tc.name, err)
		}
		if last := found.steps[len(found.steps)-1]; last.args[0] != tc.command || len(found.steps) > tc.most {
			t.Errorf("%s: %s", tc.name, found)
		}
	}
}

// TestKnownForms pins the differences in forms of commands that the fuzz leaves out.
func TestKnownForms(t *testing.T) {
	f := newFuzz(t, ownLab(t))
	f.standIn.begin()
	if err := f.original.begin(); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct{ command, node, server string }{
		{"ZADD z 9223372036854775807 m", ":1\r\n", ":1\r\n"},
		{"ZRANK z m WITHSCORES", "-ERR syntax error\r\n", "-ERR wrong number of arguments for 'zrank' command\r\n"},
		{"ZPOPMIN z", "*2\r\n$1\r\nm\r\n$19\r\n9223372036854776000\r\n", "*2\r\n$1\r\nm\r\n$22\r\n9.2233720368547758e+18\r\n"},
		{"ZCOUNT z 0 _1", "-ERR min or max is not a float\r\n", ":0\r\n"},
	} {
		args := strings.Fields(tc.command)
		args[len(args)-1] = strings.ReplaceAll(args[len(args)-1], "_", " ")
		simulated := f.do(step{args: args}).reply
		real, err := f.conns[0].ask(args...)
		if err != nil {
			t.Fatal(err)
		}
		if string(simulated) != tc.node || string(real) != tc.server {
			t.Errorf("%q: the node and the server reply %q and %q, want %q and %q", args, simulated, real, tc.node, tc.server)
		}
	}
}

// TestLongestLife pins a difference: a node keeps no key for more than a century.
func TestLongestLife(t *testing.T) {
	f := newFuzz(t, ownLab(t))
	f.standIn.begin()
	if err := f.original.begin(); err != nil {
		t.Fatal(err)
	}
	for i, args := range [][]string{{"SET", "a", "v", "PXAT", "9223372036854775807"}, {"PTTL", "a"}} {
		simulated := f.do(step{args: args}).reply
		real, err := f.conns[0].ask(args...)
		if err != nil {
			t.Fatal(err)
		}
		want := [][2]string{{"+OK\r\n", "+OK\r\n"}, {":3153600000000\r\n", ":9223372036853775807\r\n"}}[i]
		if got := [2]string{string(simulated), string(real)}; got != want {
			t.Errorf("%q: the node and the server reply %q, want %q", args, got, want)
		}
	}
}
