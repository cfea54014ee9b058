package trace

import (
	"fmt"
	"slices"
	"strings"
)

// Workload is the clients' purpose for the lock, and so the nature of the resource. Every
// workload runs under every strategy, and passes through the same phases.
type Workload uint8

const (
	// Counter is a read-modify-write: the resource is a number, and each holder
	// reads it, works, and writes back one more. A write computed from an old number
	// destroys the others' work.
	Counter Workload = iota
	// Cache is a rebuild: the resource is the cached result of a slow query of a
	// database. A client that finds the entry doesn't need the lock. The entry has
	// expired when the run begins, so all clients miss, and the lock is to let one of
	// them rebuild it. A needless rebuild costs a query and is harmless; to replace a
	// newer version by an old one is harmful.
	Cache
)

var workloadNames = [...]string{"counter", "cache"}

// String returns the workload's word in configurations and schedules.
func (w Workload) String() string { return workloadNames[w] }

// ParseWorkload is the inverse of String. Its error lists the words.
func ParseWorkload(s string) (Workload, error) {
	if i := slices.Index(workloadNames[:], s); i >= 0 {
		return Workload(i), nil
	}
	return 0, fmt.Errorf("unknown workload %q: it is one of %s", s, strings.Join(workloadNames[:], ", "))
}

// Database returns the version that the database has at first; 0 is no database.
func (w Workload) Database() int64 {
	if w == Cache {
		return 1
	}
	return 0
}

// readText describes the result of a read of the resource.
func (w Workload) readText(value int64) string {
	switch {
	case w == Counter:
		return fmt.Sprintf("reads the resource: %d", value)
	case value == 0:
		return "reads the cache: nothing there"
	}
	return fmt.Sprintf("reads the cache: version %d", value)
}

func (w Workload) writeText(value int64) string {
	if w == Cache {
		return fmt.Sprintf("writes the cache: version %d", value)
	}
	return fmt.Sprintf("writes the resource: %d", value)
}
