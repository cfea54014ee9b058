//go:build unix

package adapter_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"lockstep/sim/adapter"
)

// habitOf is the variable by which this program is told to be a lock, and with what habit.
const habitOf = "LOCKSTEP_TEST_HABIT"

func TestMain(m *testing.M) {
	if name := os.Getenv(habitOf); name != "" {
		behave(name)
		return
	}
	if command := os.Getenv(ownerOf); command != "" {
		own(command)
		return
	}
	if err := flag.Set("test.parallel", "6"); err != nil { // on any machine, as they wait for processes most of the time
		panic(err)
	}
	goleak.VerifyTestMain(m)
}

// peer is a process's end of the protocol, as far as these tests need it.
type peer struct {
	control *os.File
	in      *bufio.Reader
	node    net.Conn
	replies *bufio.Reader
}

func (p *peer) say(m adapter.Message) {
	b, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	p.print(string(b))
}

func (p *peer) print(line string) { fmt.Fprintln(p.control, line) }

func (p *peer) hear() (m adapter.Message) {
	line, err := p.in.ReadString('\n')
	if err != nil {
		os.Exit(0)
	}
	if err := json.Unmarshal([]byte(line), &m); err != nil {
		panic(err)
	}
	return m
}

// send sends a command to the first server, and returns the first line of the reply.
func (p *peer) send(words ...string) string {
	command := fmt.Sprintf("*%d\r\n", len(words))
	for _, w := range words {
		command += fmt.Sprintf("$%d\r\n%s\r\n", len(w), w)
	}
	return p.write(command)
}

func (p *peer) write(bytes string) string {
	fmt.Fprint(p.node, bytes)
	line, err := p.replies.ReadString('\n')
	if err != nil {
		os.Exit(0)
	}
	return strings.TrimSpace(line)
}

// hello is that of a lock that does as it should: SET NX PX, and a DEL without a comparison.
var hello = adapter.Message{Type: "hello", Lockstep: adapter.Version, Lock: "plain", Executions: "once", Servers: 1, Timeout: 3_000_000}

// habits are what a lock can do instead of acquiring: nil is that it does.
var habits = map[string]func(p *peer, m adapter.Message){
	"plain":       nil,
	"leaves":      func(*peer, adapter.Message) { fmt.Println("something is wrong"); os.Exit(1) },
	"stops":       func(*peer, adapter.Message) { select {} },
	"babbles":     func(p *peer, _ adapter.Message) { p.print("Warning: this is no message") },
	"confuses":    func(p *peer, _ adapter.Message) { p.say(adapter.Message{Type: "released"}) },
	"oversleeps":  func(p *peer, _ adapter.Message) { p.say(adapter.Message{Type: "sleep", Span: -1}) },
	"wrong clock": func(p *peer, _ adapter.Message) { p.say(adapter.Message{Type: "clock", Clock: "cuckoo"}) },
	"idles":       func(p *peer, _ adapter.Message) { p.say(adapter.Message{Type: "idle"}) },
	"mumbles":     func(p *peer, _ adapter.Message) { p.write("hello\r\n") },
	"listens":     func(p *peer, _ adapter.Message) { p.send("SUBSCRIBE", "news") },
	"leaves later": func(p *peer, m adapter.Message) {
		p.send("GET", "other")
		os.Exit(1)
	},
	"wavers": func(p *peer, m adapter.Message) {
		p.send("SET", "lock", strconv.Itoa(os.Getpid()), "PX", "10000", "NX")
		p.say(adapter.Message{Type: "granted", Token: m.Seed})
	},
	"twice": func(p *peer, m adapter.Message) {
		if p.send("SET", "lock", m.Seed, "PX", "10000", "NX") == "+OK" {
			p.say(adapter.Message{Type: "granted", Token: m.Seed})
			return
		}
		p.print(`{"type":"refused"}` + "\n" + `{"type":"refused"}`)
	},
	"afterthought": func(p *peer, m adapter.Message) {
		p.say(adapter.Message{Type: "granted", Token: m.Seed})
		p.send("SET", "lock", m.Seed, "PX", "10000")
	},
	"fails": func(p *peer, _ adapter.Message) { p.say(adapter.Message{Type: "failed", Error: "no such luck"}) },
}

// greetings are what a process can say instead of hello.
var greetings = map[string]func(p *peer){
	"nothing":       func(*peer) { select {} },
	"rubbish":       func(p *peer) { p.print("Traceback (most recent call last):") },
	"number":        func(p *peer) { p.print(`{"type":"hello","lock":7}`) },
	"too new":       func(p *peer) { h := hello; h.Lockstep = 2; p.say(h) },
	"bad name":      func(p *peer) { h := hello; h.Lock = "My Lock"; p.say(h) },
	"no executions": func(p *peer) { h := hello; h.Executions = "often"; p.say(h) },
	"no servers":    func(p *peer) { h := hello; h.Servers = 0; p.say(h) },
	"no timeout":    func(p *peer) { h := hello; h.Timeout = 0; p.say(h) },
	"no fork": func(p *peer) {
		h := hello
		h.Executions = "fork"
		p.say(h)
	},
	"other":    func(p *peer) { h := hello; h.Lock = fmt.Sprint("pid-", os.Getpid()); p.say(h) },
	"impolite": func(*peer) { fmt.Println("no such module"); os.Exit(1) },
}

// behave is this program as a lock.
func behave(habit string) {
	p := &peer{control: os.NewFile(3, "control")}
	p.in = bufio.NewReader(p.control)
	if greet := greetings[habit]; greet != nil {
		greet(p)
	} else {
		p.say(hello)
	}
	for {
		m := p.hear()
		switch m.Type {
		case "begin":
			var err error
			if p.node, err = net.Dial("unix", m.Nodes[0]); err != nil {
				panic(err)
			}
			p.replies = bufio.NewReader(p.node)
			p.say(adapter.Message{Type: "begun"})
		case "acquire":
			if do := habits[habit]; do != nil {
				do(p, m)
			} else if p.send("SET", "lock", m.Seed, "PX", "10000", "NX") == "+OK" {
				p.say(adapter.Message{Type: "granted", Token: m.Seed})
			} else {
				p.say(adapter.Message{Type: "refused"})
			}
		case "release":
			p.send("DEL", "lock")
			p.say(adapter.Message{Type: "released"})
		}
	}
}
