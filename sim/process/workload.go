package process

import (
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// job is a workload in a client's program.
type job interface {
	// begin is the start of a cycle.
	begin(t *Thread, cycle int)
	// served reports whether the client doesn't need the lock in this cycle.
	served(t *Thread) bool
	// work is the job in the critical section. The lease is empty if the client goes
	// ahead without the lock. It returns the write that is left to be done after the
	// release, if that is how the client commits: see [Config.CommitLast].
	work(c *Client, t *Thread, lease *strategies.Lease, cfg *Config) (commit *Op)
}

var jobs = [...]job{trace.Counter: counting{}, trace.Cache: rebuilding{}}

// counting is the job of the workload Counter.
type counting struct{}

func (counting) begin(*Thread, int) {}

func (counting) served(*Thread) bool { return false }

func (counting) work(c *Client, t *Thread, lease *strategies.Lease, cfg *Config) *Op {
	if c.over(lease, cfg) {
		return nil
	}
	read := t.do(Op{Kind: OpRead, Fence: lease.Fence})
	if read.Err != nil {
		return nil
	}
	return c.writeBack(t, lease, cfg, read.Value+1)
}

// rebuilding is the job of the workload Cache.
type rebuilding struct{}

func (rebuilding) begin(t *Thread, cycle int) { t.mark(trace.KindWant, cycle) }

func (rebuilding) served(t *Thread) bool { return t.do(Op{Kind: OpRead}).Value != 0 }

// work queries the database and caches the result. The version is that of the instant at
// which the query begins: the database shows a transaction the state at its start, however
// long the transaction takes.
func (rebuilding) work(c *Client, t *Thread, lease *strategies.Lease, cfg *Config) *Op {
	if c.over(lease, cfg) {
		return nil
	}
	if cfg.Recheck {
		if found := t.do(Op{Kind: OpRead, Fence: lease.Fence}); found.Err != nil || found.Value != 0 {
			return nil
		}
	}
	query := t.do(Op{Kind: OpQuery, Fence: lease.Fence})
	if query.Err != nil {
		return nil
	}
	return c.writeBack(t, lease, cfg, query.Value)
}
