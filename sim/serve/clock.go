package serve

import "time"

// clock is virtual time. It goes with the machine's monotonic clock, or stands still.
//
// Invariant: now never decreases.
type clock struct {
	now   time.Duration
	goes  bool
	since time.Time // real; when virtual time was base
	base  time.Duration
	timer *time.Timer
}

func (c *clock) reset(goes bool) { *c = clock{goes: goes, since: time.Now()} }

// present returns the virtual instant.
func (c *clock) present() time.Duration {
	if !c.goes {
		return c.now
	}
	return max(c.now, c.base+time.Since(c.since))
}

// run lets time go on by itself, or stops it at the present instant.
func (c *clock) run(goes bool) {
	c.base, c.since, c.goes = c.now, time.Now(), goes
}

// alarm returns a channel that is ready when an instant has come, if time goes on until then.
func (c *clock) alarm(due time.Duration, any bool) <-chan time.Time {
	if c.timer != nil {
		c.timer.Stop()
	}
	if !any || !c.goes {
		return nil
	}
	c.timer = time.NewTimer(max(0, due-c.present()))
	return c.timer.C
}
