package screen

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lockstep/sim"
	"lockstep/sim/fault"
	"lockstep/sim/trace"
	"lockstep/strategies"
)

// Struck is how the misfortune of a script has struck a lock: the verdict of a run says something about the lock only as far
// as it has.
type Struck struct {
	verdict trace.Verdict
	held    bool // some client of the script's was granted the lock
	servers int  // on which it runs, without their replicas
	refused []string
	immune  bool                // it has no moment such as a built-in script's misfortune needs
	extends bool                // its leases can be prolonged
	faults  map[stroke][]string // the targets of each: servers, or the client alone, as often as the script does it
}

// stroke is a kind of fault, with the client that it concerns if there is one.
type stroke struct{ fault, client string }

// struckBy takes from a run how the script has struck the lock.
func struckBy(t *trace.Trace, st strategies.Strategy) *Struck {
	s := &Struck{verdict: t.Verdict(), servers: max(t.Masters, 1), extends: st.Extends(), faults: map[stroke][]string{}}
	s.immune = slices.ContainsFunc(t.Notes, func(n trace.Note) bool {
		return n.Kind == trace.NoteMissed && strings.HasSuffix(n.Text, trace.NoMoment)
	})
	granted := map[int]bool{}
	for i := range t.Events {
		if e := &t.Events[i]; e.Kind == trace.KindGranted && t.Clients[e.Client] != trace.Probe {
			granted[e.Client], s.held = true, true
		}
	}
	for i, name := range t.Clients {
		if !granted[i] {
			s.refused = append(s.refused, name)
		}
	}
	schedule, err := sim.ParseSchedule(t.Schedule, func(string) (strategies.Strategy, error) { return st, nil })
	if err != nil {
		return s // too long a run for its schedule to be read again: nothing is known of its faults
	}
	for _, m := range schedule.Moves {
		if m.Fault == nil {
			continue
		}
		if spec := fault.SpecOf(m.Fault); !spec.Ends {
			s.strike(spec, fault.Args(m.Fault))
		}
	}
	return s
}

// strike counts a fault.
func (s *Struck) strike(spec fault.Spec, args []string) {
	at, hit := stroke{fault: spec.Word}, ""
	for i, p := range spec.Params() {
		switch p.Type {
		case fault.ParamClient:
			at.client = args[i]
		case fault.ParamNode, fault.ParamReplica:
			hit, _, _ = strings.Cut(args[i], "r") // a replica is its master's
		}
	}
	if hit == "" || !slices.Contains(s.faults[at], hit) {
		s.faults[at] = append(s.faults[at], hit)
	}
}

// Spared says why another lock's run under the same script is no evidence that the lock withstands the faults that have struck this one,
// in a few words; or nothing, if it is. It may be unknown.
func (s *Struck) Spared(other *Struck) string {
	if s == nil || other == nil {
		return ""
	}
	if s.held && !other.held {
		return "nobody got the lock"
	}
	immune := other.immune && (other.extends || !s.extends) // else the moment that it lacks is in a renewal, and it renews nothing
	for _, at := range s.strokes() {
		if immune && len(other.faults[at]) == 0 || at.client != "" && s.faults[at][0] == "" && slices.Contains(other.refused, at.client) {
			continue // there was nothing to befall a client that the lock has kept out
		}
		if why := s.spared(at, other); why != "" {
			return why
		}
	}
	if other.stuck() > s.stuck() {
		return "nobody could have the lock for a while"
	}
	return ""
}

// strokes are the faults, in an order that doesn't change.
func (s *Struck) strokes() []stroke {
	return slices.SortedFunc(maps.Keys(s.faults), func(a, b stroke) int {
		return cmp.Or(cmp.Compare(a.fault, b.fault), cmp.Compare(a.client, b.client))
	})
}

// stuck is how badly the run lacks progress: for ever, while servers are up or down, or for as long as a lease lasts.
func (s *Struck) stuck() (worst int) {
	for _, c := range s.verdict {
		switch c {
		case trace.PD, trace.LV:
			worst = max(worst, 3)
		case trace.UA, trace.DN:
			worst = max(worst, 2)
		case trace.BD:
			worst = max(worst, 1)
		}
	}
	return worst
}

// spared is Spared for one fault. Several servers are hit in proportion if as large a part of them is, or if too few for a majority are left.
// A fault that only the other script's servers have met with counts as well: a script may aim at the servers that decide.
func (s *Struck) spared(at stroke, other *Struck) string {
	here, there := s.faults[at], other.faults[at]
	if len(there) == 0 || here[0] == "" && len(there) < len(here) {
		return "the misfortune had no effect here"
	}
	if here[0] == "" {
		return ""
	}
	hit := slices.Clone(there)
	for also, servers := range other.faults {
		if _, both := s.faults[also]; !both && servers[0] != "" {
			hit = append(hit, servers...)
		}
	}
	slices.Sort(hit)
	n := len(slices.Compact(hit))
	if 2*n > other.servers || n*s.servers >= len(here)*other.servers {
		return ""
	}
	were := "were"
	if n == 1 {
		were = "was"
	}
	return fmt.Sprintf("only %d of its %d servers %s hit", n, other.servers, were)
}
