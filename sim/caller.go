package sim

import (
	"slices"
	"strings"

	"lockstep/sim/process"
)

// Caller says in words what the clients of a run do around the lock. A verdict
// is one of a lock and of a way to use it: a caller that looks at its deadline, or
// sends its fencing token along, fares better under the same strategy. Where the
// clients differ each is named: "A extends, B enters without checking".
func (c *Config) Caller() string {
	var all []string
	for i := range c.Clients {
		all = append(all, c.callerOf(&c.Clients[i]))
	}
	if len(slices.Compact(slices.Clone(all))) == 1 {
		return all[0]
	}
	for i := range all {
		all[i] = c.Clients[i].Name + " " + all[i]
	}
	return strings.Join(all, "; ")
}

// CarelessCaller is the answer of Caller for clients that only acquire, work, and release.
const CarelessCaller = "enters without checking"

func (c *Config) callerOf(cl *process.Config) string {
	var does []string
	if cl.Checks {
		does = append(does, "checks its lease before each access")
	}
	if cl.Extend && c.Strategy.Extends() {
		does = append(does, "extends its lease before it writes")
	}
	if cl.CommitLast {
		does = append(does, "commits after it has released")
	}
	if cl.FailOpen {
		does = append(does, "fails open")
	}
	if cl.FallThrough {
		does = append(does, "goes ahead when it is refused")
	}
	if cl.Recheck {
		does = append(does, "looks into the cache again once it has the lock")
	}
	if c.Strategy.Fences && c.Resource == Fenced {
		does = append(does, "uses the fence")
	}
	if c.Strategy.Fences && c.Resource == FencedWrites {
		does = append(does, "uses the fence, which heeds writes only")
	}
	if c.Tokens == process.MangledTokens {
		does = append(does, "mangles its token")
	}
	if len(does) == 0 {
		return CarelessCaller
	}
	return strings.Join(does, ", ")
}
