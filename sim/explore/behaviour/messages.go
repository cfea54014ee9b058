package behaviour

import (
	"math"
	"strconv"
	"strings"
	"time"

	"lockstep/sim/explore/intern"
	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
)

// Message is one that a command has sent to a subscriber.
type Message struct {
	Conn uint16 // the subscriber's connection, as in a Question
	Text uint32 // its id in Clients.Replies
}

// pack returns the id of messages.
func (s *Servers) pack(sent []redis.Message) uint32 {
	if len(sent) == 0 {
		return 0
	}
	var words []string
	for _, m := range sent {
		words = append(words, strconv.Itoa(m.Conn), string(m.Text))
	}
	return s.replies.ID(intern.Pack(words))
}

// Messages returns the messages with an id, in the order in which the server has sent them.
func (s *Servers) Messages(id uint32) (sent []Message) {
	if id == 0 {
		return nil
	}
	words := intern.Unpack(*s.replies.Value(id))
	for i := 0; i < len(words); i += 2 {
		conn, _ := strconv.Atoi(words[i])
		sent = append(sent, Message{Conn: uint16(conn), Text: s.replies.ID(words[i+1])})
	}
	return sent
}

// renamedMessages returns the id at another server of messages with other texts to other connections.
func (s *Servers) renamedMessages(id uint32, other *Servers, text func(string) string, conn func(int) int) uint32 {
	var sent []redis.Message
	for _, m := range s.Messages(id) {
		sent = append(sent, redis.Message{Conn: conn(int(m.Conn)), Text: []byte(text(*s.replies.Value(m.Text)))})
	}
	return other.pack(sent)
}

// Subscribers counts the connections with a subscription in a snapshot.
func (s *Servers) Subscribers(snapshot uint32) (n int) {
	for _, p := range s.Snapshot(snapshot).Peers {
		if p.Subscribed() {
			n++
		}
	}
	return n
}

// Endures refuses a command that begins a subscription, or waits at its server, in a search without bounds.
func (k *Clients) Endures(command uint32) error {
	return &redis.Unmodelled{What: k.word(command), Why: "without a bound on cycles it has neither messages nor commands that wait at a server; search within a bound on cycles"}
}

// Behind refuses a command that is behind one that waits at its server on a connection, or the one that waits.
func (k *Clients) Behind(command uint32) error {
	return &redis.Unmodelled{What: k.word(command) + " in a pipeline with a command that waits at its server",
		Why: "it has no model of those that wait behind that; send them when it has been answered"}
}

// Overlong refuses a command that waits at its server for longer than a search counts.
func (k *Clients) Overlong(command uint32) error {
	return &redis.Unmodelled{What: k.word(command), Why: "it counts waits up to " + trace.Duration(MaxSpan) + "; use a shorter timeout, or none"}
}

// word returns the first word of a command, in capitals.
func (k *Clients) word(command uint32) string {
	return strings.ToUpper(intern.Unpack(*k.commands.Value(command))[0])
}

// Patience returns for how many milliseconds a command waits for an element, flight.Forever, or -1 if that is longer than a search counts.
func (k *Clients) Patience(command uint32) int32 {
	d := redis.Patience(intern.Unpack(*k.commands.Value(command)))
	switch {
	case d > MaxSpan:
		return -1
	case d > 0:
		return int32(d / time.Millisecond)
	}
	return math.MaxInt32
}

// Waits returns for how many milliseconds an operation waits, or 0: it sleeps, it reads with a timeout of
// its own, or its command waits at the server.
func (k *Clients) Waits(p *Operation) int32 {
	switch p.Kind {
	case process.OpSleep:
		return p.Sleep
	case process.OpReceive:
		return max(0, p.Wait)
	case process.OpSend:
		if args := intern.Unpack(*k.commands.Value(p.Command)); redis.Pops(args) {
			return int32(min(redis.Patience(args), MaxSpan) / time.Millisecond)
		}
	}
	return 0
}

// LineBy returns the line of a thread's operation at a history, as " at FILE:LINE".
func (k *Clients) LineBy(id uint32, thread int) string { return at(k.lineBy(id, thread)) }
