package bubble

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"lockstep/sim/process"
	"lockstep/strategies"
)

// Stats count the bubbles of a library, and their steps.
type Stats struct {
	Processes int // bubbles, those included that were run ahead
	Stimuli   int
	// Early is how often a timer of the library went off, and had it send something or return
	// from its call, while replies were awaited or no call was under way. It was heeded only
	// when the replies had come, or at the next call.
	Early int
	// Abandoned is how often a call returned before the replies to all of its commands had come.
	Abandoned int
}

// family are the processes of all clients with one library.
type family struct {
	t       *testing.T
	library Library

	mu    sync.Mutex
	alive map[*program]bool // that have called the library, and not been ended
	stats Stats
}

// begin makes a client's next process.
func (f *family) begin(nodes []*redis.Client, key string, o strategies.Options) *program {
	seedRandom()
	return &program{family: f, nodes: nodes, key: key, options: o, ctx: context.Background()}
}

// end ends all processes.
func (f *family) end() {
	f.mu.Lock()
	left := slices.Collect(maps.Keys(f.alive))
	f.mu.Unlock()
	for _, p := range left {
		p.end()
	}
}

// live counts a process among those that are to be ended, or no longer.
func (f *family) live(p *program, is bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if is {
		f.alive[p] = true
	} else {
		delete(f.alive, p)
	}
}

func (f *family) count(add func(*Stats)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	add(&f.stats)
}

// program is a client's process as its thread knows it. Its methods run on that thread.
type program struct {
	*family
	nodes   []*redis.Client
	key     string
	options strategies.Options
	ctx     context.Context

	b       *bubble // nil before the first call
	seed    string
	began   time.Duration // the client's monotonic clock at the first call
	wall    time.Time     // and its wall clock, if the library shows that to servers
	history []stimulus    // that the bubble has had
	spare   *process.Conn // see first
	taken   bool          // spare is one of the library's connections
	calling bool          // the main thread is in a call
	keeping bool          // there is a thread for the background,
	tended  bool          // and it is giving the bubble a stimulus
	awaited []*conn       // a connection for each command that has no reply yet, in the order of sending
}

// end ends the process, and the simulator's end of its connections.
func (p *program) end() {
	if p.b == nil {
		return
	}
	p.live(p, false)
	_ = p.spare.Close()
	for _, c := range p.b.all() {
		if c.world != nil {
			_ = c.world.Close()
		}
	}
	p.b.end()
	p.b = nil
}

// call has the library do something, and carries out its requests until it returns.
func (p *program) call(f function) error {
	first := p.b == nil
	if first {
		p.began = p.options.Clock.Monotonic()
		p.seed = p.options.Token() // says whose it is
		if p.library.Outgoing != nil {
			p.wall = p.options.Clock.Now()
		}
		p.b = p.start()
		p.live(p, true)
	}
	s := stimulus{call: f}
	if first {
		s.make = p.library.New
	}
	p.calling = true
	p.stimulate(s, first)
	for {
		p.carryOut()
		switch {
		case p.b.panics != nil:
			panic(p.b.panics)
		case p.b.over:
			if len(p.awaited) > 0 {
				p.count(func(s *Stats) { s.Abandoned++ })
			}
			p.calling = false
			p.keepGoing()
			return p.b.err
		case p.tended: // by the other thread, until it has the replies
			p.pass(time.Millisecond)
		case len(p.awaited) > 0:
			p.stimulate(stimulus{replies: p.receive()}, false)
		default:
			p.sleep()
		}
	}
}

// start starts the bubble, or another that is to have the same history.
func (p *program) start() *bubble {
	p.count(func(s *Stats) { s.Processes++ })
	return newBubble(p.t, p.seed, Process{Name: p.first().Client.Name, Key: p.key, TTL: p.options.TTL, Nodes: len(p.nodes), Retry: p.options.Retry, wall: p.wall})
}

// stimulate gives the bubble a stimulus at this instant of the client's clock.
func (p *program) stimulate(s stimulus, now bool) {
	if !now {
		s.at = p.options.Clock.Monotonic() - p.began
	}
	p.history = append(p.history, s)
	waited := s.call == nil && len(s.replies) == 0
	early := p.b.apply(&s)
	p.count(func(n *Stats) {
		n.Stimuli++
		if early && !waited {
			n.Early++
		}
	})
}

// carryOut sends the library's requests, and closes the connections that it has closed.
func (p *program) carryOut() {
	sent := p.take(p.b)
	p.history[len(p.history)-1].sent += words(sent)
	for _, r := range sent {
		c := r.conn
		if c.world == nil {
			c.world = p.connect(c.node)
		}
		p.awaited = append(p.awaited, c)
		p.b.blind = !c.world.Client.Sources()
		c.world.SendFrom(r.args, r.stack)
	}
	for _, c := range p.b.all() {
		if c.closed && c.world != nil && !c.world.Closed {
			_ = c.world.Close()
			p.awaited = slices.DeleteFunc(p.awaited, func(a *conn) bool { return a == c })
		}
	}
}

