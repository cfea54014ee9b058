package sim

import (
	"lockstep/sim/trace"
	"math"
	"time"
)

// wallClock is a client's wall clock: it runs at a rate, is off by some offset,
// and may be made to jump.
type wallClock struct {
	offset time.Duration
	rate   float64
}

func (c *wallClock) read(now time.Duration) time.Time {
	return trace.Epoch.Add(scale(now, c.rate) + c.offset)
}

// monoClock is a client's monotonic clock: it runs at the same rate as its wall
// clock, for it is the same oscillator, and never jumps. Its origin differs from
// client to client, so that code which compares two clients' readings shows.
type monoClock struct {
	origin time.Duration
	rate   float64
}

func (c *monoClock) read(now time.Duration) time.Duration {
	return c.origin + scale(now, c.rate)
}

// endOfTime is later than any run lasts.
const endOfTime = trace.MaxTime + 1

// when is the first true instant at which the clock reads at least reading, or
// endOfTime if that is sooner.
func (c *monoClock) when(reading time.Duration) time.Duration {
	d := reading - c.origin
	if c.rate == 1 {
		return min(d, endOfTime)
	}
	if float64(d)/c.rate > float64(trace.MaxTime) {
		return endOfTime
	}
	at := time.Duration(float64(d) / c.rate)
	for at > 0 && scale(at-1, c.rate) >= d {
		at--
	}
	for scale(at, c.rate) < d {
		at++
	}
	return at
}

// after is the first true instant at which the clock has counted d since now. It
// is not now plus the time that d takes: readings are whole nanoseconds, and
// rounded twice a sleep would end late.
func (c *monoClock) after(now, d time.Duration) time.Duration {
	reading := c.read(now)
	if d > math.MaxInt64-reading { // more than 29 years even for the fastest clock
		return endOfTime
	}
	return c.when(reading + d)
}

func scale(d time.Duration, rate float64) time.Duration {
	if rate == 1 {
		return d
	}
	return time.Duration(float64(d) * rate)
}
