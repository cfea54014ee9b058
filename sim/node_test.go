package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/strategies"
)

// dialogue is one node, to talk to without clients.
type dialogue struct {
	t    *testing.T
	node *node
	conn *peer
	now  time.Duration
}

func newServer(t *testing.T, cfg NodeConfig) *dialogue {
	t.Helper()
	n, err := newNode(0, "n1")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.close)
	n.reset(cfg)
	return &dialogue{t: t, node: n, conn: newPeer(n)}
}

// at lets time pass until then, with the expiries that are due on the way.
func (s *dialogue) at(now time.Duration) *dialogue {
	s.t.Helper()
	for s.node.nextExpiry != Never && s.node.nextExpiry <= now {
		due := max(s.node.nextExpiry, s.now)
		if len(s.node.expire(due)) == 0 {
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
	reply, _ := s.node.execute(s.now, s.conn, args)
	if got := replyText(reply); got != want {
		s.t.Fatalf("at %s: %s = %s, expected %s", s.now, CommandText(args), got, want)
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
	s := newServer(t, NodeConfig{})
	s.say("SET k v NX PX 3000", "OK").say("PTTL k", "3000")
	s.at(2999*time.Millisecond).say("PTTL k", "1").say("GET k", "v")
	s.at(3000*time.Millisecond).say("PTTL k", "0").say("GET k", "v").say("SET k w NX PX 3000", "nil")
	s.at(3001*time.Millisecond-1).say("PTTL k", "0").say("GET k", "v")
	s.at(3001*time.Millisecond).say("PTTL k", "-2").say("GET k", "nil").say("SET k w NX PX 3000", "OK")
}

// TestExpiryWithinAMillisecond: a server's clock counts milliseconds, wherever in
// one of them the command arrives.
func TestExpiryWithinAMillisecond(t *testing.T) {
	s := newServer(t, NodeConfig{})
	s.at(999_999).say("SET k v PX 1", "OK") // in millisecond 0, though almost 1
	s.at(1_999_999).say("GET k", "v")
	s.at(2_000_000).say("GET k", "nil")
	s.node.reset(NodeConfig{Offset: 300 * time.Microsecond})
	s.now = 0
	s.at(699_999).say("SET k v PX 1", "OK")
	s.at(1_699_999).say("GET k", "v")
	s.at(1_700_000).say("GET k", "nil")
	s.node.reset(NodeConfig{Offset: -300 * time.Microsecond}) // its millisecond -1
	s.now = 0
	s.at(0).say("SET k v PX 1", "OK")
	s.at(1_299_999).say("GET k", "v")
	s.at(1_300_000).say("GET k", "nil")
}

// TestExpireEvent: expiry happens when it happens, whether anybody looks or not.
func TestExpireEvent(t *testing.T) {
	w := newWorld(t, configOf(toyDo(cmd("set", "k", "v", "nx", "px", 3000)), "A"))
	run(t, w)
	expectStory(t, w, `
		0.001 n1 A: SET k v NX PX 3000 = OK [k = v (3s left)]
		3.002 n1 expires [k gone]`, KindExecute, KindExpire)
	if r := w.State().LockRecord(0); r != nil {
		t.Errorf("the state still has %+v", r)
	}
}

// TestExpireTogether: keys that end at one instant end in one event; at different
// instants, in several.
func TestExpireTogether(t *testing.T) {
	w := newWorld(t, configOf(toyDo(
		cmd("eval", "redis.call('SET', 'a', 1, 'PX', 5) redis.call('SET', 'b', 1, 'PX', 5) return redis.call('SET', 'c', 1, 'PX', 6)", 0)), "A"))
	w.Wait(time.Second)
	run(t, w)
	expectStory(t, w, "1.007 n1 expires [a gone; b gone]\n1.008 n1 expires [c gone]", KindExpire)
}

// TestTTLRounds: TTL answers to the nearest second, in scripts and transactions too.
func TestTTLRounds(t *testing.T) {
	const script = "return redis.call('TTL', KEYS[1])"
	for millis, want := range map[int]string{1: "0", 499: "0", 500: "1", 1000: "1", 1499: "1", 1500: "2", 1600: "2", 2499: "2", 2500: "3", 10_000: "10"} {
		s := newServer(t, NodeConfig{})
		s.say(fmt.Sprintf("SET k v PX %d", millis), "OK")
		s.say("TTL k", want).say("ttl k", want)
		s.eval(script, "k", want).eval("return redis.pcall('ttl', KEYS[1])", "k", want)
		s.say("MULTI", "OK").say("TTL k", "QUEUED").say("PTTL k", "QUEUED").say("GET k", "QUEUED").say("EXEC", fmt.Sprintf("[%s, %d, v]", want, millis))
		s.say("TTL k", want)
	}
	s := newServer(t, NodeConfig{})
	s.say("TTL k", "-2").eval(script, "k", "-2").say("MULTI", "OK").say("TTL k", "QUEUED").say("EXEC", "[-2]")
	s.say("SET k v", "OK").say("TTL k", "-1").eval(script, "k", "-1").say("MULTI", "OK").say("TTL k", "QUEUED").say("EXEC", "[-1]")
	s.say("TTL", "error ERR wrong number of arguments for 'ttl' command")
	s.say("TTL k k", "error ERR wrong number of arguments for 'ttl' command")
	s.say("MULTI", "OK").say("TTL k", "QUEUED").say("DISCARD", "OK").say("TTL k", "-1")
}

// TestTransactionOfTTLs: what is asked in a transaction is answered from what the
// transaction has done so far.
func TestTransactionOfTTLs(t *testing.T) {
	s := newServer(t, NodeConfig{})
	s.say("MULTI", "OK").say("SET k v PX 1600", "QUEUED").say("TTL k", "QUEUED").say("PEXPIRE k 1400", "QUEUED").say("TTL k", "QUEUED")
	s.say("EXEC", "[OK, 2, 1, 1]")
}

// TestBackwardClockStep prolongs what is stored: an expiry is an instant on the
// server's own clock.
func TestBackwardClockStep(t *testing.T) {
	w := newWorld(t, configOf(toyDo(cmd("set", "lock", "v", "px", 3000), cmd("pttl", "lock")), "A"))
	until(t, w, "A", KindReceive)
	w.Wait(998 * time.Millisecond) // it is 1s
	inject(t, w, NodeStep{"n1", -10 * time.Second})
	run(t, w)
	expectStory(t, w, `
		0.001  n1 A: SET lock v PX 3000 = OK [lock = v (3s left)]
		1      n1 clock jumps by -10s [lock = v (12.001s left), expiry moved]
		1.001  n1 A: PTTL lock = 12000
		13.002 n1 expires [lock gone]`, KindExecute, KindExpire, KindNodeStep)
}

// TestForwardClockStep ends at once what is thereby due, and shortens the rest.
func TestForwardClockStep(t *testing.T) {
	for _, tc := range []struct {
		by   time.Duration
		want string
	}{
		{2001 * time.Millisecond, "1 n1 clock jumps by 2.001s [lock = v (0ms left), expiry moved]\n1.001 n1 A: PTTL lock = -2\n1.001 n1 expires [lock gone]"},
		{2002 * time.Millisecond, "1 n1 clock jumps by 2.002s [lock = v (0ms left), expiry moved]\n1 n1 expires [lock gone]\n1.001 n1 A: PTTL lock = -2"},
		{time.Hour, "1 n1 clock jumps by 1h0m0s [lock = v (0ms left), expiry moved]\n1 n1 expires [lock gone]\n1.001 n1 A: PTTL lock = -2"},
		{time.Second, "1 n1 clock jumps by 1s [lock = v (1.001s left), expiry moved]\n1.001 n1 A: PTTL lock = 1000\n2.002 n1 expires [lock gone]"},
	} {
		w := newWorld(t, configOf(toyDo(cmd("set", "lock", "v", "px", 3000), cmd("pttl", "lock")), "A"))
		until(t, w, "A", KindReceive)
		w.Wait(998 * time.Millisecond)
		inject(t, w, NodeStep{"n1", tc.by})
		run(t, w)
		got := story(w, KindExecute, KindExpire, KindNodeStep)[1:]
		if tc.by == 2001*time.Millisecond { // both at one instant: expiry comes first
			got[1], got[2] = got[2], got[1]
		}
		if text := strings.Join(strings.Fields(strings.Join(got, "\n")), " "); text != strings.Join(strings.Fields(tc.want), " ") {
			t.Errorf("a step of %s:\n%s\nexpected\n%s", tc.by, strings.Join(got, "\n"), tc.want)
		}
	}
}

// TestClockStepsCancelOut: there and back again leaves what outlived the way.
func TestClockStepsCancelOut(t *testing.T) {
	s := newServer(t, NodeConfig{})
	s.say("SET k v PX 3000", "OK").say("SET eternal v", "OK")
	s.node.step(2 * time.Second)
	s.at(0).say("PTTL k", "1000").say("PTTL eternal", "-1")
	s.node.step(-2 * time.Second)
	s.at(0).say("PTTL k", "3000")
	s.at(3000*time.Millisecond).say("GET k", "v")
	s.at(3001*time.Millisecond).say("GET k", "nil").say("GET eternal", "v")
}

// TestNoInstantMeansNever: a server's clock may be slow, and so read any number,
// -1 included; and a step may move an expiry to anywhere.
func TestNoInstantMeansNever(t *testing.T) {
	for millis := int64(-3); millis <= 3; millis++ {
		s := newServer(t, NodeConfig{Offset: time.Duration(millis-1000) * time.Millisecond, Persistence: PersistAlways})
		s.say("SET k v PX 1000", "OK") // it lives last at millis, by the server's clock
		s.at(time.Second).say("PTTL k", "0").say("GET k", "v")
		s.node.down(time.Second)
		if _, err := s.node.start(time.Second); err != nil {
			t.Fatal(err)
		}
		s.conn = newPeer(s.node)
		s.say("PTTL k", "0")
		if s.at(1001*time.Millisecond).say("GET k", "nil"); s.node.nextExpiry != Never {
			t.Errorf("at %d something is still due", millis)
		}
	}
	for late := time.Duration(-3); late <= 3; late++ {
		w := newWorld(t, configOf(toyDo(cmd("set", "lock", "v", "px", 3000)), "A"))
		until(t, w, "A", KindReceive)
		inject(t, w, NodeStep{"n1", 3002*time.Millisecond + late}) // the key's instant is now -late
		if r := w.State().LockRecord(0); r != nil && r.Expires == Never {
			t.Errorf("%dns late: the record never expires", late)
		}
		run(t, w)
		if w.State().LockRecord(0) != nil || count(w, KindExpire) != 1 || w.Now() > 2*time.Millisecond {
			t.Errorf("%dns late: at %s there still is %+v", late, w.Now(), w.State().LockRecord(0))
		}
	}
}

// TestServerTime: TIME and absolute expiries are by the server's own clock.
func TestServerTime(t *testing.T) {
	s := newServer(t, NodeConfig{Offset: 5 * time.Second})
	s.at(2500*time.Millisecond).say("TIME", "[1007, 500000]")
	s.say("SET k v PXAT 1008500", "OK").say("PTTL k", "1000").say("SET k v EXAT 1010", "OK").say("PTTL k", "2500")
	s.say("PEXPIREAT k 1007600", "1").say("PTTL k", "100").say("PEXPIREAT k 1007500", "1").say("GET k", "nil")
}

// TestSetUntilNow: an instant of expiry that has come has passed; the next one hasn't.
func TestSetUntilNow(t *testing.T) {
	s := newServer(t, NodeConfig{})
	s.at(2500*time.Millisecond).say("SET k v NX PXAT 1002500", "OK").say("EXISTS k", "0").say("SET k v NX PXAT 1002501", "OK").say("PTTL k", "1")
}

// TestSetIfEqual: as the documentation of Redis 8.4 has it; the server that the
// other tests ask is older.
func TestSetIfEqual(t *testing.T) {
	s := newServer(t, NodeConfig{})
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
	s := newServer(t, NodeConfig{})
	s.say("SET k v", "OK").say("PEXPIRE k -1", "1").say("EXISTS k", "0")
	s.say("SET k v", "OK").say("EXPIRE k 0", "1").say("EXISTS k", "0")
	s.say("EXPIRE k 10", "0")
}

// what a node of that persistence brings back after a crash at 2.9s, of keys that
// were written at 1.5s, at 2s, and at 2.5s; and after another crash at once.
func TestRestart(t *testing.T) {
	for p, want := range map[Persistence]string{
		PersistNone:     "[nil, nil, nil]",
		PersistEverysec: "[x, nil, nil]",
		PersistAlways:   "[x, y, z]",
	} {
		s := newServer(t, NodeConfig{Persistence: p})
		s.at(1500*time.Millisecond).say("SET a x", "OK")
		s.at(2*time.Second).say("SET b y", "OK")
		s.at(2500*time.Millisecond).say("SET c z", "OK")
		for _, now := range []time.Duration{2900 * time.Millisecond, 2950 * time.Millisecond} {
			s.node.down(now)
			if _, err := s.node.start(now); err != nil {
				t.Fatal(err)
			}
			s.conn = newPeer(s.node)
			s.at(now).say("MGET a b c", want)
		}
	}
}

// TestRestartAtTheSecond: everysec has written what is older than the last whole
// second, and what is of that very second is lost.
func TestRestartAtTheSecond(t *testing.T) {
	for written, want := range map[time.Duration]string{1999 * time.Millisecond: "x", 2 * time.Second: "nil"} {
		s := newServer(t, NodeConfig{Persistence: PersistEverysec})
		s.at(written).say("SET a x", "OK")
		s.node.down(2 * time.Second)
		if _, err := s.node.start(3 * time.Second); err != nil {
			t.Fatal(err)
		}
		s.conn = newPeer(s.node)
		s.at(3*time.Second).say("GET a", want)
	}
}

// TestRestartUndoesRelease: what everysec loses may be a deletion, too: the lock
// that was released is held again.
func TestRestartUndoesRelease(t *testing.T) {
	s := newServer(t, NodeConfig{Persistence: PersistEverysec})
	s.at(500*time.Millisecond).say("SET lock A1 PX 10000", "OK")
	s.at(1200*time.Millisecond).say("DEL lock", "1")
	s.node.down(1300 * time.Millisecond)
	if _, err := s.node.start(1400 * time.Millisecond); err != nil {
		t.Fatal(err)
	}
	s.conn = newPeer(s.node)
	s.at(1400*time.Millisecond).say("GET lock", "A1").say("PTTL lock", "9100")
}

// TestExpiredWhileDown: a server that comes back doesn't bring back what has ended
// meanwhile, and what has not ends when it should.
func TestExpiredWhileDown(t *testing.T) {
	for up, want := range map[time.Duration]string{
		2999 * time.Millisecond: "v", 3000 * time.Millisecond: "v", 3001 * time.Millisecond: "nil", time.Hour: "nil",
	} {
		s := newServer(t, NodeConfig{Persistence: PersistAlways})
		s.say("SET k v PX 3000", "OK").say("HSET h f v", "1").say("PEXPIRE h 7200000", "1")
		s.node.down(time.Second)
		if _, err := s.node.start(up); err != nil {
			t.Fatal(err)
		}
		s.conn = newPeer(s.node)
		s.now = up
		s.say("GET k", want).say("HGET h f", "v").say("PTTL h", fmt.Sprint(7_200_000-up.Milliseconds()))
		s.at(3001*time.Millisecond+up).say("GET k", "nil")
	}
}

// TestClockSetWhileDown: the disk holds instants on the server's clock.
func TestClockSetWhileDown(t *testing.T) {
	s := newServer(t, NodeConfig{Persistence: PersistAlways})
	s.say("SET k v PX 3000", "OK")
	s.node.down(time.Second)
	s.node.step(-time.Second)
	if _, err := s.node.start(time.Second); err != nil {
		t.Fatal(err)
	}
	s.conn = newPeer(s.node)
	s.now = time.Second
	s.say("PTTL k", "3000")
}

// TestRestartRefusesOtherTypes: only strings and hashes can be brought back, and
// the run says so instead of losing anything.
func TestRestartRefusesOtherTypes(t *testing.T) {
	cfg := configOf(toyDo(cmd("rpush", "list", "a", "b")), "A")
	cfg.Nodes[0].Persistence = PersistAlways
	w := newWorld(t, cfg)
	run(t, w)
	inject(t, w, Down{"n1"})
	err := w.Inject(Up{"n1"})
	if want := `n1 cannot restart with key "list": only strings and hashes are persisted, this is (a list)`; err == nil || err.Error() != want {
		t.Errorf("%v, expected %s", err, want)
	}
}

// TestRestartForgets scripts, and what a connection had begun.
func TestRestartForgets(t *testing.T) {
	for p := PersistNone; p <= PersistAlways; p++ {
		s := newServer(t, NodeConfig{Persistence: p})
		s.say("SCRIPT LOAD return(1)", "930269f31393d0be681588b6ab08dccee7d6bb67").say("EVALSHA 930269f31393d0be681588b6ab08dccee7d6bb67 0", "1")
		s.node.down(0)
		if _, err := s.node.start(0); err != nil {
			t.Fatal(err)
		}
		s.conn = newPeer(s.node)
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
		s := newServer(t, NodeConfig{})
		other := newPeer(s.node)
		s.node.execute(0, other, strings.Fields(tc.before))
		s.say("WATCH k", "OK")
		s.at(tc.wait)
		s.node.execute(s.now, other, strings.Fields(tc.meanwhile))
		s.say("MULTI", "OK").say("DEL k", "QUEUED")
		reply, _ := s.node.execute(s.now, s.conn, []string{"EXEC"})
		if got := replyText(reply); got != tc.want {
			t.Errorf("%s: EXEC = %s, expected %s", tc.name, got, tc.want)
		}
	}
}

// TestTransactionOverTheSeam: WATCH, MULTI and EXEC as go-redis sends them, each an
// event of its own, on one connection; and again when somebody else has written.
func TestTransactionOverTheSeam(t *testing.T) {
	s := toy(watchedTake, watchedDrop)
	w := newWorld(t, configOf(s, "A"))
	run(t, w)
	expectStory(t, w, `
		0.001 n1 A: WATCH lock = OK
		0.003 n1 A: EXISTS lock = 0
		0.005 n1 A: MULTI = OK
		0.005 n1 A: SET lock A1 EX 10 = QUEUED
		0.005 n1 A: EXEC = [OK] [lock = A1 (10s left)]
		1.007 n1 A: WATCH lock = OK
		1.009 n1 A: GET lock = A1
		1.011 n1 A: MULTI = OK
		1.011 n1 A: DEL lock = QUEUED
		1.011 n1 A: EXEC = [1] [lock gone]`, KindExecute)

	w = newWorld(t, configOf(s, "A", "B"))
	run(t, w)
	expectStory(t, w, `
		0.006 A has the lock, token A1, lease until 10.004000
		0.006 B is refused`, KindGranted, KindRefused)
}

// TestPipeline: as many events as commands, in order, in each of its halves.
func TestPipeline(t *testing.T) {
	s := toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		pipe := l.rdb.Pipeline()
		pipe.SetNX(ctx, "k", "v", 0)
		pipe.Incr(ctx, "n")
		pipe.Get(ctx, "k")
		if _, err := pipe.Exec(ctx); err != nil {
			return nil, err
		}
		return nil, strategies.ErrNotAcquired
	}, toyKeep)
	w := newWorld(t, configOf(s, "A"))
	run(t, w)
	expectStory(t, w, `
		0     A  wants the lock
		0     A  -> n1 SET k v NX
		0     A  -> n1 INCR n
		0     A  -> n1 GET k
		0.001 n1 A: SET k v NX = OK [k = v (no expiry)]
		0.001 n1 A: INCR n = 1 [n = 1 (no expiry)]
		0.001 n1 A: GET k = v
		0.002 A  <- n1 OK
		0.002 A  <- n1 1
		0.002 A  <- n1 v
		0.002 A  is refused
		0.002 A  has finished`)
}

// TestPauseWithinAPipeline: a client can be held up between two commands of a
// pipeline; those that are sent are sent.
func TestPauseWithinAPipeline(t *testing.T) {
	s := toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
		pipe := l.rdb.Pipeline()
		pipe.Incr(ctx, "n")
		pipe.Incr(ctx, "n")
		_, err := pipe.Exec(ctx)
		return nil, err
	}, toyKeep)
	w := newWorld(t, configOf(s, "A"))
	until(t, w, "A", KindSend)
	w.Wait(time.Second)
	until(t, w, "A", KindSend)
	inject(t, w, Crash{"A"})
	run(t, w)
	expectStory(t, w, "0.001 n1 A: INCR n = 1 [n = 1 (no expiry)]\n1.001 n1 A: INCR n = 2 [n = 2 (no expiry)]", KindExecute)
}

