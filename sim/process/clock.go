package process

import (
	"context"
	"math"
	"runtime"
	"time"

	"lockstep/sim/trace"
)

// WallClock is a client's wall clock: it runs at a rate, is off by an offset, and may be
// made to jump.
type WallClock struct {
	Offset time.Duration // added to the reading; a jump changes it
	Rate   float64       // seconds of the clock in a true second
}

// Read returns the clock's reading at a true instant.
func (c *WallClock) Read(now time.Duration) time.Time {
	return trace.Epoch.Add(scale(now, c.Rate) + c.Offset)
}

// MonoClock is a client's monotonic clock: it runs at the same rate as its wall
// clock, for it is the same oscillator, and never jumps. Its origin differs from
// client to client, so that code which compares two clients' readings goes visibly wrong.
type MonoClock struct {
	Origin time.Duration // the reading at the start of the run
	Rate   float64       // seconds of the clock in a true second
}

// Read returns the clock's reading at a true instant.
func (c *MonoClock) Read(now time.Duration) time.Duration {
	return c.Origin + scale(now, c.Rate)
}

// EndOfTime is later than any run lasts.
const EndOfTime = trace.MaxTime + 1

// When returns the first true instant at which the clock reads at least reading, or
// EndOfTime if that is sooner.
func (c *MonoClock) When(reading time.Duration) time.Duration {
	d := reading - c.Origin
	if c.Rate == 1 {
		return min(d, EndOfTime)
	}
	if float64(d)/c.Rate > float64(trace.MaxTime) {
		return EndOfTime
	}
	at := time.Duration(float64(d) / c.Rate)
	for at > 0 && scale(at-1, c.Rate) >= d {
		at--
	}
	for scale(at, c.Rate) < d {
		at++
	}
	return at
}

// After returns the first true instant at which the clock has counted d since now. To add
// the true length of d to now would be wrong: readings are whole nanoseconds, and a sleep
// that is rounded twice would end late.
func (c *MonoClock) After(now, d time.Duration) time.Duration {
	reading := c.Read(now)
	if d > math.MaxInt64-reading { // more than 29 years even for the fastest clock
		return EndOfTime
	}
	return c.When(reading + d)
}

func scale(d time.Duration, rate float64) time.Duration {
	if rate == 1 {
		return d
	}
	return time.Duration(float64(d) * rate)
}

// clientClock is the clock that a strategy gets: each reading is an operation.
type clientClock struct{ c *Client }

func (k clientClock) Now() time.Time {
	return trace.Epoch.Add(k.thread().do(Op{Kind: OpClock, Wall: true}).Reading)
}

func (k clientClock) Monotonic() time.Duration {
	return k.thread().do(Op{Kind: OpClock}).Reading
}

func (k clientClock) Sleep(ctx context.Context, d time.Duration) error {
	if err := k.c.refuseTimed(ctx); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if d > 0 {
		if tick := k.c.settings.Tick; tick > 0 { // no sleep may end early
			d = (d + tick - 1) / tick * tick
		}
		k.thread().do(Op{Kind: OpSleep, Sleep: d, Until: ctx})
	}
	return ctx.Err()
}

// thread returns the running thread. It panics if that is not one of the client's, and ends a
// goroutine that is no thread: a panic there would end the whole program.
func (k clientClock) thread() *Thread {
	if k.c.rt.Guard && !onCoroutine() && !inConstructor() {
		k.c.refuseStray(strayed, strayedFrom())
		runtime.Goexit()
	}
	if t := k.c.rt.current; t != nil && t.Client == k.c {
		return t
	}
	if inConstructor() {
		panic(makes("looks at a clock, or sleeps"))
	}
	panic("sim: " + k.c.Name + "'s clock was read from a goroutine that is not one of its threads")
}
