package sim

import (
	"fmt"
	"time"

	"lockstep/sim/process"
	"lockstep/sim/redis"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Config is everything that a run depends on besides its schedule. [Config.Validate]
// states the bounds of each field.
type Config struct {
	Strategy strategies.Strategy
	Scenario string        // a label that says what the run shows, see Label
	Key      string        // the lock's key, as its constructor gets it
	Record   string        // the key under which the lock stores its record; empty is Key itself, see Config.RecordKey
	TTL      time.Duration // of a lease
	Retry    strategies.Retry
	Timeout  time.Duration // of a client's wait for a reply
	Latency  time.Duration // of a request, and of a reply
	Seed     uint64
	Workload trace.Workload
	Resource Resource
	Cold     bool           // the nodes' script caches are empty, as after a restart
	Tokens   process.Tokens // whether tokens are unique, and come back unchanged
	Draws    bool           // random numbers are drawn in steps of their own, at which a schedule can choose them
	Replicas int            // of each node
	Lag      time.Duration  // until a write reaches a replica; and again until the acknowledgement is back
	Clients  []process.Config
	Tick     time.Duration  // a lock's sleeps last a multiple of it, as by a timer of that resolution; 0 is any length
	Nodes    []redis.Config // replicas have the configuration of their node

	// Watch, if it is set when a world is made, notices client code that hangs, provided
	// that [process.Watch.Run] runs all that drives the world. It is no part of a schedule.
	Watch *process.Watch
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

// RecordKey returns the key of the lock's record, which many locks make from the key that
// they are given. The monitors, PD's probe and evictions use it.
func (c *Config) RecordKey() string {
	if c.Record != "" {
		return c.Record
	}
	return c.Key
}

// Settings returns the part of the configuration that all clients have in common.
func (c *Config) Settings() process.Settings {
	return process.Settings{Strategy: c.Strategy, Key: c.Key, TTL: c.TTL, Retry: c.Retry, Seed: c.Seed, Workload: c.Workload, Tokens: c.Tokens, Draws: c.Draws, Tick: c.Tick}
}

// Validate returns an error that names the first setting out of its bounds, or nil if the
// configuration can be run.
func (c *Config) Validate() error {
	switch {
	case len(c.Clients) == 0 || len(c.Clients) > MaxClients:
		return fmt.Errorf("there are %d clients, and can be 1 to %d", len(c.Clients), MaxClients)
	case len(c.Nodes) == 0 || len(c.Nodes) > MaxNodes:
		return fmt.Errorf("there are %d nodes, and can be 1 to %d", len(c.Nodes), MaxNodes)
	case len(c.Nodes) != c.Strategy.Nodes:
		return fmt.Errorf("there are %d nodes, and %s runs on %d", len(c.Nodes), c.Strategy.Name, c.Strategy.Nodes)
	case c.TTL < time.Millisecond || c.TTL > trace.MaxSpan:
		return fmt.Errorf("the TTL is %s, and can be 1ms to %s", c.TTL, trace.MaxSpan)
	case c.Timeout <= 0 || c.Timeout > trace.MaxSpan:
		return fmt.Errorf("the timeout is %s, and can be up to %s", c.Timeout, trace.MaxSpan)
	case c.Latency < 0 || c.Latency > trace.MaxSpan:
		return fmt.Errorf("the latency is %s, and can be 0s to %s", c.Latency, trace.MaxSpan)
	case c.Replicas < 0 || c.Replicas > MaxReplicas:
		return fmt.Errorf("there are %d replicas of each node, and can be 0 to %d", c.Replicas, MaxReplicas)
	case c.Lag < 0 || c.Lag > trace.MaxSpan:
		return fmt.Errorf("replication lags by %s, and can by 0s to %s", c.Lag, trace.MaxSpan)
	case c.Tick < 0 || c.Tick > time.Second:
		return fmt.Errorf("timers have a resolution of %s, and can have 0s to 1s", c.Tick)
	case c.Retry.Tries < 0:
		return fmt.Errorf("the number of tries is %d, and can't be less than 0", c.Retry.Tries)
	case c.Retry.Delay < 0 || c.Retry.Jitter < 0 || c.Retry.Delay > trace.MaxSpan || c.Retry.Jitter > trace.MaxSpan:
		return fmt.Errorf("the retry delay is %s and its jitter %s, and both can be 0s to %s", c.Retry.Delay, c.Retry.Jitter, trace.MaxSpan)
	case !validLabel(c.Scenario):
		return fmt.Errorf("the label is %q, and must consist of letters, digits, '.', '_' and '-'", c.Scenario)
	case !validLabel(c.Key):
		return fmt.Errorf("the key is %q, and must consist of letters, digits, '.', '_' and '-'", c.Key)
	case len(c.Record) > maxLabel:
		return fmt.Errorf("the record's key is %.40q..., and can have up to %d bytes", c.Record, maxLabel)
	}
	seen := map[string]bool{}
	for _, cl := range c.Clients {
		if err := cl.Validate(); err != nil {
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
		if n.Offset < -trace.MaxSpan || n.Offset > trace.MaxSpan {
			return fmt.Errorf("n%d's clock is off by %s, and can be by %s", i+1, n.Offset, trace.MaxSpan)
		}
	}
	return nil
}

// The bounds of a configuration. They keep all arithmetic on instants far from
// overflow, and a run small enough to be followed.
const (
	MaxClients  = 8 // without the probe
	MaxNodes    = 9 // without their replicas
	MaxReplicas = 3 // of each node
)
