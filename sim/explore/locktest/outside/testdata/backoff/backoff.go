// Package backoff is somebody else's library, which a lock imports.
package backoff

import (
	"math/rand/v2"
	"sync"
	"time"
)

// Policy says how long to wait.
type Policy interface{ Next() time.Duration }

// Exponential waits longer each time.
type Exponential struct {
	Base, Most time.Duration
	n          int
}

// Next is the next wait, with jitter.
func (e *Exponential) Next() time.Duration {
	e.n++
	d := min(e.Base<<e.n, e.Most)
	return d/2 + rand.N(d/2) // want math/rand/v2.N
}

// Constant waits as long each time.
type Constant time.Duration

// Next is the next wait.
func (c Constant) Next() time.Duration { return time.Duration(c) }

// Timer waits.
type Timer interface {
	Start(time.Duration)
	C() <-chan time.Time
}

type systemTimer struct{ t *time.Timer }

func (s *systemTimer) Start(d time.Duration) { s.t = time.NewTimer(d) } // want time.NewTimer
func (s *systemTimer) C() <-chan time.Time   { return s.t.C }

// Retry tries until it succeeds.
func Retry(op func() error, p Policy) error { return RetryWith(op, p, nil) }

// RetryWith is Retry with a timer of one's own.
func RetryWith(op func() error, p Policy, t Timer) error {
	if t == nil {
		t = &systemTimer{}
	}
	for {
		if err := op(); err == nil {
			return nil
		}
		t.Start(p.Next())
		<-t.C()
	}
}

// Group is threads that are waited for.
type Group struct{ wg sync.WaitGroup }

// Go starts one.
func (g *Group) Go(f func() error) {
	g.wg.Add(1)
	go func() {
		defer g.wg.Done()
		_ = f()
	}()
}

// Wait waits for all.
func (g *Group) Wait() { g.wg.Wait() }

var clocks = map[string]func() time.Time{}

// Register gives a clock a name.
func Register(name string, now func() time.Time) { clocks[name] = now }

// Clock is the one of a name.
func Clock(name string) func() time.Time { return clocks[name] }

func init() { Register("wall", time.Now) } // want time.Now