// TestScriptFallback: EVALSHA, and EVAL where the server doesn't know the script;
// which is not a command more of the protocol.
func TestScriptFallback(t *testing.T) {
	cfg := config(t, "setpx-lua", "A")
	cfg.Cold = true
	w := newWorld(t, cfg)
	until(t, w, "A", KindRelease)
	run(t, w)
	got := story(w, KindExecute)
	if len(got) != 3 || !strings.HasSuffix(got[1], "EVALSHA script 1 lock A1 = error NOSCRIPT No matching script. Please use EVAL.") ||
		!strings.Contains(got[2], "EVAL ") || !strings.HasSuffix(got[2], "[lock gone]") {
		t.Errorf("%s", strings.Join(got, "\n"))
	}
	for _, e := range w.trace.Events {
		if e.Kind == KindExecute && e.Phase == PhaseRelease && e.Command != 1 {
			t.Errorf("%s is command %d of the release", CommandText(e.Args), e.Command)
		}
	}
}

// TestNodeDown: a server that is down refuses connections; a reply that was under
// way before still comes.
func TestNodeDown(t *testing.T) {
	w := newWorld(t, config(t, "setpx-lua", "A", "B"))
	until(t, w, "A", KindSend)
	until(t, w, "B", KindSend)
	w.Wait(time.Millisecond) // both have been executed
	inject(t, w, Down{"n1"})
	run(t, w)
	expectStory(t, w, `
		0.001 n1 A: SET lock A1 EX 10 NX = OK [lock = A1 (10s left)]
		0.001 n1 B: SET lock B1 EX 10 NX = nil
		0.001 n1 goes down [lock gone]
		0.002 A  has the lock, token A1, lease until 9.898000
		0.203 n1 is down: B's SET lock B2 EX 10 NX is not answered
		0.204 B  <- n1 connection refused
		0.204 B  gives up: n1: connection refused
		1.003 n1 is down: A's EVALSHA script 1 lock A1 is not answered
		1.004 A  <- n1 connection refused
		1.004 A  release failed: n1: connection refused`,
		KindExecute, KindDown, KindGranted, KindRefused, KindUnreachable, KindDisconnect, KindFailed, KindReleaseFailed)
}

