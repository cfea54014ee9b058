package sim

import (
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// job is a workload in a client's program.
type job interface {
	// begin is the start of a cycle.
	begin(t *thread, cycle int)
	// served reports whether the client has, without the lock, what it wants.
	served(t *thread) bool
	// work is what it does in the critical section. The lease is empty if it goes
	// ahead without the lock.
	work(c *client, t *thread, lease *strategies.Lease, cfg *ClientConfig)
}

var jobs = [...]job{trace.Counter: counting{}, trace.Cache: rebuilding{}}

// counting is the job of the workload Counter.
type counting struct{}

func (counting) begin(*thread, int) {}

func (counting) served(*thread) bool { return false }

func (counting) work(c *client, t *thread, lease *strategies.Lease, cfg *ClientConfig) {
	if c.over(lease, cfg) {
		return
	}
	read := t.do(op{kind: opRead, fence: lease.Fence})
	if read.err != nil {
		return
	}
	c.writeBack(t, lease, cfg, read.value+1)
}

// rebuilding is the job of the workload Cache.
type rebuilding struct{}

func (rebuilding) begin(t *thread, cycle int) { t.mark(trace.KindWant, cycle) }

func (rebuilding) served(t *thread) bool { return t.do(op{kind: opRead}).value != 0 }

// work queries the database and caches what the query gives. The version is the
// one of the instant at which the query begins: the database shows a transaction
// the state at its start, however long it takes.
func (rebuilding) work(c *client, t *thread, lease *strategies.Lease, cfg *ClientConfig) {
	if c.over(lease, cfg) {
		return
	}
	if cfg.Recheck {
		if found := t.do(op{kind: opRead, fence: lease.Fence}); found.err != nil || found.value != 0 {
			return
		}
	}
	query := t.do(op{kind: opQuery, fence: lease.Fence})
	if query.err != nil {
		return
	}
	c.writeBack(t, lease, cfg, query.value)
}
