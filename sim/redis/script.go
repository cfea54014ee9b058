package redis

import (
	"crypto/sha1"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2/server"

	"lockstep/sim/redis/lua51"
	"lockstep/sim/redis/luareply"
	"lockstep/sim/redis/spelling"
)

// scripts is a node's script engine: the scripts that it was sent, and a Lua virtual machine
// that runs them.
//
// miniredis has an engine too, but builds a virtual machine for every call, which takes
// thirty times as long as the script.
type scripts struct {
	node  *Node
	known map[string]*script // by digest: all scripts that it was ever sent; a digest never comes to mean another script
	texts map[string]*script // the same, by text
	epoch int                // begins with 1, and ends when the cache is emptied
	vm    *luaVM             // nil before the first script, and after one that failed
}

// script is one script, compiled when it is first run.
type script struct {
	text, digest string
	lua51.Program
	header lua51.Header
	broken string // the compiler's error, if it does not compile
	epoch  int    // in which it was last cached: EVALSHA finds those of the current one
}

func (s *scripts) init(n *Node) {
	*s = scripts{node: n, known: map[string]*script{}, texts: map[string]*script{}, epoch: 1}
}

// reset prepares a new run. Compiled scripts are kept for it unless there are too many: a
// strategy may write its tokens into its scripts.
func (s *scripts) reset() {
	s.flush()
	if len(s.known) > 1000 {
		s.init(s.node)
	}
}

// flush empties the cache, as SCRIPT FLUSH and a restart do.
func (s *scripts) flush() { s.epoch++ }

// cached returns the script that EVALSHA finds under a digest, or nil.
func (s *scripts) cached(digest string) *script {
	if known := s.known[strings.ToLower(digest)]; known != nil && known.epoch == s.epoch {
		return known
	}
	return nil
}

// CachedScripts lists the digests of the scripts that the node has cached, sorted.
func (n *Node) CachedScripts() []string {
	var digests []string
	for digest := range n.scripts.known {
		if n.scripts.cached(digest) != nil {
			digests = append(digests, digest)
		}
	}
	slices.Sort(digests)
	return digests
}

// answer executes a command about scripts. It leaves to miniredis the errors about malformed
// commands.
func (s *scripts) answer(c *server.Peer, cmd string, args []string) (done bool) {
	switch {
	case cmd == "SCRIPT":
		return s.administer(c, args)
	case len(args) < 2:
		return false
	}
	s.evaluate(c, cmd, args)
	return true
}

// administer is SCRIPT LOAD, EXISTS and FLUSH.
func (s *scripts) administer(c *server.Peer, args []string) (done bool) {
	sub := ""
	if len(args) > 0 {
		sub = strings.ToUpper(args[0])
	}
	switch {
	case sub == "LOAD" && len(args) == 2:
		script := s.learn(args[1])
		if script.compile(); script.broken != "" {
			c.WriteError(script.broken)
			return true
		}
		script.epoch = s.epoch
		c.WriteBulk(script.digest)
	case sub == "EXISTS" && len(args) > 1:
		c.WriteLen(len(args) - 1)
		for _, digest := range args[1:] {
			if s.cached(digest) != nil {
				c.WriteInt(1)
			} else {
				c.WriteInt(0)
			}
		}
	case sub == "FLUSH" && (len(args) == 1 || len(args) == 2 && (strings.EqualFold(args[1], "SYNC") || strings.EqualFold(args[1], "ASYNC"))):
		s.flush()
		c.WriteOK()
	case sub == "FLUSH":
		c.WriteError("ERR SCRIPT FLUSH only support SYNC|ASYNC option")
	default:
		refusal := scriptRefusal(args)
		if refusal == "" {
			return false
		}
		c.WriteError(refusal)
	}
	return true
}

// scriptRefusal returns the error reply to a SCRIPT with a subcommand or a number of words that
// it doesn't have, or "".
func scriptRefusal(args []string) string {
	if len(args) == 0 {
		return "ERR wrong number of arguments for 'script' command"
	}
	few, many := 0, 0
	switch sub := strings.ToUpper(args[0]); sub {
	case "LOAD":
		few, many = 1, 1
	case "EXISTS":
		few, many = 1, len(args)
	case "FLUSH":
		few, many = 0, len(args)
	case "KILL", "DEBUG", "HELP":
		return ""
	default:
		return "ERR unknown subcommand '" + luareply.OneLine(args[0][:min(len(args[0]), 128)]) + "'. Try SCRIPT HELP."
	}
	if n := len(args) - 1; n < few || n > many {
		return "ERR wrong number of arguments for 'script|" + strings.ToLower(args[0]) + "' command"
	}
	return ""
}

// refusal returns the error reply to a script whose header says that it may write, where it mustn't.
func (s *script) refusal(readOnly, replica bool) string {
	switch {
	case !s.header.Is || s.header.NoWrites:
		return ""
	case replica:
		return replicaSays
	case readOnly:
		return "ERR Can not execute a script with write flag using *_ro command."
	}
	return ""
}

const noScript = "NOSCRIPT No matching script. Please use EVAL."

func (s *scripts) learn(text string) *script {
	if known := s.texts[text]; known != nil {
		return known
	}
	script := &script{text: text, digest: digestOf(text)}
	s.texts[text], s.known[script.digest] = script, script
	return script
}

// digestOf returns the SHA-1 digest by which EVALSHA calls a script.
func digestOf(text string) string {
	sum := sha1.Sum([]byte(text))
	return hex.EncodeToString(sum[:])
}

// evaluate is EVAL and EVALSHA, and their read-only forms.
func (s *scripts) evaluate(c *server.Peer, cmd string, args []string) {
	bySum := strings.HasPrefix(cmd, "EVALSHA")
	v, ok := spelling.Integer(args[1])
	switch {
	case bySum && len(args[0]) != 2*sha1.Size:
		c.WriteError(noScript)
		return
	case !ok:
		c.WriteError(spelling.NotInteger)
		return
	case v < 0:
		c.WriteError("ERR Number of keys can't be negative")
		return
	case v > int64(len(args)-2):
		c.WriteError("ERR Number of keys can't be greater than number of args")
		return
	}
	keys := int(v)
	var script *script
	if bySum {
		if script = s.cached(args[0]); script == nil {
			c.WriteError(noScript)
			return
		}
	} else {
		script = s.learn(args[0])
	}
	if script.compile(); script.broken != "" {
		c.WriteError(script.broken)
		return
	}
	script.epoch = s.epoch
	readOnly := strings.HasSuffix(cmd, "_RO")
	if refusal := script.refusal(readOnly, s.node.Replica); refusal != "" {
		c.WriteError(refusal)
		return
	}
	if s.vm == nil {
		s.vm = newLuaVM(s.node)
	}
	m := s.vm
	m.readOnly, m.wrote = readOnly || script.header.NoWrites, false
	result, failure := m.run(script, c, args[2:2+keys], args[2+keys:])
	if failure != "" {
		// A failed script may have left the virtual machine in any state.
		s.vm = nil
		c.WriteError(failure)
		return
	}
	s.node.unchanged = !m.wrote
	luareply.Write(c, result, m.calls.conn.Resp3)
}