// TestDownAndUp: down twice, or up twice, is once.
func TestDownAndUp(t *testing.T) {
	cfg := config(t, "setpx-lua", "A")
	cfg.Nodes[0].Persistence = PersistAlways
	w := newWorld(t, cfg)
	until(t, w, "A", KindGranted)
	inject(t, w, Up{"n1"}, Down{"n1"}, Down{"n1"})
	if w.State().Nodes[0].Up || w.State().LockRecord(0) != nil {
		t.Error("it is not down, or it still has something")
	}
	w.Wait(time.Second)
	inject(t, w, Up{"n1"}, Up{"n1"})
	expectStory(t, w, "0.002 n1 goes down [lock gone]\n1.002 n1 comes back, with what appendfsync always had kept [lock = A1 (8.999s left)]", KindDown, KindUp)
	if r := w.State().LockRecord(0); r == nil || r.Owner != (Acquisition{0, 1}) {
		t.Errorf("what came back is %+v", r)
	}
}

// TestTransactionIsLostWithItsConnection: a restart, or a failover, ends the
// connection that WATCH was sent over. What the client sends over it afterwards is
// not executed as if nothing had been watched.
func TestTransactionIsLostWithItsConnection(t *testing.T) {
	for name, faults := range map[string][]Fault{
		"restart":  {Down{"n1"}, Up{"n1"}},
		"failover": {Failover{To: "n1r1"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := toy(func(ctx context.Context, l *toyLock) (*strategies.Lease, error) {
				return &strategies.Lease{}, l.rdb.Watch(ctx, func(tx *redis.Tx) error {
					_, err := tx.TxPipelined(ctx, func(p redis.Pipeliner) error { return p.Set(ctx, l.key, l.Token(), 0).Err() })
					return err
				}, l.key)
			}, toyKeep)
			cfg := configOf(s, "A")
			cfg.Nodes[0].Persistence, cfg.Replicas = PersistAlways, 1
			w := newWorld(t, cfg)
			until(t, w, "A", KindReceive)
			inject(t, w, faults...)
			run(t, w)
			if w.State().LockRecord(w.State().Primary[0]) != nil || count(w, KindFailed) != 1 {
				t.Fatalf("it was executed:\n%s", strings.Join(story(w), "\n"))
			}
		})
	}
}

