package redis

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2/server"

	"lockstep/sim/resp"
)

// This file answers the commands that wait for an element. miniredis would wait in real time,
// so the node only says that a command has to wait; the world keeps the queue, and executes
// the command again when something has changed. One difference remains: if a transaction or a
// script fills several of the lists that one command waits for, it gets the element of the list
// that it names first, and in Redis 7.0 that of the list that was filled first.

// popsWith has the commands that wait for an element, with the command that doesn't wait.
var popsWith = map[string]string{"BLPOP": "LPOP", "BRPOP": "RPOP", "BZPOPMIN": "ZPOPMIN", "BZPOPMAX": "ZPOPMAX",
	"BLMOVE": "LMOVE", "BRPOPLPUSH": "RPOPLPUSH"}

// Pops reports whether a command can wait for an element.
func Pops(args []string) bool { return len(args) > 0 && popsWith[strings.ToUpper(args[0])] != "" }

// NoElement is the reply to a command that has waited for an element in vain.
const NoElement = "*-1\r\n"

// Blocked reports whether the last command executed has to wait for an element. It has no
// reply yet.
func (n *Node) Blocked() bool { return n.blocked }

// Patience returns the time for which a command waits for an element; 0 is for ever.
func Patience(args []string) time.Duration {
	seconds, _ := strconv.ParseFloat(args[len(args)-1], 64)
	seconds = min(seconds, float64(maxLife)/1000)
	return time.Duration(seconds * float64(time.Second)).Truncate(time.Millisecond)
}

// pop answers a command that waits for an element. It leaves malformed ones to miniredis, and
// so those of transactions, which don't wait.
func (n *Node) pop(c *server.Peer, cmd string, args []string) (done bool) {
	if n.asking == nil || c != n.asking.conn {
		return false
	}
	switch cmd {
	case "BLMPOP", "BZMPOP", "XREAD", "XREADGROUP":
		c.WriteError("ERR " + cmd + " is not simulated: use BLPOP or BZPOPMIN")
		return true
	case "BLPOP", "BRPOP", "BZPOPMIN", "BZPOPMAX", "BLMOVE", "BRPOPLPUSH":
	default: // almost always, so it is found out quickly
		return false
	}
	if len(args) < 2 {
		return false
	}
	instead := popsWith[cmd]
	switch seconds, err := strconv.ParseFloat(args[len(args)-1], 64); {
	case err != nil || seconds < 0:
		return false
	case seconds*1000 >= math.MaxInt64:
		c.WriteError("ERR timeout is negative")
		return true
	}
	switch rest := args[:len(args)-1]; cmd {
	case "BLMOVE", "BRPOPLPUSH":
		if cmd == "BLMOVE" && len(rest) != 4 || cmd == "BRPOPLPUSH" && len(rest) != 2 {
			return false
		}
		n.popped(c, n.ask(c, append([]string{instead}, rest...)...), "")
	default:
		for _, key := range rest {
			if n.popped(c, n.ask(c, instead, key), key); !n.blocked {
				return true
			}
		}
	}
	return true
}

// popped answers with an element, under its key if there are several, or an error. If there is
// no element, the command is blocked.
func (n *Node) popped(c *server.Peer, reply, key string) {
	n.blocked = strings.HasPrefix(reply, "$-1") || strings.HasPrefix(reply, "*-1") || strings.HasPrefix(reply, "*0")
	switch {
	case n.blocked:
	case reply[0] == '-' || key == "":
		c.WriteRaw(reply)
	case reply[0] == '*': // a member and its score
		all := resp.Elements([]byte(reply))
		c.WriteLen(3)
		c.WriteBulk(key)
		c.WriteRaw(string(all[0]))
		n.write(c, string(all[1]), true)
	default:
		c.WriteLen(2)
		c.WriteBulk(key)
		c.WriteRaw(reply)
	}
}
