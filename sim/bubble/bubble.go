package bubble

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// bubble is one process of a client, in which the library's goroutines run. It stands still
// but for the time that a stimulus takes: see move.
//
// Invariant: the fields after lock are used by the bubble's controller, and by others only
// while it waits for the next stimulus.
type bubble struct {
	stimuli chan func()   // carried out by the controller
	still   chan struct{} // it has been, and all goroutines wait
	gone    chan struct{} // closed at the end
	random  stream

	mu    sync.Mutex
	sent  []request // and not taken yet
	conns [][]*conn // of each node, in the order of dialling
	over  bool      // the call under way has returned

	stir    chan struct{} // of the bubble: something was sent, or a call has returned
	process *Process
	lock    Lock
	ctx     context.Context
	cancel  context.CancelFunc
	began   time.Time // the bubble's clock at the beginning
	blind   bool      // nobody asks for the lines of code that send commands
	err     error     // of the call that has returned last
	token   string    // that the lock has stored, and
	until   time.Time // the end of the lease, as the library tells them
	panics  any       // the value of its panic
}

// moving is held while any bubble moves: goroutines of two would be scheduled at random, and
// crypto/rand belongs to one.
var moving sync.Mutex

// newBubble starts a process. It has no lock yet: its first call makes it.
func newBubble(t *testing.T, seed string, p Process) *bubble {
	b := &bubble{process: &p, conns: make([][]*conn, p.Nodes), stimuli: make(chan func()), still: make(chan struct{}), gone: make(chan struct{}), random: newStream(seed)}
	p.b, p.aliases = b, map[string]string{}
	go func() {
		defer close(b.gone)
		defer func() {
			// A library that leaves goroutines behind ends as a process that exits does.
			if v := recover(); v != nil && !strings.HasPrefix(fmt.Sprint(v), "deadlock") {
				panic(v)
			}
		}()
		synctest.Test(t, b.control)
	}()
	return b
}

// control is the bubble's main goroutine.
func (b *bubble) control(*testing.T) {
	b.began, b.stir = time.Now(), make(chan struct{}, 1)
	b.ctx, b.cancel = context.WithCancel(context.Background())
	for f := range b.stimuli {
		f()
		synctest.Wait()
		b.still <- struct{}{}
	}
	b.cancel()
	for _, c := range b.all() {
		_ = c.Close()
	}
	synctest.Wait()
	for i := len(b.process.ends) - 1; i >= 0; i-- {
		b.process.ends[i]()
	}
	pass(time.Hour) // goroutines that still sleep may end
	synctest.Wait()
}

// pass lets the bubble's virtual time go by, which takes no real time.
func pass(d time.Duration) {
	if d > 0 {
		<-time.After(d)
	}
}

// move gives the bubble a stimulus, and returns when it stands still again.
func (b *bubble) move(f func()) {
	moving.Lock()
	defer moving.Unlock()
	source.current.Store(&b.random)
	defer source.current.Store(nil)
	b.stimuli <- f
	<-b.still
}

// end ends the process.
func (b *bubble) end() {
	moving.Lock()
	defer moving.Unlock()
	source.current.Store(&b.random)
	defer source.current.Store(nil)
	close(b.stimuli)
	<-b.gone
}

// send keeps a command of the library.
func (b *bubble) send(r request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.sent = append(b.sent, r)
	b.stirs()
}

func (b *bubble) stirs() {
	select {
	case b.stir <- struct{}{}:
	default:
	}
}

// take returns the requests that were sent since it was last called, in an order that isn't the runtime's.
func (b *bubble) take() []request {
	b.mu.Lock() // the bubble stands still, and later only their own timers wake its goroutines
	defer b.mu.Unlock()
	sent := b.sent
	b.sent = nil
	return sorted(sent)
}

// all returns the library's connections.
func (b *bubble) all() []*conn {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Concat(b.conns...)
}

// conn returns a connection by its node and number.
func (b *bubble) conn(node, id int) *conn {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.conns[node][id]
}

// done returns how many commands wait to be taken, and whether the call has come to its end.
func (b *bubble) done() (sent int, over bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.sent), b.over
}

// function is a call of the program: it returns the error that the simulator is to see.
type function func(context.Context, *Lock) error

// stimulus moves a bubble: it is a call, replies or time. The same stimuli in the same order
// move another bubble in the same way.
type stimulus struct {
	call    function            // begins
	make    func(*Process) Lock // before it, the lock is made, if it is the first
	at      time.Duration       // how long after the beginning of the process it happens; in any case
	replies []reply             // arrive
	sent    string              // by the library then, in words
}

// reply is a reply on one of the connections to a node.
type reply struct {
	node, conn int
	data       []byte
	err        error
}

// apply gives the bubble a stimulus. It reports whether the library, when only time had
// passed, before the call began or the replies arrived, has sent anything or come to the end
// of its call.
func (b *bubble) apply(s *stimulus) (early bool) {
	b.move(func() {
		_, was := b.done()
		pass(time.Until(b.began.Add(s.at)))
		synctest.Wait()
		sent, over := b.done()
		early = sent > 0 || over != was
		if s.call != nil {
			b.begin(s)
		}
		for _, r := range s.replies {
			b.conn(r.node, r.conn).deliver(r.data, r.err)
			synctest.Wait() // the library gets them in this order
		}
	})
	return early
}

// begin starts a call on a goroutine of its own.
func (b *bubble) begin(s *stimulus) {
	b.over, b.err = false, nil
	go func() {
		defer func() {
			if v := recover(); v != nil {
				b.panics = fmt.Sprintf("%v\n%s", v, debug.Stack())
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			b.over = true
			b.stirs()
		}()
		if s.make != nil {
			b.lock = s.make(b.process)
		}
		b.err = s.call(b.ctx, &b.lock)
		if b.err == nil && b.lock.Until != nil {
			b.until = b.lock.Until()
		}
		if b.err == nil && b.lock.Token != nil {
			b.token = b.lock.Token()
		}
	}()
}

// ahead runs the bubble on until the library sends something, or its call returns. It returns
// the time that this takes, or false if it does not within its patience.
func (b *bubble) ahead(patience time.Duration) (in time.Duration, ok bool) {
	b.move(func() {
		select {
		case <-b.stir: // of earlier requests or ends
		default:
		}
		from := time.Now()
		select {
		case <-b.stir:
			in, ok = time.Since(from), true
		case <-time.After(patience):
		}
	})
	return in, ok
}
