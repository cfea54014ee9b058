package process

import (
	"fmt"
	"runtime"
	"strings"

	"lockstep/sim/trace"
)

// Panic is the simulator's panic for a panic in a strategy's code. It keeps the line of
// code, because the coroutine's stack is gone by the time the panic is handled.
type Panic struct {
	Client string
	Value  any // the value of the code's own panic
	Source trace.Source
}

// Error names the client, the line and the value of the code's panic.
func (p *Panic) Error() string {
	where := ""
	if p.Source.File != "" {
		where = fmt.Sprintf(" at %s:%d", p.Source.File, p.Source.Line)
	}
	return fmt.Sprintf("%s's code panics%s: %v", p.Client, where, p.Value)
}

// Unwrap returns the value of the code's panic if it is an error, and nil otherwise.
func (p *Panic) Unwrap() error {
	err, _ := p.Value.(error)
	return err
}

// goexit is the value for code that ends its goroutine instead of returning.
const goexit = "runtime.Goexit ends its thread (does it call FailNow, Fatal or require of a test?)"

// guard runs a strategy's code. It adds the line of code to panics, and turns a Goexit into
// a panic: iter.Pull would pass the Goexit on to the goroutine that drives the world. In a
// killed client, panics and Goexits of deferred functions are ignored.
func (c *Client) guard(dead *bool, run func()) {
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
			v = &Panic{Client: c.Name, Value: v, Source: callerSource(c.rt.sources)}
		}
		c.rt.current = nil
		panic(v)
	}()
	run()
	runtime.KeepAlive(c) // its address in the stack tells whose code hangs: see Runtime.hang
	returned = true
}

// strayed is the value for a goroutine, started by the code itself, that uses Redis or a
// clock. If it took part in the run, the run would hang: control would never come back.
const strayed = "a goroutine that is not one of its threads uses Redis or the clock: start threads by Options.Go"

// channelStrays is the value for a PubSub.Channel, which starts such goroutines in go-redis.
const channelStrays = "PubSub.Channel receives on goroutines of go-redis's own, outside of virtual time: wait by PubSub.ReceiveTimeout"

// refuse makes the running thread's next stop a panic. The first refusal counts.
func (rt *Runtime) refuse(p *Panic) { rt.refused.CompareAndSwap(nil, p) }

// inFrames reports whether a function whose name contains the text is on the stack.
func inFrames(name string) bool {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	for {
		f, more := frames.Next()
		if strings.Contains(f.Function, name) {
			return true
		}
		if !more {
			return false
		}
	}
}

// onCoroutine reports whether the caller runs on a thread, and not on a goroutine that a
// thread has started: only the stack of a coroutine has runtime.corostart at its bottom.
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
