package screen

import (
	"fmt"
	"slices"

	"lockstep/sim/timeline"
	"lockstep/sim/trace"
)

// remedies are the locks that are tried first as those that withstand.
var remedies = []string{"setpx-lua", "fenced", "setpx-get", "setpx-wait", "redlock", "naive-del", "getset-equal"}

// Remedy is a lock that doesn't show a failure under a scenario in which another lock has shown it.
type Remedy struct {
	Code     trace.Code    // the failure
	Strategy int           // its place in the library
	Name     string        // of the lock
	Still    trace.Verdict // the failures that it does show: the other lock has shown them, too
}

// Remedies are the remedies that are known for a run, by the failures.
type Remedies map[trace.Code]Remedy

// For is a remedy for the first of some violations, or nil.
func (r Remedies) For(shown []timeline.Breach) *Remedy {
	if len(shown) > 0 {
		if best, is := r[shown[0].Code]; is {
			return &best
		}
	}
	return nil
}

// Remedies finds a lock for each failure of a run, by runs that it makes: what the author of a script
// expects proves nothing. It takes one of the first, by their names, or of a few others: one that
// shows no failure that the run doesn't have, and as few of these as possible. Where the lock has fencing tokens, those
// that have them, too, come before those without: their user's resource checks them. It may run beside the interface.
func (l *Library) Remedies(scenario, strategy int, t *trace.Trace, first []string) Remedies {
	shown := failuresOf(t.Verdict())
	if len(shown) == 0 {
		return nil
	}
	found, fallbacks := Remedies{}, slices.Clone(remedies)
	if l.Strategies[strategy].Fences {
		slices.SortStableFunc(fallbacks, func(x, y string) int { return l.unfenced(x) - l.unfenced(y) })
	}
	for _, name := range slices.Concat(first, fallbacks) {
		i := l.Strategy(name)
		if i < 0 || i == strategy {
			continue
		}
		other, err := l.Run(l.Scenarios[scenario], l.Strategies[i], t.Seed)
		if err != nil {
			continue
		}
		still := failuresOf(other.Verdict())
		if slices.ContainsFunc(still, func(c trace.Code) bool { return !slices.Contains(shown, c) }) {
			continue // it would break otherwise
		}
		for _, c := range shown {
			if best, any := found[c]; !slices.Contains(still, c) && (!any || len(still) < len(best.Still)) {
				found[c] = Remedy{c, i, name, still}
			}
		}
		if len(still) == 0 {
			break
		}
	}
	return found
}

// unfenced is 0 for a lock with fencing tokens, and 1 for any other.
func (l *Library) unfenced(name string) int {
	if i := l.Strategy(name); i >= 0 && l.Strategies[i].Fences {
		return 0
	}
	return 1
}

func failuresOf(v trace.Verdict) trace.Verdict {
	return slices.DeleteFunc(slices.Clone(v), func(c trace.Code) bool { return !c.Failure() })
}

// Text says which lock would have stopped a failure, and what it would not have stopped.
func (r *Remedy) Text(key string) string {
	if len(r.Still) == 0 {
		return fmt.Sprintf("What would have stopped it: %s (%s).", r.Name, key)
	}
	return fmt.Sprintf("What would have stopped the %s: %s (%s), which shows %s here all the same.", r.Code, r.Name, key, r.Still)
}
