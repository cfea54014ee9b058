package serve

import (
	"bufio"
	"bytes"
	"crypto/subtle"
	"fmt"
	"strings"

	"lockstep/sim/redis"
	"lockstep/sim/resp"
)

// version is that of the Redis with which the nodes are compared: see docs/fidelity.md.
const version = "7.0.15"

// greets answers the commands by which a connection is set up. They pass the gate, and aren't
// recorded. last closes the connection.
func (s *Server) greets(c *session, args []string) (reply []byte, last, is bool) {
	name := strings.ToUpper(args[0])
	switch name {
	case "AUTH":
		return s.auth(c, args[1:]), false, true
	case "HELLO":
		return s.hello(c, args[1:]), false, true
	case "QUIT":
		return ok, true, true
	}
	if !c.admitted {
		return []byte("-NOAUTH Authentication required.\r\n"), false, true
	}
	switch name {
	case "PING":
		if len(args) == 1 && !c.peer.Subscribed() && !c.peer.Queues {
			return []byte("+PONG\r\n"), false, true
		}
	case "CLIENT":
		return s.clientCommand(c, args[1:]), false, true
	case "SELECT":
		if len(args) == 2 && args[1] == "0" {
			return ok, false, true
		}
		return []byte("-ERR DB index is out of range\r\n"), false, true
	case "INFO":
		return bulk(s.info(c)), false, true
	case "CONFIG":
		return configuration(args[1:]), false, true
	case "COMMAND":
		return []byte("*0\r\n"), false, true
	case "RESET":
		s.nodes[c.node].Leave(c.peer)
		delete(s.byPeer, c.peer)
		c.speaks3 = false
		c.peer, c.name, c.admitted = redis.NewPeer(s.nodes[c.node]), "", s.cfg.Password == ""
		s.byPeer[c.peer] = c
		return []byte("+RESET\r\n"), false, true
	case "MONITOR", "SYNC", "PSYNC", "REPLICAOF", "SLAVEOF", "SHUTDOWN", "DEBUG", "SWAPDB", "MOVE", "MIGRATE", "FAILOVER":
		return []byte("-ERR " + name + " is not simulated\r\n"), false, true
	}
	return nil, false, false
}

var ok = []byte("+OK\r\n")

func bulk(text string) []byte { return fmt.Appendf(nil, "$%d\r\n%s\r\n", len(text), text) }

// auth is AUTH, with a password or with the user default and a password.
func (s *Server) auth(c *session, args []string) []byte {
	switch {
	case len(args) != 1 && len(args) != 2:
		return []byte("-ERR wrong number of arguments for 'auth' command\r\n")
	case s.cfg.Password == "" && len(args) == 1:
		return []byte("-ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?\r\n")
	case len(args) == 2 && args[0] != "default" || s.cfg.Password != "" && subtle.ConstantTimeCompare([]byte(args[len(args)-1]), []byte(s.cfg.Password)) == 0:
		return []byte("-WRONGPASS invalid username-password pair or user is disabled.\r\n")
	}
	c.admitted = true
	return ok
}

// hello is HELLO.
func (s *Server) hello(c *session, args []string) []byte {
	speaks3 := c.speaks3
	if len(args) > 0 {
		if args[0] != "2" && args[0] != "3" {
			return []byte("-NOPROTO unsupported protocol version\r\n")
		}
		speaks3 = args[0] == "3"
	}
	name := ""
	for i := 1; i < len(args); i++ {
		switch word := strings.ToUpper(args[i]); {
		case word == "AUTH" && i+2 < len(args):
			if reply := s.auth(c, args[i+1:i+3]); reply[0] == '-' {
				return reply
			}
			i += 2
		case word == "SETNAME" && i+1 < len(args):
			i++
			name = args[i]
		default:
			return []byte("-ERR Syntax error in HELLO option '" + oneLine(args[i]) + "'\r\n")
		}
	}
	if !c.admitted {
		return []byte("-NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time\r\n")
	}
	if name != "" {
		if reply := c.setName(name); reply[0] == '-' {
			return reply
		}
	}
	c.speaks3 = speaks3
	c.peer.Speaks3(speaks3)
	head, proto := "*14", 2
	if speaks3 {
		head, proto = "%7", 3
	}
	return fmt.Appendf(nil, "%s\r\n$6\r\nserver\r\n$5\r\nredis\r\n$7\r\nversion\r\n%s$5\r\nproto\r\n:%d\r\n$2\r\nid\r\n:%d\r\n$4\r\nmode\r\n$10\r\nstandalone\r\n$4\r\nrole\r\n$6\r\nmaster\r\n$7\r\nmodules\r\n*0\r\n",
		head, bulk(version), proto, c.number)
}

