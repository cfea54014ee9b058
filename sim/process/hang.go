package process

import (
	"bufio"
	"bytes"
	"fmt"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"lockstep/sim/trace"
)

// Hang is the error of a strategy's code that goes on for too long of real time without an
// operation: it waits for something outside of the simulated world, or loops.
type Hang struct {
	Client string
	Source trace.Source  // the line of code
	What   string        // the call in that line, such as "sync.(*Mutex).Lock", or the state, such as "chan receive"
	Busy   bool          // it loops, and waits for nothing
	After  time.Duration // how long it was let go on
}

// Error names the client, the line and the call, and says what to do instead.
func (h *Hang) Error() string {
	where := ""
	if h.Source.File != "" {
		where = fmt.Sprintf(" at %s:%d", h.Source.File, h.Source.Line)
	}
	if h.Busy {
		return fmt.Sprintf("%s's code has been running for more than %s%s without a command or a look at the clock: let it wait with Options.Clock.Sleep", h.Client, h.After, where)
	}
	mutex := ""
	if strings.Contains(h.What, "Lock") {
		mutex = ", and hold no mutex across a command"
	}
	return fmt.Sprintf("%s's code has been blocked for more than %s%s, in %s: nothing in the simulated world can wake it. "+
		"Wait with Options.Clock.Sleep, start threads by Options.Go%s", h.Client, h.After, where, h.What, mutex)
}

// Watch notices client code that hangs. A thread's code runs as a coroutine, so that its
// resumer waits with it, and can't be woken: [Watch.Run] has that done by a goroutine
// which can be left behind.
type Watch struct {
	patience time.Duration
	over     atomic.Bool
	mu       sync.Mutex
	sights   []*sight
}

// sight is a watch's last observation of a runtime.
type sight struct {
	rt    *Runtime
	beat  uint64 // of the runtime when the watch last looked
	ticks int    // how often it has been that since
}

// Patience is how long a lock's code may do without an operation, in real time, unless
// something else is asked for.
const Patience = time.Second

// NewWatch returns a watch that calls it a hang if code goes on for so long; 0 is [Patience].
func NewWatch(patience time.Duration) *Watch {
	if patience <= 0 {
		patience = Patience
	}
	return &Watch{patience: patience}
}

// Add puts a runtime under the watch. A nil Watch watches nothing.
func (w *Watch) Add(rt *Runtime) {
	if w == nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	rt.watch = w
	w.sights = append(w.sights, &sight{rt: rt})
}

// Over reports whether the watch has found a hang. The function that it ran may still go on,
// and must have no effect on anything else.
func (w *Watch) Over() bool { return w != nil && w.over.Load() }

// looks is how often a watch looks within its patience. A process that was stopped and goes
// on is not late at more than one look.
const looks = 4

// Run runs a function that drives clients, on a goroutine of its own, and waits for it. If
// the code of a client hangs meanwhile, Run returns a [Hang] and leaves the goroutine behind:
// all that it uses is lost. A panic of the lock's code goes on as a [Panic].
func (w *Watch) Run(drive func()) error {
	type end struct {
		returned bool
		panicked *Panic
	}
	done := make(chan end, 1)
	go func() {
		var e end
		defer func() {
			switch v := recover().(type) {
			case nil:
			case *Panic:
				e.panicked = v
			default:
				panic(v)
			}
			done <- e
		}()
		drive()
		e.returned = true
	}()
	ticker := time.NewTicker(max(w.patience/looks, 1))
	defer ticker.Stop()
	for {
		select {
		case e := <-done:
			if e.panicked != nil {
				panic(e.panicked)
			}
			if !e.returned {
				runtime.Goexit() // as the function has, for a test's FailNow
			}
			return nil
		case <-ticker.C:
			if h := w.look(); h != nil {
				return h
			}
		}
	}
}