// first is a connection to the first node, which tells whose process it is. It is the first
// that the library has.
func (p *program) first() *process.Conn {
	if p.spare == nil {
		p.spare = p.dial(0)
	}
	return p.spare
}

// take returns the library's new requests in a bubble, as they leave the process.
func (p *program) take(b *bubble) []request {
	sent := b.take()
	for _, r := range sent {
		if p.library.Outgoing != nil {
			p.library.Outgoing(b.process, r.args)
		}
	}
	return sent
}

// words are the commands in words.
func words(sent []request) string {
	var b strings.Builder
	for _, r := range sent {
		fmt.Fprintf(&b, "%q to server %d; ", r.args, r.conn.node+1)
	}
	return b.String()
}

// connect opens a connection in the simulator.
func (p *program) connect(node int) (c *process.Conn) {
	if node == 0 && !p.taken {
		p.taken = true
		c = p.first()
	} else {
		c = p.dial(node)
	}
	return c
}

// dial opens a connection in the simulator. It panics if the nodes
// are none of its own.
func (p *program) dial(node int) *process.Conn {
	wire, err := p.nodes[node].Options().Dialer(p.ctx, "", "")
	c, is := wire.(*process.Conn)
	if err != nil || !is {
		panic(fmt.Sprintf("bubble: a library runs on the simulator's connections, and this is a %T (%v)", wire, err))
	}
	return c
}

// receive waits for all replies that are awaited.
func (p *program) receive() (replies []reply) {
	for len(p.awaited) > 0 {
		c := p.awaited[0]
		p.awaited = p.awaited[1:]
		data, err := c.world.Receive()
		replies = append(replies, reply{c.node, c.id, slices.Clone(data), err})
		if err != nil { // nothing more comes on that connection
			p.awaited = slices.DeleteFunc(p.awaited, func(a *conn) bool { return a == c })
		}
	}
	return replies
}

// sleep lets time pass until a timer of the library goes off.
func (p *program) sleep() {
	in, ok := p.nextTimer(24 * time.Hour)
	if !ok {
		panic("bubble: the library waits within a call, for nothing that it has sent and for no timer")
	}
	p.pass(in)
	p.stimulate(stimulus{}, false)
}

// pass lets time pass.
func (p *program) pass(d time.Duration) {
	if err := p.options.Clock.Sleep(p.ctx, d); err != nil {
		panic(err) // its context is never done
	}
}

// keepGoing starts a thread that lets the library's goroutines go on between calls, if any of
// them waits for a timer.
func (p *program) keepGoing() {
	if !p.library.Background || p.keeping {
		return
	}
	in, ok := p.nextTimer(p.horizon())
	if !ok && len(p.awaited) == 0 {
		return
	}
	p.keeping = true
	p.options.Go(func() {
		for ok || len(p.awaited) > 0 {
			if !ok {
				in = time.Millisecond // the main thread has its turn, or a reply comes
			}
			p.pass(in)
			p.tend()
			in, ok = p.nextTimer(p.horizon())
		}
		p.keeping = false
	})
}

// tend lets timers go off that are due, and carries out the library's requests then. If a call is
// under way, the main thread waits for the replies.
func (p *program) tend() {
	p.tended = true
	defer func() { p.tended = false }()
	p.stimulate(stimulus{}, false)
	p.carryOut()
	for len(p.awaited) > 0 && !p.calling {
		p.stimulate(stimulus{replies: p.receive()}, false)
		p.carryOut()
	}
}

// horizon is how far ahead a timer of the background matters: activity after a few
// TTLs concerns no lock.
func (p *program) horizon() time.Duration { return 3 * p.options.TTL }

// nextTimer finds out when the library goes on by itself, by another
// bubble with the same history.
func (p *program) nextTimer(within time.Duration) (in time.Duration, ok bool) {
	twin := p.start()
	defer twin.end()
	for i := range p.history {
		twin.apply(&p.history[i])
		if once, again := p.history[i].sent, words(p.take(twin)); once != again {
			panic(fmt.Sprintf("the library is not deterministic: having seen the same, it once sends %s and once %s; does it look at math/rand, or at the order of a map?", cmp.Or(once, "nothing"), cmp.Or(again, "nothing")))
		}
	}
	return twin.ahead(within)
}

// deadline is the end of the lease on the client's monotonic clock; 0 if the library tells none.
func (p *program) deadline() time.Duration {
	if p.b.lock.Until == nil {
		return 0
	}
	return p.began + p.b.until.Sub(p.b.began)
}