func oneLine(text string) string {
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(text[:min(len(text), 128)])
}

// setName names the connection's client.
func (c *session) setName(name string) []byte {
	if strings.ContainsFunc(name, func(r rune) bool { return r < '!' || r > '~' }) {
		return []byte("-ERR Client names cannot contain spaces, newlines or special characters.\r\n")
	}
	c.name = name
	return ok
}

// clientCommand is CLIENT, as far as libraries use it.
func (s *Server) clientCommand(c *session, args []string) []byte {
	if len(args) == 0 {
		return []byte("-ERR wrong number of arguments for 'client' command\r\n")
	}
	switch sub := strings.ToUpper(args[0]); {
	case sub == "SETNAME" && len(args) == 2:
		return c.setName(args[1])
	case sub == "GETNAME":
		if c.name == "" {
			return []byte("$-1\r\n")
		}
		return bulk(c.name)
	case sub == "SETINFO" && len(args) == 3, sub == "NO-EVICT", sub == "NO-TOUCH":
		return ok
	case sub == "ID":
		return fmt.Appendf(nil, ":%d\r\n", c.number)
	case sub == "LIST" || sub == "INFO":
		return bulk(fmt.Sprintf("id=%d addr=%s name=%s db=0\n", c.number, c.conn.RemoteAddr(), c.name))
	}
	return []byte("-ERR unknown subcommand '" + oneLine(args[0]) + "'. Try CLIENT HELP.\r\n")
}

// info is INFO's reply: the fields that libraries look for.
func (s *Server) info(c *session) string {
	return strings.ReplaceAll(fmt.Sprintf(`# Server
redis_version:%s
redis_mode:standalone
lockstep_node:%s
# Clients
connected_clients:%d
# Persistence
loading:0
# Replication
role:master
connected_slaves:0
# Cluster
cluster_enabled:0
`, version, s.nodes[c.node].Name, s.open), "\n", "\r\n")
}

// configuration is CONFIG GET of the options for which programs ask.
func configuration(args []string) []byte {
	if len(args) < 2 || !strings.EqualFold(args[0], "GET") {
		return []byte("-ERR CONFIG is simulated as far as CONFIG GET\r\n")
	}
	var found []byte
	n := 0
	for _, option := range [][2]string{{"appendonly", "no"}, {"databases", "1"}, {"maxmemory", "0"}, {"notify-keyspace-events", ""}, {"save", ""}} {
		for _, want := range args[1:] {
			if strings.EqualFold(want, option[0]) || want == "*" {
				found = append(append(found, bulk(option[0])...), bulk(option[1])...)
				n += 2
				break
			}
		}
	}
	return append(fmt.Appendf(nil, "*%d\r\n", n), found...)
}

// inRESP3 makes pushes of messages and of confirmations of subscriptions, of which there may be
// several. In RESP2 they are lists.
func inRESP3(lists []byte) (pushes []byte) {
	for in := bufio.NewReader(bytes.NewReader(lists)); ; {
		one, err := resp.Read(in)
		if err != nil {
			return pushes // there are no more
		}
		if one[0] == '*' {
			one[0] = '>'
		}
		pushes = append(pushes, one...)
	}
}
