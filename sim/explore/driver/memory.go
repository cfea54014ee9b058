package driver

// Memory says what clients may know of earlier cycles.
type Memory struct {
	Closures bool // variables that a closure has captured, besides the lock's own fields and its draws
	// Readings: times read from a clock. A client's monotonic clock goes on from one cycle to
	// the next, then, while otherwise it makes a leap, and readings count from the cycle's first.
	Readings bool
	// Uncounted: the cycles have no number. Each call of Acquire draws its tokens from
	// a series: see [Driver.BeginSeries].
	Uncounted bool
}

// GoesOn reports whether readings of one cycle can be compared with those of the next.
func (m Memory) GoesOn() bool { return m.Readings || m.Closures }
