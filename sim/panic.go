package sim

import (
	"fmt"
	"lockstep/sim/trace"
	"runtime"
	"runtime/debug"
)

// Panic is what the simulator panics with when a strategy's code has panicked: in
// a coroutine the stack that says where is gone by the time anybody else hears of it.
type Panic struct {
	Client string
	Value  any // what the code panicked with
	Source trace.Source
}

func (p *Panic) Error() string {
	where := ""
	if p.Source.File != "" {
		where = fmt.Sprintf(" at %s:%d", p.Source.File, p.Source.Line)
	}
	return fmt.Sprintf("%s's code panics%s: %v", p.Client, where, p.Value)
}

// Unwrap is the error that the code panicked with, if it was one.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// broken is what is thrown when the world's own code has panicked on the stack of a
// thread: with where that was, which is gone when it is thrown.
type broken struct {
	value any
	stack []byte
}

func (b *broken) Error() string { return fmt.Sprintf("%v\n\n%s", b.value, b.stack) }

// steppedHere is stepped, on a thread's stack. A panic of the world's must not come by
// the lock's code, which may have a use for it: whoever drives the world gets it.
func (w *World) steppedHere(t *thread) {
	defer func() {
		if v := recover(); v != nil {
			w.broken, w.turn = &broken{v, debug.Stack()}, nil
		}
	}()
	w.stepped(t)
}

// goexit is the value for code that ends its goroutine instead of returning.
const goexit = "runtime.Goexit ends its thread (does it call FailNow, Fatal or require of a test?)"

// guard runs a strategy's code. It hands panics on with their place, and makes one
// of a Goexit: that would end, without a word, whoever drives the world. In a
// client that is killed nothing matters any more, whatever deferred functions do.
func (c *client) guard(dead *bool, run func()) {
	returned := false
	defer func() {
		v := recover()
		if returned || *dead {
			return
		}
		if v == nil {
			v = goexit
		}
		if _, already := v.(*Panic); !already {
			v = &Panic{Client: c.name, Value: v, Source: callerSource(c.world.sources)}
		}
		c.world.current = nil
		panic(v)
	}()
	run()
	returned = true
}

// strayed is the value for a goroutine of the code's own that uses Redis or a clock.
// If it took part in the run, the run would hang: control would never come back.
const strayed = "a goroutine that is not one of its threads uses Redis or the clock: start threads by Options.Go"

// onCoroutine reports whether it is a thread that is running, and not a goroutine
// that a thread has started: only a coroutine has that bottom.
func onCoroutine() bool {
	var pcs [128]uintptr
	n := runtime.Callers(1, pcs[:])
	if n == len(pcs) {
		return true // too deep to tell
	}
	for _, pc := range pcs[max(0, n-3):n] {
		if f := runtime.FuncForPC(pc); f != nil && f.Name() == "runtime.corostart" {
			return true
		}
	}
	return false
}