// TestShortcuts: what a node saves itself, with the commonest commands, is not
// missed. Its twin counts all TTLs down before each command and compares all keys
// after it, and both say and hold the same.
func TestShortcuts(t *testing.T) {
	seed := time.Now().UnixNano()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(uint64(seed), 0))
	for range 200 {
		quick, thorough := newServer(t, NodeConfig{}), newServer(t, NodeConfig{})
		both := []*dialogue{quick, thorough}
		others := []*peer{newPeer(quick.node), newPeer(thorough.node)}
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
					s.node.step(step)
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
				reply, changes := s.node.execute(s.now, conn, args)
				said[i] = replyText(reply) + changesText(changes)
			}
			if more := thorough.node.changed(thorough.now); len(more) > 0 {
				t.Fatalf("%s: %s, and nobody noticed %s", CommandText(args), said[1], changesText(more))
			}
			if said[0] != said[1] || !slices.EqualFunc(quick.node.known, thorough.node.known, sameKey) || quick.node.nextExpiry != thorough.node.nextExpiry {
				t.Fatalf("at %s: %s: %s\n%+v until %s\nand with nothing left out %s\n%+v until %s", quick.now, CommandText(args),
					said[0], quick.node.known, quick.node.nextExpiry, said[1], thorough.node.known, thorough.node.nextExpiry)
			}
		}
	}
}

