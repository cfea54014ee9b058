package process

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Settings is the part of a run's configuration that all its clients share.
type Settings struct {
	Strategy strategies.Strategy
	Key      string        // the lock's key
	TTL      time.Duration // of a lease
	Retry    strategies.Retry
	Seed     uint64
	Workload trace.Workload
	Tokens   Tokens
	Retoken  func(token string) string // the text that a client gets in the place of each token that it draws; nil is the token
	Draws    bool                      // a random number is drawn in a step of the thread, and the host chooses it
	Tick     time.Duration             // a sleep of the lock's ends at a multiple of it; 0 is exactly when it is over
}

// Config is one client's part of a run's configuration.
type Config struct {
	Name   string
	Offset time.Duration // of its wall clock
	Rate   float64       // of both its clocks; 1 is right
	Cycles int           // times that it takes the lock
	Work   time.Duration // between its read and its write
	Insist time.Duration // wait between a refusal or an error and the next attempt; 0: it gives up
	Extend bool          // before it writes it extends its lease, if the strategy can
	Checks bool          // before each access it checks its lease's deadline, and leaves if the lease is over
	// CommitLast: its write is a transaction's, which is committed after the release.
	CommitLast bool
	// FailOpen: if Acquire fails (not if it is refused) it goes ahead without the lock.
	FailOpen bool
	// FallThrough: if it is refused it goes ahead without the lock, as if that were a
	// mere hint.
	FallThrough bool
	// Recheck: once it holds the lock it reads the cache again before it queries the
	// database, and leaves if another client has rebuilt the entry meanwhile.
	Recheck bool
}

// goesAhead reports whether the client goes ahead without the lock after this error of
// Acquire.
func (c *Config) goesAhead(err error) bool {
	if errors.Is(err, strategies.ErrNotAcquired) {
		return c.FallThrough
	}
	return c.FailOpen
}

// MaxCycles bounds Config.Cycles.
const MaxCycles = 1000

// Validate returns an error that names the first setting out of its bounds, or nil.
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

// reserved has the names with another meaning in a trace or a schedule.
var reserved = map[string]bool{trace.Probe: true, "store": true, "net": true, "all": true,
	"seed": true, "key": true, "ttl": true, "timeout": true, "latency": true, "retry": true, "workload": true,
	"resource": true, "cold": true, "tokens": true, "replicas": true, "lag": true, "record": true, "draws": true}

// ValidName returns an error unless a client can have that name, which must be unambiguous in
// a trace and fit into a schedule.
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
