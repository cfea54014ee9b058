package redis

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"lockstep/sim/redis/redistest"
	"lockstep/sim/resp"
	"lockstep/sim/testenv"
)

// conversations are dialogues in which a server also sends what it was not asked for: "A hears"
// reads one more message of A's connection, and one without words, such as "A SUBSCRIBE a b",
// reads only the first of several replies. At the end nothing may be left to read.
var conversations = []struct{ name, lines string }{
	{"a channel", `
		B PUBLISH c early
		A SUBSCRIBE c
		B PUBLISH c hello
		A hears
		B PUBLISH d hello
		B PUBLISH C hello
		A UNSUBSCRIBE c
		B PUBLISH c late
		A GET k`},
	{"two channels, two subscribers", `
		A SUBSCRIBE c d c
		A hears
		A hears
		B SUBSCRIBE d
		C PUBLISH d 1
		A hears
		B hears
		C PUBLISH c 2
		A hears
		A UNSUBSCRIBE d c
		A hears
		B UNSUBSCRIBE nothing`},
	{"nothing to leave", `
		A UNSUBSCRIBE
		A PUNSUBSCRIBE
		A UNSUBSCRIBE c
		A PUNSUBSCRIBE p*`},
	{"patterns", `
		A PSUBSCRIBE lock:* l?ck-[a-c] [^lx]* \*
		A hears
		A hears
		A hears
		B PUBLISH lock:b one
		A hears
		B PUBLISH lock-b two
		A hears
		B PUBLISH lock-d none
		B PUBLISH xyz none
		B PUBLISH **** three
		A hears
		A SUBSCRIBE lock:d
		B PUBLISH lock:d 'the channel first'
		A hears
		A hears
		A PUNSUBSCRIBE lock:* \* [^lx]*
		A hears
		A hears
		B PUBLISH lock-c four
		A hears
		A PUNSUBSCRIBE
		A UNSUBSCRIBE`},
	{"sets", `
		A PSUBSCRIBE [c-a]1 [a\]]2 [ab x[^
		A hears
		A hears
		A hears
		B PUBLISH b1 x
		A hears
		B PUBLISH ]2 x
		A hears
		B PUBLISH a x
		A hears
		B PUBLISH x x
		B PUBLISH xy x
		A hears`},
	{"a subscriber asks for nothing else", `
		A SUBSCRIBE c
		A GET k
		A PUBLISH c x
		A MULTI
		A PING
		A PING hello
		A BLPOP k 0
		A UNSUBSCRIBE c
		A PING
		A SET k v`},
	{"a script and a transaction publish", `
		A SUBSCRIBE c
		B EVAL 'redis.call("PUBLISH", "c", "1") return redis.call("PUBLISH", "c", "2")' 0
		A hears
		A hears
		B MULTI
		B PUBLISH c 3
		B SET k v
		B EVAL 'return redis.call("PUBLISH", "c", "4")' 0
		B EXEC
		A hears
		A hears
		B EVAL 'return redis.pcall("SUBSCRIBE", "c")' 0`},
	{"a transaction subscribes", `
		A MULTI
		A SUBSCRIBE c
		A SUBSCRIBE
		A EXEC
		A MULTI
		A PUBLISH c x
		A SUBSCRIBE c
		A EXEC
		B PUBLISH c 2
		A hears`},
	{"in the order of publishing", `
		A SUBSCRIBE c
		A PSUBSCRIBE *
		B PUBLISH c 1
		A hears
		A hears
		B PUBLISH c 2
		A hears
		A hears`},
	{"the longest wait first", `
		A sends BLPOP k 0
		B sends BRPOP j k 0
		C RPUSH k 1
		A hears
		C RPUSH k 2 3
		B hears
		C LRANGE k 0 -1`},
	{"each brings another its element", `
		A sends BLMOVE j k LEFT RIGHT 0
		B sends BLPOP k 0
		C RPUSH j 1
		A hears
		B hears
		C EXISTS j k`},
	{"other types", `
		A sends BLPOP k 0
		C SET k v
		C DEL k
		C ZADD k 1 m
		C DEL k
		C LPUSH k 1
		A hears
		A sends BZPOPMIN k 0
		C ZADD k 2 m 1.5 n
		A hears
		C SET k v
		A BLPOP k 0
		A BZPOPMAX k 0
		A BRPOPLPUSH k j 0`},
	{"no wait", `
		A RPUSH k 1 2 3
		A BLPOP j k 0
		A BRPOP k j 1
		A BRPOPLPUSH k j 0
		A BLMOVE j j LEFT LEFT 1
		A ZADD z 1 m
		A BZPOPMAX z 0
		A BLPOP k nonsense
		A BLPOP k -1
		A BLPOP k
		A BLMOVE j k LEFT 0
		A MULTI
		A BLPOP none 0
		A EXEC`},
	{"malformed", `
		A PUBLISH
		A PUBLISH c
		A PUBLISH c 1 2
		A SUBSCRIBE
		A PSUBSCRIBE`},
}

