package redis

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alicebob/miniredis/v2/server"
)

// This file publishes messages. miniredis would, too, but hands them out by goroutines; here
// the world decides when a message arrives, so the node only says which connections get it.

// Push is a message that a server sends to a subscriber.
type Push struct {
	To      *Peer
	Message []byte // in RESP
}

// Pushes returns the messages that the node has published in its last Execute, in the order
// in which it sends them. They are valid until the next.
func (n *Node) Pushes() []Push { return n.pushes }

// Subscribers returns the connections that have a subscription, the oldest first. The caller
// must not change the slice.
func (n *Node) Subscribers() []*Peer { return n.subscribers }

// Subscribed reports whether the connection has a subscription.
func (p *Peer) Subscribed() bool { return len(p.channels)+len(p.patterns) > 0 }

// Subscribes reports whether a command can begin a subscription.
func Subscribes(args []string) bool {
	return len(args) > 0 && (strings.EqualFold(args[0], "SUBSCRIBE") || strings.EqualFold(args[0], "PSUBSCRIBE"))
}

// subscriptions returns commands that make the connection's subscriptions once more.
func (p *Peer) subscriptions() (commands [][]string) {
	if len(p.channels) > 0 {
		commands = append(commands, append([]string{"SUBSCRIBE"}, p.channels...))
	}
	if len(p.patterns) > 0 {
		commands = append(commands, append([]string{"PSUBSCRIBE"}, p.patterns...))
	}
	return commands
}

// Leave ends a connection at its server: its subscriptions are over.
func (n *Node) Leave(p *Peer) {
	p.channels, p.patterns = nil, nil
	n.subscribers = without(n.subscribers, p)
}

func without(all []*Peer, p *Peer) []*Peer {
	return slices.DeleteFunc(all, func(q *Peer) bool { return q == p })
}

// pubsub answers the commands about published messages.
func (n *Node) pubsub(c *server.Peer, cmd string, args []string) (done bool) {
	switch {
	case cmd == "SUBSCRIBE" || cmd == "PSUBSCRIBE":
		n.subscribe(c, cmd, args)
	case cmd == "UNSUBSCRIBE" || cmd == "PUNSUBSCRIBE":
		n.unsubscribe(c, cmd, args)
	case cmd == "PUBLISH" && len(args) == 2:
		n.publish(c, args)
	case cmd == "PUBSUB":
		c.WriteError("ERR PUBSUB is not simulated")
	case cmd == "CONFIG":
		return n.configure(c, args)
	default:
		return false
	}
	return true
}

// restricted answers a command on a connection that has a subscription: in RESP2 only PING
// and QUIT, and the commands about subscriptions, are left to it.
func (n *Node) restricted(c *server.Peer, cmd string, args []string) (done bool) {
	switch p := n.asking; {
	case p == nil || c != p.conn || !p.Subscribed() || cmd == "QUIT" || strings.HasSuffix(cmd, "SUBSCRIBE"):
		return false
	case cmd == "PING":
		c.WriteLen(2)
		c.WriteBulk("pong")
		c.WriteBulk(strings.Join(args, " "))
	default:
		c.WriteError(fmt.Sprintf("ERR Can't execute '%s': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / RESET are allowed in this context",
			strings.ToLower(cmd)))
	}
	return true
}

// subscriber returns the connection that subscribes or unsubscribes. A script can't.
func (n *Node) subscriber(c *server.Peer) *Peer {
	if n.outermost(c) {
		return n.asking
	}
	c.WriteError("ERR This Redis command is not allowed from script")
	return nil
}

func (n *Node) subscribe(c *server.Peer, cmd string, args []string) {
	p := n.subscriber(c)
	if p == nil {
		return
	}
	if len(args) == 0 {
		c.WriteError("ERR wrong number of arguments for '" + strings.ToLower(cmd) + "' command")
		return
	}
	for _, name := range args {
		list := p.list(cmd)
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
		if !slices.Contains(n.subscribers, p) {
			n.subscribers = append(n.subscribers, p)
		}
		writeSubscription(c, cmd, name, p)
	}
}

