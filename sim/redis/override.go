package redis

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"lockstep/sim/trace"

	"github.com/alicebob/miniredis/v2/server"
)

// override answers the commands that miniredis answers differently from Redis, or not at
// all: TTL, some forms of SET, published messages, and waiting for elements. It sees every command before
// miniredis does, those of scripts included, and composes its answers from commands that miniredis has
// right. Here the node also learns that a command stores a value, and a replica refuses to
// write.
func (n *Node) override(c *server.Peer, cmd string, args ...string) (done bool) {
	if c == n.trial.conn {
		return false
	}
	if n.audit != nil && n.refuses(c, cmd, args) {
		c.WriteError(n.audit.refused.Error())
		return true
	}
	if n.restricted(c, cmd, args) || n.transact(c, cmd, args) {
		return true
	}
	switch {
	case n.pubsub(c, cmd, args):
		return true
	case n.Replica && n.writes(cmd):
		c.WriteError(replicaSays)
		return true
	case n.pop(c, cmd, args):
		return true
	case cmd == "EVAL" || cmd == "EVALSHA" || cmd == "EVAL_RO" || cmd == "EVALSHA_RO" || cmd == "SCRIPT":
		return n.scripts.answer(c, cmd, args)
	case cmd == "SELECT" && n.asking != nil:
		n.asking.selects = true
	case cmd == "TTL" && len(args) == 1:
		n.roundTTL(c, args)
		return true
	case strings.HasSuffix(cmd, "EXPIRE") || strings.HasSuffix(cmd, "EXPIREAT"):
		if n.noSooner(c, cmd, args) {
			c.WriteInt(0)
			return true
		}
	case cmd == "GETEX" && len(args) > 1:
		if held := n.ask(c, "GET", args[0]); held[0] == '-' { // miniredis would set the expiry of what is no string
			c.WriteRaw(held)
			return true
		}
	case cmd == "COPY" && len(args) == 3 && strings.EqualFold(args[2], "REPLACE") && args[0] != args[1]:
		if n.ask(c, "EXISTS", args[0]) == ":1\r\n" {
			n.ask(c, "DEL", args[1]) // or it would keep its expiry
		}
	case cmd == "SET" && len(args) >= 2:
		o := parseSet(args)
		if p := n.asking; !o.others && p != nil && p.conn == c && !p.selects {
			n.plain = plainSet{is: true, value: args[1], ttl: o.ttl}
		} else {
			n.giveGrace()
		}
		if o.unlike(n.millis) {
			n.set(c, args)
			return true
		}
	}
	n.storing(cmd, args)
	return false
}

// refuses reports whether the search has no model of a command. Commands of which the node
// composes another one's answer are its own affair.
func (n *Node) refuses(c *server.Peer, cmd string, args []string) (refused bool) {
	if c == n.side.conn || c == n.beneath.conn {
		return false
	}
	clock, script := n.audit.clock, !n.outermost(c)
	refused = n.audit.judge(call{node: n, name: cmd, args: args, script: script})
	if !script && n.asking.Queues {
		n.audit.clock = clock // it isn't executed before EXEC
	}
	return refused
}

// storing records the keys under which a command stores a value, even one equal to the value
// that is there.
func (n *Node) storing(cmd string, args []string) {
	switch cmd {
	case "SET", "GETSET", "SETEX", "PSETEX", "HSET", "HMSET", "LSET":
		if len(args) >= 2 && !(cmd == "SET" && parseSet(args).nx) {
			n.stores = append(n.stores, args[0])
		}
	case "RENAME", "COPY":
		if len(args) >= 2 {
			n.stores = append(n.stores, args[1])
		}
	case "MSET":
		for i := 0; i < len(args); i += 2 {
			n.stores = append(n.stores, args[i])
		}
	}
}

// replicaSays is a replica's reply to a command that writes.
const replicaSays = "READONLY You can't write against a read only replica."

// writes reports whether a command may write.
func (n *Node) writes(cmd string) bool {
	s := n.redis.Server()
	return s.IsRegisteredCommand(cmd) && !s.IsReadOnlyCommand(cmd) && !writesNothing[cmd]
}

// writesNothing has the commands that write nothing and that miniredis doesn't list as
// such. A script's commands are checked one by one.
var writesNothing = func() map[string]bool {
	all := map[string]bool{}
	for _, cmd := range strings.Fields(`AUTH CLIENT CLUSTER COMMAND DISCARD ECHO EVAL EVALSHA EXEC HELLO INFO MEMORY MULTI
		OBJECT PING PSUBSCRIBE PUBLISH PUBSUB PUNSUBSCRIBE QUIT SCRIPT SELECT SUBSCRIBE TIME UNSUBSCRIBE UNWATCH WAIT WATCH XINFO`) {
		all[cmd] = true
	}
	return all
}()

// outermost reports whether a command is not part of another, such as a script.
func (n *Node) outermost(c *server.Peer) bool {
	return c == n.side.conn || n.asking != nil && n.asking.conn == c
}

// ask executes a command of miniredis in the place of another: within the same script,
// database and transaction.
func (n *Node) ask(c *server.Peer, args ...string) (reply string) {
	p := n.beneath
	p.conn.Ctx = c.Ctx
	reply = n.dispatchOn(p, args)
	c.Ctx = p.conn.Ctx // made by a connection's first command
	return reply
}

