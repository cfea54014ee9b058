package redis

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockstep/sim/resp"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
)

// dialogue is one node, to talk to without clients.
type dialogue struct {
	t    *testing.T
	node *Node
	conn *Peer
	now  time.Duration
}

func newServer(t *testing.T, cfg Config) *dialogue {
	t.Helper()
	n, err := New(0, "n1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Close)
	n.Reset(cfg)
	return &dialogue{t: t, node: n, conn: NewPeer(n)}
}

// at lets time pass until then, with the expiries that are due on the way.
func (s *dialogue) at(now time.Duration) *dialogue {
	s.t.Helper()
	for s.node.NextExpiry != trace.Never && s.node.NextExpiry <= now {
		due := max(s.node.NextExpiry, s.now)
		if len(s.node.Expire(due)) == 0 {
			s.t.Fatalf("at %s something was due, and nothing has expired", due)
		}
	}
	s.now = now
	return s
}

// say sends a command and compares the reply, as redis-cli would show it.
func (s *dialogue) say(command, want string) *dialogue {
	s.t.Helper()
	s.sayArgs(strings.Fields(command), want)
	return s
}

func (s *dialogue) sayArgs(args []string, want string) {
	s.t.Helper()
	reply, _ := s.node.Execute(s.now, s.conn, args)
	if got := resp.Text(reply); got != want {
		s.t.Fatalf("at %s: %s = %s, expected %s", s.now, trace.CommandText(args), got, want)
	}
}

// eval is say for scripts.
func (s *dialogue) eval(script, key, want string) *dialogue {
	s.t.Helper()
	s.sayArgs([]string{"EVAL", script, "1", key}, want)
	return s
}

// TestExpiryInstant: a key lives last at the millisecond at which its time is up,
// and is gone one millisecond later, as in Redis.
func TestExpiryInstant(t *testing.T) {
	s := newServer(t, Config{})
	s.say("SET k v NX PX 3000", "OK").say("PTTL k", "3000")
	s.at(2999*time.Millisecond).say("PTTL k", "1").say("GET k", "v")
	s.at(3000*time.Millisecond).say("PTTL k", "0").say("GET k", "v").say("SET k w NX PX 3000", "nil")
	s.at(3001*time.Millisecond-1).say("PTTL k", "0").say("GET k", "v")
	s.at(3001*time.Millisecond).say("PTTL k", "-2").say("GET k", "nil").say("SET k w NX PX 3000", "OK")
}

// TestExpiryWithinAMillisecond: a server's clock counts milliseconds, wherever in
// one of them the command arrives.
func TestExpiryWithinAMillisecond(t *testing.T) {
	s := newServer(t, Config{})
	s.at(999_999).say("SET k v PX 1", "OK") // in millisecond 0, though almost 1
	s.at(1_999_999).say("GET k", "v")
	s.at(2_000_000).say("GET k", "nil")
	s.node.Reset(Config{Offset: 300 * time.Microsecond})
	s.now = 0
	s.at(699_999).say("SET k v PX 1", "OK")
	s.at(1_699_999).say("GET k", "v")
	s.at(1_700_000).say("GET k", "nil")
	s.node.Reset(Config{Offset: -300 * time.Microsecond}) // its millisecond -1
	s.now = 0
	s.at(0).say("SET k v PX 1", "OK")
	s.at(1_299_999).say("GET k", "v")
	s.at(1_300_000).say("GET k", "nil")
}

// TestTTLRounds: TTL answers to the nearest second, in scripts and transactions too.
func TestTTLRounds(t *testing.T) {
	const script = "return redis.call('TTL', KEYS[1])"
	for millis, want := range map[int]string{1: "0", 499: "0", 500: "1", 1000: "1", 1499: "1", 1500: "2", 1600: "2", 2499: "2", 2500: "3", 10_000: "10"} {
		s := newServer(t, Config{})
		s.say(fmt.Sprintf("SET k v PX %d", millis), "OK")
		s.say("TTL k", want).say("ttl k", want)
		s.eval(script, "k", want).eval("return redis.pcall('ttl', KEYS[1])", "k", want)
		s.say("MULTI", "OK").say("TTL k", "QUEUED").say("PTTL k", "QUEUED").say("GET k", "QUEUED").say("EXEC", fmt.Sprintf("[%s, %d, v]", want, millis))
		s.say("TTL k", want)
	}
	s := newServer(t, Config{})
	s.say("TTL k", "-2").eval(script, "k", "-2").say("MULTI", "OK").say("TTL k", "QUEUED").say("EXEC", "[-2]")
	s.say("SET k v", "OK").say("TTL k", "-1").eval(script, "k", "-1").say("MULTI", "OK").say("TTL k", "QUEUED").say("EXEC", "[-1]")
	s.say("TTL", "error ERR wrong number of arguments for 'ttl' command")
	s.say("TTL k k", "error ERR wrong number of arguments for 'ttl' command")
	s.say("MULTI", "OK").say("TTL k", "QUEUED").say("DISCARD", "OK").say("TTL k", "-1")
}

// TestRotatesOne: the only element of a list moves to that list, and the list keeps its life, if the
// command has the words that it needs and no more.
func TestRotatesOne(t *testing.T) {
	s := newServer(t, Config{})
	s.say("RPUSH list 7", "1").say("PEXPIRE list 5000", "1")
	s.say("RPOPLPUSH list list", "7").say("LMOVE list list LEFT RIGHT", "7").say("PTTL list", "5000")
	s.say("RPOPLPUSH list list list", "error ERR wrong number of arguments for 'rpoplpush' command")
	s.say("LMOVE list list", "error ERR wrong number of arguments for 'lmove' command")
	s.say("LMOVE list list LEFT RIGHT LEFT", "error ERR wrong number of arguments for 'lmove' command")
	s.say("LMOVE list list LEFT ASIDE", "error ERR syntax error")
}

// TestTransactionOfTTLs: what is asked in a transaction is answered from what the
// transaction has done so far.
func TestTransactionOfTTLs(t *testing.T) {
	s := newServer(t, Config{})
	s.say("MULTI", "OK").say("SET k v PX 1600", "QUEUED").say("TTL k", "QUEUED").say("PEXPIRE k 1400", "QUEUED").say("TTL k", "QUEUED")
	s.say("EXEC", "[OK, 2, 1, 1]")
}

// TestClockStepsCancelOut: there and back again leaves what outlived the way.
func TestClockStepsCancelOut(t *testing.T) {
	s := newServer(t, Config{})
	s.say("SET k v PX 3000", "OK").say("SET eternal v", "OK")
	s.node.Step(2 * time.Second)
	s.at(0).say("PTTL k", "1000").say("PTTL eternal", "-1")
	s.node.Step(-2 * time.Second)
	s.at(0).say("PTTL k", "3000")
	s.at(3000*time.Millisecond).say("GET k", "v")
	s.at(3001*time.Millisecond).say("GET k", "nil").say("GET eternal", "v")
}

// TestServerTime: TIME and absolute expiries are by the server's own clock.
func TestServerTime(t *testing.T) {
	s := newServer(t, Config{Offset: 5 * time.Second})
	s.at(2500*time.Millisecond).say("TIME", "[1007, 500000]")
	s.say("SET k v PXAT 1008500", "OK").say("PTTL k", "1000").say("SET k v EXAT 1010", "OK").say("PTTL k", "2500")
	s.say("PEXPIREAT k 1007600", "1").say("PTTL k", "100").say("PEXPIREAT k 1007500", "1").say("GET k", "nil")
}

// TestSetUntilNow: a SET leaves its key for the last millisecond of its life, and PEXPIREAT
// doesn't.
func TestSetUntilNow(t *testing.T) {
	s := newServer(t, Config{})
	s.at(2500*time.Millisecond).say("SET k v NX PXAT 1002499", "OK").say("EXISTS k", "0").say("SET k v NX PXAT 1002500", "OK").say("PTTL k", "0")
	s.at(2501*time.Millisecond).say("EXISTS k", "0").say("SET k v NX PXAT 1002502", "OK").say("PTTL k", "1")
}

// TestSetIfEqual: as the documentation of Redis 8.4 has it; the server that the
// other tests ask is older.
func TestSetIfEqual(t *testing.T) {
	s := newServer(t, Config{})
	s.say("SET k v IFEQ v", "nil").say("EXISTS k", "0").say("SET k v IFNE w", "OK")
	s.say("SET k w IFEQ x", "nil").say("GET k", "v").say("SET k w IFEQ v PX 3000", "OK").say("GET k", "w").say("PTTL k", "3000")
	s.say("SET k x IFNE w", "nil").say("SET k x IFNE y GET", "w").say("SET k y IFEQ z GET", "x").say("GET k", "x")
	s.say("SET k y ifeq x NX", "error ERR syntax error").say("HSET h f v", "1").say("SET h v IFEQ v", "error "+wrongType)
	s.eval("return redis.call('SET', KEYS[1], 'z', 'IFEQ', 'x')", "k", "OK").say("GET k", "z")
	s.say("MULTI", "OK").say("SET k y IFEQ z", "QUEUED").say("GET k", "QUEUED").say("EXEC", "[OK, y]")
}

const wrongType = "WRONGTYPE Operation against a key holding the wrong kind of value"

// TestExpiryInThePast: whatever should have ended already is gone at once.
func TestExpiryInThePast(t *testing.T) {
	s := newServer(t, Config{})
	s.say("SET k v", "OK").say("PEXPIRE k -1", "1").say("EXISTS k", "0")
	s.say("SET k v", "OK").say("EXPIRE k 0", "1").say("EXISTS k", "0")
	s.say("EXPIRE k 10", "0")
}

// TestRestart: what a node of that persistence brings back at 2.9s, of keys that were written
// at 1.5s, at 2s, and at 2.5s; and after the same once more. The end of the process leaves
// all that the operating system has; a power cut leaves what is on the disk.
func TestRestart(t *testing.T) {
	for _, tt := range []struct {
		persistence Persistence
		ends        func(*Node, time.Duration) []trace.Change
		want        string
	}{
		{PersistNone, (*Node).Down, "[nil, nil, nil]"},
		{PersistNone, (*Node).PowerCut, "[nil, nil, nil]"},
		{PersistEverysec, (*Node).Down, "[x, y, z]"},
		{PersistEverysec, (*Node).PowerCut, "[x, nil, nil]"},
		{PersistAlways, (*Node).Down, "[x, y, z]"},
		{PersistAlways, (*Node).PowerCut, "[x, y, z]"},
	} {
		s := newServer(t, Config{Persistence: tt.persistence})
		s.at(1500*time.Millisecond).say("SET a x", "OK")
		s.at(2*time.Second).say("SET b y", "OK")
		s.at(2500*time.Millisecond).say("SET c z", "OK")
		for _, now := range []time.Duration{2900 * time.Millisecond, 2950 * time.Millisecond} {
			tt.ends(s.node, now)
			if _, err := s.node.Start(now); err != nil {
				t.Fatal(err)
			}
			s.conn = NewPeer(s.node)
			s.at(now).say("MGET a b c", tt.want)
		}
	}
}

// TestRestartWithAnyType: values of all types that a disk can have come back as they were,
// with their expiry, and read as different texts.
func TestRestartWithAnyType(t *testing.T) {
	s := newServer(t, Config{Persistence: PersistAlways})
	s.say("HSET h f v g:x w", "2").say("RPUSH l b a b", "3").say("SADD s f:v g", "2").say("ZADD z 1.5 f -inf g 1e300 h", "3").say("SET (a v", "OK")
	for _, key := range []string{"h", "l", "s", "z"} {
		s.say("PEXPIRE "+key+" 1000", "1")
	}
	before := fmt.Sprintf("%+v", s.node.known)
	if want := `[{key:(a value:v`; !strings.HasPrefix(before, want) {
		t.Errorf("%s, expected %s", before, want)
	}
	for _, text := range []string{`{f:v "g:x":w}`, `[b a b]`, `{"f:v" g}`, `{f=1.5 g=-Inf h=1e+300}`} {
		if !strings.Contains(before, text) {
			t.Errorf("there is no %s in %s", text, before)
		}
	}
	s.node.Down(0)
	if _, err := s.node.Start(0); err != nil {
		t.Fatal(err)
	}
	if after := fmt.Sprintf("%+v", s.node.known); after != before {
		t.Errorf("%s, expected %s", after, before)
	}
	s.conn = NewPeer(s.node)
	s.at(1000*time.Millisecond).say("EXISTS h l s z", "4").at(1001*time.Millisecond).say("EXISTS h l s z", "0")
}

// TestPowerCutAtTheSecond: everysec has written what is older than the last whole
// second, and what is of that very second is lost.
func TestPowerCutAtTheSecond(t *testing.T) {
	for written, want := range map[time.Duration]string{1999 * time.Millisecond: "x", 2 * time.Second: "nil"} {
		s := newServer(t, Config{Persistence: PersistEverysec})
		s.at(written).say("SET a x", "OK")
		s.node.PowerCut(2 * time.Second)
		if _, err := s.node.Start(3 * time.Second); err != nil {
			t.Fatal(err)
		}
		s.conn = NewPeer(s.node)
		s.at(3*time.Second).say("GET a", want)
	}
}

// TestPowerCutUndoesRelease: what everysec loses may be a deletion, too: the lock
// that was released is held again.
func TestPowerCutUndoesRelease(t *testing.T) {
	s := newServer(t, Config{Persistence: PersistEverysec})
	s.at(500*time.Millisecond).say("SET lock A1 PX 10000", "OK")
	s.at(1200*time.Millisecond).say("DEL lock", "1")
	s.node.PowerCut(1300 * time.Millisecond)
	if _, err := s.node.Start(1400 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	s.conn = NewPeer(s.node)
	s.at(1400*time.Millisecond).say("GET lock", "A1").say("PTTL lock", "9100")
}

// TestExpiredWhileDown: a server that comes back doesn't bring back what has ended
// meanwhile, and what has not ends when it should.
func TestExpiredWhileDown(t *testing.T) {
	for up, want := range map[time.Duration]string{
		2999 * time.Millisecond: "v", 3000 * time.Millisecond: "v", 3001 * time.Millisecond: "nil", time.Hour: "nil",
	} {
		s := newServer(t, Config{Persistence: PersistAlways})
		s.say("SET k v PX 3000", "OK").say("HSET h f v", "1").say("PEXPIRE h 7200000", "1")
		s.node.Down(time.Second)
		if _, err := s.node.Start(up); err != nil {
			t.Fatal(err)
		}
		s.conn = NewPeer(s.node)
		s.now = up
		s.say("GET k", want).say("HGET h f", "v").say("PTTL h", fmt.Sprint(7_200_000-up.Milliseconds()))
		s.at(3001*time.Millisecond+up).say("GET k", "nil")
	}
}

// TestClockSetWhileDown: the disk holds instants on the server's clock.
func TestClockSetWhileDown(t *testing.T) {
	s := newServer(t, Config{Persistence: PersistAlways})
	s.say("SET k v PX 3000", "OK")
	s.node.Down(time.Second)
	s.node.Step(-time.Second)
	if _, err := s.node.Start(time.Second); err != nil {
		t.Fatal(err)
	}
	s.conn = NewPeer(s.node)
	s.now = time.Second
	s.say("PTTL k", "3000")
}

// TestRestartForgets scripts, and what a connection had begun.
func TestRestartForgets(t *testing.T) {
	for p := PersistNone; p <= PersistAlways; p++ {
		s := newServer(t, Config{Persistence: p})
		s.say("SCRIPT LOAD return(1)", "930269f31393d0be681588b6ab08dccee7d6bb67").say("EVALSHA 930269f31393d0be681588b6ab08dccee7d6bb67 0", "1")
		s.node.Down(0)
		if _, err := s.node.Start(0); err != nil {
			t.Fatal(err)
		}
		s.conn = NewPeer(s.node)
		s.say("EVALSHA 930269f31393d0be681588b6ab08dccee7d6bb67 0", "error NOSCRIPT No matching script. Please use EVAL.")
	}
}

// TestWatch: what a transaction has watched must be as it was, or nothing is
// executed. Ending by itself is a change, too.
func TestWatch(t *testing.T) {
	for _, tc := range []struct {
		name, before, meanwhile string
		wait                    time.Duration
		want                    string
	}{
		{"nothing has happened", "SET k v", "PING", 0, "[1]"},
		{"it was written", "SET k v", "SET k w", 0, "nil"},
		{"it was written anew", "SET k v", "SET k v", 0, "nil"},
		{"it was deleted", "SET k v", "DEL k", 0, "nil"},
		{"it appeared", "PING", "SET k v", 0, "nil"},
		{"its life was prolonged", "SET k v PX 1000", "PEXPIRE k 5000", 0, "nil"},
		{"it lives", "SET k v PX 1000", "PING", 1000 * time.Millisecond, "[1]"},
		{"it has expired", "SET k v PX 1000", "PING", 1001 * time.Millisecond, "nil"},
		{"it has expired and come again", "SET k v PX 1000", "SET k w NX", 1001 * time.Millisecond, "nil"},
	} {
		s := newServer(t, Config{})
		other := NewPeer(s.node)
		s.node.Execute(0, other, strings.Fields(tc.before))
		s.say("WATCH k", "OK")
		s.at(tc.wait)
		s.node.Execute(s.now, other, strings.Fields(tc.meanwhile))
		s.say("MULTI", "OK").say("DEL k", "QUEUED")
		reply, _ := s.node.Execute(s.now, s.conn, []string{"EXEC"})
		if got := resp.Text(reply); got != tc.want {
			t.Errorf("%s: EXEC = %s, expected %s", tc.name, got, tc.want)
		}
	}
}

// TestShortcuts: what a node saves itself, with the commonest commands, is not
// missed. Its twin counts all TTLs down before each command and compares all keys
// after it, and both say and hold the same.
func TestShortcuts(t *testing.T) {
	r := rand.New(rand.NewPCG(testenv.Seed(t), 0))
	for range 200 {
		quick, thorough := newServer(t, Config{}), newServer(t, Config{})
		both := []*dialogue{quick, thorough}
		others := []*Peer{NewPeer(quick.node), NewPeer(thorough.node)}
		for range 60 {
			args, other := randomCommand(r), r.IntN(4) == 0
			ahead := !readOnly(args[0]) && r.IntN(4) == 0 // of what is due: its expiry, not a reader, reports that
			pass := time.Duration(r.IntN(3)) * time.Duration(r.IntN(3000)) * 700 * time.Microsecond
			var step time.Duration
			if r.IntN(15) == 0 {
				step = time.Duration(r.IntN(8000)-4000) * time.Millisecond
			}
			var said [2]string
			for i, s := range both {
				if step != 0 {
					s.node.Step(step)
				}
				if ahead {
					s.now += pass
				} else {
					s.at(s.now + pass)
				}
				if s == thorough {
					s.node.sync(s.now)
				}
				conn := s.conn
				if other {
					conn = others[i]
				}
				reply, changes := s.node.Execute(s.now, conn, args)
				said[i] = resp.Text(reply) + changesText(changes)
			}
			if more := thorough.node.changed(thorough.now); len(more) > 0 {
				t.Fatalf("%s: %s, and nobody noticed %s", trace.CommandText(args), said[1], changesText(more))
			}
			if said[0] != said[1] || !slices.EqualFunc(quick.node.known, thorough.node.known, sameKey) || quick.node.NextExpiry != thorough.node.NextExpiry {
				t.Fatalf("at %s: %s: %s\n%+v until %s\nand with nothing left out %s\n%+v until %s", quick.now, trace.CommandText(args),
					said[0], quick.node.known, quick.node.NextExpiry, said[1], thorough.node.known, thorough.node.NextExpiry)
			}
		}
	}
}

// TestStoresAnEqualValue: a command that stores the value which is there, with the same life,
// counts as a change; one that comes to nothing does not.
func TestStoresAnEqualValue(t *testing.T) {
	for line, stores := range map[string]bool{
		"SET k v":              true,
		"SET k v XX":           true,
		"SET k v GET":          true,
		"SET k v IFEQ v":       true,
		"GETSET k v":           true,
		"COPY equal k REPLACE": true,
		"RENAME equal k":       true,
		"MSET k v":             true,
		"HSET h f v":           true,

		"SET k v NX":             false,
		"SET k v IFEQ x":         false,
		"SET k v EX 0":           false,
		"SETEX k 0 v":            false,
		"GETSET h v":             false,
		"COPY equal k":           false,
		"COPY missing k REPLACE": false,
		"RENAME missing k":       false,
		"RENAMENX equal k":       false,
		"HSET k f v":             false,
		"HSET h f":               false,
		"LSET k 0 v":             false,
		"MSET k":                 false,
	} {
		s := newServer(t, Config{})
		for _, before := range []string{"SET k v", "SET equal v", "HSET h f v"} {
			s.node.Execute(s.now, s.conn, strings.Fields(before))
		}
		_, changes := s.node.Execute(s.now, s.conn, strings.Fields(line))
		stored := slices.ContainsFunc(changes, func(c trace.Change) bool { return c.Key != "equal" && c.Stored })
		if stored != stores {
			t.Errorf("%s:%s", line, changesText(changes))
		}
	}
}

// TestOtherDatabase: the node tells of database 0 alone. A SET in another one is none
// of its keys.
func TestOtherDatabase(t *testing.T) {
	s := newServer(t, Config{})
	say := func(p *Peer, line string) {
		t.Helper()
		reply, changes := s.node.Execute(s.now, p, strings.Fields(line))
		if text := resp.Text(reply); text != "OK" || len(changes) > 0 {
			t.Errorf("%s: %s%s", line, text, changesText(changes))
		}
	}
	say(s.conn, "SELECT 1")
	say(s.conn, "SET k 1 PX 100")
	say(s.conn, "SET k 2")
	other := NewPeer(s.node)
	s.node.Execute(s.now, other, []string{"GET", "k"})
	s.node.Execute(s.now, other, []string{"EVAL", "return redis.call('SELECT', 2)", "0"}) // miniredis stays there; Redis would not
	say(other, "SET k 3 PX 100")
	if s.node.NextExpiry != trace.Never || len(s.node.known) > 0 {
		t.Errorf("it knows %+v until %s", s.node.known, s.node.NextExpiry)
	}
}

func sameKey(a, b stored) bool { return a.key == b.key && a.value == b.value && a.when == b.when }

func changesText(changes []trace.Change) (text string) {
	for _, c := range changes {
		text += fmt.Sprintf(" %s %+v %+v %t", c.Key, c.Before, c.After, c.Stored)
	}
	return text
}

func randomCommand(r *rand.Rand) []string {
	key, number := "k"+strconv.Itoa(r.IntN(3)), strconv.Itoa(1+r.IntN(6000))
	lines := []string{
		"SET K N", "SET K N PX N", "SET K N PX N NX", "SET K N NX", "SET K N XX PX N", "SET K N KEEPTTL", "SET K 7 XX KEEPTTL", "SET K N GET PX N",
		"SET K N PXAT " + strconv.FormatInt(trace.Epoch.UnixMilli()+r.Int64N(20000), 10), "SET K 7 IFEQ 7", "SETNX K 7", "GETSET K 7", "PSETEX K N 7",
		"GET K", "EXISTS K", "DEL K", "DEL K k1", "INCR K", "PEXPIRE K N", "PERSIST K", "PTTL K", "TTL K", "RENAME K k2",
		"HSET h f N", "DEL h", "MULTI", "EXEC", "WATCH K", "FLUSHALL",
		"SET K N PX 7 PX 9", "SET K N NX NX", "SET K", "EXEC K", "HELLO 3", "HELLO 2",
	}
	words := strings.Fields(lines[r.IntN(len(lines))])
	for i, w := range words {
		switch w {
		case "K":
			words[i] = key
		case "N":
			words[i] = number
		}
	}
	return words
}

// TestReplicaRefusesCommands: of what reaches a replica, only what reads is executed.
func TestReplicaRefusesCommands(t *testing.T) {
	s := newServer(t, Config{})
	s.node.Execute(0, s.conn, []string{"SET", "k", "v"})
	s.node.Replica = true
	for _, tt := range []struct{ line, want string }{
		{"GET k", "v"}, {"EXISTS k", "1"}, {"PTTL k", "-1"}, {"PING", "PONG"}, {"TIME", "["}, {"WATCH k", "OK"}, {"MULTI", "OK"}, {"EXEC", "[]"},
		{"SCRIPT FLUSH", "OK"}, {"DEL k", "error READONLY"}, {"INCR n", "error READONLY"}, {"FLUSHALL", "error READONLY"}, {"SWAPDB 0 1", "error READONLY"},
		{"EVAL return(redis.call('GET','k')) 0", "v"}, {"EVAL redis.call('DEL','k') 0", "error READONLY"},
		{"EVAL return(redis.pcall('SET','k','w')['err']) 0", `"READONLY`},
	} {
		reply, changes := s.node.Execute(0, s.conn, strings.Fields(tt.line))
		if text := resp.Text(reply); !strings.HasPrefix(text, tt.want) || len(changes) > 0 {
			t.Errorf("%s: %s%s", tt.line, text, changesText(changes))
		}
	}
}

// TestNoInstantMeansNever: a server's clock may be slow, and so read any number,
// -1 included.
func TestNoInstantMeansNever(t *testing.T) {
	for millis := int64(-3); millis <= 3; millis++ {
		s := newServer(t, Config{Offset: time.Duration(millis-1000) * time.Millisecond, Persistence: PersistAlways})
		s.say("SET k v PX 1000", "OK") // it lives last at millis, by the server's clock
		s.at(time.Second).say("PTTL k", "0").say("GET k", "v")
		s.node.Down(time.Second)
		if _, err := s.node.Start(time.Second); err != nil {
			t.Fatal(err)
		}
		s.conn = NewPeer(s.node)
		s.say("PTTL k", "0")
		if s.at(1001*time.Millisecond).say("GET k", "nil"); s.node.NextExpiry != trace.Never {
			t.Errorf("at %d something is still due", millis)
		}
	}
}