func TestConversationsAgainstRedis(t *testing.T) {
	server, node := startRedis(t), newServer(t, Config{}).node
	for _, d := range conversations {
		t.Run(d.name, func(t *testing.T) {
			server.dial(t).ask(t, "FLUSHALL")
			node.Reset(Config{})
			(&conversation{server: server, node: node}).run(t, d.lines)
		})
	}
}

// stream is one connection to the node, with what it has been sent and has not read.
type stream struct {
	peer *Peer
	sent bytes.Buffer
}

// read reads one reply or message, or nothing.
func (s *stream) read(t *testing.T) string {
	t.Helper()
	if s.sent.Len() == 0 {
		return "nothing"
	}
	in := bufio.NewReader(bytes.NewReader(s.sent.Bytes()))
	var one strings.Builder
	if err := (&realConn{in: in}).read(&one); err != nil {
		t.Fatal(err)
	}
	s.sent.Next(one.Len())
	return one.String()
}

// conversation is one dialogue of three connections with a real server and with a node.
type conversation struct {
	server  *realRedis
	node    *Node
	real    map[string]*realConn
	streams map[string]*stream
	waiting []string // the connections whose command waits, the longest wait first
	words   map[string][]string
}

func (c *conversation) run(t *testing.T, lines string) {
	t.Helper()
	names := []string{"A", "B", "C"}
	c.real, c.streams, c.words = map[string]*realConn{}, map[string]*stream{}, map[string][]string{}
	for _, name := range names {
		c.real[name], c.streams[name] = c.server.dial(t), &stream{peer: NewPeer(c.node)}
	}
	for line := range strings.Lines(lines) {
		if words := quoted(line); len(words) > 0 {
			c.say(t, words[0], words[1:])
		}
	}
	for _, name := range names {
		c.say(t, name, []string{"PING", "end"})
	}
}

func (c *conversation) say(t *testing.T, name string, words []string) {
	t.Helper()
	var redis strings.Builder
	switch words[0] {
	case "sends":
		words = words[1:]
		if _, err := io.WriteString(c.real[name], onTheWire(words)); err != nil {
			t.Fatal(err)
		}
		c.execute(name, words)
		for blocked := ""; blocked != fmt.Sprintf("blocked_clients:%d\r\n", len(c.waiting)); { // or another connection might overtake it
			info := c.server.dial(t).ask(t, "INFO", "clients")
			_, after, _ := strings.Cut(info, "blocked_clients:")
			count, _, _ := strings.Cut(after, "\n")
			blocked = "blocked_clients:" + count + "\n"
		}
		return
	case "hears":
		if err := c.real[name].read(&redis); err != nil {
			t.Fatal(err)
		}
	default:
		redis.WriteString(c.real[name].ask(t, words...))
		c.execute(name, words)
	}
	if got := c.streams[name].read(t); got != redis.String() {
		t.Errorf("%s %s\n\tRedis %q\n\tnode  %q", name, strings.Join(words, " "), redis.String(), got)
	}
}

// execute executes a command at the node, and then those that have waited for it.
func (c *conversation) execute(name string, words []string) {
	reply, _ := c.node.Execute(0, c.streams[name].peer, words)
	if c.node.Blocked() || bytes.HasPrefix(reply, []byte("-WRONGTYPE")) && slices.Contains(c.waiting, name) {
		if !slices.Contains(c.waiting, name) {
			c.waiting, c.words[name] = append(c.waiting, name), words
		}
		return
	}
	c.waiting = slices.DeleteFunc(c.waiting, func(w string) bool { return w == name })
	c.streams[name].sent.Write(reply)
	for _, m := range c.node.Pushes() {
		for _, s := range c.streams {
			if s.peer == m.To {
				s.sent.Write(m.Message)
			}
		}
	}
	for _, w := range slices.Clone(c.waiting) {
		if slices.Contains(c.waiting, w) {
			c.execute(w, c.words[w])
		}
	}
}

