package process

import (
	"sync/atomic"
	"time"

	"lockstep/sim/resp"
	"lockstep/sim/trace"
)

// Host is what client code runs on. It decides what comes of the operations that
// threads announce, and when each thread goes on. One thread runs at a time, so none
// of its methods is called concurrently.
type Host interface {
	// Dial gives a new connection the host's end of it.
	Dial(c *Conn) Line
	// Announced hears, on the thread's own stack, that the thread has announced its
	// next operation, t.Op. The host may perform that and others before it answers: if
	// the thread may go on at once, true. Otherwise the thread stops until somebody
	// calls Resume.
	Announced(t *Thread) (goOn bool)
	// Started hears that a client's code has started another thread.
	Started(t *Thread)
	// Ended hears that a thread's function has returned.
	Ended(t *Thread)
	// Tell hears what has become true by the operation that was performed last, before
	// anything else can happen.
	Tell(e *trace.Event)
	// Drew hears that a lock has drawn a random number.
	Drew()

	// GrantSent is the true instant at which a client sent the command that its lease
	// goes back to. It makes the deadline of leases whose strategy exposes none.
	GrantSent(client int) time.Duration
	// LeaseLive reports whether a client's lease, which has such a deadline, is live.
	LeaseLive(client int) bool
	// AwaitLapse takes over when a client's lease is to lapse: a true instant, or
	// trace.Never. What was to lapse before does no more.
	AwaitLapse(c *Client, at time.Duration)

	Referee
}

// Referee answers what only the probe asks: see [Runtime.NewProbe].
type Referee interface {
	// NextArrival is how long it takes until the next request arrives that a client sent
	// before the end of the script. It may yet change who gets the lock.
	NextArrival() (in time.Duration, any bool)
	// Obstructed reports whether the lock can't be had for a record that may yet go.
	Obstructed() bool
	// Patience is how long the probe waits before it asks again: after its first refusal,
	// and after its second.
	Patience(refusals int) time.Duration
	// Deadlocked hears that the probe was refused when nothing could change any more.
	Deadlocked()
}

// Line is the host's end of a connection.
type Line interface {
	// Exchange answers a command that belongs to no operation: the handshake of a new
	// connection, or what the library sends while nobody's code runs. It leaves no event.
	Exchange(args []string) (reply []byte)
	// Reset makes the line as good as new, for another run.
	Reset()
}

// Runtime is what the clients of one host share: whose code is running, and caches.
type Runtime struct {
	// Sources has operations tell the line of code that they come from. It takes time.
	Sources bool
	// Guard looks whether it is a thread that announces an operation; another
	// goroutine's is a [Panic]. It takes time, too.
	Guard bool

	host    Host
	current *Thread               // whose code is running, if anybody's
	stray   atomic.Pointer[Panic] // a goroutine that is no thread has announced an operation
	sources sourceCache
	words   map[string][]string // of commands, by what they are on the wire: see parse
}

// NewRuntime makes a runtime for the clients of a host.
func NewRuntime(h Host) *Runtime {
	hushGoRedis()
	return &Runtime{host: h, sources: sourceCache{}, words: map[string][]string{}}
}

// Reset forgets whose code was running when a run was abandoned.
func (rt *Runtime) Reset() { rt.current = nil }

// parse is resp.Parse, for what is one whole command out of memory: the runs of a
// host's clients say the same things again and again. Nobody changes the words of a
// command.
func (rt *Runtime) parse(buf []byte) (args []string, taken int, err error) {
	if args, known := rt.words[string(buf)]; known {
		return args, len(buf), nil
	}
	args, taken, err = resp.Parse(buf)
	if err == nil && taken > 0 && taken == len(buf) {
		if len(rt.words) >= 1024 {
			clear(rt.words)
		}
		rt.words[string(buf)] = args
	}
	return args, taken, err
}