// TestOtherDatabase: the node tells of database 0 alone. A SET in another one is none
// of its keys.
func TestOtherDatabase(t *testing.T) {
	s := newServer(t, NodeConfig{})
	say := func(p *peer, line string) {
		t.Helper()
		reply, changes := s.node.execute(s.now, p, strings.Fields(line))
		if text := replyText(reply); text != "OK" || len(changes) > 0 {
			t.Errorf("%s: %s%s", line, text, changesText(changes))
		}
	}
	say(s.conn, "SELECT 1")
	say(s.conn, "SET k 1 PX 100")
	say(s.conn, "SET k 2")
	other := newPeer(s.node)
	s.node.execute(s.now, other, []string{"GET", "k"})
	s.node.execute(s.now, other, []string{"EVAL", "return redis.call('SELECT', 2)", "0"}) // miniredis stays there; Redis would not
	say(other, "SET k 3 PX 100")
	if s.node.nextExpiry != Never || len(s.node.known) > 0 {
		t.Errorf("it knows %+v until %s", s.node.known, s.node.nextExpiry)
	}
}

func sameKey(a, b stored) bool { return a.key == b.key && a.value == b.value && a.when == b.when }

func changesText(changes []Change) (text string) {
	for _, c := range changes {
		text += fmt.Sprintf(" %s %+v %+v %t", c.Key, c.Before, c.After, c.Stored)
	}
	return text
}

func randomCommand(r *rand.Rand) []string {
	key, number := "k"+strconv.Itoa(r.IntN(3)), strconv.Itoa(1+r.IntN(6000))
	lines := []string{
		"SET K N", "SET K N PX N", "SET K N PX N NX", "SET K N NX", "SET K N XX PX N", "SET K N KEEPTTL", "SET K 7 XX KEEPTTL", "SET K N GET PX N",
		"SET K N PXAT " + strconv.FormatInt(Epoch.UnixMilli()+r.Int64N(20000), 10), "SET K 7 IFEQ 7", "SETNX K 7", "GETSET K 7", "PSETEX K N 7",
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
