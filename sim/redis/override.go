package redis

import (
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2/server"

	"lockstep/sim/redis/spelling"
)

// override answers the commands that miniredis answers differently from Redis, or not at
// all: those of stricter, published messages, and waiting for elements. It sees every command before
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
	switch cmd { // the commonest, which have nothing to do with most of the cases below
	case "GET", "EXISTS", "PTTL":
		return false
	case "SET":
		if !n.Replica {
			if c != n.beneath.conn {
				return len(args) >= 2 && n.set(c, args)
			}
			n.storing(c, cmd, args)
			return false
		}
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
	case cmd == "SELECT" && len(args) == 1 && spelling.NoDatabase(args[0]) != "":
		c.WriteError(spelling.NoDatabase(args[0]))
		return true
	case cmd == "SELECT" && n.asking != nil:
		n.asking.selects = true
	case cmd == "COPY" && replaces(args) && args[0] != args[1]:
		if n.ask(c, "EXISTS", args[0]) == ":1\r\n" {
			n.ask(c, "DEL", args[1]) // or it would keep its expiry
		}
	case cmd == "RENAME" && len(args) == 2 && args[0] == args[1] && n.ask(c, "EXISTS", args[0]) == ":1\r\n":
		c.WriteOK() // it changes nothing
		return true
	case c != n.beneath.conn && n.stricter(c, cmd, args):
		return true
	}
	n.storing(c, cmd, args)
	return false
}

// refuses reports whether the search has no model of a command. Commands of which the node
// composes another one's answer are its own affair.
func (n *Node) refuses(c *server.Peer, cmd string, args []string) (refused bool) {
	if c == n.side.conn || c == n.beneath.conn {
		return false
	}
	clock, life, script := n.audit.clock, n.audit.life, !n.outermost(c)
	refused = n.audit.judge(call{node: n, name: cmd, args: args, script: script})
	if !script && n.asking.Queues {
		n.audit.clock, n.audit.life = clock, life // it isn't executed before EXEC
	}
	return refused
}

// storing records the keys under which a command stores a value, even one equal to the value
// that is there.
func (n *Node) storing(c *server.Peer, cmd string, args []string) {
	switch cmd {
	case "SET", "GETSET", "SETEX", "PSETEX", "HSET", "HMSET", "LSET":
		if len(args) >= 2 && !(cmd == "SET" && slices.ContainsFunc(args[2:], isNX)) {
			n.stores = append(n.stores, args[0])
		}
	case "RENAME", "COPY": // without REPLACE, COPY stores where nothing is, which is a change in any case
		if len(args) >= 2 && (cmd == "RENAME" || replaces(args)) && n.ask(c, "EXISTS", args[0]) == ":1\r\n" {
			n.stores = append(n.stores, args[1])
		}
	case "MSET":
		for i := 0; i < len(args); i += 2 {
			n.stores = append(n.stores, args[i])
		}
	}
}

// renewing notes, before a command of a script or of a transaction, the keys that an earlier one of it has removed, or given
// another value: if they have an equal one in the end, that has been stored anew, by whatever command.
func (n *Node) renewing() {
	n.data = n.redis.DB(0)
	for i := range n.known {
		old := &n.known[i]
		if slices.Contains(n.renewed, old.key) {
			continue
		}
		if is, found := n.look(old.key); !found || is.value != old.value {
			n.renewed = append(n.renewed, old.key)
		}
	}
}

// replaces reports whether a COPY within the database replaces the key that it stores.
func replaces(args []string) bool {
	_, why := refusesCopy(call{args: args})
	return why == "" && slices.ContainsFunc(args[min(2, len(args)):], func(word string) bool { return strings.EqualFold(word, "REPLACE") })
}

func isNX(word string) bool { return len(word) == len("NX") && strings.EqualFold(word, "NX") }

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
