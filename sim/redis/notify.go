package redis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2/server"
)

// This file publishes keyspace notifications, for clients that have asked for them by CONFIG SET
// notify-keyspace-events. A restart forgets that, and a replica has its own. Redis says that a key has expired when it
// comes across it, which may be long after its time; here that is at its time.

// notifyOption is the option by which a server is asked for keyspace notifications.
const notifyOption = "notify-keyspace-events"

// classes are the classes of events, with those that A stands for first; K and E choose the channels.
const classes = "g$lshzxetd" + "mn"

// notice is an event of a command that has done something.
type notice struct {
	class byte
	event string
	when  byte // it has: always, unless it fails; or with a reply that is above 0 ('+'), or not empty ('*')
}

const always = 0

// notices has the commands whose events are simulated, but for SET, SETEX, PSETEX and DEL.
var notices = map[string]notice{
	"SETNX": {'$', "set", '+'}, "GETSET": {'$', "set", always}, "APPEND": {'$', "append", always},
	"INCR": {'$', "incrby", always}, "DECR": {'$', "incrby", always}, "INCRBY": {'$', "incrby", always}, "DECRBY": {'$', "incrby", always},
	"GETDEL": {'g', "del", '*'}, "PERSIST": {'g', "persist", '+'},
	"EXPIRE": {'g', "expire", '+'}, "PEXPIRE": {'g', "expire", '+'}, "EXPIREAT": {'g', "expire", '+'}, "PEXPIREAT": {'g', "expire", '+'},
	"HSET": {'h', "hset", always}, "HMSET": {'h', "hset", always}, "HSETNX": {'h', "hset", '+'}, "HINCRBY": {'h', "hincrby", always}, "HDEL": {'h', "hdel", '+'},
	"LPUSH": {'l', "lpush", always}, "RPUSH": {'l', "rpush", always}, "LPOP": {'l', "lpop", '*'}, "RPOP": {'l', "rpop", '*'}, "LREM": {'l', "lrem", '+'},
	"BLPOP": {'l', "lpop", '*'}, "BRPOP": {'l', "rpop", '*'}, "BZPOPMIN": {'z', "zpopmin", '*'}, "BZPOPMAX": {'z', "zpopmax", '*'},
	"SADD": {'s', "sadd", '+'}, "SREM": {'s', "srem", '+'},
	"ZADD": {'z', "zadd", '+'}, "ZREM": {'z', "zrem", '+'}, "ZPOPMIN": {'z', "zpopmin", '*'}, "ZPOPMAX": {'z', "zpopmax", '*'},
	"ZREMRANGEBYSCORE": {'z', "zremrangebyscore", '+'}, "ZREMRANGEBYRANK": {'z', "zremrangebyrank", '+'},
}

// configure answers CONFIG SET notify-keyspace-events. It reports whether the command was that.
func (n *Node) configure(c *server.Peer, args []string) (done bool) {
	if len(args) < 2 || !strings.EqualFold(args[1], notifyOption) {
		return false
	}
	if len(args) != 3 || !strings.EqualFold(args[0], "SET") {
		c.WriteError("ERR of " + notifyOption + " CONFIG SET with one value is simulated")
		return true
	}
	flags := strings.ReplaceAll(args[2], "A", classes[:10])
	if strings.Trim(flags, classes+"KE") != "" {
		c.WriteError("ERR CONFIG SET failed (possibly related to argument '" + notifyOption + "') - Invalid event class character. Use 'Ag$lshzxeKEtmdn'.")
		return true
	}
	n.notifies = canonicalFlags(flags)
	c.WriteOK()
	return true
}

// canonicalFlags returns flags in one order, each once; or nothing if they name no channel, or no class.
func canonicalFlags(flags string) string {
	var of string
	for _, f := range classes {
		if strings.ContainsRune(flags, f) {
			of += string(f)
		}
	}
	var on string
	for _, f := range "KE" {
		if strings.ContainsRune(flags, f) {
			on += string(f)
		}
	}
	if of == "" || on == "" {
		return ""
	}
	return of + on
}

// told publishes the events of a command that was executed, by its reply.
func (n *Node) told(words []string, reply string) {
	if n.notifies == "" || reply == "" || reply[0] == '-' || len(words) < 2 || strings.HasPrefix(reply, "+QUEUED") || n.blocked {
		return
	}
	switch cmd, key := strings.ToUpper(words[0]), words[1]; cmd {
	case "SET":
		if reply == "+OK\r\n" {
			n.notify('$', "set", key)
			if slices.ContainsFunc(words[3:], func(w string) bool { return slices.Contains([]string{"PX", "EX", "PXAT", "EXAT"}, strings.ToUpper(w)) }) {
				n.notify('g', "expire", key)
			}
		}
	case "SETEX", "PSETEX":
		n.notify('$', "set", key)
		n.notify('g', "expire", key)
	case "DEL", "UNLINK":
		if len(words) == 2 && reply == ":1\r\n" {
			n.notify('g', "del", key)
		}
	default:
		row, known := notices[cmd]
		if cmd == "ZADD" && reply[0] != ':' { // with INCR
			row = notice{'z', "zincr", '*'}
		}
		empty := strings.HasPrefix(reply, "$-1") || strings.HasPrefix(reply, "*-1") || strings.HasPrefix(reply, "*0")
		if !known || row.when == '+' && strings.HasPrefix(reply, ":0") || row.when == '*' && empty {
			return
		}
		if strings.HasPrefix(cmd, "B") { // the key is the first word of the reply
			_, rest, _ := strings.Cut(reply, "\r\n")
			_, rest, _ = strings.Cut(rest, "\r\n")
			key, _, _ = strings.Cut(rest, "\r\n")
		}
		gone := !n.redis.DB(0).Exists(key)
		if row.event == "expire" && gone { // it was given a time that is past
			row.event = "del"
		}
		if n.notify(row.class, row.event, key); gone && row.class != 'g' {
			n.notify('g', "del", key)
		}
	}
}

