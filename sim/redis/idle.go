package redis

import (
	"slices"
	"strconv"
	"strings"

	"github.com/alicebob/miniredis/v2/server"

	"lockstep/sim/redis/spelling"
	"lockstep/sim/resp"
)

// This file tells those who watch a set, a list or a sorted set of its changes as Redis does.
// miniredis takes an SADD of a member that is there for a change, and a ZREM of one of two
// members for none.

// watchable answers the commands of which miniredis tells wrongly whether they have changed
// the key, and reports whether this was one.
func (n *Node) watchable(c *server.Peer, cmd string, args []string) (done bool) {
	switch cmd {
	case "SADD":
		done = len(args) > 1 && !slices.Contains(n.members(c, args), "0")
	case "SREM":
		done = len(args) > 1 && !slices.Contains(n.members(c, args), "1") && n.typeOf(c, args[0]) == "set"
	case "LREM":
		if len(args) == 3 {
			_, ok := spelling.Integer(args[1])
			done = ok && n.ask(c, "LPOS", args[0], args[2]) == "$-1\r\n"
		}
	case "SMOVE":
		return len(args) == 3 && n.moves(c, args)
	case "ZADD":
		return n.addsNothing(c, args)
	case "ZINCRBY":
		return len(args) == 3 && n.addsNothing(c, []string{args[0], "INCR", args[1], args[2]})
	case "ZREM", "ZREMRANGEBYRANK", "ZREMRANGEBYSCORE", "ZPOPMIN", "ZPOPMAX":
		return len(args) > 0 && n.shrinks(c, cmd, args)
	}
	if done {
		c.WriteInt(0)
	}
	return done
}

// members returns for the words after a key, as 0 and 1, which are members of the set; or, of
// a key of another type, a 0 and a 1.
func (n *Node) members(c *server.Peer, args []string) (is []string) {
	reply := n.ask(c, append([]string{"SMISMEMBER"}, args...)...)
	if reply[0] == '-' {
		return []string{"0", "1"}
	}
	for _, line := range strings.Split(reply, "\r\n")[1:] {
		is = append(is, strings.TrimPrefix(line, ":"))
	}
	return is
}

func (n *Node) typeOf(c *server.Peer, key string) string {
	return strings.Trim(n.ask(c, "TYPE", key), "+\r\n")
}

// takes reports whether a command on keys of a type can be executed on this one.
func (n *Node) takes(c *server.Peer, key, kind string) bool {
	is := n.typeOf(c, key)
	return is == kind || is == "none"
}

// moves answers an SMOVE that changes only one of its sets, or none.
func (n *Node) moves(c *server.Peer, args []string) (done bool) {
	from, to, member := args[0], args[1], args[2]
	if n.typeOf(c, from) != "set" || !n.takes(c, to, "set") {
		return false
	}
	switch has := n.ask(c, "SISMEMBER", from, member) == ":1\r\n"; {
	case !has:
		c.WriteInt(0)
	case from == to:
		c.WriteInt(1)
	case n.ask(c, "SISMEMBER", to, member) == ":1\r\n":
		c.WriteRaw(n.ask(c, "SREM", from, member))
	default:
		return false
	}
	return true
}

// addition is what a ZADD is asked to do.
type addition struct {
	nx, xx, gt, lt, incr bool
	pairs                []string // scores and members
}

func parseAddition(words []string) (a addition, ok bool) {
	for i, word := range words {
		switch strings.ToUpper(word) {
		case "NX":
			a.nx = true
		case "XX":
			a.xx = true
		case "GT":
			a.gt = true
		case "LT":
			a.lt = true
		case "INCR":
			a.incr = true
		case "CH":
		default:
			a.pairs = words[i:]
			return a, len(a.pairs)%2 == 0 && !(a.incr && len(a.pairs) > 2) && !(a.nx && (a.xx || a.gt || a.lt)) && !(a.gt && a.lt)
		}
	}
	return a, false
}

// vetoes reports whether the options forbid to give a member a score. held is the score that
// it has, if it is there.
func (a addition) vetoes(is bool, held, score float64) bool {
	if !is {
		return a.xx
	}
	return a.nx || a.gt && score <= held || a.lt && score >= held
}

// addsNothing answers a ZADD after which all scores are as before.
func (n *Node) addsNothing(c *server.Peer, args []string) (done bool) {
	if len(args) < 3 || !n.takes(c, args[0], "zset") {
		return false
	}
	a, ok := parseAddition(args[1:])
	if !ok {
		return false
	}
	reply := ":0\r\n"
	for i := 0; i < len(a.pairs); i += 2 {
		text := n.ask(c, "ZSCORE", args[0], a.pairs[i+1])
		held, err := strconv.ParseFloat(bulk(text), 64)
		is := err == nil
		score, err := strconv.ParseFloat(a.pairs[i], 64)
		if a.incr {
			score += held
			reply = text
		}
		vetoed := a.vetoes(is, held, score)
		if err != nil || !vetoed && (!is || score != held) {
			return false
		}
		if vetoed && a.incr {
			reply = "$-1\r\n"
		}
	}
	n.write(c, reply, a.incr)
	return true
}

// write writes a reply in the connection's protocol: in RESP3 nothing has a type of its own,
// and so has a score.
func (n *Node) write(c *server.Peer, reply string, score bool) {
	switch {
	case c.Resp3 && (reply == "$-1\r\n" || reply == "*-1\r\n"):
		c.WriteNull()
	case score && c.Resp3:
		c.WriteRaw("," + bulk(reply) + "\r\n")
	default:
		c.WriteRaw(reply)
	}
}

// shrinks executes a command that takes members out of a sorted set. Where some are left,
// miniredis doesn't tell of the change, but does if one of them gets its score anew.
func (n *Node) shrinks(c *server.Peer, cmd string, args []string) (done bool) {
	before := n.ask(c, "ZCARD", args[0])
	if before[0] == '-' {
		return false
	}
	if c.Resp3 && len(args) == 2 && (cmd == "ZPOPMIN" || cmd == "ZPOPMAX") {
		n.listsPairs(c, cmd, args)
	} else {
		n.relay(c, append([]string{cmd}, args...)...)
	}
	if after := n.ask(c, "ZCARD", args[0]); after != before && after != ":0\r\n" {
		left := strings.Split(n.ask(c, "ZRANGE", args[0], "0", "0", "WITHSCORES"), "\r\n")
		n.ask(c, "ZADD", args[0], left[4], left[2])
	}
	return true
}

// listsPairs answers a command that lists members with their scores in RESP3: in pairs, where
// miniredis lists them as RESP2 does.
func (n *Node) listsPairs(c *server.Peer, cmd string, args []string) {
	reply := n.ask(c, append([]string{cmd}, args...)...)
	all := resp.Elements([]byte(reply))
	if len(all) == 0 {
		c.WriteRaw(reply)
		return
	}
	c.WriteLen(len(all) / 2)
	for i := 0; i+1 < len(all); i += 2 {
		c.WriteLen(2)
		c.WriteRaw(string(all[i]))
		n.write(c, string(all[i+1]), true)
	}
}

// relay has miniredis answer a command, in the connection's own protocol.
func (n *Node) relay(c *server.Peer, words ...string) {
	n.beneath.conn.Resp3 = c.Resp3
	reply := n.ask(c, words...)
	n.beneath.conn.Resp3 = false
	c.WriteRaw(reply)
}
