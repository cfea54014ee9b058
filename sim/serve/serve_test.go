package serve_test

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/resp"
	"lockstep/sim/serve"
	"lockstep/sim/spawn"
	"lockstep/sim/testenv"
	"lockstep/sim/trace"
)

// stuck is the real time after which a test that waits for a reply fails. Nothing depends on it.
const stuck = time.Minute

// server is a server whose time stands still unless a test says otherwise.
type server struct {
	*serve.Server
	t *testing.T
}

func listen(t *testing.T, cfg serve.Config) *server {
	t.Helper()
	s, err := serve.Listen(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &server{s, t}
}

func (s *server) do(controls ...string) {
	s.t.Helper()
	for _, c := range controls {
		if err := s.Do(c); err != nil {
			s.t.Fatalf("%s: %s", c, err)
		}
	}
}

// client is a connection to it.
type client struct {
	net.Conn
	t  *testing.T
	in *bufio.Reader
}

func (s *server) dial(name string) *client {
	s.t.Helper()
	conn, err := net.Dial("tcp", s.Addresses()[0])
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	c := &client{conn, s.t, bufio.NewReader(conn)}
	if err := conn.SetDeadline(time.Now().Add(stuck)); err != nil {
		s.t.Fatal(err)
	}
	if name != "" {
		c.say("CLIENT SETNAME "+name, "OK")
	}
	return c
}

func (c *client) send(line string) {
	c.t.Helper()
	if _, err := c.Write(resp.Append(nil, strings.Fields(line)...)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) receives(want string) {
	c.t.Helper()
	reply, err := resp.Read(c.in)
	if err != nil {
		c.t.Fatalf("no reply, want %q: %s", want, err)
	}
	if got := resp.Text(reply); got != want {
		c.t.Errorf("got %q, want %q", got, want)
	}
}

// say sends a command, and checks its reply.
func (c *client) say(line, want string) {
	c.t.Helper()
	c.send(line)
	c.receives(want)
}

// ends waits for the end of the connection.
func (c *client) ends() {
	c.t.Helper()
	if b, err := c.in.ReadByte(); err == nil {
		c.t.Errorf("there is a %q where the connection should end", b)
	}
}

// waits waits until so many requests are on their way.
func (s *server) waits(n int) []serve.Waiting {
	s.t.Helper()
	var w []serve.Waiting
	s.until(fmt.Sprint(n, " requests are on their way"), func() bool {
		w = s.View().Waiting
		return len(w) == n
	})
	return w
}

func (s *server) until(what string, is func() bool) {
	s.t.Helper()
	over, next := time.NewTimer(stuck), time.NewTicker(time.Millisecond)
	defer over.Stop()
	defer next.Stop()
	for !is() {
		select {
		case <-next.C:
		case <-over.C:
			s.t.Fatalf("waited in vain until %s", what)
		}
	}
}

// story is the kinds of a trace's events, by actor, without those of the network.
func (s *server) story() string {
	var words []string
	t := s.Trace()
	for i := range t.Events {
		if e := &t.Events[i]; e.Kind != trace.KindNetwork {
			words = append(words, t.Actor(e)+":"+e.Kind.String())
		}
	}
	return strings.Join(words, " ")
}

func TestWhatHappensIsRecorded(t *testing.T) {
	s := listen(t, serve.Config{Stopped: true})
	a, b := s.dial("A"), s.dial("B")
	a.say("SET lock A1 NX PX 3000", "OK")
	b.say("SET lock B1 NX PX 3000", "nil")
	s.do("advance 3001ms")
	b.say("SET lock B1 NX PX 3000", "OK")
	a.say("DEL lock", "1")
	want := "A:acquire A:send n1:execute A:receive A:granted B:acquire B:send n1:execute B:receive B:refused n1:expire A:lapse " +
		"B:acquire B:send n1:execute B:receive B:granted A:release A:send n1:execute A:receive A:released"
	s.until("the last reply is recorded", func() bool { return strings.HasSuffix(s.story(), "A:released") })
	if got := s.story(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	tr := s.Trace()
	if got := tr.Verdict().String(); got != "FR" || tr.Key != "lock" {
		t.Errorf("verdict %s on %s", got, tr.Key)
	}
	if at := tr.Events[len(tr.Events)-1].At; at != 3001*time.Millisecond {
		t.Errorf("time stands at %s", at)
	}
}

// One command is all of redis-cli's connection, and the next is another client: nobody believes any more in the lease of
// the first when that is over. A client with a name may come back.
func TestEndedConnections(t *testing.T) {
	for _, tc := range []struct {
		name  string
		first bool // the connection ends before the lease
		gone  bool
	}{{"", true, true}, {"", false, true}, {"A", true, false}, {"A", false, false}} {
		s := listen(t, serve.Config{Stopped: true})
		a := s.dial(tc.name)
		a.say("SET lock A1 NX PX 3000", "OK")
		s.until("it is granted", func() bool { return strings.HasSuffix(s.story(), ":granted") })
		hangUp := func() {
			_ = a.Close()
			s.until("it ends", func() bool { return s.View().Connections == 0 })
		}
		if tc.first {
			hangUp()
			if got := s.story(); !strings.HasSuffix(got, ":granted") {
				t.Errorf("%+v: the lease goes on, and yet %s", tc, got)
			}
		}
		s.do("advance 3001ms")
		if !tc.first {
			hangUp()
		}
		if got := s.story(); strings.HasSuffix(got, ":crash") != tc.gone {
			t.Errorf("%+v: %s", tc, got)
		}
	}
}

// Two holders at one instant: A's record is lost, not its lease.
func TestTwoHolders(t *testing.T) {
	for _, tc := range []struct{ fault, verdict string }{{"restart", "DG"}, {"evict", "DG"}, {"jump 3001ms", "DG"}, {"advance 3001ms", "ok"}} {
		s := listen(t, serve.Config{Stopped: true})
		a := s.dial("A")
		a.say("SET lock A1 NX PX 3000", "OK")
		s.do(tc.fault)
		s.dial("B").say("SET lock B1 NX PX 3000", "OK")
		s.until("B is granted", func() bool { return strings.HasSuffix(s.story(), "B:granted") })
		if got := s.Trace().Verdict().String(); got != tc.verdict {
			t.Errorf("%s: %s, want %s", tc.fault, got, tc.verdict)
		}
	}
}

// A majority of three is a grant, and one node isn't.
func TestMajority(t *testing.T) {
	s := listen(t, serve.Config{Stopped: true, Nodes: 3})
	for i, address := range s.Addresses()[:2] {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close() //nolint:errcheck // nothing more is expected from it
		c := &client{conn, t, bufio.NewReader(conn)}
		c.say("CLIENT SETNAME A", "OK")
		c.say("SET lock A1 NX PX 3000", "OK")
		s.until("the reply is recorded", func() bool { return strings.Count(s.story(), "A:receive") == i+1 })
		s.View()
		if granted := strings.Contains(s.story(), "A:granted"); granted != (i == 1) {
			t.Errorf("with %d nodes, granted is %t", i+1, granted)
		}
	}
}

func TestGate(t *testing.T) {
	s := listen(t, serve.Config{Stopped: true, Hold: true})
	a, b := s.dial("A"), s.dial("B")
	a.send("INCR n")
	s.waits(1)
	b.send("INCR n")
	w := s.waits(2)
	if w[0].Client != "A" || w[1].Why != "held" {
		t.Fatal(w)
	}
	s.do(fmt.Sprint("release ", w[1].ID))
	b.receives("1")
	s.do("release A")
	a.receives("2")

	a.send("INCR n")
	s.waits(1)
	s.do("late A 5s")
	s.waits(1)
	b.send("GET n")
	s.waits(2)
	s.do("release B")
	b.receives("3") // it is executed, and its reply isn't there yet
	s.do("advance 4999ms")
	s.waits(1)
	s.do("advance 1ms")
	a.receives("3")

	a.send("INCR n")
	s.waits(1)
	s.do("delay A 5s", "open")
	b.say("GET n", "3")
	s.do("advance 5s")
	a.receives("4")

	c := s.dial("C") // its process ends, and its request is still on the way
	s.do("hold C")
	c.send("INCR n")
	s.waits(1)
	_ = c.Close()
	s.until("it is gone", func() bool { return s.View().Connections == 2 })
	b.say("GET n", "4")
	s.do("release C")
	b.say("GET n", "5")
	b.say("DECR n", "4")

	s.do("hold A")
	b.say("GET n", "4")
	a.send("GET n")
	s.waits(1)
	s.do("open A")
	a.receives("4")
}

func TestLosses(t *testing.T) {
	s := listen(t, serve.Config{Stopped: true})
	a, b := s.dial("A"), s.dial("B")
	s.do("next A lose-reply")
	a.send("INCR n")
	a.send("INCR n")
	s.until("both are executed", func() bool { return strings.Count(s.story(), "n1:execute") == 2 })
	b.say("GET n", "2")
	a = s.dial("A")
	s.do("next A drop")
	a.send("INCR n")
	a.send("INCR n") // nothing after it arrives either
	s.until("it is lost", func() bool { return strings.HasSuffix(s.story(), "lost") })
	b.say("GET n", "2")
	s.do("cut B")
	b.send("INCR n")
	s.until("it is lost", func() bool { return strings.Count(s.story(), "lost") == 3 })
	s.do("heal B")
	b = s.dial("B")
	b.say("GET n", "2")
	s.do("kick B")
	b.ends()
}

func TestNodes(t *testing.T) {
	s := listen(t, serve.Config{Stopped: true, Persistence: 2, Start: 1_700_000_000 * time.Second})
	a := s.dial("A")
	a.say("SET lock A1 PXAT 1700000003000", "OK")
	a.say("PTTL lock", "3000")
	s.do("down")
	a.ends()
	conn, err := net.Dial("tcp", s.Addresses()[0])
	if err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err == nil {
		t.Error("a node that is down talks")
	}
	s.do("up")
	a = s.dial("A")
	a.say("GET lock", "A1")
	a.say("EVAL return(1) 0", "1")
	s.do("flush-scripts")
	a.say("EVALSHA e0e1f9fabfc9d4800c877a703b823ac0578ff8db 0", "error NOSCRIPT No matching script. Please use EVAL.")
	s.do("jump 2s")
	a.say("PTTL lock", "1000")
	s.do("say a remark")
	if notes := s.Trace().Notes; len(notes) != 1 || notes[0].Text != "a remark" {
		t.Error(notes)
	}
}

// Commands that wait, and messages.
func TestWaitingAtTheNode(t *testing.T) {
	s := listen(t, serve.Config{Stopped: true})
	a, b := s.dial("A"), s.dial("B")
	a.send("BLPOP list 0")
	s.waits(1)
	b.say("RPUSH list x", "1")
	a.receives("[list, x]")
	a.send("BLPOP list 2")
	s.waits(1)
	s.do("advance 2s")
	a.receives("nil")
	a.say("SUBSCRIBE c", "[subscribe, c, 1]")
	b.say("PUBLISH c hello", "1")
	a.receives("[message, c, hello]")
}

func TestRefusedControls(t *testing.T) {
	s := listen(t, serve.Config{Stopped: true, Nodes: 2})
	for control, want := range map[string]string{
		"drap A":          `unknown control "drap"; did you mean "drop"?`,
		"zzzzzzzz A":      `unknown control "zzzzzzzz": it is one of hold, open`,
		"drop":            "the form is drop REQUEST",
		"drop A":          "no request is on its way",
		"advance":         "the form is advance SPAN",
		"advance 5":       `"5" is no length of time: write 5s`,
		"advance -1s":     "time doesn't go back",
		"advance 300000h": "the longest is",
		"restart":         "which node? There are n1, n2",
		"evict n1":        "n1 has no record of the lock",
		"up n1":           "n1 is up already",
		"next A lose":     `"lose" can't be done to a request: it is one of hold, drop`,
		"next A late":     "the form is next CLIENT",
	} {
		if err := s.Do(control); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", control, err, want)
		}
	}
	if got := s.story(); got != "" {
		t.Errorf("a control that is refused leaves %s", got)
	}
}

func TestHandshakes(t *testing.T) {
	s := listen(t, serve.Config{Stopped: true})
	c := s.dial("")
	c.say("HELLO 4", "error NOPROTO unsupported protocol version")
	c.say("HELLO 2 SETNAME A", "[server, redis, version, 7.0.15, proto, 2, id, 1, mode, standalone, role, master, modules, []]")
	c.say("CLIENT SETINFO LIB-NAME x", "OK")
	c.say("CLIENT MAINT_NOTIFICATIONS ON", "error ERR unknown subcommand 'MAINT_NOTIFICATIONS'. Try CLIENT HELP.")
	c.say("CLIENT GETNAME", "A")
	c.say("CLIENT ID", "1")
	c.say("SELECT 0", "OK")
	c.say("SELECT 1", "error ERR DB index is out of range")
	c.say("CONFIG GET appendonly", "[appendonly, no]")
	c.say("COMMAND DOCS", "[]")
	c.say("AUTH x", "error ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?")
	c.say("PING", "PONG")
	c.say("SHUTDOWN", "error ERR SHUTDOWN is not simulated")
	if len(s.Trace().Events) != 0 {
		t.Errorf("a handshake is recorded: %s", s.story())
	}
	c.say("QUIT", "OK")
	c.ends()
}

// TestRESP3: go-redis speaks it unless it is told otherwise.
func TestRESP3(t *testing.T) {
	s := listen(t, serve.Config{Stopped: true})
	rdb := redis.NewClient(&redis.Options{Addr: s.Addresses()[0], ClientName: "go"})
	defer rdb.Close() //nolint:errcheck // nothing more is expected from it
	ctx := context.Background()
	if err := rdb.Get(ctx, "missing").Err(); err != redis.Nil { //nolint:errorlint // as its documentation compares it
		t.Error(err)
	}
	if n, err := rdb.HSet(ctx, "h", "f", "v").Result(); n != 1 || err != nil {
		t.Error(n, err)
	}
	if m, err := rdb.HGetAll(ctx, "h").Result(); m["f"] != "v" || err != nil {
		t.Error(m, err)
	}
	sub := rdb.Subscribe(ctx, "c")
	defer sub.Close() //nolint:errcheck // nothing more is expected from it
	if _, err := sub.Receive(ctx); err != nil {
		t.Fatal(err)
	}
	if n, err := rdb.Publish(ctx, "c", "hello").Result(); n != 1 || err != nil {
		t.Error(n, err)
	}
	if m, err := sub.ReceiveMessage(ctx); err != nil || m.Payload != "hello" {
		t.Error(m, err)
	}
	if v, err := rdb.Do(ctx, "HELLO", "3").Result(); err != nil || fmt.Sprint(v.(map[any]any)["proto"]) != "3" {
		t.Error(v, err)
	}
}

func TestPassword(t *testing.T) {
	s := listen(t, serve.Config{Stopped: true, Password: "secret"})
	c := s.dial("")
	c.say("GET k", "error NOAUTH Authentication required.")
	c.say("CLIENT SETNAME A", "error NOAUTH Authentication required.")
	c.say("AUTH wrong", "error WRONGPASS invalid username-password pair or user is disabled.")
	c.say("AUTH nobody secret", "error WRONGPASS invalid username-password pair or user is disabled.")
	c.say("GET k", "error NOAUTH Authentication required.")
	c.say("AUTH default secret", "OK")
	c.say("GET k", "nil")
	c.say("RESET", "RESET")
	c.say("GET k", "error NOAUTH Authentication required.")
	rdb := redis.NewClient(&redis.Options{Addr: s.Addresses()[0], Password: "secret", ClientName: "go"})
	defer rdb.Close() //nolint:errcheck // nothing more is expected from it
	if ok, err := rdb.SetNX(context.Background(), "lock", "g1", 3*time.Second).Result(); !ok || err != nil {
		t.Error(ok, err)
	}
	s.until("it is granted", func() bool { return strings.HasSuffix(s.story(), "go:granted") })
}

func TestLimits(t *testing.T) {
	s := listen(t, serve.Config{Stopped: true, MaxClients: 2, MaxRequest: 1000, MaxReplies: 4000, MaxRecord: 20_000})
	a := s.dial("A")
	b := s.dial("")
	over, err := net.Dial("tcp", s.Addresses()[0])
	if err != nil {
		t.Fatal(err)
	}
	(&client{over, t, bufio.NewReader(over)}).receives("error ERR max number of clients reached")

	b.send("SET k " + strings.Repeat("x", 2000))
	b.receives("error ERR Protocol error: a request of more than 1000 bytes")
	b.ends()
	s.until("it is gone", func() bool { return s.View().Connections == 1 })
	b = s.dial("")
	if _, err := fmt.Fprintf(b, "*1\r\n$5000\r\n%s", strings.Repeat("x", 2000)); err != nil {
		t.Fatal(err)
	}
	b.receives("error ERR Protocol error: a request of more than 1000 bytes")

	full := "error ERR the record is full, so that nothing is lost: save it, and start the server again"
	for !s.View().Full {
		a.say("SET k v", "OK")
	}
	a.say("INCR k", full)
	if v := s.View(); len(v.Trace.Events) > 60 {
		t.Errorf("the record has %d events", len(v.Trace.Events))
	}
}

// A client that doesn't read its replies loses its connection, and nobody else waits for it.
func TestSlowReader(t *testing.T) {
	s := listen(t, serve.Config{Stopped: true, MaxReplies: 1 << 16})
	slow, other := s.dial("slow"), s.dial("other")
	other.say("SET k "+strings.Repeat("x", 1<<15), "OK")
	get := resp.Append(nil, "GET", "k")
	var wrote sync.WaitGroup
	wrote.Go(func() {
		for {
			if _, err := slow.Write(get); err != nil {
				return
			}
		}
	})
	s.until("it is disconnected", func() bool {
		other.say("PING", "PONG")
		return s.View().Connections == 1
	})
	wrote.Wait()
	tr := s.Trace()
	sent := 0
	for i := range tr.Events {
		if e := &tr.Events[i]; e.Kind == trace.KindNetwork && strings.Contains(e.Note, "it doesn't read its replies") {
			sent++
		}
	}
	if sent != 1 {
		t.Errorf("%d connections are said not to read", sent)
	}
}

// A thousand connections at a time (200 where tests are quick), each of which is reset as soon as it has sent a command: each
// command is recorded.
func TestThousandConnections(t *testing.T) {
	n := testenv.Quick(200, 1000)
	s := listen(t, serve.Config{Stopped: true})
	var conns []*client
	for range n {
		conns = append(conns, s.dial("crowd"))
	}
	if v := s.View(); v.Connections != n {
		t.Errorf("%d connections", v.Connections)
	}
	for i, c := range conns {
		c.send("INCR n")
		if i%2 == 0 {
			c.receives(fmt.Sprint(i + 1))
		} else {
			s.until("it is executed", func() bool { return executed(s) > i })
		}
		_ = c.Conn.(*net.TCPConn).SetLinger(0) // its end is a reset, as that of a killed process may be
		_ = c.Close()
	}
	s.until("all are gone", func() bool { return s.View().Connections == 0 })
	if got := executed(s); got != n {
		t.Errorf("%d of %d commands are recorded", got, n)
	}
}

func executed(s *server) (n int) {
	t := s.View().Trace
	for i := range t.Events {
		if t.Events[i].Kind == trace.KindExecute {
			n++
		}
	}
	return n
}

// A process that is killed with SIGKILL in the middle of its work: the counter says how many of its
// commands were executed, and the record has as many.
func TestKilledClients(t *testing.T) {
	cli, err := exec.LookPath("redis-cli")
	testenv.Need(t, err)
	s := listen(t, serve.Config{Stopped: true})
	host, port, err := net.SplitHostPort(s.Addresses()[0])
	if err != nil {
		t.Fatal(err)
	}
	folder, err := spawn.New("lockstep-serve-")
	testenv.Need(t, err)
	defer folder.Close() //nolint:errcheck // a folder of the test's
	for i := range 3 {
		p, err := folder.Start(exec.Command(cli, "-h", host, "-p", port, "-r", "1000000", "INCR", "n"))
		if err != nil {
			t.Fatal(err)
		}
		s.until("it is at work", func() bool { return executed(s) > (i+1)*50 })
		p.Kill()
		s.until("it is gone", func() bool { return s.View().Connections == 0 })
	}
	recorded := executed(s)
	s.dial("").say("GET n", fmt.Sprint(recorded))
}

// FuzzBytes sends a server whatever it is: it survives, and serves others.
func FuzzBytes(f *testing.F) {
	s, err := serve.Listen(serve.Config{Stopped: true, MaxRequest: 4096, MaxRecord: 1 << 40})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { _ = s.Close() })
	for _, seed := range []string{"", "PING\r\n", "*1\r\n$4\r\nPING\r\n", "*-1\r\n", "*0\r\n", "*1\r\n$-1\r\n", "*99999999\r\n", "*2\r\n$3\r\nGET\r\n$99999999999\r\n",
		"*1\r\n$4\r\nPINGXX", "$3\r\nfoo\r\n", "*3\r\n$4\r\nEVAL\r\n$6\r\nreturn\r\n$1\r\n0\r\n", "*1\r\n$0\r\n\r\n", "*2\r\n$5\r\nBLPOP\r\n$1\r\nx\r\n", "*1\r\n$5\r\nMULTI\r\n*1\r\n$4\r\nEXEC\r\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, b []byte) { survives(t, &server{s, t}, b) })
}

// survives sends bytes, and then asks on another connection whether the server is still well.
func survives(t *testing.T, s *server, b []byte) {
	t.Helper()
	conn, err := net.Dial("tcp", s.Addresses()[0])
	if err != nil {
		t.Fatal(err)
	}
	_, _ = conn.Write(b) // the server may have closed it already
	_ = conn.Close()
	c := s.dial("")
	c.say("PING", "PONG")
	_ = c.Close()
}

// TestMalformedRequests sends commands with random bytes changed, left out or put in.
func TestMalformedRequests(t *testing.T) {
	r := rand.New(rand.NewPCG(testenv.Seed(t), 1))
	s := listen(t, serve.Config{Stopped: true, MaxRequest: 4096})
	for range 300 {
		var b []byte
		for range 1 + r.IntN(4) {
			b = resp.Append(b, [][]string{{"SET", "k", "v", "NX", "PX", "100"}, {"GET", "k"}, {"MULTI"}, {"EXEC"}, {"EVAL", "return redis.call('GET', KEYS[1])", "1", "k"},
				{"CLIENT", "SETNAME", "x"}, {"HELLO", "2", "AUTH", "a", "b"}, {"SUBSCRIBE", "c"}, {"BLPOP", "l", "0"}, {"WAIT", "1", "0"}, {"CONFIG", "GET", "*"}, {"RESET"}}[r.IntN(12)]...)
		}
		for range r.IntN(4) {
			i := r.IntN(len(b))
			switch r.IntN(3) {
			case 0:
				b[i] = byte(r.IntN(256))
			case 1:
				b = append(b[:i], b[i+1:]...)
			case 2:
				b = append(b[:i], append([]byte{"*$\r\n19-"[r.IntN(7)]}, b[i:]...)...)
			}
		}
		survives(t, s, b)
	}
}

// TestAnEndlessScriptStopsNobody: the client that sent it gets an error, and the others are
// served.
func TestAnEndlessScriptStopsNobody(t *testing.T) {
	s := listen(t, serve.Config{})
	a, b := s.dial("A"), s.dial("B")
	const text = "while true do end"
	if _, err := a.Write(resp.Append(nil, "EVAL", text, "0")); err != nil {
		t.Fatal(err)
	}
	b.say("PING", "PONG")
	reply, err := resp.Read(a.in)
	if err != nil {
		t.Fatal(err)
	}
	if got := resp.Text(reply); !strings.Contains(got, "the script doesn't end") || !strings.Contains(got, "user_script:1") {
		t.Errorf("the script's client gets %q", got)
	}
	a.say("PING", "PONG")
}

// Two threads share an object of redis-py's Lock. What each can release depends on thread_local,
// as docs/adapters/README.md shows.
func TestThreadLocal(t *testing.T) {
	const script = "../../docs/adapters/python/thread_local.py"
	python := ""
	var err error
	for _, p := range []string{"python3", "/usr/bin/python3"} {
		if err = exec.Command(p, "-c", "import redis").Run(); err == nil {
			python = p
			break
		}
	}
	testenv.Need(t, err)
	s := listen(t, serve.Config{Stopped: true})
	said, err := exec.CommandContext(t.Context(), python, script, s.Addresses()[0]).CombinedOutput() //nolint:gosec // a file of ours
	if err != nil {
		t.Fatalf("%s\n%s", err, said)
	}
	page, err := os.ReadFile("../../docs/adapters/README.md")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(page), "\n```\n"+string(said)+"```\n") {
		t.Errorf("docs/adapters/README.md doesn't show what is printed:\n%s", said)
	}
}
