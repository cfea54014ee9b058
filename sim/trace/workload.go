package trace

import (
	"fmt"
	"slices"
	"strings"
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

// Database is the version that the database has at first; 0 is no database.
func (w Workload) Database() int64 {
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
