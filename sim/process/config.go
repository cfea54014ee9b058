package process

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Settings is what all clients of a run have in common.
type Settings struct {
	Strategy strategies.Strategy
	Key      string        // the lock's key
	TTL      time.Duration // of a lease
	Retry    strategies.Retry
	Seed     uint64
	Workload trace.Workload
	Tokens   Tokens
}

// Config is one client's part of a run's configuration.
type Config struct {
	Name   string
	Offset time.Duration // of its wall clock
	Rate   float64       // of both its clocks; 1 is right
	Cycles int           // how often it takes the lock
	Work   time.Duration // between its read and its write
	Insist time.Duration // after a refusal or an error it waits so long and tries again; 0: it gives up
	Extend bool          // before it writes it extends its lease, if the strategy can
	Checks bool          // before each access it looks whether its lease is over, and leaves if it is
	// FailOpen: if Acquire fails (not if it is refused) it goes ahead without the lock.
	FailOpen bool
	// FallThrough: if it is refused it goes ahead without the lock, and takes it for
	// a mere hint.
	FallThrough bool
	// Recheck: with the lock in hands it reads the cache again before it queries the
	// database, and leaves if another has rebuilt the entry meanwhile.
	Recheck bool
}

// goesAhead reports whether the client does without the lock after this error of
// Acquire.
func (c *Config) goesAhead(err error) bool {
	if errors.Is(err, strategies.ErrNotAcquired) {
		return c.FallThrough
	}
	return c.FailOpen
}

// MaxCycles is how often a client can take the lock in a run.
const MaxCycles = 1000

// Validate reports what of a client's configuration could not be run.
func (c *Config) Validate() error {
	if err := ValidName(c.Name); err != nil {
		return err
	}
	switch {
	case c.Cycles < 1 || c.Cycles > MaxCycles:
		return fmt.Errorf("%s has %d cycles, and can have 1 to %d", c.Name, c.Cycles, MaxCycles)
	case !(c.Rate >= 0.1 && c.Rate <= 10): // also refuses NaN
		return fmt.Errorf("%s's clock runs at rate %g, and can run at 0.1 to 10", c.Name, c.Rate)
	case c.Work < 0 || c.Work > trace.MaxSpan || c.Insist < 0 || c.Insist > trace.MaxSpan:
		return fmt.Errorf("%s works for %s and insists after %s, and both can be 0s to %s", c.Name, c.Work, c.Insist, trace.MaxSpan)
	case c.Offset < -trace.MaxSpan || c.Offset > trace.MaxSpan:
		return fmt.Errorf("%s's clock is off by %s, and can be by %s", c.Name, c.Offset, trace.MaxSpan)
	}
	return nil
}

// reserved are the names that a trace or a schedule has given to others.
var reserved = map[string]bool{trace.Probe: true, "store": true, "net": true, "all": true,
	"seed": true, "key": true, "ttl": true, "timeout": true, "latency": true, "retry": true, "workload": true,
	"resource": true, "cold": true, "tokens": true, "replicas": true, "lag": true}

// ValidName reports whether a client can have that name: it must not be mistaken
// for anybody else in a trace, and fit into a schedule.
func ValidName(name string) error {
	server := len(name) > 1 && name[0] == 'n' && strings.Trim(name[1:], "r0123456789") == ""
	switch {
	case reserved[name] || server:
		return fmt.Errorf("a client cannot be named %q: that name is taken", name)
	case name == "" || len(name) > 12 || strings.Trim(name, nameLetters) != "":
		return fmt.Errorf("a client cannot be named %q: use up to 12 letters, digits and underscores", name)
	}
	return nil
}

const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"
