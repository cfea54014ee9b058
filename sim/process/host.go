package process

import (
	"sync"
	"sync/atomic"
	"time"

	"lockstep/sim/resp"
	"lockstep/sim/trace"
)

// Host runs client code. It decides the results of the operations that threads announce,
// and the order in which threads go on. One thread runs at a time, so none of its methods
// is called concurrently.
type Host interface {
	// Dial gives a new connection the host's end of it.
	Dial(c *Conn) Line
	// Announced is called on the thread's own stack when the thread has announced its
	// next operation, t.Op. The host may perform that and other operations before it
	// returns. It returns true if the thread may go on at once; otherwise the thread
	// stops until the host calls Resume.
	Announced(t *Thread) (goOn bool)
	// Started is called when a client's code has started another thread.
	Started(t *Thread)
	// Ended is called when a thread's function has returned.
	Ended(t *Thread)
	// Tell reports an event that follows from the operation performed last, before
	// anything else can happen. The event is valid during the call only.
	Tell(e *trace.Event)
	// Drew is called when a lock has drawn a random number.
	Drew()

	// GrantSent returns the true instant at which a client sent the command that granted
	// or last extended its lease; or called Acquire, if it has sent none since. The deadline of a lease follows from it if the strategy
	// exposes none.
	GrantSent(client int) time.Duration
	// LeaseLive reports whether a client's lease, which has such a deadline, is live.
	LeaseLive(client int) bool
	// AwaitLapse sets the true instant at which a client's lease is to lapse, or
	// trace.Never. It replaces the instant set before.
	AwaitLapse(c *Client, at time.Duration)

	Referee
}

// Referee answers the questions of the probe: see [Runtime.NewProbe].
type Referee interface {
	// NextArrival returns the time until the next arrival of a request that a client sent
	// before the end of the script, if there is one. It may still change the holder of
	// the lock.
	NextArrival() (in time.Duration, any bool)
	// Obstructed reports whether the lock is refused because of a record that may still
	// disappear.
	Obstructed() bool
	// Patience returns the probe's wait after its first refusal, and after its second.
	Patience(refusals int) time.Duration
	// NeverGranted is called when the probe was refused and nothing can change any more.
	NeverGranted()
}

// Line is the host's end of a connection.
type Line interface {
	// Exchange answers a command that belongs to no operation: the handshake of a new
	// connection, or one that prepares a run. It leaves no event.
	Exchange(args []string) (reply []byte)
	// HangUp is called when a running thread closes the connection.
	HangUp()
	// Renew returns a new line to the same server, for a connection on which an exchange was broken off: messages in
	// flight on the old one never reach the client.
	Renew() Line
	// Reset makes the line as good as new, for another run.
	Reset()
}

// Runtime is the state that the clients of one host share: the running thread, and caches.
//
// Invariant: current is the thread whose code is running, and nil while the host runs.
type Runtime struct {
	// Sources makes operations carry the line of code that they come from. It costs time.
	Sources bool
	// Guard makes an operation of a goroutine that is no thread a [Panic]. It costs time.
	Guard bool

	host       Host
	current    *Thread
	refused    atomic.Pointer[Panic] // something that a run can't contain, such as an operation of a goroutine that is no thread
	sources    sourceCache
	preparing  bool                // see Prepare
	connecting sync.Mutex          // guards the state that new connections share: go-redis dials on goroutines of its own
	words      map[string][]string // of up to maxWords commands, by their bytes on the wire: see parse
	told       trace.Event         // reported last: events are large, and are made at one place instead of being copied
	clients    []*Client

	watch *Watch        // or nil
	turn  uint64        // counts the pieces of client code that were run
	beat  atomic.Uint64 // the turn and the client whose code is running; 0 if none is
}

// NewRuntime makes a runtime for the clients of a host.
func NewRuntime(h Host) *Runtime {
	hushGoRedis()
	return &Runtime{host: h, sources: sourceCache{}, words: map[string][]string{}}
}

// Reset forgets the thread that was running when a run was abandoned.
func (rt *Runtime) Reset() { rt.current = nil }

// Prepare lets the host use connections, each of whose commands is answered on the spot, until the
// function that it returns is called. No thread may run meanwhile.
func (rt *Runtime) Prepare() (done func()) {
	rt.preparing = true
	return func() { rt.preparing = false }
}

// maxWords is the number of commands whose words a runtime remembers.
const maxWords = 1024

// forgetWords empties the cache of parse if it is full. A new run may have other commands.
func (rt *Runtime) forgetWords() {
	if len(rt.words) >= maxWords {
		clear(rt.words)
	}
}

// parse is resp.Parse with a cache for buffers that hold exactly one command: clients send
// the same commands in every run. A run that fills the cache adds nothing more to it: its
// commands have tokens that don't recur. The words of a command must not be changed.
func (rt *Runtime) parse(buf []byte) (args []string, taken int, err error) {
	if args, known := rt.words[string(buf)]; known {
		return args, len(buf), nil
	}
	args, taken, err = resp.Parse(buf)
	if err == nil && taken > 0 && taken == len(buf) && len(rt.words) < maxWords {
		rt.words[string(buf)] = args
	}
	return args, taken, err
}
