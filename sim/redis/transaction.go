package redis

import (
	"bytes"
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2/server"
)

// transact handles the commands of transactions, and reports whether this was one. The node
// keeps the queue of a connection itself, and executes its commands one by one at EXEC, as
// if they came at once: so scripts run in the node's own machine, and all that is known of
// a command holds for one in a transaction, too.
func (n *Node) transact(c *server.Peer, cmd string, args []string) (done bool) {
	p := n.asking
	if p == nil || p.conn != c {
		return false
	}
	switch {
	case !p.Queues && cmd == "MULTI" && len(args) == 0:
		p.Queues = true
		c.WriteOK()
		return true
	case !p.Queues && cmd == "EXEC" && len(args) > 0:
		n.misspells(c, cmd)
		return true
	case !p.Queues && cmd == "WATCH" && len(args) > 0:
		n.watch(c, args)
		return true
	case !p.Queues:
		if cmd == "UNWATCH" && len(args) == 0 {
			p.watched = nil
		}
		return false
	}
	switch {
	case cmd == "QUIT" || cmd == "RESET":
		return false
	case (cmd == "MULTI" || cmd == "EXEC" || cmd == "DISCARD") && len(args) > 0, cmd == "WATCH" && len(args) == 0:
		n.misspells(c, cmd)
	case cmd == "MULTI":
		c.WriteError("ERR MULTI calls can not be nested")
	case cmd == "WATCH":
		c.WriteError("ERR WATCH inside MULTI is not allowed")
	case cmd == "EXEC":
		watched := p.watched
		n.exec(c, p.endTransaction(), watched)
	case cmd == "DISCARD":
		p.endTransaction()
		c.WriteRaw(n.ask(c, "UNWATCH"))
	default:
		n.enqueue(c, cmd, args)
	}
	return true
}

// watch is a key of a connection's WATCH.
type watch struct {
	key     string
	touches uint64 // of the node when the watch began
}

// watch is WATCH. A key that the connection watches already stays as it is: miniredis would
// forget that it has changed meanwhile.
func (n *Node) watch(c *server.Peer, keys []string) {
	if n.touches == nil {
		n.touches = map[string]uint64{}
	}
	p, words := n.asking, []string{"WATCH"}
	for _, key := range keys {
		if !slices.ContainsFunc(p.watched, func(w watch) bool { return w.key == key }) {
			p.watched, words = append(p.watched, watch{key, n.touches[key]}), append(words, key)
		}
	}
	if len(words) > 1 {
		n.ask(c, words...)
	}
	c.WriteOK()
}

// misspells answers a command about transactions with words that it doesn't take. An EXEC ends
// the transaction even so.
func (n *Node) misspells(c *server.Peer, cmd string) {
	refusal := "wrong number of arguments for '" + strings.ToLower(cmd) + "' command"
	if cmd != "EXEC" {
		n.asking.queue.spoilt = true
		c.WriteError("ERR " + refusal)
		return
	}
	n.asking.endTransaction()
	n.ask(c, "UNWATCH")
	c.WriteError("EXECABORT Transaction discarded because of: " + refusal)
}

// Watches reports whether the connection has sent WATCH, and its watch goes on.
func (p *Peer) Watches() bool { return len(p.watched) > 0 }

// queue is the commands of a transaction.
type queue struct {
	commands [][]string
	spoilt   bool // one was refused, so EXEC will be, too
}

// endTransaction returns the queue of the connection, and forgets it.
func (p *Peer) endTransaction() (q queue) {
	q, p.queue, p.Queues, p.watched = p.queue, queue{}, false, nil
	return q
}

// enqueue queues a command, unless it is malformed or a replica refuses it.
func (n *Node) enqueue(c *server.Peer, cmd string, args []string) {
	words := append([]string{cmd}, args...)
	refusal := n.malformed(words)
	if refusal == "" && n.Replica && n.writes(cmd) {
		refusal = "-" + replicaSays + "\r\n"
	}
	if refusal != "" {
		n.asking.queue.spoilt = true
		c.WriteRaw(refusal)
		return
	}
	n.asking.queue.commands = append(n.asking.queue.commands, words)
	c.WriteInline("QUEUED")
}

