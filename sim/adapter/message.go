package adapter

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Version is that of the protocol: the number that a process says hello with.
const Version = 1

// Message is one line on the control connection, in either direction. Type says which of the
// other fields it has. Times and spans are in microseconds.
type Message struct {
	Type string `json:"type"`

	// Of hello, by which a process begins.
	Lockstep     int      `json:"lockstep,omitempty"`
	Lock         string   `json:"lock,omitempty"`         // its name
	Library      string   `json:"library,omitempty"`      // with its version
	Executions   string   `json:"executions,omitempty"`   // see [fork], [again] and [once]
	Asynchronous bool     `json:"asynchronous,omitempty"` // it says when it is idle
	Background   bool     `json:"background,omitempty"`   // its timers go off between calls, too
	Servers      int      `json:"servers,omitempty"`      // that the lock runs on
	Timeout      int64    `json:"timeout,omitempty"`      // of a reply
	Extends      bool     `json:"extends,omitempty"`      // it can extend its leases
	NoTTL        bool     `json:"no_ttl,omitempty"`       // its records don't expire
	Scripts      []string `json:"scripts,omitempty"`      // that a server which has been in use knows

	Path string `json:"path,omitempty"` // of fork: where the new process connects

	// Of begin, which makes an instance of the lock.
	Key    string   `json:"key,omitempty"`
	TTL    int64    `json:"ttl,omitempty"`
	Nodes  []string `json:"nodes,omitempty"` // a Unix socket for each server
	Tries  int      `json:"tries,omitempty"`
	Delay  int64    `json:"delay,omitempty"`
	Jitter int64    `json:"jitter,omitempty"`

	Seed      string `json:"seed,omitempty"`      // of acquire: the seed of all random values until the next; and of begin: that of the first acquire
	Token     string `json:"token,omitempty"`     // of granted, release and extend
	Remaining int64  `json:"remaining,omitempty"` // of granted and extended: for how long the lock says it still has the lease
	Error     string `json:"error,omitempty"`     // of failed

	Clock string `json:"clock,omitempty"` // of clock: wall or monotonic
	Time  int64  `json:"time,omitempty"`  // of time; of idle, and of an answer if it has a background, when its first timer is due, if it has one; of go, if timers may be due. All but the first are monotonic
	Span  int64  `json:"span,omitempty"`  // of sleep
}

// How a process serves executions after the first.
const (
	fork  = "fork"  // it forks a process for each
	again = "again" // it begins anew in itself
	once  = "once"  // not at all: the command is started again
)

// text is the message as it goes over the wire, without the end of its line.
func (m Message) text() string {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err) // it has only texts and numbers
	}
	return string(b)
}

// said are the types of messages that a process can send, in the order of docs/protocol.md.
var said = []string{"hello", "begun", "granted", "refused", "released", "extended", "not-held", "failed", "clock", "sleep", "idle"}

// parseMessage reads a line that a process has sent. Its error says what is wrong with it.
func parseMessage(line string) (Message, error) {
	var m Message
	switch err := json.Unmarshal([]byte(line), &m); {
	case err != nil:
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			return m, fmt.Errorf("its field %q is a %s", wrong.Field, wrong.Value)
		}
		return m, errors.New("it is no JSON object")
	case !slices.Contains(said, m.Type):
		return m, fmt.Errorf("its type %q is none of %s", m.Type, strings.Join(said, ", "))
	}
	return m, nil
}

// check says what is wrong with the message by which a process begins, or returns nil.
func (m *Message) check() error {
	switch {
	case m.Type != "hello":
		return errors.New("a process begins with hello")
	case m.Lockstep != Version:
		return fmt.Errorf("it speaks version %d of the protocol, and this is version %d", m.Lockstep, Version)
	case m.Lock == "" || len(m.Lock) > 40 || strings.Trim(m.Lock, nameLetters) != "":
		return fmt.Errorf("the lock cannot be named %q: use up to 40 small letters, digits, dots and hyphens", m.Lock)
	case !slices.Contains([]string{fork, again, once}, m.Executions):
		return fmt.Errorf("its executions are %q, and can be %s, %s or %s", m.Executions, fork, again, once)
	case m.Servers < 1 || m.Servers > maxServers:
		return fmt.Errorf("a lock runs on 1 to %d servers, not on %d", maxServers, m.Servers)
	case m.Background && !m.Asynchronous:
		return errors.New("it has a background, and is not asynchronous: only a process that says when it is idle can have one")
	case m.Timeout <= 0:
		return errors.New("it needs a timeout: how many microseconds the library waits for a reply")
	}
	return nil
}

const (
	nameLetters = "abcdefghijklmnopqrstuvwxyz0123456789.-"
	maxServers  = 9
)