// TestKeyspaceNotifications: they are published as they were asked for, of commands alone, in scripts and in
// transactions, and of keys that go by themselves.
func TestKeyspaceNotifications(t *testing.T) {
	s := newServer(t, Config{})
	p, heard := NewPeer(s.node), NewPeer(s.node)
	var got []string
	hear := func() {
		for _, m := range s.node.Pushes() {
			got = append(got, resp.Text(m.Message))
		}
	}
	do := func(words ...string) string {
		reply, _ := s.node.Execute(0, p, words)
		text := string(reply)
		hear()
		return text
	}
	s.node.Execute(0, heard, []string{"PSUBSCRIBE", "__key*__:*"})
	do("SET", "unheard", "v")
	if reply := do("CONFIG", "SET", "notify-keyspace-events", "Q"); !strings.HasPrefix(reply, "-ERR CONFIG SET failed") {
		t.Error(reply)
	}
	do("CONFIG", "SET", "notify-keyspace-events", "EA")
	do("SET", "k", "v", "PX", "5000")
	do("SET", "k", "v", "NX")
	do("DEL", "none")
	do("EVAL", `redis.call("DEL", KEYS[1]) return redis.call("RPUSH", "l", "a")`, "1", "k")
	do("MULTI")
	do("LPOP", "l")
	do("PERSIST", "l")
	do("EXEC")
	do("CONFIG", "SET", "notify-keyspace-events", "Kx")
	do("SETEX", "k", "1", "v")
	s.node.Expire(2 * time.Second)
	hear()
	do("CONFIG", "SET", "notify-keyspace-events", "KEe")
	do("SET", "k", "v")
	s.node.Evict(2*time.Second, "k")
	hear()
	do("CONFIG", "SET", "notify-keyspace-events", "")
	do("DEL", "unheard")
	var want []string
	for _, e := range []string{"event set k", "event expire k", "event del k", "event rpush l", "event lpop l", "event del l", "space k expired", "space k evicted", "event evicted k"} {
		w := strings.Fields(e)
		want = append(want, fmt.Sprintf("[pmessage, __key*__:*, __key%s@0__:%s, %s]", w[0], w[1], w[2]))
	}
	if !slices.Equal(got, want) {
		t.Errorf("published were\n%s\nexpected\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestRandomEvents: a real server and a node publish the same events of commands, with keys of any type, unless the
// node says that it doesn't know them.
func TestRandomEvents(t *testing.T) {
	server := startRedis(t)
	listener, sender := server.dial(t), server.dial(t)
	sender.ask(t, "CONFIG", "SET", notifyOption, "KEA")
	listener.ask(t, "PSUBSCRIBE", "__key*")
	node := newServer(t, Config{}).node
	setups := []string{"ECHO none", "SET K 7", "SET K v EX 1000", "HSET K f v g 7", "RPUSH K v", "RPUSH K v w v", "SADD K v w", "ZADD K 1 v 2 w"}
	for seed := range uint64(testenv.Count(600, 20_000)) {
		r := rand.New(rand.NewPCG(seed, 19))
		sender.ask(t, "DISCARD")
		sender.ask(t, "FLUSHALL")
		node.Reset(Config{})
		heard, sends := NewPeer(node), NewPeer(node)
		node.Execute(0, sends, []string{"CONFIG", "SET", notifyOption, "KEA"})
		node.Execute(0, heard, []string{"PSUBSCRIBE", "__key*"})
		var story strings.Builder
		for _, template := range []string{setups[r.IntN(len(setups))], setups[r.IntN(len(setups))], redistest.Commands[r.IntN(len(redistest.Commands))], redistest.Commands[r.IntN(len(redistest.Commands))]} {
			words := randomWords(r, template)
			reply, _ := node.Execute(0, sends, words)
			unknown := node.ambiguous(words, string(reply)) != ""
			var got strings.Builder
			for _, p := range node.Pushes() {
				got.Write(p.Message)
			}
			fmt.Fprintf(&story, "%q = %q\n", words, sender.ask(t, words...))
			if want := listener.published(t); unknown {
				break
			} else if got.String() != want {
				t.Errorf("seed %d:\n%s\tRedis publishes %q\n\tthe node       %q", seed, story.String(), want, got.String())
				break
			}
		}
	}
}

// published returns the messages that a subscriber has got.
func (c *realConn) published(t *testing.T) (all string) {
	t.Helper()
	for one := c.ask(t, "PING"); !strings.Contains(one, "pong"); {
		all += one
		var next strings.Builder
		if err := c.read(&next); err != nil {
			t.Fatal(err)
		}
		one = next.String()
	}
	return all
}
