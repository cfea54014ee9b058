package sim

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/strategies"
)

// Workload is what the clients want the lock for, and so what the resource is.
// Every workload runs under every strategy, and passes through the same phases.
type Workload uint8

const (
	// Counter is a read-modify-write: the resource is a number, and each holder
	// reads it, works, and writes back one more. Whoever writes what was computed
	// from an old number destroys the others' work.
	Counter Workload = iota
	// Cache is a rebuild: the resource is the cached copy of something that only a
	// slow query of a database can give. Whoever finds the copy is served without
	// the lock. It has expired when the run begins, so all miss, and the lock is to
	// let one of them rebuild it. To rebuild it once more than needed costs a query
	// and harms nobody; to put an old version over a newer one does.
	Cache
)

var workloadNames = [...]string{"counter", "cache"}

func (w Workload) String() string { return workloadNames[w] }

// ParseWorkload is the inverse of String.
func ParseWorkload(s string) (Workload, error) {
	if i := slices.Index(workloadNames[:], s); i >= 0 {
		return Workload(i), nil
	}
	return 0, fmt.Errorf("unknown workload %q: it is one of %s", s, strings.Join(workloadNames[:], ", "))
}

// database is the version that the database has at first; 0 is no database.
func (w Workload) database() int64 {
	if w == Cache {
		return 1
	}
	return 0
}

// readText is what a client finds when it reads the resource.
func (w Workload) readText(value int64) string {
	switch {
	case w == Counter:
		return fmt.Sprintf("reads the store: %d", value)
	case value == 0:
		return "reads the cache: nothing there"
	}
	return fmt.Sprintf("reads the cache: version %d", value)
}

func (w Workload) writeText(value int64) string {
	if w == Cache {
		return fmt.Sprintf("writes the cache: version %d", value)
	}
	return fmt.Sprintf("writes the store: %d", value)
}

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

var jobs = [...]job{Counter: counting{}, Cache: rebuilding{}}

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

func (rebuilding) begin(t *thread, cycle int) { t.mark(KindWant, cycle) }

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
