package sim

import "time"

// Epoch is what every wall clock reads at the start of a run, unless it is set
// wrong: early enough for the stamps that some strategies store to be short.
var Epoch = time.Unix(1000, 0).UTC()

// wallClock is a client's wall clock: it runs at a rate, is off by some offset,
// and may be made to jump.
type wallClock struct {
	offset time.Duration
	rate   float64
}

func (c *wallClock) read(now time.Duration) time.Time {
	return Epoch.Add(scale(now, c.rate) + c.offset)
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

// when is the first true instant at which the clock reads at least reading.
func (c *monoClock) when(reading time.Duration) time.Duration {
	return c.span(reading - c.origin)
}

// span is how much true time passes while the clock counts d.
func (c *monoClock) span(d time.Duration) time.Duration {
	if c.rate == 1 {
		return d
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

func scale(d time.Duration, rate float64) time.Duration {
	if rate == 1 {
		return d
	}
	return time.Duration(float64(d) * rate)
}