// malformed returns the error reply to a command that Redis refuses to queue, or "": it does
// not know the command, or has too few words or too many of it. It queues the command on a
// connection of its own; all other errors wait for EXEC.
func (n *Node) malformed(words []string) (refusal string) {
	switch {
	case words[0] == "SCRIPT":
		if refusal = scriptRefusal(words[1:]); refusal != "" {
			refusal = "-" + refusal + "\r\n"
		}
		return refusal
	case (words[0] == "MSET" || words[0] == "MSETNX") && len(words) > 2, words[0] == "HMSET" && len(words) > 3, // whether they are pairs is found out at EXEC
		(words[0] == "LPOP" || words[0] == "RPOP") && len(words) > 3: // and so is this
		return ""
	}
	words, name := slices.Clone(words), words[0]
	words[0] = strings.TrimSuffix(words[0], "_RO") // of EVAL and EVALSHA, which miniredis doesn't know
	n.dispatchOn(n.trial, []string{"MULTI"})
	reply := n.dispatchOn(n.trial, words)
	n.dispatchOn(n.trial, []string{"DISCARD"})
	if strings.HasPrefix(reply, unknownCommand) {
		return n.unknown(words[1:])
	}
	if strings.HasPrefix(reply, "-ERR wrong number of arguments") {
		return strings.Replace(reply, "'"+strings.ToLower(words[0])+"'", "'"+strings.ToLower(name)+"'", 1)
	}
	return ""
}

// disturbed reports whether a key of a connection's WATCH has changed since, and ends the WATCH in
// miniredis. miniredis knows of every write that may change nothing, such as a SET of an equal
// value: it executes an empty transaction of the connection. The node knows of every change:
// miniredis doesn't count an HDEL that leaves a field.
func (n *Node) disturbed(c *server.Peer, watched []watch) bool {
	n.ask(c, "MULTI")
	return n.ask(c, "EXEC") != "*0\r\n" || slices.ContainsFunc(watched, func(w watch) bool { return n.touches[w.key] != w.touches })
}

// exec executes the commands of a transaction that has ended, unless a watched key has
// changed.
func (n *Node) exec(c *server.Peer, q queue, watched []watch) {
	refusal := ""
	switch {
	case q.spoilt:
		refusal = "Transaction discarded because of previous errors."
	case n.Replica && slices.ContainsFunc(q.commands, func(words []string) bool { return n.writes(words[0]) }):
		refusal = "Transaction discarded because of: " + replicaSays
	}
	if refusal != "" {
		n.ask(c, "UNWATCH")
		c.WriteError("EXECABORT " + refusal)
		return
	}
	if n.disturbed(c, watched) {
		n.write(c, "*-1\r\n", false)
		return
	}
	c.WriteLen(len(q.commands))
	for _, words := range q.commands {
		if waitsAtServer[words[0]] {
			n.execAlone(c, words)
			continue
		}
		n.execOne(c, words)
	}
}

// execOne executes a command of a transaction, and publishes its events.
func (n *Node) execOne(c *server.Peer, words []string) {
	out := &n.asking.out
	c.Flush()
	if !readOnly(words[0]) {
		n.renewing()
	}
	before, stores := out.Len(), len(n.stores)
	n.redis.Server().Dispatch(c, words)
	c.Flush()
	reply := out.Bytes()[before:]
	if bytes.HasPrefix(reply, []byte("-")) && !composed(words[0]) {
		n.stores = n.stores[:stores]
	}
	n.hear(words, reply)
}

// execAlone executes a command that would wait at the server, if it weren't part of a
// transaction: as the only one of a transaction of miniredis's.
func (n *Node) execAlone(c *server.Peer, words []string) {
	n.ask(c, "MULTI")
	n.ask(c, words...)
	c.WriteRaw(strings.TrimPrefix(n.ask(c, "EXEC"), "*1\r\n"))
}

// waitsAtServer are the commands that wait until there is something to reply.
var waitsAtServer = map[string]bool{"BLPOP": true, "BRPOP": true, "BLMOVE": true, "BRPOPLPUSH": true,
	"BLMPOP": true, "BZPOPMIN": true, "BZPOPMAX": true, "BZMPOP": true, "XREAD": true, "XREADGROUP": true}