// ambiguous returns why it can't be told from a command's reply which events it has had, or "".
func (n *Node) ambiguous(words []string, reply string) string {
	const why = "its keyspace notifications are not modelled; "
	cmd := strings.ToUpper(words[0])
	if n.notifies == "" || !n.writes(cmd) || reply == "" || reply[0] == '-' {
		return ""
	}
	_, known := notices[cmd]
	switch {
	case (cmd == "DEL" || cmd == "UNLINK") && len(words) > 2:
		return why + "delete one key at a time"
	case cmd == "ZADD" && (reply == ":0\r\n" || reply[0] != ':'):
		return why + "add members that aren't there, without INCR"
	case cmd == "SET" && reply != "+OK\r\n" && reply != "$-1\r\n", cmd == "SET" && slices.ContainsFunc(words[3:], func(w string) bool { return strings.EqualFold(w, "GET") }):
		return why + "leave GET out"
	case cmd == "SET", cmd == "SETEX", cmd == "PSETEX", cmd == "DEL", cmd == "UNLINK", cmd == "CONFIG", known:
		return ""
	}
	return why + "use SET, DEL, EXPIRE, or simple commands of lists, sets and hashes"
}

// notify publishes an event of a class at a key, if the server was asked for such.
func (n *Node) notify(class byte, event, key string) {
	if strings.IndexByte(n.notifies, class) < 0 {
		return
	}
	if strings.IndexByte(n.notifies, 'K') >= 0 {
		n.send("__keyspace@0__:"+key, event)
	}
	if strings.IndexByte(n.notifies, 'E') >= 0 {
		n.send("__keyevent@0__:"+event, key)
	}
}

// Gone lists the messages about a key that goes by itself: "expired", or "evicted". The subscribers are those of
// the memory.
func (m Snapshot) Gone(key, event string) (sent []Message) {
	class := byte('x')
	if event == "evicted" {
		class = 'e'
	}
	if strings.IndexByte(m.Notifies, class) < 0 {
		return nil
	}
	if strings.IndexByte(m.Notifies, 'K') >= 0 {
		sent = m.send(sent, "__keyspace@0__:"+key, event)
	}
	if strings.IndexByte(m.Notifies, 'E') >= 0 {
		sent = m.send(sent, "__keyevent@0__:"+event, key)
	}
	return sent
}

// Expiring lists the messages about the keys that expire within so many milliseconds.
func (m Snapshot) Expiring(by int64) (sent []Message) {
	if m.Notifies == "" {
		return nil
	}
	due := slices.DeleteFunc(slices.Clone(m.Keys), func(k Key) bool { return k.Left == Immortal || k.Left >= by })
	slices.SortStableFunc(due, func(a, b Key) int { return cmp.Compare(a.Left, b.Left) })
	for _, k := range due {
		sent = append(sent, m.Gone(k.Name, "expired")...)
	}
	return sent
}

// send adds a message on a channel for each subscription that it is for: see Node.publish.
func (m Snapshot) send(sent []Message, channel, payload string) []Message {
	each := func(command string, to func(conn int, name string)) {
		for _, p := range m.Peers {
			for _, words := range p.Commands {
				if Subscribes(words) && words[0] == command {
					for _, name := range words[1:] {
						to(p.Conn, name)
					}
				}
			}
		}
	}
	each("SUBSCRIBE", func(conn int, name string) {
		if name == channel {
			sent = append(sent, Message{Conn: conn, Text: words("message", channel, payload)})
		}
	})
	each("PSUBSCRIBE", func(conn int, name string) {
		if matches(name, channel) {
			sent = append(sent, Message{Conn: conn, Text: words("pmessage", name, channel, payload)})
		}
	})
	return sent
}

// refusesConfig lets pass the command that asks for keyspace notifications.
func refusesConfig(c call) (option, why string) {
	if len(c.args) == 3 && strings.EqualFold(c.args[0], "SET") && strings.EqualFold(c.args[1], notifyOption) && !c.node.asking.Queues {
		return "", ""
	}
	return "", fmt.Sprintf("it is about the server and not about its keys, but for CONFIG SET %s; give the lock as an option what it needs to know", notifyOption)
}
