package bounds

import (
	"fmt"
	"slices"
	"strings"

	"lockstep/sim/fault"
	"lockstep/sim/trace"
)

// Outside tells, in words, what no schedule within the bounds has: the kinds of fault that
// are not in the budget, those that no search can make (it makes one of each of the given kinds), and callers that do more.
func (b *Bounds) Outside(made []fault.Fault) string {
	var parts []string
	for k, n := range b.Faults {
		if n == 0 {
			parts = append(parts, FaultKind(k).Words(2))
		}
	}
	parts = append(append(parts, "clocks that run at another rate"), unsearched(made)...)
	parts = append(append(append(parts, partly...), b.ofReplicas()...), "callers that end a call by its context")
	insistent := "callers that ask again when they are refused"
	if b.Tries > 1 {
		insistent = fmt.Sprintf("callers that ask again when they were refused %d times", b.Tries)
	}
	if b.CodeSet().Has(trace.LV) { // they are
		return strings.Join(parts, ", ")
	}
	return strings.Join(append(parts, insistent), ", ")
}

// partly lists the forms that no schedule of any search has, of faults that it makes in another form: a request that
// is held up arrives by the schedule's end, a reply comes late only if its client is paused, and a server that has
// gone down is back at once.
var partly = []string{"requests that never arrive", "late replies without a pause of their client", "servers that stay down"}

// ofReplicas lists the faults of replicas that no schedule has, if there are any: a replica that has fallen behind stays
// so, and a failover takes all clients along.
func (b *Bounds) ofReplicas() []string {
	lags := "replicas that catch up again"
	switch {
	case b.Faults[Failover] > 0:
	case b.Strategy.Replicas > 0:
		lags = "replicas that fall behind"
	default:
		return nil
	}
	return []string{lags, "clients that a failover leaves with the old master"}
}

// unsearched lists the engine's kinds of fault that are in no schedule of any search. Kinds
// that only end a fault don't count, nor do faults of a database behind a cache, which a
// search doesn't have.
func unsearched(made []fault.Fault) (many []string) {
	covered := map[string]bool{}
	for _, f := range made {
		covered[fault.SpecOf(f).Word] = true
	}
	for _, s := range fault.Kinds() {
		if !covered[s.Word] && !s.Ends && !s.Cache && s.Step != "" && !slices.Contains(many, s.Many) {
			many = append(many, s.Many)
		}
	}
	return many
}