// roundTTL answers TTL to the nearest second. miniredis truncates.
func (n *Node) roundTTL(c *server.Peer, args []string) {
	reply := n.ask(c, "PTTL", args[0])
	millis, err := strconv.Atoi(strings.TrimPrefix(strings.TrimSpace(reply), ":"))
	if err != nil {
		c.WriteRaw(reply)
		return
	}
	if millis >= 0 {
		millis = (millis + 500) / 1000
	}
	c.WriteInt(millis)
}

// noSooner reports whether a command with LT would move a key's expiry to the very instant
// that it has. Redis leaves it then, and says so; miniredis doesn't.
func (n *Node) noSooner(c *server.Peer, cmd string, args []string) bool {
	if len(args) != 3 || !strings.EqualFold(args[2], "LT") || cmd[0] == 'H' {
		return false
	}
	left, _ := strconv.ParseInt(strings.Trim(n.ask(c, "PTTL", args[0]), ":\r\n"), 10, 64)
	until := millisOf(cmd, args[1])
	if strings.HasSuffix(cmd, "AT") {
		until -= trace.Epoch.UnixMilli() + n.millis
	}
	return left >= 0 && until == left
}

// setOptions are the options of a SET, as far as the node needs them.
type setOptions struct {
	args    []string
	others  bool  // there are other options than NX, PX and EX
	ttl     int64 // of PX or EX, in milliseconds; 0 is none
	nx      bool
	compare string // IFEQ or IFNE, or empty
	at      int    // where it stands
	with    string // what the value is compared with
	until   int64  // of PXAT or EXAT, in milliseconds; 0 is none
}

// unlike reports whether miniredis executes the SET differently from Redis.
func (o *setOptions) unlike(millis int64) bool {
	return o.compare != "" || o.past(millis)
}

// past reports whether the key is to expire at an instant that has passed on the
// node's clock.
func (o *setOptions) past(millis int64) bool {
	return o.until > 0 && o.until-trace.Epoch.UnixMilli() <= millis
}

func parseSet(args []string) (o setOptions) {
	o.args = args
	for i := 2; i < len(args); i++ {
		follows := i+1 < len(args) // an argument
		switch word := strings.ToUpper(args[i]); {
		case word == "NX":
			o.nx = true
		case (word == "PX" || word == "EX") && follows && o.ttl == 0:
			i++
			o.ttl = millisOf(word, args[i])
			o.others = o.others || o.ttl <= 0 || o.ttl > maxPlain
		case (word == "IFEQ" || word == "IFNE") && follows && o.compare == "":
			o.others, o.compare, o.at, o.with = true, word, i, args[i+1]
			i++
		case (word == "PXAT" || word == "EXAT") && follows:
			o.others, o.until = true, millisOf(word, args[i+1])
		default:
			o.others = true
		}
	}
	return o
}

// maxPlain is the largest TTL of a plain SET, in milliseconds: with it nothing overflows.
const maxPlain = int64(trace.MaxTime / time.Millisecond)

// millisOf returns the argument of an option that begins with P, for milliseconds, or with
// E, for seconds. It returns 0 for a word that is no number; miniredis refuses that itself.
func millisOf(option, arg string) int64 {
	v, _ := strconv.ParseInt(arg, 10, 64)
	if option[0] == 'E' {
		v = 1000 * min(max(v, math.MinInt64/1000), math.MaxInt64/1000)
	}
	return v
}

// rest returns the command without its comparison.
func (o *setOptions) rest() []string {
	if o.compare == "" {
		return o.args
	}
	return slices.Concat(o.args[:o.at], o.args[o.at+2:])
}

// set executes a SET with IFEQ or IFNE, which Redis has had since 8.4, and a SET whose key is
// to expire at an instant that has passed: Redis replies OK, and has no such key afterwards.
func (n *Node) set(c *server.Peer, args []string) {
	o := parseSet(args)
	key := args[0]
	if o.compare != "" && n.refusesCompared(c, key, &o) {
		return
	}
	if !o.past(n.millis) {
		c.WriteRaw(n.ask(c, append([]string{"SET"}, o.rest()...)...))
		return
	}
	kept := o.nx && n.ask(c, "EXISTS", key) == ":1\r\n"
	reply := n.ask(c, append([]string{"SET"}, withoutExpiry(o.rest())...)...)
	if !kept && !strings.HasPrefix(reply, "-") {
		n.ask(c, "DEL", key)
	}
	c.WriteRaw(reply)
}

// refusesCompared answers a SET with a comparison that doesn't hold.
func (n *Node) refusesCompared(c *server.Peer, key string, o *setOptions) bool {
	held := n.ask(c, "GET", key)
	equal := held == fmt.Sprintf("$%d\r\n%s\r\n", len(o.with), o.with)
	switch {
	case o.nx || o.has("XX"):
		c.WriteError("ERR syntax error")
	case strings.HasPrefix(held, "-"): // it holds no string
		c.WriteRaw(held)
	case equal == (o.compare == "IFEQ"):
		return false
	case o.has("GET"):
		c.WriteRaw(held)
	default:
		c.WriteNull()
	}
	return true
}

func (o *setOptions) has(word string) bool {
	return slices.ContainsFunc(o.rest()[2:], func(a string) bool { return strings.EqualFold(a, word) })
}

// withoutExpiry leaves out PXAT or EXAT and its instant.
func withoutExpiry(args []string) (rest []string) {
	for i := 0; i < len(args); i++ {
		if i >= 2 && (strings.EqualFold(args[i], "PXAT") || strings.EqualFold(args[i], "EXAT")) {
			i++
			continue
		}
		rest = append(rest, args[i])
	}
	return rest
}