// list returns the list of subscriptions that a command changes.
func (p *Peer) list(cmd string) *[]string {
	if cmd[0] == 'P' {
		return &p.patterns
	}
	return &p.channels
}

func (n *Node) unsubscribe(c *server.Peer, cmd string, args []string) {
	p := n.subscriber(c)
	if p == nil {
		return
	}
	list := p.list(cmd)
	if len(args) == 0 {
		args = slices.Clone(*list)
	}
	if len(args) == 0 {
		c.WriteLen(3)
		c.WriteBulk(strings.ToLower(cmd))
		c.WriteNull()
		c.WriteInt(len(p.channels) + len(p.patterns))
	}
	for _, name := range args {
		*list = slices.DeleteFunc(*list, func(s string) bool { return s == name })
		writeSubscription(c, cmd, name, p)
	}
	if !p.Subscribed() {
		n.subscribers = without(n.subscribers, p)
	}
}

// writeSubscription writes the confirmation of one subscription, or of its end.
func writeSubscription(c *server.Peer, cmd, name string, p *Peer) {
	c.WriteLen(3)
	c.WriteBulk(strings.ToLower(cmd))
	c.WriteBulk(name)
	c.WriteInt(len(p.channels) + len(p.patterns))
}

// publish is PUBLISH. Its reply is the number of messages.
func (n *Node) publish(c *server.Peer, args []string) { c.WriteInt(n.send(args[0], args[1])) }

// send sends a message on a channel, and returns the number of messages: a subscriber gets one for its
// channel and one for each of its patterns that match.
func (n *Node) send(channel, payload string) int {
	before := len(n.pushes)
	for _, p := range n.subscribers {
		if slices.Contains(p.channels, channel) {
			n.pushes = append(n.pushes, Push{To: p, Message: words("message", channel, payload)})
		}
	}
	for _, p := range n.subscribers {
		for _, pattern := range p.patterns {
			if matches(pattern, channel) {
				n.pushes = append(n.pushes, Push{To: p, Message: words("pmessage", pattern, channel, payload)})
			}
		}
	}
	return len(n.pushes) - before
}

// words returns a list of strings in RESP.
func words(all ...string) []byte {
	b := fmt.Appendf(nil, "*%d\r\n", len(all))
	for _, w := range all {
		b = fmt.Appendf(b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b
}

// matches reports whether a text matches a pattern of Redis: * and ? are wildcards, [a-c] and
// [^a-c] are sets, and a backslash takes the next character literally.
func matches(pattern, text string) bool {
	for pattern != "" {
		if pattern[0] == '*' {
			for i := 0; i <= len(text); i++ {
				if matches(pattern[1:], text[i:]) {
					return true
				}
			}
			return false
		}
		if text == "" {
			return false
		}
		ok, rest := matchesOne(pattern, text[0])
		if !ok {
			return false
		}
		pattern, text = rest, text[1:]
	}
	return text == ""
}

// matchesOne matches one character, and returns the rest of the pattern.
func matchesOne(pattern string, b byte) (ok bool, rest string) {
	switch {
	case pattern[0] == '?':
		return true, pattern[1:]
	case pattern[0] == '[':
		return inSet(pattern[1:], b)
	case pattern[0] == '\\' && len(pattern) > 1:
		pattern = pattern[1:]
	}
	return pattern[0] == b, pattern[1:]
}

// inSet matches one character with a set, of which the pattern begins behind the bracket.
func inSet(set string, b byte) (ok bool, rest string) {
	not := strings.HasPrefix(set, "^")
	if not {
		set = set[1:]
	}
	for set != "" && set[0] != ']' {
		if set[0] == '\\' && len(set) > 1 {
			set = set[1:]
		}
		from, to := set[0], set[0]
		if len(set) > 2 && set[1] == '-' {
			to = set[2]
			set = set[2:]
		}
		ok = ok || min(from, to) <= b && b <= max(from, to)
		set = set[1:]
	}
	if set != "" {
		set = set[1:]
	}
	return ok != not, set
}