// look returns the hang of a client that has been at the same piece of code for too long. A
// loop may just be slow, or starved by other processes, so it is given twice the time.
func (w *Watch) look() *Hang {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, s := range w.sights {
		beat := s.rt.beat.Load()
		if beat == 0 || beat != s.beat {
			s.beat, s.ticks = beat, 0
			continue
		}
		if s.ticks++; s.ticks < looks {
			continue
		}
		h := s.rt.hang(int(beat % maxClients))
		if h.Busy && s.ticks < 2*looks {
			continue
		}
		if h.After = w.patience; h.Busy {
			h.After *= 2
		}
		w.over.Store(true)
		return h
	}
	return nil
}

// maxClients is more than the clients of a host, and more than they can ever be.
const maxClients = 1 << 16

// enter marks that a client's code begins to run; leave, that it has stopped.
func (rt *Runtime) enter(c *Client) {
	rt.turn++
	rt.beat.Store(rt.turn*maxClients + uint64(c.Index))
}

func (rt *Runtime) leave() { rt.beat.Store(0) }

// hang describes the code of a client that is running now, by the stacks of all goroutines.
func (rt *Runtime) hang(client int) *Hang {
	c := rt.clients[slices.IndexFunc(rt.clients, func(c *Client) bool { return c.Index == client })]
	guard := fmt.Sprintf("process.(*Client).guard(%p", c) // the client's own, and not that of another run
	for text := range bytes.SplitSeq(allStacks(), []byte("\n\n")) {
		if state := goroutineState(text); state != "coroutine" && bytes.Contains(text, []byte(guard)) {
			h := stuck(text, state)
			h.Client = c.Name
			return h
		}
	}
	return &Hang{Client: c.Name, Busy: true} // it has just gone on
}

// allStacks is the text of all goroutines' stacks. That they all fit can be told only by room that is left over, so the
// next call begins with the size that was enough for this one: a search asks at every grant, and most programs have few stacks.
func allStacks() []byte {
	for size := max(1<<16, enough.Load()); ; size *= 2 {
		stacks := make([]byte, size)
		if n := runtime.Stack(stacks, true); n < len(stacks) {
			enough.Store(size)
			return stacks[:n]
		}
	}
}

var enough atomic.Int64 // bytes

// goroutineState is the word in the first line of a goroutine's stack, "goroutine 7 [chan
// receive, 2 minutes]:", that says what it is doing.
func goroutineState(text []byte) string {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	_, in, _ := bytes.Cut(line, []byte("["))
	in, _, _ = bytes.Cut(in, []byte("]"))
	in, _, _ = bytes.Cut(in, []byte(","))
	return string(in)
}

// goesOn reports whether a goroutine in this state runs, or will: on a busy machine it may have to
// wait long for a processor, and for the collector's work, of which it has to do a part.
func goesOn(state string) bool {
	return state == "running" || state == "runnable" || state == "preempted" || strings.HasPrefix(state, "GC ")
}

// stuck finds the innermost line of the lock's own code in a stack, and the call in it.
func stuck(text []byte, state string) *Hang {
	h := &Hang{What: state, Busy: goesOn(state)}
	lines := bufio.NewScanner(bytes.NewReader(text))
	lines.Buffer(nil, 1<<20)
	lines.Scan() // the goroutine
	for lines.Scan() {
		call := lines.Text()
		if !lines.Scan() {
			break
		}
		f := runtime.Frame{Function: call[:max(0, strings.LastIndexByte(call, '('))]}
		place, _, _ := strings.Cut(strings.TrimSpace(lines.Text()), " ")
		colon := strings.LastIndexByte(place, ':')
		if f.Function == "" || colon < 0 {
			continue
		}
		f.File = place[:colon]
		f.Line, _ = strconv.Atoi(place[colon+1:])
		if h.Source = strategySource(f); h.Source.File != "" {
			break
		}
		h.What = path.Base(f.Function)
	}
	return h
}
