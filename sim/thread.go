package sim

import (
	"errors"
	"iter"
	"lockstep/sim/trace"
	"runtime"
	"time"
)

// thread is one of a client's threads: a coroutine that runs ordinary code and
// stops at every point at which it observes or affects the world. There it
// announces its next operation; the world performs it when the schedule says so,
// and hands the result back. Between the two the world goes on, for as long as it
// has moves to make, on the stack of the thread that has stopped.
type thread struct {
	client *client
	index  int
	name   string

	resume func() (struct{}, bool)
	cancel func()
	yield  func(struct{}) bool

	op      op
	started bool
	waiting bool          // its operation can't be performed yet
	due     time.Duration // when it can in any case: its sleep is over, or its patience
	readyAt uint64        // order of becoming ready: among ready threads, who waited longest goes first
	dead    bool          // unwinding: nothing it does may leave a trace
	over    bool          // its function has returned, or it was killed

	phase   trace.Phase
	command int // how many commands it has sent in this phase
	last    *message
}

type opKind uint8

const (
	opStart opKind = iota
	opSend
	opReceive
	opClock
	opSleep
	opRead
	opWrite
	opQuery
	opMark
)

// op is what a thread is about to do, and what came of it.
type op struct {
	kind   opKind
	mark   trace.Kind // for opMark
	conn   *conn
	args   []string
	d      time.Duration // how long to sleep; after opClock the reading
	wall   bool
	value  int64
	fence  int64
	err    error
	reply  []byte
	source trace.Source
}

func (t *thread) start(main func(*thread)) {
	t.resume, t.cancel = iter.Pull(func(yield func(struct{}) bool) {
		t.yield = yield
		growStack(t.index)
		t.client.guard(&t.dead, func() { main(t) })
	})
	t.op = op{kind: opStart}
	t.started, t.waiting, t.dead, t.over = false, false, false, false
	t.phase, t.command, t.last = trace.PhaseIdle, 0, nil
}

// growStack makes room at once for how deep go-redis goes. Otherwise the stack of
// each new thread is moved three times on the way there.
//
//go:noinline
func growStack(i int) byte {
	var room [12 << 10]byte
	return room[i] // or there would be no room
}

// do announces an operation and waits for its turn. It is called on the
// thread's own stack, deep inside go-redis.
//
// In a thread that has been killed it doesn't return: runtime.Goexit unwinds the
// stack, and deferred functions that touch the world meet the same end, so a
// crash leaves no event whatever the strategy defers. (A panic could be
// recovered by the strategy; Goexit cannot.)
func (t *thread) do(o op) *op {
	if t.dead {
		runtime.Goexit()
	}
	w := t.client.world
	if w.guarded && !onCoroutine() {
		w.stray.CompareAndSwap(nil, &Panic{Client: t.client.name, Value: strayed, Source: callerSource(w.sources)})
		return &op{err: errors.New(strayed)}
	}
	if w.recording {
		if sent := &t.op; o.kind == opReceive && sent.kind == opSend && sent.conn == o.conn {
			o.source = sent.source // who waits for the reply is the call that sent the command, and looking for it takes long
		} else {
			o.source = callerSource(w.sources)
		}
	}
	t.op = o
	w.current = nil
	w.steppedHere(t)
	if w.turn != t && !t.yield(struct{}{}) {
		t.dead = true
		runtime.Goexit()
	}
	w.current = t
	return &t.op
}

// run continues the thread until it's not its turn, or it returns.
func (t *thread) run() {
	w := t.client.world
	w.current, t.started = t, true
	_, more := t.resume()
	w.current = nil
	if p := w.stray.Swap(nil); p != nil {
		panic(p)
	}
	if w.broken != nil {
		panic(w.broken)
	}
	if !more {
		t.over = true
		w.stepped(t)
	}
}

// kill ends the thread where it stands. Unwinding happens on a goroutine of its
// own because iter.Pull hands a Goexit on to whoever called it.
func (t *thread) kill() {
	if t.over || t.cancel == nil {
		return
	}
	t.over = true
	if !t.started {
		t.cancel() // there is no stack to unwind
		return
	}
	w := t.client.world
	before := w.current
	w.current = t
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.cancel()
	}()
	<-done
	w.current = before
}
