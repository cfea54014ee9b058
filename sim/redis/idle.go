package redis

import (
	"math"
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
		return n.adds(c, cmd, args, args)
	case "ZINCRBY":
		return len(args) == 3 && n.adds(c, cmd, args, []string{args[0], "INCR", args[1], args[2]})
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

// addition is the options and the pairs of a ZADD.
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

// adds answers a ZADD, or a ZINCRBY that is the same as one, if all scores are as before after it, or
// it replies a score.
func (n *Node) adds(c *server.Peer, cmd string, args, added []string) (done bool) {
	if len(added) < 3 || !n.takes(c, added[0], "zset") {
		return false
	}
	a, ok := parseAddition(added[1:])
	if !ok {
		return false
	}
	reply, same := ":0\r\n", true
	for i := 0; i < len(a.pairs); i += 2 {
		text := n.ask(c, "ZSCORE", added[0], a.pairs[i+1])
		held, err := strconv.ParseFloat(bulk(text), 64)
		is := err == nil
		score, err := strconv.ParseFloat(a.pairs[i], 64)
		if a.incr {
			score += held
			reply = text
		}
		vetoed := a.vetoes(is, held, score)
		same = same && err == nil && (vetoed || is && score == held)
		switch {
		case vetoed && a.incr:
			reply = "$-1\r\n"
		case a.incr && math.IsNaN(score):
			c.WriteError("ERR resulting score is not a number (NaN)")
			return true
		}
	}
	switch {
	case !same && !a.incr:
		return false
	case !same:
		reply = n.ask(c, append([]string{cmd}, args...)...)
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
	case !score || reply[0] != '$' || reply == "$-1\r\n":
		c.WriteRaw(reply)
	case c.Resp3:
		c.WriteRaw("," + spelling.Score(bulk(reply)) + "\r\n")
	default:
		c.WriteBulk(spelling.Score(bulk(reply)))
	}
}

// shrinks executes a command that takes members out of a sorted set. Where some are left,
// miniredis doesn't tell of the change, but does if one of them gets its score anew.
func (n *Node) shrinks(c *server.Peer, cmd string, args []string) (done bool) {
	before := n.ask(c, "ZCARD", args[0])
	if before[0] == '-' {
		return false
	}
	if cmd == "ZPOPMIN" || cmd == "ZPOPMAX" {
		n.listsPairs(c, cmd, args, len(args) == 2)
	} else {
		c.WriteRaw(n.ask(c, append([]string{cmd}, args...)...))
	}
	if after := n.ask(c, "ZCARD", args[0]); after != before && after != ":0\r\n" {
		left := strings.Split(n.ask(c, "ZRANGE", args[0], "0", "0", "WITHSCORES"), "\r\n")
		n.ask(c, "ZADD", args[0], left[4], left[2])
	}
	return true
}

// listsPairs answers a command that lists members with their scores: in RESP3 in pairs, if there may be
// several, where miniredis lists them as RESP2 does.
func (n *Node) listsPairs(c *server.Peer, cmd string, args []string, several bool) {
	reply := n.ask(c, append([]string{cmd}, args...)...)
	all := resp.Elements([]byte(reply))
	if len(all) == 0 {
		c.WriteRaw(reply)
		return
	}
	several = several && c.Resp3
	if several {
		c.WriteLen(len(all) / 2)
	} else {
		c.WriteLen(len(all))
	}
	for i := 0; i+1 < len(all); i += 2 {
		if several {
			c.WriteLen(2)
		}
		c.WriteRaw(string(all[i]))
		n.write(c, string(all[i+1]), true)
	}
}

// tellsScores answers a command that replies scores alone.
func (n *Node) tellsScores(c *server.Peer, cmd string, args []string) (done bool) {
	reply := n.ask(c, append([]string{cmd}, args...)...)
	if reply[0] != '*' {
		n.write(c, reply, true)
		return true
	}
	all := resp.Elements([]byte(reply))
	c.WriteLen(len(all))
	for _, score := range all {
		n.write(c, string(score), true)
	}
	return true
}
