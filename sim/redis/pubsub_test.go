package redis

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
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
			converse(t, server, node, d.lines)
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

func converse(t *testing.T, server *realRedis, node *Node, lines string) {
	t.Helper()
	names := []string{"A", "B", "C"}
	real, streams, of := map[string]*realConn{}, map[string]*stream{}, map[*Peer]*stream{}
	for _, name := range names {
		s := &stream{peer: NewPeer(node)}
		real[name], streams[name], of[s.peer] = server.dial(t), s, s
	}
	say := func(name string, words ...string) {
		t.Helper()
		var redis strings.Builder
		if words[0] == "hears" {
			if err := real[name].read(&redis); err != nil {
				t.Fatal(err)
			}
		} else {
			redis.WriteString(real[name].ask(t, words...))
			reply, _ := node.Execute(0, streams[name].peer, words)
			streams[name].sent.Write(reply)
			for _, m := range node.Pushes() {
				of[m.To].sent.Write(m.Message)
			}
		}
		if got := streams[name].read(t); got != redis.String() {
			t.Errorf("%s %s\n\tRedis %q\n\tnode  %q", name, strings.Join(words, " "), redis.String(), got)
		}
	}
	for line := range strings.Lines(lines) {
		if words := quoted(line); len(words) > 0 {
			say(words[0], words[1:]...)
		}
	}
	for _, name := range names {
		say(name, "PING", "end")
	}
}

// TestKeyspaceNotificationsAreRefused: they don't exist, so a lock that waits for one must
// not wait in vain.
func TestKeyspaceNotificationsAreRefused(t *testing.T) {
	s := newServer(t, Config{})
	for _, command := range [][]string{
		{"SUBSCRIBE", "__keyevent@0__:expired"}, {"PSUBSCRIBE", "__keyspace@0__:*"}, {"CONFIG", "SET", "notify-keyspace-events", "Ex"},
	} {
		reply, _ := s.node.Execute(0, NewPeer(s.node), command)
		if !bytes.HasPrefix(reply, []byte("-ERR keyspace notifications are not simulated")) {
			t.Errorf("%v: %q", command, reply)
		}
	}
}
