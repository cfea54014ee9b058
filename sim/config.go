package sim

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"lockstep/sim/redis"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Config is everything that a run depends on besides its schedule.
type Config struct {
	Strategy strategies.Strategy
	Scenario string        // a label: what the run shows, see Label
	Key      string        // the lock's key
	TTL      time.Duration // of a lease
	Retry    strategies.Retry
	Timeout  time.Duration // how long a client waits for a reply
	Latency  time.Duration // of a request, and of a reply
	Seed     uint64
	Workload trace.Workload
	Resource Resource
	Cold     bool          // the nodes' script caches are empty, as after a restart
	Tokens   Tokens        // what they are worth
	Replicas int           // of each node
	Lag      time.Duration // until a write reaches a replica; and again until the acknowledgement is back
	Clients  []ClientConfig
	Nodes    []redis.Config
}

// servers lists the names of all servers: the nodes, then the replicas of each.
func (c *Config) servers() []string {
	var names []string
	for i := range c.Nodes {
		names = append(names, fmt.Sprintf("n%d", i+1))
	}
	for i := range c.Nodes {
		for r := range c.Replicas {
			names = append(names, fmt.Sprintf("n%dr%d", i+1, r+1))
		}
	}
	return names
}

// ClientConfig is one client's part of it.
type ClientConfig struct {
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
func (cl *ClientConfig) goesAhead(err error) bool {
	if errors.Is(err, strategies.ErrNotAcquired) {
		return cl.FallThrough
	}
	return cl.FailOpen
}

// Validate reports what of a configuration could not be run.
func (c *Config) Validate() error {
	switch {
	case len(c.Clients) == 0 || len(c.Clients) > MaxClients:
		return fmt.Errorf("there are %d clients, and can be 1 to %d", len(c.Clients), MaxClients)
	case len(c.Nodes) == 0 || len(c.Nodes) > MaxNodes:
		return fmt.Errorf("there are %d nodes, and can be 1 to %d", len(c.Nodes), MaxNodes)
	case len(c.Nodes) != c.Strategy.Nodes:
		return fmt.Errorf("there are %d nodes, and %s runs on %d", len(c.Nodes), c.Strategy.Name, c.Strategy.Nodes)
	case c.TTL < time.Millisecond || c.TTL > maxSpan:
		return fmt.Errorf("the TTL is %s, and can be 1ms to %s", c.TTL, maxSpan)
	case c.Timeout <= 0 || c.Timeout > maxSpan:
		return fmt.Errorf("the timeout is %s, and can be up to %s", c.Timeout, maxSpan)
	case c.Latency < 0 || c.Latency > maxSpan:
		return fmt.Errorf("the latency is %s, and can be 0s to %s", c.Latency, maxSpan)
	case c.Replicas < 0 || c.Replicas > MaxReplicas:
		return fmt.Errorf("there are %d replicas of each node, and can be 0 to %d", c.Replicas, MaxReplicas)
	case c.Lag < 0 || c.Lag > maxSpan:
		return fmt.Errorf("replication lags by %s, and can by 0s to %s", c.Lag, maxSpan)
	case c.Retry.Tries < 0:
		return fmt.Errorf("the number of tries is %d, and can't be less than 0", c.Retry.Tries)
	case c.Retry.Delay < 0 || c.Retry.Jitter < 0 || c.Retry.Delay > maxSpan || c.Retry.Jitter > maxSpan:
		return fmt.Errorf("the retry delay is %s and its jitter %s, and both can be 0s to %s", c.Retry.Delay, c.Retry.Jitter, maxSpan)
	case !validLabel(c.Scenario):
		return fmt.Errorf("the label is %q, and must consist of letters, digits, '.', '_' and '-'", c.Scenario)
	case !validLabel(c.Key):
		return fmt.Errorf("the key is %q, and must consist of letters, digits, '.', '_' and '-'", c.Key)
	}
	seen := map[string]bool{}
	for _, cl := range c.Clients {
		if err := cl.validate(); err != nil {
			return err
		}
		if seen[cl.Name] {
			return fmt.Errorf("there are two clients named %s", cl.Name)
		}
		seen[cl.Name] = true
		if cl.Recheck && c.Workload != trace.Cache {
			return fmt.Errorf("%s looks into the cache again, and there is none: the workload is %s", cl.Name, c.Workload)
		}
	}
	for i, n := range c.Nodes {
		if n.Offset < -maxSpan || n.Offset > maxSpan {
			return fmt.Errorf("n%d's clock is off by %s, and can be by %s", i+1, n.Offset, maxSpan)
		}
	}
	return nil
}

// The bounds of a configuration. They keep all arithmetic on instants far from
// overflow, and a run small enough to be followed.
const (
	MaxClients = 8
	MaxNodes   = 9

	// MaxReplicas is how many replicas a node can have.
	MaxReplicas = 3
	MaxCycles   = 1000
	maxSpan     = 24 * 365 * time.Hour
)

// ValidName reports whether a client can have that name: it must not be mistaken
// for anybody else in a trace, and fit into a schedule.
func ValidName(name string) error {
	_, setting := map[string]bool{"seed": true, "key": true, "ttl": true, "timeout": true, "latency": true, "retry": true, "workload": true, "resource": true, "cold": true, "tokens": true, "replicas": true, "lag": true}[name]
	reserved := setting || name == Probe || name == "store" || name == "net" || name == "all"
	if len(name) > 1 && name[0] == 'n' && strings.Trim(name[1:], "r0123456789") == "" {
		reserved = true
	}
	switch {
	case reserved:
		return fmt.Errorf("a client cannot be named %q: that name is taken", name)
	case !validLabel(name) || len(name) > 12 || strings.ContainsAny(name, ".-"):
		return fmt.Errorf("a client cannot be named %q: use up to 12 letters, digits and underscores", name)
	}
	return nil
}

func (cl *ClientConfig) validate() error {
	if err := ValidName(cl.Name); err != nil {
		return err
	}
	switch {
	case cl.Cycles < 1 || cl.Cycles > MaxCycles:
		return fmt.Errorf("%s has %d cycles, and can have 1 to %d", cl.Name, cl.Cycles, MaxCycles)
	case !(cl.Rate >= 0.1 && cl.Rate <= 10): // also refuses NaN
		return fmt.Errorf("%s's clock runs at rate %g, and can run at 0.1 to 10", cl.Name, cl.Rate)
	case cl.Work < 0 || cl.Work > maxSpan || cl.Insist < 0 || cl.Insist > maxSpan:
		return fmt.Errorf("%s works for %s and insists after %s, and both can be 0s to %s", cl.Name, cl.Work, cl.Insist, maxSpan)
	case cl.Offset < -maxSpan || cl.Offset > maxSpan:
		return fmt.Errorf("%s's clock is off by %s, and can be by %s", cl.Name, cl.Offset, maxSpan)
	}
	return nil
}
